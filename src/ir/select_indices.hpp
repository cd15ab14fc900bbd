// Which indices a program has, and in which order: dropping and reordering them with all that names them.
#pragma once

#include "ir/program.hpp"

namespace ricci::ir {

/// Calls f(affine) on every access of the program.
template <class F>
void for_each_access(Program& program, F f) {
  for (auto& node : program.nodes) {
    if (node.kind == NodeKind::load) f(node.offset);
  }
  for (auto& statement : program.statements) f(statement.offset);
}

/// Keeps the indices `order[k]`, in that order, and their coefficients. Dropped indices must not be used by any node.
void select_indices(Program& program, const Few<std::size_t>& order);

}  // namespace ricci::ir
