#include "kernel/warp_tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::int64_t kWidest = 16;  ///< bytes of one access
constexpr std::int64_t kBanks = 32, kWord = 4;

std::int64_t product(const std::vector<Digit>& digits) {
  std::int64_t n = 1;
  for (const auto& digit : digits) n *= digit.extent;
  return n;
}

/// Different rows, or columns, of the elements of one lane.
std::vector<int> steps(const Fragment& fragment, bool columns) {
  std::vector<int> all;
  for (int e = 0; e < fragment.elements; ++e) {
    const auto place = fragment.at(0, e);
    all.push_back(columns ? place.column : place.row);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int lanes_along(const Fragment& fragment, bool columns) {
  const auto moves = [&](TilePlace step) { return (columns ? step.column : step.row) != 0; };
  return (moves(fragment.group) ? 8 : 1) * (moves(fragment.member) ? 4 : 1);
}

Side side(std::int64_t extent, int warps, const Fragment& fragment, bool columns, int run) {
  Side s;
  s.extent = extent;
  s.warps = warps;
  s.lanes = lanes_along(fragment, columns);
  s.per_atom = static_cast<int>(steps(fragment, columns).size());
  s.run = run;
  if (s.block() % s.run != 0 || s.block() % s.per_atom != 0)
    throw PlanError(fmt::format("schedule: runs of {} in an atom of {} elements a lane", run, s.per_atom));
  const auto whole = static_cast<std::int64_t>(s.warps) * s.lanes * s.block();
  s.padded = (extent + whole - 1) / whole * whole;
  return s;
}

/// Lanes of an access of so many bytes each that have a wavefront of their own at least: parts of 128 bytes.
std::int64_t lanes_of_part(std::int64_t bytes) { return std::clamp<std::int64_t>(kBanks * kWord / bytes, 1, kWarp); }
std::int64_t parts_of(std::int64_t bytes) { return (kWarp + lanes_of_part(bytes) - 1) / lanes_of_part(bytes); }

/// Wavefronts of an access of a warp to shared memory: of each part as many as the bank that the most different words
/// of it lie in. No more are counted once there are `enough`.
///   address  multiples of `bytes`, which are 4, 8 or 16: lanes have different words of all of their banks, or of none
std::int64_t wavefronts(const std::array<std::int64_t, kWarp>& address, std::int64_t bytes,
                        std::int64_t enough = std::numeric_limits<std::int64_t>::max()) {
  const auto shift = std::countr_zero(static_cast<std::uint64_t>(bytes));
  const auto lanes = static_cast<std::size_t>(lanes_of_part(bytes));
  const auto banks = static_cast<std::size_t>(kBanks * kWord >> shift);  // as many as lanes of a part
  std::int64_t all = 0;
  for (std::size_t start = 0; start < kWarp && all < enough; start += lanes) {
    std::array<std::array<std::int64_t, kWarp>, kBanks> places;  // different ones of each bank, of which
    std::array<std::uint8_t, kBanks> counts{};                   // there are so many
    std::uint8_t most = 0;
    for (auto lane = start; lane < start + lanes; ++lane) {
      const auto at = address[lane] >> shift;
      const auto bank = static_cast<std::size_t>(at) & (banks - 1);
      auto& here = places[bank];
      const auto count = counts[bank];
      std::uint8_t k = 0;
      while (k < count && here[k] != at) ++k;
      if (k < count) continue;
      here[count] = at;
      counts[bank] = static_cast<std::uint8_t>(count + 1);
      most = std::max(most, counts[bank]);
    }
    all += most;
  }
  return all;
}

constexpr Atom kFma = {"fma",
                       8,
                       4,
                       1,
                       50,
                       {AtomType::f32, 8, 1, 1, {1, 0}, {0, 0}, {}},
                       {AtomType::f32, 1, 4, 1, {0, 0}, {0, 1}, {}},
                       {AtomType::f32, 8, 4, 1, {1, 0}, {0, 1}, {}}};
constexpr Atom kFmaRow = {"fma_row",
                          1,
                          32,
                          1,
                          50,
                          {AtomType::f32, 1, 1, 1, {0, 0}, {0, 0}, {}},
                          {AtomType::f32, 1, 32, 1, {0, 4}, {0, 1}, {}},
                          {AtomType::f32, 1, 32, 1, {0, 4}, {0, 1}, {}}};
// The groups of a warp, or all of its lanes, are products side by side.
constexpr Atom kFmaBatch8 = {"fma_batch8",
                             1,
                             4,
                             1,
                             50,
                             {AtomType::f32, 1, 1, 1, {0, 0}, {0, 0}, {}},
                             {AtomType::f32, 1, 4, 1, {0, 0}, {0, 1}, {}},
                             {AtomType::f32, 1, 4, 1, {0, 0}, {0, 1}, {}}};
constexpr Fragment kElement = {AtomType::f32, 1, 1, 1, {0, 0}, {0, 0}, {}};
constexpr Atom kFmaBatch32 = {"fma_batch32", 1, 1, 1, 50, kElement, kElement, kElement};

}  // namespace

const Atom* find_fma(std::string_view name) noexcept {
  for (const auto* atom : {&kFma, &kFmaRow, &kFmaBatch8, &kFmaBatch32}) {
    if (name == atom->name) return atom;
  }
  return nullptr;
}

int batch_lanes(const Atom& atom) noexcept { return kWarp / (lanes_along(atom.c, false) * lanes_along(atom.c, true)); }

Affine Side::position(const Affine& warp, const Affine& outer, int within, const Affine& coordinate) const {
  const std::int64_t span = static_cast<std::int64_t>(lanes) * run;
  return (padded / warps) * warp + (span * (block() / run)) * outer + Affine(within / run * span) +
         static_cast<std::int64_t>(run) * coordinate + Affine(within % run);
}

Affine WarpTile::column_of(const Affine& member, const Affine& group, int e) const {
  if (fma()) return lane_place(atom->c, true, member, group);
  return apart ? member + Affine(std::int64_t{columns.lanes} / 2 * e) : 2 * member + Affine(e);
}

int WarpTile::register_of(const Fragment& fragment, int along, int across) {
  const auto rows = steps(fragment, false), columns = steps(fragment, true);
  for (int e = 0; e < fragment.elements; ++e) {
    const auto place = fragment.at(0, e);
    if (place.row == rows[static_cast<std::size_t>(along)] && place.column == columns[static_cast<std::size_t>(across)])
      return e;
  }
  return -1;
}

WarpTile warp_tile(const std::string& atom, const Spread& spread, const std::vector<Digit>& rows,
                   const std::vector<Digit>& columns, const std::vector<Digit>& depth, DType sums) {
  WarpTile tile;
  tile.atom = find_fma(atom);
  if (tile.atom == nullptr) tile.atom = find_atom(atom);
  if (tile.atom == nullptr) throw PlanError(fmt::format("schedule: there is no atom {}", atom));
  tile.rows = side(product(rows), spread.warp_rows, tile.atom->a, false, spread.run_rows);
  tile.columns = side(product(columns), spread.warp_columns, tile.atom->b, true, spread.run_columns);
  tile.depth = side(product(depth), 1, tile.atom->a, true, spread.run_depth);
  tile.apart = !tile.fma() && is_complex(sums);
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

int best_padding(const WarpTile& tile, bool first, bool by_depth, DType type, std::int64_t apart) {
  const auto& side = first ? tile.rows : tile.columns;
  const auto& fragment = first ? tile.atom->a : tile.atom->b;
  const std::int64_t size = size_of(type), row = (by_depth ? tile.depth.extent : side.extent) * apart;
  const std::int64_t unit = std::max<std::int64_t>(kWidest / size, 1);
  // Of each lane: its places along the side and along the depth, and its product.
  std::array<std::int64_t, kWarp> across{}, down{}, beside{};
  const auto products = batch_lanes(*tile.atom);
  for (int lane = 0; lane < kWarp; ++lane) {
    const auto k = static_cast<std::size_t>(lane);
    const auto coordinate = [&](bool columns) {
      const std::int64_t group = lane / 4;
      if (columns && !first && tile.apart) return group % 2 * 4 + group / 2;
      return lane_place<std::int64_t>(fragment, columns, lane % 4, group);
    };
    across[k] = side.run * coordinate(!first);
    down[k] = tile.depth.run * coordinate(first);
    beside[k] = products == kWarp ? lane : products > 1 ? lane / 4 : 0;
  }
  int best = 0, fewest = -1;
  for (auto padding = (unit - row % unit) % unit; padding * size < kBanks * kWord; padding += unit) {
    const auto along = by_depth ? row + padding : apart, deep = by_depth ? apart : row + padding;
    const auto reads = reads_of(tile, first, along, deep, type);
    std::array<std::int64_t, kWarp> address{};
    auto width = size * reads.width();
    auto times = kWidest / reads.width();
    if (reads.by != ReadBy::lane) {
      // Of one matrix, which the others are like.
      width = kWidest;
      times = 1;
      const auto step = reads.by == ReadBy::matrix ? along * side.run : deep;
      for (int lane = 0; lane < kWarp; ++lane) address[static_cast<std::size_t>(lane)] = size * step * (lane % 8);
    } else {
      for (std::size_t k = 0; k < address.size(); ++k)
        address[k] = size * (along * across[k] + deep * down[k] + beside[k]);
    }
    const auto count = wavefronts(address, width) * times;
    if (fewest >= 0 && count >= fewest) continue;
    fewest = static_cast<int>(count);
    best = static_cast<int>(padding);
    if (count == parts_of(width) * times) break;
  }
  return best;
}

namespace {

/// Rows and columns of a tile that the lanes of a warp have.
struct LanePlaces {
  std::array<std::int64_t, kWarp> row{}, column{};

  std::int64_t wavefronts_in(const RelaidTile& relaid, std::int64_t size, std::int64_t width,
                             std::int64_t enough) const {
    std::array<std::int64_t, kWarp> address{};
    for (std::size_t k = 0; k < address.size(); ++k) {
      const auto place = relaid.by_rows ? relaid.pitch * column[k] + row[k] : relaid.pitch * row[k] + column[k];
      address[k] = size * relaid.swizzle(place);
    }
    return wavefronts(address, std::max(size * width, kWord), enough);
  }
};

/// Neighbours in memory, `width` to a lane.
LanePlaces read_places(const std::vector<ResultDigit>& digits, std::int64_t width) {
  LanePlaces places;
  for (std::size_t lane = 0; lane < kWarp; ++lane) {
    auto rest = static_cast<std::int64_t>(lane) * width;
    for (const auto& digit : digits) {
      (digit.of_rows ? places.row : places.column)[lane] += digit.step * (rest % digit.extent);
      rest /= digit.extent;
    }
  }
  return places;
}

}  // namespace

RelaidTile relaid_tile(const WarpTile& tile, std::vector<ResultDigit> digits, DType type) {
  std::stable_sort(digits.begin(), digits.end(),
                   [](const ResultDigit& x, const ResultDigit& y) { return x.stride < y.stride; });
  RelaidTile best;
  best.by_rows = !digits.empty() && digits.front().of_rows;
  const auto& fast = best.by_rows ? tile.rows : tile.columns;
  const auto& slow = best.by_rows ? tile.columns : tile.rows;
  const bool pairs = !tile.fma() && !tile.apart;  // of neighbouring columns, which a lane holds
  const std::int64_t size = size_of(type), held = std::int64_t{fast.run} * (!best.by_rows && pairs ? 2 : 1);
  for (std::int64_t wider = 2; wider <= held && held % wider == 0 && wider * size <= kWidest; wider *= 2)
    best.width = static_cast<int>(wider);
  std::int64_t read_width = 1;
  while (!digits.empty() && digits.front().stride == 1 && digits.front().step == 1 &&
         2 * read_width * size <= kWidest && digits.front().extent % (2 * read_width) == 0)
    read_width *= 2;
  LanePlaces written;
  for (int lane = 0; lane < kWarp; ++lane) {
    const auto k = static_cast<std::size_t>(lane);
    written.row[k] = tile.rows.run * lane_place<std::int64_t>(tile.atom->c, false, lane % 4, lane / 4);
    written.column[k] = tile.columns.run * tile.column_of(Affine(lane % 4), Affine(lane / 4), 0).constant;
  }
  const auto read = read_places(digits, read_width);
  const auto group = std::max<std::int64_t>(kBanks * kWord / size, 1);
  const auto log2 = [](std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); };
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  const auto try_paddings = [&](RelaidTile tried) {
    const auto widest = std::max<std::int64_t>(tried.width, read_width);
    // Wavefronts of as many elements each, and the least that there are of them.
    const auto writes = kWidest / tried.width, reads = kWidest / read_width;
    const auto least =
        writes * parts_of(std::max(size * tried.width, kWord)) + reads * parts_of(std::max(size * read_width, kWord));
    for (std::int64_t padding = 0; padding * size <= kBanks * kWord && fewest > least; ++padding) {
      tried.pitch = fast.padded + padding;
      if (tried.pitch % widest != 0) continue;
      auto count = writes * written.wavefronts_in(tried, size, tried.width, fewest / writes + 1);
      if (count < fewest) count += reads * read.wavefronts_in(tried, size, read_width, (fewest - count) / reads + 1);
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
