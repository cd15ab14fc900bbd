// Schedules of chains of two products on a GPU.
#pragma once

#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// For a program that is a chain (kernel::chain_of), best first by prediction; none for any other.
std::vector<Candidate> chain_candidates(const ir::Program& program, const GpuModel& device);

}  // namespace ricci::plan
