// How a CPU keeps a tile in an array between reading and writing it: blocks that are transposed on the way in, lines
// that wait for the next tile, and the memory of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/permute/moves.hpp"

namespace ricci::kernel {

/// The block that a CPU kernel transposes in registers while it fills an array: `rows` rows of `columns` elements are
/// read, `row_packing` rows to a vector, and written column by column in pieces of `piece` elements (a power of two),
/// of which the first `rows` are used.
struct TransposeBlock {
  std::int64_t along = 1, across = 1;  ///< extents of the tile along the block's columns and rows
  int columns = 1, rows = 1, piece = 1;
  int row_packing = 1;
  int transposed_vectors() const noexcept { return piece / row_packing; }        ///< vectors after the transpose
  int vectors() const noexcept { return std::min(rows, transposed_vectors()); }  ///< vectors before the transpose
};
TransposeBlock transpose_block(const Moves& moves);

/// The index along which the next tile continues the output's contiguous runs of this tile, and the distances that
/// follow from it; see Stage::line_carry.
struct LineCarry {
  int index = -1;          ///< -1: none
  std::int64_t runs = 1;   ///< contiguous runs of a tile
  std::int64_t apart = 1;  ///< difference of tile numbers from a tile to its successor along `index`
  std::int64_t tiles =
      1;  ///< number of tiles in such a chain; a last tile that overlaps its predecessor starts a new one
};
LineCarry line_carry_of(const ir::Program& program, const Moves& moves);

/// The arrays of a staged load on a CPU, in elements. They lie one after the other in the worker's scratch memory, the
/// carried lines behind them, each at a cache line.
struct StageArrays {
  std::int64_t arrays = 0;    ///< two where one is filled while the other is written; 0: the load is not staged so
  std::int64_t before = 0;    ///< of each array: what completing a carried line reads in front of the tile
  std::int64_t elements = 0;  ///< of each array, with what is read in front of the tile and behind it
  std::int64_t carried = 0;
  std::int64_t bytes = 0;  ///< of all of them
};
StageArrays stage_arrays(const ir::Program& program, const Moves& moves);

/// The offsets of all points of digits first .. last-1, fastest digit first: sums of value * stride.
std::vector<std::int64_t> offsets(const std::vector<MixedRadixDigit>& digits, std::size_t first, std::size_t last,
                                  std::span<const std::int64_t> stride);

/// The prefetch of the input of later tiles, line by line between the stores of the current ones, so that reads and
/// writes of memory overlap.
struct InputAhead {
  std::vector<std::int64_t> row;  // offset of each row from the first tile's origin; empty: no prefetch
  std::int64_t length = 1;        // elements of a row
  std::int64_t lines = 0;         // cache lines of all rows, at most
  std::int64_t tiles = 1;         // consecutive tiles that are prefetched at once
  std::int64_t in_row = 1;        // tiles in a row of tiles; prefetched groups do not cross its end
  std::int64_t early = 0;         // how many tiles before the next group's turn its lines are prefetched
  bool prefetches_ends = false;   // also of output lines that a run stores in part and does not carry

  bool on() const { return !row.empty(); }
};

/// No prefetch where a schedule has no nontemporal stores, or a tile has more rows than a table should hold.
InputAhead input_ahead(const ir::Program& program, const Moves& moves);

}  // namespace ricci::kernel
