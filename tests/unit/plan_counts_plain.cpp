// What the model of plain schedules for a CPU counts is what their kernels do: loads, the elements that they bring, and
// operations, as the kernel interpreter counts them of candidates for random programs. Guards count as if they held: so
// they are executed without values; with values kernels do no more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "fuzz/random_program.hpp"
#include "fuzz/seeds.hpp"
#include "ir/builder.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "kernel/program/build_program.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/plain.hpp"

namespace plan_counts_plain_test {

using namespace ricci;
using kernel::Counts;
using kernel::Space;

namespace {

bool has(const ir::Program& program, ir::NodeKind kind) {
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [&](const ir::Node& node) { return node.kind == kind; });
}

bool says(const kernel::Schedule& schedule, const std::string& word) {
  return (schedule.name + " ").find(" " + word) != std::string::npos;
}

/// Whether guards that compare indices end loops.
bool bounded(const kernel::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const kernel::Statement& statement) {
    if (const auto* loop = std::get_if<kernel::Loop>(&statement.node))
      return !loop->when.empty() || loop->first != kernel::Affine() || bounded(loop->body);
    if (const auto* sweep = std::get_if<kernel::Sweep>(&statement.node)) {
      return std::any_of(sweep->parts.begin(), sweep->parts.end(),
                         [](const kernel::Sweep::Part& part) { return bounded(part.body); });
    }
    const auto* branch = std::get_if<kernel::If>(&statement.node);
    return branch != nullptr && (bounded(branch->then) || bounded(branch->otherwise));
  });
}

/// A statement whose value is guarded has in the guard what it computes for itself; where a register tile tests many
/// points it stands in front of it, so that later statements share it.
bool may_share(const ir::Program& program, const kernel::Schedule& schedule) {
  return says(schedule, "register") && program.statements.size() > 1 &&
         std::any_of(program.statements.begin(), program.statements.end(), [&](const ir::Statement& statement) {
           return program.nodes[static_cast<std::size_t>(statement.value)].kind == ir::NodeKind::guard;
         });
}

struct Totals {
  double loads = 0, elements = 0, operations = 0;

  explicit Totals(const plan::PlainCpuCounts& model)
      : loads(model.loads.instructions + model.gathered),
        elements(model.loads.values + model.gathered),
        operations(model.arithmetic.values + model.complex) {}
  Totals(const Counts& counts, const kernel::Kernel& kernel)
      : loads(static_cast<double>(counts.read_from(Space::global).accesses)),
        operations(static_cast<double>(counts.flops)) {
    for (std::size_t k = 0; k < counts.arrays.size(); ++k) {
      const auto& array = kernel.arrays[k];
      if (array.space == Space::global)
        elements += static_cast<double>(counts.arrays[k].read.bytes) / static_cast<double>(size_of(array.type));
    }
  }
  std::string text() const {
    return fmt::format("{} loads of {} elements, {} operations", loads, elements, operations);
  }
};

/// Names what differs: "loads 12, model 14\n".
class Comparison {
 public:
  void same(const char* what, double counted, double model) {
    if (counted != model) text += fmt::format("{} {}, model {}\n", what, counted, model);
  }
  void at_most(const char* what, double counted, double model) {
    if (counted > model) text += fmt::format("{} {}, model at most {}\n", what, counted, model);
  }
  void same(const Totals& counted, const Totals& model) {
    same("loads", counted.loads, model.loads);
    same("elements loaded", counted.elements, model.elements);
    same("operations", counted.operations, model.operations);
  }
  void at_most(const Totals& counted, const Totals& model) {
    at_most("loads", counted.loads, model.loads);
    at_most("elements loaded", counted.elements, model.elements);
    at_most("operations", counted.operations, model.operations);
  }
  std::string text;
};

/// How often each kind of a case has come.
using Seen = std::map<std::string, int>;

/// Empty where nothing differs.
std::string difference(const fuzz::RandomProgram& random, std::vector<fuzz::Memory> memory,
                       const ir::Canonical& program, const plan::Candidate& candidate, Seen& seen) {
  const auto tree = kernel::expand(kernel::build_program(program, candidate.schedule.directives, kernel::Target::cpu));
  std::vector<void*> pointers;
  std::vector<Scalar> params;
  for (const int buffer : program.buffer) pointers.push_back(memory[static_cast<std::size_t>(buffer)].element_0());
  for (const int param : program.param) params.push_back(random.params[static_cast<std::size_t>(param)]);
  const auto run = kernel::execute(tree, pointers, params), held = kernel::count_elements(tree, INT64_MAX);
  const Totals model(*candidate.plain), if_held(held, tree);
  Totals executed(run, tree);
  // By which vectors arrays of a tile are filled is expand()'s choice.
  if (says(candidate.schedule, "staged")) executed.loads = model.loads;
  const bool guards = has(program, ir::NodeKind::guard), compacts = has(program, ir::NodeKind::compact);
  Comparison compare;
  compare.same("tasks", static_cast<double>(run.tasks), static_cast<double>(candidate.traffic.tiles));
  compare.at_most(executed, model);
  if (!guards && !compacts) {
    compare.same(executed, model);
    seen["programs without guards"] += 1;
    for (const char* word : {"register", "strip", "parts", "staged", "v"}) seen[word] += says(candidate.schedule, word);
    seen["gathered"] += candidate.plain->gathered > 0;
    seen["complex"] += candidate.plain->complex > 0;
    seen["scans"] += has(program, ir::NodeKind::scan);
    seen["sums"] += has(program, ir::NodeKind::reduce);
  } else if (held.tasks == run.tasks && !bounded(tree.body)) {  // it looks at three tasks along an index
    if (may_share(program, candidate.schedule)) {
      compare.at_most(if_held, model);
    } else if (compacts) {  // which reads nothing where nothing is written
      compare.same("operations", if_held.operations, model.operations);
      seen["compactions"] += 1;
    } else {
      compare.same(if_held, model);
      seen["guards"] += 1;
      seen["guards in register tiles"] += says(candidate.schedule, "register");
    }
  }
  if (compare.text.empty()) return {};
  return fmt::format("{}{}{}{}\n{}{}executed {}\nif guards held {}\nmodel {}\n", compare.text, random.text(),
                     ir::print(program), candidate.schedule.name, kernel::print(candidate.schedule),
                     kernel::print(tree), executed.text(), if_held.text(), model.text());
}

}  // namespace

TEST_CASE("what the model counts of a plain schedule on a CPU is what its kernel does") {
  Seen seen;
  const int each = fuzz::cases(200);
  for (int k = 0; k < 4 * each; ++k) {
    const auto seed = fuzz::first_seed(1) + static_cast<std::uint64_t>(k / 4);
    const auto random = fuzz::random_program(seed, static_cast<fuzz::Kind>(k % 4), {600, 4000});
    const auto program = ir::canonicalise(random.program);
    if (program.points(program.free_indices()) == 0) continue;
    plan::CpuModel device;
    device.vector_bytes = seed % 3 == 0 ? 32 : 64;
    const auto list = plan::plain_candidates(program, device, 24);
    const auto text = difference(random, random.memory, program, list[seed * 7 % list.size()], seen);
    INFO(text);
    CHECK(text.empty());
  }
  if (!fuzz::enough(each)) return;
  for (const auto& [kind, times] : seen) {
    INFO(kind);
    CHECK(times > 0);
  }
  CHECK(seen["programs without guards"] > 2 * each);
  CHECK(seen["guards"] > each / 2);
}

TEST_CASE("conversions of half types are counted by vectors, where they are gathered by elements") {
  const auto best = [](const char* y) {
    const auto text = fmt::format(
        "index i = 64\nindex j = 48\ninput x(i, j) : bf16\ninput y({0}) : bf16\noutput z(i, j) : bf16\n"
        "z(i, j) = x(i, j)*y({0})\n",
        y);
    const ir::Program program = ir::canonicalise(ir::lower(Program::parse(text)).steps.front().program);
    plan::CpuModel device;
    device.vector_bytes = 64;
    for (const auto& candidate : plan::plain_candidates(program, device, 24)) {
      if (says(candidate.schedule, "v16") && !says(candidate.schedule, "staged")) return *candidate.plain;
    }
    return plan::PlainCpuCounts();
  };
  constexpr double kElements = 64 * 48;
  const auto along = best("i, j"), across = best("j, i");
  for (const auto& counts : {along, across}) {
    CHECK(counts.widened == 2 * kElements / 16);
    CHECK(counts.narrowed == kElements / 16);
  }
  CHECK(along.gathered_half == 0);
  CHECK(across.gathered_half == kElements);
}

TEST_CASE("one value for all lanes is loaded once a vector, also where these are stored apart") {
  // y[3 a] = x[0]
  ir::Builder b;
  b.program.indices = {{"a", 195}};
  b.program.buffers = {{"x", DType::f64, false, 0, 0, 64}, {"y", DType::f64, true, 0, 582, 64}};
  b.store(1, {{3}, 0}, b.load(0, {{0}, 0}));
  const ir::Program program = ir::canonicalise(b.finish());
  double x = 7;
  int vectors = 0;
  for (const auto& candidate : plan::plain_candidates(program, plan::CpuModel(), 24)) {
    std::vector<double> y(583);
    const auto tree = kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cpu));
    const Totals model(*candidate.plain), executed(kernel::execute(tree, {&x, y.data()}, {}), tree);
    INFO(kernel::print(tree) << "executed " << executed.text() << ", model " << model.text());
    CHECK(executed.loads == model.loads);
    const bool by_vectors = says(candidate.schedule, "v2");
    if (by_vectors) CHECK(executed.loads == 97 + 1);
    vectors += by_vectors;
    for (std::size_t k = 0; k < y.size(); ++k) CHECK(y[k] == (k % 3 == 0 ? 7 : 0));
  }
  CHECK(vectors > 0);
}

TEST_CASE("a loop that a guard of indices ends counts as long as its index is") {
  const std::string head = "index i = 40\nindex j = 30\ninput x(i, j) : f64\noutput y(i) : f64\n";
  std::vector<double> x(40 * 30), y(40);
  const auto compare = [&](const std::string& sum, const std::vector<Scalar>& params, double rounds,
                           double held_within) {
    const ir::Program program = ir::canonicalise(ir::lower(Program::parse(head + sum)).steps.front().program);
    for (const auto& candidate : plan::plain_candidates(program, plan::CpuModel(), 24)) {
      if (!candidate.plain) continue;  // by rows
      const auto tree = kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cpu));
      CHECK(bounded(tree.body));
      const Totals model(*candidate.plain), executed(kernel::execute(tree, {x.data(), y.data()}, params), tree);
      INFO(candidate.schedule.name << ": executed " << executed.text() << ", model " << model.text());
      CHECK(executed.loads <= model.loads);
      CHECK(executed.operations <= model.operations + 40 * held_within);
      if (candidate.schedule.name != "plain") continue;
      CHECK(model.loads == 1200);
      CHECK(model.operations == 1200);
      CHECK(executed.loads == rounds);
      CHECK(executed.operations == rounds + 40 * held_within);
    }
  };
  compare("y(i) = sum(j, guard(j <= i, x(i, j)))", {}, 30 * 31 / 2 + 10 * 30, 0);
  compare("param n : i64\ny(i) = sum(j, guard(j < n, x(i, j)))", {Scalar(7)}, 40 * 7,
          2);  // the least and the most that it may be
}

}  // namespace plan_counts_plain_test
