// A contraction as plain loops, for the libraries that stand in the place of TBLIS and einsum_ir.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ricci::fake {

struct Tensor {
  std::string axes;
  std::vector<std::int64_t> extents, strides;
};

/// to[...] = factor * sum of first[...] * second[...] over the axes that the result lacks; or that added to it.
template <class T>
void contract(const Tensor& a, const T* first, const Tensor& b, const T* second, const Tensor& c, T* to, T factor = 1,
              bool adds = false) {
  std::map<char, std::int64_t> extent, at;
  for (const auto* tensor : {&c, &a, &b}) {
    for (std::size_t k = 0; k < tensor->axes.size(); ++k) extent[tensor->axes[k]] = tensor->extents[k];
  }
  std::string order = c.axes;
  for (const auto& [axis, n] : extent) {
    if (c.axes.find(axis) == std::string::npos) order += axis;
  }
  const auto place = [&](const Tensor& tensor) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < tensor.axes.size(); ++k) sum += at[tensor.axes[k]] * tensor.strides[k];
    return sum;
  };
  const auto loop = [&](const auto& self, std::size_t depth) -> void {
    if (depth == c.axes.size() && !adds) to[place(c)] = T();
    if (depth == order.size()) {
      to[place(c)] += factor * first[place(a)] * second[place(b)];
      return;
    }
    for (at[order[depth]] = 0; at[order[depth]] < extent[order[depth]]; ++at[order[depth]]) self(self, depth + 1);
  };
  loop(loop, 0);
}

}  // namespace ricci::fake
