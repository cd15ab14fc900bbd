// Different values of a few.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ricci::plan {

/// Moves each value that is there to the front once, and says how many there are: up to kMost, a power of two, none of
/// them the greatest of their type.
template <std::size_t kMost, class Value>
std::size_t different(Value* values, std::size_t count) {
  constexpr Value kFree = std::numeric_limits<Value>::max();
  constexpr int kShift = 32 - std::countr_zero(2 * kMost);
  std::array<Value, 2 * kMost> seen;  // hashed: each value in its place or soon after it
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

}  // namespace ricci::plan
