// Kernels that move elements: a tile, staged or not, as a loop tree of native statements.
#pragma once

#include "kernel/kernel.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::kernel {

/// The tree of directives, of which the first `count` are applied (moves_of). Verified, and throws as below.
Kernel build_moves(const ir::Program& program, Directives directives, Target target, std::size_t count = kAll);

/// The tree for CUDA:
///
///   block, thread -> the tile's origin, arrays advanced to it -> read, barrier, write | read, exchange | write
///
/// Verified. Throws PlanError where they break a rule of verify() and where a launch has too many blocks,
/// InternalError where the tree breaks one of verify().
Kernel build_permute(const ir::Program& program, const Moves& moves);

/// The tree for a CPU of what waits in no array: task -> the tile's origin and ends -> loops around points, rows or
/// blocks. Verified, and throws as above.
Kernel build_permute_cpu(const ir::Program& program, const Moves& moves);

/// The tree for a CPU of what waits in an array: task -> the tile's origin -> read, of the next task where rows are
/// prefetched; write. Verified, and throws as above.
Kernel build_permute_staged(const ir::Program& program, const Moves& moves);

}  // namespace ricci::kernel
