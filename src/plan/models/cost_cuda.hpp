// What a schedule is predicted to cost on a GPU.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "ir/program.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/tile_forms.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

/// What the candidates of one tile have in common.
struct TileCost {
  struct Moved {
    SideTraffic write, read;
    double least_memory_us = std::numeric_limits<double>::infinity();
  };
  Moved straight;
  Moved
      skewed;  ///< where tiles begin at sectors of the output, if they can: the ends of rows alone are touched in part
  std::int64_t points = 1, tiles = 1;  ///< of one, and how many where rows are not skewed
  double waste = 1;                    ///< points of ragged tiles that do nothing: all of tiles, of the tensor's
  int edges = 0, outer = 0;            ///< indices that tiles end within, and those of more than one tile
  double thread_instructions = 0;      ///< of a thread, whatever it moves, where the tile waits
  struct Carrying {
    double element_instructions = std::numeric_limits<double>::infinity();  ///< of moving one both ways, at least
    double registers = 0;  ///< of all threads that carry a tile, for its elements, at least
  };
  std::array<Carrying, kTileTransfers> carried;
  const Carrying& of(TileTransfer how) const { return carried[static_cast<std::size_t>(how)]; }
  bool has(TileTransfer how) const { return std::isfinite(of(how).element_instructions); }
  /// 128-byte lines of a mapping, worked out already.
  struct Lines {
    bool read, staged;  ///< which side, and whether the two sides have thread mappings of their own
    int vector, workers;
    std::int64_t positions;
    double lines;
  };
  std::vector<Lines> lines;
};

/// Predicts the candidates of one program.
class CostModel {
 public:
  CostModel(const ir::Program& program, const Sides& sides, const GpuModel& device);

  TileCost tile_cost(const std::vector<std::int64_t>& tile, const TileForms& forms = {}) const;

  /// The predicted time of a schedule of that tile, in microseconds, and its traffic. Wavefronts of shared memory are
  /// there already where the layout was searched; elsewhere a usual number of conflicts is assumed.
  double predict(const kernel::Moves& moves, TileCost& tile, Traffic& traffic);

  /// Raises what memory takes at least, were all that tiles share fetched once, to what it takes where as many as can
  /// run at once.
  ///   fewest  threads of its blocks
  void see_neighbours(TileCost& cost, const std::vector<std::int64_t>& tile, int fewest);

  /// No schedule of this tile, carried so by a number of threads in the range, is predicted to take less before its
  /// layout was searched: what memory takes at least, the latency of as few blocks as can be, the instructions but
  /// those of digits, and the best number of blocks that wait together.
  double least_us(const TileCost& tile, TileTransfer how, ThreadRange threads) const;

  /// Nor does one without a stage take less than memory takes at least.
  static double least_memory_us(const TileCost& tile);

  /// A schedule whose layout was not searched is predicted to take no less: all but the lines of its accesses.
  double least_us(const kernel::Moves& moves, TileCost& tile);
  /// The same where tiles follow each other along the output, and along the input.
  std::array<double, 2> least_us_of_both_orders(kernel::Moves& moves, TileCost& tile);

 private:
  /// What a schedule takes but for memory, whatever the order of its tiles.
  struct Apart {
    double line, issue, latency;  ///< times to the power of the norm
    double waiting;               ///< how many times as long it takes
    std::int64_t at_once;         ///< tiles that run at the same time
  };
  ///   counted  with the lines of its accesses counted, or with the least that there can be
  Apart apart(const kernel::Moves& moves, TileCost& tile, Traffic& traffic, bool counted);
  double joined(const Apart& apart, const kernel::Moves& moves, const TileCost& tile);
  double lines(bool read, const kernel::Moves& moves, TileCost& tile, bool counted) const;
  /// What tiles that run at the same time touch together.
  struct Neighbours {
    SideTraffic write, read;
    double partial_sectors = 0;  ///< written in part by them and by those that run soon after
  };
  Neighbours neighbours(const std::vector<std::int64_t>& tile, const std::vector<int>& order, std::int64_t at_once,
                        const SideTraffic& write);
  double memory_us(const TileCost::Moved& moved, const Neighbours& near) const;
  /// Blocks of that many threads, or of more, that a multiprocessor may hold, and tiles that run at once.
  std::int64_t most_resident(const TileCost& tile, TileTransfer how, int threads) const;
  std::int64_t most_at_once(const TileCost& tile, TileTransfer how, int threads) const;
  /// How many times as long it takes at least, by how many blocks wait together: at most that many.
  double least_waiting(double block_bytes, std::int64_t resident, int lanes, bool transposed) const;
  double rate() const;  ///< of a copy, in bytes per microsecond

  /// A time to the power of the norm, kept for the next candidate: neighbours differ in few.
  class Power {
   public:
    double of(double us);

   private:
    double us_ = 0, power_ = 0;
  };

  const ir::Program& program_;
  const Sides& sides_;
  const GpuModel& device_;
  SideCounter write_side_, read_side_;  // the same where nothing is read
  SideTraffic rows_;                    // what is written of whole rows
  std::vector<std::int64_t> box_;       // room for one
  Power line_, issue_, latency_;
};

/// Instructions that the digits of a mapping cost per access: those that change with both thread and round are divided
/// out of the position each time (kernel::TileWalk), the others once per thread or at compile time.
class DigitCost {
 public:
  DigitCost() = default;
  explicit DigitCost(const kernel::ThreadMapping& mapping);
  double instructions(int workers) const;
  std::int64_t positions() const { return positions_; }

 private:
  struct MixedRadixDigit {
    std::int64_t below, with;  // positions below it, and with it
    double instructions;       // of dividing it out
  };
  std::array<MixedRadixDigit, kMostDigits> digits_;
  std::size_t size_ = 0;
  std::int64_t positions_ = 1;
};

}  // namespace ricci::plan
