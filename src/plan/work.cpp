#include "plan/work.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::plan {

using ir::NodeKind;

WorkPerPoint work_per_point(const ir::Program& program) {
  WorkPerPoint work;
  const auto count = program.indices.size();
  work.free = program.free_indices();
  // The reductions around a node: of its users, and theirs. Users stand after their operands.
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
    const bool leaf = node.kind == NodeKind::param || node.kind == NodeKind::constant || node.kind == NodeKind::index;
    if (leaf) continue;
    Job job;
    job.node = static_cast<ir::NodeId>(id);
    job.depends = set;
    job.around = around[id];
    for (std::size_t q = 0; q < count; ++q) {
      // What an inner loop does not change is computed before it.
      if (around[id][q] && set[q]) job.times *= static_cast<double>(program.indices[q].extent);
      if (node.kind == NodeKind::reduce &&
          std::find(node.over.begin(), node.over.end(), static_cast<int>(q)) != node.over.end()) {
        job.times *= static_cast<double>(program.indices[q].extent);
      }
      if (!work.free[q]) job.depends[q] = false;
    }
    // depends of a reduction leaves out what it runs over, for its users.
    for (const int q : node.over) set[static_cast<std::size_t>(q)] = false;
    const bool cast = node.kind == NodeKind::op && node.op == ir::OpCode::cast;
    if (node.kind == NodeKind::load) {
      const auto elements = ir::reached(node.offset, program.indices);
      work.compulsory_bytes += static_cast<double>(elements) * static_cast<double>(size_of(node.type));
      work.loads.push_back(std::move(job));
    } else if (!cast) {
      work.operations.push_back(std::move(job));
    }
  }
  for (const auto& statement : program.statements) {
    const auto& value = program.nodes[static_cast<std::size_t>(statement.value)];
    const bool many = value.kind == NodeKind::scan || value.kind == NodeKind::compact;
    work.sequential = work.sequential || many;
    const auto times = many ? program.indices[static_cast<std::size_t>(value.over[0])].extent : 1;
    const auto elements = times * ir::reached(statement.offset, program.indices);
    const auto type = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
    work.compulsory_bytes += static_cast<double>(elements) * static_cast<double>(size_of(type));
  }
  for (std::size_t q = 0; q < count; ++q) {
    if (work.free[q]) work.order.push_back(static_cast<int>(q));
  }
  const auto& to = program.statement().offset.coefficient;
  std::stable_sort(work.order.begin(), work.order.end(), [&](int p, int q) {
    const auto stride = [&](int k) {
      const auto s = std::abs(to[static_cast<std::size_t>(k)]);
      return s == 0 ? INT64_MAX : s;  // an index of other statements alone
    };
    return stride(p) < stride(q);
  });
  return work;
}

}  // namespace ricci::plan
