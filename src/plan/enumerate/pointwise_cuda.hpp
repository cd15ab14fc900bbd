// Plain schedules for a GPU of programs without sums and scans: several results of a thread, neighbours that it reads
// and writes by vectors or such that lie as far apart as its block is wide.
#pragma once

#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {

/// The fastest by prediction, at most `most` of them.
std::vector<Candidate> pointwise_candidates(const ir::Program& program, const GpuModel& device,
                                            const OperationCounts& counts, std::size_t most);

}  // namespace ricci::plan
