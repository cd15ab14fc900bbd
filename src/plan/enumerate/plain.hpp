// The plain schedule, which any program has: free indices over threads or loops, reductions serial in each worker, a
// few values of some indices in a register tile so that they share loads.
#pragma once

#include <limits>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::plan {

/// Whether copy schedules (staged, transposed, direct) can run the program: one statement over all indices, of which
/// there are some, that combines one load with the old output in a few operations, each used once.
bool is_copy(const ir::Program& program);

/// The fastest by prediction, at most `most` of them.
///   bound_us  of predicted times that are of use: there may be none where all take longer
std::vector<Candidate> plain_candidates(const ir::Program& program, const GpuModel& device, std::size_t most,
                                        double bound_us = std::numeric_limits<double>::infinity());
std::vector<Candidate> plain_candidates(const ir::Program& program, const CpuModel& device, std::size_t most,
                                        double bound_us = std::numeric_limits<double>::infinity());

}  // namespace ricci::plan
