#include "plan/enumerate/contraction_tiles.hpp"

#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace ricci::plan::tiles {

namespace {

/// Neighbours in memory that a tile has, axis by axis from the fastest one on.
class Run {
 public:
  /// Whether an axis goes on with them.
  bool goes_on(std::int64_t stride) const { return stride == lie_.run; }
  /// Adds those along an axis; false where they end with it.
  bool add(const Reach& one) {
    if (!goes_on(one.stride)) return false;
    together_ = together_ && one.in_shared == lie_.together;
    if (together_) lie_.together *= one.size;
    if (lie_.run == 1) {
      lie_.fastest = one.size;
      lie_.step = one.in_shared;
      joined_ = one.joined;
    }
    if (one.joined != joined_) joined_ = 0;
    whole_ *= one.extent;
    lie_.run *= one.size;
    return one.size == one.extent;
  }
  Lie lie() const {
    auto lie = lie_;
    if (joined_ == 0) return lie;
    // Such a tile begins anywhere in a run.
    lie.run = std::min(lie.run, piece_of(joined_, whole_));
    lie.fastest = std::min(lie.fastest, lie.run);
    lie.together = std::min(lie.together, lie.run);
    return lie;
  }

 private:
  Lie lie_;
  bool together_ = true;
  std::int64_t joined_ = 0, whole_ = 1;  // positions of axes that are one, and those of them that are neighbours
};

/// Positions of a tile from one value of an axis to the next.
std::int64_t digit_step(const Tile& tile, std::size_t axis) {
  std::int64_t step = 1;
  for (auto k = tile.order.size(); k > 0 && tile.order[k - 1] != axis; --k) step *= tile.sizes[tile.order[k - 1]];
  return step;
}

}  // namespace

Lie lie_of(std::vector<Reach>&& all) {
  std::sort(all.begin(), all.end(), [](const Reach& x, const Reach& y) { return x.stride < y.stride; });
  Run run;
  for (const auto& one : all) {
    if (!run.add(one)) break;
  }
  return run.lie();
}

MemoryOrder::MemoryOrder(const Axes& first, bool first_other, const Axes& second, bool second_other,
                         const std::optional<Beside>& beside) {
  const auto add = [&](const Axes& axes, bool other, int group) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto stride = std::abs(other ? axes[k].in_other : axes[k].in_operand);
      if (stride != 0) by_stride_.push_back({stride, axes[k].extent, k, group, 0});  // else a sum's, of one operand
    }
  };
  add(first, first_other, 0);
  add(second, second_other, 1);
  if (beside) by_stride_.push_back({beside->stride, beside->extent, 0, 2, beside->size});
  sort_few(by_stride_, [](const Place& x, const Place& y) { return x.stride < y.stride; });
}

LieOfTwo MemoryOrder::of(const Tile& first, std::int64_t first_step, const Tile& second, std::int64_t second_step,
                         std::int64_t beside) const {
  Run run;
  std::array<bool, 2> of = {};
  for (const auto& place : by_stride_) {
    if (!run.goes_on(place.stride)) break;
    Reach one{place.stride, place.size, place.extent, beside};
    if (place.group == 2) {
      of = {true, true};  // by `beside`
    } else {
      of[static_cast<std::size_t>(place.group)] = true;
      const auto& tile = place.group == 0 ? first : second;
      one.size = std::min(tile.sizes[place.axis], place.extent);
      one.in_shared = (place.group == 0 ? first_step : second_step) * digit_step(tile, place.axis);
      one.joined = tile.is_joined(place.axis) ? tile.size : 0;
    }
    if (!run.add(one)) break;
  }
  return {run.lie(), of};
}

std::string joined_name(const Axes& axes, const Tile& tile) {
  std::string name;
  for (const auto k : joined_axes(tile)) name += axes[k].name;
  return name;
}

namespace {

constexpr double kWorthJoining = 1.03;  // of a tile, times that of one of whole parts of axes, or of fewer axes

/// Of several axes as one, of no more than are worth it: as few tiles of at most `most` positions as there can be,
/// multiples of `unit`. Axis `fastest` is the fastest, then what is the fastest of a tensor, then what is slower.
Tile joined_tile(const Axes& axes, std::size_t fastest, std::int64_t unit, std::int64_t most) {
  Tile tile;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (k != fastest) tile.order.push_back(k);
  }
  const auto step = [&](std::size_t k) { return std::min(std::abs(axes[k].in_operand), std::abs(axes[k].in_other)); };
  sort_few(tile.order, [&](std::size_t x, std::size_t y) { return step(x) > step(y); });
  tile.order.push_back(fastest);
  std::int64_t all = 1, others = 1, positions = axes[fastest].extent;
  for (const auto& axis : axes) all *= axis.extent;
  for (std::size_t count = 2; count <= axes.size(); ++count) {
    positions *= axes[tile.order[axes.size() - count]].extent;
    others = all / positions;
    auto wider = tile;
    wider.joined = count;
    wider.size = std::min(most, up(parts(positions, parts(positions, most)), unit));
    wider.blocks = others * parts(positions, wider.size);
    wider.used = static_cast<double>(all) / static_cast<double>(wider.blocks * wider.size);
    if (count == 2 || wider.worth(most) > kWorthJoining * tile.worth(most)) tile = std::move(wider);
  }
  tile.sizes.assign(axes.size(), 1);
  auto rest = tile.size;
  for (auto k = tile.order.size(); k-- > tile.order.size() - tile.joined;) {
    const auto extent = axes[tile.order[k]].extent;
    tile.sizes[tile.order[k]] = std::min(rest, extent);
    rest = parts(rest, extent);
  }
  return tile;
}

}  // namespace

std::vector<Tile> side_tiles(const Axes& axes, std::int64_t unit, std::int64_t run, bool joins, bool wide) {
  std::vector<Tile> list;
  if (axes.empty()) return {Tile{}};
  std::vector<std::size_t> fastest;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (std::abs(axes[k].in_operand) == 1 || std::abs(axes[k].in_other) == 1) fastest.push_back(k);
  }
  if (fastest.empty()) {
    fastest.push_back(0);
    for (std::size_t k = 1; k < axes.size(); ++k) {
      if (std::abs(axes[k].in_operand) < std::abs(axes[fastest[0]].in_operand)) fastest[0] = k;
    }
  }
  // Results are written in the order of what is joined: their neighbours together.
  const bool writes_neighbours =
      std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.in_other == 1 && axis.extent > 1; });
  Tiles search(axes, unit, run);
  constexpr std::int64_t kUsual = 256;
  const auto longest = wide && fastest.size() > 1 ? std::max(kUsual, run * run) : kUsual;
  for (const auto f : fastest) {
    for (const std::int64_t most : {768, 512, 256, 192, 144, 128, 96, 64, 48, 32, 16}) {
      if (most > longest) continue;
      auto tile = search.of(f, most);
      const auto worth = tile.worth(most);
      const auto add = [&](Tile made) {
        const bool known = std::any_of(list.begin(), list.end(), [&](const Tile& t) {
          return t.sizes == made.sizes && t.order == made.order && t.joined == made.joined && t.size == made.size;
        });
        if (!known) list.push_back(std::move(made));
      };
      add(std::move(tile));
      const bool usual = most == 64 || most == 96 || most == 128 || most == 192;
      if (!joins || !usual || axes.size() == 1 || most < 2 * unit || (writes_neighbours && axes[f].in_other != 1))
        continue;
      auto joined = joined_tile(axes, f, unit, most);
      if (joined.blocks > 1 && joined.worth(most) > kWorthJoining * worth) add(std::move(joined));
    }
  }
  return list;
}

namespace {

/// So many positions of axis `fastest`, and of axis `other` around them; one of each further axis.
Tile tile_of_two(const Axes& depth, std::size_t fastest, std::int64_t of_fastest, std::size_t other,
                 std::int64_t of_other) {
  Tile tile;
  tile.order.reserve(depth.size());
  for (std::size_t k = 0; k < depth.size(); ++k) {
    if (k != fastest && k != other) tile.order.push_back(k);
  }
  tile.order.push_back(other);
  tile.order.push_back(fastest);
  tile.sizes.assign(depth.size(), 1);
  tile.sizes[fastest] = of_fastest;
  tile.sizes[other] = of_other;
  tile.size = of_fastest * of_other;
  for (std::size_t k = 0; k < depth.size(); ++k) tile.blocks *= parts(depth[k].extent, tile.sizes[k]);
  return tile;
}

/// Where the fastest axis is no multiple of `unit`: an even part of it with an even part of another axis, which leaves
/// nothing of either unused.
void add_even_depths(std::vector<Tile>& list, const Axes& depth, const std::vector<std::size_t>& fastest,
                     std::int64_t unit) {
  constexpr std::int64_t kLeastRun = 4, kMost = 48;
  for (const auto f : fastest) {
    if (depth[f].extent % unit == 0) continue;
    for (std::size_t g = 0; g < depth.size(); ++g) {
      if (g == f) continue;
      for (auto n = std::min(depth[f].extent, kMost); n >= kLeastRun; --n) {
        if (depth[f].extent % n != 0) continue;
        for (std::int64_t m = 2; m <= std::min(depth[g].extent, kMost / n); ++m) {
          if (depth[g].extent % m != 0 || n * m % unit != 0) continue;
          list.push_back(tile_of_two(depth, f, n, g, m));
        }
      }
    }
  }
}

/// Rows as long as warp groups read them at most, where the fastest axis divides into a half or a quarter alone.
void add_deep_rows(std::vector<Tile>& list, const Axes& depth, const std::vector<std::size_t>& fastest,
                   std::int64_t row) {
  for (const auto f : fastest) {
    auto part = row;
    while (part >= row / 4 && depth[f].extent % part != 0) part /= 2;
    for (std::size_t g = 0; g < depth.size() && part < row && part >= row / 4; ++g) {
      if (g != f && depth[g].extent % (row / part) == 0) list.push_back(tile_of_two(depth, f, part, g, row / part));
    }
  }
}

/// Even parts of both axes that have neighbours of an operand, and where that makes no multiple of `unit`, of a third
/// one: of each of some sizes what leaves the longest runs of both, and the least unused.
void add_crossed(std::vector<Tile>& list, const Axes& depth, std::int64_t unit) {
  const auto fastest = [&](bool other) {
    const auto is_fastest = [&](const Axis& axis) { return std::abs(other ? axis.in_other : axis.in_operand) == 1; };
    return static_cast<std::size_t>(std::find_if(depth.begin(), depth.end(), is_fastest) - depth.begin());
  };
  const auto f = fastest(false), g = fastest(true);
  if (f == g || f == depth.size() || g == depth.size()) return;
  const auto used = [](std::int64_t extent, std::int64_t n) {
    return static_cast<double>(extent) / static_cast<double>(up(extent, n));
  };
  // Of 16 banks of eight bytes lanes meet in those of rows whose parts are so many elements apart.
  const auto meets = [](std::int64_t n) { return n % 16 == 0 || n % 16 == 4 || n % 16 == 12; };
  constexpr std::int64_t kMostPart = 32;
  for (const std::int64_t most : {24, 40, 80, 144, 240}) {
    Tile best;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t m = 2; m <= std::min(up(depth[f].extent, 2), kMostPart); m += 2) {
      for (std::int64_t n = 2; n <= std::min(up(depth[g].extent, 2), kMostPart) && m * n <= most; n += 2) {
        if (meets(m) || meets(n)) continue;
        const auto lines = (1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n)) /
                           (used(depth[f].extent, m) * used(depth[g].extent, n));
        if (lines >= least) continue;
        auto tile = tile_of_two(depth, f, m, g, n);
        for (std::size_t k = 0; k < depth.size() && tile.size % unit != 0; ++k) {
          if (k == f || k == g || depth[k].extent % 2 != 0) continue;
          tile.sizes[k] = 2;
          tile.size *= 2;
          tile.blocks /= 2;
        }
        if (tile.size % unit != 0 || tile.size > most) continue;
        tile.crossed = true;
        least = lines;
        best = std::move(tile);
      }
    }
    const bool known =
        std::any_of(list.begin(), list.end(), [&](const Tile& t) { return t.crossed && t.sizes == best.sizes; });
    if (best.crossed && !known) list.push_back(std::move(best));
  }
}

}  // namespace

void add_ragged_rows(std::vector<Tile>& list, const Axes& depth, std::int64_t row) {
  constexpr std::int64_t kUnused = 16;  // of the axis: one part in as many at most
  for (std::size_t f = 0; f < depth.size(); ++f) {
    const auto extent = depth[f].extent;
    if (std::abs(depth[f].in_operand) != 1 && std::abs(depth[f].in_other) != 1) continue;
    if (extent % row == 0 || (up(extent, row) - extent) * kUnused > extent) continue;
    list.push_back(depth.size() == 1 ? Tile{{0}, {row}, row, parts(extent, row)}
                                     : tile_of_two(depth, f, row, f == 0 ? 1 : 0, 1));
  }
}

std::vector<Tile> depth_tiles(const Axes& depth, std::int64_t unit, std::int64_t row, bool joins, bool crosses) {
  if (depth.empty()) return {Tile{}};
  if (depth.back().is_of_one()) {
    auto list = depth_tiles({depth.begin(), depth.end() - 1}, unit, row, joins, crosses);
    for (auto& tile : list) {
      tile.order.push_back(depth.size() - 1);
      std::rotate(tile.order.begin(), tile.order.end() - 1, tile.order.end());
      tile.sizes.push_back(1);
      tile.blocks *= depth.back().extent;
    }
    return list;
  }
  std::vector<Tile> list;
  std::vector<std::size_t> fastest;
  for (std::size_t k = 0; k < depth.size(); ++k) {
    if (std::abs(depth[k].in_operand) == 1 || std::abs(depth[k].in_other) == 1) fastest.push_back(k);
  }
  if (fastest.empty()) fastest.push_back(depth.size() - 1);
  for (const auto f : fastest) {
    for (const std::int64_t steps : {1, 2, 3, 4, 6}) {
      const auto most = steps * std::max<std::int64_t>(unit, 8);
      Tile tile;
      tile.order.reserve(depth.size());
      for (std::size_t k = 0; k < depth.size(); ++k) {
        if (k != f) tile.order.push_back(k);
      }
      tile.order.push_back(f);
      tile.sizes.assign(depth.size(), 1);
      auto room = most;
      for (std::size_t k = tile.order.size(); k-- > 0;) {
        auto& n = tile.sizes[tile.order[k]];
        const auto extent = depth[tile.order[k]].extent;
        n = std::min(room, extent);
        if (k + 1 < tile.order.size() || n % unit == 0) {
          while (extent % n != 0) --n;  // of the others, what leaves no rest
        }
        room /= n;
      }
      const auto whole = [&] {
        return std::accumulate(tile.sizes.begin(), tile.sizes.end(), std::int64_t{1}, std::multiplies<>());
      };
      while (whole() % unit != 0) ++tile.sizes[f];
      tile.size = whole();
      for (std::size_t k = 0; k < depth.size(); ++k) tile.blocks *= parts(depth[k].extent, tile.sizes[k]);
      const bool known = std::any_of(list.begin(), list.end(),
                                     [&](const Tile& t) { return t.sizes == tile.sizes && t.order == tile.order; });
      if (!known && tile.size <= 2 * most) list.push_back(std::move(tile));
    }
  }
  add_even_depths(list, depth, fastest, unit);
  add_deep_rows(list, depth, fastest, row);
  // Each operand has neighbours of its own along the depth: whole sectors of both.
  if (fastest.size() == 2) {
    for (const auto& [f, g] : {std::pair{fastest[0], fastest[1]}, std::pair{fastest[1], fastest[0]}}) {
      for (const auto& [m, n] : {std::pair{4, 4}, std::pair{8, 4}, std::pair{4, 8}, std::pair{8, 8}}) {
        if (depth[f].extent < m || depth[g].extent < n || std::int64_t{m} * n % unit != 0) continue;
        list.push_back(tile_of_two(depth, f, m, g, n));
      }
    }
  }
  if (crosses) add_crossed(list, depth, unit);
  // An axis of which each operand's neighbours lie along another one cannot be joined to whole runs of both.
  if (!joins || depth.size() == 1 || fastest.size() > 1) return list;
  for (const auto f : fastest) {
    for (const std::int64_t steps : {2, 4}) {
      const auto most = steps * std::max<std::int64_t>(unit, 8);
      if (depth[f].extent % most == 0) continue;
      if (auto joined = joined_tile(depth, f, unit, most); joined.blocks > 1) list.push_back(std::move(joined));
    }
  }
  return list;
}

}  // namespace ricci::plan::tiles
