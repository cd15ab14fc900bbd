// What a program computes in one kernel, by calls of another library: a product after the other.
#pragma once

#include "bench/computing.hpp"
#include "peers/contraction.hpp"

namespace ricci::tools {

/// The products whose sums a program of one statement adds to its result, as calls of the library one after the other,
/// in the memory of the plan: checked against what the plan computes, for which the result is set to zero. Refused,
/// with the reason, where the program is no such one, or the library adds to no result, or its sums are wrong.
PeerRun one_by_one(Bench& bench, const Program& program, const Loaded& loaded, ContractionLibrary& library,
                   int threads);

}  // namespace ricci::tools
