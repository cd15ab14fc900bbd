// Random permutations over everything the operation allows: types, ranks 0 to 12, views, broadcasts, factors,
// alignments.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/einsum.hpp"

namespace ricci::fuzz {

/// A problem with its memory. Buffers are larger than what the layouts reach, so that stray writes show.
struct RandomProblem {
  std::uint64_t seed = 0;
  std::string spec;
  Layout input, output;
  Scalar alpha = 1, beta = 0;
  bool conjugate = false;
  std::vector<unsigned char> a, b;          ///< storage, 256-byte aligned through base()
  std::int64_t a_offset = 0, b_offset = 0;  ///< bytes from base() to element 0

  ir::EinsumProblem problem() const;
  std::string text() const;  ///< everything needed to see what failed
  static unsigned char* base(std::vector<unsigned char>& storage);
  static std::int64_t usable(const std::vector<unsigned char>& storage);
};

struct Limits {
  std::int64_t max_elements = 20000;
  int max_rank = 12;
};

/// The same seed gives the same problem.
RandomProblem random_problem(std::uint64_t seed, const Limits& limits = {});

/// What b's storage must hold afterwards, by the interpreter.
std::vector<unsigned char> expected(const RandomProblem& problem);

/// RICCI_FUZZ_CASES and RICCI_FUZZ_SEED, or the defaults.
int cases(int otherwise);
std::uint64_t first_seed(std::uint64_t otherwise);

}  // namespace ricci::fuzz
