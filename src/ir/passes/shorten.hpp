// Kernels that are too long to compile, as several.
#pragma once

#include <cstdint>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// How long a kernel may be. Compilers take time that grows faster than the length: what is longer than this is faster
/// to compile in parts, and from some length on cannot be compiled at all.
struct KernelLength {
  std::int64_t most = 4096;          ///< operations of one kernel, as length_of() counts them
  std::int64_t most_in_one = 32768;  ///< of what cannot be cut, the body of one sum: PlanError beyond
};

/// Operations of a node in that count: 0 of what has a name already, 1 of most, more of those that are many
/// instructions.
std::int64_t length_of(const Node& node);

/// Steps that are too long become several, cut where the fewest values are needed on both sides. Those go through
/// workspace storages behind the others, one element per point. Bodies of reductions are not cut. What is computed is
/// the same; where rounding is free, no product is fused across a cut.
Sequence shorten(Sequence sequence, const KernelLength& length = {});

}  // namespace ricci::ir
