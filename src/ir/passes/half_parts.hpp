// Products of a partial result with a bf16 tensor as products of bf16 numbers.
#pragma once

#include <optional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with partial results of f32 that are multiplied with a tensor of bf16 kept as the bf16 numbers that
/// they are the sums of, so that tensor cores multiply them; nothing where there are none. Of a step that multiplies
/// two tensors of bf16 a partial result is two such numbers, else it is three, which hold 24 bits: nothing is lost, but
/// of numbers below 2^-102, and those above 3.389e38 are infinite. They lie in one storage, part after part, and are
/// one more index of the sum, which the other factor has not.
///
///   t(j, r) = b(j, r) * d(r); z(i, j) = sum(r, t(j, r) * x(i, r))
///   t(0, j, r) = bf16(b * d); t(1, j, r) = bf16(b * d - t(0, j, r)); z(i, j) = sum(part r, t(part, j, r) * x(i, r))
///
/// For storages of the workspace that one step writes and one product of one other step reads. Exact programs stay.
std::optional<Sequence> half_parts(const Sequence& sequence);

}  // namespace ricci::ir
