#include "plan/enumerate/tiles_in_turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ricci::plan {
namespace {

/// Tiles of a loop that each block makes where there is room for so many blocks; 1: no number of them fills it.
std::int64_t turns_of(const BlockLoop& loop, double tiles, double room) {
  // Blocks that have to wait for others to end take as long again (ao2mo00 of tccg48_f32 in bf16 on an H200: 343 blocks
  // 79 us where there is room for 396, 441 blocks 90; where there is room for 264, 88 and 294 blocks 89).
  constexpr double kBusy = 0.6;  // of the room
  for (std::int64_t n = 2; n <= loop.count; ++n) {
    const double blocks = tiles / static_cast<double>(n);
    if (loop.count % n != 0 || blocks > room) continue;
    return blocks >= kBusy * room ? n : 1;
  }
  return 1;
}

/// Sums of several rounds by warp groups, whose operands are copied on from tile to tile, by as many blocks as there is
/// room for; none where the one that has most tiles has many more of them than if each waited for room.
std::vector<Cut> sums_in_turns(const GpuContraction& contraction, const BlockRoom& room, const GpuModel& device,
                               const Cut& cut, double tiles, const WarpShare& warps, int registers) {
  std::vector<Cut> ways;
  const auto loops = contraction.block_loops(cut);
  const auto* const loop = contraction.turning_loop(loops);
  if (loop == nullptr) return ways;
  const auto stage = room.stage_bytes(cut), results = room.result_bytes(cut, warps.rows, warps.columns);
  auto way = cut;
  for (way.stages = 3; way.stages <= 6; ++way.stages) {
    const auto shared_bytes = way.stages * stage + results;
    way.resident = static_cast<int>(room.resident(shared_bytes, warps.count, registers));
    if (way.resident < 1) break;
    way.shared_bytes = static_cast<double>(shared_bytes);
    const double at_once = way.resident * device.multiprocessors, others = tiles / static_cast<double>(loop->count);
    const auto blocks = static_cast<std::int64_t>(at_once / others);  // along the loop
    if (blocks < 1 || blocks >= loop->count) continue;
    way.turns = tiles::parts(loop->count, blocks);
    constexpr double kMore = 1.1;
    if (static_cast<double>(way.turns) <= kMore * std::ceil(tiles / at_once)) ways.push_back(way);
  }
  return ways;
}

}  // namespace

std::vector<Cut> in_turns(const GpuContraction& contraction, const BlockRoom& room, const GpuModel& device,
                          const Cut& cut, double tiles, const WarpShare& warps, int registers) {
  std::vector<Cut> ways;
  constexpr int kLeastWarps = 4;  // fewer were not timed
  if (!contraction.takes_turns(cut) || warps.count < kLeastWarps) return ways;
  if (contraction.groups) return sums_in_turns(contraction, room, device, cut, tiles, warps, registers);
  const auto loops = contraction.block_loops(cut);
  // The innermost one goes along what does not stay, by whole tiles.
  if (loops.empty() || !loops.back().whole || contraction.stays(cut, loops.back().of_rows)) return ways;
  const auto stage = [&](bool of_rows) { return contraction.stage_bytes(cut, of_rows, room.padding(cut, of_rows)); };
  const bool rows_move = loops.back().of_rows;
  const auto moving = stage(rows_move), still = stage(!rows_move);
  // Where rows of results are of what stays, five kernels took 82 to 93 us through shared memory, seven others 77
  // to 88.
  const auto& axes = rows_move ? contraction.row_axes : contraction.column_axes;
  const bool relays = contraction.relays && std::any_of(axes.begin(), axes.end(), [](const tiles::Axis& axis) {
                        return axis.in_other == 1 && axis.extent > 1;
                      });
  for (const bool relaid : {false, true}) {
    if (relaid && !relays) continue;
    auto way = cut;
    way.relaid = relaid;
    const auto results = room.result_bytes(way, warps.rows, warps.columns);
    for (way.stages = 2; way.stages <= 4; ++way.stages) {
      const auto shared_bytes = way.stages * moving + still + results;
      way.resident = static_cast<int>(room.resident(shared_bytes, warps.count, registers));
      if (way.resident < 1) break;
      way.turns = turns_of(loops.back(), tiles, way.resident * device.multiprocessors);
      way.shared_bytes = static_cast<double>(shared_bytes);
      if (way.turns > 1) ways.push_back(way);
    }
  }
  return ways;
}

}  // namespace ricci::plan
