// The trees around a point's statements: one for each target.
#pragma once

#include "kernel/kernel.hpp"
#include "kernel/program/loops.hpp"

namespace ricci::kernel {

/// Workers are threads of a block, or groups of them.
Kernel build_cuda(const ir::Program& program, const ProgramLoops& loops);

/// Workers are rounds of loops over a tile.
Kernel build_cpu(const ir::Program& program, const ProgramLoops& loops);

}  // namespace ricci::kernel
