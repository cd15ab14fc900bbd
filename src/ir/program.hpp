// The intermediate representation: what one kernel computes, as statements over named indices with affine accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/few.hpp"
#include "ir/types.hpp"

namespace ricci::ir {

/// A loop variable that runs over 0 .. extent-1.
struct LoopIndex {
  std::string name;
  std::int64_t extent = 0;
};

/// sum_q coefficient[q] * index[q] + constant, in elements of the buffer it addresses. One coefficient per index of the
/// program, zero where the index does not occur.
struct Affine {
  Few<std::int64_t, 12> coefficient;
  std::int64_t constant = 0;
  bool operator==(const Affine&) const = default;
};

/// Memory that the caller owns. Offsets that the program reaches lie in [first, last], in elements from the base.
struct Buffer {
  std::string name;
  DType type = DType::f64;
  bool written = false;
  std::int64_t first = 0, last = 0;
  std::int64_t alignment = 0;  ///< bytes promised for the base pointer
  bool tf32 = false;           ///< of f32: of all elements the lower 13 bits are 0, as OpCode::tf32 leaves them
};

/// A factor given at run time: a kernel argument.
struct Param {
  std::string name;
  DType type = DType::f64;
};

using NodeId = int;

enum class NodeKind : std::uint8_t {
  load,      ///< buffer[offset]
  param,     ///< a run-time factor
  constant,  ///< a literal
  index,     ///< the value of an index, as i64
  op,        ///< an operation on one to three nodes
  reduce,   ///< `op` over all values of the indices `over` of operand[0]; the operation's identity where there are none
  guard,    ///< operand[1] where operand[0] is not 0, else the identity of the reduction around it (0 outside of one).
            ///< As a statement's value: nothing is stored where operand[0] is 0. `op` is that reduction's operation
  scan,     ///< only as a statement's value: prefixes of operand[0] along over[0], combined by `op`; before the first
            ///< stands operand[1] where there is one, else the operation's identity
  compact,  ///< only as a statement's value: operand[1] for those values of over[0] where operand[0] is not 0, one
            ///< after the other in ascending order, from element operand[2] (i64) of the statement's access on
};

/// Elementwise operations. Integers wrap; f16 and bf16 exist only in loads, stores and casts.
enum class OpCode : std::uint8_t {
  // the node's type, real, complex or integer
  add,        ///< x + y
  sub,        ///< x - y
  mul,        ///< x * y; complex: (xr*yr - xi*yi, xr*yi + xi*yr)
  scale,      ///< x == 0 ? 0 : x * y, a BLAS factor: 0 hides whatever y holds
  div,        ///< x / y, correctly rounded; complex: x * conj(y) / |y|^2 by parts; integers towards 0, x / 0 = 0
  neg,        ///< -x
  conj,       ///< complex conjugate
  cast,       ///< to the node's type: one correct rounding to nearest even; integers to floats, never back
  tf32,       ///< f32: x rounded to 11 significant bits, halves away from zero, as tensor cores take it
  tf32_rest,  ///< f32: what tf32 leaves of x, rounded so, too
  // between a complex type and the real one of its parts
  real_part,
  imag_part,
  complex_of,  ///< x + i y
  // real types and integers
  minimum,
  maximum,  ///< y < x ? y : x and x < y ? y : x
  absolute,
  sign,  ///< |x|; -1, 0 or 1
  // f32 and f64: C's functions of that name
  sqrt,
  cbrt,
  rsqrt,
  exp,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  atan2,  ///< of x over y, in the quadrant of (y, x)
  hypot,
  copysign,
  pow,
  // integers (remainder real types too: C's fmod); shifts by at least the width give 0, the right one is logical for
  // unsigned types
  remainder,  ///< x % y with x's sign; of integers x % 0 = 0
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  popcount,
  // u8 from two operands of one real or integer type: 1 or 0
  equal,
  not_equal,
  less,
  less_equal,
  select,  ///< operand[0] (u8) != 0 ? operand[1] : operand[2]; all three are evaluated
};

struct Node {
  NodeKind kind = NodeKind::load;
  OpCode op = OpCode::add;
  DType type = DType::f64;           ///< of the value
  NodeId operand[3] = {-1, -1, -1};  ///< op, reduce, guard, scan, compact
  int source = -1;                   ///< load: buffer; param: parameter; index: index
  Affine offset = {};                ///< load
  std::vector<int> over = {};        ///< reduce, scan, compact: indices that no statement's own access uses
  Scalar value = 0;                  ///< constant of a float or complex type
  std::uint64_t integer = 0;         ///< constant of an integer type: its value, wrapped() into 64 bits
  bool exclusive = false;            ///< scan: prefixes leave out their own element
};

/// buffer[offset] = value, for every point of the program's free indices: those that no reduction, scan or compaction
/// uses. Points are independent of each other: a written buffer may only be read at the offsets that the same point
/// writes. All statements of a point read before any of them writes.
///
/// Scans: for q = over[0] of extent n, element offset + q * step holds the combination of the values before q
/// (exclusive, n + 1 elements, the last one the total) or up to q (inclusive, n elements).
/// Compactions: element offset + operand[2] + k * step is the k-th that passes; elements outside of the buffer's
/// [first, last] are not stored.
struct Statement {
  int buffer = -1;
  Affine offset = {};
  NodeId value = -1;
  std::int64_t step = 0;  ///< scan, compact: elements from one result to the next
};

/// Nodes are in evaluation order, operands before users. A node with several users is computed once.
struct Program {
  std::vector<LoopIndex> indices;
  std::vector<Buffer> buffers;
  std::vector<Param> params;
  std::vector<Node> nodes;
  std::vector<Statement> statements;
  /// Every operation is rounded as written. Otherwise a product may be fused into the sum that uses it (FMA), and sums
  /// may be split into partial sums.
  bool exact = true;
  /// Of products of f32 and c64 on tensor cores: `operands`, tf32 or tf32x3. All else is in the types of the nodes
  /// (passes/precision.hpp).
  Precision precision = Precision::operands;

  std::int64_t points() const noexcept;                                ///< product of the extents
  std::int64_t points(const std::vector<bool>& along) const noexcept;  ///< points of the free indices
  int find_load(int buffer) const noexcept;                            ///< first load of a buffer, or -1
  const Statement& statement() const { return statements.front(); }
  std::vector<NodeId> outermost() const;   ///< reductions, scans and compactions that are in none of these
  std::vector<bool> free_indices() const;  ///< per index: no reduction, scan or compaction runs over it
};

/// The name of an operation in the text form: "add", "abs", "less_equal", ...; "?" for an invalid number.
const char* name_of(OpCode op) noexcept;

/// Number of operands of an operation: 1 to 3, or 0 for an invalid number. Of a node, by its kind and operation: 0
/// to 3.
int operand_count(OpCode op) noexcept;
int operand_count(const Node& node) noexcept;
/// A value that reads no memory and computes nothing: texts spell it out where it is used.
bool is_leaf(const Node& node) noexcept;
inline bool is_op(const Node& node, OpCode op) noexcept { return node.kind == NodeKind::op && node.op == op; }

/// Classes of operations: arithmetic on every type but half types (add to neg); functions of floats (sqrt to pow);
/// comparisons, which give a u8.
constexpr bool is_arithmetic(OpCode op) noexcept { return op <= OpCode::neg; }
constexpr bool is_function(OpCode op) noexcept { return op >= OpCode::sqrt && op <= OpCode::pow; }
/// Functions that kernels for CPUs have for whole vectors: within a few units in the last place, not C's bits.
constexpr bool is_function_of_vectors(OpCode op) noexcept {
  switch (op) {
    case OpCode::cbrt:
    case OpCode::exp:
    case OpCode::log:
    case OpCode::sin:
    case OpCode::cos:
    case OpCode::tan:
    case OpCode::asin:
    case OpCode::acos:
    case OpCode::atan:
    case OpCode::sinh:
    case OpCode::cosh:
    case OpCode::tanh:
    case OpCode::atan2:
    case OpCode::hypot:
    case OpCode::pow:
      return true;
    default:
      return false;
  }
}
constexpr bool is_comparison(OpCode op) noexcept { return op >= OpCode::equal && op <= OpCode::less_equal; }

/// Whether the operation commutes bit by bit (NaN payloads aside).
bool commutes(OpCode op) noexcept;

/// Whether reductions and scans may use the operation: add, mul, minimum, maximum, bit_and, bit_or, bit_xor.
bool associates(OpCode op) noexcept;

/// Whether the order in which values of that type are combined changes no bit of the result: all integers, smallest and
/// largest of floats. Needs associates(op).
bool exactly_associates(OpCode op, DType type) noexcept;

/// The operation's identity: 0, 1, the type's largest value for minimum (infinity for floats), all bits, ...
/// identity_bits() gives it for integers, sign- or zero-extended to 64 bits; for those wider than 53 bits only it is
/// exact.
double identity(OpCode op, DType type) noexcept;
std::uint64_t identity_bits(OpCode op, DType type) noexcept;
Node identity_constant(OpCode op, DType type);

/// Smallest and largest value of an affine over the domain; the domain must not be empty.
struct Bounds {
  std::int64_t first, last;
};
Bounds bounds(const Affine& affine, const std::vector<LoopIndex>& indices) noexcept;

/// Number of elements that an access reaches: the product of the extents of the indices it depends on, without those
/// that several of them reach; at most, where such steps have no common one.
std::int64_t reached(const Affine& affine, const std::vector<LoopIndex>& indices) noexcept;

/// The indices that an access depends on, and those that are kept all the same, by falling stride.
std::vector<std::size_t> by_falling_stride(const Affine& affine, const std::vector<bool>& kept);

/// Whether `vector` neighbours along `index` can be one aligned access of a buffer through this affine.
bool vector_access(const Program& program, int buffer, const Affine& affine, int index, int vector) noexcept;

/// The text form, one item a line. It determines the program completely and is the kernel's identity in cache keys. A
/// node with several users is printed once, as "let", and so is one with deeply nested operands (named_values.hpp).
std::string print(const Program& program);
std::string print(const Affine& affine, const std::vector<LoopIndex>& indices);

/// Throws InternalError, naming the first broken rule: operands out of order, wrong types, accesses out of a buffer's
/// bounds, coefficients missing. Run after every pass.
void verify(const Program& program);

/// Evaluates the program point by point, plainly: the oracle. buffers[k] is the base pointer of program.buffers[k];
/// params[k] the value of program.params[k].
void interpret(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params);

}  // namespace ricci::ir
