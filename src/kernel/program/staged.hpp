// Operands that a CPU reads across: what a tile takes of them is copied first, into arrays whose neighbours are those
// of the results, as the CPU's caches would keep little of lines that are read element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/program/loops.hpp"

namespace ricci::kernel {

struct StagedLoad {
  ir::NodeId load = -1;
  std::vector<int> dims;  ///< indices of the program, the last one contiguous
  ir::Affine place;       ///< in the array, by the distances along each index from where the tile begins
  std::int64_t elements = 0;
};

/// Whether a program has no sums, scans or guards: all that its loads name is there to be copied.
bool reads_at_every_point(const ir::Program& program);

/// Whether the load's neighbours lie along another one of the indices than along the last.
bool reads_across(const ir::Affine& offset, const std::vector<int>& dims);

/// Of what `loops.staged` names, each load that reads across.
std::vector<StagedLoad> staged_loads(const ir::Program& program, const ProgramLoops& loops);

}  // namespace ricci::kernel
