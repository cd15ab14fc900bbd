// The numbers of warps that may share a tile of results of a contraction on a GPU.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/enumerate/block_room.hpp"
#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

/// Warps that share a tile, and what does not depend on the chunks of its sum.
struct WarpShare {
  kernel::Spread spread;
  int count = 1;
  std::int64_t rows = 0, columns = 0;  ///< that they hold
  RoundRates rates;
  RoundRates singly;               ///< where lanes read single elements along the depth
  RegisterCount registers, ahead;  ///< without fragments that are read ahead of a round, and with them
  WarpRates least;

  ///   reads_singly  GpuContraction::reads_singly()
  kernel::Spread spread_of(bool reads_singly) const {
    auto made = spread;
    if (reads_singly) made.run_depth = 1;
    return made;
  }
  const RoundRates& rates_of(bool reads_singly) const { return reads_singly ? singly : rates; }
};

inline constexpr int kMostWarps = 16;
inline constexpr std::size_t kMostWarpShares = 24;  ///< of one tile

/// Those of tiles by their rows and columns, 32 bits each, which stay where they are.
using KnownWarps = std::unordered_map<std::int64_t, std::vector<WarpShare>>;

class WarpShares {
 public:
  ///   known  of this contraction, or of others by the same atom
  /// All are to outlive it.
  WarpShares(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room, KnownWarps& known)
      : contraction_(contraction), counts_(counts), room_(room), known_(known) {}
  /// Those of a tile of so many rows and columns.
  const std::vector<WarpShare>& of(std::int64_t rows, std::int64_t columns);

 private:
  std::vector<WarpShare> found(std::int64_t rows, std::int64_t columns) const;

  const GpuContraction& contraction_;
  const CutCounts& counts_;
  const BlockRoom& room_;
  KnownWarps& known_;
};

/// Warps along the rows of groups that have all of them.
int group_warps(const GpuContraction& contraction, std::int64_t rows);

}  // namespace ricci::plan
