// Compulsory traffic and arithmetic of programs, whatever the schedule.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::runtime {

struct ProgramCounts {
  std::int64_t bytes = 0;  ///< each element read once, each element written once
  double flops = 0;        ///< as PlanInfo::flops counts
  double operations = 0;   ///< operations on all types, each counted as 1
};

/// The counts of one kernel. Extents must be those of a program that runs (no free index is empty).
ProgramCounts count_program(const ir::Program& program);

/// The counts of a sequence; traffic of the workspace is not counted.
ProgramCounts count_program(const ir::Sequence& sequence);

}  // namespace ricci::runtime
