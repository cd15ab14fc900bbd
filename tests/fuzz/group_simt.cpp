// Random groups of contractions as they are planned for a GPU, on the simulator: without a fault, and the interpreter's
// numbers.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "catch.hpp"
#include "fuzz/random_group.hpp"
#include "fuzz/random_problem.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/verify.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/program.hpp"
#include "simt/contraction_case.hpp"

namespace group_simt_test {

using namespace ricci;

TEST_CASE("random groups of contractions on a GPU are sums of products") {
  const auto first = fuzz::first_seed(810001);
  const int count = fuzz::cases(24);
  int planned = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const fuzz::Group group(random, true, 3, 5);
    INFO("seed " << seed << "\n" << group.text);
    const auto program = ir::canonicalise(ir::lower(Program::parse(group.text)).steps.at(0).program);
    const auto list = plan::group_candidates(program, plan::GpuModel{});
    if (list.empty()) continue;
    ++planned;
    const auto& candidate = list[random() % list.size()];
    INFO(candidate.schedule.name);
    REQUIRE_NOTHROW(kernel::verify(candidate.schedule, program, kernel::Target::cuda));  // after any directive
    REQUIRE(simt::ContractionCase(program, candidate.schedule.directives).wrong(seed) == "");
  }
  std::printf("%d of %d groups have schedules of their own\n", planned, count);
  CHECK(planned >= count / 24);  // about a fifth of them have
}

}  // namespace group_simt_test
