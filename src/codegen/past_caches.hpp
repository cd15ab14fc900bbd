// Runs that are written past the caches, and what is asked for from memory beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

using ir::kLineBytes;

/// Values of each digit of a walk from `first` on, fastest first, as sums of `stride` times them.
std::vector<std::int64_t> offsets(const std::vector<ir::Digit>& digits, std::size_t first, std::size_t last,
                                  const std::vector<std::int64_t>& stride);

/// The type of a table of these.
const char* table_type(const std::vector<std::int64_t>& values);

/// What tiles read, asked for line by line beside the lines that those before them write: neither of the two keeps
/// memory busy by itself, and a tile whose rows are there is read without waiting.
struct Ahead {
  std::vector<std::int64_t> row;  // where each begins, from the first tile's first element; empty: nothing is asked for
  std::int64_t length = 1;        // of a row, in elements
  std::int64_t lines = 0;         // that all rows may lie in
  std::int64_t tiles = 1;         // that they are of, neighbours in the numbering
  std::int64_t in_row = 1;        // tiles of which the last ones have no neighbour
  bool asks_ends = false;         // for lines that runs of the output write in part: begun in one, and not continued

  bool on() const { return !row.empty(); }
};

/// Nothing is asked for where a schedule does not write past the caches, or a tile has very many rows.
Ahead ahead_of(const ir::Program& program, const ir::Schedule& schedule);

/// The type that asks.
void emit_ahead(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, const Ahead& ahead);

/// The function that asks for the lines that a run shares with others.
void emit_ask_ends(Writer& writer, const ir::Program& program);

/// The function that writes one run, and asks for no fewer than `with_run` lines beside it. Where runs are continued it
/// also takes the line that waits, whether it holds what comes before the run, and whether what follows is still to
/// come.
void emit_write_run(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, std::int64_t with_run);

}  // namespace ricci::codegen
