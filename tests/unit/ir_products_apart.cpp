// Sums of products as steps of two tensors each compute what they did, and others stay.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/distinct_factors.hpp"
#include "ir/passes/products_apart.hpp"
#include "lower/lower_program.hpp"

namespace ir_products_apart_test {

using namespace ricci;

namespace {

ir::Sequence lowered(const std::string& declared, const std::string& statement) {
  return ir::lower(Program::parse("index i j = 9\nindex k = 10\nindex l = 8\nindex s = 3\n" + declared +
                                  "\ninout C(i, j) : f64\n" + statement));
}

/// Small whole numbers, of which every sum is exact: the tensors after a sequence was interpreted.
std::vector<std::vector<double>> computed(const ir::Sequence& sequence, std::size_t count) {
  std::vector<std::vector<double>> memory;
  std::vector<void*> pointers;
  for (const auto& storage : sequence.storages) {
    auto& values = memory.emplace_back(static_cast<std::size_t>(storage.last + 1));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>((7 * k + memory.size()) % 5) - 2;
    pointers.push_back(values.data());
  }
  ir::interpret(sequence, pointers, {});
  memory.resize(count);
  return memory;
}

std::size_t sums(const ir::Step& step) {
  const auto is_sum = [](const ir::Node& node) { return node.kind == ir::NodeKind::reduce; };
  return static_cast<std::size_t>(std::count_if(step.program.nodes.begin(), step.program.nodes.end(), is_sum));
}

constexpr const char* kTensors =
    "input A(i, k) : f64; input B(k, j) : f64; input H(i, k) : f64; input w(k) : f64; input M(i, j) : f64\n"
    "input v(i) : f64; input D(i, l) : f64; input E(l, j) : f64; input P(i, s) : f64; input Q(s, j) : f64\n"
    "input T(i, j, k) : f64";

}  // namespace

TEST_CASE("sums of products become steps of two tensors each") {
  const struct {
    const char* statement;
    std::size_t steps;
    std::size_t workspace = 0;  ///< tensors of it
  } rows[] = {
      {"C(i, j) = sum(k, A(i, k) * w(k) * B(k, j))", 2, 1},
      {"C(i, j) = sum(k, A(i, k) * H(i, k) * B(k, j))", 2, 1},
      {"C(i, j) = sum(k, (A(i, k) - H(i, k)) * B(k, j))", 2, 1},
      {"C(i, j) = sum(k, A(i, k) * w(k) * A(j, k))", 2, 1},
      {"C(i, j) = sum(k, 2 * A(i, k) * B(k, j))", 1},
      {"C(i, j) += v(i) * sum(k, -A(i, k) * M(i, j) * B(k, j))", 1},
      {"C(i, j) = 3 * sum(k, A(i, k) * B(k, j)) - sum(l, D(i, l) * E(l, j)) + M(i, j)", 2},
      {"C(i, j) = sum(k, A(i, k) * B(k, j)) - 3 * sum(k, B(k, j) * A(i, k)) + M(i, j)", 1},
      {"C(i, j) = v(i) * (sum(k, A(i, k) * B(k, j) - 2 * H(i, k) * B(k, j)) - sum(l, D(i, l) * E(l, j)))", 3},
      {"C(i, j) = abs(C(i, j) - M(i, j) * sum(k, A(i, k) * w(k) * B(k, j) - w(k) * A(i, k) * A(j, k)))", 3, 2},
      {"C(i, j) += sum(k, A(i, k) * B(k, j)) - sum(l, D(i, l) * E(l, j))", 2},
      {"C(i, j) = 2 * M(i, j) - C(i, j) - sum(k, A(i, k) * B(k, j)) - sum(l, D(i, l) * E(l, j))", 2},
      {"C(i, j) += C(i, j) * sum(k, A(i, k) * B(k, j)) - sum(l, D(i, l) * E(l, j))", 2, 1},
  };
  for (const auto& [statement, steps, workspace] : rows) {
    INFO(statement);
    const auto whole = lowered(kTensors, statement);
    REQUIRE(whole.steps.size() == 1);
    auto apart = ir::products_apart(whole, 0);
    REQUIRE(apart);
    CHECK(apart->steps.size() == steps);
    CHECK(apart->storages.size() == whole.storages.size() + workspace);
    for (const auto& step : apart->steps) CHECK(sums(step) <= 1);
    const auto count = whole.storages.size();
    CHECK(computed(*apart, count) == computed(whole, count));
    CHECK(computed(ir::distinct_factors(std::move(*apart)), count) == computed(whole, count));
  }
}

TEST_CASE("what tiles have no use for stays one step") {
  for (const auto* statement : {
           "C(i, j) = sum(k, A(i, k) * B(k, j))",                              // two tensors
           "C(i, j) += 2 * sum(k, A(i, k) * B(k, j))",                         // and what is around their sum
           "C(i, j) = sum(s, 2 * P(i, s) * Q(s, j))",                          // a short sum
           "C(i, j) = sum(k, A(i, k) * T(i, j, k) * B(k, j))",                 // all indices are of one factor
           "C(i, j) = sum(k, A(i, k) * B(k, j)) * sum(l, D(i, l) * E(l, j))",  // a product of sums
           "C(i, j) = max(sum(k, A(i, k) * w(k) * B(k, j)), sum(k, w(k)))",    // two that are not added up
           "C(i, j) = sum(k, A(i, k) * w(k) * B(k, j)) + sum(k, w(k))",        // one of no product
       }) {
    INFO(statement);
    CHECK_FALSE(ir::products_apart(lowered(kTensors, statement), 0));
  }
  CHECK_FALSE(
      ir::products_apart(lowered(std::string("exact\n") + kTensors, "C(i, j) = sum(k, 2 * A(i, k) * B(k, j))"), 0));
}

TEST_CASE("a tensor that is both factors has two names, and one memory") {
  const auto whole = lowered(kTensors, "C(i, j) = sum(k, A(i, k) * A(j, k))");
  const auto made = ir::distinct_factors(whole);
  const auto& step = made.steps.at(0);
  CHECK(made.storages.size() == whole.storages.size());
  REQUIRE(step.program.buffers.size() == 3);
  CHECK(std::count(step.storage.begin(), step.storage.end(), 0) == 2);
  CHECK(computed(made, whole.storages.size()) == computed(whole, whole.storages.size()));
  const auto same = [](const ir::Sequence& sequence) {
    return ir::distinct_factors(sequence).steps[0].program.buffers.size() == sequence.steps[0].program.buffers.size();
  };
  CHECK(same(lowered(kTensors, "C(i, j) = sum(k, A(i, k) * A(i, k)) + M(i, j)")));  // no columns
  CHECK(same(lowered(kTensors, "C(i, j) = sum(k, A(i, k) * B(k, j))")));
}

}  // namespace ir_products_apart_test
