// Random programs of one kernel, with their memory: sums of products, expressions over a grid, integer motifs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/rounding.hpp"
#include "ir/program.hpp"

namespace ricci::fuzz {

/// What a buffer's elements lie in: larger than what the program reaches, so that stray writes show.
struct Memory {
  struct alignas(256) Line {
    unsigned char at[256];
  };
  std::vector<Line> lines;
  std::int64_t origin = 0;  ///< bytes from the first byte to element 0, which may lie outside

  unsigned char* begin() { return lines.data()->at; }
  const unsigned char* begin() const { return lines.data()->at; }
  std::size_t bytes() const { return lines.size() * sizeof(Line); }
  void* element_0() {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(begin()) + static_cast<std::uintptr_t>(origin));
  }
};

/// Fields: statements over a grid in one real type without sums, of which vector kernels are made.
enum class Kind { einsum, grid, motif, fields };

struct RandomProgram {
  std::uint64_t seed = 0;
  ir::Program program;
  /// The same statements before any folding: what the program must compute. Buffers and parameters are the same.
  ir::Program reference;
  std::vector<Memory> memory;  ///< per buffer, before the program runs
  std::vector<Scalar> params;
  bool bits = true;  ///< results are defined to the last bit

  std::string text() const;
};

struct ProgramLimits {
  std::int64_t points = 3000;  ///< free points
  std::int64_t work = 20000;   ///< points of all indices
};

/// What `memory` must hold after the program ran, by the reference.
struct Expectation {
  std::vector<Memory> memory;
  Expected storages;  ///< see rounding.hpp
};
Expectation expect(const RandomProgram& random);

/// Where `memory` differs from that; empty where it does not.
std::string difference(const RandomProgram& random, const Expectation& expectation, std::vector<Memory>& memory);

/// The same seed gives the same program.
RandomProgram random_program(std::uint64_t seed, Kind kind, const ProgramLimits& limits = {});

}  // namespace ricci::fuzz
