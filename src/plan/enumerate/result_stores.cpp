#include "plan/enumerate/result_stores.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace ricci::plan {
namespace {

using tiles::Axes;
using tiles::Tile;

/// Sectors of which one piece of `bytes` neighbours has a part, where pieces begin at multiples of `alignment`.
double parts_of_sectors(std::int64_t bytes, std::int64_t alignment) {
  if (alignment == kSectorBytes && bytes % kSectorBytes == 0) return 0;
  const auto step = std::gcd(alignment, bytes);
  return std::min(2.0, static_cast<double>(bytes + kSectorBytes - step) / kSectorBytes);
}

/// Of a tile whose neighbours in memory neighbouring threads write.
StoreCounts relaid(const GpuContraction& c, const Cut& cut, std::int64_t held, const ResultPlace& place) {
  const auto results = static_cast<double>(cut.rows->size * cut.columns->size);
  const auto alignment = c.is_outer() ? place.run_alignment : place.alignment;
  auto width = std::max<std::int64_t>(std::min<std::int64_t>(alignment, 16) / c.result_size, 1);
  while (width > 1 && place.neighbours % width != 0) width /= 2;
  const auto piece = std::min(place.run, 32 * width);
  const auto bytes = piece * c.result_size;
  const double pieces = results / static_cast<double>(piece);
  StoreCounts counts;
  counts.lines =
      pieces * static_cast<double>(bytes + kCacheLineBytes - std::gcd(kCacheLineBytes, bytes)) / kCacheLineBytes;
  counts.part_sectors = pieces * parts_of_sectors(bytes, alignment);
  counts.wavefronts = (static_cast<double>(held) + results) * static_cast<double>(c.result_size) / kCacheLineBytes;
  return counts;
}

}  // namespace

ResultPlaces::ResultPlaces(const GpuContraction& contraction)
    : contraction_(contraction),
      order_(contraction.row_axes, true, contraction.column_axes, true,
             contraction.products > 1
                 ? std::optional(tiles::MemoryOrder::Beside{std::abs(contraction.in_result()), contraction.products,
                                                            contraction.batch_axes[contraction.products_axis].extent})
                 : std::nullopt) {
  for (std::size_t k = 0; k < contraction.batch_axes.size(); ++k) {
    if (std::abs(contraction.in_result(k)) != 1) batch_steps_ |= contraction.in_result(k);
  }
}

std::int64_t ResultPlaces::alignment(const Tile& rows, const Tile& columns, std::int64_t run) const {
  auto steps = batch_steps_;  // all of them, whose lowest bit is that of each
  const auto add = [&](const Axes& axes, const Tile& tile) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (axes[k].extent == 1) continue;
      const auto step = std::abs(axes[k].in_other);
      if (step != 1 && step >= run) {
        steps |= step;
      } else if (const auto begins = tile.step_of(axes, k); begins != axes[k].extent) {
        steps |= step * begins;
      }
    }
  };
  add(contraction_.row_axes, rows);
  add(contraction_.column_axes, columns);
  const auto bytes = steps * contraction_.result_size | kSectorBytes;
  return bytes & -bytes;
}

ResultPlace ResultPlaces::of(const Tile& rows, const Tile& columns) const {
  const auto neighbours = [](const Axes& axes, const Tile& tile) {
    if (!tiles::is_fastest(axes, tile)) return std::int64_t{1};
    const auto k = tile.order.back();
    return tile.joined > 0 ? tiles::piece_of(tile.size, axes[k].extent) : tile.sizes[k];
  };
  const auto& c = contraction_;
  const auto beside = c.by_lanes() && c.in_result() == 1 ? c.products : 1;
  const auto run = order_.of(rows, 1, columns, 1, 1).lie.run;
  return {run, std::max({neighbours(c.column_axes, columns), neighbours(c.row_axes, rows), beside}),
          alignment(rows, columns, 1), alignment(rows, columns, run)};
}

StoreCounts stores_of(const GpuContraction& c, const Cut& cut, std::int64_t held, const ResultPlace& place,
                      double bytes) {
  const auto run = place.neighbours;
  if (cut.relaid) {
    auto counts = relaid(c, cut, held, place);
    counts.bytes = bytes;
    return counts;
  }
  StoreCounts counts;
  // Elements that do not lie side by side in a lane are sectors of their own on their way.
  counts.bytes = bytes * (run > 1 ? 1 : static_cast<double>(kSectorBytes) / static_cast<double>(c.result_size));
  const bool along_columns = !c.is_outer() && !c.by_lanes() && tiles::is_fastest(c.column_axes, *cut.columns);
  // Rows or columns of a product are the neighbours that lanes can write together, or they are of products. Where these
  // are apart in the result, lanes of different products write far from each other.
  const bool apart = c.by_lanes() && c.in_result() != 1;
  const bool columns_apart = apart && tiles::is_fastest(c.column_axes, *cut.columns);
  const std::int64_t lanes_apart = columns_apart ? c.atom().n : 1;
  const std::int64_t run_apart = columns_apart ? cut.spread.run_columns : cut.spread.run_rows;
  const std::int64_t side = c.is_outer() || (c.fma && along_columns) ? c.atom().n : 8;
  const std::int64_t together = apart          ? lanes_apart * run_apart
                                : c.by_lanes() ? c.products
                                               : side * (c.fma && !along_columns ? 1 : cut.spread.run_columns);
  const auto elements = static_cast<double>(held);
  const auto neighbours = std::min(run, together);
  // Halves of lines that lanes of multiply-adds write by whole vectors take half as long (of 75 kernels of ccsd_t of
  // tccg48_f32 on an H200 0.85 of what was predicted where they take as long as lines).
  const bool halves = c.fma && along_columns && 2 * neighbours * c.result_size >= kCacheLineBytes;
  counts.lines = (halves ? 0.5 : 1) * elements / static_cast<double>(neighbours);
  if (run == 1) {
    counts.part_sectors = c.result_size < kSectorBytes ? elements : 0;
    return counts;
  }
  // Neighbours of an access: columns in pairs, or runs, of which each element is in another one; what begins at
  // multiples of these is written by whole vectors.
  const std::int64_t lanes = apart            ? lanes_apart
                             : c.is_outer()   ? 32
                             : c.by_lanes()   ? c.products
                             : !along_columns ? 8
                                              : 4;
  const std::int64_t step = apart           ? run_apart
                            : along_columns ? cut.spread.run_columns * (c.fma || is_complex(c.type) ? 1 : 2)
                            : c.is_outer() || c.by_lanes() ? 1
                                                           : cut.spread.run_rows;
  const auto alignment = place.alignment;
  if (alignment % std::min<std::int64_t>(step * c.result_size, 16) == 0) {
    const auto piece = lanes * step * c.result_size;
    // Parts of a sector that the same warp completes with its next instruction cost little.
    constexpr double kCompleted = 0.25;
    counts.part_sectors = elements / static_cast<double>(std::min(lanes * step, run)) *
                          parts_of_sectors(piece, alignment) *
                          (kSectorBytes % piece == 0 && alignment % piece == 0 ? kCompleted : 1);
  } else {
    const auto reached = ((lanes - 1) * step + 1) * c.result_size;
    counts.part_sectors = elements / static_cast<double>(std::min(lanes, run)) *
                          static_cast<double>(reached + kSectorBytes - std::gcd(alignment, reached)) / kSectorBytes;
  }
  return counts;
}

}  // namespace ricci::plan
