// Sets of indices as sorted lists of their numbers.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace ricci::formula {

using IndexSet = std::vector<int>;  ///< ascending, each once

inline IndexSet united(const IndexSet& a, const IndexSet& b) {
  IndexSet made;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made));
  return made;
}

inline IndexSet common(const IndexSet& a, const IndexSet& b) {
  IndexSet made;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made));
  return made;
}

inline IndexSet without(const IndexSet& a, const IndexSet& b) {
  IndexSet made;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made));
  return made;
}

/// Also of lists in any order.
inline bool contains(const std::vector<int>& list, int member) {
  return std::find(list.begin(), list.end(), member) != list.end();
}

}  // namespace ricci::formula
