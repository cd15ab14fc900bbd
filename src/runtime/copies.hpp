// Copies around the products of a sequence, on a GPU.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ir/sequence.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

/// The sequence with operands copied, and results in other orders, where that is predicted to save time.
///   limit       bytes of workspace; -1: any
///   considered  where not null, is given each sequence that was looked at, those that a bound ruled out, too
///   below       predicted us of the whole sequence that are of use: copies that do not lead there need not be found
ir::Sequence with_copies(ir::Sequence sequence, Predictions& predictions, std::int64_t limit,
                         std::vector<ir::Sequence>* considered = nullptr,
                         double below = std::numeric_limits<double>::infinity());

}  // namespace ricci::runtime
