// Random contractions of two tensors, large enough for blocks, tiles and threads: axes by role, precisions, views,
// factors. And what they must be, in a wider type than the kernels have.
#pragma once

#include <string>

#include "fuzz/random_einsum.hpp"

namespace ricci::fuzz {

/// The same seed gives the same problem.
RandomEinsum random_product(std::uint64_t seed);

/// Nothing where each element of the output is the sum of its products, of factors in the precision, taken in long
/// double (of integers modulo 2^64), but for terms + 8 roundings in the type of the kernel's sums, relative to the sum
/// of the products' moduli, and one in its own type; else the first that is not. `before` is the output before the
/// call.
std::string wrong_element(RandomEinsum& e, const Tensor& before);

}  // namespace ricci::fuzz
