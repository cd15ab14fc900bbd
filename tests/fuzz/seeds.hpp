// How many random cases a test takes, and where it begins: what its environment asks for, or the defaults.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ricci::fuzz {

/// RICCI_FUZZ_CASES, or else the default; one of every RICCI_FUZZ_PART of that, at least one.
inline int cases(int otherwise) {
  const char *all = std::getenv("RICCI_FUZZ_CASES"), *part = std::getenv("RICCI_FUZZ_PART");
  const int count = all ? std::atoi(all) : otherwise;
  return std::max(1, part ? count / std::max(1, std::atoi(part)) : count);
}

/// RICCI_FUZZ_SEED, or else the default.
inline std::uint64_t first_seed(std::uint64_t otherwise) {
  const char* text = std::getenv("RICCI_FUZZ_SEED");
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Whether a share of the random cases says something: few may all be of one kind by chance.
inline bool enough(std::int64_t count) { return count >= 30; }

}  // namespace ricci::fuzz
