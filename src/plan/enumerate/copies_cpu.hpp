// Schedules of what moves elements, for a CPU.
#pragma once

#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// Of a program that is a copy (is_copy), best first by prediction.
std::vector<Candidate> copy_candidates(const ir::Program& program, const CpuModel& device);
/// The first of them, in a part of the time.
Candidate best_copy(const ir::Program& program, const CpuModel& device);

}  // namespace ricci::plan
