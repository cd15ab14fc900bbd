// Copies around the products of a sequence, on a GPU.
#pragma once

#include <cstdint>

#include "ir/sequence.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

/// The sequence with operands copied, and results in other orders, where that is predicted to save time.
///   limit  bytes of workspace; -1: any
ir::Sequence with_copies(ir::Sequence sequence, Predictions& predictions, std::int64_t limit);

}  // namespace ricci::runtime
