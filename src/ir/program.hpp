// The intermediate representation: what to compute, as statements over named indices with affine accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::ir {

/// A loop variable that runs over 0 .. extent-1.
struct Index {
  std::string name;
  std::int64_t extent = 0;
};

/// sum_q coefficient[q] * index[q] + constant, in elements of the buffer it addresses. One coefficient per index of the
/// program, zero where the index does not occur.
struct Affine {
  std::vector<std::int64_t> coefficient;
  std::int64_t constant = 0;
};

/// Memory that the caller owns. Offsets that the program reaches lie in [first, last], in elements from the base.
struct Buffer {
  std::string name;
  DType type = DType::f64;
  bool written = false;
  std::int64_t first = 0, last = 0;
  std::int64_t alignment = 0;  ///< bytes promised for the base pointer
};

/// A factor given at run time: a kernel argument.
struct Param {
  std::string name;
  DType type = DType::f64;
};

using NodeId = int;

enum class NodeKind : std::uint8_t {
  load,    ///< buffer[offset]
  param,   ///< a run-time factor
  op,      ///< an operation on one or two nodes
  reduce,  ///< the sum of operand[0] over the indices `over`; 0 where one of them has no values
};

/// Elementwise operations. Integers wrap; f16 and bf16 exist only in loads, stores and casts.
enum class OpCode : std::uint8_t {
  add,    ///< x + y
  mul,    ///< x * y; complex: (xr*yr - xi*yi, xr*yi + xi*yr)
  scale,  ///< x == 0 ? 0 : x * y, a BLAS factor: 0 hides whatever y holds
  conj,   ///< complex conjugate
  cast,   ///< to the node's type: one correct rounding to nearest even
};

struct Node {
  NodeKind kind = NodeKind::load;
  OpCode op = OpCode::add;
  DType type = DType::f64;       ///< of the value
  NodeId operand[2] = {-1, -1};  ///< op
  int source = -1;               ///< load: buffer; param: parameter
  Affine offset;                 ///< load
  std::vector<int> over = {};    ///< reduce: indices that the statement's own access does not use
};

/// buffer[offset] = value, for every point of the indices that no reduce of its value runs over, in any order.
struct Statement {
  int buffer = -1;
  Affine offset;
  NodeId value = -1;
};

/// Nodes stand in evaluation order: operands before users.
struct Program {
  std::vector<Index> indices;
  std::vector<Buffer> buffers;
  std::vector<Param> params;
  std::vector<Node> nodes;
  std::vector<Statement> statements;

  std::int64_t points() const noexcept;      ///< product of the extents
  int find_load(int buffer) const noexcept;  ///< first load of a buffer, or -1
  const Statement& statement() const { return statements.front(); }
};

/// Smallest and largest value of an affine over the domain; the domain must not be empty.
struct Bounds {
  std::int64_t first, last;
};
Bounds bounds(const Affine& affine, const std::vector<Index>& indices) noexcept;

/// The text form, one item a line, that names everything and nothing else: the kernel's identity in cache keys.
std::string print(const Program& program);
std::string print(const Affine& affine, const std::vector<Index>& indices);

/// Throws InternalError, naming the first broken rule: operands out of order, wrong types, accesses out of a buffer's
/// bounds, coefficients missing. Run after every pass.
void verify(const Program& program);

/// Evaluates the program point by point, plainly: the oracle. buffers[k] is the base pointer of program.buffers[k];
/// params[k] the value of program.params[k].
void interpret(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params);

}  // namespace ricci::ir
