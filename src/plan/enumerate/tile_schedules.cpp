#include "plan/enumerate/tile_schedules.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "plan/enumerate/layouts.hpp"
#include "plan/enumerate/tile_enumeration.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {
namespace {

using kernel::Moves;
using Tile = std::vector<std::int64_t>;

}  // namespace

TileSchedules::TileSchedules(const ir::Program& program, const Sides& sides) : program_(program), sides_(sides) {
  if (program.indices.empty()) return;
  if (sides.load >= 0) read_widest_ = widest(true);
  write_widest_ = widest(false);
}

int TileSchedules::widest(bool read) const {
  const auto& statement = program_.statement();
  const auto& load = program_.nodes[static_cast<std::size_t>(read ? sides_.load : 0)];
  for (auto vector = static_cast<int>(16 / (read ? sides_.read_bytes() : sides_.write_bytes())); vector > 1;
       vector /= 2) {
    if (read ? ir::vector_access(program_, load.source, load.offset, sides_.read_first(), vector)
             : ir::vector_access(program_, statement.buffer, statement.offset, sides_.write_first(), vector))
      return vector;
  }
  return 1;
}

TileForms TileSchedules::forms(const Tile& tile) const {
  TileForms forms;
  if (tile.empty()) return forms;
  // Where a vector fits, so does half of one.
  const auto along = [&](int first) { return tile[static_cast<std::size_t>(first)]; };
  forms.read_vector = static_cast<int>(std::gcd(read_widest_, along(sides_.read_first())));
  forms.write_vector = static_cast<int>(std::gcd(write_widest_, along(sides_.write_first())));
  forms.transposes = transposes(forms);
  forms.skews = skews(tile);
  // A warp's tile is small.
  std::int64_t points = 1;
  for (const auto n : tile) points *= n;
  forms.in_warp = points * sides_.read_bytes() <= 32 * 32 && points >= 16;
  return forms;
}

/// Whether rectangles of vectors of both sides fit into a thread's registers, for a register transpose.
bool TileSchedules::transposes(const TileForms& forms) const {
  constexpr std::int64_t kWidest = 16;
  const auto column = forms.write_vector * sides_.read_bytes();
  return forms.read_vector > 1 && forms.write_vector > 1 && sides_.read_first() != sides_.write_first() &&
         column <= kWidest && forms.read_vector * column <= kStagedBytesPerThread;
}

int TileSchedules::sector_elements() const { return static_cast<int>(kSectorBytes / sides_.write_bytes()); }

/// Whether rows of the output are not aligned to sectors and are cut by tiles.
bool TileSchedules::skews(const Tile& tile) const {
  const auto first = static_cast<std::size_t>(sides_.write_first());
  if (program_.nodes.size() > 1 || sector_elements() < 2 || sides_.read_first() == sides_.write_first()) return false;
  if (tile[first] == program_.indices[first].extent || tile[first] % sector_elements() != 0) return false;
  const auto& offset = program_.statement().offset;
  bool ragged = false;
  for (std::size_t q = 0; q < tile.size(); ++q)
    ragged = ragged || (q != first && offset.coefficient[q] % sector_elements() != 0);
  return ragged && offset.coefficient[first] == 1;
}

Moves TileSchedules::direct(const Tile& tile, int vector) const {
  Moves moves;
  moves.tile = tile;
  moves.order = sides_.write_order;
  moves.mapping = {sides_.digits(false, tile), vector, 1};
  return moves;
}

std::vector<Moves> TileSchedules::direct(const Tile& tile, std::int64_t points, bool always) const {
  std::vector<Moves> list;
  const auto add = [&](int vector, int threads) {
    auto& moves = list.emplace_back(direct(tile, vector));
    moves.threads = moves.mapping.workers = threads;
  };
  if (tile.empty()) {
    add(1, 32);
    return list;
  }
  const auto forms = this->forms(tile);
  const int vector = sides_.load < 0       ? forms.write_vector
                     : sides_.same_first() ? std::min(forms.read_vector, forms.write_vector)
                                           : 1;
  const auto positions = points / vector;
  std::set<int> counts{128, 256};
  for (const int threads : whole_digit_threads({{kernel::ThreadMapping{sides_.digits(false, tile), vector, 1}}}))
    counts.insert(threads);
  // One or two accesses per thread: stores start early, and few requests queue up in memory.
  for (const std::int64_t accesses : {1, 2}) {
    const auto threads = positions / accesses;
    if (positions % accesses == 0 && threads > kFewestThreads && threads <= 512 && fill_warps(threads))
      counts.insert(static_cast<int>(threads));
  }
  for (const int threads : counts) {
    if (positions >= threads || always) add(vector, threads);
  }
  return list;
}

Moves TileSchedules::carried(const Tile& tile, const TileForms& forms, TileTransfer how) const {
  switch (how) {
    case TileTransfer::straight:
      return straight(tile, forms);
    case TileTransfer::register_transpose:
      return transposed(tile, forms);
    case TileTransfer::skewed:
      return skewed(tile, forms);
    case TileTransfer::in_warp:
      return in_warp(tile, forms);
  }
  return {};
}

///   reached  extents that are read: the tile, and what a skew adds
Moves TileSchedules::waiting(const Tile& tile, const Tile& reached, int read_vector, int write_vector) const {
  auto moves = direct(tile, write_vector);
  auto& stage = moves.stage.emplace();
  stage.load = sides_.load;
  stage.mapping = {sides_.digits(true, reached), read_vector, 1};
  stage.layout = linear_layout(sides_, reached, true, 0);
  return moves;
}

Moves TileSchedules::straight(const Tile& tile, const TileForms& forms) const {
  return waiting(tile, tile, forms.read_vector, forms.write_vector);
}

/// The same tile read in rectangles that are transposed in registers, so that shared memory is accessed by vectors.
Moves TileSchedules::transposed(const Tile& tile, const TileForms& forms) const {
  auto moves = straight(tile, forms);
  auto& mapping = moves.stage->mapping;
  const int across = sides_.write_first(), rows = forms.write_vector;
  std::vector<kernel::MixedRadixDigit> digits{mapping.digits.front(), {across, rows, 1}};
  for (std::size_t k = 1; k < mapping.digits.size(); ++k) {
    auto digit = mapping.digits[k];
    if (digit.index == across) digit = {across, digit.count / rows, rows};
    if (digit.count > 1) digits.push_back(digit);
  }
  mapping.digits = std::move(digits);
  mapping.rows = rows;
  moves.stage->layout = linear_layout(sides_, tile, false, 0);
  return moves;
}

/// The same tile aligned to the output's sectors. Single elements are written: cutting vectors at the ends of rows
/// costs more than vectors save.
Moves TileSchedules::skewed(const Tile& tile, const TileForms& forms) const {
  const int first = sides_.write_first();
  const int elements = sector_elements();
  auto longer = tile;
  longer[static_cast<std::size_t>(first)] += elements - 1;
  auto moves = waiting(tile, longer, forms.read_vector, 1);
  moves.skew = {first, elements};
  return moves;
}

Moves TileSchedules::in_warp(const Tile& tile, const TileForms& forms) const {
  auto moves = straight(tile, forms);
  moves.threads = kWarpThreads;
  moves.mapping.workers = 32;
  moves.stage->mapping.workers = 32;
  moves.stage->memory = kernel::StageMemory::registers;
  moves.stage->layout = {};
  return moves;
}

}  // namespace ricci::plan
