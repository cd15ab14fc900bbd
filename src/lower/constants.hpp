// Einsums some of whose operands stay the same from call to call: what is computed of them once, and what is left.
#pragma once

#include <vector>

#include "frontend/problem.hpp"
#include "ir/sequence.hpp"
#include "lower/path.hpp"

namespace ricci::ir {

/// An einsum in two parts.
struct ConstantEinsum {
  Sequence packing;  ///< inputs: the constant operands, in order; outputs: what is kept
  Sequence rest;  ///< inputs: the other operands and the addend, in order, then what is kept, in the order of packing
  std::vector<int> kept;  ///< storages of `rest`, one for each output of `packing`
};

/// Splits an einsum of which some operands are constant: EinsumProblem::constant.
///
/// Products of constant operands alone are computed once. Every other constant operand is copied once for the step that
/// uses it: axes that this step has of it alone summed over, diagonals taken, conjugated; dense, the axes that it
/// shares with the other operand and the result slowest, then those that are summed over, then those of the result
/// alone, so that vectors run along the result's. `convert`: in the type of the products (for kernels that would
/// convert otherwise); else in its own. Throws as check() does.
ConstantEinsum lower_constant_einsum(const EinsumProblem& problem, bool convert, const PathOptions& options = {});

}  // namespace ricci::ir
