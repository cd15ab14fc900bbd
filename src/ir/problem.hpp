// A problem: index notation with extents, strides and types; checked, and lowered to a program.
#pragma once

#include "ir/program.hpp"
#include "ricci/spec.hpp"
#include "ricci/tensor.hpp"

namespace ricci::ir {

/// How a factor enters a kernel: 1 (absent as a multiplication), 0 (its operand absent), or any value at run time.
enum class Factor : std::uint8_t { zero, one, any };
Factor factor_of(Scalar value) noexcept;

/// B = alpha * op(A)[perm] + beta * B.
struct PermuteProblem {
  Spec spec;
  Layout input, output;
  Factor alpha = Factor::one, beta = Factor::zero;
  bool conjugate = false;
};

inline constexpr int kMaxRank = 32;

/// Throws SpecError or ShapeError, naming axes, extents and operands, with a caret under the spec.
void check(const PermuteProblem& problem);

/// A row-major layout for the output of a spec; throws as check() does.
Layout permuted_row_major(const Spec& spec, const Layout& input);

/// The program of a checked problem: indices named as in the spec, in the output's order; buffers A and B (and B read
/// too when beta is not 0); params alpha, beta in the compute type when they are `any`.
Program lower(const PermuteProblem& problem);

/// The program of a spec with any number of operands: their product, summed over the axes that the output leaves out;
/// an axis that an operand repeats walks its diagonal. Buffers A, B, ... and the output after them. Throws SpecError or
/// ShapeError as check() does. Such programs are checked, brought to canonical form, printed and interpreted; the
/// planner takes permutations alone.
Program lower_einsum(const Spec& spec, const std::vector<Layout>& inputs, const Layout& output);

/// The type that factors are applied in: the wider of the two, f32 for half types.
DType compute_type(DType input, DType output);

/// Throws ShapeError when a factor has no meaning in `type` (imaginary part on a real tensor, fraction on an integer
/// one).
void check_factor(const char* which, Scalar value, DType type);

}  // namespace ricci::ir
