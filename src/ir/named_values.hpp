// Which values of a program a text gives a name of its own, and how deep they are.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

/// Operations that a text writes inside of one another before it names what it has: compilers stop at 256 brackets, and
/// readers long before.
constexpr int kDeepestText = 48;

/// Per node: whether a text names it. Values that several users share, so that a text is as long as the program has
/// nodes and not as its tree would be; and values in which more than kDeepestText operations would nest. Parameters,
/// constants and the values of indices have names already. Operands that break the rules of a program are passed over.
std::vector<bool> named_values(const Program& program);

/// Values in the longest chain of values that are made of one another: how deep work may call itself that follows
/// operands.
std::size_t depth_of(const Program& program);

}  // namespace ricci::ir
