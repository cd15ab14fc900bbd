// Einsums of any number of operands, permutations among them: checked, and lowered to programs and sequences.
#pragma once

#include "frontend/problem.hpp"
#include "ir/sequence.hpp"
#include "lower/path.hpp"

namespace ricci::ir {

/// The einsum as one kernel, whatever the number of operands: the product of all of them, summed over the axes that the
/// output leaves out, the sum over nothing being 0. An axis that an operand repeats walks its diagonal.
///
/// Indices are named as in the spec (with "_" behind where a buffer or a parameter has that name), the output's first,
/// in its order. Buffers A, B, ... and the output after them, which is read too unless beta is zero; parameters alpha
/// and beta where they are `any`, in compute_type(problem). Sums and products are rounded to the types that the
/// operands share with each other, at least f32, and the result once more to the output's. Throws as check() does.
Program lower(const EinsumProblem& problem);

/// The einsum as one kernel for each step of a path, over the storages of the operands, in order, the output, and the
/// intermediates. alpha and beta belong to the last step. Throws as check() does.
Sequence lower_einsum(const EinsumProblem& problem, const Path& path);
Sequence lower_einsum(const EinsumProblem& problem, const PathOptions& options = {});

/// The memory that a layout reaches, as a storage.
Storage storage_of(std::string name, Role role, const Layout& layout);

}  // namespace ricci::ir
