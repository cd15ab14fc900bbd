// Which indices of a program its values depend on.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

using Indices = std::vector<bool>;  ///< per index of the program, whether it is meant

/// Per node, the indices that its value depends on: not those that it runs over.
std::vector<Indices> index_uses(const Program& program);

/// Indices in the order in which an access goes through memory, slowest first; those that it has not come last.
std::vector<int> by_memory(const Indices& which, const Affine& access);

/// Which of the reader's indices goes through a result as each of the writer's does, of equal extent; nothing where
/// none does, or where they begin apart. Indices that the writer sums over, and those of one value, have -1.
std::optional<std::vector<int>> matched(const Program& writer, const Program& reader, const Affine& read);

Indices either(const Indices& x, const Indices& y);
bool within(const Indices& few, const Indices& many);

/// How many combinations of these indices there are.
double elements(const Program& program, const Indices& of);

}  // namespace ricci::ir
