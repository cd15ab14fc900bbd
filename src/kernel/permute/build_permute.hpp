// Kernels that move elements on a GPU: a schedule's tile, staged or not, as a loop tree of native statements.
#pragma once

#include "ir/schedule.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// The tree for CUDA:
///
///   block, thread -> the tile's origin, arrays advanced to it -> read, barrier, write | read, exchange | write
///
/// Verified. Throws PlanError where the schedule breaks a rule of ir::verify() and where a launch has too many blocks,
/// InternalError where the tree breaks one of verify().
Kernel build_permute(const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::kernel
