// Sums of products behind guards compute what they did as products of masked tensors; others stay.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/masked_factors.hpp"
#include "lower/lower_program.hpp"

namespace ir_masked_factors_test {

using namespace ricci;

namespace {

constexpr const char* kTensors =
    "index i = 9\nindex j = 8\nindex k = 10\n"
    "input A(i, k) : f64; input B(k, j) : f64; input H(i, k) : f64; input m(i, k) : i32; input w(k) : f64\n"
    "input U(i, k) : i32; input V(k, j) : i32; param n : i64\n"
    "temp T(i, k) : f64\n";

ir::Sequence lowered(const std::string& statements) {
  std::string outputs;
  for (const auto* output : {"C(i, j) : f64", "D(i, j) : i32", "y(i) : f64"}) {
    const std::string declared = output;
    if (statements.find(declared.substr(0, declared.find(')') + 1) + " =") != std::string::npos)
      outputs += "output " + declared + "\n";
  }
  return ir::lower(Program::parse(kTensors + outputs + statements));
}

/// The outputs, of small whole numbers; A is not a number where k > i.
std::vector<double> computed(const ir::Sequence& sequence, bool garbage = false) {
  std::vector<std::vector<double>> memory;
  std::vector<void*> pointers;
  std::vector<std::size_t> outputs;
  for (const auto& storage : sequence.storages) {
    const auto count = static_cast<std::size_t>(storage.last + 1);
    auto& values = memory.emplace_back(count);
    pointers.push_back(values.data());
    if (storage.role == ir::Role::output) outputs.push_back(memory.size() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      const int number =
          static_cast<int>((7 * k + storage.name.size() + static_cast<unsigned char>(storage.name[0])) % 5) - 2;
      if (storage.type == DType::i32)
        reinterpret_cast<std::int32_t*>(values.data())[k] = number;
      else
        values[k] =
            garbage && storage.name == "A" && k % 10 > k / 10 ? std::numeric_limits<double>::quiet_NaN() : number;
    }
  }
  ir::interpret(sequence, pointers, std::vector<Scalar>(sequence.params.size(), 6));
  std::vector<double> result;
  for (const auto k : outputs) {
    const auto* const integers = reinterpret_cast<const std::int32_t*>(memory[k].data());
    for (std::size_t e = 0; e < memory[k].size(); ++e)
      result.push_back(sequence.storages[k].type == DType::i32 ? integers[e] : memory[k][e]);
  }
  return result;
}

bool has_guards(const ir::Step& step) {
  return std::any_of(step.program.nodes.begin(), step.program.nodes.end(),
                     [](const ir::Node& node) { return node.kind == ir::NodeKind::guard; });
}

}  // namespace

TEST_CASE("factors are masked in place of guards around products") {
  const struct {
    const char* statement;
    std::size_t copies;
  } rows[] = {
      {"C(i, j) = sum(k, guard(k <= i, A(i, k) * B(k, j)))", 1},
      {"C(i, j) = 2 * sum(k, B(k, j) * guard(k <= i, -A(i, k)))", 1},
      {"C(i, j) = sum(k, guard(i - k <= 2 and k - i <= 2 and j >= k, A(i, k) * B(k, j)))", 2},
      {"C(i, j) = sum(k, guard(k > 3, A(i, k) * B(k, j)))", 2},
      {"C(i, j) = sum(k, guard(k < n, A(i, k) * B(k, j)))", 2},
      {"C(i, j) = sum(k, guard(j <= i, A(i, k) * B(k, j)))", 0},
      {"C(i, j) = sum(k, guard(m(i, k), A(i, k) * B(k, j))) + sum(k, guard(k <= i, A(i, k) * B(k, j)))", 2},
      {"C(i, j) = sum(k, guard(k <= i, A(i, k) * H(i, k) * B(k, j)))", 2},
      {"C(i, j) = sum(k, guard(k <= i, A(i, k) * B(k, j))) - sum(k, guard(k <= i, A(i, k) * B(k, j) * w(k)))", 1},
      {"D(i, j) = sum(k, guard(k <= i, U(i, k) * V(k, j)))", 1},
  };
  for (const auto& [statement, copies] : rows) {
    INFO(statement);
    const auto whole = lowered(statement);
    REQUIRE(whole.steps.size() == 1);
    const auto masked = ir::masked_factors(whole, 0);
    REQUIRE(masked);
    CHECK(masked->steps.size() == 1 + copies);
    CHECK(masked->storages.size() == whole.storages.size() + copies);
    for (const auto& step : masked->steps) CHECK_FALSE(has_guards(step));
    CHECK(computed(*masked) == computed(whole));
  }
}

TEST_CASE("what a mask leaves out of a tensor may hold anything") {
  const auto whole = lowered("C(i, j) = sum(k, guard(k <= i, A(i, k) * B(k, j)))");
  const auto masked = ir::masked_factors(whole, 0);
  REQUIRE(masked);
  CHECK(computed(*masked, true) == computed(whole, true));
}

TEST_CASE("sums whose guards no factor can be masked for stay") {
  for (const auto* statement : {
           "C(i, j) = sum(k, guard(i + j >= k, A(i, k) * B(k, j)))",  // of all three indices
           "C(i, j) = sum(k, A(i, k) * B(k, j))",
           "C(i, j) = guard(j <= i, sum(k, A(i, k) * B(k, j)))",            // what is not stored
           "C(i, j) = minimum(k, guard(k <= i, A(i, k) * B(k, j)))",        // zeros change it
           "C(i, j) = sum(k, guard(k <= i, A(i, k) * B(k, j)) + B(k, j))",  // no product
           "y(i) = sum(k, guard(k <= i, A(i, k)))",
       }) {
    INFO(statement);
    CHECK_FALSE(ir::masked_factors(lowered(statement), 0));
  }
  auto exact = lowered("C(i, j) = sum(k, guard(k <= i, A(i, k) * B(k, j)))");
  exact.steps[0].program.exact = true;
  CHECK_FALSE(ir::masked_factors(exact, 0));
}

TEST_CASE("a tensor in workspace is masked where it is made if all that read it leave the same elements out") {
  const struct {
    const char* statements;
    bool where_made;
  } rows[] = {
      {"T(i, k) = exp(A(i, k))\nC(i, j) = sum(k, guard(k <= i, T(i, k) * B(k, j)))", true},
      {"T(i, k) = exp(A(i, k))\ny(i) = sum(k, guard(k <= i, T(i, k)))\n"
       "C(i, j) = sum(k, guard(k <= i, T(i, k) * B(k, j)))",
       true},
      {"T(i, k) = exp(A(i, k))\ny(i) = sum(k, T(i, k))\nC(i, j) = sum(k, guard(k <= i, T(i, k) * B(k, j)))", false},
      {"T(i, k) = exp(A(i, k))\ny(i) = sum(k, guard(k < i, T(i, k)))\n"
       "C(i, j) = sum(k, guard(k <= i, T(i, k) * B(k, j)))",
       false},
      {"T(i, k) = exp(A(i, k))\nC(i, j) = sum(k, guard(m(i, k), T(i, k) * B(k, j)))", false},  // of more than indices
  };
  for (const auto& [statements, where_made] : rows) {
    INFO(statements);
    const auto whole = lowered(statements);
    const auto last = whole.steps.size() - 1;
    REQUIRE(last > 0);
    const auto masked = ir::masked_factors(whole, last);
    REQUIRE(masked);
    CHECK(masked->steps.size() == whole.steps.size() + (where_made ? 0 : 1));
    CHECK(masked->storages.size() == whole.storages.size() + (where_made ? 0 : 1));
    CHECK_FALSE(has_guards(masked->steps.back()));
    CHECK(computed(*masked) == computed(whole));
  }
}

}  // namespace ir_masked_factors_test
