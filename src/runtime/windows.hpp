// Tensors that products read in windows, as the image of a convolution, in other orders of their axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::runtime {

/// The sequences with a factor of a step's product that is read in windows in another order, another of its axes being
/// the fastest one: written so where it is in the workspace, else copied first.
///   limit  bytes of workspace; -1: any
std::vector<ir::Sequence> windows_reordered(const ir::Sequence& sequence, std::size_t step, std::int64_t limit);

}  // namespace ricci::runtime
