// How the blocks of a cluster may share the sums of a contraction on a GPU.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

/// All ways to share the sums of one chunk of the depth: not at all, in clusters, or those of the last tiles alone.
class DepthShares {
 public:
  static constexpr std::size_t kMost = 5;  ///< ways
  /// Which of them a share is: not at all, by clusters of up to 2, 4 and 8 blocks, or of the last tiles.
  static std::size_t way_of(const DepthShare& share) {
    if (share.last > 0) return kMost - 1;
    return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(share.blocks - 1)));
  }

  /// The device is to outlive it, and the contraction.
  DepthShares(const GpuContraction& contraction, const tiles::Tile& depth, const GpuModel& device);

  /// Blocks of the largest clusters that were asked for.
  int most() const { return most_[count_ - 1]; }
  /// Whether there are so few tiles that clusters of so many blocks are worth a look.
  bool has_room(int blocks, const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Whether there are so few that last_tiles() may be some, or those of clusters.
  bool may_share(const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Tiles behind whole waves of blocks, and the blocks of clusters that share their sums: with as few waves as may be.
  /// None where no clusters end sooner than one wave more.
  struct Last {
    std::int64_t tiles = 0;
    int blocks = 1;
  };
  Last last_tiles(const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Those that are for such a tile of the result, until it is asked for another one's.
  ///   last  last_tiles() of it
  std::span<const DepthShare> of(const tiles::Tile& rows, const tiles::Tile& columns, const Last& last);

 private:
  const GpuContraction* contraction_;
  const tiles::Tile* depth_;
  const GpuModel* device_;
  bool clusters_ = false;                     ///< whether blocks may work together
  std::array<std::int64_t, 3> at_once_ = {};  ///< multiprocessors that clusters of 2, 4 and 8 have room on
  std::array<DepthShare, kMost> all_ = {}, ways_ = {};
  std::array<int, kMost> most_ = {1};  ///< blocks that they were asked for
  std::size_t count_ = 1;
};

}  // namespace ricci::plan
