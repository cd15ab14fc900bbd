// What a block of a contraction copies of its operands into shared memory, round by round of the sum.
#pragma once

#include <cstdint>

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

/// What a block copies of one operand in a round.
struct Copies {
  double elements = 0, at_once = 1;  ///< at_once: by one instruction
  double wavefronts = 0;             ///< of shared memory, of what is written along its rows
  double scattered = 0;              ///< elements that are written one by one, across its rows
  double lines = 0;                  ///< of 128 bytes that warps ask for
  double split = 0;  ///< pieces of more than a sector that are no whole ones, and whose vectors are copied along rows
  double bytes = 0;  ///< by whole sectors
  double run_bytes = 0;  ///< neighbours in memory that a round has
  /// Of pieces along the depth that memory has in common with those of a later round: bytes that are fetched with them,
  /// and after how many rounds.
  double fetched_bytes = 0, rounds_apart = 0;
  double held_lines = 0;    ///< lines of the first cache that hold what passes through it
  double converted = 0;     ///< elements that are converted on the way
  double instructions = 3;  ///< of a copy and its addresses
  /// Copies of a thread for each place along the side that it keeps in a register, where places are quotients; 0: none.
  double per_place = 0;
};

/// How a block's part of an operand lies in memory.
struct CopiedPlace {
  tiles::Lie lie;
  std::int64_t at_once = 1;  ///< elements that one instruction copies
  /// Whether it is the same of all tiles of the side, or with all chunks of the depth.
  bool of_all_sides = false, of_all_chunks = false;
};

/// What blocks copy of one operand.
class RoundCopies {
 public:
  /// The contraction is to outlive it.
  RoundCopies(const GpuContraction& contraction, bool of_rows);
  ///   side, chunk  tiles of the operand's own axes and of the depth
  CopiedPlace place(const tiles::Tile& side, const tiles::Tile& chunk) const;
  ///   place   of these
  ///   copies  not found yet
  void find(const tiles::Tile& side, const tiles::Tile& chunk, const CopiedPlace& place, Copies& copies) const;

 private:
  const tiles::Axes& axes() const;
  std::int64_t in_depth(const tiles::Axis& axis) const;
  tiles::LieOfTwo lie_of(const tiles::Tile& side, const tiles::Tile& chunk) const;
  /// Elements that one instruction copies: neighbours along the fastest axis, which rows in shared memory run along,
  /// too, at multiples of as many.
  std::int64_t at_once(const tiles::Tile& side, const tiles::Tile& chunk) const;
  /// Bytes by whose multiples runs of the operand begin, a power of two: at most a line.
  ///   run  elements of one
  std::int64_t alignment_of(const tiles::Tile& side, const tiles::Tile& chunk, std::int64_t run) const;

  const GpuContraction& contraction_;
  bool of_rows_;
  std::int64_t padding_, line_;  ///< elements: of a row of shared memory, and of a line
  tiles::MemoryOrder order_;
  std::size_t fastest_ = std::size_t(-1);  ///< of the side's or the depth's axes, that with the neighbours
  bool along_depth_;                       ///< whether there are neighbours along the depth
  std::int64_t most_at_once_;              ///< elements of it
};

/// What is copied once for so many tiles of a block: the part of each.
Copies in_share(const Copies& of, double tiles);
/// The same elements by whole vectors and sectors.
Copies by_whole_vectors(const GpuContraction& contraction, bool of_rows, const Copies& of);

/// Bytes that move for each byte of runs of so many.
double moved_for_runs(std::int64_t run_bytes);

}  // namespace ricci::plan
