// The exchange of a tile within a warp: which lane holds the element that another lane writes, found when the kernel is
// built, so that it has only the shuffles that some lane needs.
#pragma once

#include <utility>
#include <vector>

#include "kernel/permute/tile.hpp"

namespace ricci::kernel {

class WarpExchange {
 public:
  /// For a schedule whose stage is in the registers of a warp. kept: the array that the lanes hold the tile in, an
  /// element or a vector for each round of reading.
  WarpExchange(const Tile& tile, int kept);

  /// Where elements of a position are that some lane needs: round of reading and element of the vector read. In rising
  /// order.
  using Sources = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Sources sources(std::int64_t round, int element) const;

  /// Gives `to` element `v`, a variable or a number, of the position that `writes` is at.
  Body exchanged(const MappedTile& writes, const Affine& v, const Sources& sources, const Access& to);

 private:
  Exchange exchange_of() const;
  /// The position in the reading order of such an element.
  Affine position(Body& names, const MappedTile& writes, const Affine& v);
  Value kept(const std::pair<std::int64_t, std::int64_t>& source, const Affine& lane) const;

  const Tile& tile_;
  const ThreadMapping& reads_;
  int kept_;
  const Exchange exchange_ = exchange_of();
};

}  // namespace ricci::kernel
