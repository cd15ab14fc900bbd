#include "plan/enumerate/cut_tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "kernel/warp_group.hpp"

namespace ricci::plan {
namespace {

using tiles::Tile;
using tiles::up;

/// Of tiles for warp groups, multiples of their units; along the depth also what leaves little of them unused.
void keep_full(std::vector<Tile>& list, std::int64_t unit, bool deep) {
  constexpr std::int64_t kUnused = 8;  // of the tile: one part in as many at most
  std::erase_if(list, [&](const Tile& tile) {
    return tile.size % unit != 0 && (!deep || (up(tile.size, unit) - tile.size) * kUnused > tile.size);
  });
}

/// Whether tiles of a side may have more positions than is usual: beside few of the other one. Of intensli02 of
/// tccg48_f32 in bf16 on an H200 tiles of 16 x 32 x 24, which write whole sectors, took 72 us, of 8 x 32 x 24 112 us.
bool is_wide(const GpuContraction& c, CutSide side) {
  constexpr std::int64_t kFew = 48;
  std::int64_t others = 1;
  for (const auto& axis : side == CutSide::rows ? c.column_axes : c.row_axes) others *= axis.extent;
  return side != CutSide::depth && !c.groups && c.products == 1 && others <= kFew;
}

/// Tiles of an atom of half the depth, which leave less of them unused than those of whole ones.
void add_halved(std::vector<Tile>& list, const GpuContraction& c, std::int64_t longest) {
  const auto held = [](const Tile& tile) { return tile.blocks * tile.size; };
  auto least = std::numeric_limits<std::int64_t>::max();
  for (const auto& tile : list) least = std::min(least, held(tile));
  for (auto& tile : tiles::depth_tiles(c.depth_axes, c.halved_unit(), longest, c.joins_depth(), c.crosses())) {
    if (tile.size % c.depth_unit != 0 && held(tile) < least) list.push_back(std::move(tile));
  }
}

std::vector<Tile> tiles_of_depth(const GpuContraction& c) {
  // Elements of the longest row that warp groups read: of operands for other atoms, as of 16-bit ones.
  const auto longest = kernel::kMatrixRow / (c.groups ? c.size : 2);
  auto list = tiles::depth_tiles(c.depth_axes, c.depth_unit, longest, c.joins_depth(), c.crosses());
  if (c.halved_unit() < c.depth_unit) add_halved(list, c, longest);
  if (!c.keeps_zeros) {
    // What is past the end of an index would count: whole tiles alone.
    std::erase_if(list, [&](const Tile& tile) {
      bool whole = tile.joined == 0;
      for (std::size_t k = 0; k < c.depth_axes.size(); ++k)
        whole = whole && c.depth_axes[k].extent % tile.sizes[k] == 0;
      return !whole;
    });
  }
  if (!c.groups) return list;
  keep_full(list, c.depth_unit, false);
  tiles::add_ragged_rows(list, c.depth_axes, longest);
  return list;
}

/// What tiles follow from of axes: neighbours in memory, as far as runs of them are looked for, and which axes are
/// further apart there than others.
template <class Key>
void add_axes(Key& key, const tiles::Axes& axes) {
  constexpr std::int64_t kFar = 2 * kSectorBytes;  // elements of one byte
  const auto in_operand = [](const tiles::Axis& axis) { return std::abs(axis.in_operand); };
  const auto nearest = [](const tiles::Axis& axis) {
    return std::min(std::abs(axis.in_operand), std::abs(axis.in_other));
  };
  for (const auto& axis : axes) {
    key.push_back(axis.extent);
    for (const auto stride : {axis.in_operand, axis.in_other}) key.push_back(std::abs(stride) < kFar ? stride : kFar);
    const auto nearer = [&](auto step) {
      return std::count_if(axes.begin(), axes.end(), [&](const tiles::Axis& a) { return step(a) < step(axis); });
    };
    key.push_back(nearer(in_operand));
    key.push_back(nearer(nearest));
  }
}

}  // namespace

std::vector<Tile> cut_tiles(const GpuContraction& c, CutSide side) {
  if (side == CutSide::depth) return tiles_of_depth(c);
  const bool of_rows = side == CutSide::rows;
  const auto unit = of_rows ? c.row_unit : c.column_unit;
  const auto run = 2 * kSectorBytes / c.size;  // worth being neighbours in memory: two sectors, which it reads together
  auto list = tiles::side_tiles(of_rows ? c.row_axes : c.column_axes, unit, run, c.joins_sides(), is_wide(c, side));
  if (!c.groups) return list;
  keep_full(list, unit, c.deep(of_rows) || !c.read_by_groups(of_rows));
  if (!of_rows)
    std::erase_if(list,
                  [&](const Tile& tile) { return !kernel::has_instruction(c.atom(), tiles::up(tile.size, unit)); });
  return list;
}

CutTiles::List CutTiles::kept_tiles(const GpuContraction& c, CutSide side, const Key& key) {
  thread_local std::map<std::pair<const kernel::Atom*, Key>, List> all;
  constexpr std::size_t kMost = 256;
  if (all.size() == kMost) all.clear();
  auto& list = all[{c.groups ? &c.atom() : nullptr, key}];
  if (!list) list = std::make_shared<const std::vector<Tile>>(cut_tiles(c, side));
  return list;
}

CutTiles::List CutTiles::of(const GpuContraction& c, CutSide side) {
  const bool of_depth = side == CutSide::depth, of_rows = side == CutSide::rows;
  const auto& axes = of_depth ? c.depth_axes : of_rows ? c.row_axes : c.column_axes;
  const auto unit = of_depth ? c.depth_unit : of_rows ? c.row_unit : c.column_unit;
  const bool joins = of_depth ? c.joins_depth() : c.joins_sides();
  const bool keeps_deep = !of_depth && (c.deep(of_rows) || !c.read_by_groups(of_rows));
  // Of warp groups the atom says how long rows are, too.
  Key key = {of_depth,
             c.size,
             unit,
             joins,
             of_depth ? c.halved_unit() : 0,
             c.groups,
             c.groups && !of_depth && !of_rows,
             keeps_deep,
             of_depth && c.crosses(),
             of_depth && c.keeps_zeros,
             is_wide(c, side)};
  add_axes(key, axes);
  const auto [place, fresh] = known_.try_emplace(std::move(key));
  if (!fresh) return place->second;
  // Lists that are the same are one, so that what is copied for their tiles is found once, too.
  auto list = kept_tiles(c, side, place->first);
  const auto same = std::find_if(known_.begin(), known_.end(),
                                 [&](const auto& other) { return other.second && *other.second == *list; });
  place->second = same != known_.end() ? same->second : std::move(list);
  return place->second;
}

std::shared_ptr<KnownWarps> known_warps(const GpuContraction& c, const GpuModel& device) {
  if (c.is_outer()) return std::make_shared<KnownWarps>();  // whose lanes write as results lie
  using Key = std::tuple<const kernel::Atom*, DType, double, std::array<std::int64_t, 13>>;
  thread_local std::map<Key, std::shared_ptr<KnownWarps>> all;
  constexpr std::size_t kMost = 32, kMostTiles = 1024;
  if (all.size() == kMost) all.clear();
  const auto lanes = c.spread(c.row_unit, c.column_unit, 1, 1);
  auto& known = all[{
      &c.atom(),
      c.type,
      c.rate,
      {c.size, c.products, c.row_unit, c.column_unit, c.factor_parts, c.deep_rows, c.deep_columns, c.has_singles(),
       c.has_short_sums(), lanes.run_rows, lanes.run_columns, lanes.run_depth, device.threads_per_multiprocessor}}];
  if (!known || known->size() > kMostTiles) known = std::make_shared<KnownWarps>();
  return known;
}

std::shared_ptr<KnownCopies> CutTiles::copies(const GpuContraction& c, bool of_rows, const std::vector<Tile>& sides,
                                              const std::vector<Tile>& chunks) {
  const auto beside = c.products > 1 ? static_cast<std::int64_t>(c.products_axis) : -1;
  Key key = {of_rows, c.size,       c.element_bytes(of_rows), c.products,
             beside,  c.by_lanes(), c.deep(of_rows),          c.converts(of_rows)};
  const auto add = [&](const tiles::Axes& axes, bool other) {
    for (const auto& axis : axes) {
      key.push_back(axis.extent);
      key.push_back(other ? axis.in_other : axis.in_operand);
    }
  };
  add(of_rows ? c.row_axes : c.column_axes, false);
  add(c.depth_axes, !of_rows);
  add(c.batch_axes, !of_rows);
  auto& known = known_copies_[{{&sides, &chunks}, key}];
  if (!known) {
    known = std::make_shared<KnownCopies>();
    known->sides.resize(sides.size());
  }
  return known;
}

bool suits(const GpuContraction& contraction, const Tile& rows, const Tile& columns) {
  constexpr std::int64_t kLeastSide = 16, kMostTile = 192 * 192;
  const auto results = rows.size * columns.size * contraction.products;
  // Of a side that a tile has whole, fewer positions than atoms have leave fewer results.
  const auto thin = [&](const Tile& side) { return side.blocks == 1 ? std::min(side.size, kLeastSide) : kLeastSide; };
  if (results < thin(rows) * thin(columns) && (rows.blocks > 1 || columns.blocks > 1)) return false;
  return results <= kMostTile;
}

}  // namespace ricci::plan
