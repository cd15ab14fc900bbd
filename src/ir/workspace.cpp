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
  std::vector<Lifetime> list(sequence.slots.size());
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    for (const int slot : sequence.steps[k].slot) {
      auto& lifetime = list[static_cast<std::size_t>(slot)];
      if (!lifetime.used) lifetime = {k, k, true};
      lifetime.last = k;
    }
  }
  return list;
}

std::int64_t bytes_of(const Slot& slot) {
  const auto bytes = std::max<std::int64_t>(slot.last - slot.first + 1, 0) * size_of(slot.type);
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace

WorkspaceLayout workspace_layout(const Sequence& sequence) {
  const auto& slots = sequence.slots;
  const auto alive = lifetimes(sequence);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (slots[k].role == Role::workspace) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return bytes_of(slots[x]) > bytes_of(slots[y]); });
  WorkspaceLayout layout;
  layout.offset.assign(slots.size(), -1);
  std::vector<std::size_t> placed;  // by rising offset
  for (const auto slot : order) {
    const auto bytes = alive[slot].used ? bytes_of(slots[slot]) : 0;
    std::int64_t at = 0;
    for (const auto other : placed) {
      if (!alive[slot].meets(alive[other])) continue;
      if (at + bytes <= layout.offset[other]) break;
      at = std::max(at, layout.offset[other] + bytes_of(slots[other]));
    }
    layout.offset[slot] = at;
    layout.bytes = std::max(layout.bytes, at + bytes);
    const auto behind = std::upper_bound(placed.begin(), placed.end(), at, [&](std::int64_t offset, std::size_t other) {
      return offset < layout.offset[other];
    });
    placed.insert(behind, slot);
  }
  return layout;
}

}  // namespace ricci::ir
