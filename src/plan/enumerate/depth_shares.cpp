#include "plan/enumerate/depth_shares.hpp"

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {
namespace {
constexpr std::int64_t kSaved = 8;  ///< of the waves: what saves less is seldom worth the rest; less than one is saved
}  // namespace

DepthShares::DepthShares(const GpuContraction& contraction, const tiles::Tile& depth, const GpuModel& device)
    : contraction_(&contraction), depth_(&depth), device_(&device) {
  constexpr int kLeastClusterSm = 90;
  if (contraction.products > 1 || contraction.is_outer() || !contraction.adds || device.sm < kLeastClusterSm) return;
  clusters_ = true;
  std::size_t number = 0;
  for (int blocks = 2; blocks <= kernel::kMostCluster; blocks *= 2) {
    at_once_[number++] = std::max<std::int64_t>(static_cast<std::int64_t>(multiprocessors_of(blocks, device)), 1);
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

bool DepthShares::may_share(const tiles::Tile& rows, const tiles::Tile& columns) const {
  return clusters_ && rows.blocks * columns.blocks * contraction_->batches <= kSaved * device_->multiprocessors;
}

DepthShares::Last DepthShares::last_tiles(const tiles::Tile& rows, const tiles::Tile& columns) const {
  Last best;
  const auto tiles = rows.blocks * columns.blocks * contraction_->batches;
  if (!may_share(rows, columns)) return best;
  // In units that parts of all sizes are multiples of.
  const auto waves = kernel::kMostCluster * tiles::parts(tiles, device_->multiprocessors);
  auto least = waves - waves / kSaved;
  for (std::int64_t blocks = 2, k = 0; blocks <= kernel::kMostCluster; blocks *= 2, ++k) {
    const auto at_once = at_once_[static_cast<std::size_t>(k)];
    if (tiles < at_once) continue;
    const auto whole = tiles / at_once, last = tiles - whole * at_once / blocks * blocks;
    const auto these =
        kernel::kMostCluster * whole + kernel::kMostCluster / blocks * tiles::parts(last * blocks, at_once);
    if (last == tiles || last == 0 || these >= least) continue;
    least = these;
    best = {last, static_cast<int>(blocks)};
  }
  return best;
}

std::span<const DepthShare> DepthShares::of(const tiles::Tile& rows, const tiles::Tile& columns, const Last& last) {
  auto count = count_;
  while (count > 1 && !has_room(most_[count - 1], rows, columns)) --count;
  if (last.tiles > 0) {
    auto share = contraction_->share_of(*depth_, last.blocks);
    share.last = last.tiles;
    constexpr std::int64_t kLeastRounds = 2;  // of each part: a pipeline's
    const auto rounds = depth_->blocks / share.all * (share.all - share.chunks * (share.blocks - 1));
    if (share.blocks == last.blocks && rounds >= kLeastRounds) {
      ways_ = all_;
      ways_[count++] = share;
      return {ways_.data(), count};
    }
  }
  return {all_.data(), count};
}

}  // namespace ricci::plan
