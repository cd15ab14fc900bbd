// A permutation of the bench: where its elements go, and whether they went there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device.hpp"
#include "io/cases.hpp"

namespace ricci::tools {

/// Strides of the input's axes in the output's order.
struct View {
  std::vector<std::int64_t> extents, to, from;
  std::vector<int> order;  ///< per axis of the output: which one of the input it is
};

View view_of(const PermuteCase& c);

/// Looks at elements of the bench's output drawn at random, and at the last one. Throws InternalError at a wrong one.
void check_sample(Bench& bench, const PermuteCase& c, DType type);

/// Compares the bench's output, a peer's, with what Ricci's was, bit for bit. Peers multiply by 1, which may change the
/// bits of what is not a number: there it has to stay that. Throws InternalError, naming the first element that
/// differs.
void check_equal(Bench& bench, const PermuteCase& c, DType type, const std::string& peer,
                 const std::vector<unsigned char>& own);

}  // namespace ricci::tools
