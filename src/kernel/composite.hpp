// A schedule of several steps: operands or the result of a contraction go through arrays in another order, and what
// multiplies them there is a kernel of this library or a product of another one.
#pragma once

#include "ir/passes/canonical.hpp"
#include "ir/sequence.hpp"
#include "kernel/schedule.hpp"

namespace ricci::kernel {

/// The steps that a schedule's `copy` directives make of a program, and what is left of it for the product.
struct Composite {
  ir::Sequence sequence;    ///< its first storages are the program's buffers, those behind them workspace
  std::size_t product = 0;  ///< the step that multiplies; the others move elements
  Schedule rest = {};       ///< for that step: the directives behind the copies
  ir::Step canonical(std::size_t step) const { return ir::canonical_step(sequence.steps[step]); }
};

/// Whether a schedule begins with copies, or is a product of a library.
bool is_composite(const Schedule& schedule) noexcept;
/// Whether the product is a library's.
bool is_library_product(const Schedule& schedule) noexcept;

/// Throws PlanError, naming the directive: an operand that the program's contraction does not have, or has twice,
/// indices that are not the operand's.
Composite composite_of(const ir::Program& program, const Schedule& schedule);
void add_copy(Composite& composite, const Directive& directive);  ///< one more; throws as that does

/// composite_of(), and what the rest asks of its program: a matrix product for a library's, the kernel's rules else.
void verify_composite(const ir::Program& program, const Schedule& schedule, Target target, bool each);

}  // namespace ricci::kernel
