// Products of a tensor with itself as products of two tensors.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with a second name for a tensor that is both factors of a product, as rows and as columns: A(i, k) *
/// A(j, k) has the kernels of A(i, k) * B(j, k), of which both pointers are to the same memory. For rows and columns of
/// kLeastOfRole values or more each; others read what they share once.
Sequence distinct_factors(Sequence sequence);

}  // namespace ricci::ir
