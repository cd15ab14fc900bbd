// Programs with several operands and sums: lowered, checked, brought to canonical form, interpreted.
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ir/canonical.hpp"
#include "ir/problem.hpp"
#include "ricci/error.hpp"

using namespace ricci;

namespace {

std::vector<double> counted(std::int64_t n, double first) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct Einsum {
  std::string spec;
  std::vector<std::vector<std::int64_t>> inputs;
  std::vector<std::int64_t> output;
};

/// Row-major f64 operands that count from 1, 2, ...; the result as lowered and, which must not differ, in canonical
/// form.
std::vector<double> run(const Einsum& e) {
  std::vector<Layout> layouts;
  std::vector<std::vector<double>> values;
  for (const auto& extents : e.inputs) {
    layouts.push_back(Layout::row_major(DType::f64, extents));
    values.push_back(counted(layouts.back().elements(), static_cast<double>(values.size()) + 1));
  }
  const auto output = Layout::row_major(DType::f64, e.output);
  const auto program = ir::lower_einsum(Spec::parse(e.spec), layouts, output);
  std::vector<void*> buffers;
  for (auto& v : values) buffers.push_back(v.data());
  std::vector<double> plain(static_cast<std::size_t>(output.elements()), -77), canonical = plain;
  buffers.push_back(plain.data());
  ir::interpret(program, buffers, {});
  buffers.back() = canonical.data();
  ir::interpret(ir::canonicalise(program), buffers, {});
  CHECK(plain == canonical);
  return plain;
}

}  // namespace

TEST_CASE("a product of matrices") {
  // A = 1 2 3 / 4 5 6, B = 2 3 / 4 5 / 6 7
  CHECK(run({"ik,kj->ij", {{2, 3}, {3, 2}}, {2, 2}}) == std::vector<double>{28, 34, 64, 79});
  CHECK(run({"ik,kj->ji", {{2, 3}, {3, 2}}, {2, 2}}) == std::vector<double>{28, 64, 34, 79});
}

TEST_CASE("sums over one operand, diagonals, traces and outer products") {
  CHECK(run({"ij->i", {{2, 3}}, {2}}) == std::vector<double>{6, 15});
  CHECK(run({"ij->", {{2, 3}}, {}}) == std::vector<double>{21});
  CHECK(run({"ii->i", {{3, 3}}, {3}}) == std::vector<double>{1, 5, 9});
  CHECK(run({"ii->", {{3, 3}}, {}}) == std::vector<double>{15});
  CHECK(run({"i,j->ij", {{2}, {2}}, {2, 2}}) == std::vector<double>{2, 3, 4, 6});
  CHECK(run({"bi,bi->b", {{2, 2}, {2, 2}}, {2}}) == std::vector<double>{8, 32});
}

TEST_CASE("three operands, unit and empty extents") {
  CHECK(run({"i,ij,j->", {{2}, {2, 2}, {2}}, {}}) == std::vector<double>{1 * (2 * 3 + 3 * 4) + 2 * (4 * 3 + 5 * 4)});
  CHECK(run({"ik,kj->ij", {{1, 3}, {3, 1}}, {1, 1}}) == std::vector<double>{20});
  CHECK(run({"ik,kj->ij", {{2, 1}, {1, 2}}, {2, 2}}) == std::vector<double>{2, 3, 4, 6});
  CHECK(run({"ik,kj->ij", {{2, 0}, {0, 2}}, {2, 2}}) == std::vector<double>{0, 0, 0, 0});  // an empty sum is 0
  CHECK(run({"ik,kj->ij", {{0, 2}, {2, 3}}, {0, 3}}).empty());
}

TEST_CASE("neighbouring summed axes merge, and a sum prints") {
  const auto a = Layout::row_major(DType::f64, {4, 2, 3}), b = Layout::row_major(DType::f64, {2, 3, 5});
  const auto program =
      ir::canonicalise(ir::lower_einsum(Spec::parse("ikl,klj->ij"), {a, b}, Layout::row_major(DType::f64, {4, 5})));
  CHECK(program.indices.size() == 3);
  CHECK(ir::print(program).find("sum(b : mul(A[") != std::string::npos);
}

TEST_CASE("what several operands cannot mean is refused") {
  const auto matrix = Layout::row_major(DType::f64, {2, 3}), vector = Layout::row_major(DType::f64, {2});
  CHECK_THROWS_AS(ir::lower_einsum(Spec::parse("ij,jk->ik"), {matrix, matrix}, matrix), ShapeError);
  CHECK_THROWS_AS(ir::lower_einsum(Spec::parse("ij->k"), {matrix}, vector), SpecError);
  CHECK_THROWS_AS(ir::lower_einsum(Spec::parse("ij,j->i"), {matrix}, vector), ShapeError);
  CHECK_THROWS_AS(ir::lower_einsum(Spec::parse("ij->ii"), {matrix}, matrix), SpecError);
}

TEST_CASE("a sum along an index that is written breaks the program") {
  auto program = ir::lower_einsum(Spec::parse("ij->i"), {Layout::row_major(DType::f64, {2, 3})},
                                  Layout::row_major(DType::f64, {2}));
  for (auto& node : program.nodes) {
    if (node.kind == ir::NodeKind::reduce) node.over.push_back(0);
  }
  CHECK_THROWS_AS(ir::verify(program), InternalError);
}
