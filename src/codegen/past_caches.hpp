// Runs that are written past the caches, and what is asked for from memory beside them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

constexpr std::int64_t kLineBytes = 64;

/// Leading digits of a walk that are one run of neighbours on both of two sides, and its length.
template <class First, class Second>
std::pair<std::size_t, std::int64_t> run_of(const ir::Walk& walk, First first, Second second) {
  std::int64_t length = 1;
  std::size_t k = 0;
  for (; k < walk.digits.size(); ++k) {
    const auto& digit = walk.digits[k];
    if (digit.step != 1 || first(digit.index) != length || second(digit.index) != length) break;
    length *= digit.count;
  }
  return {k, length};
}

/// Values of each digit of a walk from `first` on, fastest first, as sums of `stride` times them.
std::vector<std::int64_t> offsets(const std::vector<ir::Digit>& digits, std::size_t first, std::size_t last,
                                  const std::vector<std::int64_t>& stride);

/// The type of a table of these.
const char* table_type(const std::vector<std::int64_t>& values);

/// What a tile reads, asked for line by line beside the lines that one before it writes: neither of the two keeps
/// memory busy by itself, and a tile whose rows are there is read without waiting.
struct Ahead {
  std::vector<std::int64_t> row;  // where each begins, from the tile's first element; empty: nothing is asked for
  std::int64_t length = 1;        // of a row, in elements
  std::int64_t with_run = 0;      // lines asked for with each run that a tile writes

  bool on() const { return !row.empty(); }
};

/// Nothing is asked for where a schedule does not write past the caches, or a tile has very many rows.
Ahead ahead_of(const ir::Program& program, const ir::Schedule& schedule);

/// The type that asks, and the function that writes one run.
void emit_ahead(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, const Ahead& ahead);
void emit_write_run(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, const Ahead& ahead);

}  // namespace ricci::codegen
