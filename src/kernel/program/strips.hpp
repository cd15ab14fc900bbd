// Strip mining on a CPU: many tensors are read and written strip by strip, through two buffers of a row for each.
#pragma once

#include <map>

#include "kernel/program/loops.hpp"

namespace ricci::kernel {

struct Strips {
  std::int64_t row = 0;             ///< elements from one row of a buffer to the next
  std::map<ir::NodeId, int> loads;  ///< the row of each load that runs along the lanes
  std::int64_t stores = 0;          ///< rows of results: one of each statement, or none where one is written otherwise
  std::int64_t in_elements() const { return row * static_cast<std::int64_t>(loads.size()); }
  std::int64_t out_elements() const { return row * stores; }
};

/// Of loops with strips and without parts.
Strips strips_of(const ir::Program& program, const ProgramLoops& loops);

/// What Kernel::bytes_of(Space::scratch) is of the tree, without building it.
std::int64_t scratch_bytes(const ir::Program& program, const ProgramLoops& loops);

}  // namespace ricci::kernel
