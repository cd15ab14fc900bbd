// What a schedule is predicted to cost on a GPU.
#pragma once

#include <array>

#include "ir/program.hpp"
#include "plan/axes.hpp"
#include "plan/device.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// What the candidates of one tile have in common.
struct TileCost {
  SideTraffic write, read;
  /// Written where tiles begin at sectors, if they can: the ends of rows alone are touched in part.
  SideTraffic skewed;
  std::int64_t points = 1, tiles = 1;  ///< of one, and how many where rows are not skewed
  double waste = 1;                    ///< points of ragged tiles that do nothing: all of tiles, of the tensor's
  int edges = 0, outer = 0;            ///< indices that tiles end within, and those of more than one tile
  double least_memory = 0;             ///< microseconds that its sectors take, to the power of the model's norm
  double least_skewed = std::numeric_limits<double>::infinity();  ///< the same where it is skewed, if it can be
  double thread_instructions = 0;   ///< of a thread, whatever it moves, where the tile waits
  double element_instructions = 0;  ///< of moving an element both ways, at least
  /// 128-byte lines of a walk, worked out already.
  struct Lines {
    bool read, staged;  ///< which side, and whether the two sides have walks of their own
    int vector, workers;
    std::int64_t positions;
    double lines;
  };
  std::vector<Lines> lines;
};

/// Predicts the candidates of one program.
class CostModel {
 public:
  CostModel(const ir::Program& program, const Sides& sides, const GpuFigures& figures);

  ///   turns  some of its schedules may turn rectangles in registers
  ///   skews  some may be skewed along the output's fastest index
  TileCost tile_cost(const std::vector<std::int64_t>& tile, bool turns = false, bool skews = false) const;

  /// The predicted time of a schedule of that tile, in microseconds, and its traffic. Wavefronts of shared memory are
  /// there already where the layout was searched; elsewhere a usual number of conflicts is assumed.
  double predict(const ir::Schedule& schedule, TileCost& tile, Traffic& traffic);

  /// No schedule that keeps this tile in shared memory, or in the registers of a warp, is predicted to take less: what
  /// its sectors alone cost, were all that tiles share fetched once, the latency of as few blocks as can be, and
  /// the instructions of the longest vectors. Rises
  /// with the number of threads.
  double least_us(const TileCost& tile, int threads, bool by_warps);

  /// The same of one that is skewed as well, which least_us(tile, ...) leaves out; infinite where it cannot be.
  double least_skewed_us(const TileCost& tile, int threads);

  /// How many times as long the schedules of a tile take at least, by how few blocks of so many threads fit at once.
  double least_waiting(const TileCost& tile, int threads, bool turned) const;

  /// A schedule whose layout was not searched is predicted to take no less: all but the lines of its accesses.
  double least_us(const ir::Schedule& schedule, TileCost& tile);

 private:
  /// With the lines of its accesses counted, or with the least that there can be.
  double predict(const ir::Schedule& schedule, TileCost& tile, Traffic& traffic, bool counted);
  double lines(bool read, const ir::Schedule& schedule, TileCost& tile, bool counted) const;
  /// Of a tile whose memory takes so long, to the power of the norm, with so many instructions more.
  double least_us(const TileCost& tile, int threads, bool by_warps, double memory, double more_instructions);
  /// Blocks of so many threads that a multiprocessor may hold, whatever their registers.
  std::int64_t most_resident(const TileCost& tile, int threads, bool by_warps) const;
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
  const GpuFigures& figures_;
  SideCounter write_side_, read_side_;              // the same where nothing is read
  std::vector<std::int64_t> near_box_, merge_box_;  // room for boxes
  Power line_, issue_, latency_;
};

/// Instructions that the digits of a walk cost per access: those that change with both thread and round are divided
/// out of the position each time (codegen::ThreadWalk::digit_part), the others once per thread or at compile time.
class DigitCost {
 public:
  explicit DigitCost(const ir::Walk& walk);
  double instructions(int workers) const;
  std::int64_t positions() const { return positions_; }

 private:
  struct Digit {
    std::int64_t below, with;  // positions below it, and with it
    double instructions;       // of dividing it out
  };
  std::array<Digit, kMostDigits> digits_;
  std::size_t size_ = 0;
  std::int64_t positions_ = 1;
};

}  // namespace ricci::plan
