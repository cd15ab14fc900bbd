// Random einsums on the CPU, from the spec to the result, as a user runs them: within the bound of their arithmetic,
// and not a byte beside the output.
#include <cstdio>
#include <optional>

#include "catch.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/ricci.hpp"

namespace einsum_cpu_test {

using namespace ricci;

namespace {

/// Some operands, but not all: none where there is one alone.
std::vector<bool> some_of(std::size_t operands, std::uint64_t seed) {
  std::vector<bool> constant(operands);
  const auto all = (std::uint64_t{1} << operands) - 1;
  for (std::size_t k = 0; k < operands; ++k) constant[k] = ((1 + seed % (all - 1)) >> k & 1) != 0;
  return constant;
}

void check(Runtime& runtime, std::uint64_t seed, bool constants) {
  auto e = fuzz::random_einsum(seed);
  if (constants && e.problem.inputs.size() < 2) return;
  INFO(e.text());
  const auto want = e.expected();
  const auto before = e.tensors.back();
  auto options = e.options(Device::cpu);
  if (constants) options.constant = some_of(e.problem.inputs.size(), seed);
  const auto plan = runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
  if (options.workspace_limit >= 0) CHECK(plan.info().workspace_bytes <= options.workspace_limit);
  auto pointers = e.pointers();
  void* const output = pointers.back();
  pointers.pop_back();
  std::vector<const void*> inputs, constant;
  for (std::size_t k = 0; k < pointers.size(); ++k) {
    (k < options.constant.size() && options.constant[k] ? constant : inputs).push_back(pointers[k]);
  }
  auto call = e.call();
  std::optional<Packed> packed;
  if (constants) {
    packed = plan.pack(constant);
    call.packed = &*packed;
  }
  plan(std::span<void* const>(&output, 1), inputs, call);
  const auto difference = e.difference(want, before);
  if (!difference.empty()) FAIL(difference << "\n" << plan.program() << plan.explain() << plan.source());
}

void check_all(bool constants, int count) {
  const auto first = fuzz::first_seed(300001);
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  for (int k = 0; k < count; ++k) {
    try {
      check(runtime, first + static_cast<std::uint64_t>(k), constants);
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(k) << ": " << error.what());
    }
  }
  std::printf("%d random einsums from seed %llu on the CPU\n", count, static_cast<unsigned long long>(first));
  REQUIRE(count > 0);
}

}  // namespace

TEST_CASE("random einsums on the CPU are the interpreter's within their bound") { check_all(false, fuzz::cases(60)); }

TEST_CASE("so are those that were not once") {
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  check(runtime, 7001059, false);  // complex products side by side, for which Clang makes wrong vectors of 64 bytes
}

TEST_CASE("and so are those of which some operands are packed once") { check_all(true, (fuzz::cases(60) + 2) / 3); }

}  // namespace einsum_cpu_test
