// A tile of a contraction's result on a GPU with all that a block copies for it, whatever warps share it.
#pragma once

#include <array>
#include <cstddef>

#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/warp_shares.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {

struct CutBlock {
  /// Counts with what is copied; they are to outlive it, as all else.
  CutBlock(const ContractionCounts& of_copies, const GpuModel& device, const ResultPlace& of_result, const Copies& rows,
           const Copies& columns)
      : counts(of_copies),
        times(of_copies, device),
        place(of_result),
        a(rows),
        b(columns),
        copied_cycles(of_copies.copied_cycles()),
        least_moving(CutCounts::least_moving(rows, columns)) {}

  const ContractionCounts& counts;
  LaunchTimes times;
  const ResultPlace& place;
  const Copies &a, &b;
  double copied_cycles = 0;  ///< of a round
  double store_cycles = 0;   ///< of results at least
  double least_moving = 0;   ///< instructions of the block's copies in a round

  /// The same by so many warps, worked out where it is asked for.
  struct Moved {
    double a = 0, b = 0;  ///< instructions of a thread
    double moving = 0;    ///< CutCounts::moving()
  };
  const Moved& by(int warps) {
    auto& one = moved_[static_cast<std::size_t>(warps)];
    if (one.moving == 0)
      one = {CutCounts::copies_of(a, warps), CutCounts::copies_of(b, warps), CutCounts::moving(a, b, warps)};
    return one;
  }

 private:
  std::array<Moved, kMostWarps + 1> moved_ = {};
};

}  // namespace ricci::plan
