#include "ir/select_indices.hpp"

#include <algorithm>
#include <utility>

namespace ricci::ir {

void select_indices(Program& program, const std::vector<std::size_t>& order) {
  const bool all = order.size() == program.indices.size() && std::is_sorted(order.begin(), order.end());
  if (all) {  // as it is
    for (auto& node : program.nodes) std::sort(node.over.begin(), node.over.end());
    return;
  }
  std::vector<LoopIndex> indices;
  indices.reserve(order.size());
  std::vector<int> place(program.indices.size(), -1);
  for (const auto q : order) {
    place[q] = static_cast<int>(indices.size());
    indices.push_back(program.indices[q]);
  }
  for_each_access(program, [&](Affine& affine) {
    std::vector<std::int64_t> coefficient;
    coefficient.reserve(order.size());
    for (const auto q : order) coefficient.push_back(affine.coefficient[q]);
    affine.coefficient = std::move(coefficient);
  });
  for (auto& node : program.nodes) {
    std::vector<int> over;
    for (const int q : node.over) {
      if (place[static_cast<std::size_t>(q)] >= 0) over.push_back(place[static_cast<std::size_t>(q)]);
    }
    std::sort(over.begin(), over.end());
    node.over = std::move(over);
    if (node.kind == NodeKind::index) node.source = place[static_cast<std::size_t>(node.source)];
  }
  program.indices = std::move(indices);
}

}  // namespace ricci::ir
