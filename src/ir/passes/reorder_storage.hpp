// A storage of the workspace in another order of its axes: its layout is nobody's but the sequence's.
#pragma once

#include <optional>
#include <vector>

#include "ir/axes.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with a workspace storage laid out by other strides, wherever it is read and written; nothing where the
/// axes are not all of it, or an access does not go along them.
///   axes   of an access to the storage
///   order  numbers of the axes, each once, the slowest first
std::optional<Sequence> reorder_storage(Sequence sequence, int storage, const std::vector<Axis>& axes,
                                        const std::vector<std::size_t>& order);

}  // namespace ricci::ir
