// Schedules of contractions, as lists of directives.
#pragma once

#include <optional>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// For a program that is one contraction (kernel::contraction_of), best first by prediction; none where no schedule of
/// the kernel IR suits it. Pure and thread-safe.
std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device);
std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device);
/// The first of them, in a part of the time.
std::optional<Candidate> best_contraction(const ir::Program& program, const GpuModel& device);

}  // namespace ricci::plan
