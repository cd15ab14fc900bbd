// The passes over nodes: equal ones are one, operands that may change places stand in one order, and so do nodes,
// buffers and parameters.
#pragma once

#include "ir/program.hpp"

namespace ricci::ir {

/// Per node: whether it reads what the program writes.
Few<bool> reads_outputs(const Program& program);

/// Whether statements use all nodes.
bool uses_all_nodes(const Program& program);

/// Nodes that no statement uses go.
Program drop_unused(Program program);

/// Nodes that compute the same become one; operands of commutative operations may stand in any order for that.
Program share_nodes(Program program);

/// Operands that may change places, those of whole chains where they may be combined in any order, stand in an order
/// that depends on what they are alone: what reads no output first; then constants, parameters, loads by their
/// strides, and operations.
Program sort_operands(Program program);

/// Nodes in the order in which the statements need them; inputs by first use, then outputs; parameters by first use.
/// Inputs and parameters that nothing uses go.
Program number(Program program);

}  // namespace ricci::ir
