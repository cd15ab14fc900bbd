// Schedules of a CPU that goes along rows pass by pass while they are in its first caches: sums, and what is computed
// of these for each place. Memory is read once.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/models/device_model.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// The index of rows that lie along memory, of values that can all be vectors, and that half of the second cache holds
/// (kernel::row_of, kernel::row_of_one_sum); -1: there is none.
int row_in_cache(const ir::Program& program, const CpuModel& device);

/// The fastest of these and of others, at most `most` of them, with a bound on times that are of use.
std::vector<Candidate> with_rows(std::vector<Candidate> others, const ir::Program& program, const CpuModel& device,
                                 std::size_t most, double bound_us);

}  // namespace ricci::plan
