// The tiles that blocks of a contraction on a GPU may have: of its rows, its columns and its depth.
#pragma once

#include <vector>

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

enum class CutSide { rows, columns, depth };

/// Those that are worth a look.
std::vector<tiles::Tile> cut_tiles(const GpuContraction& contraction, CutSide side);

/// Whether rows and columns make a tile of the result that is.
bool suits(const GpuContraction& contraction, const tiles::Tile& rows, const tiles::Tile& columns);

}  // namespace ricci::plan
