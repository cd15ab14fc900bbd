// Boxes of indices: walked, cut by tiles, copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ricci::inline v1::dist {

using Indices = std::vector<std::int64_t>;

/// visit(index) for each index of a box that begins at zero, the last axis fastest.
template <class Visit>
void for_each_index(const Indices& extents, Visit&& visit) {
  Indices index(extents.size(), 0);
  for (const auto extent : extents) {
    if (extent < 1) return;
  }
  while (true) {
    visit(static_cast<const Indices&>(index));
    std::size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

inline std::int64_t product(const Indices& extents) {
  std::int64_t all = 1;
  for (const auto extent : extents) all *= extent;
  return all;
}

/// In elements, of a row-major box.
inline Indices row_major_strides(const Indices& extents) {
  Indices strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

/// The number of an index in a row-major box.
inline std::int64_t number_of(const Indices& index, const Indices& extents) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) number = number * extents[axis] + index[axis];
  return number;
}

inline Indices index_of(std::int64_t number, const Indices& extents) {
  Indices index(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0; number /= extents[axis]) index[axis] = number % extents[axis];
  return index;
}

/// A row-major array that a box lies in, and where.
struct Place {
  const Indices& extents;
  const Indices& first;
};

/// Copies a box between two arrays, run by run along the last axis.
inline void copy_box(std::byte* to, const Place& there, const std::byte* from, const Place& here, const Indices& box,
                     std::int64_t element) {
  Indices runs = box;
  std::int64_t run = 1;
  if (!runs.empty()) std::swap(run, runs.back());
  const auto offset = [&](const Place& place, const Indices& index) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < index.size(); ++k) number = number * place.extents[k] + place.first[k] + index[k];
    return number * element;
  };
  for_each_index(runs, [&](const Indices& index) {
    std::memcpy(to + offset(there, index), from + offset(here, index), static_cast<std::size_t>(run * element));
  });
}

}  // namespace ricci::inline v1::dist
