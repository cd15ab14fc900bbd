// What launches of plain schedules on a GPU take of its multiprocessors, whatever they compute.
#pragma once

#include <algorithm>

#include "ir/types.hpp"

namespace ricci::plan {

/// Cycles of a multiprocessor from one block that it begins to its next (of 60 kernels on an H200 of 64 to 256 threads
/// that do little: 141 up to 128 threads).
inline double block_cycles(int threads) {
  constexpr double kOfBlock = 141, kOfThread = 0.4;
  constexpr int kFew = 128;
  return kOfBlock + kOfThread * std::max(threads - kFew, 0);
}

/// Cycles of a multiprocessor for one operation of a warp.
inline double warp_cycles_of(DType type) {
  const bool wide = size_of(type) == 8 || is_complex(type);
  return (wide ? 0.5 : 0.25) * (is_complex(type) ? 4 : 1);
}

}  // namespace ricci::plan
