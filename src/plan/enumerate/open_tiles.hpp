// Tiles of a contraction on a GPU that have not been looked at to their end, the one with the least lower bound first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ricci::plan {

/// A lower bound of a tile's time: by its size alone, as if its results lay as well as they can, of one whose place and
/// warps are known, or of one with a chunk of the depth.
struct OpenTile {
  enum class Seen : std::uint8_t { size, tile, placed, start };
  double least_seconds;
  std::size_t number;  ///< of the tile, or of one with a chunk
  Seen seen;
  bool operator<(const OpenTile& other) const {  // the least first
    return least_seconds != other.least_seconds ? least_seconds > other.least_seconds
                                                : std::tuple(seen, number) > std::tuple(other.seen, other.number);
  }
};

class OpenTiles {
 public:
  void clear() { heap_.clear(); }
  /// Whether there is one that may take no more than so many seconds.
  bool any(double seconds) const { return !heap_.empty() && heap_.front().least_seconds <= seconds; }
  void put(const OpenTile& one) {
    heap_.push_back(one);
    std::push_heap(heap_.begin(), heap_.end());
  }
  OpenTile take() {
    std::pop_heap(heap_.begin(), heap_.end());
    const auto first = heap_.back();
    heap_.pop_back();
    return first;
  }

 private:
  std::vector<OpenTile> heap_;
};

}  // namespace ricci::plan
