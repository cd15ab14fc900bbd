// Tasks of both targets: tiles of the free indices.
#pragma once

#include <vector>

#include "ir/schedule.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

struct Tasks {
  std::vector<Var> vars;       ///< of the task loops, slowest first
  std::vector<Affine> number;  ///< per index of the program, of its tile; 0 where it has one
};

/// A task for each tile, numbered by Schedule::order. `own[q]` is the variable of tiles of one value, -1 for others,
/// whose tiles get a variable of their own.
Tasks tasks_of(Kernel& kernel, const ir::Program& program, const ir::Schedule& schedule, const std::vector<Var>& own);

/// The body in the loops over all tasks.
Body within(const Tasks& tasks, Body body);

}  // namespace ricci::kernel
