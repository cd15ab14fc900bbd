// Loops that a permutation on the CPU is compared with in the same run.
#pragma once

#include <cstdint>
#include <vector>

namespace ricci::tools {

/// Copies with non-temporal stores, by `threads` threads: the fastest that memory allows.
void streaming_copy(void* to, const void* from, std::int64_t bytes, int threads);

/// The permutation as one writes it by hand: blocks of 32 x 32 over the fastest axes of both sides, plain loops, the
/// blocks spread over `threads` threads. Strides in elements; axes in the output's order, slowest first.
void blocked_loops(void* to, const void* from, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
                   const std::vector<std::int64_t>& to_strides, const std::vector<std::int64_t>& from_strides,
                   int threads);

}  // namespace ricci::tools
