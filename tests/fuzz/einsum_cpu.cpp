// Random einsums on the CPU, from the spec to the result, as a user runs them: within the bound of their arithmetic,
// and not a byte beside the output.
#include <cstdio>
#include <cstring>

#include "catch.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

/// Bytes of the output's memory that no element covers.
bool same_outside(const fuzz::Tensor& before, const fuzz::Tensor& after) {
  const auto reach = ir::reach_of(before.layout());
  const auto size = size_of(before.layout().type);
  const auto first = static_cast<std::size_t>(before.origin() + reach.first * size);
  const auto end = static_cast<std::size_t>(before.origin() + (reach.last + 1) * size);
  return std::memcmp(before.begin(), after.begin(), first) == 0 &&
         std::memcmp(before.begin() + end, after.begin() + end, before.bytes() - end) == 0;
}

void check(Runtime& runtime, std::uint64_t seed) {
  auto e = fuzz::random_einsum(seed);
  INFO(e.text());
  const auto want = e.expected();
  const auto before = e.tensors.back();
  EinsumOptions options;
  options.conjugate = e.problem.conjugate;
  options.path = seed % 2 == 0 ? EinsumOptions::Path::flops : EinsumOptions::Path::memory;
  // A factor that is an argument of the kernel takes other values than the plan was made with.
  Call call;
  options.alpha = e.alpha;
  options.beta = e.beta;
  if (e.problem.alpha == ir::Factor::any) {
    options.alpha = 2;
    call.alpha = e.alpha;
  }
  if (e.problem.beta == ir::Factor::any) {
    options.beta = 3;
    call.beta = e.beta;
  }
  const auto plan = runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
  auto pointers = e.pointers();
  void* const output = pointers.back();
  pointers.pop_back();
  const std::vector<const void*> inputs(pointers.begin(), pointers.end());
  plan(std::span<void* const>(&output, 1), inputs, call);
  const auto difference = fuzz::compare(fuzz::sequence_of(ir::lower(e.problem)), want, e.pointers());
  if (!difference.empty()) FAIL(difference << "\n" << plan.program() << plan.explain() << plan.source());
  const bool inside = same_outside(before, e.tensors.back());
  if (!inside) FAIL("wrote outside of the output\n" << plan.source());
}

}  // namespace

TEST_CASE("random einsums on the CPU are the interpreter's within their bound") {
  const auto first = fuzz::first_seed(300001);
  const int count = fuzz::cases(600);
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
