#include "plan/enumerate/round_copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ricci::plan {
namespace {

constexpr std::int64_t kPastFirstCache = 16;  // bytes of an asynchronous copy that passes by that cache

/// How a block's part of an operand lies in memory.
tiles::Lie lie_of(const GpuContraction& c, bool of_rows, const tiles::Tile& side, const tiles::Tile& chunk) {
  const auto& axes = of_rows ? c.row_axes : c.column_axes;
  thread_local std::vector<tiles::Reach> all;  // kept: this is asked for every tile of a side with every chunk
  all.clear();
  const bool deep = c.deep(of_rows);
  // Rows of shared memory are a side's or the depth's, with some padding, of products side by side where lanes are.
  const auto apart = c.by_lanes() ? c.products : 1;
  const auto row = (deep ? chunk.size : side.size) * apart + std::max<std::int64_t>(16 / c.size, 1);
  tiles::reach(all, axes, side, false, deep ? row : apart);
  tiles::reach(all, c.depth_axes, chunk, !of_rows, deep ? apart : row);
  if (c.products > 1) {
    all.push_back({std::abs(c.in_operand(of_rows)), c.products, c.batch_axes[c.products_axis].extent,
                   apart > 1 ? 1 : row * (deep ? side.size : chunk.size)});
  }
  return tiles::lie_of(std::move(all));
}

/// Bytes by whose multiples runs of an operand begin, a power of two: at most a line.
///   run  elements of one
std::int64_t alignment_of(const GpuContraction& c, bool of_rows, const tiles::Tile& side, const tiles::Tile& chunk,
                          std::int64_t run) {
  std::int64_t steps = kCacheLineBytes;  // all of them, whose lowest bit is that of each
  const auto add = [&](std::int64_t stride, std::int64_t size, std::int64_t extent) {
    if (extent == 1) return;
    const bool inside = std::abs(stride) < run;
    if (!inside || size < extent) steps |= (inside ? size : 1) * stride * c.element_bytes(of_rows);
  };
  const auto& axes = of_rows ? c.row_axes : c.column_axes;
  for (std::size_t k = 0; k < axes.size(); ++k) add(axes[k].in_operand, side.step_of(axes, k), axes[k].extent);
  for (std::size_t k = 0; k < c.depth_axes.size(); ++k) {
    const auto& axis = c.depth_axes[k];
    add(of_rows ? axis.in_operand : axis.in_other, chunk.step_of(c.depth_axes, k), axis.extent);
  }
  for (std::size_t k = 0; k < c.batch_axes.size(); ++k) {
    const auto& axis = c.batch_axes[k];
    add(of_rows ? axis.in_operand : axis.in_other, k == c.products_axis ? c.products : 1, axis.extent);
  }
  return steps & -steps;
}

/// Where a round ends within rows of memory, what the rest of them is fetched with, and when that is copied.
void set_fetched(Copies& copies, const GpuContraction& c, bool of_rows, const tiles::Tile& chunk) {
  constexpr std::int64_t kFetched = 2 * kSectorBytes;  // by the second cache at once
  const auto run = static_cast<std::int64_t>(copies.run_bytes);
  if (run >= kCacheLineBytes || chunk.joined > 0) return;
  double rounds = 1;  // of the loops inside of an axis: those of one round are outside
  for (auto k = chunk.order.rbegin(); k != chunk.order.rend(); ++k) {
    const auto& axis = c.depth_axes[*k];
    const auto n = tiles::parts(axis.extent, chunk.sizes[*k]);
    if (std::abs(of_rows ? axis.in_operand : axis.in_other) == 1) {
      if (n == 1) return;
      const auto whole = tiles::up(run, kFetched) + (run % kFetched == 0 ? 0 : kFetched / 2);
      copies.fetched_bytes =
          copies.elements * static_cast<double>(c.element_bytes(of_rows) * (whole - run)) / static_cast<double>(run);
      copies.rounds_apart = rounds;
      return;
    }
    rounds *= static_cast<double>(n);
  }
}

}  // namespace

Copies round_copies(const GpuContraction& contraction, bool of_rows, const tiles::Tile& side,
                    const tiles::Tile& chunk) {
  const auto size = contraction.element_bytes(of_rows);  // in memory
  const auto lie = lie_of(contraction, of_rows, side, chunk);
  const auto n = contraction.copied_at_once(of_rows, side, chunk);
  Copies copies;
  copies.elements = static_cast<double>(side.size * chunk.size * contraction.products);
  copies.at_once = static_cast<double>(n);
  // Lanes that write across rows of shared memory meet in banks.
  const bool scattered = n == 1 && lie.fastest > 1 && lie.step != 1;
  (scattered ? copies.scattered : copies.wavefronts) = copies.elements;
  copies.wavefronts *= static_cast<double>(contraction.size) / kCacheLineBytes;
  copies.lines = copies.elements /
                 static_cast<double>(std::min({lie.run, std::max<std::int64_t>(kCacheLineBytes / size, 1), 32 * n}));
  copies.bytes = copies.elements * static_cast<double>(size) * moved_for_runs(lie.run * size);
  const auto piece = lie.together * size;
  if (!scattered && n * size >= kPastFirstCache && piece > kSectorBytes && piece % kSectorBytes != 0)
    copies.split = copies.elements / static_cast<double>(lie.together);
  copies.run_bytes = static_cast<double>(lie.run * size);
  if (n * size < kPastFirstCache || contraction.converts(of_rows)) {
    const auto bytes = lie.run * size, aligned = alignment_of(contraction, of_rows, side, chunk, lie.run);
    copies.held_lines = copies.elements / static_cast<double>(lie.run) *
                        static_cast<double>(bytes + kCacheLineBytes - std::min(aligned, bytes & -bytes)) /
                        kCacheLineBytes;
  }
  set_fetched(copies, contraction, of_rows, chunk);
  copies.converted = contraction.converts(of_rows) ? copies.elements : 0;
  if (side.joined + chunk.joined > 0) {
    // As counted in SASS: 12 to 17 for each copy, and 4 to 6 where places are sums.
    constexpr double kOfQuotients = 12;
    copies.instructions = kOfQuotients;
  }
  if (side.joined > 0) {
    // A warp reads lines, along the depth by few positions of it.
    const auto lines = static_cast<double>(std::max<std::int64_t>(kCacheLineBytes / (size * n), 1));
    copies.per_place =
        contraction.deep(of_rows) ? std::max(static_cast<double>(chunk.size) / static_cast<double>(n) / lines, 1.0) : 2;
  }
  return copies;
}

Copies by_whole_vectors(const GpuContraction& contraction, bool of_rows, const Copies& of) {
  const auto size = contraction.element_bytes(of_rows);
  Copies copies;
  copies.elements = of.elements;
  copies.converted = of.converted;
  copies.at_once = std::max(16.0 / static_cast<double>(std::max(size, contraction.size)), 1.0);
  copies.bytes = of.elements * static_cast<double>(size);
  copies.lines = copies.bytes / kCacheLineBytes;
  copies.wavefronts = of.elements * static_cast<double>(contraction.size) / kCacheLineBytes;
  return copies;
}

double moved_for_runs(std::int64_t run_bytes) {
  const auto whole = static_cast<double>(tiles::up(run_bytes, kSectorBytes));
  return (run_bytes % kSectorBytes == 0 ? whole : whole + 0.5 * kSectorBytes) / static_cast<double>(run_bytes);
}

}  // namespace ricci::plan
