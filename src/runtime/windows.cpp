#include "runtime/windows.hpp"

#include <algorithm>
#include <utility>

#include "ir/axes.hpp"
#include "ir/passes/copy_window.hpp"
#include "ir/passes/reorder_storage.hpp"
#include "kernel/contraction.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

std::vector<ir::Sequence> windows_reordered(const ir::Sequence& sequence, std::size_t step, std::int64_t limit) {
  std::vector<ir::Sequence> ways;
  const auto& program = sequence.steps[step].program;
  const auto product = has_points(program) ? kernel::contraction_of(program) : std::nullopt;
  if (!product || product->reduce < 0) return ways;
  for (const auto load : {product->first.load, product->second.load}) {
    const auto& read = program.nodes[static_cast<std::size_t>(load)];
    const auto axes = ir::axes_of(read.offset, program.indices);
    const auto is_window = [](const ir::Axis& axis) { return axis.indices.size() > 1; };
    if (program.buffers[static_cast<std::size_t>(read.source)].written || axes.size() < 2 ||
        std::none_of(axes.begin(), axes.end(), is_window))
      continue;
    for (std::size_t fastest = 1; fastest < axes.size(); ++fastest) {
      constexpr std::int64_t kSector = 32;  // bytes: shorter rows are read as badly as columns
      if (is_window(axes[fastest]) || axes[fastest].extent * size_of(read.type) < kSector) continue;
      // Tiles of the result would go along it, too, which a large one does not (7 x 7 windows of 3 channels in bf16 on
      // an H200 took 1.6 times as long with images side by side, and were predicted to take 0.64 of the time).
      const auto& to = program.statement().offset;
      const bool of_result = to.coefficient[static_cast<std::size_t>(axes[fastest].indices.front())] != 0;
      if (of_result && ir::reached(to, program.indices) > ir::reached(read.offset, program.indices)) continue;
      std::vector<std::size_t> order;
      for (std::size_t k = axes.size(); k-- > 0;) {
        if (k != fastest) order.push_back(k);
      }
      order.push_back(fastest);
      const int storage = sequence.steps[step].storage[static_cast<std::size_t>(read.source)];
      auto way = ir::reorder_storage(sequence, storage, axes, order);
      if (!way) way = ir::copy_window(sequence, step, load, axes, order);
      if (way->fits(limit)) ways.push_back(std::move(*way));
    }
  }
  return ways;
}

}  // namespace ricci::runtime
