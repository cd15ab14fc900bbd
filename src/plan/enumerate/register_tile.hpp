// Register tiles over up to two indices, and what else the plain candidates of both targets share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::plan {

struct RegisterTile {
  int first = -1, second = -1;  ///< indices; -1: none
  std::int64_t first_count = 1, second_count = 1;
  bool neighbours = false;  ///< on a GPU: of a thread, not as far apart as its block is wide

  std::int64_t count(std::size_t q) const {
    return static_cast<int>(q) == first ? first_count : static_cast<int>(q) == second ? second_count : 1;
  }

  /// " register tile a2 b4" or " neighbours a2 b4"; empty for a tile of one value.
  std::string text(const ir::Program& program) const {
    std::string text;
    for (const auto q : {first, second}) {
      if (q < 0) continue;
      const auto k = static_cast<std::size_t>(q);
      text += fmt::format(" {}{}", program.indices[k].name, count(k));
    }
    return text.empty() ? text : (neighbours ? " neighbours" : " register tile") + text;
  }
};

using Counts = std::pair<std::int64_t, std::int64_t>;  ///< {n, 1}: of one index

/// Calls `add` for all register tiles over one or two indices of `order` with counts that `fits(index, count)` allows.
template <class Fits, class Add>
void for_each_register_tile(const std::vector<int>& order, std::span<const Counts> counts, Fits fits, Add add) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j < order.size(); ++j) {
      for (const auto& [m, n] : counts) {
        if ((i == j) != (n == 1)) continue;
        const RegisterTile tile{order[i], i == j ? -1 : order[j], m, n};
        if (fits(tile.first, m) && (tile.second < 0 || fits(tile.second, n))) add(tile);
      }
    }
  }
}

inline constexpr std::size_t kMostListed = 24;  // candidates that are worth listing

/// The candidates with the least predicted times, fastest first.
inline std::vector<Candidate> fastest(std::vector<Candidate> list) {
  sort_by_time(list, kMostListed);
  return list;
}

}  // namespace ricci::plan
