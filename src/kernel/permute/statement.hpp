// The statement of a program that moves elements as a value of a kernel.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/program.hpp"
#include "kernel/kernel.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

/// The value of a node, with leaf(node) in place of each load.
template <class Leaf>
Value value_of(const ir::Program& program, ir::NodeId id, Leaf&& leaf) {
  const auto& n = program.nodes[static_cast<std::size_t>(id)];
  if (n.kind == ir::NodeKind::load) return leaf(id);
  Value value;
  value.type = n.type;
  value.op = n.op;
  if (n.kind == ir::NodeKind::param) {
    value.kind = Value::Kind::param;
    value.param = n.source;
    return value;
  }
  if (n.kind != ir::NodeKind::op) throw InternalError("a kernel that moves elements has no loops of its own");
  value.kind = Value::Kind::op;
  for (int k = 0; k < ir::operand_count(n); ++k) value.operands.push_back(value_of(program, n.operand[k], leaf));
  return value;
}

/// Loads that the statement uses, each once, in the order in which it does.
inline std::vector<ir::NodeId> loads_of(const ir::Program& program) {
  std::vector<ir::NodeId> loads;
  value_of(program, program.statement().value, [&](ir::NodeId load) {
    if (std::find(loads.begin(), loads.end(), load) == loads.end()) loads.push_back(load);
    return Value();
  });
  return loads;
}

}  // namespace ricci::kernel
