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

/// C = alpha * sum(op(A) * op(B) * ...) + beta * C, for any number of operands. A permutation is the einsum of one
/// operand that keeps every axis. The spec may hold ellipses: functions that take a problem expand them by the ranks.
struct EinsumProblem {
  Spec spec;
  std::vector<Layout> inputs;  ///< one per operand of the spec
  Layout output;
  Factor alpha = Factor::one, beta = Factor::zero;
  std::vector<bool> conjugate = {};  ///< per operand: op(X) = conj(X); empty: none
};

inline constexpr int kMaxRank = 32;

/// Throws SpecError or ShapeError, naming axes, extents and operands, with a caret under the spec.
void check(const PermuteProblem& problem);

/// Throws SpecError or ShapeError, naming axes, extents and operands, with a caret under the spec.
void check(const EinsumProblem& problem);
/// The same for what is to be a permutation: one operand, each axis once on either side, an output that is written out.
void check_permutation(const EinsumProblem& problem);

/// What factors are applied in, and what sums are made in if any operand is complex: the widest of all tensors, at
/// least f32 for floats; the output's type for integers.
DType compute_type(const EinsumProblem& problem);

/// Row-major, for a result that is to be made: the type that holds every operand's values (c64 for c64 and f32, f32 for
/// f16 and bf16, the wider integer) and the extents of the output. Throws as check() does.
Layout result_row_major(const Spec& spec, const std::vector<Layout>& inputs);

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
