// From any program and a schedule with a register tile to a kernel of native statements.
#pragma once

#include <cstdint>

#include "ir/schedule.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// The loop tree: tasks are the schedule's tiles. Nothing in it is left to expand(). Throws PlanError for programs that
/// no kernel can hold: more than 256 indices, more tiles than a launch takes, statements that each read what another
/// one writes. Verified (verify.hpp).
Kernel build_program(const ir::Program& program, const ir::Schedule& schedule, Target target);

/// Kernel::bytes_of(Space::scratch) of that tree, without building it.
std::int64_t scratch_bytes(const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::kernel
