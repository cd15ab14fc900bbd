// Random einsums as CUDA text on the simulator, step by step of their paths: what the interpreter does, and not a
// fault.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>

#include "catch.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/simt_sequence.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/copy_result.hpp"
#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/error.hpp"

namespace einsum_simt_test {

using namespace ricci;

namespace {

/// Runs the steps of a sequence that computes an einsum, in its tensors and workspace.
void check(fuzz::RandomEinsum& e, const ir::Sequence& sequence) {
  const auto want = e.expected();
  const auto before = e.tensors.back();
  std::vector<fuzz::Area> areas;
  for (auto& tensor : e.tensors) areas.push_back({tensor.begin(), tensor.bytes(), tensor.element_0()});
  const auto workspace = fuzz::add_workspace(sequence, areas);
  for (const auto& step : sequence.steps) {
    const auto fault = fuzz::run_step(step, areas, e.params(sequence.params), e.seed);
    if (!fault.empty()) FAIL(fault);
  }
  const auto difference = e.difference(want, before);
  if (!difference.empty()) FAIL(difference << "\n" << ir::print(ir::lower(e.problem)));
}

/// The einsum of a seed by a path.
void check(std::uint64_t seed) {
  auto e = fuzz::random_einsum(seed, {2500, 4});
  INFO(e.text());
  const auto minimise = seed % 2 == 0 ? ir::PathOptions::Minimise::flops : ir::PathOptions::Minimise::memory;
  check(e, ir::lower_einsum(e.problem, {minimise}));
}

/// The einsum of a seed as one step in canonical form; nothing where it is no contraction, or has no points.
std::optional<ir::Sequence> contraction_of(const ir::Sequence& lowered) {
  if (lowered.steps.size() != 1) return std::nullopt;
  auto sequence = lowered;
  const auto& old = lowered.steps[0];
  auto canonical = ir::canonicalise(old.program);
  ir::Step step;
  for (const int buffer : canonical.buffer) step.storage.push_back(old.storage[static_cast<std::size_t>(buffer)]);
  for (const int param : canonical.param) step.param.push_back(old.param[static_cast<std::size_t>(param)]);
  step.program = std::move(canonical);
  sequence.steps[0] = std::move(step);
  const auto& program = sequence.steps[0].program;
  if (!kernel::contraction_of(program) || !runtime::has_points(program)) return std::nullopt;
  return sequence;
}

/// A contraction of a seed with an operand copied into another order first: one that may be worth it, or any. False for
/// einsums that are none.
bool check_copied(std::uint64_t seed) {
  auto e = fuzz::random_einsum(seed, {2500, 2});
  INFO(e.text());
  const auto sequence = contraction_of(ir::lower_einsum(e.problem, {ir::PathOptions::Minimise::flops}));
  if (!sequence) return false;
  const auto& program = sequence->steps[0].program;
  const auto contraction = kernel::contraction_of(program);
  std::mt19937_64 random(seed);
  const auto load = (random() % 2 == 0 ? contraction->first : contraction->second).load;
  plan::OperandOrder order{load, {}};
  const auto& coefficient = program.nodes[static_cast<std::size_t>(load)].offset.coefficient;
  for (std::size_t q = 0; q < coefficient.size(); ++q) {
    if (coefficient[q] != 0) order.indices.push_back(static_cast<int>(q));
  }
  std::shuffle(order.indices.begin(), order.indices.end(), random);
  const auto worth = plan::operand_orders(program, plan::GpuModel::of_capability(90));
  if (!worth.empty()) order = worth[random() % worth.size()];
  order.row = random() % (order.indices.size() + 1);
  const auto copied = ir::copy_operand(*sequence, 0, order.value, order.indices, order.row, "copy", order.tf32);
  REQUIRE(copied.steps.size() == 2);
  check(e, copied);
  return true;
}

/// A contraction of a seed whose sums are written as a matrix first: as may be worth it, or in any order; and of which
/// an operand is copied to be one, too. False for einsums that are none, or sum nothing.
bool check_as_matrices(std::uint64_t seed) {
  auto e = fuzz::random_einsum(seed, {2500, 2});
  INFO(e.text());
  const auto sequence = contraction_of(ir::lower_einsum(e.problem, {ir::PathOptions::Minimise::flops}));
  if (!sequence) return false;
  const auto device = plan::GpuModel::of_capability(90);
  const auto& program = sequence->steps[0].program;
  const auto contraction = kernel::contraction_of(program);
  if (program.nodes[static_cast<std::size_t>(contraction->reduce)].kind != ir::NodeKind::reduce) return false;
  std::mt19937_64 random(seed);
  plan::MatrixOrder order;
  order.sum = contraction->reduce;
  for (const auto role : {kernel::Role::batch, kernel::Role::rows, kernel::Role::columns}) {
    for (const int q : contraction->indices(role)) order.indices.push_back(q);
  }
  if (order.indices.empty()) return false;
  order.row = random() % (order.indices.size() + 1);
  if (random() % 2 == 0) std::shuffle(order.indices.begin(), order.indices.end(), random);
  if (const auto worth = plan::matrix_order(program, device)) order = *worth;
  auto made = ir::copy_result(*sequence, 0, order.sum, order.indices, order.row);
  REQUIRE(made.steps.size() == 2);
  if (const auto operand = plan::matrix_operand(made.steps[0].program, device, random() % 2 == 0)) {
    made = ir::copy_operand(made, 0, operand->value, operand->indices, operand->row);
    REQUIRE(made.steps.size() == 3);
  }
  check(e, made);
  return true;
}

}  // namespace

TEST_CASE("clusters do not share a sum along what one operand alone has") {
  const std::uint64_t seed = 1796065232;
  CHECK(check_copied(seed));
}

TEST_CASE("random contractions of copied operands and permuted sums are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(410001);
  const int count = fuzz::cases(90) / 2;
  int copied = 0, matrices = 0;
  for (int k = 0; k < count; ++k) {
    try {
      copied += check_copied(first + static_cast<std::uint64_t>(k)) ? 1 : 0;
      matrices += check_as_matrices(first + static_cast<std::uint64_t>(k)) ? 1 : 0;
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(k) << ": " << error.what());
    }
  }
  std::printf("%d einsums from seed %llu: %d with an operand copied first, %d with sums as matrices first\n", count,
              static_cast<unsigned long long>(first), copied, matrices);
  if (fuzz::enough(fuzz::cases(90))) CHECK((copied > count / 10 && matrices > count / 10));
}

TEST_CASE("random einsums on the simulator are the interpreter's within their bound, without a fault") {
  const auto first = fuzz::first_seed(400001);
  const int count = fuzz::cases(90);
  for (int k = 0; k < count; ++k) {
    try {
      check(first + static_cast<std::uint64_t>(k));
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(k) << ": " << error.what());
    }
  }
  std::printf("%d random einsums from seed %llu on the simulator\n", count, static_cast<unsigned long long>(first));
  REQUIRE(count > 0);
}

}  // namespace einsum_simt_test
