// Random contractions as products of a library, in each way that the planner lists: each element within the bound of
// its dot product. By a made-up library, and by OpenBLAS where this machine has it.
#include <dlfcn.h>

#include <cstdio>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_product.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

/// What is wrong with a seed's contraction; nothing where it is right. Counts the ways.
std::string failure(Runtime& runtime, std::uint64_t seed, int& ways) {
  auto e = fuzz::random_product(seed);
  const auto before = e.tensors.back();
  const auto call = e.call();
  EinsumOptions options = e.options(Device::cpu);
  options.workspace_limit = -1;
  options.threads = 1 + static_cast<int>(seed % 4);
  const auto plan_of = [&] {
    return runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
  };
  for (const auto& candidate : plan_of().candidates()) {
    if (candidate.name.rfind("gemm", 0) != 0) continue;
    ++ways;
    options.schedule = candidate.name;
    const auto plan = plan_of();
    auto pointers = e.pointers();
    void* const output = pointers.back();
    pointers.pop_back();
    e.tensors.back() = before;
    plan(std::span<void* const>(&output, 1), std::vector<const void*>(pointers.begin(), pointers.end()), call);
    if (const auto wrong = fuzz::wrong_element(e, before); !wrong.empty())
      return e.text() + "\n" + plan.explain() + plan.source() + wrong;
  }
  return {};
}

void check(const char* file, std::uint64_t usual_seed) {
  const auto first = fuzz::first_seed(usual_seed);
  const int count = fuzz::cases(30);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 4;
  options.blas = file;
  Runtime runtime(options);
  int ways = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::string wrong;
    try {
      wrong = failure(runtime, seed, ways);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL("seed " << seed << ": " << wrong);
  }
  std::printf("%d random contractions from seed %llu: %d products of %s\n", count,
              static_cast<unsigned long long>(first), ways, file);
  if (fuzz::enough(count)) CHECK(ways > count / 4);
}

}  // namespace

TEST_CASE("random contractions by a made-up library are within the bound of their dot products") {
  check(FAKE_BLAS_BATCH, 900001);
}

TEST_CASE("random contractions by OpenBLAS are within the bound of their dot products") {
  constexpr const char* kFile = "libopenblas.so.0";
  if (::dlopen(kFile, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("[SKIP] no %s\n", kFile);
    return;
  }
  check(kFile, 910001);
}
