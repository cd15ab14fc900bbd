// Sums of products behind guards as sums of products of tensors that hold zeros where a guard fails.
#pragma once

#include <optional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with steps in front of step number `step` that copy factors of its sums into workspace, with zeros
/// where a guard fails, and without these guards in the step itself: sum(k, guard(k <= i, l(i, k) * b(k, j))) is then a
/// product like any other, of which tiles multiply the zeros, too.
///
///   of each part of a condition       all factors that have its indices are masked; one at least has to have them
///   that no index of the sum is in    the whole sum is selected by it
///
/// Nothing where no guard is in a sum of products, or where one has indices that no factor has all of. What a guard
/// leaves out of the other factors is multiplied by zero: it has to be finite. Sums get no other order, but zeros are
/// added: not for programs that are exact, but for sums of integers.
std::optional<Sequence> masked_factors(const Sequence& sequence, std::size_t step);

}  // namespace ricci::ir
