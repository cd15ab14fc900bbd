// From any program and directives without an atom to a kernel of native statements.
#pragma once

#include "ir/program.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// The loop tree, in which nothing is left to expand(). Throws PlanError naming the directive whose rule does not hold,
/// and for programs that no kernel can hold: more than 256 indices, more tiles than a launch takes, statements that
/// each read what another one writes. Verified (verify.hpp).
///   count  of the directives that are applied, the first ones (loops_of)
Kernel build_program(const ir::Program& program, Directives directives, Target target, std::size_t count = kAll);

}  // namespace ricci::kernel
