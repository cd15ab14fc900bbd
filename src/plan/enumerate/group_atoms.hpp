// What multiplies groups of contractions on a GPU, and the tiles that suit it.
#pragma once

#include <cstdint>
#include <span>

#include "ricci/tensor.hpp"

namespace ricci::plan {

/// How a block's tile is spread.
struct GroupShape {
  std::int64_t elements;
  int warps;   ///< a power of two
  int blocks;  ///< of a multiprocessor, for whose registers there is room
  int run;     ///< neighbours along the depth that a lane reads at once
};

/// What multiplies, and which shapes of tiles suit it.
struct GroupAtom {
  const char* name;
  DType type;
  int per_lane;             ///< rows and columns of an atom that a lane has
  std::int64_t most_depth;  ///< of a round
  int stages;
  double busy;  ///< what products take, over what the pipes do: fragments, barriers, places of copies, sums that move
  std::span<const GroupShape> shapes;
};
// The 18 products of CCSD(T)'s triples, all indices of 24, on an H200. In f64, by shape: 5.2, 5.2 and 6.0 ms. Lanes
// that hold 64 numbers have registers for one chunk's fragments alone, which are read one by one without being moved.
// In f32: 5.15 and 5.4 ms; with rounds of 8 in place of 24 along the depth 6.8, with operands that are copied by single
// elements 5.7, with 64 numbers a lane 6.7 to 6.9.
inline constexpr GroupShape kGroupShapes_f64[] = {
    {8192, 8, 2, 2}, {8192, 4, 2, 1}, {4096, 4, 3, 1}, {2048, 4, 4, 1}, {1024, 4, 4, 1}};
inline constexpr GroupShape kGroupShapes_f32[] = {{8192, 8, 2, 4}, {4096, 4, 3, 4}, {2048, 4, 4, 4}, {1024, 4, 4, 4}};
inline constexpr GroupAtom kGroupAtoms[] = {{"m16n8k8_f64", DType::f64, 2, 8, 3, 1.75, kGroupShapes_f64},
                                            {"fma", DType::f32, 1, 32, 2, 1.56, kGroupShapes_f32}};

}  // namespace ricci::plan
