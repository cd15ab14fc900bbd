// What the directives of a program that only moves elements say, as numbers: the family's own view of a schedule. Its
// enumerators fill one and turn it into directives where a candidate is made; its cost models count with it; its
// builders get it back from the directives. Nothing else knows it: a schedule is its directives (kernel/schedule.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.hpp"
#include "kernel/directives.hpp"

namespace ricci::kernel {

/// One digit of a mixed-radix number: a part of an index inside a tile, `count` values that are `step` apart.
struct MixedRadixDigit {
  int index = 0;
  std::int64_t count = 1;
  std::int64_t step = 1;
  bool operator==(const MixedRadixDigit&) const = default;
};

/// The mapping of a tile's points to threads: a point's number in mixed radix, fastest digit first. `vector`
/// neighbouring values of the first digit are one access, called a position. CUDA: positions go round-robin over
/// `workers` threads. C++: the digits are loops, the last digit outermost.
struct ThreadMapping {
  std::vector<MixedRadixDigit> digits;
  int vector = 1;
  int workers = 1;
  /// CUDA, of a stage: a position is a rectangle of `vector` values of the first digit and all the `rows` values of the
  /// second, which the thread transposes in its registers before it stores them to shared memory.
  int rows = 1;

  std::int64_t count(std::size_t k) const noexcept;  ///< number of positions along digit k
  std::int64_t step(std::size_t k) const noexcept;   ///< index distance from one of them to the next
  std::int64_t positions() const noexcept;           ///< of a tile
  std::int64_t rounds() const noexcept;              ///< positions of one worker, rounded up
};

/// The number of leading digits that are contiguous on two sides (input and output, say), and the length of that
/// contiguous run in elements. `first` and `second` return the stride of an index on either side.
template <class First, class Second>
std::pair<std::size_t, std::int64_t> run_of(const ThreadMapping& mapping, First first, Second second) {
  std::int64_t length = 1;
  std::size_t k = 0;
  for (; k < mapping.digits.size(); ++k) {
    const auto& digit = mapping.digits[k];
    if (digit.step != 1 || first(digit.index) != length || second(digit.index) != length) break;
    length *= digit.count;
  }
  return {k, length};
}

/// The memory that holds a staged load between reading it in its own order and using it in the statement's order.
enum class StageMemory : std::uint8_t {
  shared,     ///< shared memory of the block, one barrier
  registers,  ///< GPU: of the threads that read it, passed to those that write it; CPU: of vectors, transposed in place
};

/// Element address of a tile point in shared memory: sum of stride[q] * inner[q], then the swizzle
/// address ^= (address >> shift & mask) << unit. Mask 0: no swizzle.
struct SharedLayout {
  std::vector<std::int64_t> stride;  ///< per index of the program
  int shift = 0, unit = 0;
  std::int64_t mask = 0;
  std::int64_t elements = 0;  ///< of the array
};

/// A load that is read before the statement, in an order of its own.
struct Stage {
  ir::NodeId load = -1;
  StageMemory memory = StageMemory::shared;
  ThreadMapping mapping;
  SharedLayout layout;
  /// CPU, shared: extent of the transposed blocks, in digits. The first `along` digits of this mapping are contiguous
  /// in the input, the first `across` digits of the statement's mapping are contiguous in the array.
  int along = 1, across = 1;
  /// CPU, shared: row packing. A vector holds 16 bytes of each of this many rows of a block (a power of two), so that
  /// the transpose writes whole vectors of each column.
  int row_packing = 1;
  /// CPU, with nontemporal stores: prefetch distance in tiles. While this many tiles are written, the rows that the
  /// next ones read are prefetched, one cache line for each line written. 0: no prefetch.
  std::int64_t prefetch_distance = 0;
  /// CPU, shared, with nontemporal stores: line carry. The index along which the next tile continues each contiguous
  /// run of the output; the cache line that a run ends in is kept until then and stored whole. -1: no carry, lines at
  /// the ends of runs are stored in part.
  int line_carry = -1;
};

/// How a tile's number is turned into its first index point.
enum class Origin : std::uint8_t {
  literals,  ///< divisions by literal extents
  shuffle,   ///< one axis per lane, summed by a butterfly of shuffles (cuTT, algorithm 1)
};

/// Tiles aligned to memory sectors of the output, for rows whose length is not a multiple of a sector. Row by row, tile
/// number j holds the values j * tile - phase .. (j + 1) * tile - phase - 1 of `index` (those inside the extent), where
/// phase is the row's first offset modulo `elements`. The staged load starts elements - 1 earlier and reads these
/// twice.
struct Skew {
  int index = -1;    ///< the output's fastest index; -1: tiles are rectangular
  int elements = 1;  ///< a power of two that divides the tile
  bool on() const noexcept { return index >= 0; }
};

struct Moves {
  std::vector<std::int64_t> tile;  ///< per index of the program: 1 .. extent
  std::vector<int> order;          ///< indices by which tiles are numbered, fastest first
  ThreadMapping mapping;           ///< of the statement, which is the order of writing
  std::optional<Stage> stage;
  int threads = 256;       ///< of a block (CUDA)
  bool streaming = false;  ///< CPU: whole vectors of the output are written by nontemporal stores
  Origin origin = Origin::literals;
  Skew skew;

  std::int64_t tiles_along(const ir::Program& program, int q) const noexcept;
  std::int64_t tiles(const ir::Program& program) const noexcept;
  std::int64_t tile_points() const noexcept;
  int tiles_per_block() const noexcept;  ///< more than 1 only where warps own tiles
  std::int64_t blocks(const ir::Program& program) const noexcept;
  std::int64_t shared_bytes(const ir::Program& program) const;
};

/// Throws PlanError with the first rule that they break for this program, and the directive that says so: digits that
/// do not cover the tile, vectors across a ragged edge, a swizzle that is not a bijection, ...
void verify(const Moves& moves, const ir::Program& program);

/// Whether the elements of a mapping's vectors lie side by side in shared memory: by the strides of a tile there, by
/// the swizzle upon them, and by both.
bool strides_keep_vectors(const std::vector<std::int64_t>& tile, const SharedLayout& layout,
                          const ThreadMapping& mapping) noexcept;
bool swizzle_keeps_vectors(const SharedLayout& layout, const ThreadMapping& mapping) noexcept;
bool keeps_vectors(const Moves& moves, const ThreadMapping& mapping) noexcept;

/// The mapping by which a stage is stored to shared memory. Without rectangles it is the reading mapping. With them
/// each position is `vector` accesses of `rows` values along the statement's first index.
ThreadMapping register_transposed(const ThreadMapping& mapping);

/// What a person reads of it: "reads of 16 B, writes of 16 B, 8192 B shared, 12 tiles".
std::string summary(const Moves& moves, const ir::Program& program);

/// The directives that say it.
Directives directives_of(const Moves& moves, const ir::Program& program);

/// What directives say. Throws PlanError naming the directive that is not understood: an index that is not there,
/// digits that are none, ... Rules between directives are those of verify(). Added ones at the end are left out.
///   count  of the directives that are applied, the first ones. Until a `stage` or `write` the points of a tile are
///          written one by one, and without an order tiles follow each other as indices do. From there on it is known
///          who writes what (`write`, `layout`, `skew`, `nontemporal`, `threads`), and what is to be staged later is
///          read where it is needed
Moves moves_of(const ir::Program& program, Directives directives, std::size_t count = kAll);

}  // namespace ricci::kernel
