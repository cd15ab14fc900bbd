// What an access goes along in memory: indices that step over the same elements, as i and r of x(i+r), are one axis.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

/// Elements first + stride * k, k = 0 .. extent-1, of an access: what `indices` run over together.
struct Axis {
  std::int64_t stride = 1;  ///< above 0
  std::int64_t extent = 1;
  std::vector<int> indices;
};

/// By rising stride, without indices that have one value or no coefficient. Each element that the access reaches is at
/// one place of all axes; where an axis has several indices, some of its places may not be reached.
std::vector<Axis> axes_of(const Affine& access, const std::vector<LoopIndex>& indices);

}  // namespace ricci::ir
