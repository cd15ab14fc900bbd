// Parameters of a kernel in index expressions: names of their values, held within bounds that the kernel knows.
#pragma once

#include <optional>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// How far the i64 of the kernel's parameter `param` is above `least`, where it is held within least .. most: what a
/// name of most - least + 1 values may stand for (Let::value).
Value held_within(int param, std::int64_t least, std::int64_t most);

/// The smallest and largest value of an i64 that is made of parameters and constants by sums, minima and maxima, and
/// does not wrap; none of other values.
std::optional<Bounds> bounds_of_parameters(const Value& value);

}  // namespace ricci::kernel
