#include "ir/select_indices.hpp"

#include <algorithm>
#include <utility>

namespace ricci::ir {

void select_indices(Program& program, const Few<std::size_t>& order) {
  const bool all = order.size() == program.indices.size() && std::is_sorted(order.begin(), order.end());
  if (all) {  // as it is
    for (auto& node : program.nodes) std::sort(node.over.begin(), node.over.end());
    return;
  }
  std::vector<LoopIndex> indices;
  indices.reserve(order.size());
  Few<int> place(program.indices.size(), -1);
  for (const auto q : order) {
    place[q] = static_cast<int>(indices.size());
    indices.push_back(std::move(program.indices[q]));
  }
  for_each_access(program, [&](Affine& affine) {
    const auto before = affine.coefficient;
    affine.coefficient.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) affine.coefficient[k] = before[order[k]];
  });
  for (auto& node : program.nodes) {
    for (auto& q : node.over) q = place[static_cast<std::size_t>(q)];
    std::erase(node.over, -1);
    std::sort(node.over.begin(), node.over.end());
    if (node.kind == NodeKind::index) node.source = place[static_cast<std::size_t>(node.source)];
  }
  program.indices = std::move(indices);
}

}  // namespace ricci::ir
