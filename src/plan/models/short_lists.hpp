// The unique values of a short list, and its order.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace ricci::plan {

/// Moves the unique values to the front and returns their number. At most kMost values, a power of two; none may be the
/// greatest of its type.
template <std::size_t kMost, class Value>
std::size_t unique_values(Value* values, std::size_t count) {
  constexpr Value kFree = std::numeric_limits<Value>::max();
  constexpr int kShift = 32 - std::countr_zero(2 * kMost);
  std::array<Value, 2 * kMost> seen;  // open addressing
  seen.fill(kFree);
  std::size_t n = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto value = values[k];
    if (n > 0 && values[n - 1] == value) continue;
    std::size_t place = static_cast<std::uint32_t>(value) * 0x9e3779b1U >> kShift;
    while (seen[place] != value && seen[place] != kFree) place = (place + 1) % seen.size();
    if (seen[place] == value) continue;
    seen[place] = values[n++] = value;
  }
  return n;
}

/// Sorts it, equals as they stand: std::stable_sort() asks for memory each time.
template <class List, class Less>
void sort_few(List& list, Less less) {
  for (auto next = list.begin(); next != list.end(); ++next) {
    auto value = std::move(*next);
    auto place = next;
    for (; place != list.begin() && less(value, *(place - 1)); --place) *place = std::move(*(place - 1));
    *place = std::move(value);
  }
}

}  // namespace ricci::plan
