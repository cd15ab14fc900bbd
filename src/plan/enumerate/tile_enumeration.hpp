// Enumeration of tiles for GPU permutations with long runs on both sides, and of thread counts for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernel/permute/moves.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/tile_forms.hpp"

namespace ricci::plan {

/// The tiles for each pair of run lengths on the input and the output side, without duplicates, of at most
/// `most_bytes`.
///   runs  bytes, by rising length
std::vector<std::vector<std::int64_t>> enumerate_tiles(const Sides& sides, std::span<const std::int64_t> runs,
                                                       std::int64_t most_bytes);

inline constexpr int kFewestThreads = 80;  // every block has more threads

/// Whether at least seven eighths of the lanes are used.
constexpr bool fill_warps(std::int64_t threads) { return threads * 8 >= (threads + 31) / 32 * 32 * 7; }

/// Thread counts that divide the mappings at whole digits, or nearly so: a thread computes its position once, and each
/// round adds a literal. This matters for axes of three or five elements, where divisions per element cost more than
/// the copy. Returns the best up to 256 and up to 512 threads within the range, where they save at least a tenth over
/// powers of two.
///   mappings  one or two of the same tile; their workers are ignored
std::vector<int> whole_digit_threads(std::span<const kernel::ThreadMapping> mappings, ThreadRange range = {});

}  // namespace ricci::plan
