// Groups of statements that share operations or loads.
#pragma once

#include <vector>

#include "ir/program.hpp"

namespace ricci::plan {

/// Splits a program's statements into parts that can be computed one after the other: no operation is needed by two
/// parts, and none reads what another one writes. Parts that share loads are joined, those with the rarest loads first,
/// while the tensors that one part reads and writes number no more than `streams`. Ascending within a part and by first
/// statement.
std::vector<std::vector<int>> parts_of(const ir::Program& program, std::size_t streams);

}  // namespace ricci::plan
