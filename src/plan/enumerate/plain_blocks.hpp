// Plain schedules of thread blocks on a GPU.
#pragma once

#include <vector>

#include "plan/enumerate/plain_shapes.hpp"
#include "plan/enumerate/register_tile.hpp"

namespace ricci::plan {

/// The schedule of blocks of a shape, each of whose threads has a tile of results, with its name and the number of
/// blocks; without what it takes.
///   order  free indices by which blocks are numbered, fastest first
Candidate plain_blocks(const ir::Program& program, const std::vector<int>& order, const BlockShape& shape,
                       const RegisterTile& tile);

}  // namespace ricci::plan
