// What a GPU's memory gives for copies of runs that lie apart: the limit of permutations whose runs are as long.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 bench/scattered_copy.cu -o scattered_copy && ./scattered_copy > scattered.csv
//
// 208 MiB are copied in runs of so many bytes, in order or to and from places far apart; aligned to the run's length,
// or 64 bytes further on. Shares of cudaMemcpy of the same bytes, medians of 15, warm, queued one after the other.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

namespace {

constexpr int kThreads = 256, kVectors = 4;  // of a block, and of a thread: 16 bytes each
constexpr std::uint32_t kBytes = 208u << 20;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Run number k comes from, or goes to, place k * factor modulo their number.
struct Places {
  std::uint32_t count, factor;
  unsigned long long reciprocal;  // 2^64 / count
  __device__ std::uint32_t of(std::uint32_t k) const {
    const unsigned long long product = static_cast<unsigned long long>(k) * factor;
    const auto rest = static_cast<std::uint32_t>(product - __umul64hi(product, reciprocal) * count);
    return rest >= count ? rest - count : rest;
  }
};

template <int Vectors>
__global__ void __launch_bounds__(kThreads)
    copy(const uint4* __restrict__ from, uint4* __restrict__ to, Places read, Places written, bool scatter_read,
         bool scatter_written, std::uint32_t total) {
  uint4 kept[kVectors];
  std::uint32_t target[kVectors];
#pragma unroll
  for (int u = 0; u < kVectors; ++u) {
    const std::uint32_t i = (blockIdx.x * kVectors + u) * kThreads + threadIdx.x, run = i / Vectors,
                        inside = i % Vectors;
    target[u] = (scatter_written ? written.of(run) : run) * Vectors + inside;
    if (i < total) kept[u] = __ldg(from + (scatter_read ? read.of(run) : run) * Vectors + inside);
  }
#pragma unroll
  for (int u = 0; u < kVectors; ++u) {
    if ((blockIdx.x * kVectors + u) * kThreads + threadIdx.x < total) to[target[u]] = kept[u];
  }
}

double median_ms(const std::function<void()>& run) {
  constexpr int kRuns = 15;
  std::vector<cudaEvent_t> events(2 * kRuns);
  for (auto& event : events) check(cudaEventCreate(&event));
  for (int r = 0; r < 3; ++r) run();
  for (int r = 0; r < kRuns; ++r) {
    check(cudaEventRecord(events[2 * r]));
    run();
    check(cudaEventRecord(events[2 * r + 1]));
  }
  check(cudaDeviceSynchronize());
  std::vector<double> times;
  for (int r = 0; r < kRuns; ++r) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events[2 * r], events[2 * r + 1]));
    times.push_back(ms);
  }
  for (auto& event : events) check(cudaEventDestroy(event));
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

template <int Vectors>
void measure(uint4* from, uint4* to) {
  const std::uint32_t runs = kBytes / 16 / Vectors, total = runs * Vectors;
  const double whole =
      median_ms([&] { check(cudaMemcpyAsync(to, from, std::size_t{16} * total, cudaMemcpyDeviceToDevice)); });
  const auto places = [&](double share) {
    auto factor = static_cast<std::uint32_t>(runs * share);
    while (std::gcd(factor, runs) != 1) ++factor;
    return Places{runs, factor, ~0ull / runs};
  };
  const auto read_places = places(0.381966), written_places = places(0.381966 * 0.77);
  const auto share = [&](int further, bool read, bool written) {
    const double ms = median_ms([&] {
      copy<Vectors><<<(total + kThreads * kVectors - 1) / (kThreads * kVectors), kThreads>>>(
          from + further, to + further, read_places, written_places, read, written, total);
    });
    check(cudaGetLastError());
    return whole / ms;
  };
  std::printf("%d,%.3f", 16 * Vectors, share(0, false, false));
  for (const int further : {0, 4}) {
    std::printf(",%.3f,%.3f,%.3f", share(further, true, false), share(further, false, true),
                share(further, true, true));
  }
  std::printf("\n");
}

template <int... Vectors>
void measure_all(uint4* from, uint4* to) {
  (measure<Vectors>(from, to), ...);
}

}  // namespace

int main() {
  uint4 *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, kBytes + 64));
  check(cudaMalloc(&to, kBytes + 64));
  check(cudaMemset(from, 0x3f, kBytes + 64));
  std::printf("run_bytes,in_order,read_apart,written_apart,both_apart,read_apart_64,written_apart_64,both_apart_64\n");
  measure_all<4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 128, 192, 256, 512, 1000, 4000, 8000>(from,
                                                                                                                  to);
}
