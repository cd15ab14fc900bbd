// The depth of an operand in shared memory whose digits lie in another order there than that of an atom's positions:
// where neighbours in memory of both operands are along different indices of the sum, each is copied along its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/layout.hpp"
#include "kernel/warp_tile.hpp"

namespace ricci::kernel {

/// Where positions along the depth lie in an operand, as memory of a layout whose first coordinate are elements: one
/// mode where they have one stride. Throws PlanError where a digit does not move the operand.
Layout depth_order(const Kernel& kernel, const Access& access, const std::vector<Digit>& digits);

/// Whether its digits end where lanes, their runs and the blocks that they read at once do.
bool ends_with_lanes(const Layout& order, const Side& depth);

/// Elements before a block of the depth.
///   digit  of the block's number: it over a divisor, modulo
Affine block_place(const Layout& order, const Side& depth,
                   const std::function<Affine(std::int64_t divisor, std::int64_t modulus)>& digit);

}  // namespace ricci::kernel
