#include "runtime/host_multiply.hpp"

namespace ricci::runtime {
namespace {

// Sums that do not wait for each other: as many as two units with four cycles of latency are busy with, and as sixteen
// registers hold beside the factor.
constexpr int kSums = 12;

/// Products and sums by vectors of one register each, as the target of the function around it has them. What they are
/// at first is hidden from the compiler, which would see that all are equal.
template <class Vector>
[[gnu::always_inline]] inline void multiply_by(std::int64_t rounds) {
  Vector sums[kSums] = {}, a = {0.5};
  asm volatile("" : "+m"(a));
  for (auto& sum : sums) asm volatile("" : "+m"(sum));
  for (std::int64_t k = 0; k < rounds; ++k) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = sum * a + a;
  }
  for (auto& sum : sums) asm volatile("" : "+m"(sum));
}

template <int bytes>
using Vector [[gnu::vector_size(bytes)]] = double;

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void fused_by_64(std::int64_t rounds) { multiply_by<Vector<64>>(rounds); }
[[gnu::target("avx2,fma")]] void fused_by_32(std::int64_t rounds) { multiply_by<Vector<32>>(rounds); }
#endif
void separate_by_16(std::int64_t rounds) { multiply_by<Vector<16>>(rounds); }

}  // namespace

double multiply_add(int vector_bytes, std::int64_t rounds) {
#if defined(__x86_64__)
  if (vector_bytes == 64) {
    fused_by_64(rounds);
  } else if (vector_bytes == 32) {
    fused_by_32(rounds);
  } else
#endif
  {
    vector_bytes = 16;
    separate_by_16(rounds);
  }
  return 2.0 * kSums * (vector_bytes / 8.0) * static_cast<double>(rounds);
}

}  // namespace ricci::runtime
