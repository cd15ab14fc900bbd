// Tiles of a GPU permutation that reach far on both of its sides, and how many threads visit one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/schedule.hpp"
#include "plan/axes.hpp"

namespace ricci::plan {

/// Tiles that reach as far on either side as one of these runs, each with each: no tile twice, of so many bytes at
/// most.
///   runs  bytes, by rising length
std::vector<std::vector<std::int64_t>> reaching_tiles(const Sides& sides, std::span<const std::int64_t> runs,
                                                      std::int64_t most_bytes);

/// Threads of a block, at least and at most.
struct ThreadRange {
  std::int64_t least = 1, most = 512;
};

inline constexpr int kFewestThreads = 80;  // every block has more

/// Whether seven eighths of the lanes of their warps work.
constexpr bool fill_warps(std::int64_t threads) { return threads * 8 >= (threads + 31) / 32 * 32 * 7; }

/// Numbers of threads by which the rounds of the walks come out at whole digits, or nearly so: a thread's place in
/// the tile is found once, and a round only adds to it. Axes of three or five elements need it, since divisions for
/// every element cost more than moving it. The best up to 256 and up to 512, where they save a tenth of what powers
/// of two take, and where the range has them.
///   walks  one or two of one tile; their workers are not looked at
std::vector<int> whole_digit_threads(std::span<const ir::Walk> walks, ThreadRange range = {});

}  // namespace ricci::plan
