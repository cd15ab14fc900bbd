// A step whose operand is copied first gives what it gave, and reads it in the order that was asked for.
#include <algorithm>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "executed_sequence.hpp"
#include "ir/axes.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/copy_window.hpp"
#include "ir/passes/reorder_storage.hpp"
#include "lower/einsum.hpp"
#include "lower/lower_program.hpp"
#include "ricci/program.hpp"

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

TEST_CASE("what is read in windows is copied once, whatever the order of its axes") {
  for (const char* slot : {"2*i+r, j+s", "i+r, j-s+2", "i-2*r+4, 3*j+2*s", "i+r, j+i-s+2"}) {
    const auto whole =
        ir::lower(Program::parse(std::string("index c = 2; index k = 2; index i j = 4; index r s = 3\n"
                                             "input x(c,14,14) : f64; input w(k,c,r,s) : f64; output z(k,i,j) : f64\n"
                                             "z(k,i,j) = sum(c r s, diag(x(c,") +
                                 slot + "))*w(k,c,r,s))"));
    const auto wanted = tests::executed<double>(whole);
    const auto& program = whole.steps[0].program;
    const auto load = static_cast<ir::NodeId>(
        std::find_if(program.nodes.begin(), program.nodes.end(),
                     [&](const ir::Node& node) {
                       return node.kind == ir::NodeKind::load &&
                              program.buffers[static_cast<std::size_t>(node.source)].name == "x";
                     }) -
        program.nodes.begin());
    const auto axes = ir::axes_of(program.nodes[static_cast<std::size_t>(load)].offset, program.indices);
    std::int64_t places = 1;
    for (const auto& axis : axes) places *= axis.extent;
    CHECK(places <= 2 * 14 * 14);
    std::vector<std::size_t> order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      const auto copied = ir::copy_window(whole, 0, load, axes, order);
      REQUIRE(copied.steps.size() == 2);
      CHECK(copied.storages.back().last + 1 == places);
      const auto got = tests::executed<double>(copied);
      for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(got[k] == wanted[k]);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("a storage of the workspace may have any order of its axes") {
  const auto whole =
      ir::lower(Program::parse("index n = 2; index c = 3; index i j = 4; index r s = 3\n"
                               "input x(n,c,i,j) : f64 outside(5); input w(c,r,s) : f64; output z(n,i,j) : f64\n"
                               "z(n,i,j) = sum(c r s, x(n,c,i+r-1,j-s+2)*w(c,r,s)) + x(1,2,i-1,0)"));
  const auto wanted = tests::executed<double>(whole);
  const auto& reader = whole.steps.back();
  const auto storage = static_cast<int>(whole.storages.size()) - 1;
  const auto load = std::find_if(reader.program.nodes.begin(), reader.program.nodes.end(), [&](const ir::Node& node) {
    return node.kind == ir::NodeKind::load && reader.storage[static_cast<std::size_t>(node.source)] == storage;
  });
  REQUIRE(load != reader.program.nodes.end());
  auto axes = ir::axes_of(load->offset, reader.program.indices);
  REQUIRE(axes.size() == 4);
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    const auto made = ir::reorder_storage(whole, storage, axes, order);
    REQUIRE(made);
    CHECK(made->steps.size() == whole.steps.size());
    const auto got = tests::executed<double>(*made);
    for (std::size_t k = 0; k < 3; ++k) CHECK(got[k] == wanted[k]);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(!ir::reorder_storage(whole, 0, axes, order));  // the caller's
  axes.pop_back();
  CHECK(!ir::reorder_storage(whole, storage, axes, {0, 1, 2}));  // not all of it
  axes = {{1, 4, {}}, {4, 54, {}}};                              // rows of 6 go beyond the first of these
  CHECK(!ir::reorder_storage(whole, storage, axes, {0, 1}));
}

TEST_CASE("an access reaches the elements of its windows once") {
  const auto reached = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> steps) {
    ir::Affine access;
    std::vector<ir::LoopIndex> indices;
    for (const auto& [stride, extent] : steps) {
      access.coefficient.push_back(stride);
      indices.push_back({"q" + std::to_string(indices.size()), extent});
    }
    return ir::reached(access, indices);
  };
  CHECK(reached({{8, 4}, {1, 8}}) == 32);
  CHECK(reached({{1, 10}, {1, 3}}) == 12);
  CHECK(reached({{1, 10}, {-1, 3}}) == 12);
  CHECK(reached({{100, 5}, {10, 8}, {10, 3}, {1, 8}, {1, 3}}) == 5 * 10 * 10);
  CHECK(reached({{20, 4}, {10, 3}, {1, 10}}) == 9 * 10);  // 2*i+r
  CHECK(reached({{20, 4}, {10, 2}, {1, 10}}) == 8 * 10);  // windows side by side
  CHECK(reached({{1, 10}, {0, 5}, {7, 1}}) == 10);
  CHECK(reached({{1, 10}, {1, 0}}) == 0);
  CHECK(reached({{3, 2}, {2, 2}}) == 4);  // 0, 2, 3, 5
}

}  // namespace ir_copy_operand_test
