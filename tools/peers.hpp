// What a permutation on the CPU is compared with in the same run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::tools {

/// Copies with non-temporal stores, by `threads` threads: the fastest that memory allows.
void streaming_copy(void* to, const void* from, std::int64_t bytes, int threads);

/// The permutation as one writes it by hand: blocks of 32 x 32 over the fastest axes of both sides, plain loops, the
/// blocks spread over `threads` threads. Strides in elements; axes in the output's order, slowest first.
void blocked_loops(void* to, const void* from, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
                   const std::vector<std::int64_t>& to_strides, const std::vector<std::int64_t>& from_strides,
                   int threads);

/// HPTT (github.com/springer13/hptt), from a shared library that the user has built, through its C interface: each call
/// makes a plan by estimate and runs it.
class Hptt {
 public:
  /// Throws IoError when the library cannot be opened or has not those functions.
  explicit Hptt(const std::string& library);
  ~Hptt();
  Hptt(const Hptt&) = delete;
  Hptt& operator=(const Hptt&) = delete;

  /// f32, f64, c64 and c128, up to 2^31 - 1 along an axis.
  static bool takes(DType type, const std::vector<std::int64_t>& extents);
  /// Extents of the input, slowest first; axis k of the output is axis order[k] of the input.
  void run(void* to, const void* from, DType type, const std::vector<std::int64_t>& extents,
           const std::vector<int>& order, int threads) const;

 private:
  void* library_;
  void* functions_[4] = {};
};

}  // namespace ricci::tools
