// Random permutations through Runtime on the CPU, bit for bit against the interpreter, over all candidates.
#include <cstdio>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "ir/canonical.hpp"
#include "jit/cpu_target.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

/// Half the problems run as planned, the others with a candidate drawn at random.
std::string some_schedule(const fuzz::RandomProblem& p) {
  if (p.seed % 2 == 0) return {};
  auto problem = p.problem();
  problem.inputs[0].alignment = problem.output.alignment = 0;
  const auto program = ir::canonicalise(ir::lower(problem));
  if (program.points() == 0) return {};
  plan::CpuFigures figures;
  figures.vector_bytes = jit::host_cpu().vector_bytes;
  const auto list = plan::candidates(program, figures);
  return list[static_cast<std::size_t>(p.seed / 2) % list.size()].schedule.name;
}

}  // namespace

TEST_CASE("random permutations on the CPU equal the interpreter's bits") {
  Runtime runtime;
  const auto first = fuzz::first_seed(1);
  const int count = fuzz::cases(2000);
  for (int k = 0; k < count; ++k) {
    auto p = fuzz::random_problem(first + static_cast<std::uint64_t>(k));
    INFO(p.text());
    const auto want = fuzz::expected(p);
    PermuteOptions options;
    options.alpha = p.alpha;
    options.beta = p.beta;
    options.conjugate = p.conjugate;
    options.schedule = some_schedule(p);
    INFO("schedule " << options.schedule);
    const auto plan = runtime.plan_permute(p.spec, p.input, p.output, options);
    plan(p.b.element_0(), p.a.element_0());
    if (!(p.b == want)) FAIL("differs from the interpreter\n" << plan.source());
  }
  std::printf("%d random permutations from seed %llu, isa %s\n", count, static_cast<unsigned long long>(first),
              jit::host_cpu().text().c_str());
  REQUIRE(count > 0);
}
