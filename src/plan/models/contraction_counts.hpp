// What a contraction by tiles does on a GPU, counted: what its prediction is made of.
#pragma once

#include <array>

namespace ricci::plan {

/// Bytes of an operand that come from memory beside those that a round copies, as they are parts of the same sectors.
struct Fetched {
  double bytes = 0;    ///< of the launch
  double between = 0;  ///< that a block copies until it copies them, too
};

/// What a block copies of its operands in a round.
struct CopyCounts {
  double copied_wavefronts = 0;  ///< of shared memory, written
  double scattered = 0;          ///< elements that are copied one by one, across rows of shared memory
  double lines = 0;              ///< of 128 bytes that warps ask for, to copy them
  double split = 0;              ///< pieces of parts of sectors, which vectors copy from memory to shared memory

  /// Lines that are asked for, split ones as what they take.
  double requested_lines() const;
  /// Cycles of shared memory and its queue.
  ///   overlapped  as counts are
  double copied_cycles(bool overlapped) const;
};

/// Counts of a launch whose blocks each make one tile of the result, round by round of the sum.
struct ContractionCounts : CopyCounts {
  double blocks = 1, rounds = 1;
  double terms = 1;     ///< of a sum
  double resident = 1;  ///< blocks that a multiprocessor has room for
  int warps = 1, stages = 2;
  int cluster = 1;  ///< blocks that have a part of each sum, and a share of each tile of results
  /// Tiles whose sums are shared so, the last ones; 0: all. Where others are of one block each, `blocks` are tiles, and
  /// rounds, waves of results and stores those of one that is of one block.
  double last = 0;
  /// Tiles that a block makes one after the other, of a round each: the next one's operands are copied while one is
  /// multiplied and written.
  double turns = 1;
  bool overlapped = false;     ///< products of a round go on into the next one
  bool multiply_adds = false;  ///< on tensor cores where it is not so
  bool by_three = false;       ///< complex products are three real ones
  bool in_pairs = false;       ///< fragments are vectors that lanes read alike in pairs
  bool prefetched = false;     ///< the first fragments of a round are there when it begins

  // Of one block in one round.
  double pipe_cycles = 0;          ///< of a multiprocessor's tensor cores, or of its units for multiply-adds
  double instructions = 0;         ///< of warps, products among them
  double fragment_wavefronts = 0;  ///< of shared memory, read
  double held_lines = 0;  ///< of the lines that are asked for, what the first cache holds until they are copied
  double loads = 0;       ///< of a thread that passes their elements on, as no asynchronous copy can
  double waits = 0;       ///< until those are there: for as many at a time as registers hold

  double stores = 0;               ///< instructions of warps that finish and write a block's result
  double store_lines = 0;          ///< of 128 bytes that these ask for, one after the other
  double stored_wavefronts = 0;    ///< of shared memory that results pass through
  double part_sectors = 0;         ///< of 32 bytes, of which an instruction writes a part
  double shared_bytes = 0;         ///< of a block
  double cached_bytes = 0;         ///< of the launch, through the second cache
  double copied_bytes = 0;         ///< of these, of operands
  double reread_bytes = 0;         ///< of these, of a small operand, which stays in the second cache
  double operand_bytes = 0;        ///< of the operands, each element once
  double memory_bytes = 0;         ///< of the launch, by whole sectors
  std::array<Fetched, 2> fetched;  ///< of each operand, which the second cache may lose
  double result_bytes = 0;         ///< of these, of the result
  double result_run_bytes = 0;     ///< neighbours of it that a block makes
  double cut_sectors = 0;          ///< of an outer product: of 32 bytes, in which such runs begin or end
  bool streams = false;            ///< results leave by nontemporal stores, past operands that stay in that cache

  /// Cycles of a multiprocessor that a block's round takes: of shared memory and its queue, and to issue it.
  double shared_cycles() const;
  double copied_cycles() const { return CopyCounts::copied_cycles(overlapped); }  ///< of these, those of copies
  double issue_cycles() const { return instructions / 4; }
  /// Whether each sum is shared by the blocks of a cluster.
  bool shared() const { return cluster > 1 && last == 0; }
  /// Of its results, to write them.
  double store_cycles() const;
};

}  // namespace ricci::plan
