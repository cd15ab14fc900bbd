// What a contraction that is cut one way does on a GPU, as counts for its prediction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/result_stores.hpp"
#include "plan/enumerate/round_copies.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/contraction_counts.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

inline constexpr int kMostRegisters = 232;  ///< by the estimate, which leaves out what places of results take

/// What warps do for each position of the depth; of warp groups the products alone.
struct RoundRates {
  double pipe_cycles = 0, instructions = 0, fragment_wavefronts = 0;
};

/// What any of some chunks of the depth has at least.
struct LeastChunk {
  std::int64_t rounds = 0;     ///< of the sum
  std::int64_t positions = 0;  ///< of all of its chunks
  std::int64_t held = 0;       ///< positions in shared memory at once
};

/// What one operand's tile is copied at least: for a round, or for a whole sum, whatever chunks that comes in.
struct CopiedSum {
  double cycles = 0;        ///< of shared memory
  double instructions = 0;  ///< of warps
  double bytes = 0, lines = 0, held_lines = 0;

  /// Takes what is less of so many rounds.
  void lower(const CopiedSum& round, double count) {
    cycles = std::min(cycles, count * round.cycles);
    instructions = std::min(instructions, count * round.instructions);
    bytes = std::min(bytes, count * round.bytes);
    lines = std::min(lines, count * round.lines);
    held_lines = std::min(held_lines, count * round.held_lines);
  }
};

class CutCounts {
 public:
  static constexpr double kOfRound = 24;  ///< instructions of a warp in a round, besides copies and products

  /// `contraction` and `device` are to outlive it.
  CutCounts(const ir::Program& program, const GpuContraction& contraction, const GpuModel& device);
  /// Of a launch: tiles, where each is of one block.
  double blocks(const tiles::Tile& rows, const tiles::Tile& columns) const;

  /// Bytes of the result that are written, and read where it is.
  double result_bytes() const { return result_bytes_; }
  /// Instructions of a thread that copy one operand's part of a round.
  static double copies_of(const Copies& of, int warps);

  /// A lower bound of a launch's seconds, by what blocks multiply and pass through the second cache alone.
  ///   shared  whether blocks may share sums
  double least_seconds(const tiles::Tile& rows, const tiles::Tile& columns, const LeastChunk& chunk, bool shared) const;
  /// What depends on the tile of the result alone.
  ContractionCounts of_result(const tiles::Tile& rows, const tiles::Tile& columns, const ResultPlace& place) const;
  /// The same of results at kBestPlace.
  void set_best_result(ContractionCounts& counts, const tiles::Tile& rows, const tiles::Tile& columns) const {
    counts = best_result_;
    counts.blocks = blocks(rows, columns);
  }
  /// All of a cut.
  ContractionCounts of(const Cut& cut, const ResultPlace& place, const Copies& a, const Copies& b) const;
  /// What is copied, chunk by chunk of the depth.
  void set_copies(ContractionCounts& counts, const Copies& a, const Copies& b, const tiles::Tile& depth,
                  const DepthShare& share) const;
  /// By warps that hold so many rows and columns.
  RoundRates rates(const kernel::Spread& spread, std::int64_t rows, std::int64_t columns) const;
  /// Instructions of a round's copies by so many warps, and of what else a round takes.
  static double moving(const Copies& a, const Copies& b, int warps);
  /// Those of copies by any number of warps at least.
  static double least_moving(const Copies& a, const Copies& b);
  /// What a block does in a round and for its results, by warps of these rates that hold so many rows and columns.
  void set_round(ContractionCounts& counts, const Cut& cut, const RoundRates& rates, const ResultPlace& place,
                 const Copies& a, const Copies& b, std::int64_t rows, std::int64_t columns) const;
  void set_round(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a,
                 const Copies& b) const;
  /// What a block does for its results at least, however warps share it: but for warp groups, which there are of one
  /// number.
  ///   cluster  blocks that share each sum
  ContractionCounts with_stores(ContractionCounts counts, const tiles::Tile& rows, const tiles::Tile& columns,
                                const ResultPlace& place, int cluster) const;
  /// What warps do at least, however many share a tile of these rows and columns: those that keep all parts of a
  /// multiprocessor busy, and fewer.
  std::array<WarpRates, 2> least_rates(const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// What warps do at least that have such rates and hold so many rows and columns.
  WarpRates least_rates(const kernel::Spread& spread, const RoundRates& rates, std::int64_t rows,
                        std::int64_t columns) const;
  /// What a block does at least for its share of a sum that comes in these chunks; not of warp groups.
  ///   a, b  of a round
  SumCounts sum_of(const tiles::Tile& rows, const tiles::Tile& columns, const tiles::Tile& chunk,
                   const DepthShare& share, const CopiedSum& a, const CopiedSum& b) const;

  /// Whether fragments of clusters of so many blocks may be read ahead of a round.
  bool may_prefetch(int cluster) const { return prefetches_ && (cluster > 1 || !contraction_.bound_by_memory()); }

  static CopiedSum copied_round(const Copies& of);
  static LeastChunk least_chunk(const std::vector<tiles::Tile>& chunks);
  /// Of a block, at least, for its share of the sum by any of some chunks.
  ///   cluster  blocks that share it
  SumCounts least_sum(const tiles::Tile& rows, const tiles::Tile& columns, const LeastChunk& chunk, const CopiedSum& a,
                      const CopiedSum& b, int cluster) const;

  /// How much longer products take by atoms of half the depth, each of which waits for fragments of its own: two
  /// kernels in f64 that products bound took 1.09 and 1.23 times as long on an H200 as is predicted without, nine that
  /// memory bounds 0.98; of four that read fragments ahead of a round three took 1.15 to 1.32 times as long, and none
  /// is made.
  double waits_for_steps(const tiles::Tile& depth) const;

 private:
  /// Of any tile: all but its blocks.
  ContractionCounts of_result(const ResultPlace& place) const;
  void bound_stores(ContractionCounts& counts, const tiles::Tile& rows, const tiles::Tile& columns,
                    const ResultPlace& place) const;
  /// Whether threads load elements and store them, where asynchronous copies convert nothing and have a least size.
  bool passes_registers(const Copies& copies) const;
  /// Blocks that shared memory has room for at most.
  ///   held  positions of the depth in it at once
  double most_resident(const tiles::Tile& rows, const tiles::Tile& columns, std::int64_t held) const;
  /// How much longer products take while so many warps work out where joined axes' elements lie, and where all
  /// registers of so many are full of sums.
  ///   deep  whether joined axes are of the depth
  double waits_for_quotients(int warps, bool each = false, bool deep = false) const;
  double waits_for_registers(int warps, std::int64_t results) const;
  /// The same of multiply-adds for short sums, by blocks that are in step: where threads have many sums, or hold
  /// positions beside the tile, at which they write nothing.
  ///   rows, columns  as warps hold them
  double waits_in_step(const Cut& cut, std::int64_t rows, std::int64_t columns) const;

  /// A round by warp groups, which read operands themselves: each group all columns.
  void set_group_round(ContractionCounts& counts, const Cut& cut) const;
  /// What is written, and what goes through the cache.
  ///   results  positions of the tile that warps hold
  void set_stores(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, std::int64_t results) const;

  const GpuContraction& contraction_;
  const GpuModel& device_;
  bool prefetches_, streams_;
  kernel::Spread widest_;  ///< lanes that hold as many neighbours as they can
  double result_bytes_ = 0, operand_bytes_ = 0;
  /// What warps do at least, whatever tile they share.
  struct {
    double rows = 0, columns = 0;  ///< elements of a lane, of each position
    double fragment_cycles = 0;    ///< to read such an element
    double loads = 0;              ///< instructions to read it
    double instructions = 0;       ///< of each result's products, where no tensor core makes them
  } each_;
  ContractionCounts best_result_;  ///< of results that lie as well as they can
  double least_memory_ = 0;        ///< seconds, of these
};

}  // namespace ricci::plan
