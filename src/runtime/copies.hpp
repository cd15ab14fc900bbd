// Copies around the products of a sequence, on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/sequence.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

/// The sequence with operands copied, and results in other orders, where that is predicted to save time.
///   limit       bytes of workspace; -1: any
///   considered  where not null, is given each sequence that was looked at, those that a bound ruled out, too
ir::Sequence with_copies(ir::Sequence sequence, Predictions& predictions, std::int64_t limit,
                         std::vector<ir::Sequence>* considered = nullptr);

}  // namespace ricci::runtime
