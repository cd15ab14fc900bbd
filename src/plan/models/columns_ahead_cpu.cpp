#include "plan/models/columns_ahead_cpu.hpp"

#include <algorithm>
#include <cmath>

#include "plan/models/cost_contraction_cpu.hpp"

namespace ricci::plan::gett {
namespace {

constexpr double kMostRuns = 4096;  // that are fetched in a task, of which its kernel has a table

double amount(std::int64_t value) { return static_cast<double>(value); }
std::int64_t in_block(const Axis& axis) { return std::min(std::max(axis.block, axis.tile), axis.extent); }

constexpr double kShortLine =
    2;  // cycles of multiply-adds that hide a line in part: in one, of one row, nothing is hidden

double bytes_of_columns(const Blocking& b, const Problem& problem) {
  return amount(problem.size * product(b.columns, extent_of) * product(b.depth, extent_of));
}

/// Whether packed columns may come beside the multiply-adds by each line of them.
bool comes_beside(const Blocking& b, const Problem& problem, const CpuModel& device) {
  if (!b.pack_columns || b.columns.back().joined || b.lanes_of_both() || problem.group) return false;
  return device.by_halves() && line_cycles(b, problem, device) >= kShortLine;
}

/// Whether the second cache keeps what this task reads in place and what the next one will: steps of the sum that are
/// nearly a multiple of a way apart have few of its sets. Not timed of sums in parts, nor where units compute whole
/// vectors.
bool sets_suffice(const Blocking& b, const Problem& problem, const CpuModel& device) {
  constexpr double kWays = 8;  // that a second cache has at least
  if (!device.by_halves() || parts_of(b.depth, tile_of) > 1) return true;
  const double way = amount(device.l2_bytes) / kWays, size = amount(problem.size);
  const double bytes = size * amount(product(b.columns, in_block)) * amount(product(b.depth, in_block));
  double in_use = size;  // of a way
  for (const auto* axes : {&b.columns, &b.depth}) {
    for (const auto& axis : *axes)
      in_use += std::abs(std::remainder(size * amount(axis.in_columns), way)) * amount(in_block(axis) - 1);
  }
  return 2 * bytes <= kWays * std::min(in_use, way);
}

}  // namespace

bool multiplies_out_of_memory(const Blocking& b, const Problem& problem, const CpuModel& device) {
  constexpr std::int64_t kFewUses = 48;  // of each column: by more rows packing takes little of the time
  if (b.lanes_of_both() || problem.group || product(b.rows, extent_of) > kFewUses) return false;
  const double all = amount(product(problem.batch, extent_of)) * amount(product(b.columns, extent_of));
  return device.beyond_caches(all * amount(product(b.depth, extent_of)) * amount(problem.size));
}

bool reads_ahead(const Blocking& b, const Problem& problem, const CpuModel& device) {
  if (!may_read_ahead(b, problem, device)) return false;
  return amount(product(b.columns, in_block)) * amount(product(b.depth, extent_of)) <= kMostRuns * run_of_columns(b) &&
         sets_suffice(b, problem, device);
}

double line_cycles(const Blocking& b, const Problem& problem, const CpuModel& device) {
  const double vector = amount(problem.size * b.lanes),
               sums = amount(product(b.rows, tile_of)) * (problem.complex ? 2 : 1);
  return sums / 2 * 64 / std::min(vector, amount(device.datapath_bytes));
}

bool may_pack_ahead(const Blocking& b, const Problem& problem, const CpuModel& device) {
  return product(b.rows, extent_of) <= kSomeUses && parts_of(b.depth, tile_of) == 1 &&
         comes_beside(b, problem, device) && device.beyond_caches(bytes_of_columns(b, problem));
}

bool packs_ahead(const Blocking& b, const Problem& problem, const CpuModel& device) {
  if (b.row_tasks > 1 || b.column_tasks < 2 || !may_pack_ahead(b, problem, device)) return false;
  const double packed = amount(product(b.columns, block_of)) * amount(product(b.depth, tile_of));
  if (kAheadBlocks * packed * amount(problem.size) > amount(device.l2_bytes)) return false;
  return packed <= kMostRuns * run_of_columns(b);
}

bool packs_parts_ahead(const Blocking& b, const Problem& problem, const CpuModel& device) {
  const auto rows_of_task = product(b.rows, [](const Axis& axis) { return std::min(axis.task, axis.extent); });
  const auto parts = parts_of(b.depth, tile_of);
  if (parts == 1 || rows_of_task > kSomeUses || !comes_beside(b, problem, device)) return false;
  // Beside the other operand and the result few of them stay in the last cache from one task to the next.
  if (2 * bytes_of_columns(b, problem) < amount(device.cache_bytes)) return false;
  constexpr double kLongRun = 512;  // bytes: what finds the next of shorter ones takes longer than it saves
  if (amount(problem.size) * run_of_columns(b) < kLongRun) return false;
  const double terms = amount(product(b.depth, tile_of)), columns = terms * amount(product(b.columns, block_of));
  const double rows = b.pack_rows ? terms * amount(product(b.rows, block_of)) : 0;
  if (amount(problem.size) * (2 * columns + rows) > amount(device.l2_bytes)) return false;
  return amount(parts) <= kMostRuns && columns <= kMostRuns * run_of_columns(b);
}

bool reads_rows_ahead(const Blocking& b, const Problem& problem, const CpuModel& device) {
  if (b.pack_rows || b.lanes_of_both() || problem.group || problem.complex || !device.by_halves()) return false;
  // A round asks for a line of each row: beside few multiply-adds that takes longer than it saves.
  constexpr std::int64_t kHalves = 4;  // of columns
  const bool long_round = problem.size * product(b.columns, tile_of) >= kHalves * device.datapath_bytes;
  if (product(b.depth, tile_of) == 1 || !long_round) return false;
  const bool goes_on = std::any_of(b.rows.begin(), b.rows.end(),
                                   [](const Axis& axis) { return std::min(axis.task, axis.extent) > axis.tile; });
  const double all = amount(product(problem.batch, extent_of)) * amount(product(b.rows, extent_of));
  return goes_on && all * amount(product(b.depth, extent_of) * problem.size) > 2 * amount(device.l2_bytes);
}

}  // namespace ricci::plan::gett
