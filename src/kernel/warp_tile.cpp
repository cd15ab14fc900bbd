#include "kernel/warp_tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <ranges>
#include <utility>

#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

/// A side of the tile, along one coordinate of a fragment.
Side side(std::int64_t extent, int warps, const Fragment& fragment, int along, int run) {
  Side s;
  s.extent = extent;
  s.warps = warps;
  s.lanes = static_cast<int>(fragment.layout.size(LayoutAxis::lane, along));
  s.per_atom = static_cast<int>(fragment.layout.size(LayoutAxis::reg, along));
  s.run = run;
  if (s.block() % s.run != 0 || s.block() % s.per_atom != 0)
    throw PlanError(fmt::format("schedule: runs of {} in an atom of {} elements a lane", run, s.per_atom));
  const auto whole = static_cast<std::int64_t>(s.warps) * s.lanes * s.block();
  s.padded = (extent + whole - 1) / whole * whole;
  return s;
}

/// A fragment with its places along rows and columns numbered anew: by their lanes, then by the elements of each.
Layout lanes_first(const Layout& fragment) {
  Layout result = fragment;
  for (const int along : {0, 1}) {
    std::int32_t below = 1;
    for (const auto axis : {LayoutAxis::lane, LayoutAxis::reg}) {
      for (std::int32_t done = 0;;) {
        // The next larger step.
        const Mode* next = nullptr;
        for (const auto& mode : fragment.all()) {
          if (mode.axis == axis && mode.along == along && mode.step > done && (!next || mode.step < next->step))
            next = &mode;
        }
        if (next == nullptr) break;
        done = next->step;
        result.modes[static_cast<std::size_t>(next - fragment.modes.data())].step = below;
        below *= next->extent;
      }
    }
  }
  return result;
}

/// What is said by numbers along two sides, as positions.
Layout placed(const Layout& numbers, const Side& rows, const Side& columns) {
  return composed(composed(numbers, 0, rows.order()), 1, columns.order());
}

/// Fragments of a warp's and a block's atoms: of each warp those along `inner` first, then those along the other
/// coordinate.
Layout spread(const Layout& fragment, const Side& rows, const Side& columns, int inner, const WarpTile& tile) {
  const std::array sides = {&rows, &columns};
  Layout atoms, warps;
  for (const int along : {inner, 1 - inner})
    atoms.add(LayoutAxis::reg,
              atoms.shape[static_cast<std::size_t>(along)] = sides[static_cast<std::size_t>(along)]->atoms(), along, 1);
  warps.shape = {rows.warps, columns.warps, 1};
  std::int64_t below[2] = {1, 1};  // columns, rows
  for (const auto& [extent, of_rows] : tile.order | std::views::reverse) {
    warps.add(LayoutAxis::warp, extent, of_rows ? 0 : 1, (of_rows ? rows : columns).warps > 1 ? below[of_rows] : 0);
    below[of_rows] *= extent;
  }
  return placed(product(product(fragment, atoms), warps), rows, columns);
}

/// An element to a lane, by the number of its group of four and its own in it: the coordinate and the step of each.
constexpr Fragment single(Point shape, std::pair<int, int> group, std::pair<int, int> member) {
  Fragment made{AtomType::f32, {.shape = shape}};
  made.layout.add(LayoutAxis::lane, 4, member.first, member.second)
      .add(LayoutAxis::lane, kWarp / 4, group.first, group.second);
  return made;
}
constexpr std::pair kNone{0, 0};
/// The same of 8 x 4 lanes, of which each and the next one have the same row, and each and the next but one the same
/// column: vectors of rows and of columns are both read alike in pairs.
constexpr Fragment crossed(Point shape, std::int64_t row, std::int64_t column) {
  Fragment made{AtomType::f32, {.shape = shape}};
  made.layout.add(LayoutAxis::lane, 2, 1, column)
      .add(LayoutAxis::lane, 2, 0, row)
      .add(LayoutAxis::lane, 2, 1, 2 * column)
      .add(LayoutAxis::lane, 4, 0, 2 * row);
  return made;
}
constexpr Atom kFma = {
    "fma", 8, 4, 1, 50, crossed({8, 1, 1}, 1, 0), crossed({1, 4, 1}, 0, 1), crossed({8, 4, 1}, 1, 1)};
constexpr Fragment kRow = single({1, 32, 1}, {1, 4}, {1, 1});
constexpr Atom kFmaRow = {"fma_row", 1, 32, 1, 50, single({1, 1, 1}, kNone, kNone), kRow, kRow};
// The groups of a warp, or all of its lanes, are products side by side.
constexpr Fragment kRows = single({1, 4, 8}, {2, 1}, {1, 1});
constexpr Atom kFmaBatch8 = {"fma_batch8", 1, 4, 1, 50, single({1, 1, 8}, {2, 1}, kNone), kRows, kRows};
constexpr Fragment kElement = single({1, 1, 32}, {2, 4}, {2, 1});
constexpr Atom kFmaBatch32 = {"fma_batch32", 1, 1, 1, 50, kElement, kElement, kElement};

}  // namespace

const Atom* find_fma(std::string_view name) noexcept {
  for (const auto* atom : {&kFma, &kFmaRow, &kFmaBatch8, &kFmaBatch32}) {
    if (name == atom->name) return atom;
  }
  return nullptr;
}

int batch_lanes(const Atom& atom) noexcept { return static_cast<int>(atom.c.layout.shape[2]); }

Layout Side::order() const {
  const std::int64_t span = std::int64_t{lanes} * run;
  Layout all{.shape = {padded, 1, 1}};
  if (apart) {
    all.add(LayoutAxis::memory, 2, 0, span / 2).add(LayoutAxis::memory, lanes / 2, 0, run);
  } else {
    all.add(LayoutAxis::memory, lanes, 0, run);
  }
  return all.add(LayoutAxis::memory, run, 0, 1)
      .add(LayoutAxis::memory, elements() / run, 0, span)
      .add(LayoutAxis::memory, warps, 0, padded / warps);
}

Affine Side::position(const Affine& warp, const Affine& outer, int within) const {
  const auto all = order();
  const auto at = [&](std::int64_t element) { return all.at({.memory = lanes * element})[0]; };
  return at(elements()) * warp + at(block()) * outer + Affine(at(within));
}

Layout WarpTile::a() const { return spread(lanes_first(atom->a.layout), rows, depth, 0, *this); }
Layout WarpTile::b() const { return spread(lanes_first(atom->b.layout), depth, columns, 1, *this); }
Layout WarpTile::c() const { return spread(atom->c.layout, rows, columns, 1, *this); }

int WarpTile::register_of(const Fragment& fragment, int along, int across) {
  const auto layout = lanes_first(fragment.layout);
  const auto held =
      layout.holder({layout.size(LayoutAxis::lane, 0) * along, layout.size(LayoutAxis::lane, 1) * across});
  return held && held->lane == 0 ? static_cast<int>(held->reg) : -1;
}

std::array<WarpDigit, 6> warp_digits(const Spread& spread) noexcept {
  if (spread.ordered()) return spread.order;
  return {{{static_cast<std::int8_t>(spread.warp_rows), true}, {static_cast<std::int8_t>(spread.warp_columns), false}}};
}

WarpTile warp_tile(const std::string& atom, const Spread& spread, const std::vector<Digit>& rows,
                   const std::vector<Digit>& columns, const std::vector<Digit>& depth, DType sums) {
  WarpTile tile;
  tile.atom = find_fma(atom);
  if (tile.atom == nullptr) tile.atom = find_atom(atom);
  if (tile.atom == nullptr) throw PlanError(fmt::format("schedule: there is no atom {}", atom));
  tile.rows = side(product(rows), spread.warp_rows, tile.atom->a, 0, spread.run_rows);
  tile.columns = side(product(columns), spread.warp_columns, tile.atom->b, 1, spread.run_columns);
  tile.depth = side(product(depth), 1, tile.atom->a, 1, spread.run_depth);
  tile.order = warp_digits(spread);
  tile.columns.apart = !tile.fma() && is_complex(sums);
  if (const int shared = tile.atom->a.per_register(); shared > 1 && spread.run_depth != shared)
    throw PlanError(fmt::format("schedule: runs of {} along the depth, and registers of {} hold {}", spread.run_depth,
                                atom, shared));
  if (tile.depth.extent != tile.depth.padded)
    throw PlanError(fmt::format("schedule: a depth of {} in atoms and runs of {}", tile.depth.extent,
                                tile.depth.lanes * tile.depth.block()));
  return tile;
}

Reads reads_of(const WarpTile& tile, bool first, std::int64_t along, std::int64_t deep, DType type) {
  const auto fits = [&](std::int64_t run, std::int64_t stride, std::int64_t other) {
    auto n = std::min<std::int64_t>(run, std::max<std::int64_t>(kWidest / size_of(type), 1));
    while (n > 1 && (stride != 1 || other % n != 0)) n /= 2;
    return static_cast<int>(n);
  };
  Reads reads;
  const auto& side = first ? tile.rows : tile.columns;
  const int shared = (first ? tile.atom->a : tile.atom->b).per_register();
  if (shared > 1) {
    const auto is_row = [&](std::int64_t step, std::int64_t other) {
      return step == 1 && other * size_of(type) % kWidest == 0;
    };
    if (is_row(deep, along)) {
      reads.by = ReadBy::matrix;
    } else if (is_row(along, deep) && shared == 2 && side.run == 1) {
      reads.by = ReadBy::transposed_matrix;
    }
    if (deep == 1 && along % shared == 0) reads.deep = shared;
    return reads;
  }
  reads.along = fits(side.run, along, deep);
  if (reads.along == 1) reads.deep = fits(tile.depth.run, deep, along);
  return reads;
}

int best_padding(const WarpTile& tile, bool first, bool by_depth, DType type, std::int64_t apart, const Layout* order) {
  const auto& side = first ? tile.rows : tile.columns;
  const auto& fragment = first ? tile.atom->a : tile.atom->b;
  const std::int64_t size = size_of(type), row = (by_depth ? tile.depth.extent : side.extent) * apart;
  const std::int64_t unit = std::max<std::int64_t>(kWidest / size, 1);
  const auto lanes = lanes_first(fragment.layout);
  auto places = first ? placed(lanes, side, tile.depth) : placed(lanes, tile.depth, side);
  if (order != nullptr) places = composed(places, first ? 1 : 0, *order);
  const auto held = places.lanes();
  // Of one matrix, which the others are like.
  std::array<Point, kWarp> rows{};
  for (std::size_t lane = 0; lane < rows.size(); ++lane) rows[lane] = {static_cast<std::int64_t>(lane % 8)};
  int best = 0, fewest = -1;
  for (auto padding = (unit - row % unit) % unit; padding * size < kBanks * kWord; padding += unit) {
    const auto along = by_depth ? row + padding : apart, deep = by_depth ? apart : row + padding;
    const auto reads = order != nullptr ? Reads{} : reads_of(tile, first, along, deep, type);
    const bool by_lane = reads.by == ReadBy::lane;
    const auto width = by_lane ? size * reads.width() : kWidest;
    const auto times = by_lane ? kWidest / reads.width() : 1;
    Layout memory;
    if (by_lane) {
      memory.add(LayoutAxis::memory, side.padded, first ? 0 : 1, 1, along)
          .add(LayoutAxis::memory, tile.depth.padded, first ? 1 : 0, 1, deep)
          .add(LayoutAxis::memory, batch_lanes(*tile.atom), 2, 1, 1);
    } else {
      memory.add(LayoutAxis::memory, 8, 0, 1, reads.by == ReadBy::matrix ? along * side.run : deep);
    }
    const auto count = wavefronts(by_lane ? held : rows, memory, size, width) * times;
    if (fewest >= 0 && count >= fewest) continue;
    fewest = static_cast<int>(count);
    best = static_cast<int>(padding);
    if (count == least_wavefronts(width, by_lane && alike_in_pairs(held)) * times) break;
  }
  return best;
}

namespace {

/// What the lanes of a warp read of neighbours in memory, `width` each.
std::array<Point, kWarp> read_points(const std::vector<ResultDigit>& digits, std::int64_t width) {
  Layout order;
  for (const auto& digit : digits) order.add(LayoutAxis::memory, digit.extent, digit.of_rows ? 0 : 1, digit.step);
  std::array<Point, kWarp> points;
  for (std::size_t lane = 0; lane < points.size(); ++lane)
    points[lane] = order.at({.memory = static_cast<std::int64_t>(lane) * width % order.size(LayoutAxis::memory)});
  return points;
}

}  // namespace

RelaidTile relaid_tile(const WarpTile& tile, std::vector<ResultDigit> digits, DType type) {
  std::stable_sort(digits.begin(), digits.end(),
                   [](const ResultDigit& x, const ResultDigit& y) { return x.stride < y.stride; });
  RelaidTile best;
  best.by_rows = !digits.empty() && digits.front().of_rows;
  const auto& fast = best.by_rows ? tile.rows : tile.columns;
  const auto& slow = best.by_rows ? tile.columns : tile.rows;
  const int along = best.by_rows ? 0 : 1;
  const bool pairs = !tile.fma() && !tile.apart();  // of neighbouring columns, which a lane holds
  const std::int64_t size = size_of(type), held = std::int64_t{fast.run} * (!best.by_rows && pairs ? 2 : 1);
  for (std::int64_t wider = 2; wider <= held && held % wider == 0 && wider * size <= kWidest; wider *= 2)
    best.width = static_cast<int>(wider);
  std::int64_t read_width = 1;
  while (!digits.empty() && digits.front().stride == 1 && digits.front().step == 1 &&
         2 * read_width * size <= kWidest && digits.front().extent % (2 * read_width) == 0)
    read_width *= 2;
  const auto written = tile.c().lanes(), read = read_points(digits, read_width);
  const auto group = std::max<std::int64_t>(kBanks * kWord / size, 1);
  const auto log2 = [](std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); };
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  const auto try_paddings = [&](RelaidTile tried) {
    const auto widest = std::max<std::int64_t>(tried.width, read_width);
    const auto write_bytes = std::max(size * tried.width, kWord), read_bytes = std::max(size * read_width, kWord);
    // Wavefronts of as many elements each, and the least that there are of them.
    const auto writes = kWidest / tried.width, reads = kWidest / read_width;
    const auto least = writes * least_wavefronts(write_bytes) + reads * least_wavefronts(read_bytes);
    for (std::int64_t padding = 0; padding * size <= kBanks * kWord && fewest > least; ++padding) {
      tried.pitch = fast.padded + padding;
      if (tried.pitch % widest != 0) continue;
      Layout memory{.swizzle = tried.swizzle};
      memory.add(LayoutAxis::memory, fast.padded, along, 1, 1)
          .add(LayoutAxis::memory, slow.padded, 1 - along, 1, tried.pitch);
      auto count = writes * wavefronts(written, memory, size, write_bytes, fewest / writes + 1);
      if (count < fewest) count += reads * wavefronts(read, memory, size, read_bytes, (fewest - count) / reads + 1);
      if (count >= fewest) continue;
      fewest = count;
      best = tried;
    }
    return fewest <= least;
  };
  // What mixes no bits takes the fewest instructions, then what is written by whole vectors.
  auto tried = best;
  bool found = try_paddings(tried);
  for (const int width : {best.width, 1}) {
    tried.width = width;
    const auto unit = log2(std::max<std::int64_t>(width, read_width));
    for (int shift = log2(group); shift < log2(group) + 3 && !found; ++shift) {
      tried.swizzle = {shift, (group >> unit) - 1, unit};
      found = try_paddings(tried);
    }
  }
  best.elements = slow.padded * best.pitch;
  if (best.swizzle.mask != 0) best.elements = (best.elements + group - 1) / group * group;
  return best;
}

}  // namespace ricci::kernel
