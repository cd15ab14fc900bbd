// Sums of products on a GPU: as a kernel, or as steps that multiply two tensors each.
#include <string>

#include "catch.hpp"
#include "executed_sequence.hpp"
#include "ir/passes/copy_operand.hpp"
#include "kernel/contraction.hpp"
#include "lower/lower_program.hpp"
#include "runtime/repeated_steps.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/sequences.hpp"

namespace plan_products_gpu_test {

using namespace ricci;

namespace {

/// The steps of a plan for sm_90.
ir::Sequence steps_of(const std::string& text, std::int64_t workspace_limit = -1) {
  Plan::Impl plan;
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  plan.target = runtime::target_of(options);
  plan.workspace_limit = workspace_limit;
  runtime::Predictions predictions(plan.gpu_model(), Precision::operands);
  const auto lowered = ir::lower(Program::parse(text));
  const auto made = runtime::steps_instead(lowered, plan, &predictions);
  return made ? *made : lowered;
}

bool multiplies(const ir::Step& step) { return kernel::contraction_of(ir::canonicalise(step.program)).has_value(); }

}  // namespace

TEST_CASE("long sums of products are steps, short ones of many are one kernel") {
  const std::string ladder =
      "index a b c d = 96\nindex i j k l = 32\n"
      "input V(a, b, i, j) : f64; input W(a, b, c, d) : f64; input X(k, l, i, j) : f64; input T(c, d, i, j) : f64\n"
      "output R(a, b, i, j) : f64\n";
  auto steps = steps_of(ladder +
                        "R(a, b, i, j) = V(a, b, i, j) + sum(c d, W(a, b, c, d) * T(c, d, i, j))\n"
                        "R(a, b, i, j) -= sum(k l, X(k, l, i, j) * T(a, b, k, l))");
  REQUIRE(steps.steps.size() == 2);
  for (const auto& step : steps.steps) CHECK(multiplies(step));
  CHECK(steps.workspace_bytes() == 0);  // where the result lies

  steps = steps_of(ladder + "R(a, b, i, j) = sum(c d, W(a, b, c, d) * (2 * T(c, d, i, j) - T(d, c, i, j)))");
  REQUIRE(steps.steps.size() == 2);
  CHECK_FALSE(multiplies(steps.steps[0]));
  CHECK(multiplies(steps.steps[1]));
  CHECK(steps.workspace_bytes() > 0);
  steps = steps_of(ladder + "R(a, b, i, j) = sum(c d, W(a, b, c, d) * (2 * T(c, d, i, j) - T(d, c, i, j)))", 1000);
  CHECK(steps.steps.size() == 1);

  const auto triples = [](const std::string& type) {
    return steps_of(
        "index i j k a b c l = 24\n"
        "input t(i, j, a, l) : " +
        type + "; input v(b, c, k, l) : " + type +
        "\n"
        "inout t3(a, b, c, i, j, k) : " +
        type +
        "\n"
        "t3(a, b, c, i, j, k) -= sum(l, t(i, j, a, l) * v(b, c, k, l))\n"
        "t3(a, b, c, i, j, k) += sum(l, t(i, j, b, l) * v(a, c, k, l))\n"
        "t3(a, b, c, i, j, k) += sum(l, t(k, j, a, l) * v(b, c, i, l))\n");
  };
  CHECK(triples("f64").steps.size() == 1);
  CHECK(triples("f32").steps.size() == 2);  // one product, and its permutations
}

TEST_CASE("a tensor that two steps read in another order is copied once") {
  const auto sequence =
      ir::lower(Program::parse("index i j = 9\nindex k = 10\n"
                               "input B(k, j) : f64\ninout A(i, k) : f64\noutput C(i, j) : f64; output D(i, j) : f64\n"
                               "C(i, j) = sum(k, A(i, k) * B(k, j))\n"
                               "A(i, k) *= 2\n"
                               "D(i, j) = sum(k, A(i, k) * B(k, j))"));
  runtime::Predictions predictions(plan::GpuModel::of_capability(90), Precision::operands);
  auto copied = sequence;
  const auto copy = [&](std::size_t step, const std::string& tensor) {
    copied.steps[step] = predictions.canonical_step(copied.steps[step]);
    const auto& program = copied.steps[step].program;
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      if (node.kind != ir::NodeKind::load || program.buffers[static_cast<std::size_t>(node.source)].name != tensor)
        continue;
      std::vector<int> indices;
      for (std::size_t q = program.indices.size(); q-- > 0;) {
        if (node.offset.coefficient[q] != 0) indices.push_back(static_cast<int>(q));
      }
      copied = ir::copy_operand(copied, step, static_cast<ir::NodeId>(id), indices, 0);
      return;
    }
    FAIL(tensor);
  };
  for (const auto* tensor : {"A", "B"}) {
    copy(copied.steps.size() - 1, tensor);
    copy(tensor == std::string("A") ? 0 : 1, tensor);
  }
  REQUIRE(copied.steps.size() == sequence.steps.size() + 4);
  const auto once = runtime::without_repeats(copied, predictions, -1);
  CHECK(once.steps.size() == copied.steps.size() - 1);  // of B: A has changed
  CHECK(once.storages.size() == copied.storages.size() - 1);
  const auto want = tests::executed<double>(sequence), is = tests::executed<double>(once);
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) CHECK(is[k] == want[k]);
  CHECK(runtime::without_repeats(copied, predictions, 0).steps.size() == copied.steps.size());
}

}  // namespace plan_products_gpu_test
