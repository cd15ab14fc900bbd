// Programs for tests, from one line each.
#pragma once

#include <string>
#include <vector>

#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"

namespace ricci::test {

inline ir::EinsumProblem problem_of(std::string_view spec, Layout input, Layout output,
                                    ir::Factor alpha = ir::Factor::one, ir::Factor beta = ir::Factor::zero,
                                    bool conjugate = false) {
  return {Spec::parse(spec), {std::move(input)}, std::move(output), alpha, beta, {conjugate}};
}

/// Dense row-major on both sides, one type.
inline ir::EinsumProblem dense(std::string_view spec, std::vector<std::int64_t> extents, DType type = DType::f64) {
  const auto input = Layout::row_major(type, std::move(extents));
  return problem_of(spec, input, ir::permuted_row_major(Spec::parse(spec), input));
}

/// The checked permutation's program, as written.
inline ir::Program lowered(const ir::EinsumProblem& problem) {
  ir::check_permutation(problem);
  return ir::lower(problem);
}

inline ir::Program canonical(const ir::EinsumProblem& problem) { return ir::canonicalise(lowered(problem)); }

}  // namespace ricci::test
