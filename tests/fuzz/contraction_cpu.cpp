// Random contractions on the CPU, by the model's choice and by candidates drawn at random: each element within the
// bound of its dot product, checked in a wider type, and the same bits for one to eight threads.
#include <cstdio>
#include <random>
#include <set>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_product.hpp"
#include "ricci/ricci.hpp"

namespace contraction_cpu_test {

using namespace ricci;

namespace {

struct Counts {
  int blocked = 0, plain = 0;  ///< by kind of schedule
};

/// What is wrong with a seed's contraction; nothing where it is right.
std::string failure(Runtime& runtime, std::uint64_t seed, Counts& counts) {
  auto e = fuzz::random_product(seed);
  std::mt19937_64 random(seed);
  const auto before = e.tensors.back();
  const auto call = e.call();
  EinsumOptions options = e.options(Device::cpu);
  options.workspace_limit = -1;
  const auto run = [&](int threads) {
    options.threads = threads;
    const auto plan = runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
    auto pointers = e.pointers();
    void* const output = pointers.back();
    pointers.pop_back();
    e.tensors.back() = before;
    plan(std::span<void* const>(&output, 1), std::vector<const void*>(pointers.begin(), pointers.end()), call);
    return plan;
  };
  const int some = 2 + static_cast<int>(random() % 7);
  const auto chosen = run(some);
  const auto of_plan = [&](const Plan& plan) {
    ++(plan.info().schedule.rfind("plain", 0) == 0 ? counts.plain : counts.blocked);
    return e.text() + "\n" + plan.explain() + plan.source();
  };
  auto wrong = fuzz::wrong_element(e, before);
  const auto told = of_plan(chosen);
  if (!wrong.empty()) return told + wrong;
  const auto many = e.tensors.back();
  const auto alone = run(1);
  if (!(e.tensors.back() == many))
    return told + "one thread computes other bits than " + std::to_string(some) + ":\n" + alone.source();

  // Steps that copy its tensors are there because of the choice for the contraction.
  auto list = chosen.candidates();
  std::set<int> products;
  for (const auto& one : list) {
    if (one.name.rfind("plain register", 0) == 0 || one.name.rfind("gett", 0) == 0) products.insert(one.step);
  }
  std::erase_if(list, [&](const CandidateInfo& one) { return products.count(one.step) == 0; });
  if (list.size() < 2) return {};
  options.schedule = list[1 + random() % (list.size() - 1)].name;
  const auto drawn = run(some);
  wrong = fuzz::wrong_element(e, before);
  const auto text = of_plan(drawn);
  return wrong.empty() ? wrong : text + wrong;
}

}  // namespace

TEST_CASE("packing of joined axes names its registers in a scope of their own") {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  Counts counts;
  for (const std::uint64_t seed : {7001628, 7002942}) {
    INFO("seed " << seed);
    CHECK(failure(runtime, seed, counts) == "");
  }
}

TEST_CASE("what copies leave of a product has the names that its schedule was made for") {
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  Counts counts;
  const std::uint64_t seed = 1796065233;  // an addend that is stored closely, operands that are copied
  CHECK(failure(runtime, seed, counts) == "");
}

TEST_CASE("the steps of an einsum do not depend on the number of threads") {
  RuntimeOptions runtime_options;
  runtime_options.cache_dir = "off";
  Runtime runtime(runtime_options);
  for (const std::int64_t rows : {6, 26, 300, 4000}) {
    const std::vector<Layout> inputs = {Layout::row_major(DType::c128, {rows, 4}), Layout::row_major(DType::c128, {})};
    std::set<std::string> heads;  // which number the steps, where there are several
    for (const int threads : {1, 6, 64}) {
      EinsumOptions options;
      options.threads = threads;
      const auto plan = runtime.plan_einsum("ab,->a", inputs, Layout::row_major(DType::c128, {rows}), options);
      const auto source = plan.source();
      heads.insert(source.substr(0, source.find('\n')));
    }
    CHECK(heads.size() == 1);
  }
}

TEST_CASE("random contractions on the CPU are within the bound of their dot products") {
  const auto first = fuzz::first_seed(700001);
  const int count = fuzz::cases(40);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  Counts counts;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::string wrong;
    try {
      wrong = failure(runtime, seed, counts);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL("seed " << seed << ": " << wrong);
  }
  std::printf("%d random contractions from seed %llu: %d schedules with blocks, %d plain ones\n", count,
              static_cast<unsigned long long>(first), counts.blocked, counts.plain);
  if (fuzz::enough(count)) {
    CHECK(counts.blocked > count / 4);
    CHECK(counts.plain > count / 20);
  }
}

}  // namespace contraction_cpu_test
