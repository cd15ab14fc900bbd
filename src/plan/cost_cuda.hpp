// What a schedule is predicted to cost on a GPU.
#pragma once

#include "ir/program.hpp"
#include "plan/axes.hpp"
#include "plan/device.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// Predicts the candidates of one program. What those of one tile have in common is worked out once where they come one
/// after the other.
class CostModel {
 public:
  CostModel(const ir::Program& program, const Sides& sides, const GpuFigures& figures);

  /// Fills in the candidate's traffic and its predicted time. Wavefronts of shared memory are there already where the
  /// layout was searched; elsewhere a usual number of conflicts is assumed.
  void predict(Candidate& candidate);

  /// No candidate that keeps this tile in shared memory, or in the registers of a warp, is predicted to take less: what
  /// its sectors alone cost, were all that tiles share fetched once, and the latency of as few blocks as can be.
  double least_us(const std::vector<std::int64_t>& tile, int threads, bool by_warps);

 private:
  /// 128-byte lines of a walk over the tile at hand.
  double lines(bool read, const ir::Walk& walk);
  double rate() const;  ///< of a copy, in bytes per microsecond
  void begin_tile(const std::vector<std::int64_t>& tile);

  const ir::Program& program_;
  const Sides& sides_;
  const GpuFigures& figures_;
  SideCounter write_side_, read_side_;  // the same where nothing is read
  // Of the tile at hand.
  std::vector<std::int64_t> tile_;
  SideTraffic write_, read_;
  std::int64_t points_ = 1, tiles_ = 1;  // of one, and how many where rows are not skewed
  double waste_ = 1;                     // points of ragged tiles that do nothing: all of tiles, of the tensor's
  int edges_ = 0, outer_ = 0;            // indices that tiles end within, and those of more than one tile
  struct Lines {
    bool read;
    ir::Walk walk;
    double lines;
  };
  std::vector<Lines> lines_;
  std::vector<std::int64_t> near_box_, merge_box_;  // room for boxes
};

/// Instructions that the digits of a walk cost per access: those that change with both thread and round are divided
/// out of the position each time (codegen::ThreadWalk::digit_part), the others once per thread or at compile time.
double digit_instructions(const ir::Walk& walk);

}  // namespace ricci::plan
