// Values of up to two indices that one worker computes together, and the rest that plain candidates of both targets
// have in common.
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

struct Together {
  int first = -1, second = -1;  ///< indices; -1: none
  std::int64_t first_count = 1, second_count = 1;

  std::int64_t each(std::size_t q) const {
    return static_cast<int>(q) == first ? first_count : static_cast<int>(q) == second ? second_count : 1;
  }

  /// " each a2 b4", empty where every value is computed by itself.
  std::string text(const ir::Program& program) const {
    std::string text;
    for (const auto q : {first, second}) {
      if (q < 0) continue;
      const auto k = static_cast<std::size_t>(q);
      text += fmt::format(" {}{}", program.indices[k].name, each(k));
    }
    return text.empty() ? text : " each" + text;
  }
};

using Counts = std::pair<std::int64_t, std::int64_t>;  ///< {n, 1}: of one index

/// Calls `add` with each pair of indices of `order`, and each single one, and each of the counts that
/// `fits(index, count)` allows.
template <class Fits, class Add>
void for_each_together(const std::vector<int>& order, std::span<const Counts> counts, Fits fits, Add add) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j < order.size(); ++j) {
      for (const auto& [m, n] : counts) {
        if ((i == j) != (n == 1)) continue;
        const Together together{order[i], i == j ? -1 : order[j], m, n};
        if (fits(together.first, m) && (together.second < 0 || fits(together.second, n))) add(together);
      }
    }
  }
}

/// The fastest ones by their prediction, in that order.
inline std::vector<Candidate> fastest(std::vector<Candidate> list) {
  constexpr std::size_t kKept = 24;
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  if (list.size() > kKept) list.resize(kKept);
  return list;
}

}  // namespace ricci::plan
