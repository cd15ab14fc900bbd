#include "plan/models/cost_contraction_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::plan::gett {
namespace {

/// Cycles that an element costs that is read along the axis which is contiguous in memory, if the block reaches along
/// it: otherwise each one takes a line of its own.
double packing_cycles(const Axes& first, const Axes& second, bool rows, std::int64_t lanes, std::int64_t size) {
  double along = 1;
  bool transposed = true;
  for (const auto* axes : {&first, &second}) {
    for (const auto& axis : *axes) {
      if ((rows ? axis.in_rows : axis.in_columns) != 1) continue;
      along = static_cast<double>(std::min(axis.extent, std::max(axis.block, axis.tile)));
      transposed = axes == &second || axis.tile < lanes;
    }
  }
  const double line = 64.0 / static_cast<double>(size);
  return (transposed ? (along >= static_cast<double>(lanes) ? 1.0 : 2.0) : 0.5) + 6 * std::max(0.0, 1 - along / line);
}

/// Elements side by side in memory that a block holds, over axes of two kinds.
template <class Step>
double run(const Axes& first, const Axes& second, Step step) {
  double length = 1;
  for (bool longer = true; longer;) {
    longer = false;
    for (const auto* axes : {&first, &second}) {
      for (const auto& axis : *axes) {
        const auto reach = std::min(std::max(axis.block, axis.tile), axis.extent);
        if (static_cast<double>(step(axis)) != length || reach == 1) continue;
        length *= static_cast<double>(reach);
        longer = reach == axis.extent;
      }
    }
  }
  return length;
}

}  // namespace

double predicted_us(const Blocking& b, const Problem& problem, const CpuModel& device) {
  const auto n = [](std::int64_t value) { return static_cast<double>(value); };
  const double batch = n(product(problem.batch, extent_of)), depth = n(product(b.depth, extent_of));
  const double rows = n(product(b.rows, extent_of)), columns = n(product(b.columns, extent_of));
  const double tile_rows = n(product(b.rows, tile_of));
  const double vectors =
      n(product(b.columns, tile_of)) / n(b.columns.back().tile) * n(parts(b.columns.back().tile, b.lanes));
  const double row_passes = n(parts_of(b.rows, tile_of)), column_passes = n(parts_of(b.columns, tile_of));
  const double chunk = n(product(b.depth, tile_of)), chunks = n(parts_of(b.depth, tile_of));
  // Two fused multiply-adds a cycle, each of which waits four cycles for the one before it; two loads a cycle.
  const double sums = tile_rows * (problem.complex ? 2 : 1);
  double round = std::max({sums * vectors / 2, (sums + vectors) / 2, 4.0});
  if (!b.pack_rows) round += 0.1 * tile_rows;
  if (!b.pack_columns) round += 0.25 * vectors;
  const double results = tile_rows * vectors * (chunks > 1 ? 3 : 1.5) + 20;
  double cycles = batch * row_passes * column_passes * chunks * (chunk * round + results);
  const double line = 64.0 / n(problem.size);
  // Elements on their way from the second or the last cache into the first one, once for each block of rows.
  double blocks_of_rows = 1;
  for (const auto& axis : b.rows) blocks_of_rows *= n(parts(axis.extent, axis.block));
  const double from_cache = (b.blocks == Blocks::wide ? 0.1 : 0.03) * n(problem.size);
  cycles += batch * columns * depth * blocks_of_rows * from_cache;
  // Each run of neighbours that is read or written apart from the one before costs a translation of its address.
  constexpr double kRunCycles = 30;
  const auto result_run = run(b.columns, b.rows, [](const Axis& axis) { return axis.in_result; });
  const auto column_run = run(b.columns, b.depth, [](const Axis& axis) { return axis.in_columns; });
  cycles += batch * rows * columns * chunks / result_run * kRunCycles;
  cycles += batch * columns * depth * n(b.row_tasks) / column_run * kRunCycles;
  if (b.pack_columns) {
    cycles += batch * columns * depth * n(b.row_tasks) *
              (packing_cycles(b.columns, b.depth, false, b.lanes, problem.size) + from_cache);
  } else {
    cycles += batch * columns * depth * (0.3 + row_passes * 0.05);
  }
  if (b.pack_rows) {
    cycles += batch * rows * depth * n(b.column_tasks) * packing_cycles(b.rows, b.depth, true, b.lanes, problem.size);
  } else {
    double along = 1;
    for (const auto* axes : {&b.depth, &b.rows}) {
      for (const auto& axis : *axes) along = axis.in_rows == 1 ? n(axis.tile) : along;
    }
    const auto row_run = run(b.rows, b.depth, [](const Axis& axis) { return axis.in_rows; });
    cycles +=
        batch * rows * depth * (column_passes * 0.15 + 0.6 * std::max(1.0, line / along) + column_passes / row_run);
  }
  const double workers = std::min<double>(device.threads, n(b.row_tasks * b.column_tasks) * batch);
  const double bytes =
      n(problem.size) * batch * (rows * depth + columns * depth + rows * columns * (chunks > 1 ? 3 : 1));
  const double rate = device.thread_GBs(false, 20) * n(device.threads);
  const double compute = cycles / workers / device.clock_MHz,
               memory = device.beyond_caches(bytes) ? bytes / rate * 1e-3 : 0;
  return std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)) + 1;
}

}  // namespace ricci::plan::gett
