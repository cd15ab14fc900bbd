#include "plan/enumerate/tiles_in_turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace ricci::plan {
namespace {

// Of fewer, ten kernels of eight cases of talsh300 on an H200 took 1.03 to 1.21 times as long as by a block for each
// tile.
constexpr int kLeastWarps = 4;
constexpr int kOfTurns = 12;  // registers of the loop, and of places that move

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

/// A few tiles that each block makes along a loop, as long as that takes less than one tile each: those that take the
/// least; 1 otherwise.
///   tiles  of the launch
///   room   for blocks at once
std::int64_t few_turns(const BlockLoop& loop, double tiles, double room) {
  // What a block's other tiles hide of each, and its share of what multiprocessors wait for the last blocks to end: of
  // 28 tiles a block's room, blocks of five took 0.90 of the time of those of one, of three 0.92, of ten 0.93 (16
  // kernels of ccsd_t02 and ccsd_t08 of tccg48_f32 in f32 on an H200). Of two NVRTC writes vectors element by element,
  // as the loop's index is true or false to it (3.3 times as long).
  constexpr double kHidden = 0.2, kWaited = 0.3;
  constexpr std::int64_t kLeast = 3, kMost = 8;
  const auto time = [&](std::int64_t n) {
    return kHidden * tiles / static_cast<double>(n) + kWaited * static_cast<double>(n) * room;
  };
  std::int64_t best = 1;
  for (auto n = kLeast; n <= std::min(kMost, loop.count); ++n) {
    if (loop.count % n == 0 && time(n) < time(best)) best = n;
  }
  return best;
}

/// The most tiles that one of so many places for blocks makes, of `whole` blocks of n tiles and then `short_ones` of
/// `rest`, each of which goes where there is room first.
std::int64_t most_tiles(std::int64_t whole, std::int64_t n, std::int64_t short_ones, std::int64_t rest,
                        std::int64_t places) {
  const auto before = whole / places * n, longer = whole % places;
  auto most = before + (longer > 0 ? n : 0);
  const auto room = [&](std::int64_t tiles) {
    return (places - longer) * ((tiles - before) / rest) + longer * ((tiles - before - n) / rest);
  };
  while (short_ones > 0 && room(most) < short_ones) ++most;
  return most;
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
    way.turning = static_cast<std::size_t>(loop - loops.data());
    way.turns_rows = loop->of_rows;
    constexpr double kMore = 1.1;
    if (static_cast<double>(way.turns) <= kMore * std::ceil(tiles / at_once)) ways.push_back(way);
  }
  return ways;
}

}  // namespace

std::vector<Cut> in_turns(const GpuContraction& contraction, const BlockRoom& room, const GpuModel& device,
                          const Cut& cut, double tiles, const WarpShare& warps, int registers) {
  std::vector<Cut> ways;
  if (!contraction.takes_turns(cut) || warps.count < kLeastWarps) return ways;
  if (contraction.groups) return sums_in_turns(contraction, room, device, cut, tiles, warps, registers);
  const auto loops = contraction.block_loops(cut);
  // The innermost one goes along what does not stay, by whole tiles.
  if (loops.empty() || !loops.back().whole || contraction.stays(cut, loops.back().of_rows)) return ways;
  const bool rows_move = loops.back().of_rows;
  const auto moving = room.stage_bytes(cut, rows_move), still = room.stage_bytes(cut, !rows_move);
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
    way.turning = loops.size() - 1;
    way.turns_rows = rows_move;
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

std::optional<Cut> in_few_turns(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room,
                                const GpuModel& device, const Cut& cut,
                                const std::function<double(const Cut&)>& seconds) {
  if (!contraction.takes_few_turns(cut) || cut.spread.warps() < kLeastWarps) return {};
  // In f64 of what is predicted without: of 20 kernels on an H200 four that were to save more took 0.81 to 0.99 of the
  // time, six 0.94 to 1.02, ten that were to save less 0.95 to 1.3. In f32 and in halves what is predicted to take less
  // does (36 cases of ccsd_t 0.87 to 1.0).
  auto most = (contraction.size == 8 ? 0.965 : 1) * cut.seconds;
  const auto loops = contraction.block_loops(cut);
  const auto results = room.result_bytes(cut, contraction.held_rows(cut.spread, cut.rows->size),
                                         contraction.held_columns(cut.spread, cut.columns->size));
  std::optional<Cut> best;
  for (const bool of_rows : {false, true}) {
    // The innermost loop of a side: along others, blocks that run at once write places that are far from each other.
    const auto found =
        std::find_if(loops.rbegin(), loops.rend(), [&](const auto& loop) { return loop.of_rows == of_rows; });
    if (found == loops.rend() || !found->whole) continue;
    auto way = cut;
    way.stages = 2;
    const auto shared_bytes = way.stages * room.stage_bytes(cut, of_rows) + room.stage_bytes(cut, !of_rows) + results;
    way.resident = static_cast<int>(room.resident(shared_bytes, cut.spread.warps(), cut.registers + kOfTurns));
    if (way.resident < std::min(2, cut.resident)) continue;
    way.shared_bytes = static_cast<double>(shared_bytes);
    way.turns = few_turns(*found, counts.blocks(*cut.rows, *cut.columns), way.resident * device.multiprocessors);
    if (way.turns == 1) continue;
    way.turning = static_cast<std::size_t>(loops.rend() - found) - 1;
    way.turns_rows = of_rows;
    way.seconds = seconds(way);
    if (way.seconds >= most) continue;
    most = way.seconds;
    best = way;
  }
  return best;
}

std::optional<Cut> in_equal_waves(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room,
                                  const GpuModel& device, const Cut& cut, bool by_memory) {
  constexpr std::int64_t kMost = 4;
  if (!contraction.takes_equal_waves(cut, by_memory) || cut.spread.warps() < kLeastWarps) return {};
  const auto loops = contraction.block_loops(cut);
  if (loops.empty()) return {};
  const bool in_groups = !loops.back().name.ends_with('0');
  const auto& loop = in_groups ? *std::find_if(loops.begin(), loops.end(),
                                               [&](const auto& one) { return one.of_rows != loops.back().of_rows; })
                               : loops.front();
  if (room.resident(static_cast<std::int64_t>(cut.shared_bytes), cut.spread.warps(), cut.registers + kOfTurns) <
      cut.resident)
    return {};
  const auto tiles = static_cast<std::int64_t>(counts.blocks(*cut.rows, *cut.columns));
  const auto multiprocessors = static_cast<std::int64_t>(device.multiprocessors);
  for (auto n = std::min(kMost, loop.count); n > 1; --n) {
    const auto rest = loop.count % n, others = tiles / loop.count;
    if (rest > 0 && contraction.batches > 1) continue;  // loops over batches are outside
    const auto short_ones = rest > 0 ? others : 0;
    // Of the room for a block, and of a multiprocessor, which may have fewer blocks than there is room for.
    const auto has_more = [&](std::int64_t places) {
      return most_tiles(loop.count / n * others, n, short_ones, rest, places) > tiles::parts(tiles, places);
    };
    if (has_more(cut.resident * multiprocessors) || has_more(multiprocessors)) continue;
    auto way = cut;
    way.turns = n;
    way.turning = static_cast<std::size_t>(&loop - loops.data());
    way.turns_rows = loop.of_rows;
    way.in_waves = true;
    return way;
  }
  return {};
}

}  // namespace ricci::plan
