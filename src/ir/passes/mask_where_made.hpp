// Zeros in a tensor in workspace, where all that read it leave elements out.
#pragma once

#include <vector>

#include "ir/builder.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// The conditions of which a guard's is made by `and`, each once.
std::vector<NodeId> parts_of(const Program& program, NodeId condition);

/// The value where the condition, an integer, is not 0; else zero. In the value's type.
NodeId selected_by(Builder& builder, NodeId condition, NodeId value);

/// Lets the step that makes a tensor in workspace store zeros wherever one of `conditions` fails.
///   load        of step number `step`, of that tensor
///   conditions  of the step, over indices of the load
/// False, with the sequence as it was, where another step writes to the tensor, or reads an element where no guard
/// with these conditions is around, or where conditions are of more than indices and numbers. Pure but for `sequence`.
bool mask_where_made(Sequence& sequence, std::size_t step, NodeId load, const std::vector<NodeId>& conditions);

}  // namespace ricci::ir
