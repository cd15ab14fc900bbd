// Steps whose results one other step reads, as one step with it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with what a step reads of the workspace computed where it is read, in place of steps of its own:
/// results of one statement that are written once and that no other step reads, as long as `allowed` holds for the
/// program that it becomes. Nothing where no result is.
std::optional<Sequence> computed_where_read(const Sequence& sequence, std::size_t step,
                                            const std::function<bool(const Program&)>& allowed);

}  // namespace ricci::ir
