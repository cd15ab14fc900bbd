#include "plan/enumerate/layouts.hpp"

#include <algorithm>
#include <limits>

#include "plan/models/banks.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

ir::SharedLayout linear_layout(const Sides& sides, const std::vector<std::int64_t>& tile, bool read, std::int64_t pad) {
  ir::SharedLayout layout;
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

const LayoutSearch::Found& LayoutSearch::best(const ir::Schedule& schedule) {
  const int read_vector = schedule.stage->mapping.vector, write_vector = schedule.mapping.vector;
  const auto known = std::find_if(searched_.begin(), searched_.end(), [&](const Searched& searched) {
    return searched.tile == schedule.tile && searched.read_vector == read_vector &&
           searched.write_vector == write_vector && searched.rows == schedule.stage->mapping.rows &&
           searched.skewed == schedule.skew.on() && same_warps(searched.workers, schedule.mapping.workers);
  });
  if (known != searched_.end()) return known->found;
  constexpr int kFollowed = 16;
  const auto layout = search(schedule);
  const auto in =
      wavefronts(schedule, ir::register_transposed(schedule.stage->mapping), layout, sides_.read_bytes(), kFollowed);
  const auto out = wavefronts(schedule, schedule.mapping, layout, sides_.read_bytes(), kFollowed);
  searched_.push_back({schedule.tile,
                       read_vector,
                       write_vector,
                       schedule.stage->mapping.rows,
                       schedule.skew.on(),
                       schedule.mapping.workers,
                       {layout, in.counted + out.counted, in.ideal + out.ideal}});
  return searched_.back().found;
}

/// The layout with the fewest wavefronts: the tile in the order of either side, with swizzles and with longer rows.
ir::SharedLayout LayoutSearch::search(const ir::Schedule& schedule) const {
  constexpr int kFollowed = 4;
  const auto& stage = *schedule.stage;
  const auto stored = ir::register_transposed(stage.mapping);
  const bool rectangles = stage.mapping.rows > 1;  // rectangles are stored along the output
  const auto size = sides_.read_bytes();
  double best = 0;
  bool perfect = false;
  ir::SharedLayout chosen;
  const auto consider = [&](BankCounter& read, BankCounter& write, const ir::SharedLayout& layout) {
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
  auto tile = schedule.tile;
  if (schedule.skew.on()) tile[static_cast<std::size_t>(schedule.skew.index)] += schedule.skew.elements - 1;
  for (const bool read_order : {true, false}) {
    if (read_order && rectangles) continue;
    const auto plain = linear_layout(sides_, tile, read_order, 0);
    BankCounter read(schedule, stored, plain, size, kFollowed);
    BankCounter write(schedule, schedule.mapping, plain, size, kFollowed);
    consider(read, write, plain);
    if (perfect) return chosen;
    int unit = 0;
    const int vector = read_order ? stage.mapping.vector : schedule.mapping.vector;
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
      BankCounter padded_read(schedule, stored, padded, size, kFollowed);
      BankCounter padded_write(schedule, schedule.mapping, padded, size, kFollowed);
      consider(padded_read, padded_write, padded);
      if (perfect) return chosen;
    }
  }
  return chosen;
}

}  // namespace ricci::plan
