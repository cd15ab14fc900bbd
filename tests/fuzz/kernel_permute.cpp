// Random permutations as loop trees for GPUs and CPUs: executed by the kernel interpreter, equal to the program's
// interpreter to the last bit; where there is a simulator, the interpreter counts what it counts.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_registers.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"
#ifdef RICCI_TEST_SIMT
#include "codegen/source.hpp"
#include "simt/emitted.hpp"
#endif

using namespace ricci;

namespace {

struct Case {
  fuzz::RandomProblem problem;
  ir::Program program;
  kernel::Schedule schedule;
  kernel::Kernel tree;
  std::optional<fuzz::RandomRegisters> registers;  // where the schedule is one that no planner proposes
};

/// Nothing where there are no elements, or where the only schedule computes.
std::optional<Case> made(std::uint64_t seed, std::int64_t elements, kernel::Target target = kernel::Target::cuda) {
  Case c{fuzz::random_problem(seed, {elements, 12}), {}, {}, {}, {}};
  c.program = ir::canonicalise(ir::lower(c.problem.problem()));
  if (c.program.points() == 0) return std::nullopt;
  plan::CpuModel cpu;
  cpu.vector_bytes = 16 << seed % 3;
  const auto list = target == kernel::Target::cpu ? plan::candidates(c.program, cpu)
                                                  : plan::candidates(c.program, plan::GpuModel::of_capability(90));
  c.schedule = list[seed % 3 == 0 ? 0 : static_cast<std::size_t>(seed / 3) % list.size()].schedule;
  if (target == kernel::Target::cuda && seed % 4 == 1) c.registers = fuzz::random_registers(seed, c.program);
  if (c.registers) c.schedule = c.registers->schedule;
  kernel::verify(c.schedule, c.program, target);
  c.tree = kernel::expand(kernel::build(c.program, c.schedule, target));
  return c;
}

std::string told(const Case& c) {
  return c.problem.text() + "\nschedule " + c.schedule.name + "\n" + kernel::print(c.schedule) + kernel::print(c.tree);
}

/// Whether one element of the input is read for several positions.
bool repeats(const Case& c) {
  return std::any_of(c.program.nodes.begin(), c.program.nodes.end(), [](const ir::Node& node) {
    const auto& by = node.offset.coefficient;
    return node.kind == ir::NodeKind::load && std::find(by.begin(), by.end(), 0) != by.end();
  });
}

/// Runs the tree on the problem's memory.
kernel::Counts run(Case& c) {
  std::vector<Scalar> factors;
  for (const auto& param : c.program.params)
    factors.push_back(param.name == "alpha" ? c.problem.alpha : c.problem.beta);
  return kernel::execute(c.tree, {c.problem.a.element_0(), c.problem.b.element_0()}, factors);
}

void check_random(kernel::Target target, std::uint64_t usual_seed) {
  const auto first = fuzz::first_seed(usual_seed);
  const int count = fuzz::cases(400);
  int trees = 0;
  fuzz::WaysSeen ways;
  for (int k = 0; k < count; ++k) {
    auto c = made(first + static_cast<std::uint64_t>(k), 1500, target);
    if (!c) continue;
    ++trees;
    if (c->registers) ways.add(*c->registers);
    INFO(told(*c));
    const auto launch = kernel::launch_of(c->program, c->schedule, target);
    CHECK(c->tree.tasks() == launch.tasks);
    if (target == kernel::Target::cuda) CHECK(c->tree.threads == launch.threads);
    const auto want = fuzz::expected(c->problem);
    const auto counts = run(*c);
    CHECK(counts.tasks == launch.tasks);
    if (!fuzz::holds(c->problem, want)) FAIL("differs from the interpreter");
  }
  std::printf("%d kernels of %d random permutations from seed %llu\n", trees, count,
              static_cast<unsigned long long>(first));
  if (fuzz::enough(count)) CHECK(trees > count / 2);
  if (target == kernel::Target::cuda && fuzz::enough(count / 4)) CHECK(ways.all());
}

}  // namespace

TEST_CASE("kernels of random permutations do what the interpreter does") { check_random(kernel::Target::cuda, 600001); }

TEST_CASE("kernels of random permutations for a CPU do what the interpreter does") {
  check_random(kernel::Target::cpu, 650001);
}

#ifdef RICCI_TEST_SIMT
TEST_CASE("what the kernel interpreter counts of permutations is what the simulator counts") {
  const auto first = fuzz::first_seed(700001);
  const int count = fuzz::cases(60);
  int compared = 0;
  for (int k = 0; k < count; ++k) {
    auto c = made(first + static_cast<std::uint64_t>(k), 1500);
    // Compilers leave out parts of what is computed, take a complex number apart, and read what several rounds ask for
    // once.
    if (!c || !c->problem.moves() || is_complex(c->problem.input.type) || repeats(*c)) continue;
    INFO(told(*c));
    const auto source = codegen::emit(c->program, c->schedule, kernel::Target::cuda, {"sm_90", "", ""});
    INFO(source.text);
    void* pointers[2] = {c->problem.a.element_0(), c->problem.b.element_0()};
    void* arguments[2] = {&pointers[0], &pointers[1]};
    const simt::Buffer buffers[] = {{c->problem.a.begin(), c->problem.a.bytes(), false},
                                    {c->problem.b.begin(), c->problem.b.bytes(), true}};
    const auto report = simt::run(simt::launch_of(source, c->program, c->schedule), arguments, buffers, {});
    REQUIRE(report.clean());
    const auto counts = run(*c);
    const auto equal = [](std::int64_t counted, std::uint64_t simulated) {
      return counted == static_cast<std::int64_t>(simulated);
    };
    CHECK(equal(counts.read_from(kernel::Space::global).bytes, report.read.bytes));
    CHECK(equal(counts.written_to(kernel::Space::global).bytes, report.written.bytes));
    CHECK(equal(counts.read_from(kernel::Space::shared).units + counts.written_to(kernel::Space::shared).units,
                report.shared.wavefronts));
    // The simulator counts sectors from where memory begins, the interpreter from element 0.
    if (c->problem.a.origin() % 32 == 0)
      CHECK(equal(counts.read_from(kernel::Space::global).units, report.read.sectors));
    if (c->problem.b.origin() % 32 == 0)
      CHECK(equal(counts.written_to(kernel::Space::global).units, report.written.sectors));
    ++compared;
  }
  std::printf("%d of %d random permutations from seed %llu counted alike\n", compared, count,
              static_cast<unsigned long long>(first));
  if (fuzz::enough(count)) CHECK(compared > 0);
}
#endif
