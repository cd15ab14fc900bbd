// The exchange of a tile within each warp: which register of which lane holds the element that a lane writes, found
// when the kernel is built, so that it has only the shuffles that some lane needs, and none where its own registers
// have all.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "kernel/permute/register_stage.hpp"
#include "kernel/permute/tile.hpp"

namespace ricci::kernel {

class WarpExchange {
 public:
  /// For a schedule whose stage is in registers, and whose elements stay in their warps. kept: the array that the lanes
  /// hold the tile in, an element or a vector for each round of reading.
  WarpExchange(const Tile& tile, int kept);

  bool shuffles() const { return exchange_.by != Exchange::By::registers; }

  /// Where elements of a position are that some lane needs: round of reading and element of the vector read. In rising
  /// order.
  using Source = std::pair<Affine, Affine>;
  using Sources = std::vector<Source>;
  Sources sources(std::int64_t round, int element) const;
  /// Where elements of all positions are, by round `u` and element `v`, variables: where it is the same for all of
  /// them, or one expression says for each. Nothing where none does.
  Sources regular(const Affine& u, const Affine& v) const;

  /// Gives `to` element `v`, a variable or a number, of the position that `writes` is at.
  Body exchanged(const MappedTile& writes, const Affine& v, const Sources& sources, const Access& to);

 private:
  /// The position in the reading order of such an element.
  Affine position(Body& names, const MappedTile& writes, const Affine& v);
  /// lane: that has it; nothing where the same one has.
  Value kept(const Source& source, const std::optional<Affine>& lane) const;

  const Tile& tile_;
  const ThreadMapping& reads_;
  int kept_;
  const Exchange exchange_;
};

}  // namespace ricci::kernel
