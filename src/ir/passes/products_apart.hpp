// Sums of products as steps that are a product of two tensors each.
#pragma once

#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with a step in whose place are several, of which each sums products of two tensors, as kernels multiply
/// them fast; none where the step is no such sum, or is one product already. Factors are rows and depth, columns and
/// depth, each of kLeastOfRole values or more.
///
///   a third factor, or an expression   that has the indices of one of two factors, or fewer: multiplied with it first,
///                                      into workspace
///   factors of which no two have all   pair by pair, in the order that takes the least time: t(i, j, k) * b(j, r) *
///   indices                            d(k, r), summed over k first
///   what the sum does not run over     in front of the sum
///   several products                   one after the other into the result, or into workspace where the result is
///                                      read or has another type; the last one with what is done with all
///   results that vectors cannot hold   complex ones that are converted, divided or no neighbours, and those that lie
///                                      backwards: the sum in workspace, and what is made of it
///
/// A second sequence where products differ in the names of indices alone, as those that antisymmetrise: each of these
/// is computed once, into workspace, and added as often as it stands there.
///
/// Sums get another order: not for programs that are exact.
std::vector<Sequence> products_apart(const Sequence& sequence, std::size_t step);

constexpr std::int64_t kLeastOfRole = 8;  ///< fewer values reuse too little of what is read for tiles to pay

}  // namespace ricci::ir
