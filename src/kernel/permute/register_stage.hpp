// On a GPU: a tile that waits in registers, those of the threads that read it, and goes to those that write it. How it
// gets there is said by the layouts of both.
#pragma once

#include <optional>

#include "kernel/layout.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::kernel {

/// What it takes to give the registers of the reading mapping to those of the writing mapping, vectors of each being
/// dealt out round-robin to the lanes of one warp after the other.
Exchange exchange_of(const Moves& moves);

/// Where elements pass between warps, the array in shared memory through which they go: rows along the index that is
/// read first, odd ones, so that columns are spread over the banks. Nothing where each warp has all that it writes.
std::optional<SharedLayout> layout_between_warps(const Moves& moves);

/// Throws PlanError with the first rule of such a stage that the moves break; a tile of one worker is a CPU's.
void verify_register_stage(const Moves& moves, const ir::Program& program);

}  // namespace ricci::kernel
