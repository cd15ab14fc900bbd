// Random contractions on a device as products of cuBLAS, in each way that the planner lists: each element within the
// bound of its dot product. Where there is a device and a cuBLAS: RICCI_CUBLAS, or the usual names.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "catch.hpp"
#include "device_memory.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_product.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

std::string found_cublas() {
  if (const char* given = std::getenv("RICCI_CUBLAS"); given != nullptr && *given != '\0') return given;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
    if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return name;
  }
  return {};
}

/// What is wrong with a seed's contraction; nothing where it is right. Counts the ways.
std::string failure(Runtime& runtime, std::uint64_t seed, int& ways) {
  auto e = fuzz::random_product(seed);
  const auto before = e.tensors.back();
  EinsumOptions options = e.options(Device::gpu);
  options.workspace_limit = -1;
  const auto plan_of = [&] {
    return runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
  };
  for (const auto& candidate : plan_of().candidates()) {
    if (candidate.name.rfind("gemm", 0) != 0) continue;
    ++ways;
    options.schedule = candidate.name;
    const auto plan = plan_of();
    e.tensors.back() = before;
    std::vector<tests::DeviceMemory> copies;
    std::vector<const void*> inputs;
    for (const auto& tensor : e.tensors) {
      copies.emplace_back(tensor.begin(), tensor.bytes());
      inputs.push_back(copies.back().get() + tensor.origin());
    }
    inputs.pop_back();
    auto& result = e.tensors.back();
    void* const output = copies.back().get() + result.origin();
    plan(std::span<void* const>(&output, 1), inputs, e.call());
    copies.back().copy_to_host(result.begin());
    if (const auto wrong = fuzz::wrong_element(e, before); !wrong.empty())
      return e.text() + "\n" + plan.explain() + plan.source() + wrong;
  }
  return {};
}

}  // namespace

TEST_CASE("random contractions by cuBLAS are within the bound of their dot products") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  const auto file = found_cublas();
  if (file.empty()) RICCI_SKIP("no GPU library cuBLAS");
  RuntimeOptions with;
  with.cublas = file;
  Runtime runtime(with);
  const auto first = fuzz::first_seed(920001);
  const int count = fuzz::cases(200);
  int ways = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::string wrong;
    try {
      wrong = failure(runtime, seed, ways);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL("seed " << seed << ": " << wrong);
  }
  std::printf("%d random contractions from seed %llu: %d products of %s\n", count,
              static_cast<unsigned long long>(first), ways, file.c_str());
  if (fuzz::enough(count)) CHECK(ways > count / 4);
}
