// Random groups of contractions, one sum with several products in it, on the CPU: within the bound of their sums, and
// the same bits for one to eight threads.
#include <cmath>
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_group.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/sums_by_threads.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

namespace group_cpu_test {

using namespace ricci;
using fuzz::Group;

namespace {

/// Throws where a tree, after any directive of a candidate, is not what it should be.
void verify_candidates(const std::string& text) {
  const auto program = ir::canonicalise(ir::lower(Program::parse(text)).steps.at(0).program);
  for (const auto& candidate : plan::candidates(program, plan::CpuModel{}))
    kernel::verify(candidate.schedule, program, kernel::Target::cpu);
}

template <class T>
std::string failure(Runtime& runtime, const Group& group, std::mt19937_64& random, int& fused) {
  std::normal_distribution<T> normal;
  std::vector<std::vector<T>> factors;
  for (const auto elements : group.factors) {
    auto& values = factors.emplace_back(static_cast<std::size_t>(elements));
    for (auto& value : values) value = normal(random);
  }
  const auto empty = std::vector<T>(static_cast<std::size_t>(group.results), std::nan(""));
  // Both round, each in every term.
  const double relative = 2 * (group.terms + 8) * std::numeric_limits<T>::epsilon() / 2;
  std::string schedule;
  auto wrong = fuzz::wrong_sums(runtime, group.text, group.all_added, factors, empty, relative, schedule);
  fused += schedule.empty() || schedule.rfind("plain", 0) == 0 ? 0 : 1;
  return wrong;
}

}  // namespace

TEST_CASE("random groups of contractions on the CPU are sums of products, to the same bits for any number of threads") {
  const auto first = fuzz::first_seed(800001);
  const int count = fuzz::cases(12);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  int fused = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const Group group(random);
    INFO("seed " << seed << "\n" << group.text);
    std::string wrong;
    try {
      verify_candidates(group.text);
      wrong = group.type == DType::f64 ? failure<double>(runtime, group, random, fused)
                                       : failure<float>(runtime, group, random, fused);
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL(wrong);
  }
  std::printf("%d random groups from seed %llu, %d of them by tiles of the result\n", count,
              static_cast<unsigned long long>(first), fused);
  if (fuzz::enough(count)) CHECK(fused > count / 10);
}

TEST_CASE("sums of a group pass from split to split in registers on the CPU") {
  const auto program = Program::parse(
      "index a = 21\nindex b = 4\nindex c = 11\nindex k = 10\nindex l = 6\ninput A(a, b, k) : f64\n"
      "input B(k, c) : f64\ninput E(l, a) : f64\ninput F(c, b, l) : f64\noutput y(a, b, c) : f64\n"
      "y(a, b, c) = sum(k, A(a, b, k) * B(k, c)) - sum(l, E(l, a) * F(c, b, l))\n");
  std::vector<std::vector<double>> factors;
  std::vector<const void*> from;
  for (const std::size_t elements : {21 * 4 * 10, 10 * 11, 6 * 21, 11 * 4 * 6}) {
    auto& values = factors.emplace_back(elements);
    for (std::size_t k = 0; k < elements; ++k) values[k] = static_cast<double>((7 * k + 3 * elements) % 11) - 5;
  }
  for (const auto& values : factors) from.push_back(values.data());
  std::vector<double> want(21 * 4 * 11), got(want.size());
  Runtime::interpret_program(program, std::vector<void*>{want.data()}, from);
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  PlanOptions asked;
  asked.schedule =
      "products 1; tile a:2; order task a0; stage A at a0 scratch b c a; stage B at a0 scratch c d;"
      "atom fma rows a b columns d depth c lanes 4; products 2; tile a:2; order task a0; stage C at a0 scratch e a;"
      "stage D at a0 scratch e d b; atom fma rows a columns d b depth e lanes 4; exchange";
  const auto plan = runtime.plan_program(program, asked);
  plan(std::vector<void*>{got.data()}, from);
  INFO(plan.source());
  CHECK(got == want);
  CHECK(plan.source().find("_block") == std::string::npos);
}

}  // namespace group_cpu_test
