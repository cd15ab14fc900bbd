// What a GPU plan refuses: without a device here, and with wrong pointers where there is one (device_pointers).
#include <fmt/format.h>

#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

namespace devices_test {

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

TEST_CASE("limits of a target that are none") {
  auto runtime = memory_only();
  const auto text_of = [&](PermuteOptions options, const TargetLimits& limits) -> std::string {
    options.target_limits = limits;
    try {
      runtime.plan_permute("ab->ba", Layout::row_major(DType::f64, {4, 5}), options);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(text_of({}, {.copy_GBs = 3000}) ==
        "limits of a target are for a GPU that is not there; name it, as sm_90, or leave them out");
  CHECK(text_of(gpu(), {.multiprocessors = 132}) == text_of({}, {.copy_GBs = 3000}));
  CHECK(text_of(gpu(90), {.copy_GBs = -1, .multiprocessors = 132, .clock_MHz = 1980}) ==
        "a target of 132 multiprocessors at 1980 MHz that copies at -1 GB/s; give figures above 0, or 0 for the usual "
        "one");
}

TEST_CASE("schedules that a target does not run") {
  auto runtime = memory_only();
  const std::vector<Layout> inputs = {Layout::row_major(DType::f64, {40, 1000}),
                                      Layout::row_major(DType::f64, {1000, 24})};
  const auto text_of = [&](int sm, const std::string& order, const std::string& atom) -> std::string {
    EinsumOptions options;
    options.device = Device::gpu;
    options.target_sm = sm;
    options.schedule = "tile a:32\ntile c:16\ntile b:256:16\n" + order + "\nstage A at b1 async a b pad 4\n" +
                       "stage B at b1 async b c pad 4\n" + atom + "\npipeline b1 3";
    try {
      runtime.plan_einsum("ab,bc->ac", inputs, options);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  const std::string alone = "order task a0 c0 sum b0 b1", together = "order task a0 c0 cluster b0 sum b1";
  const std::string small = "atom m8n8k4_f64 rows a columns c depth b warps 2x1 runs 1x1x1";
  const std::string large = "atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2";
  for (const int sm : {80, 89}) {
    CHECK(text_of(sm, together, small) ==
          fmt::format("schedule: {}: blocks of a cluster work together from sm_90 on, and this is for sm_{}", together,
                      sm));
    CHECK(text_of(sm, alone, large) ==
          fmt::format("schedule: {}: tensor cores multiply so from sm_90 on, and this is for sm_{}", large, sm));
  }
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

}  // namespace devices_test
