// Blocks that make several tiles in turns: what those do not move of the operands is copied once and stays, while a
// pipeline copies the other one's part for the next tiles. As many blocks as a GPU has room for at once where that is a
// small operand, or of warp groups, which copy both round by round, on from tile to tile; several times as many of
// others, and of two warp groups, or of multiply-adds that wait for memory, as many as leave no multiprocessor more
// tiles.
#pragma once

#include <functional>
#include <optional>
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

/// A cut whose blocks make a few tiles in turns, for sums of one round, where that is predicted to be worth it; nothing
/// elsewhere. Where blocks have one tile each, all that a multiprocessor has room for copy, multiply or write at about
/// the same time (18 cases of ccsd_t of tccg48_f32 in f32 on an H200 took 0.93 of the time before, 0.90 to 0.97).
///   seconds  what the model takes a cut for
std::optional<Cut> in_few_turns(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room,
                                const GpuModel& device, const Cut& cut,
                                const std::function<double(const Cut&)>& seconds);

/// A cut of two warp groups, or of multiply-adds in f32 that wait for memory, whose blocks make up to four tiles in
/// turns, of sums of several rounds, where multiprocessors have no more tiles each than by a block for each tile;
/// nothing elsewhere. Turns go along the outermost loop that is not in groups, so that blocks that run at once read and
/// write what those of one tile each do. It is predicted to take as long as without. On an H200, plans without and with
/// turns one after the other: eight of bench/problems/gemm.csv in bf16 took 0.94 to 1.015 of the time (0.976 in the
/// geometric mean), eight in tf32 0.93 to 1.04 (0.984); nine by multiply-adds that wait for memory (three of
/// tccg48_f32, four of talsh300, two made up) 0.90 to 1.025 (0.957). Left as they are: three and four warp groups (22
/// kernels 0.93 to 1.14), other multiply-adds (17 kernels 0.96 to 1.18, 1.055), those of which a multiprocessor would
/// have more tiles though the room for a block had not (0.985 to 1.12, 1.041), and f64 (32 kernels, half of them of
/// fragments that are read ahead, 0.93 to 1.10, 1.001; blocks that have a multiprocessor each 0.986 to 1.034).
///   by_memory  whether memory takes the longest of what a cut does
std::optional<Cut> in_equal_waves(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room,
                                  const GpuModel& device, const Cut& cut, bool by_memory);

}  // namespace ricci::plan
