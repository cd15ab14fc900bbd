// Random permutations over everything the operation allows: types, ranks 0 to 12, views, broadcasts, factors,
// alignments.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/random_tensor.hpp"
#include "ir/einsum.hpp"

namespace ricci::fuzz {

/// A problem with its memory.
struct RandomProblem {
  std::uint64_t seed = 0;
  std::string spec;
  Layout input, output;
  Scalar alpha = 1, beta = 0;
  bool conjugate = false;
  Tensor a, b;

  ir::EinsumProblem problem() const;
  std::string text() const;  ///< everything needed to see what failed
};

struct Limits {
  std::int64_t max_elements = 20000;
  int max_rank = 12;
};

/// The same seed gives the same problem.
RandomProblem random_problem(std::uint64_t seed, const Limits& limits = {});

/// What b's memory must hold afterwards, all of it, by the interpreter.
Tensor expected(const RandomProblem& problem);

/// RICCI_FUZZ_CASES and RICCI_FUZZ_SEED, or the defaults.
int cases(int otherwise);
std::uint64_t first_seed(std::uint64_t otherwise);

}  // namespace ricci::fuzz
