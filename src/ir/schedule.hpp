// A schedule: how a program is spread over blocks, threads, vectors and loops. Data beside the program; the emitters
// turn any schedule of any program into source and know no kernel family by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

inline constexpr std::int64_t kLineBytes = 64;  ///< of a CPU's caches

/// A part of an index inside a tile: takes `count` values, `step` apart.
struct Digit {
  int index = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;
  bool operator==(const Digit&) const = default;
};

/// The order in which a tile's points are visited: a mixed-radix number, fastest digit first. `vector` neighbouring
/// values of the first digit are one access; the resulting positions go round-robin over `workers` threads (CUDA), or
/// are loops, the last digit outermost (C++).
struct Walk {
  std::vector<Digit> digits;
  int vector = 1;
  int workers = 1;
  /// CUDA, of a stage: a position is a rectangle of `vector` values of the first digit and all the `rows` values of the
  /// second, which are turned in the worker's registers on their way to shared memory.
  int rows = 1;

  std::int64_t count(std::size_t k) const noexcept;  ///< values of digit k that positions tell apart
  std::int64_t step(std::size_t k) const noexcept;   ///< from one of them to the next
  std::int64_t positions() const noexcept;           ///< of a tile
  std::int64_t rounds() const noexcept;              ///< positions of one worker, rounded up
};

/// Leading digits of a walk that are one run of neighbours on both of two sides, and its length. Either side says the
/// stride of an index.
template <class First, class Second>
std::pair<std::size_t, std::int64_t> run_of(const Walk& walk, First first, Second second) {
  std::int64_t length = 1;
  std::size_t k = 0;
  for (; k < walk.digits.size(); ++k) {
    const auto& digit = walk.digits[k];
    if (digit.step != 1 || first(digit.index) != length || second(digit.index) != length) break;
    length *= digit.count;
  }
  return {k, length};
}

/// Where a staged load waits between being read in its own order and being used in the statement's.
enum class Place : std::uint8_t {
  shared,     ///< shared memory of the block, one barrier
  warp,       ///< registers of a warp, exchanged by shuffles: one tile per warp
  registers,  ///< CPU vector registers, transposed in place
};

/// Element address of a tile point in shared memory: sum stride[q] * inner[q], then address ^= (address >> shift &
/// mask)
/// << unit; mask 0 is no swizzle.
struct SharedLayout {
  std::vector<std::int64_t> stride;  ///< per index of the program
  int shift = 0, unit = 0;
  std::int64_t mask = 0;
  std::int64_t elements = 0;  ///< of the array
};

/// One load read ahead of the statement, in an order of its own.
struct Stage {
  NodeId load = -1;
  Place place = Place::shared;
  Walk walk;
  SharedLayout layout;
  /// CPU, in an array: so many leading digits of this walk are neighbours in the input, and so many of the statement's
  /// are neighbours in the array; blocks transposed in registers lie along the ones and across the others.
  int along = 1, across = 1;
  /// CPU, in an array: so many rows of a block (a power of two) lie side by side in a vector, 16 bytes of each, so that
  /// what it leaves of a column is a whole vector and not a part of one.
  int folded = 1;
  /// CPU, past the caches: what so many tiles read together, neighbours along the first index by which tiles are
  /// numbered, is asked for row by row beside the lines that as many before them write. 0: nothing is asked for.
  std::int64_t ahead = 0;
  /// CPU, in an array, past the caches: the index along which the next tile continues each run of the output. The line
  /// that a run ends in waits for it, to be written whole. -1: each tile writes what it has of such a line.
  int continued = -1;
};

/// How the first index point of a tile is found from its number.
enum class Origin : std::uint8_t {
  literals,  ///< divisions by literal extents
  shuffle,   ///< one axis per lane, summed by a butterfly of shuffles (cuTT, algorithm 1)
};

/// Rows of the output whose length is no multiple of a sector begin anywhere in one. A skewed tile begins, row by row,
/// where the output's address is a multiple of `elements`: tile number j holds the values j * tile - phase .. (j + 1) *
/// tile - phase
/// - 1 of `index` (those inside the extent), phase being the row's first offset modulo `elements`. The staged load then
/// reaches elements - 1 further back, and reads that little twice.
struct Skew {
  int index = -1;    ///< the output's fastest index; -1: tiles are rectangular
  int elements = 1;  ///< a power of two that divides the tile
  bool on() const noexcept { return index >= 0; }
};

struct Schedule {
  std::string name;                ///< unique among a problem's candidates; for people, never read by an emitter
  std::vector<std::int64_t> tile;  ///< per index of the program: 1 .. extent
  std::vector<int> order;          ///< indices by which tiles are numbered, fastest first
  Walk walk;                       ///< the statement's visit of a tile
  std::optional<Stage> stage;
  int threads = 256;  ///< of a block (CUDA)
  /// Values of each index that one worker computes together, in registers, sharing what they read: 1 or more for the
  /// free indices, 1 for those that are run over. Empty for programs that only move or combine single elements, which
  /// take whole vectors instead. With it, a position of the walk is a worker, tile = positions * each along a free
  /// index and 1 along the others.
  std::vector<std::int64_t> each;
  int lane = -1, lanes = 1;  ///< CPU, with each: neighbours along index `lane` that are one vector value
  /// CPU, with lanes: that many points at a time, since many tensors at once are more pages than a core keeps track of.
  /// Without parts they are read into a buffer, access by access, computed, and written from a buffer; with parts,
  /// which hold every statement once, each part reads and writes in place, all points of the strip before the next
  /// part.
  std::int64_t strip = 0;
  std::vector<std::vector<int>> parts;
  bool streaming = false;  ///< CPU, with lanes, or vectors of elements: whole ones of the output go past the caches
  /// CUDA, with each: neighbouring threads that share the work of one point: its outermost reductions, its scans and
  /// compactions.
  int team = 1;
  int items = 1;                      ///< CUDA, with a team: values of a scanned index that one thread takes at a time
  int blocks_per_multiprocessor = 0;  ///< asked of the compiler; 0: its choice
  Origin origin = Origin::literals;
  Skew skew;

  /// Of a single point too: it has no index to take values of.
  bool computes() const noexcept { return !each.empty() || tile.empty(); }
  std::int64_t tiles_along(const Program& program, int q) const noexcept;
  std::int64_t tiles(const Program& program) const noexcept;
  std::int64_t tile_points() const noexcept;
  int tiles_per_block() const noexcept;  ///< more than 1 only where warps own tiles
  std::int64_t blocks(const Program& program) const noexcept;
  std::int64_t shared_bytes(const Program& program) const noexcept;
};

/// A block on its way into an array: `columns` elements of each of `rows` rows that lie across are read, `folded` rows
/// to a vector, and each of those elements is kept with those of the other rows beside it, in pieces of `piece` places
/// (a power of two) of which `rows` count.
struct Block {
  std::int64_t along = 1, across = 1;  ///< values of the tile on either side
  int columns = 1, rows = 1, piece = 1;
  int folded = 1;
  int turned() const noexcept { return piece / folded; }             ///< vectors that a transpose leaves
  int vectors() const noexcept { return std::min(rows, turned()); }  ///< those that hold something before
};
Block block_of(const Schedule& schedule);

/// Runs of neighbours in the output, of tiles that wait in an array, where the next tile along one index continues
/// them.
struct Continued {
  int index = -1;          ///< -1: none does
  std::int64_t runs = 1;   ///< of a tile
  std::int64_t apart = 1;  ///< in the numbering, from a tile to the one that continues its runs
  std::int64_t tiles = 1;  ///< one behind the other: a last one that is moved back to be whole begins anew
};
Continued continued_runs(const Program& program, const Schedule& schedule);

/// The text form, one line an item: part of the kernel's key.
std::string print(const Schedule& schedule, const Program& program);

/// What print wrote for this program, but for the name, which is not in it; nothing for any other text. Not verified.
std::optional<Schedule> parse_schedule(std::string_view text, const Program& program);

/// Throws InternalError, naming the first rule that the schedule breaks for this program: digits that do not cover the
/// tile, vectors across a ragged edge, a swizzle that is no bijection, ...
void verify(const Schedule& schedule, const Program& program);

/// Whether the elements of a walk's vectors lie side by side in shared memory: by the strides of a tile there, by the
/// swizzle upon them, and by both.
bool strides_keep_vectors(const std::vector<std::int64_t>& tile, const SharedLayout& layout, const Walk& walk) noexcept;
bool swizzle_keeps_vectors(const SharedLayout& layout, const Walk& walk) noexcept;
bool keeps_vectors(const Schedule& schedule, const Walk& walk) noexcept;

/// How a stage is written into shared memory: as it was read, or its rectangles by `rows` values along the statement's
/// first index in one access, `vector` accesses a position.
Walk turned(const Walk& walk);

/// Whether every value may be a vector of neighbours: one real type, and operations that vectors have, or integers that
/// are only moved.
bool has_lanes(const Program& program);

/// Whether `vector` neighbours along `index` can be one aligned access of a buffer through this affine.
bool vector_access(const Program& program, int buffer, const Affine& affine, int index, int vector) noexcept;

}  // namespace ricci::ir
