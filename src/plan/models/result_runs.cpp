#include "plan/models/result_runs.hpp"

#include <algorithm>
#include <utility>

#include "plan/models/columns_ahead_cpu.hpp"

namespace ricci::plan::gett {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

/// The runs of what a register tile has of the result, where they end with all of an index's values in a task.
std::optional<GatheredRuns> runs_of(const Blocking& b) {
  GatheredRuns runs;
  for (;;) {
    const Axis* next = nullptr;
    for (const auto* axes : {&b.columns, &b.rows}) {
      for (const auto& axis : *axes) {
        if (axis.extent > 1 && axis.in_result == runs.length) next = &axis;
      }
    }
    if (next == nullptr) return std::nullopt;
    const auto held = std::min(next->tile, next->extent);
    if (next->extent % held != 0) return std::nullopt;
    runs.length *= held;
    if (held == next->extent) continue;
    if (next->task != held) return std::nullopt;
    runs.carried = next->index;
    return runs;
  }
}

}  // namespace

bool writes_much(const Blocking& b, const Problem& problem) {
  return problem.far_result && !problem.group && !b.lanes_of_both() && product(b.depth, extent_of) <= kShortSum;
}

const Axis* followed_in_result(const Blocking& b, const Problem& problem, const CpuModel& device) {
  if (!writes_much(b, problem)) return nullptr;
  const Axis* next = nullptr;
  bool of_columns = false;
  for (std::int64_t length = 1;; length *= next->extent) {
    const Axis* found = nullptr;
    for (const auto* axes : {&b.columns, &b.rows}) {
      for (const auto& axis : *axes) {
        if (axis.extent == 1 || axis.in_result != length) continue;
        found = &axis;
        of_columns = axes == &b.columns;
      }
    }
    if (found == nullptr || found == next || found->run_in_result > 0) return nullptr;
    next = found;
    if (next->tile < next->extent) break;
  }
  if (!of_columns || next->block <= next->tile) return nullptr;
  // Whole lines by nontemporal stores gain nothing: these, and columns from the second cache, wait for the same
  // buffers.
  if (problem.nontemporal && problem.size * next->in_result * next->tile % 64 == 0) return nullptr;
  const double vector = real(problem.size * b.lanes), turns = std::max(1.0, vector / real(device.datapath_bytes));
  const double sums = real(product(b.rows, tile_of)) * (problem.complex ? 2 : 1);
  const double panel = real(problem.size * product(b.columns, tile_of) * product(b.depth, tile_of));
  const bool stays = panel / real(next->tile) * real(next->block) <= real(device.l1_bytes) * 3 / 4;
  return stays || kPanelLine * vector / 64 <= turns * sums / 2 ? next : nullptr;
}

bool follows_result(const Blocking& b, const Problem& problem, const CpuModel& device) {
  return (b.lane_columns() > 1 && writes_much(b, problem)) || followed_in_result(b, problem, device) != nullptr;
}

Axes task_order(const Blocking& b, const Problem& problem, const CpuModel& device) {
  auto order = b.columns;
  if (reads_ahead(b, problem, device) || packs_from_memory(b, problem, device) || packs_ahead(b, problem, device)) {
    // The next task goes on where this one ends in the columns' operand.
    const auto nearest = std::min_element(order.begin(), order.end(), [](const Axis& x, const Axis& y) {
      return std::pair(x.task >= x.extent, x.in_columns) < std::pair(y.task >= y.extent, y.in_columns);
    });
    std::rotate(nearest, nearest + 1, order.end());
  }
  order.insert(order.end(), b.rows.begin(), b.rows.end());
  return order;
}

std::optional<GatheredRuns> gathered_runs(const Blocking& b, const Problem& problem, const CpuModel& device) {
  constexpr std::int64_t kFewLines = 2;  // of runs that are as much at their ends as between
  if (!problem.shares_lines || b.across() || b.lane_columns() > 1 || parts_of(b.depth, tile_of) > 1 ||
      !writes_much(b, problem) || followed_in_result(b, problem, device) != nullptr)
    return std::nullopt;
  const auto is_joined = [](const Axis& axis) { return axis.joined; };
  for (const auto* axes : {&b.columns, &b.rows}) {
    if (std::any_of(axes->begin(), axes->end(), is_joined)) return std::nullopt;
  }
  const auto runs = runs_of(b);
  if (!runs || runs->length * problem.size < 64 * kFewLines) return std::nullopt;
  // Lines that wait for the next task along the index: of all results of a task, and of tasks inside of its loop.
  std::int64_t waiting = 1;
  bool inside = false;
  for (const auto& axis : task_order(b, problem, device)) {
    if (inside) waiting *= parts(axis.extent, axis.task);
    inside = inside || axis.index == runs->carried;
    waiting *= std::min(axis.task, axis.extent);
  }
  return waiting / runs->length * 64 <= device.l2_bytes / 8 ? runs : std::nullopt;
}

}  // namespace ricci::plan::gett
