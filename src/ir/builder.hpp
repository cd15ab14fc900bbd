// Builder of programs: hash-conses nodes and folds constants.
#pragma once

#include <array>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

/// Indices, buffers and parameters are put into `program` by the caller, before nodes that name them. Affines may be
/// shorter than the final number of indices while building; finish() pads them and verifies.
class Builder {
 public:
  Program program;

  NodeId load(int buffer, Affine offset);
  NodeId param(int param);
  /// Of an integer type: a whole number within 2^53, wrapped to the type; throws InternalError for another.
  NodeId constant(Scalar value, DType type);
  NodeId integer(std::uint64_t bits, DType type);  ///< any number of an integer type, wrapped to it
  NodeId constant(const Node& like);               ///< one of another program
  NodeId index(int index);
  /// One to three operands of the types that the operation asks for. Unless program.exact, folds constants and the
  /// identities x + 0, x - 0, x * 1, x * 0, x / 1, x * -1, --x, and moves signs out of sums and products; values that
  /// are not finite may turn into others that way (0 * infinity is taken for 0).
  NodeId op(OpCode op, DType type, NodeId x, NodeId y = -1, NodeId z = -1);
  NodeId cast(NodeId x, DType type);  ///< x itself when it has the type
  NodeId reduce(OpCode op, NodeId body, std::vector<int> over);
  NodeId guard(NodeId predicate, NodeId body);
  NodeId scan(OpCode op, NodeId body, int over, bool exclusive, NodeId start = -1);
  NodeId compact(NodeId predicate, NodeId payload, NodeId base, int over);
  /// A node of another program whose buffers, parameters and indices have the same numbers here, over what its operands
  /// are here (-1: it has none).
  NodeId like(const Node& other, const std::array<NodeId, 3>& operand);
  void store(int buffer, Affine offset, NodeId value, std::int64_t step = 0);

  const Node& node(NodeId id) const { return program.nodes[static_cast<std::size_t>(id)]; }

  /// Pads affines, drops nodes that no statement uses and indices that nothing names any more, verifies. The builder
  /// is empty afterwards.
  Program finish();

 private:
  NodeId add(Node node);
  /// Where the table of nodes has one like it, or has room for it.
  NodeId& place_of(const Node& node);
  /// What an operation folds to; -1: nothing. Operands are left in the order in which it is kept.
  NodeId folded(OpCode op, DType type, NodeId& x, NodeId& y, NodeId z);
  bool is_constant(NodeId id, double value) const;

  Few<NodeId> known_;  ///< by hash, or behind what is there; -1: none
};

}  // namespace ricci::ir
