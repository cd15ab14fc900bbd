// Values that a step uses, computed or copied into memory of their own first.
#pragma once

#include <string>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with two steps in place of step number `step`: the values of `node` go into a workspace storage of
/// their own, row-major over the indices of `order` (slowest first), and the step itself reads them there.
///   node   of the step: the load of a tensor that it does not write, or another operand of its product
///   order  the indices that the node's value depends on, each once
///   row    of the order, how many indices from the last one on make a row: rows begin at multiples of kRowBytes
///   stem   the storage's name, with a number where something has it
///   tf32   values, of f32, are rounded to tf32 when they are copied
Sequence copy_operand(const Sequence& sequence, std::size_t step, NodeId node, const std::vector<int>& order,
                      std::size_t row = 0, const std::string& stem = "copy", bool tf32 = false);

}  // namespace ricci::ir
