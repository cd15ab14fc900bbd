// Sums that many values of a statement have in common as steps of their own.
#pragma once

#include <optional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with a step in whose place are several: first its sums (and extrema and the like) that are the same for
/// kLeastShared values of the result or more, each into workspace, then the rest, which reads them, such as the sum of
/// x(i, j) / sum(k, x(i, k)). Nothing where there are none. Each sum keeps its order: exact programs, too.
std::optional<Sequence> sums_apart(const Sequence& sequence, std::size_t step);

constexpr std::int64_t kLeastShared = 8;  ///< fewer are computed again in less time than they are read

}  // namespace ricci::ir
