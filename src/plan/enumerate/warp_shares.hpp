// The numbers of warps that may share a tile of results of a contraction on a GPU.
#pragma once

#include <cstdint>
#include <deque>
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
  RegisterCount registers, ahead;  ///< without fragments that are read ahead of a round, and with them
  WarpRates least;
};

inline constexpr int kMostWarps = 16;
inline constexpr std::size_t kMostWarpShares = 16;  ///< of one tile

class WarpShares {
 public:
  /// All are to outlive it.
  WarpShares(const GpuContraction& contraction, const CutCounts& counts, const BlockRoom& room)
      : contraction_(contraction), counts_(counts), room_(room) {}
  /// Those of a tile of so many rows and columns, which stay where they are.
  const std::vector<WarpShare>& of(std::int64_t rows, std::int64_t columns);

 private:
  std::vector<WarpShare> found(std::int64_t rows, std::int64_t columns) const;

  const GpuContraction& contraction_;
  const CutCounts& counts_;
  const BlockRoom& room_;
  struct Known {
    std::int64_t rows, columns;
    std::vector<WarpShare> shares;
  };
  std::deque<Known> known_;
};

/// Warps along the rows of groups that have all of them.
int group_warps(const GpuContraction& contraction, std::int64_t rows);

}  // namespace ricci::plan
