#include "runtime/host_multiply.hpp"

namespace ricci::runtime {
namespace {

// Sums that do not wait for each other: as many as two units with four cycles of latency are busy with, and as sixteen
// registers hold beside the factor.
constexpr int kSums = 12;

// Vectors of one register each. What they are at first is hidden from the compiler, which would see that all are equal.
#if defined(__x86_64__)

[[gnu::target("avx512f")]] void fused_by_64(std::int64_t rounds) {
  using Vector [[gnu::vector_size(64)]] = double;
  Vector sums[kSums] = {}, a = {0.5};
  asm volatile("" : "+v"(a));
  for (auto& sum : sums) asm volatile("" : "+v"(sum));
  for (std::int64_t k = 0; k < rounds; ++k) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = sum * a + a;
  }
  for (auto& sum : sums) asm volatile("" : "+v"(sum));
}

[[gnu::target("avx2,fma")]] void fused_by_32(std::int64_t rounds) {
  using Vector [[gnu::vector_size(32)]] = double;
  Vector sums[kSums] = {}, a = {0.5};
  asm volatile("" : "+x"(a));
  for (auto& sum : sums) asm volatile("" : "+x"(sum));
  for (std::int64_t k = 0; k < rounds; ++k) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = sum * a + a;
  }
  for (auto& sum : sums) asm volatile("" : "+x"(sum));
}

#endif

/// Products and sums of 16 bytes.
void separate_by_16(std::int64_t rounds) {
  using Vector [[gnu::vector_size(16)]] = double;
  Vector sums[kSums] = {}, a = {0.5};
  asm volatile("" : "+m"(a));
  for (auto& sum : sums) asm volatile("" : "+m"(sum));
  for (std::int64_t k = 0; k < rounds; ++k) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = sum * a + a;
  }
  for (auto& sum : sums) asm volatile("" : "+m"(sum));
}

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
