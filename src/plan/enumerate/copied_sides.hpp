// What is copied of one operand of a contraction on a GPU, for all tiles of its side.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/round_copies.hpp"

namespace ricci::plan {

/// What is copied for a tile of a side with one chunk of the depth.
struct CopiedRound {
  Copies copies;
  CopiedSum least;  ///< of these
};
/// The same with all of them.
struct CopiedSide {
  std::span<const CopiedRound> rounds = {};  ///< by chunk of the depth
  CopiedSum sum;
};
/// What has been asked for.
struct KnownCopies {
  std::vector<CopiedSide> sides;    ///< by the tile's number
  std::vector<CopiedRound> rounds;  ///< of all of them, in room for all
  std::vector<CopiedPlace> places;  ///< of all sides, by chunk
};

class CopiedSides {
 public:
  ///   known  of this contraction, or of others with such an operand
  /// All are to outlive it.
  CopiedSides(const GpuContraction& contraction, bool of_rows, const std::vector<tiles::Tile>& sides,
              const std::vector<tiles::Tile>& chunks, KnownCopies& known)
      : copies_(contraction, of_rows), tiles_(sides), chunks_(chunks), known_(known) {}

  /// Of a tile of the side by its number: worked out where it is asked for first.
  const CopiedSide& of(std::size_t side);
  /// The copies of a tile that was asked for, with one of the chunks.
  const Copies& of(const tiles::Tile* side, const tiles::Tile* chunk) const {
    return known_.sides[static_cast<std::size_t>(side - tiles_.data())]
        .rounds[static_cast<std::size_t>(chunk - chunks_.data())]
        .copies;
  }

 private:
  RoundCopies copies_;
  const std::vector<tiles::Tile>&tiles_, &chunks_;
  KnownCopies& known_;
};

}  // namespace ricci::plan
