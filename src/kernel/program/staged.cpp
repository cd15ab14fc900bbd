#include "kernel/program/staged.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::kernel {

bool reads_at_every_point(const ir::Program& program) {
  return std::none_of(program.nodes.begin(), program.nodes.end(), [](const ir::Node& node) {
    return !node.over.empty() || node.kind == ir::NodeKind::guard || node.kind == ir::NodeKind::compact;
  });
}

bool reads_across(const ir::Affine& offset, const std::vector<int>& dims) {
  const auto step = [&](int q) { return std::abs(offset.coefficient[static_cast<std::size_t>(q)]); };
  return std::any_of(dims.begin(), dims.end(), [&](int q) { return step(q) > 0 && step(q) < step(dims.back()); });
}

std::vector<StagedLoad> staged_loads(const ir::Program& program, const ProgramLoops& loops) {
  std::vector<StagedLoad> list;
  for (const auto& [buffer, dims] : loops.staged) {
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      if (node.kind != ir::NodeKind::load || node.source != buffer || !reads_across(node.offset, dims)) continue;
      StagedLoad one{static_cast<ir::NodeId>(id), dims, {}, 1};
      one.place.coefficient.assign(program.indices.size(), 0);
      for (auto k = dims.size(); k-- > 0;) {
        const auto q = static_cast<std::size_t>(dims[k]);
        one.place.coefficient[q] = one.elements;
        one.elements *= loops.tile[q];
      }
      list.push_back(std::move(one));
    }
  }
  return list;
}

}  // namespace ricci::kernel
