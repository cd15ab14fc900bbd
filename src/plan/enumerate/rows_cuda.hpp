// Schedules of groups of threads on a GPU that have whole rows in registers: sums along them, and what is computed of
// these for each place, read memory once.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/models/device_model.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// The fastest of these and of others, at most `most` of them: there are none where a program has no rows
/// (kernel::row_of), or longer ones than registers hold.
std::vector<Candidate> with_rows(std::vector<Candidate> others, const ir::Program& program, const GpuModel& device,
                                 std::size_t most);

}  // namespace ricci::plan
