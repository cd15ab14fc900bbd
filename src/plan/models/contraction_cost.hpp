// What a contraction by tiles is predicted to take on a GPU: the times that its counts make.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/contraction_counts.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// What takes times that run side by side, in any unit: the norm of their cubes.
template <class... Times>
double side_by_side(Times... times) {
  return std::cbrt(((times * times * times) + ...));
}

/// What each part of the work takes on its own, in seconds, and all of it together.
struct ContractionTime {
  double memory = 0, cache = 0, first_cache = 0;
  double products = 0, shared = 0, issue = 0;
  double alone = 0;  ///< each block as if nothing ran beside it, over the blocks that do
  double stores = 0, launch = 0;
  double total = 0;
};
ContractionTime contraction_time(const ContractionCounts& counts, const GpuModel& device);

/// Cycles of a multiprocessor's share of the second cache, for what it asks for there.
double cache_cycles(double bytes, double lines);

/// What a result whose blocks write runs of so many bytes takes longer than its bytes alone, as a share of them.
double short_run(double run_bytes);

/// Whether it may be as little as so many seconds for as many stages and blocks at once as the counts have, or for
/// fewer.
bool blocks_may_take(const ContractionCounts& counts, const GpuModel& device, double seconds);

/// A lower bound of it for any warps and stages, where no count is more than theirs, and blocks at once no fewer.
double least_time_of_tile(const ContractionCounts& counts, const GpuModel& device);

/// A lower bound of it for any tiles, of so many bytes of all tensors.
///   cycles      of one multiprocessor's units for all products
///   overlapped  as counts are
double least_time_of_launch(double cycles, double bytes, bool overlapped, const GpuModel& device);

/// A predicted time as columns of a table.
std::vector<TimePart> parts_of(const ContractionTime& time);
/// What a round of a block is made of, in words: its products' share of what it takes at least.
std::string round_text(const ContractionCounts& counts);

}  // namespace ricci::plan
