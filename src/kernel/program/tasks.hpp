// Tasks of both targets: tiles of the free indices.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/program/loops.hpp"

namespace ricci::kernel {

struct Tasks {
  std::vector<Var> vars;       ///< of the task loops, slowest first
  std::vector<Affine> number;  ///< per index of the program, of its tile; 0 where it has one
};

/// A task for each tile. `own[q]` is the variable of tiles of one value, -1 for others,
/// whose tiles get a variable of their own.
Tasks tasks_of(Kernel& kernel, const ir::Program& program, const ProgramLoops& loops, const std::vector<Var>& own);

/// The body in the loops over all tasks.
Body within(const Tasks& tasks, Body body);

}  // namespace ricci::kernel
