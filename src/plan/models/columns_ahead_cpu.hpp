// Which operands of a contraction on a CPU are fetched from memory before they are read, or packed.
#pragma once

#include "plan/models/contraction_blocking.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan::gett {

/// Whether few rows multiply columns that come from memory, so that their coming is much of the time.
bool multiplies_out_of_memory(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Whether such columns are packed.
inline bool packs_from_memory(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  return blocking.pack_columns && multiplies_out_of_memory(blocking, problem, device);
}
/// Whether such columns are read in place by several tiles of rows, whatever their blocks.
inline bool may_read_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  return !blocking.pack_columns && !blocking.across() && parts_of(blocking.rows, tile_of) > 1 &&
         multiplies_out_of_memory(blocking, problem, device);
}
/// And in so few runs that these are fetched a round of sums, or a task, before they are multiplied.
bool reads_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device);

inline constexpr std::int64_t kSomeUses = 96;  ///< of each column: by more rows packing takes little of the time
/// Cycles that multiply-adds by each line of columns take in a register tile.
double line_cycles(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Whether columns that are packed out of memory may be fetched while the task before multiplies, whatever their
/// blocks: where units compute vectors by halves, multiply-adds take as long as the lines take to come.
bool may_pack_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// And in so few runs, of blocks so small, that they are.
bool packs_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Blocks that the second cache has room for then: what is packed, and the lines that the next one is made of.
inline constexpr std::int64_t kAheadBlocks = 4;
/// Whether packed columns are fetched for the next part of a sum while one is multiplied. Its price is that without.
bool packs_parts_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Whether rows that are read in place lie beyond the second cache, and those of the next register tile are fetched in
/// the rounds of one. Not timed where units compute whole vectors.
bool reads_rows_ahead(const Blocking& blocking, const Problem& problem, const CpuModel& device);

}  // namespace ricci::plan::gett
