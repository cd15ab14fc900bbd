// Benchmark sets: permutations from a CSV file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::tools {

/// One permutation, as Ricci says it.
struct PermuteCase {
  std::string id;
  std::string spec;                   ///< named axes: ranks go past the alphabet
  std::vector<std::int64_t> extents;  ///< of the input, slowest first
};

/// Reads columns `id`, `dims` and `perm` (fastest axis first, out_dims[i] = dims[perm[i]], separated by blanks), as
/// cuTT, HPTT and TTC write them. Throws IoError with the line that cannot be read.
std::vector<PermuteCase> read_permute_cases(const std::string& file);

/// "bench/problems/ttc57.csv" -> "ttc57".
std::string set_name(const std::string& file);

}  // namespace ricci::tools
