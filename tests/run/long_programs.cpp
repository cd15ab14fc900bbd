// Programs of any length, planned by a thread with 64 KB of stack, and run: nothing in them grows as a tree, nests
// without end or takes a stack for each statement.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "ricci/ricci.hpp"
#include "small_stack.hpp"

namespace long_programs_test {

using namespace ricci;
using tests::on_small_stack;

namespace {

struct Planned {
  Program program;
  Plan plan;
};

Planned planned(const std::string& text, const PlanOptions& options = {}) {
  std::optional<Planned> made;
  on_small_stack([&] {
    auto program = Program::parse(text);
    CHECK(Program::parse(program.print()).print() == program.print());
    auto plan = Runtime::global().plan_program(program, options);
    made.emplace(Planned{std::move(program), std::move(plan)});
  });
  return std::move(*made);
}

/// Values of doubles that stay between 0 and 1 under the programs below.
std::vector<std::vector<double>> arrays(std::span<const Argument> list) {
  std::vector<std::vector<double>> made;
  for (const auto& argument : list) {
    auto& values = made.emplace_back(static_cast<std::size_t>(argument.last + 1));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 0.1 + 0.8 * static_cast<double>(k % 7) / 7;
  }
  return made;
}

/// The plan against the interpreter.
void check_results(const Planned& made, double tolerance) {
  auto inputs = arrays(made.plan.inputs()), outputs = arrays(made.plan.outputs()), wanted = outputs;
  std::vector<const void*> from;
  std::vector<void*> to, there;
  for (auto& values : inputs) from.push_back(values.data());
  for (auto& values : outputs) to.push_back(values.data());
  for (auto& values : wanted) there.push_back(values.data());
  made.plan(to, from, Call{});
  on_small_stack([&] { Runtime::interpret_program(made.program, there, from); });
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    for (std::size_t i = 0; i < outputs[k].size(); ++i) {
      INFO(outputs[k][i] << " is not " << wanted[k][i]);
      const auto scale = std::max(1.0, std::abs(wanted[k][i]));
      REQUIRE(std::abs(outputs[k][i] - wanted[k][i]) <= tolerance * scale);
    }
  }
}

std::string repeated(std::string text, const std::string& statement, int times) {
  for (int k = 0; k < times; ++k) text += statement + "\n";
  return text;
}

std::string chained(const char* op, int times, const std::function<std::string(int)>& part) {
  std::string text;
  for (int k = 0; k < times; ++k) text += (k == 0 ? "" : op) + part(k);
  return text;
}

const std::string kField = "grid x = 7\ninput v() : f64 on x\noutput y() : f64 on x\ny() = v()\n";
const std::string kLoops = "index i = 7\ninput x(i) : f64\ninput z(i) : f64\noutput y(i) : f64\n";

std::string of_locals(int count) {
  auto text = kLoops;
  for (int k = 0; k < count; ++k) text += fmt::format("local l{}(i) : f64\n", k);
  text += "l0(i) = x(i)\n";
  for (int k = 1; k < count; ++k) text += fmt::format("l{}(i) = l{}(i)*z(i) + 0.1\n", k, k - 1);
  return text + fmt::format("y(i) = l{}(i)\n", count - 1);
}

/// Each, and how many kernels it may take.
struct Case {
  const char* name;
  std::string text;
  int most_kernels = 1;
  double tolerance = 1e-12;
};

std::vector<Case> cases() {
  return {
      {"16 doublings", repeated(kField, "y() = y() + y()", 16)},
      {"60 doublings", repeated(kField, "y() = y() + y()", 60)},
      {"60 squares and additions", repeated(kField, "y() = 0.3*y()*y() + v()", 60)},
      {"300 chained statements", repeated(kField, "y() = 0.5*y() + v()", 300)},
      {"5,000 chained statements", repeated(kField, "y() = 0.5*y() + v()", 5000), 4},
      {"30,000 sums onto one element", repeated(kLoops + "y(i) = z(i)\n", "y(i) += x(i)", 30000), 16, 1e-10},
      {"a sum of 1,900 products",
       kLoops + "y(i) = " + chained(" + ", 1900, [](int k) { return fmt::format("x(i)*{}.5", k); }) + "\n"},
      {"a product of 300 factors",
       kLoops + "y(i) = " + chained("*", 300, [](int k) { return fmt::format("(x(i) + 0.{})", 1 + k % 9); }) + "\n", 1,
       1e-10},
      {"1,000 locals", of_locals(1000)},
      {"3,000 sines", repeated(kField, "y() = sin(y())*v()", 3000), 8},
      {"parentheses and functions, 190 deep",
       kLoops + "y(i) = " + chained("", 190, [](int) { return std::string("tanh(0.5 + "); }) + "x(i)" +
           std::string(190, ')') + "\n"},
  };
}

}  // namespace

TEST_CASE("programs of any length run on a CPU") {
  for (const auto& one : cases()) {
    DYNAMIC_SECTION(one.name) {
      const auto made = planned(one.text);
      CHECK(made.plan.info().steps >= 1);
      CHECK(made.plan.info().steps <= one.most_kernels);
      // No text has more than a line for a value.
      CHECK(made.plan.source().size() < 20000 + 64 * one.text.size());
      check_results(made, one.tolerance);
    }
  }
}

TEST_CASE("programs of any length compile for a GPU") {
  if (jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC on this machine");
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  for (const auto& one : cases()) {
    DYNAMIC_SECTION(one.name) {
      const auto start = std::chrono::steady_clock::now();
      const auto made = planned(one.text, options);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      CHECK(made.plan.info().steps <= one.most_kernels);
      CHECK(made.plan.source().size() < 20000 + 64 * one.text.size());
      INFO(took.count() << " s");
      CHECK(took.count() < 60);  // minutes, where anything grows faster than the program
    }
  }
}

TEST_CASE("einsums of many operands are planned in good time, and run") {
  std::string spec;
  std::vector<Layout> inputs;
  for (int k = 0; k < 1000; ++k) {
    spec += fmt::format("{}a{} a{}", k == 0 ? "" : " , ", k, k + 1);
    inputs.push_back(Layout::row_major(DType::f64, {2, 2}));
  }
  spec += " -> a0 a1000";
  on_small_stack([&] {
    const auto plan = Runtime::global().plan_einsum(spec, inputs);
    CHECK(plan.info().steps == 999);
    // The product of any number of these projections is one of them.
    const std::vector<double> projection = {0.5, 0.5, 0.5, 0.5};
    std::vector<double> product(4);
    const std::vector<const void*> operands(inputs.size(), projection.data());
    void* const outputs[] = {product.data()};
    plan(outputs, operands, Call{});
    CHECK(product == projection);
  });
}

TEST_CASE("an expression that is too deep is refused by the number") {
  const auto text = kLoops + "y(i) = " + chained(" + ", 30000, [](int) { return std::string("x(i)"); }) + "\n";
  CHECK_THROWS_WITH(planned(text), Catch::Matchers::StartsWith("an expression nests more than 20000 operations deep"));
}

TEST_CASE("what handles share in C++ is no tree either") {
  Program program("shared");
  const Index i("i", 6);
  const auto x = program.input("x", {i}, DType::f64), y = program.output("y", {i}, DType::f64);
  Expr value = x(i);
  for (int k = 0; k < 60; ++k) value = 0.5 * (value + value);
  y(i) = value;
  CHECK_THROWS_WITH(program.print(), Catch::Matchers::StartsWith("the text of a statement would have"));
  const auto plan = Runtime::global().plan_program(program);
  CHECK(plan.source().size() < 30000);
  check_results({program, plan}, 1e-12);
}

}  // namespace long_programs_test
