// Reductions of terms of two operands: which programs are such, the rules of their tiles, and where plans choose them.
#include <string>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/matrix_product.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"

namespace kernel_terms_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C(i, j) = value, of A(i, k) and B(j, k).
ir::Program program_of(const std::string& value, int rows = 64, int columns = 48, int depth = 32,
                       const std::string& type = "f64", const std::string& more = "") {
  const auto text = "index i = " + std::to_string(rows) + "\nindex j = " + std::to_string(columns) +
                    "\nindex k = " + std::to_string(depth) + "\ninput A(i, k) : " + type + "\ninput B(j, k) : " + type +
                    "\n" + more + "output C(i, j) : " + type + "\nC(i, j) = " + value + "\n";
  return ir::canonicalise(ir::lower(Program::parse(text)).steps.at(0).program);
}

const std::string kSquares = "sum(k, (A(i, k) - B(j, k)) * (A(i, k) - B(j, k)))",
                  kLeast = "minimum(k, A(i, k) + B(j, k))";

std::string fault(const ir::Program& program, const std::string& directives, Target target) {
  try {
    (void)build(program, contraction_of(program).value(), parse_directives(directives), target);
  } catch (const PlanError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a reduction of terms of two operands is a contraction of another kind") {
  const auto squares = program_of(kSquares), least = program_of(kLeast);
  const auto of_squares = contraction_of(squares), of_least = contraction_of(least);
  REQUIRE((of_squares && of_least));
  CHECK_FALSE(of_squares->is_product());
  CHECK(of_squares->keeps_zeros);  // past the end of an index both are 0, and so is their difference
  CHECK(operations_of(*of_squares, squares, false) == 2);
  CHECK(of_least->combine == ir::OpCode::minimum);
  CHECK_FALSE(of_least->keeps_zeros);
  CHECK(operations_of(*of_least, least, false) == 2);
  const auto distances = program_of("sum(k, abs(A(i, k) - B(j, k)))");
  CHECK(operations_of(*contraction_of(distances), distances, false) == 3);
  CHECK(operations_of(*contraction_of(distances), distances, true) == 2);
  CHECK(contraction_of(program_of("sum(k, (A(i, k) - B(j, k) + 1) * A(i, k))"))->keeps_zeros);
  CHECK_FALSE(contraction_of(program_of("sum(k, exp(A(i, k) - B(j, k)))"))->keeps_zeros);
  CHECK(contraction_of(program_of("sum(k, A(i, k) * B(j, k))"))->is_product());
  // Nothing of one operand alone, of three, of an index, nor in an order that is not free.
  CHECK_FALSE(contraction_of(program_of("sum(k, (A(i, k) - B(j, 0)) * A(i, k))")));
  CHECK_FALSE(
      contraction_of(program_of("sum(k, (A(i, k) - B(j, k)) * E(k))", 64, 48, 32, "f64", "input E(k) : f64\n")));
  CHECK_FALSE(contraction_of(program_of("sum(k, A(i, k) * A(i, k) + B(j, k) * k)")));
  auto exact = program_of(kSquares);
  exact.exact = true;
  CHECK_FALSE(contraction_of(exact));
  CHECK_FALSE(matrix_product_of(squares));
}

TEST_CASE("tiles of terms that zeros are no part of divide what they are summed over") {
  using Catch::Matchers::ContainsSubstring;
  const std::string tile =
      "tile a:32; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async b a pad 4;"
      "stage B at b0 async b c pad 4;";
  const std::string atom = "atom fma rows a columns c depth b warps 1x2 runs 2x2x1;";
  CHECK(fault(program_of(kLeast), tile + atom, Target::cuda).empty());
  CHECK(fault(program_of(kSquares, 64, 48, 30), tile + atom, Target::cuda).empty());
  CHECK_THAT(fault(program_of(kLeast, 64, 48, 30), tile + atom, Target::cuda),
             ContainsSubstring("a tile of b does not divide it, and what is past its end is 0"));
  CHECK_THAT(fault(program_of(kSquares), tile + "atom m16n8k8_f64 rows a columns c depth b warps 1x2 runs 1x1x2;",
                   Target::cuda),
             ContainsSubstring("m16n8k8_f64 multiplies alone"));
  const std::string cluster =
      "tile a:32; tile c:32; tile b:16; order task a0 c0 cluster b0;"
      "stage A at b0 async b a pad 4; stage B at b0 async b c pad 4;";
  CHECK(fault(program_of(kSquares), cluster + atom, Target::cuda).empty());
  CHECK_THAT(fault(program_of(kLeast), cluster + atom, Target::cuda), ContainsSubstring("blocks share sums"));
}

TEST_CASE("plans tile reductions of terms where operands are read again, and leave functions to plain loops") {
  const auto gpu = plan::GpuModel::of_capability(90);
  const auto first = [](const auto& list) { return list.front().schedule.name; };
  for (const auto* type : {"f64", "f32"}) {
    for (const auto& value : {kSquares, kLeast}) {
      const auto program = program_of(value, 2048, 2048, 64, type);
      CHECK(first(plan::candidates(program, gpu)).starts_with("fma "));
      CHECK(first(plan::candidates(program, plan::CpuModel())).starts_with("gett "));
    }
  }
  const auto functions = program_of("sum(k, exp(A(i, k) - B(j, k)))", 2048, 2048, 64);
  CHECK(first(plan::candidates(functions, gpu)).starts_with("plain "));
}

}  // namespace kernel_terms_test
