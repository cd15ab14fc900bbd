// Sums of products in other types compute what they did: real and complex factors as reals, short integers in i32.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "ir/passes/simpler_products.hpp"
#include "lower/einsum.hpp"

namespace ir_simpler_products_test {

using namespace ricci;

namespace {

/// Bytes of all tensors after a sequence was interpreted: floats are small whole numbers, of which every sum is exact,
/// integers are any. Those of the first `count` storages.
std::vector<std::vector<char>> computed(const ir::Sequence& sequence, std::size_t count) {
  std::mt19937 random(5);
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;
  for (const auto& storage : sequence.storages) {
    auto& bytes = memory.emplace_back(static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)));
    const auto fill = [&](auto zero) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof zero) {
        const auto value = static_cast<decltype(zero)>(static_cast<int>(random() % 7) - 3);
        std::memcpy(bytes.data() + at, &value, sizeof zero);
      }
    };
    if (is_integer(storage.type)) {
      for (auto& byte : bytes) byte = static_cast<char>(random());
    } else if (storage.type == DType::f32 || storage.type == DType::c64) {
      fill(0.0f);
    } else {
      fill(0.0);
    }
    pointers.push_back(bytes.data());
  }
  std::vector<Scalar> params(sequence.params.size(), Scalar(2, -1));
  if (!sequence.params.empty() && is_integer(sequence.params[0].type)) params.assign(params.size(), Scalar(3));
  ir::interpret(sequence, pointers, params);
  memory.resize(count);
  return memory;
}

struct Case {
  const char* spec;
  DType first, second, result;
  bool conj_first = false, conj_second = false;
  ir::Factor alpha = ir::Factor::one, beta = ir::Factor::zero;
};

ir::Sequence lowered(const Case& c) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(c.spec);
  const auto of = [](DType type, std::size_t rank) {
    return Layout::row_major(type, std::vector<std::int64_t>(rank, 4));
  };
  problem.inputs = {of(c.first, problem.spec.operands[0].size()), of(c.second, problem.spec.operands[1].size())};
  problem.output = of(c.result, problem.spec.output.size());
  problem.conjugate = {c.conj_first, c.conj_second};
  problem.alpha = c.alpha;
  problem.beta = c.beta;
  return ir::sequence_of(ir::lower(problem));
}

}  // namespace

TEST_CASE("a real and a complex factor are multiplied as reals") {
  using enum DType;
  const struct {
    Case problem;
    std::size_t steps;
  } rows[] = {
      {{"ab,bc->ac", f64, c128, c128}, 1},
      {{"ab,bc->ac", c64, f32, c64}, 1},
      {{"ab,bc->ca", f32, c128, c128}, 1},
      {{"ab,bc->ac", c64, f64, c128}, 1},
      {{"ab,bc->ac", f64, c128, c128, false, false, ir::Factor::one, ir::Factor::one}, 1},
      {{"abd,dcb->ac", f64, c128, c128, false, true}, 2},
      {{"ab,bc->ac", c128, f64, c128, true, false, ir::Factor::any, ir::Factor::any}, 2},
      {{"abd,dcb->ca", f32, c64, c64, false, false, ir::Factor::any}, 2},
  };
  for (const auto& [problem, steps] : rows) {
    INFO(problem.spec << " of " << name(problem.first) << " and " << name(problem.second));
    const auto whole = lowered(problem);
    const auto simpler = ir::simpler_products(whole);
    REQUIRE(simpler);
    REQUIRE(simpler->steps.size() == steps);
    for (const auto& node : simpler->steps[0].program.nodes) CHECK_FALSE(is_complex(node.type));
    const auto count = whole.storages.size();
    CHECK(computed(*simpler, count) == computed(whole, count));
  }
}

TEST_CASE("products of short integers are summed in i32, with the same bits") {
  using enum DType;
  for (const auto type : {i8, u8, i16, u16}) {
    for (const auto beta : {ir::Factor::zero, ir::Factor::any}) {
      Case problem{"ab,bc->ac", type, type, type};
      problem.beta = beta;
      const auto whole = lowered(problem);
      const auto simpler = ir::simpler_products(whole);
      REQUIRE(simpler);
      const auto& nodes = simpler->steps[0].program.nodes;
      const auto sums = [](const ir::Node& node) { return node.kind == ir::NodeKind::reduce && node.type == i32; };
      CHECK(std::count_if(nodes.begin(), nodes.end(), sums) == 1);
      CHECK(computed(*simpler, 3) == computed(whole, 3));
    }
  }
}

TEST_CASE("what gains nothing, or is rounded as it is written, stays as it is") {
  using enum DType;
  const auto same = [](const ir::Sequence& whole) { return !ir::simpler_products(whole); };
  CHECK(same(lowered({"ab,bc->ac", c128, c128, c128})));
  CHECK(same(lowered({"ab,bc->ac", f64, f64, f64})));
  CHECK(same(lowered({"ab,bc->ac", i8, i8, i32})));
  CHECK(same(lowered({"ab,ab->a", f64, c128, c128})));  // no index of its own
  auto exact = lowered({"ab,bc->ac", f64, c128, c128});
  exact.steps[0].program.exact = true;
  CHECK(same(exact));
}

}  // namespace ir_simpler_products_test
