// Published algorithms for permutations on a CPU, as schedules: what Ricci's own are timed beside.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ricci/plan.hpp"

namespace ricci::tools {

/// The text of a baseline's schedule for the permutation that a CPU plan computes, which PlanOptions::schedule takes;
/// nothing for any other name or plan, and where nothing is moved.
///
/// "scattering": elements in the input's order, each written where it belongs. "algorithm 1": blocks over the union of
/// the leading axes of both sides, of one to four cache lines each, read in the input's order; Algorithm 1 of Lyakh,
/// "An efficient tensor transpose algorithm for multicore CPU, Intel Xeon Phi, and NVidia Tesla GPU", Comput. Phys.
/// Commun. 189 (2015). Both are scalar, as published.
std::optional<std::string> baseline_schedule(std::string_view name, const Plan& plan);

}  // namespace ricci::tools
