#include "fuzz/library_products.hpp"

#include <cstdio>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "library_schedules.hpp"

namespace ricci::fuzz {
namespace {

/// What is wrong with a seed's contraction; nothing where it is right. Counts the ways.
std::string failure(Runtime& runtime, Device device, std::uint64_t seed, int threads, const RunProduct& run,
                    int& ways) {
  auto e = random_product(seed);
  const auto before = e.tensors.back();
  EinsumOptions options = e.options(device);
  options.workspace_limit = -1;
  options.threads = threads;
  for (const auto& name :
       library_schedules(runtime, e.problem.spec.text, e.problem.inputs, e.problem.output, options)) {
    ++ways;
    options.schedule = name;
    const auto plan = runtime.plan_einsum(e.problem.spec.text, e.problem.inputs, e.problem.output, options);
    e.tensors.back() = before;
    run(plan, e);
    if (const auto wrong = wrong_element(e, before); !wrong.empty())
      return e.text() + "\n" + plan.explain() + plan.source() + wrong;
  }
  return {};
}

}  // namespace

void check_library_products(Runtime& runtime, Device device, const std::string& file, std::uint64_t usual_seed,
                            int usual_cases, const std::function<int(std::uint64_t seed)>& threads,
                            const RunProduct& run) {
  const auto first = first_seed(usual_seed);
  const int count = cases(usual_cases);
  int ways = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::string wrong;
    try {
      wrong = failure(runtime, device, seed, threads(seed), run, ways);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL("seed " << seed << ": " << wrong);
  }
  std::printf("%d random contractions from seed %llu: %d products of %s\n", count,
              static_cast<unsigned long long>(first), ways, file.c_str());
  if (enough(count)) CHECK(ways > count / 4);
}

}  // namespace ricci::fuzz
