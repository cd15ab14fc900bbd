#include "plan/enumerate/layouts.hpp"

#include <algorithm>
#include <limits>

#include "plan/models/banks.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

kernel::SharedLayout linear_layout(const Sides& sides, const std::vector<std::int64_t>& tile, bool read,
                                   std::int64_t pad) {
  kernel::SharedLayout layout;
  layout.stride.assign(tile.size(), 0);
  std::int64_t stride = 1;
  bool first = true;
  for (const auto index : read ? sides.read_order : sides.write_order) {
    const auto q = static_cast<std::size_t>(index);
    if (tile[q] == 1) continue;
    layout.stride[q] = stride;
    stride *= tile[q];
    if (first) stride += pad;
    first = false;
  }
  layout.elements = stride;
  return layout;
}

const LayoutSearch::Found& LayoutSearch::best(const kernel::Moves& moves) {
  const int read_vector = moves.stage->mapping.vector, write_vector = moves.mapping.vector;
  const auto known = std::find_if(searched_.begin(), searched_.end(), [&](const Searched& searched) {
    return searched.tile == moves.tile && searched.read_vector == read_vector &&
           searched.write_vector == write_vector && searched.rows == moves.stage->mapping.rows &&
           searched.skewed == moves.skew.on() && same_warps(searched.workers, moves.mapping.workers);
  });
  if (known != searched_.end()) return known->found;
  constexpr int kFollowed = 16;
  const auto layout = search(moves);
  const auto in =
      wavefronts(moves, kernel::register_transposed(moves.stage->mapping), layout, sides_.read_bytes(), kFollowed);
  const auto out = wavefronts(moves, moves.mapping, layout, sides_.read_bytes(), kFollowed);
  searched_.push_back({moves.tile,
                       read_vector,
                       write_vector,
                       moves.stage->mapping.rows,
                       moves.skew.on(),
                       moves.mapping.workers,
                       {layout, in.counted + out.counted, in.ideal + out.ideal}});
  return searched_.back().found;
}

/// The layout with the fewest wavefronts: the tile in the order of either side, with swizzles and with longer rows.
kernel::SharedLayout LayoutSearch::search(const kernel::Moves& moves) const {
  constexpr int kFollowed = 4;
  const auto& stage = *moves.stage;
  const auto stored = kernel::register_transposed(stage.mapping);
  const bool rectangles = stage.mapping.rows > 1;  // rectangles are stored along the output
  const auto size = sides_.read_bytes();
  double best = 0;
  bool perfect = false;
  kernel::SharedLayout chosen;
  const auto consider = [&](BankCounter& read, BankCounter& write, const kernel::SharedLayout& layout) {
    if (layout.elements * size > most_bytes_) return;
    // Equal counts keep the first layout, which is the smallest.
    const double limit = chosen.elements == 0 ? std::numeric_limits<double>::infinity() : best * 0.999;
    const double least = write.ideal(layout);
    if (read.ideal(layout) + least >= limit) return;
    const auto in = read.count(layout, limit - least);
    if (in.counted + least >= limit) return;
    const auto out = write.count(layout, limit - in.counted);
    const auto total = in.counted + out.counted;
    if (total >= limit) return;
    best = total;
    chosen = layout;
    perfect = total <= in.ideal + out.ideal;
  };
  auto tile = moves.tile;
  if (moves.skew.on()) tile[static_cast<std::size_t>(moves.skew.index)] += moves.skew.elements - 1;
  for (const bool read_order : {true, false}) {
    if (read_order && rectangles) continue;
    const auto plain = linear_layout(sides_, tile, read_order, 0);
    BankCounter read(moves, stored, plain, size, kFollowed);
    BankCounter write(moves, moves.mapping, plain, size, kFollowed);
    consider(read, write, plain);
    if (perfect) return chosen;
    int unit = 0;
    const int vector = read_order ? stage.mapping.vector : moves.mapping.vector;
    auto swizzled = plain;
    while ((1 << unit) < vector) ++unit;
    for (const std::int64_t mask : {3, 7, 15, 31}) {
      if ((mask << unit) * size >= 256) break;  // 32 banks of 4 bytes, twice
      int bits = 0;
      while ((mask >> bits) != 0) ++bits;
      for (int shift = unit + bits; shift <= unit + bits + 4; ++shift) {
        swizzled.shift = shift;
        swizzled.mask = mask;
        swizzled.unit = unit;
        const auto group = (mask + 1) << unit;
        swizzled.elements = (plain.elements + group - 1) / group * group;
        if (shift > 0 && (std::int64_t{1} << shift) >= plain.elements) break;
        consider(read, write, swizzled);
        if (perfect) return chosen;
      }
    }
    for (const std::int64_t pad : {1, 2, 4, 8}) {
      if (pad > 4 && !rectangles) break;
      if (pad % vector != 0 && vector != 1) continue;
      const auto padded = linear_layout(sides_, tile, read_order, pad);
      BankCounter padded_read(moves, stored, padded, size, kFollowed);
      BankCounter padded_write(moves, moves.mapping, padded, size, kFollowed);
      consider(padded_read, padded_write, padded);
      if (perfect) return chosen;
    }
  }
  return chosen;
}

}  // namespace ricci::plan
