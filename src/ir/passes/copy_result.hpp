// A sum that a step makes, written in another order of its memory first.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with two steps in place of step number `step`: the sum `reduce` into a workspace storage of its own,
/// row-major over the indices of `order` (slowest first), and the step itself, which reads that.
///   reduce  a reduction, whose value depends on free indices of the step alone
///   order   these indices, each once
///   row     of the order, how many indices from the last one on make a row: rows begin at multiples of kRowBytes
Sequence copy_result(const Sequence& sequence, std::size_t step, NodeId reduce, const std::vector<int>& order,
                     std::size_t row);

}  // namespace ricci::ir
