// Parameters in index expressions: guards on indices become bounds of loops, and the rules of names of parameters.
#include "kernel/parameter.hpp"

#include <limits>
#include <numeric>

#include "catch.hpp"
#include "ir/builder.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "kernel/program/build_program.hpp"
#include "ricci/error.hpp"
#include "unit/kernel_places.hpp"

namespace kernel_parameters_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

using ir::OpCode;

constexpr std::int64_t kRows = 10, kColumns = 40;

enum class Sides { index_first, parameter_first };

/// y[p] = sum of x[p][q] over the q with q < n or n < q, or with <=.
ir::Program part_of_row(OpCode how, Sides sides) {
  ir::Builder b;
  b.program.indices = {{"p", kRows}, {"q", kColumns}};
  b.program.buffers = {{"x", DType::f64, false, 0, kRows * kColumns - 1, 16},
                       {"y", DType::f64, true, 0, kRows - 1, 16}};
  b.program.params = {{"n", DType::i64}};
  const auto q = b.index(1), n = b.param(0);
  const auto inside = sides == Sides::index_first ? b.op(how, DType::u8, q, n) : b.op(how, DType::u8, n, q);
  b.store(1, {{1, 0}, 0}, b.reduce(OpCode::add, b.guard(inside, b.load(0, {{kColumns, 1}, 0})), {1}));
  return b.finish();
}

/// y[p] = sum of x[p][q] over the q with p + 3 <= q and q < n.
ir::Program triangle() {
  ir::Builder b;
  b.program.indices = {{"p", kRows}, {"q", kColumns}};
  b.program.buffers = {{"x", DType::f64, false, 0, kRows * kColumns - 1, 16},
                       {"y", DType::f64, true, 0, kRows - 1, 16}};
  b.program.params = {{"n", DType::i64}};
  const auto after = b.op(OpCode::less_equal, DType::u8,
                          b.op(OpCode::add, DType::i64, b.index(0), b.constant(3, DType::i64)), b.index(1));
  const auto inside = b.op(OpCode::bit_and, DType::u8, after, b.op(OpCode::less, DType::u8, b.index(1), b.param(0)));
  b.store(1, {{1, 0}, 0}, b.reduce(OpCode::add, b.guard(inside, b.load(0, {{kColumns, 1}, 0})), {1}));
  return b.finish();
}

struct Run {
  std::vector<double> y;
  Counts counts;
};

std::vector<double> numbers() {
  std::vector<double> x(kRows * kColumns);
  std::iota(x.begin(), x.end(), 1.0);
  return x;
}

Run run(const ir::Program& program, const char* directives, Target target, std::int64_t n) {
  auto x = numbers();
  Run made{std::vector<double>(kRows, -1), {}};
  const auto kernel = build_program(program, parse_directives(directives), target);
  made.counts = execute(kernel, {x.data(), made.y.data()}, {Scalar(static_cast<double>(n))});
  return made;
}

std::vector<double> expected(const ir::Program& program, std::int64_t n) {
  auto x = numbers();
  std::vector<double> y(kRows);
  ir::interpret(program, {x.data(), y.data()}, {Scalar(static_cast<double>(n))});
  return y;
}

struct Way {
  Target target;
  const char* directives;
};
constexpr Way kWays[] = {{Target::cpu, "order serial p"},
                         {Target::cpu, "tile p:4:4; order task p0 serial p1"},
                         {Target::cuda, "order thread p; threads 32"},
                         {Target::cuda, "order task p; threads 64; cooperative 64"}};

}  // namespace

TEST_CASE("a sum whose guard compares its index with a parameter reads what the guard leaves", "[kernel_parameters]") {
  for (const auto how : {OpCode::less, OpCode::less_equal}) {
    for (const auto sides : {Sides::index_first, Sides::parameter_first}) {
      const auto program = part_of_row(how, sides);
      for (const auto n : {std::int64_t{-1} << 40, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{17},
                           kColumns - 1, kColumns, kColumns + 1, std::int64_t{1} << 40}) {
        const auto right = expected(program, n);
        std::int64_t left = 0;
        for (std::int64_t q = 0; q < kColumns; ++q) {
          const bool equal = q == n && how == OpCode::less_equal;
          left += equal || (sides == Sides::index_first ? q < n : n < q) ? 1 : 0;
        }
        for (const auto& way : kWays) {
          CAPTURE(n, ir::name_of(how), way.directives);
          const auto made = run(program, way.directives, way.target, n);
          CHECK(made.y == right);
          CHECK(made.counts.read_from(Space::global).bytes == 8 * kRows * left);
        }
      }
    }
  }
}

TEST_CASE("a loop between another index and a parameter has no round too many", "[kernel_parameters]") {
  const auto program = triangle();
  for (const std::int64_t n : {0, 5, 12, 40, 90}) {
    for (const auto& way : kWays) {
      CAPTURE(n, way.directives);
      CHECK(run(program, way.directives, way.target, n).y == expected(program, n));
    }
  }
  const auto text = print(build_program(program, parse_directives("order serial p"), Target::cpu));
  CHECK(text.find("loop q from p + 3 by 1 in 40 while q - n2 < 0") != std::string::npos);
  CHECK(text.find("if ") == std::string::npos);
}

TEST_CASE("a parameter is known between its bounds alone", "[kernel_parameters]") {
  const auto plain = [] { return build_program(triangle(), parse_directives("order serial p"), Target::cpu); };
  const auto let = [](Kernel& kernel) -> Let& {
    const auto [body, at] =
        find<Let>(kernel.body, [](const Statement& s) { return std::get<Let>(s.node).value.has_value(); });
    return std::get<Let>((*body)[at].node);
  };
  struct Row {
    const char* what;
    std::function<void(Kernel&)> fault;
    const char* rule;
  };
  const Row rows[] = {
      {"a parameter that is not held", [&](Kernel& k) { let(k).value = let(k).value->operands[0].operands[0]; },
       "n2 is outside of its 41 values, as a parameter may be"},
      {"a parameter held from below alone", [&](Kernel& k) { let(k).value = let(k).value->operands[0]; },
       "n2 is outside of its 41 values, as a parameter may be"},
      {"a name of fewer values", [&](Kernel& k) { k.vars[static_cast<std::size_t>(let(k).var)].extent = 40; },
       "n2 is outside of its 40 values, as a parameter may be"},
      {"a name of what is read",
       [&](Kernel& k) {
         auto read = load_of(DType::f64, {0, {Affine(0)}});
         let(k).value = apply(OpCode::minimum, DType::i64, {std::move(read), *let(k).value});
       },
       "breaks the rule"},
      {"a quotient of a parameter", [&](Kernel& k) { let(k).divisor = 2; },
       "a name that is of no parameters, or not of these alone"},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    auto kernel = plain();
    REQUIRE_NOTHROW(verify(kernel));
    row.fault(kernel);
    CHECK_THROWS_WITH(verify(kernel), Catch::Matchers::ContainsSubstring(row.rule));
  }
}

TEST_CASE("bounds of what is made of parameters", "[kernel_parameters]") {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto within = [](std::int64_t least, std::int64_t most) {
    const auto bounds = bounds_of_parameters(held_within(0, least, most));
    return bounds && bounds->first == 0 && bounds->last == most - least;
  };
  CHECK(within(0, 5));
  CHECK(within(-7, 5));
  CHECK(within(3, 3));
  CHECK_FALSE(within(Limits::min(), Limits::max()));  // the distance wraps
}

}  // namespace kernel_parameters_test
