// A step whose operand is copied first gives what it gave, and reads it in the order that was asked for.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "executed_sequence.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "lower/einsum.hpp"

namespace ir_copy_operand_test {

using namespace ricci;

TEST_CASE("an operand copied into another order gives the same bits") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("dac,bcd->ba");
  problem.inputs = {Layout::row_major(DType::f64, {3, 4, 5}), Layout::row_major(DType::f64, {6, 5, 3})};
  problem.output = Layout::row_major(DType::f64, {6, 4});
  problem.beta = ir::Factor::one;
  const auto whole = ir::sequence_of(ir::canonicalise(ir::lower(problem)));
  const auto wanted = tests::executed<double>(whole);
  const auto& program = whole.steps[0].program;
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    if (node.kind != ir::NodeKind::load || program.buffers[static_cast<std::size_t>(node.source)].written) continue;
    std::vector<int> order;
    for (std::size_t q = 0; q < node.offset.coefficient.size(); ++q) {
      if (node.offset.coefficient[q] != 0) order.push_back(static_cast<int>(q));
    }
    REQUIRE(order.size() > 1);
    do {
      const auto copied = ir::copy_operand(whole, 0, static_cast<ir::NodeId>(id), order);
      REQUIRE(copied.steps.size() == 2);
      REQUIRE(copied.storages.size() == whole.storages.size() + 1);
      CHECK(copied.storages.back().role == ir::Role::workspace);
      const auto got = tests::executed<double>(copied);
      for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(got[k] == wanted[k]);
      // What was copied is read with the last index of the order as its fastest one.
      const auto& reader = copied.steps[1].program;
      const auto name = program.indices[static_cast<std::size_t>(order.back())].name;
      const auto index = std::find_if(reader.indices.begin(), reader.indices.end(),
                                      [&](const ir::LoopIndex& one) { return one.name == name; });
      REQUIRE(index != reader.indices.end());
      const auto q = static_cast<std::size_t>(index - reader.indices.begin());
      CHECK(std::any_of(reader.nodes.begin(), reader.nodes.end(), [&](const ir::Node& one) {
        return one.kind == ir::NodeKind::load &&
               reader.buffers[static_cast<std::size_t>(one.source)].name == copied.storages.back().name &&
               one.offset.coefficient[q] == 1;
      }));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace ir_copy_operand_test
