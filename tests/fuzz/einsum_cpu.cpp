// Random einsums on the CPU, from the spec to the result, as a user runs them: within the bound of their arithmetic,
// and not a byte beside the output.
#include <cstdio>

#include "catch.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

void check(Runtime& runtime, std::uint64_t seed) {
  auto e = fuzz::random_einsum(seed);
  INFO(e.text());
  const auto want = e.expected();
  const auto before = e.tensors.back();
  const auto options = e.options(Device::cpu);
  const auto plan = runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
  if (options.workspace_limit >= 0) CHECK(plan.info().workspace_bytes <= options.workspace_limit);
  auto pointers = e.pointers();
  void* const output = pointers.back();
  pointers.pop_back();
  const std::vector<const void*> inputs(pointers.begin(), pointers.end());
  plan(std::span<void* const>(&output, 1), inputs, e.call());
  const auto difference = e.difference(want, before);
  if (!difference.empty()) FAIL(difference << "\n" << plan.program() << plan.explain() << plan.source());
}

}  // namespace

TEST_CASE("random einsums on the CPU are the interpreter's within their bound") {
  const auto first = fuzz::first_seed(300001);
  const int count = fuzz::cases(100);
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  for (int k = 0; k < count; ++k) {
    try {
      check(runtime, first + static_cast<std::uint64_t>(k));
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(k) << ": " << error.what());
    }
  }
  std::printf("%d random einsums from seed %llu on the CPU\n", count, static_cast<unsigned long long>(first));
  REQUIRE(count > 0);
}
