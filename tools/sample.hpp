// A permutation of the bench: where its elements go, and whether they went there.
#pragma once

#include <cstdint>
#include <vector>

#include "bench_device.hpp"
#include "cases.hpp"

namespace ricci::tools {

/// Strides of the input's axes in the output's order.
struct View {
  std::vector<std::int64_t> extents, to, from;
  std::vector<int> order;  ///< per axis of the output: which one of the input it is
};

View view_of(const PermuteCase& c);

/// Looks at elements of the bench's output drawn at random, and at the last one. Throws InternalError at a wrong one.
///   hptt  the output is HPTT's, which may change the bits of what is not a number
void check_sample(Bench& bench, const PermuteCase& c, DType type, bool hptt);

}  // namespace ricci::tools
