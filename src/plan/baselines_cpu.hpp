// Published algorithms for permutations as baselines: never chosen, available by name.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace ricci::plan {

/// "scattering": elements in the input's order, each written where it belongs. "algorithm 1": blocks over the union of
/// the leading axes of both sides, of one to four cache lines each, read in the input's order; Algorithm 1 of Lyakh,
/// "An efficient tensor transpose algorithm for multicore CPU, Intel Xeon Phi, and NVidia Tesla GPU", Comput. Phys.
/// Commun. 189 (2015). Both are scalar, as published. Empty for a program that reads nothing.
std::vector<Candidate> baselines(const ir::Program& program, const CpuModel& device);

}  // namespace ricci::plan
