// The tree after each directive of a schedule, of every family: what it is, and that a fault is found after the
// directive that makes it.
#include "catch.hpp"
#include "ir/builder.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "kernel/schedule.hpp"
#include "lower/lower_program.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace kernel_prefixes_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

ir::Program lowered(const std::string& text) { return ir::lower(Program::parse(text)).steps.front().program; }

/// b=40 slow, a=48 fast in B; A is the other way round.
ir::Program moved() { return test::canonical(test::dense("ab->ba", {48, 40})); }

ir::Program product() {
  return lowered(
      "index a = 50\nindex b = 40\nindex k = 44\ninput A(a, k) : f64\ninput B(k, b) : f64\noutput C(a, b) : f64\n"
      "C(a, b) = sum(k, A(a, k) * B(k, b))\n");
}

/// y[p] = x[p] x[p], z[p] = x[p] + w[p], s[p] = x[p] w[p].
ir::Program fields() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 1000}};
  for (const char* name : {"x", "w", "y", "z", "s"})
    b.program.buffers.push_back({name, DType::f32, name[0] > 'x' || name[0] == 's', 0, 999, 64});
  const auto x = b.load(0, {{1}, 0}), w = b.load(1, {{1}, 0});
  b.store(2, {{1}, 0}, b.op(ir::OpCode::mul, DType::f32, x, x));
  b.store(3, {{1}, 0}, b.op(ir::OpCode::add, DType::f32, x, w));
  b.store(4, {{1}, 0}, b.op(ir::OpCode::mul, DType::f32, x, w));
  return b.finish();
}

/// y[a, b] = what x[a, :] adds up to up to b, of terms that are not 1; exclusively from w[a] on.
ir::Program scans(bool exclusive) {
  constexpr std::int64_t kRows = 37, kLength = 19;
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", kRows}, {"b", kLength}};
  b.program.buffers = {{"x", DType::f64, false, 0, kRows * kLength - 1, 64},
                       {"w", DType::f64, false, 0, kRows - 1, 64},
                       {"y", DType::f64, true, 0, kRows * (kLength + 1) - 1, 64}};
  const auto x = b.load(0, {{kLength, 1}, 0});
  const auto value = exclusive ? b.scan(ir::OpCode::add, x, 1, true, b.load(1, {{1, 0}, 0}))
                               : b.scan(ir::OpCode::add, b.op(ir::OpCode::mul, DType::f64, x, x), 1, false);
  b.store(2, {{kLength + 1, 0}, 0}, value, 1);
  return b.finish();
}
ir::Program inclusive() { return scans(false); }
ir::Program exclusive() { return scans(true); }
/// The same prefixes for all rows: what is scanned is one value.
ir::Program counted() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 37}, {"b", 19}};
  b.program.buffers = {{"y", DType::f64, true, 0, 37 * 20 - 1, 64}};
  b.store(0, {{20, 0}, 0}, b.scan(ir::OpCode::add, b.constant(0.25, DType::f64), 1, false), 1);
  return b.finish();
}

/// What of x[a, :] is not 0, from y[20 a] on.
ir::Program compacted() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 37}, {"b", 19}};
  b.program.buffers = {{"x", DType::i32, false, 0, 37 * 19 - 1, 64}, {"y", DType::i32, true, 0, 37 * 20 - 1, 64}};
  const auto x = b.load(0, {{19, 1}, 0});
  b.store(1, {{20, 0}, 0}, b.compact(x, x, b.constant(0, DType::i64), 1), 1);
  return b.finish();
}

ir::Program group() {
  return lowered(
      "index a = 7\nindex b = 6\nindex c = 19\nindex k = 5\nindex l = 3\ninput A(a, b, k) : f64\ninput B(k, c) : f64\n"
      "input E(l, a) : f64\ninput F(c, b, l) : f64\ninout y(a, b, c) : f64\n"
      "y(a, b, c) += sum(k, A(a, b, k) * B(k, c)) - sum(l, E(l, a) * F(c, b, l))\n");
}

const std::string kTiled =
    "tile b:16; tile a:16; order task a0 b0; stage A shared b:16 a:16; layout b:1 a:17 elements 272;"
    "write a:16 b:16 vector 2; origin shuffle; threads 64";
const std::string kCarried =
    "tile a:16; tile b:8; order task b0 a0; stage A shared b:8 a:16; layout b:16 a:1 elements 128; prefetch 2; carry a;"
    "write a:16 b:8 vector 8; nontemporal";
const std::string kSums = "tile a:8:4; tile b:8; order task a0 serial b0 a1; lanes b 8";
const std::string kStrips =
    "tile p:256:8; order task p0 serial p1; lanes p 8; strip 128; part 1 3; part 2; nontemporal";
const std::string kColumns = "tile a:16; order serial a0; lanes a 8";
const std::string kPairs = "tile a:16:8; order task a0 thread a; threads 8";
const std::string kThreads = "tile p:256:64; order task p0 thread p; threads 64";
const std::string kTogether = "order task a b; threads 64; cooperative 32";
const std::string kAtom =
    "tile a:32; tile b:16; tile k:8; order task a0 b0 sum k0; stage A at k0 async a k pad 4; stage B at k0 async k b;"
    "atom fma rows a columns b depth k warps 1x1 runs 2x2x1; pipeline k0 2";
const std::string kSections =
    "products 1; tile a:2; order task a0; stage A at a0 scratch k b a; atom fma rows a b columns c depth k lanes 8;"
    "products 2; tile a:2; order task a0; stage E at a0 scratch l a; stage F at a0 scratch l c b;"
    "atom fma rows a columns c b depth l lanes 8; exchange";

std::string fault(const ir::Program& program, const std::string& text, Target target) {
  try {
    verify(Schedule{{}, parse_directives(text)}, program, target);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

struct Family {
  ir::Program (*program)();
  std::string directives;
  Target target;
  const char* buffer;  ///< that is read
  const char* after;   ///< the directive that makes the first tree which reads it
};
const Family kFamilies[] = {
    {moved, kTiled, Target::cuda, "A", "tile b:16"},
    {moved, kCarried, Target::cpu, "A", "tile a:16"},
    {product, kSums, Target::cpu, "B", "tile a:8:4"},
    {fields, kStrips, Target::cpu, "w", "tile p:256:8"},
    {fields, kThreads, Target::cuda, "w", "tile p:256:64"},
    {inclusive, kColumns, Target::cpu, "x", "tile a:16"},
    {exclusive, kPairs, Target::cuda, "w", "tile a:16:8"},
    {product, kTogether, Target::cuda, "B", "order task a b"},
    {product, kAtom, Target::cuda, "A", "stage A at k0 async pad 4 a k"},
    {product, kAtom, Target::cuda, "B", "stage B at k0 async k b"},
    {group, kSections, Target::cpu, "A", "stage A at a0 scratch k b a"},
    {group, kSections, Target::cpu, "B", "atom fma rows a b columns c depth k lanes 8"},
    {group, kSections, Target::cpu, "E", "stage E at a0 scratch l a"},
    {group, kSections, Target::cpu, "F", "stage F at a0 scratch l c b"},
};

struct Step {
  ir::Program (*program)();
  std::string directives;
  Target target;
  const char* directive;  ///< with which the tree begins to have
  const char* what;       ///< in its text
};
const Step kSteps[] = {
    {moved, kTiled, Target::cuda, "tile b:16", "let b0 = (16*b_tile)"},
    {moved, kTiled, Target::cuda, "tile a:16", "task block in 9"},
    {moved, kTiled, Target::cuda, "order task a0 b0", "let b_tile = (block) % 3"},
    {moved, kTiled, Target::cuda, "stage A shared b:16 a:16", "shared"},
    {moved, kTiled, Target::cuda, "stage A shared b:16 a:16", "barrier"},
    {moved, kTiled, Target::cuda, "origin shuffle", "a digit a lane"},
    {moved, kCarried, Target::cpu, "stage A shared b:8 a:16", "scratch"},
    {moved, kCarried, Target::cpu, "prefetch 2", "rows ahead"},
    {moved, kCarried, Target::cpu, "carry a", "carried"},
    {product, kSums, Target::cpu, "order task a0 serial b0 a1", "task a_tile in 7"},
    {fields, kStrips, Target::cpu, "order task p0 serial p1", "task p_tile in 4"},
    {fields, kStrips, Target::cpu, "lanes p 8", ": 8]"},
    {fields, kStrips, Target::cpu, "strip 128", "by 128"},
    {fields, kStrips, Target::cpu, "nontemporal", "nontemporal"},
    {fields, kThreads, Target::cuda, "order task p0 thread p", "task p_tile in 4"},
    {product, kTogether, Target::cuda, "threads 64", "of 64 threads"},
    {product, kTogether, Target::cuda, "cooperative 32", "lanes sum"},
    {product, kAtom, Target::cuda, "order task a0 b0 sum k0", "task a0 in 2"},
    {product, kAtom, Target::cuda, "stage A at k0 async pad 4 a k", "copy A_tile"},
    {product, kAtom, Target::cuda, "stage B at k0 async k b", "copy B_tile"},
    {product, kAtom, Target::cuda, "atom fma rows a columns b depth k warps 1x1 runs 2x2x1", "fma"},
    {group, kSections, Target::cpu, "products 1", "section # products 1"},
    {group, kSections, Target::cpu, "order task a0", "task a0 in 4"},
    {group, kSections, Target::cpu, "stage A at a0 scratch k b a", "copy A_packed"},
    {group, kSections, Target::cpu, "products 2", "section # products 2"},
    {group, kSections, Target::cpu, "stage E at a0 scratch l a", "copy E_packed"},
    {group, kSections, Target::cpu, "atom fma rows a columns c b depth l lanes 8", "exchange"},
};

}  // namespace

TEST_CASE("what reads past the end of a tensor is found after the directive that makes the read") {
  for (const auto& family : kFamilies) {
    INFO(family.directives << ": " << family.buffer);
    auto program = family.program();
    CHECK(fault(program, family.directives, family.target).empty());
    for (auto& buffer : program.buffers) {
      if (buffer.name == family.buffer) --buffer.last;
    }
    const auto said = fault(program, family.directives, family.target);
    INFO(said);
    CHECK(said.starts_with("kernel: "));
    CHECK(said.ends_with(std::string(", after \"") + family.after + "\""));
  }
}

TEST_CASE("each directive changes the tree that those before it made") {
  for (const auto& step : kSteps) {
    const auto program = step.program();
    const Schedule schedule{{}, parse_directives(step.directives)};
    INFO(step.directives << "\n" << step.directive << ": " << step.what);
    bool has = false;
    for (std::size_t count = 1; count <= schedule.directives.size(); ++count) {
      const auto tree = print(build(program, schedule, step.target, count));
      INFO(count << "\n" << tree);
      has = has || print(schedule.directives[count - 1]) == step.directive;
      CHECK((tree.find(step.what) != std::string::npos) == has);
    }
    CHECK(has);
  }
}

TEST_CASE("scans of several points of a worker are those of each, after every directive") {
  for (const auto& text : {kColumns, kPairs}) {
    const auto target = text == kPairs ? Target::cuda : Target::cpu;
    const Schedule schedule{{}, parse_directives(text)};
    for (const auto& made : {inclusive, exclusive, counted}) {
      const auto program = made();
      std::vector<double> x(37 * 19), w(37), want(37 * 20, -1);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k % 11);
      for (std::size_t a = 0; a < w.size(); ++a) {
        w[a] = static_cast<double>(a);
        double sum = made == exclusive ? w[a] : 0;
        for (std::size_t b = 0; b < 19; ++b) {
          if (made == exclusive) want[20 * a + b] = sum;
          sum += made == counted ? 0.25 : made == exclusive ? x[19 * a + b] : x[19 * a + b] * x[19 * a + b];
          if (made != exclusive) want[20 * a + b] = sum;
        }
        if (made == exclusive) want[20 * a + 19] = sum;
      }
      for (std::size_t count = 1; count <= schedule.directives.size(); ++count) {
        const auto tree = kernel::expand(build(program, schedule, target, count));
        INFO(print(tree));
        std::vector<double> y(want.size(), -1);
        execute(tree, made == counted ? std::vector<void*>{y.data()} : std::vector<void*>{x.data(), w.data(), y.data()},
                {});
        CHECK(y == want);
      }
    }
  }
}

TEST_CASE("what is wrong with a part of a schedule is said of the directive that brings it") {
  CHECK(fault(product(), "order thread a b; threads 1024", Target::cuda) ==
        "schedule: order thread a b: a block has at most 1024 threads");
  CHECK(fault(product(), "tile a:50; tile b:40; order serial a0 b0; nontemporal", Target::cpu)
            .starts_with("schedule: order serial a0 b0: "));
  CHECK(fault(moved(), "order; stage A shared b:40 a:48; layout b:1 a:41 elements 50000; write a:48 b:40; threads 64",
              Target::cuda)
            .ends_with("(made by \"layout b:1 a:41 elements 50000\")"));
  CHECK(fault(inclusive(), "tile a:2:1; order task a0 thread a; threads 32; cooperative 32", Target::cuda) ==
        "schedule: cooperative 32: threads share the scan of one point at a time");
  CHECK(fault(compacted(), "tile a:8; order serial a0", Target::cpu) ==
        "schedule: order serial a0: a worker compacts the values of one point at a time");
  auto other = kSections;
  other.replace(other.rfind("order task a0"), 13, "order serial a0");
  CHECK(fault(group(), other, Target::cpu) == "schedule: order serial a0: all sections of a group have the same tasks");
}

}  // namespace kernel_prefixes_test
