// Random permutations as CUDA text on the simulator: the interpreter's bits, and not a fault.
#include <cstdio>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_registers.hpp"
#include "ir/passes/canonical.hpp"
#include "plan/plan.hpp"
#include "runtime/plan_impl.hpp"
#include "simt/emitted.hpp"

namespace permute_simt_test {

using namespace ricci;

TEST_CASE("random permutations on the simulator equal the interpreter's bits without a fault") {
  const auto first = fuzz::first_seed(100001);
  const int count = fuzz::cases(200);
  fuzz::WaysSeen ways;
  for (int k = 0; k < count; ++k) {
    auto p = fuzz::random_problem(first + static_cast<std::uint64_t>(k), {3000, 12});
    INFO(p.text());
    const auto program = ir::canonicalise(ir::lower(p.problem()));
    if (program.points() == 0) continue;
    const auto list = plan::candidates(program, plan::GpuModel::of_capability(90));
    auto schedule = list[p.seed % 3 == 0 ? 0 : static_cast<std::size_t>(p.seed / 3) % list.size()].schedule;
    if (p.seed % 4 == 1) {
      if (const auto drawn = fuzz::random_registers(p.seed, program)) {
        schedule = drawn->schedule;
        ways.add(*drawn);
      }
    }
    INFO("schedule " << schedule.name << "\n" << kernel::print(schedule));
    const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});
    INFO(source.text);

    void* pointers[2] = {p.a.element_0(), p.b.element_0()};
    alignas(16) unsigned char factors[2][16];
    void* args[4] = {&pointers[0], &pointers[1], factors[0], factors[1]};
    for (std::size_t j = 0; j < program.params.size(); ++j) {
      runtime::encode_factor(program.params[j].name == "alpha" ? p.alpha : p.beta, program.params[j].type, factors[j]);
    }
    const auto want = fuzz::expected(p);
    const simt::Buffer buffers[] = {{p.a.begin(), p.a.bytes(), false}, {p.b.begin(), p.b.bytes(), true}};
    simt::Options options;
    options.order = static_cast<simt::Order>(p.seed % 3);
    const auto report = simt::run(simt::launch_of(source, program, schedule), args, buffers, options);
    if (!report.clean()) FAIL(report.text());
    if (!fuzz::holds(p, want)) FAIL("differs from the interpreter");
  }
  const auto [registers, shuffles, memory] = ways.counts();
  std::printf(
      "%d random permutations from seed %llu on the simulator; of tiles in registers of several warps %d stay in their "
      "threads, %d in their warps, %d pass between warps\n",
      count, static_cast<unsigned long long>(first), registers, shuffles, memory);
  REQUIRE(count > 0);
  if (fuzz::enough(count / 4)) CHECK(ways.all());
}

}  // namespace permute_simt_test
