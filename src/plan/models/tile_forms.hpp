// How a GPU tile can be transferred, as the enumeration and the cost model distinguish it.
#pragma once

#include <cstdint>

namespace ricci::plan {

/// The transfer of a staged tile: through shared memory as it is read; in rectangles that are transposed in registers;
/// skewed to the output's sectors; or in the registers of a warp.
enum class TileTransfer : std::uint8_t { straight, register_transpose, skewed, in_warp };
inline constexpr int kTileTransfers = 4;

inline constexpr int kWarpThreads = 256;  // of a block in which each warp has a tile of its own

/// The vectors and transfers that a tile allows.
struct TileForms {
  int read_vector = 1, write_vector = 1;
  bool transposes = false, skews = false, in_warp = false;  ///< transfers that are possible besides `straight`
};

/// Range of the number of threads of a block.
struct ThreadRange {
  std::int64_t least = 1, most = 512;
};

}  // namespace ricci::plan
