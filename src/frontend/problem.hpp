// A problem: index notation with extents, strides, types and factors, and its checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/types.hpp"
#include "ricci/spec.hpp"
#include "ricci/tensor.hpp"

namespace ricci::ir {

/// How a factor enters a kernel: 1 (absent as a multiplication), 0 (its operand absent), or any value at run time.
enum class Factor : std::uint8_t { zero, one, any };
Factor factor_of(Scalar value) noexcept;

/// D = alpha * sum(op(A) * op(B) * ...) + beta * op(C), for any number of operands; without an addend C is D's old
/// value. A permutation is the einsum of one operand that keeps every axis. The spec may hold ellipses: functions that
/// take a problem expand them by the ranks.
struct EinsumProblem {
  Spec spec;
  std::vector<Layout> inputs;  ///< one per operand of the spec
  Layout output;
  Factor alpha = Factor::one, beta = Factor::zero;
  std::vector<bool> conjugate = {};   ///< per operand: op(X) = conj(X); empty: none
  std::optional<Layout> addend = {};  ///< layout of C; empty: it is the output
  bool conjugate_addend = false;      ///< op(C) = conj(C)
  std::vector<bool> constant = {};    ///< per operand: the same in all calls; empty: none
  Precision precision = Precision::operands;
};

inline constexpr int kMaxRank = 32;  ///< of one tensor

/// Throws SpecError or ShapeError, naming axes, extents and operands, with a caret under the spec.
void check(const EinsumProblem& problem);
/// The same for a permutation: one operand, each axis once on either side, an output that is written out.
void check_permutation(const EinsumProblem& problem);

/// The problem without ellipses. Throws as Spec::expand() does, and ShapeError when there are not as many inputs as
/// operands.
EinsumProblem expand(EinsumProblem problem);
/// A problem without ellipses, without its axes of extent 1: what is left has the same extent wherever it stands.
EinsumProblem squeeze(EinsumProblem problem);

/// NumPy's type for what two types meet in: i16 for u8 and i8, f64 for u64 and i64 and for f32 and i32, c64 for c64 and
/// f32. bf16, which NumPy has not, meets f16 and 16-bit integers in f32, 8-bit ones in bf16.
DType promoted(DType x, DType y) noexcept;
/// The same for one or more, in any order: floats first, as NumPy does, so that u8, i8 and f16 meet in f16.
DType result_type(const std::vector<DType>& types);

/// What factors are applied in, and what sums are made in if any operand is complex: the widest of all tensors, at
/// least f32 for floats; the output's type where that is an integer. A wider one where the precision asks for it.
DType compute_type(const EinsumProblem& problem);
DType compute_type(DType input, DType output);

/// Row-major, for a result that is to be made: of the operands' result_type() and the extents of the output. Throws as
/// check() does.
Layout result_row_major(const Spec& spec, const std::vector<Layout>& inputs);

/// The same for a permutation; throws as check_permutation() does.
Layout permuted_row_major(const Spec& spec, const Layout& input);

/// Throws ShapeError, saying the range, where a number of an integer type would wrap, or a finite one be infinite in
/// f32.
void check_range(const std::string& what, Scalar value, DType type);

/// Throws ShapeError when a factor has no meaning in `type` (imaginary part on a real tensor, fraction on an integer
/// one), or is out of its range.
void check_factor(const char* which, Scalar value, DType type);

/// "operand B", or "the input" where there is one alone: for messages.
std::string operand_text(std::size_t operand, std::size_t operands);
/// Names of operands, of the addend behind them and of the output: A to Z, then A1, B1, ...
std::string operand_name(std::size_t operand);

/// Elements that a layout reaches, as offsets from its base: [0, -1] when it has none.
struct Reach {
  std::int64_t first = 0, last = -1;
};
Reach reach_of(const Layout& layout) noexcept;

}  // namespace ricci::ir
