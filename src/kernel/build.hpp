// From a program and directives to a kernel.
#pragma once

#include "kernel/contraction.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// The loop tree with its tile statements. Throws PlanError naming the directive whose rule does not hold: an index
/// that is not there, levels that do not divide each other, an operand read beyond its end, ... Verified (verify.hpp).
///   contraction   of the program's only statement (contraction_of)
///   vector_bytes  widest vectors of the processor, which copies are made of: 16, 32 or 64 (CPU)
///   count         of the directives that are applied: the first ones, which know of the atom behind them
Kernel build(const ir::Program& program, const Contraction& contraction, Directives directives, Target target,
             int vector_bytes = 64, std::size_t count = kAll);

/// The same of a group: per section of the directives the loops of its products, inside of loops over tasks that all
/// sections share. Sums of a task are in a block of the worker's memory, dense, from one section to the next; the last
/// section writes the result.
Kernel build(const ir::Program& program, const Group& group, Directives directives, Target target,
             int vector_bytes = 64, std::size_t count = kAll);

/// The rules of the first directives of a contraction alone, for what makes no kernel of them. Throws as build() does.
void check_directives(const ir::Program& program, const Contraction& contraction, Directives directives, Target target,
                      std::size_t count);

/// Tile statements resolved into native ones by the layouts on both of their sides; a kernel of native ones as it is.
/// Verified.
Kernel expand(Kernel kernel);
/// The same without being verified: for what is asked of a kernel before its text is made.
Kernel expand_unverified(Kernel kernel);

}  // namespace ricci::kernel
