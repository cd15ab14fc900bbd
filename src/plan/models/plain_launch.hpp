// What launches of plain schedules on a GPU take of its multiprocessors, whatever they compute.
#pragma once

#include <algorithm>
#include <iterator>

#include "ir/program.hpp"
#include "ir/types.hpp"

namespace ricci::plan {

/// Cycles of a multiprocessor from one block that it begins to its next (of 60 kernels on an H200 of 64 to 256 threads
/// that do little: 141 up to 128 threads).
inline double block_cycles(int threads) {
  constexpr double kOfBlock = 141, kOfThread = 0.4;
  constexpr int kFew = 128;
  return kOfBlock + kOfThread * std::max(threads - kFew, 0);
}

/// Instructions of an operation on a GPU, of f32 and of wider types: those up to the end of a kernel that does nothing
/// else, as NVRTC 13 writes it for sm_90 (of sin, cos, tan and pow in f32 those for small arguments).
inline double instructions_of(ir::OpCode op, DType type) {
  using enum ir::OpCode;
  struct Of {
    ir::OpCode op;
    double f32, f64;
  };
  static constexpr Of kOf[] = {{div, 13, 18},    {sqrt, 10, 19},  {rsqrt, 2, 13},  {cbrt, 13, 40}, {exp, 7, 57},
                               {log, 24, 80},    {sin, 20, 48},   {cos, 20, 48},   {tan, 25, 86},  {asin, 22, 114},
                               {acos, 23, 127},  {atan, 16, 78},  {sinh, 22, 117}, {cosh, 13, 57}, {tanh, 14, 98},
                               {atan2, 50, 117}, {hypot, 28, 44}, {pow, 60, 74}};
  const auto* const of = std::find_if(std::begin(kOf), std::end(kOf), [op](const Of& one) { return one.op == op; });
  if (of == std::end(kOf) || is_integer(type)) return 1;
  return size_of(part_type(type)) < 8 ? of->f32 : of->f64;
}

/// Cycles of a multiprocessor for one operation of a warp.
inline double warp_cycles_of(DType type) {
  const bool wide = size_of(type) == 8 || is_complex(type);
  return (wide ? 0.5 : 0.25) * (is_complex(type) ? 4 : 1);
}

}  // namespace ricci::plan
