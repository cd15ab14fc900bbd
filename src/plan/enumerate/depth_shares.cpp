#include "plan/enumerate/depth_shares.hpp"

#include "kernel/kernel.hpp"

namespace ricci::plan {

DepthShares::DepthShares(const GpuContraction& contraction, const tiles::Tile& depth, const GpuModel& device)
    : contraction_(&contraction), device_(&device) {
  constexpr int kLeastClusterSm = 90;
  if (contraction.products > 1 || contraction.is_outer() || device.sm < kLeastClusterSm) return;
  for (int blocks = 2; blocks <= kernel::kMostCluster; blocks *= 2) {
    const auto share = contraction.share_of(depth, blocks);
    if (share.blocks <= all_[count_ - 1].blocks) continue;
    most_[count_] = blocks;
    all_[count_++] = share;
  }
}

bool DepthShares::has_room(int blocks, const tiles::Tile& rows, const tiles::Tile& columns) const {
  constexpr std::int64_t kMostAtOnce = 2;  // blocks of a multiprocessor that fewer of a cluster leave room for
  const auto tiles = rows.blocks * columns.blocks * contraction_->batches;
  return tiles * blocks / 2 < kMostAtOnce * device_->multiprocessors;
}

std::span<const DepthShare> DepthShares::of(const tiles::Tile& rows, const tiles::Tile& columns) const {
  auto count = count_;
  while (count > 1 && !has_room(most_[count - 1], rows, columns)) --count;
  return {all_.data(), count};
}

}  // namespace ricci::plan
