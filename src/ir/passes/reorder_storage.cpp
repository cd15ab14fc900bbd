#include "ir/passes/reorder_storage.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::ir {
namespace {

/// An access by other strides of the axes; nothing where an index goes along several of them, or beyond one.
std::optional<Affine> along(const Affine& access, const std::vector<LoopIndex>& indices, const std::vector<Axis>& axes,
                            const std::vector<std::int64_t>& strides) {
  struct Reach {
    std::int64_t least = 0, greatest = 0;
  };
  std::vector<Reach> reach(axes.size());
  Affine made;
  made.coefficient.resize(access.coefficient.size());
  for (std::size_t q = 0; q < access.coefficient.size(); ++q) {
    const auto step = access.coefficient[q];
    if (step == 0 || indices[q].extent < 2) continue;
    auto k = axes.size() - 1;
    while (axes[k].stride > std::abs(step)) --k;
    if (step % axes[k].stride != 0) return std::nullopt;
    const auto places = step / axes[k].stride;
    made.coefficient[q] = places * strides[k];
    (places < 0 ? reach[k].least : reach[k].greatest) += places * (indices[q].extent - 1);
  }
  auto rest = access.constant;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const auto place = rest / axes[k].stride;
    rest -= place * axes[k].stride;
    made.constant += place * strides[k];
    if (place + reach[k].least < 0 || place + reach[k].greatest >= axes[k].extent) return std::nullopt;
  }
  return made;
}

}  // namespace

std::optional<Sequence> reorder_storage(Sequence sequence, int storage, const std::vector<Axis>& axes,
                                        const std::vector<std::size_t>& order) {
  const auto& declared = sequence.storages[static_cast<std::size_t>(storage)];
  std::int64_t elements = 1;
  for (const auto& axis : axes) {
    if (axis.stride != elements) return std::nullopt;
    elements *= axis.extent;
  }
  if (declared.role != Role::workspace || declared.first != 0 || declared.last + 1 != elements) return std::nullopt;
  std::vector<std::int64_t> strides(axes.size());
  elements = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = elements;
    elements *= axes[order[k]].extent;
  }
  for (auto& step : sequence.steps) {
    auto& program = step.program;
    const auto is_its = [&](int buffer) { return step.storage[static_cast<std::size_t>(buffer)] == storage; };
    const auto reorder = [&](Affine& access) {
      const auto made = along(access, program.indices, axes, strides);
      if (made) access = *made;
      return made.has_value();
    };
    for (auto& node : program.nodes) {
      if (node.kind == NodeKind::load && is_its(node.source) && !reorder(node.offset)) return std::nullopt;
    }
    for (auto& statement : program.statements) {
      if (!is_its(statement.buffer)) continue;
      if (statement.step != 0 || !reorder(statement.offset)) return std::nullopt;
    }
  }
  return sequence;
}

}  // namespace ricci::ir
