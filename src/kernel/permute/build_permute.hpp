// Kernels that move elements on a GPU: a schedule's tile, staged or not, as a loop tree of native statements.
#pragma once

#include "ir/schedule.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// The tree of a schedule without a register tile, for CUDA:
///
///   block, thread -> the tile's origin, arrays advanced to it -> read, barrier, write | read, exchange | write
///
/// Verified. Throws InternalError where the schedule breaks a rule of ir::verify() or the tree one of verify(), and
/// PlanError where a launch has too many blocks.
Kernel build_permute(const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::kernel
