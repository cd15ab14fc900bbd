#include "ir/workspace.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::ir {
namespace {

struct Lifetime {
  std::size_t first = 0, last = 0;  ///< steps
  bool used = false;
  bool meets(const Lifetime& other) const { return used && other.used && first <= other.last && other.first <= last; }
};

std::vector<Lifetime> lifetimes(const Sequence& sequence) {
  std::vector<Lifetime> list(sequence.storages.size());
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    for (const int storage : sequence.steps[k].storage) {
      auto& lifetime = list[static_cast<std::size_t>(storage)];
      if (!lifetime.used) lifetime = {k, k, true};
      lifetime.last = k;
    }
  }
  // What goes into a slice or comes out of it is there for all of its blocks.
  for (const auto& slice : sequence.slices) {
    for (auto& lifetime : list) {
      const bool meets = lifetime.used && lifetime.first < slice.last && slice.first <= lifetime.last;
      const bool within = slice.first <= lifetime.first && lifetime.last < slice.last;
      if (!meets || within) continue;
      lifetime.first = std::min(lifetime.first, slice.first);
      lifetime.last = std::max(lifetime.last, slice.last - 1);
    }
  }
  return list;
}

}  // namespace

std::int64_t bytes_of(const Storage& storage) {
  const auto bytes = std::max<std::int64_t>(storage.last - storage.first + 1, 0) * size_of(storage.type);
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

WorkspaceLayout workspace_layout(const Sequence& sequence) {
  const auto& storages = sequence.storages;
  const auto alive = lifetimes(sequence);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (storages[k].role == Role::workspace) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return bytes_of(storages[x]) > bytes_of(storages[y]); });
  WorkspaceLayout layout;
  layout.offset.assign(storages.size(), -1);
  std::vector<std::size_t> placed;  // by rising offset
  for (const auto storage : order) {
    const auto bytes = alive[storage].used ? bytes_of(storages[storage]) : 0;
    std::int64_t at = 0;
    for (const auto other : placed) {
      if (!alive[storage].meets(alive[other])) continue;
      if (at + bytes <= layout.offset[other]) break;
      at = std::max(at, layout.offset[other] + bytes_of(storages[other]));
    }
    layout.offset[storage] = at;
    layout.bytes = std::max(layout.bytes, at + bytes);
    const auto behind = std::upper_bound(placed.begin(), placed.end(), at, [&](std::int64_t offset, std::size_t other) {
      return offset < layout.offset[other];
    });
    placed.insert(behind, storage);
  }
  return layout;
}

}  // namespace ricci::ir
