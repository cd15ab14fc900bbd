// The order in which steps run, of which some are in slices.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// f(step, values) for all steps in the order in which they run, until it returns false: those of a slice for each of
/// its blocks, with the first value of each loop's index; others once, with none.
template <class F>
void for_each_launch(std::size_t steps, const std::vector<Slice>& slices, const F& f) {
  auto slice = slices.begin();
  for (std::size_t k = 0; k < steps; ++k) {
    if (slice == slices.end() || k < slice->first) {
      if (!f(k, BlockValues())) return;
      continue;
    }
    const auto blocks = slice->blocks();
    for (std::int64_t block = 0; block < blocks; ++block) {
      const auto values = slice->values(block);
      for (k = slice->first; k < slice->last; ++k) {
        if (!f(k, values)) return;
      }
    }
    k = slice->last - 1;
    ++slice;
  }
}

}  // namespace ricci::ir
