// Sums of products in types that kernels multiply fast: real and complex factors as reals, short integers as i32.
#pragma once

#include <optional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with sums of products of two tensors, of which each has an index of its own, in other types, nothing
/// where all have theirs already:
///
///   a real and a complex factor   a complex tensor as one of reals, of twice as many elements: the parts are one more
///                                 index, and multiplications half. What is conjugated, scaled or converted around
///                                 the sum is a step of its own, which reads it from workspace
///   i8, i16, u8, u16              summed in i32, and cut to their own type at the end: the same bits
///
/// Programs that are exact stay as they are, but for those of integers.
std::optional<Sequence> simpler_products(const Sequence& sequence);

}  // namespace ricci::ir
