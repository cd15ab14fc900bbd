// Sums of products as steps of two tensors each compute what they did, and others stay.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/distinct_factors.hpp"
#include "ir/passes/products_apart.hpp"
#include "ir/passes/sums_apart.hpp"
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
    auto ways = ir::products_apart(whole, 0);
    REQUIRE(ways.size() == 1);
    auto& apart = ways[0];
    CHECK(apart.steps.size() == steps);
    CHECK(apart.storages.size() == whole.storages.size() + workspace);
    for (const auto& step : apart.steps) CHECK(sums(step) <= 1);
    const auto count = whole.storages.size();
    CHECK(computed(apart, count) == computed(whole, count));
    CHECK(computed(ir::distinct_factors(std::move(apart)), count) == computed(whole, count));
  }
}

TEST_CASE("factors of which no two have all indices are multiplied pair by pair") {
  const struct {
    const char* statement;
    std::size_t steps, workspace;
  } rows[] = {
      {"C(i, j) = sum(k l, U(i, k, l) * B(k, j) * E(l, j))", 2, 1},                // matricised tensor times Khatri-Rao
      {"C(i, j) = 2 * sum(k l, A(i, k) * V(j, k, l) * D(i, l)) + M(i, j)", 2, 1},  // a bilinear form
      {"C(i, j) -= sum(k l, (A(i, k) - H(i, k)) * V(j, k, l) * D(i, l))", 3, 2},
      {"C(i, j) = sum(k, A(i, k) * w(k) * sum(l, V(j, k, l) * D(i, l)))", 3, 2},
      {"v2(i) = sum(k l, A(i, k) * W(k, l) * D(i, l))", 2, 1},  // a quadratic form
      {"v2(i) = sum(k l j, A(i, k) * W(k, l) * E(l, j) * M(i, j))", 3, 2},
      {"T2(i, j, k) = sum(l, D(i, l) * E(l, j) * W(k, l))", 2, 1},  // a sum of outer products
  };
  const std::string tensors = std::string(kTensors) +
                              "\ninput U(i, k, l) : f64; input V(j, k, l) : f64; input W(k, l) : f64\n"
                              "inout v2(i) : f64; inout T2(i, j, k) : f64";
  for (const auto& [statement, steps, workspace] : rows) {
    INFO(statement);
    const auto whole = lowered(tensors, statement);
    const auto last = whole.steps.size() - 1;
    const auto ways = ir::products_apart(whole, last);
    REQUIRE(ways.size() == 1);
    CHECK(ways[0].steps.size() == whole.steps.size() - 1 + steps);
    CHECK(ways[0].storages.size() == whole.storages.size() + workspace);
    const auto count = whole.storages.size();
    CHECK(computed(ways[0], count) == computed(whole, count));
  }
}

TEST_CASE("products that differ in the names of indices alone are one") {
  const struct {
    const char* statement;
    std::size_t products;  ///< that are left
  } rows[] = {
      {"C(i, j) = sum(k, A(i, k) * B(k, j)) - sum(k, A(j, k) * B(k, i))", 1},
      {"C(i, j) = v(i) * (sum(k, B(k, i) * A(j, k)) + 2 * sum(k, A(i, k) * B(k, j))) + M(i, j)", 1},
      {"C(i, j) += sum(k, A(i, k) * B(k, j)) - sum(k, A(j, k) * B(k, i)) + sum(l, D(i, l) * E(l, j))", 2},
      {"C(i, j) = abs(sum(k, A(i, k) * H(j, k)) - sum(k, H(i, k) * A(j, k))) - C(j, i)", 1},
  };
  for (const auto& [statement, products] : rows) {
    INFO(statement);
    const auto whole = lowered(kTensors, statement);
    const auto ways = ir::products_apart(whole, whole.steps.size() > 1 ? 0 : whole.steps.size() - 1);
    REQUIRE(ways.size() == 2);
    std::size_t left = 0;
    for (const auto& step : ways[1].steps) left += sums(step);
    CHECK(left == products);
    const auto count = whole.storages.size();
    for (const auto& way : ways) CHECK(computed(way, count) == computed(whole, count));
  }
  for (const auto* statement : {
           "C(i, j) = sum(k, A(i, k) * B(k, j)) - sum(k, H(j, k) * B(k, i))",  // of other tensors
           "C(i, j) = sum(k, A(i, k) * A(j, k)) - sum(l, D(i, l) * D(j, l))",
       }) {
    INFO(statement);
    CHECK(ir::products_apart(lowered(kTensors, statement), 0).size() == 1);
  }
}

TEST_CASE("sums that many results have in common are steps of their own") {
  const struct {
    const char* statement;
    std::size_t sums;  ///< apart; 0: none is
  } rows[] = {
      {"C(i, j) = M(i, j) / (200 + sum(k, A(i, k)))", 1},
      {"C(i, j) = sum(k, A(i, k)) * sum(k, B(k, j)) + maximum(k, w(k))", 3},
      {"C(i, j) = sum(l, abs(E(l, j) - maximum(k, A(i, k))))", 1},
      {"exact\nC(i, j) = sum(k, A(i, k) * w(k))", 1},
      {"C(i, j) = sum(k, A(i, k) * B(k, j))", 0},
      {"v2(i) = sum(k, A(i, k))", 0},
  };
  for (const auto& [statement, apart] : rows) {
    INFO(statement);
    const auto whole = lowered(std::string(kTensors) + "\ninout v2(i) : f64", statement);
    const auto made = ir::sums_apart(whole, whole.steps.size() - 1);
    REQUIRE(made.has_value() == (apart > 0));
    if (!made) continue;
    CHECK(made->steps.size() == whole.steps.size() + apart);
    const auto count = whole.storages.size();
    CHECK(computed(*made, count) == computed(whole, count));
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
    CHECK(ir::products_apart(lowered(kTensors, statement), 0).empty());
  }
  CHECK(ir::products_apart(lowered(std::string("exact\n") + kTensors, "C(i, j) = sum(k, 2 * A(i, k) * B(k, j))"), 0)
            .empty());
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
