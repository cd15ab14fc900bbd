// How the blocks of a cluster may share the sums of a contraction on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

/// All ways to share the sums of one chunk of the depth: not at all, or in clusters.
class DepthShares {
 public:
  static constexpr std::size_t kMost = 4;  ///< ways

  /// The device is to outlive it, and the contraction.
  DepthShares(const GpuContraction& contraction, const tiles::Tile& depth, const GpuModel& device);

  /// Blocks of the largest clusters that were asked for.
  int most() const { return most_[count_ - 1]; }
  /// Whether there are so few tiles that clusters of so many blocks are worth a look.
  bool has_room(int blocks, const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Those that are for such a tile of the result.
  std::span<const DepthShare> of(const tiles::Tile& rows, const tiles::Tile& columns) const;

 private:
  const GpuContraction* contraction_;
  const GpuModel* device_;
  std::array<DepthShare, kMost> all_ = {};
  std::array<int, kMost> most_ = {1};  ///< blocks that they were asked for
  std::size_t count_ = 1;
};

}  // namespace ricci::plan
