#include "plan/models/operation_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::plan {

using ir::NodeKind;

OperationCounts count_operations(const ir::Program& program) {
  OperationCounts counts;
  const auto count = program.indices.size();
  counts.free = program.free_indices();
  // Enclosing reductions of a node: those of all its users. Users come after their operands.
  std::vector<std::vector<bool>> around(program.nodes.size(), std::vector<bool>(count));
  std::vector<std::vector<bool>> depends(program.nodes.size(), std::vector<bool>(count));
  for (std::size_t id = program.nodes.size(); id-- > 0;) {
    const auto& node = program.nodes[id];
    auto inside = around[id];
    for (const int q : node.over) inside[static_cast<std::size_t>(q)] = true;
    for (const auto operand : node.operand) {
      if (operand < 0) continue;
      auto& target = around[static_cast<std::size_t>(operand)];
      for (std::size_t q = 0; q < count; ++q) target[q] = target[q] || inside[q];
    }
  }
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    auto& set = depends[id];
    for (const auto operand : node.operand) {
      if (operand < 0) continue;
      for (std::size_t q = 0; q < count; ++q) set[q] = set[q] || depends[static_cast<std::size_t>(operand)][q];
    }
    if (node.kind == NodeKind::load) {
      for (std::size_t q = 0; q < count; ++q) set[q] = set[q] || node.offset.coefficient[q] != 0;
    }
    if (node.kind == NodeKind::index) set[static_cast<std::size_t>(node.source)] = true;
    if (ir::is_leaf(node)) continue;
    CountedNode counted;
    counted.node = static_cast<ir::NodeId>(id);
    counted.depends = set;
    counted.around = around[id];
    for (std::size_t q = 0; q < count; ++q) {
      // Loop invariants are hoisted.
      if (around[id][q] && set[q]) counted.times *= static_cast<double>(program.indices[q].extent);
      if (node.kind == NodeKind::reduce &&
          std::find(node.over.begin(), node.over.end(), static_cast<int>(q)) != node.over.end()) {
        counted.times *= static_cast<double>(program.indices[q].extent);
      }
      if (!counts.free[q]) counted.depends[q] = false;
    }
    // For its users a reduction does not depend on the indices it reduces.
    for (const int q : node.over) set[static_cast<std::size_t>(q)] = false;
    const bool cast = node.kind == NodeKind::op &&
                      (node.op == ir::OpCode::cast || node.op == ir::OpCode::tf32 || node.op == ir::OpCode::tf32_rest);
    if (node.kind == NodeKind::load) {
      const auto elements = ir::reached(node.offset, program.indices);
      counts.compulsory_bytes += static_cast<double>(elements) * static_cast<double>(size_of(node.type));
      counts.loads.push_back(std::move(counted));
    } else if (!cast) {
      counts.operations.push_back(std::move(counted));
    }
  }
  for (const auto& statement : program.statements) {
    const auto& value = program.nodes[static_cast<std::size_t>(statement.value)];
    const bool many = value.kind == NodeKind::scan || value.kind == NodeKind::compact;
    counts.sequential = counts.sequential || many;
    const auto times = many ? program.indices[static_cast<std::size_t>(value.over[0])].extent : 1;
    const auto elements = times * ir::reached(statement.offset, program.indices);
    const auto type = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
    counts.compulsory_bytes += static_cast<double>(elements) * static_cast<double>(size_of(type));
  }
  for (std::size_t q = 0; q < count; ++q) {
    if (counts.free[q]) counts.order.push_back(static_cast<int>(q));
  }
  const auto& to = program.statement().offset.coefficient;
  std::stable_sort(counts.order.begin(), counts.order.end(), [&](int p, int q) {
    const auto stride = [&](int k) {
      const auto s = std::abs(to[static_cast<std::size_t>(k)]);
      return s == 0 ? INT64_MAX : s;  // an index of other statements alone
    };
    return stride(p) < stride(q);
  });
  return counts;
}

}  // namespace ricci::plan
