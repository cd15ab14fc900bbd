// Loops whose rounds are one pipeline on a GPU: what copies run ahead through, and where it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel::cuda {

/// A loop and those inside of it with nothing between them, which are one to a pipeline.
std::vector<const Loop*> nest_of(const Loop& loop);

/// Tiles that a block makes one after the other, each in rounds of a pipeline between other work.
struct TileLoop {
  const Loop* loop = nullptr;
  Body before = {}, after = {};          ///< of a tile's rounds
  std::vector<const Loop*> rounds = {};  ///< nest_of() their loop
};
/// Those of a loop where copies of the next tile's first rounds may come while a tile's last ones are multiplied and
/// its results are written; nothing where it is none. The loop is to outlive them.
std::optional<TileLoop> tile_loop(const Loop& loop);

/// Conditions on the number of a round of a nest, without that number: those of its outermost loop but for the end of
/// an index, past which copies bring zeros.
///   inner  rounds of the loops inside of it
///   tiles  whether that loop is of tiles, of which none is past the end
std::vector<Condition> ends_of(const Kernel& kernel, const std::vector<const Loop*>& nest, std::int64_t inner,
                               bool tiles);

}  // namespace ricci::kernel::cuda
