#include "ir/named_values.hpp"

#include <algorithm>

namespace ricci::ir {

std::vector<bool> named_values(const Program& program) {
  const auto count = program.nodes.size();
  std::vector<int> users(count);
  const auto use = [&](NodeId id) {
    if (id >= 0 && id < static_cast<NodeId>(count)) ++users[static_cast<std::size_t>(id)];
  };
  for (const auto& node : program.nodes) {
    for (int k = 0; k < operand_count(node); ++k) use(node.operand[k]);
  }
  for (const auto& statement : program.statements) use(statement.value);

  std::vector<bool> named(count);
  std::vector<int> nesting(count);  // operations inside of one another in the text of a value
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = program.nodes[id];
    if (is_leaf(node)) continue;
    for (int k = 0; k < operand_count(node); ++k) {
      const auto operand = node.operand[k];
      if (operand < 0 || operand >= static_cast<NodeId>(id) || named[static_cast<std::size_t>(operand)]) continue;
      nesting[id] = std::max(nesting[id], nesting[static_cast<std::size_t>(operand)]);
    }
    ++nesting[id];
    named[id] = users[id] > 1 || nesting[id] >= kDeepestText;
  }
  return named;
}

std::size_t depth_of(const Program& program) {
  std::vector<std::size_t> depth(program.nodes.size());
  std::size_t deepest = 0;
  for (std::size_t id = 0; id < depth.size(); ++id) {
    const auto& node = program.nodes[id];
    for (int k = 0; k < operand_count(node); ++k) {
      depth[id] = std::max(depth[id], depth[static_cast<std::size_t>(node.operand[k])]);
    }
    deepest = std::max(deepest, ++depth[id]);
  }
  return deepest;
}

}  // namespace ricci::ir
