// The driver on a real device, with kernels from NVRTC.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"

namespace cuda = ricci::jit::cuda;
using Catch::Matchers::ContainsSubstring;
using ricci::DeviceError;
using ricci::jit::CudaObject;
using ricci::tests::DeviceMemory;

namespace {

CudaObject compile(const std::string& source, int sm) {
  ricci::jit::CudaCompileOptions options;
  options.sm = sm;
  return ricci::jit::compile_cuda(source, "kernel", options);
}

CudaObject compile(const std::string& source) { return compile(source, cuda::device_info(0).sm); }

// y[i] = 2 x[i] + i, one thread an element.
const std::string kScale = R"(extern "C" __global__ void scale(const float* x, float* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + i;
}
)";

// Reverses n <= blockDim.x * k values through dynamic shared memory.
const std::string kReverse = R"(extern "C" __global__ void reverse(const double* x, double* y, unsigned n) {
  extern __shared__ double tile[];
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}
)";

template <typename Call>
std::string text_of(Call&& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

void run_scale(void* function, cuda::Stream stream, unsigned n) {
  std::vector<float> x(n), y(n);
  std::iota(x.begin(), x.end(), 0.5f);
  const DeviceMemory in(x.data(), n * 4), out(n * 4);
  void *from = in.get(), *to = out.get(), *arguments[] = {&from, &to, &n};
  cuda::launch(function, (n + 255) / 256, 1, 1, 256, 0, stream, arguments);
  cuda::synchronize(stream);
  cuda::copy_to_host(y.data(), out.get(), n * 4);
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i) wrong += y[i] != 2 * x[i] + static_cast<float>(i);
  CHECK(wrong == 0);
}

}  // namespace

#define RICCI_NEED_GPU() \
  if (!cuda::available()) RICCI_SKIP(("no GPU: " + cuda::unavailable_reason()).c_str())

TEST_CASE("a device describes itself") {
  RICCI_NEED_GPU();
  CHECK(cuda::unavailable_reason().empty());
  REQUIRE(cuda::device_count() >= 1);
  const cuda::DeviceInfo info = cuda::device_info(0);
  std::printf("%s, sm_%d, %d multiprocessors, %lld bytes, L2 %lld bytes, %d bits at %d kHz, %s, %s, CUDA %s\n",
              info.name.c_str(), info.sm, info.multiprocessors, static_cast<long long>(info.memory_bytes),
              static_cast<long long>(info.l2_bytes), info.memory_bus_bits, info.memory_clock_khz, info.uuid.c_str(),
              info.pci_bus_id.c_str(), cuda::driver_version().c_str());
  CHECK(info.sm >= 50);
  CHECK(info.multiprocessors > 0);
  CHECK(info.memory_bytes > (1 << 28));
  CHECK(info.l2_bytes > 0);
  CHECK(info.shared_bytes_per_block >= 48 * 1024);
  CHECK(info.shared_bytes_per_multiprocessor >= info.shared_bytes_per_block);
  CHECK(info.registers_per_multiprocessor >= 32768);
  CHECK(info.max_threads_per_block >= 512);
  CHECK(info.clock_khz > 0);
  CHECK(info.memory_clock_khz > 0);
  CHECK(info.memory_bus_bits > 0);
  CHECK(info.uuid.size() == 40);
  CHECK(info.pci_bus_id.size() >= 12);
  CHECK(cuda::current_device() == 0);
  CHECK_THAT(text_of([] { cuda::device_info(99); }), ContainsSubstring("no CUDA device 99"));
  CHECK_THAT(text_of([] { cuda::device_info(-1); }), ContainsSubstring("no CUDA device -1"));
}

TEST_CASE("a kernel is loaded, launched and read back") {
  RICCI_NEED_GPU();
  const CudaObject object = compile(kScale);
  const cuda::Module module(object.cubin, 0);
  void* function = module.function("scale", 0);
  const cuda::OwnedStream stream;
  for (const unsigned n : {1u, 255u, 100003u}) {
    run_scale(function, nullptr, n);
    run_scale(function, stream.get(), n);
  }
}

TEST_CASE("an image need not be aligned") {
  RICCI_NEED_GPU();
  const CudaObject object = compile(kScale);
  std::vector<std::byte> shifted(object.cubin.size() + 3);
  std::copy(object.cubin.begin(), object.cubin.end(), shifted.begin() + 3);
  const cuda::Module module(std::span<const std::byte>(shifted).subspan(3), 0);
  run_scale(module.function("scale", 0), nullptr, 1000);
}

TEST_CASE("a thread that never used CUDA can launch and free") {
  RICCI_NEED_GPU();
  const CudaObject object = compile(kScale);
  const cuda::Module module(object.cubin, 0);
  void* function = module.function("scale", 0);
  constexpr unsigned kCount = 512;
  std::vector<float> x(kCount, 1), y(kCount);
  const DeviceMemory in(x.data(), kCount * 4);
  void* out = cuda::allocate(kCount * 4);
  std::string failure;
  std::thread([&] {
    unsigned n = kCount;
    void *from = in.get(), *to = out, *arguments[] = {&from, &to, &n};
    failure = text_of([&] { cuda::launch(function, 2, 1, 1, 256, 0, nullptr, arguments); });
  }).join();
  CHECK(failure == "no error");
  cuda::synchronize();
  cuda::copy_to_host(y.data(), out, kCount * 4);
  CHECK(y[7] == 9);
  std::thread([&] { cuda::release(out); }).join();
  CHECK(cuda::pointer_info(out).bytes == 0);
}

TEST_CASE("memory in the order of a stream") {
  RICCI_NEED_GPU();
  const cuda::OwnedStream stream;
  void* const first = cuda::allocate_in_order(1000, 0, stream.get());
  REQUIRE(first != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
  CHECK(cuda::pointer_info(first).device);
  cuda::release_in_order(first, 0, stream.get());
  CHECK(cuda::allocate_in_order(0, 0, nullptr) == nullptr);
  CHECK_THAT(text_of([&] { cuda::allocate_in_order(std::size_t{1} << 60, 0, stream.get()); }),
             ContainsSubstring("cuMemAllocFromPoolAsync") && ContainsSubstring("1152921504606846976 bytes"));
  cuda::synchronize();
}

TEST_CASE("a hundred kilobytes of dynamic shared memory") {
  RICCI_NEED_GPU();
  const std::int64_t most = cuda::device_info(0).shared_bytes_per_block;
  constexpr std::size_t kBytes = 100 * 1024;
  if (most < static_cast<std::int64_t>(kBytes)) {
    std::printf("device 0 has no 100 KB of shared memory: not tried\n");
    return;
  }
  const CudaObject object = compile(kReverse);
  const cuda::Module module(object.cubin, 0);
  void* function = module.function("reverse", kBytes);
  CHECK(module.function("reverse", 60 * 1024) == function);  // a smaller request leaves the limit where it is
  unsigned n = kBytes / 8;
  std::vector<double> x(n), y(n);
  std::iota(x.begin(), x.end(), 1.0);
  const DeviceMemory in(x.data(), kBytes), out(kBytes);
  void *from = in.get(), *to = out.get(), *arguments[] = {&from, &to, &n};
  cuda::launch(function, 1, 1, 1, 256, kBytes, nullptr, arguments);
  cuda::copy_to_host(y.data(), out.get(), kBytes);
  CHECK(std::equal(x.rbegin(), x.rend(), y.begin()));

  const auto too_much = static_cast<std::size_t>(most) + 16;
  CHECK_THAT(text_of([&] { module.function("reverse", too_much); }),
             ContainsSubstring(std::to_string(too_much)) && ContainsSubstring(std::to_string(most)));
}

TEST_CASE("pointers are told apart") {
  RICCI_NEED_GPU();
  int local = 0;
  std::vector<char> heap(1000);
  for (const void* pointer :
       {static_cast<const void*>(&local), static_cast<const void*>(heap.data()), static_cast<const void*>(nullptr)}) {
    const cuda::PointerInfo info = cuda::pointer_info(pointer);
    CHECK_FALSE(info.device);
    CHECK(info.ordinal == -1);
    CHECK(info.bytes == 0);
  }
  const DeviceMemory buffer(10000);
  const auto* inside = buffer.get() + 777;
  const cuda::PointerInfo info = cuda::pointer_info(inside);
  CHECK(info.device);
  CHECK(info.ordinal == 0);
  CHECK(info.base == reinterpret_cast<std::uintptr_t>(buffer.get()));
  CHECK(info.bytes == 10000);
  CHECK_FALSE(info.managed);
  CHECK_FALSE(info.pinned);
}

TEST_CASE("pinned and managed memory are told apart") {
  RICCI_NEED_GPU();
  cuda::current_device();
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(driver != nullptr);
  const auto allocate_pinned = reinterpret_cast<int (*)(void**, std::size_t)>(::dlsym(driver, "cuMemAllocHost_v2"));
  const auto free_pinned = reinterpret_cast<int (*)(void*)>(::dlsym(driver, "cuMemFreeHost"));
  const auto allocate_managed =
      reinterpret_cast<int (*)(void**, std::size_t, unsigned)>(::dlsym(driver, "cuMemAllocManaged"));
  void *pinned = nullptr, *managed = nullptr;
  REQUIRE(allocate_pinned(&pinned, 4096) == 0);
  const cuda::PointerInfo host = cuda::pointer_info(static_cast<char*>(pinned) + 8);
  CHECK(host.pinned);
  CHECK_FALSE(host.device);
  CHECK_FALSE(host.managed);
  CHECK(host.ordinal == -1);
  CHECK(host.base == reinterpret_cast<std::uintptr_t>(pinned));
  CHECK(free_pinned(pinned) == 0);
  REQUIRE(allocate_managed(&managed, 4096, 1) == 0);  // 1: reachable from every stream
  const cuda::PointerInfo both = cuda::pointer_info(managed);
  CHECK(both.managed);
  CHECK(both.device);
  CHECK_FALSE(both.pinned);
  CHECK(both.bytes == 4096);
  cuda::release(managed);
  CHECK_FALSE(cuda::pointer_info(managed).device);
}

TEST_CASE("memory, fills, copies and events") {
  RICCI_NEED_GPU();
  CHECK(cuda::allocate(0) == nullptr);
  cuda::release(nullptr);
  constexpr std::size_t kBytes = 1 << 20;
  const DeviceMemory a(kBytes), b(kBytes);
  cuda::fill_bytes(a.get(), 0x5a, kBytes);
  const cuda::OwnedStream stream;
  cuda::synchronize();
  cuda::Event start, stop;
  start.record(stream.get());
  cuda::copy_on_device(b.get(), a.get(), kBytes, stream.get());
  stop.record(stream.get());
  stop.wait();
  const double ms = cuda::Event::ms_between(start, stop);
  CHECK(ms > 0);
  CHECK(ms < 1000);
  std::vector<unsigned char> host(kBytes);
  cuda::copy_to_host(host.data(), b.get(), kBytes);
  CHECK(std::count(host.begin(), host.end(), 0x5a) == static_cast<std::ptrdiff_t>(kBytes));
}

TEST_CASE("misuse is a typed error that says what was wrong, and harms nothing") {
  RICCI_NEED_GPU();
  const CudaObject object = compile(kScale);
  const cuda::Module module(object.cubin, 0);
  void* function = module.function("scale", 0);
  unsigned n = 0;
  void *null = nullptr, *arguments[] = {&null, &null, &n};

  CHECK_THAT(text_of([&] { module.function("no_such_kernel", 0); }),
             ContainsSubstring("no_such_kernel") && ContainsSubstring("CUDA_ERROR_NOT_FOUND"));
  CHECK_THAT(text_of([&] { cuda::launch(nullptr, 1, 1, 1, 32, 0, nullptr, arguments); }), ContainsSubstring("null"));
  CHECK_THAT(text_of([&] { cuda::launch(function, 1, 1, 1, 2048, 0, nullptr, arguments); }),
             ContainsSubstring("cuLaunchKernel") && ContainsSubstring("2048 threads"));
  CHECK_THAT(text_of([&] { cuda::launch(function, 0, 1, 1, 32, 0, nullptr, arguments); }),
             ContainsSubstring("0x1x1 blocks"));
  CHECK_THAT(text_of([&] { cuda::launch(function, 1, 1, 1, 32, 60 * 1024, nullptr, arguments); }),
             ContainsSubstring("61440 bytes"));
  CHECK_THAT(text_of([&] { cuda::launch(function, 1, 1, 1, 32, std::size_t{1} << 40, nullptr, arguments); }),
             ContainsSubstring("CUDA_ERROR_INVALID_VALUE"));

  CHECK_THAT(text_of([&] { cuda::Module(object.cubin, 99); }), ContainsSubstring("no CUDA device 99"));
  std::vector<std::byte> damaged(object.cubin.begin(), object.cubin.begin() + object.cubin.size() / 2);
  CHECK_THAT(text_of([&] { cuda::Module(damaged, 0); }), ContainsSubstring("not a whole CUBIN"));
  CHECK_THAT(text_of([&] { cuda::Module({}, 0); }), ContainsSubstring("not a whole CUBIN"));
  const int other = cuda::device_info(0).sm / 10 == 8 ? 90 : 80;
  CHECK_THAT(text_of([&] { cuda::Module(compile(kScale, other).cubin, 0); }),
             ContainsSubstring("cuModuleLoadData") && ContainsSubstring("another architecture"));

  CHECK_THAT(text_of([] { cuda::allocate(std::size_t{1} << 50); }),
             ContainsSubstring("1125899906842624 bytes") && ContainsSubstring("CUDA_ERROR_OUT_OF_MEMORY"));
  int local = 0;
  CHECK_THAT(text_of([&] { cuda::fill_bytes(&local, 0, 4); }),
             ContainsSubstring("cuMemsetD8") && ContainsSubstring("CUDA_ERROR_INVALID_VALUE"));
  cuda::Event unrecorded, other_unrecorded;
  CHECK_THAT(text_of([&] { cuda::Event::ms_between(unrecorded, other_unrecorded); }),
             ContainsSubstring("cuEventElapsedTime"));

  run_scale(function, nullptr, 1000);  // the context still works
}

TEST_CASE("modules of a second device leave the current one alone") {
  RICCI_NEED_GPU();
  if (cuda::device_count() < 2) {
    std::printf("one device only: the second was not tried\n");
    return;
  }
  const CudaObject object = compile(kScale, cuda::device_info(1).sm);
  REQUIRE(cuda::current_device() == 0);
  const cuda::Module module(object.cubin, 1);
  void* function = module.function("scale", 0);
  CHECK(cuda::current_device() == 0);
  unsigned n = 0;
  void *null = nullptr, *arguments[] = {&null, &null, &n};
  CHECK_THAT(text_of([&] { cuda::launch(function, 1, 1, 1, 32, 0, nullptr, arguments); }),
             ContainsSubstring("loaded on device 1 while device 0"));
  std::thread([&] {
    CHECK(text_of([&] { cuda::launch(function, 1, 1, 1, 32, 0, nullptr, arguments); }) == "no error");
    CHECK(cuda::current_device() == 1);
    run_scale(function, nullptr, 1000);
  }).join();
}
