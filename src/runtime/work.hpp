// What programs must do at least, counted: traffic and arithmetic, before any schedule.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::runtime {

struct TotalWork {
  std::int64_t bytes = 0;  ///< each element read once, each element written once
  double flops = 0;        ///< as PlanInfo::flops counts
  double operations = 0;   ///< all operations on all types, each 1: what keeps a processor busy
};

/// Of one kernel, over its own buffers. Extents must be those of a program that runs (no free index is empty).
TotalWork total_work(const ir::Program& program);

/// Of a whole sequence, over the slots of its caller: what one step leaves to the next in the workspace is not counted.
TotalWork total_work(const ir::Sequence& sequence);

}  // namespace ricci::runtime
