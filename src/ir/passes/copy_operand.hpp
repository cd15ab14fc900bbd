// A tensor that a step reads, copied into another order of its memory first.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with two steps in place of step number `step`: a copy of what `load` reads into a workspace storage of
/// its own, row-major over the indices of `order` (slowest first), and the step itself, which reads that.
///   load   a node of the step that loads a tensor, not one that the step writes
///   order  the indices that the load's elements depend on, each once
///   row    of the order, how many indices from the last one on make a row: rows begin at multiples of kRowBytes
Sequence copy_operand(Sequence sequence, std::size_t step, NodeId load, const std::vector<int>& order,
                      std::size_t row = 0);

}  // namespace ricci::ir
