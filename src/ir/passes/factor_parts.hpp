// Products of numbers as sums of products of their parts.
#pragma once

#include <array>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// A factor of a sum of products of two, both of f32.
struct FactorOrder {
  NodeId load = -1;
  std::vector<int> indices;  ///< that it depends on, slowest first: those that are summed over last
};

/// The sequence with seven steps in place of step number `step`: each factor is the sum of two tf32 numbers, and the
/// products but for that of both rests are summed, the smallest first, as one sum that is three times as long. Six
/// copies write the parts of both factors as rows in workspace storages of their own.
///   sum      of the step: adds the products, over `summed` indices, the last ones of both orders
Sequence products_of_parts(Sequence sequence, std::size_t step, NodeId sum, const std::array<FactorOrder, 2>& factors,
                           std::size_t summed);

}  // namespace ricci::ir
