// Random permutations over everything the operation allows: types, ranks 0 to 12, views, broadcasts, factors,
// alignments.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/random_tensor.hpp"
#include "fuzz/seeds.hpp"
#include "lower/einsum.hpp"

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
  bool moves() const;        ///< elements keep their bits: one type, and no factors
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

/// Whether b's memory holds that, to the last bit; but where elements are computed, any NaN is as good as another:
/// IEEE 754 leaves sign and payload open, and infinity less infinity has another sign on a GPU than on a CPU.
bool holds(const RandomProblem& problem, const Tensor& expected);

}  // namespace ricci::fuzz
