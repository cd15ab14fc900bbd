// Published algorithms as schedules that are written: each computes what the plan's own schedule does.
#include "bench/baselines.hpp"

#include <numeric>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace bench_baselines_test {

using namespace ricci;

TEST_CASE("baselines of permutations are schedules that plans take") {
  Runtime runtime;
  const std::pair<const char*, std::vector<std::int64_t>> problems[] = {
      {"ab->ba", {67, 130}}, {"abc->cba", {17, 30, 41}}, {"abcd->dbca", {27, 5, 16, 23}}, {"abc->acb", {3, 129, 65}}};
  for (const auto& [spec, extents] : problems) {
    const auto input = Layout::row_major(DType::f32, extents);
    const auto own = runtime.plan_permute(spec, input, PermuteOptions());
    std::vector<float> from(static_cast<std::size_t>(input.elements())), want(from.size());
    std::iota(from.begin(), from.end(), 1.0f);
    own(want.data(), from.data());
    for (const char* name : {"scattering", "algorithm 1"}) {
      INFO(spec << " by " << name);
      const auto text = tools::baseline_schedule(name, own);
      REQUIRE(text);
      PermuteOptions options;
      options.schedule = *text;
      const auto plan = runtime.plan_permute(spec, input, options);
      CHECK(plan.key() != own.key());
      CHECK(plan.info().choice == "named");
      const auto candidates = plan.candidates();
      CHECK((candidates.back().written && candidates.back().chosen));
      std::vector<float> got(want.size());
      plan(got.data(), from.data());
      CHECK((got == want));
    }
  }
}

TEST_CASE("baselines of nothing else") {
  Runtime runtime;
  const auto input = Layout::row_major(DType::f32, {8, 9});
  CHECK_FALSE(tools::baseline_schedule("blocked loops", runtime.plan_permute("ab->ba", input, PermuteOptions())));
  PermuteOptions options;
  options.target_sm = 90;
  options.device = Device::gpu;
  options.schedule = "no schedule's text";
  CHECK_THROWS_AS(runtime.plan_permute("ab->ba", input, options), PlanError);
  options.device = Device::cpu;
  options.target_sm = 0;
  CHECK_THROWS_AS(runtime.plan_permute("ab->ba", input, options), PlanError);
}

}  // namespace bench_baselines_test
