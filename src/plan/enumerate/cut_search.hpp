// What a search for the best way to cut a contraction on a GPU has seen of it.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "plan/enumerate/depth_shares.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/open_tiles.hpp"
#include "plan/enumerate/result_stores.hpp"
#include "plan/enumerate/warp_shares.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/contraction_counts.hpp"

namespace ricci::plan {

/// What is known of a tile of the result, whatever is copied for it.
struct SeenTile {
  ContractionCounts counts;
  ResultPlace place;
  std::size_t row = 0, column = 0;
  std::array<WarpRates, 2> rates;                        ///< CutCounts::least_rates()
  DepthShares::Last last = {};                           ///< tiles whose sums may be shared
  const std::vector<WarpShare>* warps = nullptr;         ///< looked up where they are needed
  std::vector<std::pair<double, std::size_t>> by_warps;  ///< lower bounds of these, the least first, by number
  std::array<double, DepthShares::kMost> by_share = {};  ///< lower bounds by DepthShares::way_of()
};

/// A tile of the result with a chunk of the depth, without the warps that share it.
struct CutStart {
  std::size_t result, depth;
  std::array<double, DepthShares::kMost> least_seconds = {};  ///< lower bounds, by how its sums are shared
};

/// A way to cut it that may be worth listing.
struct PricedCut {
  Cut cut;
  std::size_t number;  ///< among all, by which those that take as long are sorted
};

/// Searches of one thread come one after the other, and have the same room.
class CutSearch {
 public:
  /// Begins anew, with so many tiles of the result.
  void begin(std::size_t tiles) {
    places_.resize(tiles);
    seen_.reserve(tiles);
    count_ = 0;
    shares.clear();
    starts.clear();
    priced.clear();
    open.clear();
  }
  /// Looks at a tile closer than by its size. What was added stays where it is until the next one is.
  SeenTile& add(std::size_t tile) {
    places_[tile] = count_;
    if (count_ == seen_.size()) seen_.emplace_back();
    auto& one = seen_[count_++];
    one.last = {};
    one.warps = nullptr;
    one.by_warps.clear();
    return one;
  }
  /// One that was added.
  SeenTile& of(std::size_t tile) { return seen_[places_[tile]]; }

  std::vector<DepthShares> shares;  ///< by chunk of the depth
  std::vector<CutStart> starts;
  std::vector<PricedCut> priced;
  OpenTiles open;

 private:
  std::vector<SeenTile> seen_;       ///< the first `count_` of these; others are room
  std::vector<std::size_t> places_;  ///< among them, by number of the tile: rows by columns
  std::size_t count_ = 0;
};

}  // namespace ricci::plan
