// Contractions as products of a library, with copies of operands and of the result around it where it needs them.
#pragma once

#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// For a program that is one contraction, where the device's plans may call a library: with as few copies as make it a
/// matrix product, in each way of which none is a part of another. Best first by prediction, which is that of all
/// steps together. Pure and thread-safe.
std::vector<Candidate> library_candidates(const ir::Program& program, const CpuModel& device);
std::vector<Candidate> library_candidates(const ir::Program& program, const GpuModel& device);

/// The list with others put where their predictions belong, from place `from` on.
std::vector<Candidate> merged(std::vector<Candidate> list, std::vector<Candidate> others, std::size_t from = 0);

}  // namespace ricci::plan
