// The trees around a point's statements: one for each target.
#pragma once

#include "ir/schedule.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Workers are threads of a block, or groups of them.
Kernel build_cuda(const ir::Program& program, const ir::Schedule& schedule);

/// Workers are rounds of loops over a tile.
Kernel build_cpu(const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::kernel
