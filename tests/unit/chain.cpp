// Chains of two products: which programs are some, which rules others break, and what directives say.
#include <string>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/read_once.hpp"
#include "kernel/build.hpp"
#include "kernel/build_chain.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/schedule.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/chain_cuda.hpp"
#include "ricci/error.hpp"
#include "runtime/predictions.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/sequences.hpp"

namespace chain_test {

using namespace ricci;

namespace {

struct Text {
  std::string type = "bf16", temps = "bf16", keys = "y(k, d)", values = "v(k, e)",
              score = "0.25 * sum(d, x(q, d) * y(k, d))", most = "maximum(k, S(q, k))", weight = "exp(S(q, k) - M(q))",
              sum = "sum(k, P(q, k))", result = "sum(k, P(q, k) * v(k, e)) / L(q)";
  int rows = 128, columns = 128, depth = 32, width = 32;

  std::string text() const {
    const auto extent = [](const char* name, int value) {
      return "index " + std::string(name) + " = " + std::to_string(value) + "\n";
    };
    return extent("q", rows) + extent("k", columns) + extent("d", depth) + extent("e", width) +
           "input x(q, d) : " + type + "\ninput " + keys + " : " + type + "\ninput " + values + " : " + type +
           "\noutput z(q, e) : " + type + "\ntemp S(q, k) : " + temps + "\ntemp P(q, k) : " + temps +
           "\ntemp M(q) : f32\ntemp L(q) : f32\nS(q, k) = " + score + "\nM(q) = " + most + "\nP(q, k) = " + weight +
           "\nL(q) = " + sum + "\nz(q, e) = " + result + "\n";
  }
};

ir::Sequence lowered(const Text& text) { return ir::lower(Program::parse(text.text())); }

/// All statements as one, whatever it is.
ir::Program whole(const Text& text) {
  auto sequence = lowered(text);
  const auto made =
      ir::computed_where_read(sequence, sequence.steps.size() - 1, [](const ir::Program&) { return true; });
  REQUIRE(made);
  return ir::canonicalise(made->steps.back().program);
}

kernel::Chain chain(const Text& text) {
  const auto made = kernel::chained(lowered(text), 4);
  REQUIRE(made);
  REQUIRE(made->steps.size() == 1);
  const auto found = kernel::chain_of(ir::canonicalise(made->steps[0].program));
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("attention is a chain of two products") {
  const auto found = chain({});
  CHECK(found.batch.empty());
  CHECK(found.parts == 1);
  CHECK(found.sums.size() == 1);
  CHECK(found.exponential >= 0);
  CHECK_FALSE(found.factor);
  CHECK(chain({.temps = "f32"}).factor == 0.25);
  CHECK(found.when.empty());
  CHECK(chain({.temps = "f32"}).parts == 2);
  const auto guarded = chain({.most = "maximum(k, guard(k <= q, S(q, k)))",
                              .sum = "sum(k, guard(k <= q, P(q, k)))",
                              .result = "sum(k, guard(k <= q, P(q, k) * v(k, e))) / L(q)"});
  CHECK(guarded.when.size() == 1);
  const auto selected = chain({.score = "select(k <= q, sum(d, x(q, d) * y(k, d)), -1e30)"});
  CHECK(selected.when.size() == 1);
  CHECK(selected.decided.size() == 1);
  // Rows that may have no element, and what is not far below all scores, are computed as they read.
  CHECK(chain({.score = "select(q < k, sum(d, x(q, d) * y(k, d)), -1e30)"}).when.empty());
  CHECK(chain({.score = "select(k <= q, sum(d, x(q, d) * y(k, d)), -20)"}).when.empty());
}

TEST_CASE("what is no chain says which rule it breaks") {
  const auto fault = [](const Text& text) { return kernel::chain_fault(whole(text)); };
  CHECK(fault({}).empty());
  CHECK(fault({.type = "f32", .temps = "f32"}) == "factors are tensors of half types");
  CHECK(fault({.score = "sum(d, x(q, d) + y(k, d))"}) == "scores are products");
  CHECK(fault({.keys = "y(d, k)", .score = "sum(d, x(q, d) * y(d, k))"}) ==
        "neighbours of both factors lie along the depth");
  CHECK(fault({.weight = "exp(M(q) - S(q, k))"}) == "exponentials are of what the maximum is of, less the maximum");
  CHECK(fault({.weight = "exp(2 * S(q, k) - M(q))"}) == "exponentials are of what the maximum is of, less the maximum");
  CHECK(fault({.weight = "S(q, k) - M(q)"}) ==
        "terms of sums are exponentials times what does not know of the maximum");
  CHECK(fault({.sum = "sum(k, P(q, k) * P(q, k))"}) ==
        "terms of sums are exponentials times what does not know of the maximum");
  CHECK(fault({.sum = "sum(k, P(q, k) * S(q, k))"}) == "terms know scores by exponentials alone");
  CHECK(fault({.sum = "sum(k, guard(k <= q, P(q, k)))"}) == "sums leave out the same elements");
  CHECK(fault({.most = "minimum(k, S(q, k))"}) == "one sum along the depth and one maximum along the columns");
  CHECK(fault({.result = "sum(k, P(q, k)) / L(q)"}) == "a product along the columns");
  CHECK(fault({.values = "v(e, k)", .result = "sum(k, P(q, k) * v(e, k)) / L(q)"}) ==
        "an index of values and the result alone, along which values have neighbours");
  CHECK(fault({.temps = "f32", .columns = 32}) ==
        "weights are of the type of values, or many of f32 beside values of bf16");
  CHECK(fault({.type = "f16", .temps = "f32"}) ==
        "weights are of the type of values, or many of f32 beside values of bf16");
}

TEST_CASE("directives of a chain are held against its rules") {
  const auto made = kernel::chained(lowered({}), 4);
  REQUIRE(made);
  const auto program = ir::canonicalise(made->steps[0].program);
  const auto found = *kernel::chain_of(program);
  const auto directives = kernel::chain_directives(found, {.rows = 64, .columns = 32, .warps = 4});
  const auto refused = [&](kernel::Directives changed) -> std::string {
    try {
      kernel::build(program, kernel::Schedule{"", std::move(changed)}, kernel::Target::cuda);
      return "";
    } catch (const PlanError& error) {
      return error.what();
    }
  };
  using Catch::Matchers::Contains;
  CHECK(refused(directives).empty());
  CHECK(kernel::parse_directives(kernel::print(directives)) == directives);
  auto few = directives;
  few.pop_back();
  CHECK_THAT(refused(few),
             Contains("a chain has tiles of rows and columns, an order, two staged operands and two atoms"));
  auto columns = directives;
  columns[1].sizes = {24};
  CHECK_THAT(refused(columns), Contains("columns of a round are multiples of 16"));
  auto rows = directives;
  rows[0].sizes = {32};
  CHECK_THAT(refused(rows), Contains("rows of a warp are those of whole atoms"));
  auto warps = directives;
  warps.back().warps = {2, 1};
  CHECK_THAT(refused(warps), Contains("warps share the rows, of both products"));
  auto atom = directives;
  atom.back().subject = "m16n8k16_f16";
  CHECK_THAT(refused(atom), Contains("its factors are of another type"));
  auto stages = directives;
  stages[5].sizes = {1};
  CHECK_THAT(refused(stages), Contains("columns of two rounds and more have a place"));
  auto padding = directives;
  padding[3].padding = 0;
  CHECK_THAT(refused(padding), Contains("a chain has \"stage"));
  CHECK_THROWS_WITH(kernel::build(program, kernel::Schedule{"", directives}, kernel::Target::cpu),
                    Contains("for a GPU"));
  const auto groups = kernel::chain_directives(found, {.rows = 64, .columns = 32, .warps = 4, .groups = true});
  CHECK(refused(groups).empty());
  CHECK(kernel::parse_directives(kernel::print(groups)) == groups);
  auto few_warps = groups;
  few_warps[7].warps = few_warps[8].warps = {2, 1};
  CHECK_THAT(refused(few_warps), Contains("a warp group has four warps"));
  auto both = groups;
  both.back().subject = "m16n8k16_bf16";
  CHECK_THAT(refused(both), Contains("its factors are of another type"));
  auto copied = groups;
  copied[4].space = "async";
  CHECK_THAT(refused(copied), Contains("a chain has \"stage"));
  auto long_round = groups;
  long_round[1].sizes = {272};
  CHECK_THAT(refused(long_round), Contains("a box is 272 elements long, and at most 256 are possible"));
  auto high = groups;
  high[0].sizes = {128};
  CHECK_THAT(refused(high), Contains("a warp group has 64 rows"));
  const auto narrow = kernel::chained(lowered({.width = 24}), 4);
  REQUIRE(narrow);
  CHECK(kernel::chain_group_fault(*kernel::chain_of(ir::canonicalise(narrow->steps[0].program)),
                                  {.rows = 64, .columns = 32, .warps = 4, .groups = true}) ==
        "a warp group reads rows of 32, 64 or 128 bytes, and none of 48");
  const auto odd = kernel::chained(lowered({.depth = 24}), 4);
  REQUIRE(odd);
  CHECK(kernel::chain_layout_fault(*kernel::chain_of(ir::canonicalise(odd->steps[0].program))) ==
        "atoms divide the depth");
}

TEST_CASE("a plan has attention of half types in one step, and no scores in memory") {
  Plan::Impl plan;
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  plan.target = runtime::target_of(options);
  const auto steps = [&](const Text& text) {
    runtime::Predictions predictions(plan.gpu_model(), Precision::operands);
    const auto sequence = lowered(text);
    const auto made = runtime::steps_instead(sequence, plan, &predictions);
    return made ? made->steps.size() : sequence.steps.size();
  };
  Text large{.rows = 4096, .columns = 4096, .depth = 64, .width = 64};
  CHECK(steps(large) == 1);
  large.temps = "f32";
  CHECK(steps(large) == 1);
  large.type = "f32";
  CHECK(steps(large) > 1);
}

TEST_CASE("rounds of columns that guards leave out are not computed") {
  const Text text{.most = "maximum(k, guard(k <= q, S(q, k)))",
                  .sum = "sum(k, guard(k <= q, P(q, k)))",
                  .result = "sum(k, guard(k <= q, P(q, k) * v(k, e))) / L(q)"};
  const auto made = kernel::chained(lowered(text), 4);
  REQUIRE(made);
  const auto program = ir::canonicalise(made->steps[0].program);
  const auto directives = kernel::chain_directives(*kernel::chain_of(program), {.rows = 64, .columns = 32, .warps = 4});
  const auto kernel = kernel::expand(kernel::build(program, kernel::Schedule{"", directives}, kernel::Target::cuda));
  // Two blocks: of rows up to 63 two rounds, of all others four; each has the barrier in front.
  CHECK(kernel::count_elements(kernel, 1 << 30).barriers == 2 + 4);
}

}  // namespace chain_test
