// One loop for sums over the same indices.
#pragma once

#include "ir/program.hpp"

namespace ricci::ir {

/// sum(k: x) - sum(k: y) becomes sum(k: x - y), in chains of additions and subtractions: one accumulator and one loop
/// in place of several, as a group of contractions into one output needs. Floating-point programs that are `exact` stay
/// as they are.
Program join_sums(Program program);

}  // namespace ricci::ir
