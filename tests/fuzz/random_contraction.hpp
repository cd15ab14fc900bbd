// Random contractions with random valid directives: einsums that are sums of products, tiled, ordered and staged by
// chance.
#pragma once

#include <optional>

#include "fuzz/random_einsum.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"

namespace ricci::fuzz {

struct RandomContraction {
  RandomEinsum einsum;
  ir::Canonical program;
  kernel::Contraction contraction;
  kernel::Directives directives;

  std::string text() const;  ///< everything needed to see what failed
  /// Element 0 of each buffer of the program; values of its parameters.
  std::vector<void*> pointers();
  std::vector<Scalar> params() const;
};

/// Nothing where the seed's einsum is not a contraction of two operands, or has no points.
///   vector_bytes  widest vectors that lanes of an atom fill
std::optional<RandomContraction> random_contraction(std::uint64_t seed, int vector_bytes,
                                                    std::int64_t max_points = 20000);

}  // namespace ricci::fuzz
