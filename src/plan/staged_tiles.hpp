// Which tiles of a GPU permutation wait in shared memory or in a warp, and how many threads visit one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/schedule.hpp"
#include "plan/axes.hpp"

namespace ricci::plan {

/// Tiles that reach far enough on both sides, for runs of several lengths: each once, of so many bytes at most.
std::vector<std::vector<std::int64_t>> staged_tiles(const Sides& sides, std::int64_t most_bytes);

/// Threads of a block, at least and at most.
struct ThreadRange {
  std::int64_t least = 1, most = 512;
};

inline constexpr int kFewestThreads = 80;  // every block has more

/// Numbers of threads by which the rounds of the walks come out at whole digits, or nearly so: a thread's place in
/// the tile is found once, and a round only adds to it. Axes of three or five elements need it, since divisions for
/// every element cost more than moving it. The best up to 256 and up to 512, where they save a tenth of what powers
/// of two take, and where the range has them.
///   walks  one or two of one tile; their workers are not looked at
std::vector<int> whole_digit_threads(std::span<const ir::Walk> walks, ThreadRange range = {});

}  // namespace ricci::plan
