// A sum written in another order first gives what the step gave, and lies in rows that begin at whole lines.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "executed_sequence.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/copy_result.hpp"
#include "ir/passes/step_piece.hpp"
#include "lower/einsum.hpp"

namespace ir_copy_result_test {

using namespace ricci;

TEST_CASE("a sum in another order first gives the same bits, in rows at whole lines") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("dcae,bde->cba");
  problem.inputs = {Layout::row_major(DType::f64, {3, 4, 5, 2}), Layout::row_major(DType::f64, {6, 3, 2})};
  problem.output = Layout::row_major(DType::f64, {4, 6, 5});
  problem.beta = ir::Factor::one;
  const auto whole = ir::sequence_of(ir::canonicalise(ir::lower(problem)));
  const auto wanted = tests::executed<double>(whole);
  const auto& program = whole.steps[0].program;
  const auto sum = std::find_if(program.nodes.begin(), program.nodes.end(),
                                [](const ir::Node& node) { return node.kind == ir::NodeKind::reduce; });
  REQUIRE(sum != program.nodes.end());
  const auto id = static_cast<ir::NodeId>(sum - program.nodes.begin());
  std::vector<int> order;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (program.statement().offset.coefficient[q] != 0) order.push_back(static_cast<int>(q));
  }
  REQUIRE(order.size() == 3);
  do {
    for (std::size_t row = 0; row <= order.size(); ++row) {
      const auto copied = ir::copy_result(whole, 0, id, order, row);
      REQUIRE(copied.steps.size() == 2);
      const auto& made = copied.storages.back();
      CHECK(made.role == ir::Role::workspace);
      const auto got = tests::executed<double>(copied);
      for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(got[k] == wanted[k]);
      const auto& written = copied.steps[0].program.statement();
      std::int64_t columns = 1;
      for (auto k = order.size() - row; k < order.size(); ++k)
        columns *= program.indices[static_cast<std::size_t>(order[k])].extent;
      for (const auto step : written.offset.coefficient) {
        if (row > 0 && step >= columns) CHECK(step * size_of(made.type) % ir::kRowBytes == 0);
      }
      CHECK(std::count(written.offset.coefficient.begin(), written.offset.coefficient.end(), 1) == 1);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("rows of a copied operand begin at whole lines") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,cb->ac");
  problem.inputs = {Layout::row_major(DType::f64, {5, 3}), Layout::row_major(DType::f64, {4, 3})};
  problem.output = Layout::row_major(DType::f64, {5, 4});
  const auto whole = ir::sequence_of(ir::canonicalise(ir::lower(problem)));
  const auto wanted = tests::executed<double>(whole);
  const auto& program = whole.steps[0].program;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    if (program.nodes[k].kind != ir::NodeKind::load) continue;
    std::vector<int> order;
    for (std::size_t q = 0; q < program.indices.size(); ++q) {
      if (program.nodes[k].offset.coefficient[q] != 0) order.push_back(static_cast<int>(q));
    }
    const auto copied = ir::copy_operand(whole, 0, static_cast<ir::NodeId>(k), order, 1);
    const auto got = tests::executed<double>(copied);
    for (std::size_t s = 0; s < wanted.size(); ++s) CHECK(got[s] == wanted[s]);
    const auto& steps = copied.steps[0].program.statement().offset.coefficient;
    CHECK(*std::max_element(steps.begin(), steps.end()) * size_of(DType::f64) == ir::kRowBytes);
  }
}

}  // namespace ir_copy_result_test
