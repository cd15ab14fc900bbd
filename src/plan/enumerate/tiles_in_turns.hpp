// Blocks that make several tiles in turns, as many blocks as a GPU has room for at once: a small operand is copied once
// and stays, while a pipeline copies the other one's part for the next tiles. Or, of warp groups, both are copied round
// by round, on from tile to tile.
#pragma once

#include <vector>

#include "plan/enumerate/block_room.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/warp_shares.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// How many times as long as such a cut the same may take by a block for each tile.
inline constexpr double kLessInTurns = 1.15;
/// Of the time by a block for each tile, what warp groups may take in turns at most to be worth it.
inline constexpr double kOfGroupsInTurns = 0.97;

/// Ways to make a cut's tiles so; none where they may not be.
///   tiles      of the launch
///   registers  of a thread
std::vector<Cut> in_turns(const GpuContraction& contraction, const BlockRoom& room, const GpuModel& device,
                          const Cut& cut, double tiles, const WarpShare& warps, int registers);

}  // namespace ricci::plan
