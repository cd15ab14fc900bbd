#include "ir/axes.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace ricci::ir {

std::vector<Axis> axes_of(const Affine& access, const std::vector<LoopIndex>& indices) {
  std::vector<Axis> alone, made;
  for (std::size_t q = 0; q < access.coefficient.size(); ++q) {
    if (access.coefficient[q] == 0 || indices[q].extent < 2) continue;
    alone.push_back({std::abs(access.coefficient[q]), indices[q].extent, {static_cast<int>(q)}});
  }
  std::stable_sort(alone.begin(), alone.end(), [](const Axis& x, const Axis& y) { return x.stride < y.stride; });
  const auto reach = [](const Axis& axis) { return axis.stride * (axis.extent - 1); };
  std::int64_t all = 0;  // that those made reach together
  for (auto& axis : alone) {
    while (!made.empty() && axis.stride <= all) {
      const auto& below = made.back();
      const auto stride = std::gcd(axis.stride, below.stride);
      const auto both = reach(axis) + reach(below);
      all -= reach(below);
      axis = {stride, both / stride + 1, [&] {
                auto joined = below.indices;
                joined.insert(joined.end(), axis.indices.begin(), axis.indices.end());
                return joined;
              }()};
      made.pop_back();
    }
    all += reach(axis);
    made.push_back(std::move(axis));
  }
  return made;
}

}  // namespace ricci::ir
