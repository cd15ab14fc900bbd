// How register tiles of a contraction on a CPU write the result: in which order, and whether by way of scratch memory.
#pragma once

#include <optional>

#include "plan/models/contraction_blocking.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan::gett {

/// Cycles for each line of a register tile's columns that the first cache lacks.
inline constexpr double kPanelLine = 2.5;

/// Of a sum so short that writing is much of the work, into memory.
bool writes_much(const Blocking& blocking, const Problem& problem);

/// The columns' axis whose tiles are the innermost loop, inside of those of the rows, as each goes on with rows of the
/// result that the one before wrote: where these go to memory, and reading the columns of all its tiles from the second
/// cache again for each tile of rows holds up no multiply-adds. Null: tiles of rows are, as where nontemporal stores
/// write whole lines, which are not read again.
const Axis* followed_in_result(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Whether loops over tiles lie as the result does, the innermost along what is nearest there: where such an axis is,
/// or where much is written of several values of a column that vectors run over.
bool follows_result(const Blocking& blocking, const Problem& problem, const CpuModel& device);

/// The indices of rows and columns, that with the outermost loop over tasks first.
Axes task_order(const Blocking& blocking, const Problem& problem, const CpuModel& device);

/// Runs of the result that register tiles gather in scratch memory, from which whole lines leave by nontemporal stores:
/// the next task goes on with the line that a run ends in, so that no line is read. On two threads of an Intel Xeon
/// intensli05 of tccg48, whose runs of 344 bytes are 9.6 KB apart, took 0.64 to 0.85 of the time in f64. Runs that the
/// next tile of a task goes on with gain nothing (intensli07 0.98, ao2mo00 1.09, ao2mo01 1.0).
struct GatheredRuns {
  int carried = -1;         ///< the index along which the next task goes on
  std::int64_t length = 1;  ///< elements
};
/// Nothing where results are written from registers.
std::optional<GatheredRuns> gathered_runs(const Blocking& blocking, const Problem& problem, const CpuModel& device);

}  // namespace ricci::plan::gett
