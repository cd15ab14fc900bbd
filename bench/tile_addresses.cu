// What the addresses of a reversal's tiles cost by themselves: a copy that reads the rows of each tile where the
// permutation reads them and writes rows where it writes them. Between the two each thread passes its own elements
// through shared memory, where the permutation exchanges them with others.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 bench/tile_addresses.cu -o tile_addresses && ./tile_addresses > tile_addresses.csv
//
// Tensors of 4-byte elements with extents x, a, m, b, y, x fastest, go to y, b, m, a, x. A tile holds all x and all y,
// `read_by` values of a and `write_by` of b, so that its rows are x * read_by elements in the input and y * write_by in
// the output; `blocks` blocks share it, each with so many of its rows on either side. Shares of cudaMemcpy of the same
// bytes, medians of 11, warm, in turns with it.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <int X, int A, int M, int B, int Y>
struct Shape {
  static constexpr int x = X, a = A, m = M, b = B, y = Y;
  static constexpr long long elements = 1LL * x * a * m * b * y;
};

template <int ReadBy, int WriteBy, int Blocks, int Threads>
struct Tiling {
  static constexpr int read_by = ReadBy, write_by = WriteBy, blocks = Blocks, threads = Threads;
};

constexpr int kVector = 4;  // elements of an access

template <class S, class T>
struct Grid {
  static constexpr int along_a = (S::a + T::read_by - 1) / T::read_by, along_b = (S::b + T::write_by - 1) / T::write_by;
  static constexpr int blocks = along_a * S::m * along_b * T::blocks;
  static constexpr int positions = S::x * T::read_by * S::y * T::write_by / T::blocks / kVector;
};

/// A load that stays before the barrier: the compiler may move others to their use behind it.
__device__ float4 load(const float* from) {
  float4 value;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

template <class S, class T>
__global__ void __launch_bounds__(T::threads) copy(const float* __restrict__ from, float* __restrict__ to) {
  using G = Grid<S, T>;
  const int part = blockIdx.x % T::blocks, tile = blockIdx.x / T::blocks;
  const int b = tile % G::along_b * T::write_by, m = tile / G::along_b % S::m,
            a = tile / G::along_b / S::m * T::read_by;
  constexpr long long from_b = 1LL * S::x * S::a * S::m, from_y = from_b * S::b;
  constexpr long long to_a = 1LL * S::y * S::b * S::m, to_x = to_a * S::a;
  from += S::x * (a + S::a * (m + static_cast<long long>(S::m) * b));
  to += S::y * (b + S::b * (m + static_cast<long long>(S::m) * a));
  constexpr int read_row = S::x * T::read_by / kVector, write_row = S::y * T::write_by / kVector;
  constexpr int positions = G::positions, rounds = (positions + T::threads - 1) / T::threads;
  extern __shared__ float4 waiting[];
  float4 held[rounds];
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int position = threadIdx.x + k * T::threads;
    const int row = position / read_row + part * (S::y * T::write_by / T::blocks),
              place = position % read_row * kVector;
    const bool inside = b + row % T::write_by < S::b && a + place / S::x < S::a;
    if (position < positions && inside)
      held[k] = load(from + row / T::write_by * from_y + row % T::write_by * from_b + place);
  }
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int position = threadIdx.x + k * T::threads;
    if (position < positions) waiting[position] = held[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int position = threadIdx.x + k * T::threads;
    const int row = position / write_row + part * (S::x * T::read_by / T::blocks),
              place = position % write_row * kVector;
    const bool inside = a + row % T::read_by < S::a && b + place / S::y < S::b;
    if (position < positions && inside)
      *reinterpret_cast<float4*>(to + row / T::read_by * to_x + row % T::read_by * to_a + place) = waiting[position];
  }
}

double median(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class S, class T>
void measure(const float* from, float* to) {
  using G = Grid<S, T>;
  constexpr int kRuns = 11;
  constexpr int shared = G::positions * static_cast<int>(sizeof(float4));
  check(cudaFuncSetAttribute(copy<S, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  cudaEvent_t before, between, after;
  for (auto* event : {&before, &between, &after}) check(cudaEventCreate(event));
  std::vector<float> tiles, plain;
  for (int run = 0; run <= kRuns; ++run) {
    check(cudaEventRecord(before));
    copy<S, T><<<G::blocks, T::threads, shared>>>(from, to);
    check(cudaEventRecord(between));
    check(cudaMemcpyAsync(to, from, S::elements * sizeof(float), cudaMemcpyDeviceToDevice));
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    if (run == 0) continue;  // warms up
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, between));
    tiles.push_back(ms);
    check(cudaEventElapsedTime(&ms, between, after));
    plain.push_back(ms);
  }
  std::printf("%d %d %d %d %d,%d,%d,%d,%d,%.3f\n", S::x, S::a, S::m, S::b, S::y, S::x * T::read_by * 4,
              S::y * T::write_by * 4, T::blocks, T::threads, median(plain) / median(tiles));
}

}  // namespace

int main() {
  constexpr std::size_t kBytes = std::size_t{1} << 28;
  float *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, kBytes));
  check(cudaMalloc(&to, kBytes));
  check(cudaMemset(from, 0x3f, kBytes));
  std::printf("extents,read_row_bytes,write_row_bytes,blocks,threads,share\n");
  using Ttc25 = Shape<96, 75, 1, 75, 96>;
  using Ttc40 = Shape<48, 28, 28, 28, 48>;
  using Ttc55 = Shape<32, 15, 225, 15, 32>;
  using Ttc56 = Shape<112, 5, 225, 15, 32>;
  using Even = Shape<96, 74, 1, 74, 96>;
  using Wide = Shape<128, 56, 1, 56, 128>;
  measure<Ttc25, Tiling<1, 1, 1, 576>>(from, to);
  measure<Ttc25, Tiling<1, 1, 1, 256>>(from, to);
  measure<Ttc25, Tiling<2, 2, 4, 576>>(from, to);
  measure<Even, Tiling<1, 1, 1, 576>>(from, to);
  measure<Even, Tiling<2, 2, 4, 576>>(from, to);
  measure<Ttc40, Tiling<2, 2, 1, 576>>(from, to);
  measure<Ttc40, Tiling<4, 4, 4, 576>>(from, to);
  measure<Ttc55, Tiling<3, 3, 1, 576>>(from, to);
  measure<Ttc55, Tiling<5, 5, 4, 400>>(from, to);
  measure<Ttc56, Tiling<1, 3, 1, 336>>(from, to);
  measure<Wide, Tiling<1, 1, 1, 1024>>(from, to);
  measure<Wide, Tiling<1, 1, 1, 512>>(from, to);
  measure<Wide, Tiling<1, 1, 2, 512>>(from, to);
  check(cudaDeviceSynchronize());
}
