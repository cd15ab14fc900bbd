#include "frontend/components.hpp"

#include <fmt/format.h>

#include <utility>

namespace ricci::formula {
namespace {

/// All multi-indices of the slots, last slot fastest.
template <class F>
void for_each_multi_index(const std::vector<std::int64_t>& extents, const F& call) {
  std::vector<std::int64_t> at(extents.size(), 0);
  for (const auto extent : extents) {
    if (extent == 0) return;
  }
  while (true) {
    call(at);
    std::size_t k = at.size();
    while (k-- > 0) {
      if (++at[k] < extents[k]) break;
      at[k] = 0;
      if (k == 0) return;
    }
    if (at.empty()) return;
  }
}

std::vector<std::int64_t> extents_of(const TensorDecl& tensor, const ProgramGraph& program) {
  std::vector<std::int64_t> extents;
  for (const auto& slot : tensor.slots) extents.push_back(program.extent(slot));
  return extents;
}

}  // namespace

int sort_slots(const std::vector<Symmetry>& symmetries, std::vector<std::int64_t>& multi_index) {
  int sign = 1;
  for (const auto& symmetry : symmetries) {
    // An insertion sort counts the exchanges.
    const auto& slots = symmetry.slots;
    const auto at = [&](std::size_t k) -> std::int64_t& { return multi_index[static_cast<std::size_t>(slots[k])]; };
    for (std::size_t k = 1; k < slots.size(); ++k) {
      for (std::size_t m = k; m > 0 && at(m) < at(m - 1); --m) {
        std::swap(at(m), at(m - 1));
        if (symmetry.antisymmetric) sign = -sign;
      }
    }
    for (std::size_t k = 1; k < slots.size() && symmetry.antisymmetric; ++k) {
      if (at(k) == at(k - 1)) return 0;
    }
  }
  return sign;
}

std::int64_t count_components(const TensorDecl& tensor, const ProgramGraph& program) {
  std::int64_t count = 1;
  std::vector<bool> counted(tensor.slots.size());
  for (const auto& symmetry : tensor.form.symmetry.list) {
    // Multisets, or sets, of k values out of n.
    const auto k = static_cast<std::int64_t>(symmetry.slots.size());
    const auto n = program.extent(tensor.slots[static_cast<std::size_t>(symmetry.slots.front())]);
    std::int64_t ways = 1;
    for (std::int64_t j = 0; j < k; ++j) ways = ways * (symmetry.antisymmetric ? n - j : n + j) / (j + 1);
    count *= ways;
    for (const int slot : symmetry.slots) counted[static_cast<std::size_t>(slot)] = true;
  }
  for (std::size_t k = 0; k < tensor.slots.size(); ++k) {
    if (counted[k]) continue;
    count *= program.extent(tensor.slots[k]);
    if (count > kMaxComponents && tensor.expanded()) return count;
  }
  return count;
}

Components::Components(const TensorDecl& tensor, const ProgramGraph& program) : symmetries_(tensor.form.symmetry.list) {
  for_each_multi_index(extents_of(tensor, program), [&](const std::vector<std::int64_t>& at) {
    auto sorted = at;
    if (sort_slots(symmetries_, sorted) == 0 || sorted != at) return;
    number_.emplace(at, count());
    stored_.push_back(at);
  });
}

Component Components::find(std::vector<std::int64_t> multi_index) const {
  const int sign = sort_slots(symmetries_, multi_index);
  if (sign == 0) return {};
  return {sign, number_.at(multi_index)};
}

std::string component_name(const std::string& tensor, const std::vector<std::int64_t>& component) {
  auto name = tensor;
  for (const auto value : component) name += fmt::format("_{}", value);
  return name;
}

}  // namespace ricci::formula
