// What a GPU plan refuses: without a device here, and with wrong pointers where there is one (device_pointers).
#include <fmt/format.h>

#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
using Catch::Matchers::StartsWith;

namespace {

PermuteOptions gpu(int target_sm = 0) {
  PermuteOptions options;
  options.device = Device::gpu;
  options.target_sm = target_sm;
  return options;
}

Runtime memory_only() {
  RuntimeOptions options;
  options.cache_dir = "off";
  return Runtime(std::move(options));
}

}  // namespace

#ifndef RICCI_TEST_DEVICE
// CTest hides the devices of this machine from this program.
TEST_CASE("a plan for a GPU that is not there") {
  auto runtime = memory_only();
  const auto layout = Layout::row_major(DType::f64, {4, 5});
  std::string text;
  try {
    runtime.plan_permute("ab->ba", layout, gpu());
  } catch (const DeviceError& error) {
    text = error.what();
  }
  CHECK(text == fmt::format("no GPU: {}. Plan for the CPU, or name a target (sm_90) to generate and inspect",
                            jit::cuda::unavailable_reason()));
}

TEST_CASE("a plan that was made to be looked at") {
  if (jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  auto runtime = memory_only();
  const auto plan = runtime.plan_permute("ab->ba", Layout::row_major(DType::f64, {4, 5}), gpu(90));
  CHECK_THAT(plan.source(), Catch::Matchers::ContainsSubstring("__global__"));
  std::vector<double> a(20, 1), b(20, -1);
  std::string text;
  try {
    plan(b.data(), a.data());
  } catch (const PlanError& error) {
    text = error.what();
  }
  CHECK(text ==
        "this plan was made for sm_90 without a device, to be looked at; leave out PlanOptions::target_sm to plan "
        "for a device that is there");
  CHECK(b == std::vector<double>(20, -1));
}

TEST_CASE("a target that no compiler knows") {
  if (jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  auto runtime = memory_only();
  CHECK_THROWS_AS(runtime.plan_permute("ab->ba", Layout::row_major(DType::f64, {4, 5}), gpu(1)), PlanError);
}
#else
TEST_CASE("pointers that a device cannot use") {
  if (!jit::cuda::available()) RICCI_SKIP("no GPU");
  auto runtime = memory_only();
  const auto layout = Layout::row_major(DType::f64, {64, 32});
  const auto plan = runtime.plan_permute("ab->ba", layout, gpu());
  std::vector<double> host(64 * 32, -1);
  const auto bytes = static_cast<std::int64_t>(host.size() * sizeof(double));
  const auto ordinal = jit::cuda::current_device();
  const auto size = static_cast<std::size_t>(bytes);
  const tests::DeviceMemory in(size), out(size);
  void *const a = in.get(), *const b = out.get();
  const auto text_of = [&](void* output, const void* input) -> std::string {
    try {
      plan(output, input);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(text_of(b, host.data()) ==
        fmt::format("the input ({}) is not device memory; copy the tensor to device {}, or plan for the CPU",
                    static_cast<void*>(host.data()), ordinal));
  CHECK(text_of(host.data(), a) ==
        fmt::format("the output ({}) is not device memory; copy the tensor to device {}, or plan for the CPU",
                    static_cast<void*>(host.data()), ordinal));
  CHECK(host == std::vector<double>(host.size(), -1));
  void* late = static_cast<char*>(b) + 256;
  CHECK_THAT(text_of(late, a), StartsWith(fmt::format("the output ({}) reaches bytes [256, {})", late, bytes + 256)));
  CHECK(text_of(b, a) == "nothing was thrown");
}
#endif
