// What a contraction by tiles is predicted to take on a GPU: the times that its counts make.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/contraction_counts.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/norms.hpp"

namespace ricci::plan {

/// What each part of the work takes on its own, in seconds, and all of it together.
struct ContractionTime {
  double memory = 0, cache = 0, first_cache = 0;
  double products = 0, shared = 0, issue = 0;
  double alone = 0;  ///< each block as if nothing ran beside it, over the blocks that do
  double stores = 0, launch = 0;
  double total = 0;

  /// Whether memory takes the longest.
  bool by_memory() const { return memory >= std::max({cache, first_cache, products, shared, issue, alone, stores}); }
};
ContractionTime contraction_time(const ContractionCounts& counts, const GpuModel& device);

/// Cycles of a block's round and of its results, without what copies are waited for.
struct RoundCycles {
  double pipe = 0, shared = 0, issue = 0;
  double exposed = 0;  ///< beside a multiprocessor's other blocks
  double stores = 0;
  bool prefetched = false;  ///< whether fragments may be read ahead of it
};

/// Cycles of so many wavefronts of fragments.
///   in_pairs  of lanes that read alike
double fragment_cycles(double wavefronts, bool in_pairs);
/// Cycles of a round's copies that a block's products do not hide, and of its barrier.
double exposed_cycles(double copied_cycles);
/// Of a multiprocessor's four parts, which have pipes and issue of their own, what so many warps keep busy.
double own_parts(int warps);

/// The same for any number of stages and of blocks at once: what does not depend on these is worked out once.
class LaunchTimes {
 public:
  /// Of the counts all but `stages`, `resident` and `shared_bytes`; the device has to stay where it is.
  LaunchTimes(const ContractionCounts& counts, const GpuModel& device);
  /// Takes the counts of a block's round, of its results and of the second cache from others of the same tile.
  void set_round(const ContractionCounts& counts);

  ///   room          blocks that a multiprocessor has room for
  ///   shared_bytes  of a block
  ContractionTime at(int stages, double room, double shared_bytes) const;
  /// A lower bound of its seconds with so many stages and blocks at once, and with fewer, of warp groups.
  double least_of_groups(int stages, double room) const;
  /// Whether it may be no more than so many seconds by so many warps, which keep `own` parts busy: sooner told, and for
  /// results that are written in so many cycles at least; not of warp groups.
  bool may_take(const RoundCycles& cycles, int warps, double own, double room, double seconds) const;
  /// Whether it may be no more than so many seconds with so many stages and blocks at once, or with fewer.
  bool may_take(int stages, double room, double seconds) const;

 private:
  ContractionTime beside_waits(double balance) const;
  /// one: a multiprocessor has one block at a time
  double joined(const ContractionTime& time, bool one) const;
  double alone_seconds(double stages, double room) const;
  double first_cache_seconds(double resident, double shared_bytes) const;
  double fetched_seconds(double resident) const;
  double with_last_blocks(double seconds, int stages, double room) const;
  double own_round(double resident) const;
  double round_beside(double blocks) const;

  const GpuModel* device_;
  double blocks_, rounds_, turns_;
  double reread_;    ///< seconds, of a small operand
  double at_once_;   ///< blocks, where a multiprocessor has one
  double in_turns_;  ///< blocks of a multiprocessor
  double seconds_;   ///< of so many cycles
  bool overlapped_, short_sum_, multiply_adds_, by_three_;
  bool ahead_ = false;    ///< the first fragments of a round are read in the one before
  double in_step_;        ///< of multiply-adds: 1 where blocks of short sums are in step, 0 of endless ones
  double around_;         ///< cycles of a block besides its rounds
  double last_part_;      ///< of a sum, that each of the last blocks has
  double last_in_parts_;  ///< times that it is to be worth
  double launch_;         ///< seconds that nothing hides
  double lines_;          ///< of the launch, asked for in the second cache
  double busy_cycles_;    ///< of all multiprocessors that are busy, in a second
  double first_cache_, memory_;
  std::array<Fetched, 2> fetched_;
  double squares_ = 0, cache_fourth_ = 0;  ///< of times that no round changes, of results in whole sectors
  int warps_ = 1;
  double pipe_ = 0, begin_ = 0, issue_ = 0, shared_ = 0;  ///< cycles of a round
  double stores_ = 0, relaid_ = 0;                        ///< of a block
  double own_products_ = 0, own_issue_ = 0;  ///< by the multiprocessor's parts that a block keeps busy on its own
  double round_ = 0;                         ///< what a round takes where all is hidden
  double waited_ = 0, exposed_ = 0;          ///< what its warps wait for
  double cache_ = 0;
};

/// Cycles of a multiprocessor's share of the second cache, for what it asks for there.
double cache_cycles(double bytes, double lines);

/// What a block does at least for its share of a tile's sum, whatever warps it has.
struct SumCounts {
  double rounds = 1, positions = 1;    ///< positions: of the depth
  double copying = 0;                  ///< instructions of warps
  double of_round = 0;                 ///< instructions of each warp besides, in all rounds
  double copied_cycles = 0;            ///< of shared memory
  double copied_bytes = 0, lines = 0;  ///< of operands: through the second cache, and asked for there
  double held_lines = 0;               ///< of the first cache
  double resident = 1;                 ///< blocks that shared memory has room for at most
  bool may_prefetch = false;           ///< fragments may be read ahead of a round
  bool joined = false;                 ///< places of elements are quotients
};

/// What the warps do that share a tile of results, for each position of the depth.
struct WarpRates {
  double pipe_cycles = 0, instructions = 0, fragment_cycles = 0;
  double quotients = 1;     ///< times that products take where places are quotients
  double resident = 1;      ///< blocks that threads and registers have room for at most, a whole number
  int warps = 1;            ///< of a block
  double own_parts = 1;     ///< of a multiprocessor, that they keep busy
  double few = 1;           ///< times that products take, as they are few
  bool prefetches = false;  ///< whether they may read fragments ahead of a round
  bool any = false;         ///< the least of as many warps and of more, which wait for nothing
};

/// Lower bounds of the launch's time for a tile whose sums are shared in one way, by any stages; not of warp groups.
class TileTimes {
 public:
  ///   counts  of the tile's results: blocks, memory, what is stored, and its bytes through the second cache
  TileTimes(const ContractionCounts& counts, const GpuModel& device);
  /// Of one whose sums are not shared, in clusters of as many blocks as `cluster` or fewer, but of more than half as
  /// many.
  TileTimes in_clusters(int cluster) const;

 private:
  friend class SumTimes;
  const GpuModel* device_;
  double blocks_, in_turns_;
  double turns_;        ///< seconds of a cycle of all blocks of a multiprocessor
  double busy_cycles_;  ///< of all multiprocessors that are busy, in a second
  bool multiply_adds_;
  double operand_bytes_, result_bytes_;
  double around_;  ///< cycles of a block besides its rounds
  double launch_, last_in_parts_;
  double memory_;
  double squares_, fourths_;  ///< of times that no chunk changes
};

/// The same of the share of the sum that each block has, in some chunks.
class SumTimes {
 public:
  ///   seconds  that are of use
  SumTimes(const TileTimes& tile, const SumCounts& sum, double seconds);
  /// By these warps: infinite where it is surely more than what is of use.
  double least(const WarpRates& warps) const;
  /// The longest of parts that overlap: of warp groups.
  double longest(const WarpRates& warps) const;

 private:
  const TileTimes& tile_;
  const SumCounts& sum_;
  double resident_, waits_;
  double cache_, cache_fourth_, turns_fourth_;
  double squares_, fourths_;  ///< of times that no warps change
  double most_;               ///< of all fourth powers
};

/// Times that products of a block of so many warps take.
double few_warps(int warps);

/// A lower bound of it for any tiles, of so many bytes of all tensors.
///   cycles      of one multiprocessor's units for all products
///   overlapped  as counts are
///   cached      cycles of its share of the second cache, for all that blocks copy and write
double least_time_of_launch(double cycles, double bytes, bool overlapped, const GpuModel& device, double cached = 0);
/// The same by warps, whose results may be anywhere.
///   cycles  of a multiprocessor's blocks, for all of their rounds: without what is waited for, and stored
///   memory  memory_seconds()
double least_time_by_warps(const RoundCycles& cycles, double cached, double memory, const GpuModel& device);
/// Of memory, which a result in short runs and in parts of lines takes longer to write.
double memory_seconds(const ContractionCounts& counts, const GpuModel& device);

/// Multiprocessors that clusters of so many blocks have room on.
double multiprocessors_of(int cluster, const GpuModel& device);

/// A predicted time as columns of a table.
std::vector<TimePart> parts_of(const ContractionTime& time);
/// What a round of a block is made of, in words: its products' share of what it takes at least.
std::string round_text(const ContractionCounts& counts);

}  // namespace ricci::plan
