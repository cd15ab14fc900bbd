// Contiguous runs written by nontemporal stores, and the prefetches that go with them.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/writer.hpp"
#include "kernel/kernel.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::codegen {

using kernel::kLineBytes;

/// The offsets of all points of digits first .. last-1, fastest digit first: sums of value * stride.
std::vector<std::int64_t> offsets(const std::vector<kernel::MixedRadixDigit>& digits, std::size_t first,
                                  std::size_t last, const std::vector<std::int64_t>& stride);

/// The integer type of a table that holds these values.
const char* table_type(const std::vector<std::int64_t>& values);

/// The prefetch of the input of later tiles, line by line between the stores of the current ones, so that reads and
/// writes of memory overlap.
struct Prefetch {
  std::vector<std::int64_t> row;  // offset of each row from the first tile's origin; empty: no prefetch
  std::int64_t length = 1;        // elements of a row
  std::int64_t lines = 0;         // cache lines of all rows, at most
  std::int64_t tiles = 1;         // consecutive tiles that are prefetched at once
  std::int64_t in_row = 1;        // tiles in a row of tiles; prefetched groups do not cross its end
  bool prefetches_ends = false;   // also of output lines that a run stores in part and does not carry

  bool on() const { return !row.empty(); }
};

/// No prefetch where a schedule has no nontemporal stores, or a tile has more rows than a table should hold.
Prefetch prefetch_of(const ir::Program& program, const kernel::Moves& moves);

/// Emits the type that issues the prefetches.
void emit_prefetch(Writer& writer, const ir::Program& program, const kernel::Moves& moves, const Prefetch& prefetch);

/// Emits the function that prefetches the output lines a run shares with others.
void emit_prefetch_ends(Writer& writer, const ir::Program& program);

/// Emits the function that writes one run and issues at least `with_run` prefetches meanwhile. With a line carry it
/// also takes the carried line, whether that holds the elements before the run, and whether a later tile continues the
/// run.
void emit_write_run(Writer& writer, const ir::Program& program, const kernel::Moves& moves, std::int64_t with_run);

}  // namespace ricci::codegen
