// How the tile of a GPU's block is spread over its warps.
#pragma once

#include <array>
#include <cstdint>

namespace ricci::kernel {

/// A digit of a warp's number: of the rows' warps, or of the columns'.
struct WarpDigit {
  std::int8_t extent = 1;
  bool of_rows = false;
};

/// CUDA: how the tile of a block is spread over warps, and how many neighbours one lane holds. Warps of different
/// `batches` have products of their own, of as many rows and columns.
struct Spread {
  int warp_rows = 1, warp_columns = 1;
  int run_rows = 1, run_columns = 1, run_depth = 1;
  int batches = 1;
  /// Slowest first, of each side in the order of its own digits. All 1: the columns' warps are the fastest digit.
  std::array<WarpDigit, 6> order = {};
  bool ordered() const noexcept { return order.front().extent > 1; }
  int warps() const noexcept { return warp_rows * warp_columns * batches; }
};

}  // namespace ricci::kernel
