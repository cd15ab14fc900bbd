// Right kernels: results, no faults, and the traffic that a GPU's counters would show.
#include <complex>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ricci/error.hpp"
#include "simt/simulator.hpp"

namespace test_kernels {

using namespace ricci::simt;

namespace {

const Order kOrders[] = {Order::forward, Order::reverse, Order::random};

std::string device_types() {
  std::ifstream file(RICCI_TEST_DIR "/../../src/codegen/device/types.cuh");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> counting(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// B[x][y] = A[y][x] for 96 x 80, in tiles of 32 rows with the given pitch.
Report transpose(int pitch, const Options& options, std::vector<double>& b) {
  Launch launch;
  launch.source =
      R"(extern "C" __global__ void __launch_bounds__(256) transpose(const double* __restrict__ A, double* __restrict__ B) {
  static __shared__ double tile[32 * PITCH];
  const int lane = threadIdx.x & 31;
  const int row = threadIdx.x >> 5;
  const int x = blockIdx.x % 3 * 32;
  const int y = blockIdx.x / 3 * 32;
  for (int r = row; r < 32; r += 8)
    if (y + r < 80) tile[r * PITCH + lane] = A[(y + r) * 96 + x + lane];
  __syncthreads();
  for (int r = row; r < 32; r += 8)
    if (y + lane < 80) B[(x + r) * 80 + y + lane] = tile[lane * PITCH + r];
}
)";
  for (std::size_t at; (at = launch.source.find("PITCH")) != std::string::npos;)
    launch.source.replace(at, 5, std::to_string(pitch));
  launch.kernel = "transpose";
  launch.parameter_types = {"const double*", "double*"};
  launch.grid_x = 9;
  launch.block = 256;
  const std::vector<double> a = counting(96 * 80);
  b.assign(a.size(), 0.0);
  const double* a_begin = a.data();
  double* b_begin = b.data();
  void* arguments[] = {&a_begin, &b_begin};
  const Buffer buffers[] = {{a.data(), a.size() * 8, false}, {b.data(), b.size() * 8, true}};
  const Report report = run(launch, arguments, buffers, options);
  INFO(report.text());
  CHECK(report.clean());
  CHECK(report.blocks == 9);
  bool right = true;
  for (std::size_t y = 0; y < 80; ++y)
    for (std::size_t x = 0; x < 96; ++x) right = right && b[x * 80 + y] == a[y * 96 + x];
  CHECK(right);
  return report;
}

}  // namespace

TEST_CASE("a transpose through a padded tile has no bank conflicts") {
  for (const Order order : kOrders) {
    Options options;
    options.order = order;
    options.check_uninitialised = true;
    std::vector<double> b;
    const Report report = transpose(33, options, b);
    INFO(report.text());
    CHECK(report.shared.requests == 240 + 288);  // 80 rows of 3 tiles in; 96 rows of 3 tiles out
    CHECK(report.shared.wavefronts == report.shared.ideal);
    CHECK(report.read.requests == 240);
    CHECK(report.read.bytes == 96 * 80 * 8);
    CHECK(report.read.ideal == 96 * 80 * 8 / 32);
    CHECK(report.written.bytes == 96 * 80 * 8);
    CHECK(report.written.requests == 288);
  }
}

TEST_CASE("a transpose through a tile of 32 columns has 16-way conflicts in each half-warp") {
  std::vector<double> b;
  const Report report = transpose(32, {}, b);
  INFO(report.text());
  // Each full column of 32 doubles lies in two banks; a half-warp needs 16 wavefronts for it.
  std::uint64_t read_units = 0, read_ideal = 0, write_units = 0;
  for (const LineTraffic& line : report.lines)
    if (line.space == Space::shared) (line.write ? write_units : read_units) += line.units, read_ideal += line.ideal;
  CHECK(write_units == 240 * 2);
  CHECK(read_units == 96u * 2 * 32 + 96u * 16);
  CHECK(report.shared.ideal == 240 * 2 + 96u * 2 * 2 + 96u);
}

TEST_CASE("a reduction by shuffles") {
  Launch launch;
  launch.source = device_types() + R"(
extern "C" __global__ void sum(const double* __restrict__ A, double* __restrict__ B, double alpha) {
  double value = A[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) value += shuffle_xor(value, step);
  if (threadIdx.x % 32 == 0) B[blockIdx.x * 2 + threadIdx.x / 32] = alpha * value;
}
extern "C" __global__ void rotate(const c128* A, c128* B) {
  const c128 mine = load<vec<c128, 1>>(A + threadIdx.x).at[0];
  store(B + threadIdx.x, vec<c128, 1>{{shuffle(mine, (int)threadIdx.x + 1)}});
}
)";
  launch.kernel = "sum";
  launch.parameter_types = {"const double*", "double*", "double"};
  launch.grid_x = 5;
  launch.block = 64;
  const std::vector<double> a = counting(320);
  std::vector<double> b(10);
  const double* a_begin = a.data();
  double* b_begin = b.data();
  double alpha = 0.5;
  void* arguments[] = {&a_begin, &b_begin, &alpha};
  const Buffer buffers[] = {{a.data(), a.size() * 8, false}, {b.data(), b.size() * 8, true}};
  SimulatedKernel kernel(launch);
  for (const Order order : kOrders) {
    Options options;
    options.order = order;
    std::fill(b.begin(), b.end(), 0.0);
    const Report report = kernel.run(arguments, buffers, options);
    INFO(report.text());
    CHECK(report.clean());
    for (std::size_t i = 0; i < 10; ++i) CHECK(b[i] == 0.5 * (32.0 * static_cast<double>(i) * 32 + 528));
    CHECK(report.shared.requests == 0);
    CHECK(report.read.requests == 10);
    CHECK(report.written.sectors == 10);
    CHECK(report.written.distinct <= 4);
  }
  alpha = 2;
  CHECK(kernel.run(arguments, buffers).clean());
  CHECK(b[0] == 2 * 528);

  using Complex = std::complex<double>;
  alignas(16) Complex in[32], out[32] = {};
  for (int i = 0; i < 32; ++i) in[i] = {1.0 * i, -2.0 * i};
  launch.kernel = "rotate";
  launch.parameter_types = {"const c128*", "c128*"};
  launch.grid_x = 1;
  launch.block = 32;
  const Complex* in_begin = in;
  Complex* out_begin = out;
  void* rotate_arguments[] = {&in_begin, &out_begin};
  const Buffer rotate_buffers[] = {{in, sizeof in, false}, {out, sizeof out, true}};
  const Report report = run(launch, rotate_arguments, rotate_buffers);
  INFO(report.text());
  CHECK(report.clean());
  for (int i = 0; i < 32; ++i) CHECK(out[i] == in[(i + 1) % 32]);
  CHECK(report.read.requests == 1);
  CHECK(report.read.sectors == 16);
}

TEST_CASE("a copy by vectors of 16 bytes") {
  Launch launch;
  launch.source = device_types() + R"(
extern "C" __global__ void copy(const float* __restrict__ A, float* __restrict__ B, u32 n) {
  const u32 i = (blockIdx.x * 128 + threadIdx.x) * 4;
  if (i + 4 <= n)
    store_nontemporal(B + i, load<vec<float, 4>>(A + i));
  else
    for (u32 j = i; j < n; ++j) store(B + j, load<float>(A + j));
}
)";
  launch.kernel = "copy";
  launch.parameter_types = {"const float*", "float*", "u32"};
  launch.grid_x = 2;
  launch.block = 128;
  constexpr unsigned kCount = 1003;
  alignas(32) float a[kCount], b[kCount] = {};
  for (unsigned i = 0; i < kCount; ++i) a[i] = static_cast<float>(i);
  const float* a_begin = a;
  float* b_begin = b;
  unsigned n = kCount;
  void* arguments[] = {&a_begin, &b_begin, &n};
  const Buffer buffers[] = {{a, sizeof a, false}, {b, sizeof b, true}};
  const Report report = run(launch, arguments, buffers);
  INFO(report.text());
  CHECK(report.clean());
  CHECK(std::memcmp(a, b, sizeof a) == 0);
  CHECK(report.read.requests == 8 + 3);  // 8 warps of vectors, then three elements of one thread
  CHECK(report.read.sectors == 125 + 3);
  CHECK(report.read.distinct == (sizeof a + 31) / 32);
  CHECK(report.written.bytes == sizeof b);
}

TEST_CASE("dynamic shared memory beyond 48 KB, three grid dimensions, small types") {
  Launch launch;
  launch.source = device_types() + R"(
extern "C" __global__ void reverse(const u8* __restrict__ A, u8* __restrict__ B) {
  extern __shared__ u8 whole[];
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  for (u32 i = threadIdx.x; i < 65536; i += blockDim.x) whole[i] = A[block * 65536 + i];
  __syncthreads();
  for (u32 i = threadIdx.x; i < 65536; i += blockDim.x) B[block * 65536 + i] = whole[65535 - i];
}
)";
  launch.kernel = "reverse";
  launch.parameter_types = {"const u8*", "u8*"};
  launch.grid_x = launch.grid_y = launch.grid_z = 2;
  launch.block = 1000;
  launch.dynamic_shared = 65536;
  std::vector<unsigned char> a(8 * 65536), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<unsigned char>(i * 7 + i / 65536);
  const unsigned char* a_begin = a.data();
  unsigned char* b_begin = b.data();
  void* arguments[] = {&a_begin, &b_begin};
  const Buffer buffers[] = {{a.data(), a.size(), false}, {b.data(), b.size(), true}};
  Options options;
  options.order = Order::random;
  const Report report = run(launch, arguments, buffers, options);
  INFO(report.text());
  CHECK(report.clean());
  bool right = true;
  for (std::size_t i = 0; i < a.size(); ++i) right = right && b[i] == a[i / 65536 * 65536 + 65535 - i % 65536];
  CHECK(right);
  CHECK(report.shared.wavefronts == report.shared.ideal);
}

TEST_CASE("lanes that have parted in a round of a loop meet again in the next one") {
  // Every other lane writes in each round: requests of a warp are rounds, nested loops and early exits or not.
  Launch launch;
  launch.source = R"(
extern "C" __global__ void odd(const int* __restrict__ A, int* __restrict__ B) {
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    if ((A[32 * k + t] & 1) == 1) B[32 * k + t] = k;
    for (int r = 0; r < 2; ++r) {
      if (t >= 16 && r == 1) break;
      B[128 + 64 * k + 32 * r + t] = r;
    }
  }
}
)";
  launch.kernel = "odd";
  launch.parameter_types = {"const int*", "int*"};
  launch.block = 32;
  launch.as_written = true;
  alignas(32) int a[128], b[128 + 256] = {};
  std::iota(a, a + 128, 0);
  const int* a_begin = a;
  int* b_begin = b;
  void* arguments[] = {&a_begin, &b_begin};
  const Buffer buffers[] = {{a, sizeof a, false}, {b, sizeof b, true}};
  for (const Order order : kOrders) {
    Options options;
    options.order = order;
    const Report report = run(launch, arguments, buffers, options);
    INFO(report.text());
    CHECK(report.clean());
    CHECK(report.read.requests == 4);
    CHECK(report.read.sectors == 4 * 4);
    CHECK(report.written.requests == 4 + 4 * 2);
    CHECK(report.written.sectors == 4 * 4 + 4 * (4 + 2));
  }
}

TEST_CASE("text that is no kernel is a compile error with its line") {
  Launch launch;
  launch.source = "extern \"C\" __global__ void k(double* A) {\n  A[0] = undeclared;\n}\n";
  launch.kernel = "k";
  launch.parameter_types = {"double*"};
  CHECK_THROWS_AS(SimulatedKernel(launch), ricci::CompileError);
  CHECK_THROWS_WITH(SimulatedKernel(launch),
                    Catch::Matchers::ContainsSubstring("kernel:2:10: error: use of undeclared"));
}

}  // namespace test_kernels
