// Steps that compute what an earlier one left in workspace.
#pragma once

#include <cstdint>

#include "ir/sequence.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

/// The sequence without steps that write a workspace storage as an earlier step has written another one, from the same
/// tensors, which nothing has changed since: what reads it reads the other one. Products of one tensor in several
/// terms of a sum have one copy of it so. As it was where that needs more workspace than `limit` bytes (-1: any).
ir::Sequence without_repeats(ir::Sequence sequence, Predictions& predictions, std::int64_t limit);

}  // namespace ricci::runtime
