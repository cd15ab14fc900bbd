// What the simulator promises of products of fragments, matrix loads, rounding and asynchronous copies, on a GPU.
#include <cstdio>

#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "simt/matrix.hpp"
#include "simt/tensor_core_kernels.hpp"

namespace test_tensor_core_gpu {

namespace cuda = ricci::jit::cuda;
using namespace ricci::simt;
using ricci::tests::DeviceMemory;

namespace {

ricci::jit::CudaObject compile(const std::string& text) {
  ricci::jit::CudaCompileOptions options;
  options.sm = cuda::device_info(0).sm;
  return ricci::jit::compile_cuda(portable_part() + device_part() + text, "device functions", options);
}

void run_on_gpu(OneWarp& one) {
  const cuda::Module module(compile(one.text).cubin, 0);
  std::vector<DeviceMemory> memory;
  for (const auto& buffer : one.buffers) memory.emplace_back(buffer.data(), buffer.size());
  std::vector<void*> begins, arguments;
  for (const DeviceMemory& each : memory) begins.push_back(each.get());
  for (void*& begin : begins) arguments.push_back(&begin);
  cuda::launch(module.function(one.name, 0), 1, 1, 1, 32, 0, nullptr, arguments.data());
  memory.back().copy_to_host(one.out().data());
}

// What the simulator makes of the same registers.
std::vector<std::byte> simulated(const Atom& atom, const OneWarp& one) {
  std::vector<std::byte> result = one.buffers[2];
  std::array<const void*, 32> a, b;
  std::array<void*, 32> c;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    a[lane] = one.buffers[0].data() + lane * one.buffers[0].size() / 32;
    b[lane] = one.buffers[1].data() + lane * one.buffers[1].size() / 32;
    c[lane] = result.data() + lane * result.size() / 32;
  }
  multiply(atom, c, a, b);
  return result;
}

}  // namespace

#define RICCI_NEED_GPU() \
  if (!cuda::available()) RICCI_SKIP(("no GPU: " + cuda::unavailable_reason()).c_str())

TEST_CASE("products of fragments on a GPU") {
  RICCI_NEED_GPU();
  const int sm = cuda::device_info(0).sm;
  for (const Atom& atom : ricci::kernel::kAtoms) {
    if (sm < atom.sm) continue;
    INFO(atom.name);
    int differ = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const AtomCase given = atom_case(atom, seed % 2 == 0, seed);
      OneWarp one = atom_launch(atom, given);
      const auto promised = unpack(atom.c, simulated(atom, one));
      run_on_gpu(one);
      const auto result = unpack(atom.c, one.out());
      for (std::size_t i = 0; i < result.size(); ++i) {
        INFO(i << ": " << result[i] << " and " << given.expected[i] << ", simulated " << promised[i]);
        REQUIRE(std::fabs(result[i] - given.expected[i]) <= given.bound[i]);
        // What the simulator promises bit for bit.
        if (seed % 2 == 0 || atom.c.type != AtomType::f32) REQUIRE(result[i] == promised[i]);
        differ += result[i] != promised[i];
        ++all;
      }
    }
    std::printf("%s: %d of %d elements differ from the simulator's\n", std::string(atom.name).c_str(), differ, all);
  }
}

TEST_CASE("matrix loads on a GPU") {
  RICCI_NEED_GPU();
  for (const Atom& atom : ricci::kernel::kAtoms)
    for (const Fragment* fragment : {&atom.a, &atom.b})
      for (const bool transposed : {false, true}) {
        const int bits = ricci::kernel::bits_of(fragment->type);
        if (bits == 64 || (transposed && bits != 16)) continue;
        INFO(atom.name << (fragment == &atom.a ? ", A" : ", B") << (transposed ? ", transposed" : ""));
        MatrixLoad load = matrix_load(*fragment, transposed, 11);
        run_on_gpu(load.launch);
        CHECK(load.launch.out() == load.expected);
      }
}

TEST_CASE("numbers rounded to tf32 on a GPU") {
  RICCI_NEED_GPU();
  OneWarp one = rounding_launch();
  run_on_gpu(one);
  const auto out = values_of<std::uint32_t>(one.out());
  const auto x = numbers_to_round();
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(i << ": " << x[i] << " " << std::hex << out[2 * i] << " " << out[2 * i + 1]);
    const float nearest = std::bit_cast<float>(out[2 * i]);
    if (std::isnan(x[i])) {
      CHECK(std::isnan(nearest));
      continue;
    }
    CHECK(std::bit_cast<std::uint32_t>(nearest) == std::bit_cast<std::uint32_t>(rounded_to_tf32(x[i])));
    if (!std::isfinite(nearest)) continue;
    CHECK(out[2 * i + 1] == std::bit_cast<std::uint32_t>(rounded_to_tf32(x[i] - nearest)));
  }
}

TEST_CASE("sums of many threads on a GPU") {
  RICCI_NEED_GPU();
  OneWarp one = reduce_launch();
  run_on_gpu(one);
  CHECK(values_of<double>(one.out()) == reduced());
}

TEST_CASE("a product staged by asynchronous copies on a GPU") {
  RICCI_NEED_GPU();
  if (cuda::device_info(0).sm < 90) RICCI_SKIP("no GPU: the kernel needs sm_90");
  const cuda::Module module(compile(gemm_kernel()).cubin, 0);
  int m = 192, n = 128, k = 72;
  std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)),
      c(static_cast<std::size_t>(m * n));
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> real(-1, 1);
  for (double& x : a) x = real(random);
  for (double& x : b) x = real(random);
  const DeviceMemory a_memory(a.data(), a.size() * 8), b_memory(b.data(), b.size() * 8), c_memory(c.size() * 8);
  void *a_begin = a_memory.get(), *b_begin = b_memory.get(), *c_begin = c_memory.get();
  void* arguments[] = {&a_begin, &b_begin, &c_begin, &n, &k};
  cuda::launch(module.function("gemm", 0), static_cast<unsigned>(m / 64), static_cast<unsigned>(n / 64), 1, 128, 0,
               nullptr, arguments);
  c_memory.copy_to_host(c.data());
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum = std::fma(a[static_cast<std::size_t>(i * k + l)], b[static_cast<std::size_t>(l * n + j)], sum);
      wrong += c[static_cast<std::size_t>(i * n + j)] != sum;
    }
  CHECK(wrong == 0);
}

}  // namespace test_tensor_core_gpu
