// The C++ front end says what the text says.
#include "program_compare.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace program_front_test {

using namespace ricci;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// The statements of a program, without its declarations.
std::string statements(const Program& program) {
  const auto text = program.print();
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    const auto line = text.substr(begin, end - begin);
    if (line.find('(') != std::string::npos && line.find(" : ") == std::string::npos) kept += line + "\n";
    begin = end + 1;
  }
  return kept;
}

}  // namespace

TEST_CASE("a contraction") {
  const Index i("i", 3), j("j", 4), l("l", 5);
  Program program("contraction");
  const auto A = program.input("A", {i, l}, DType::f64), B = program.input("B", {l, 4}, DType::f64);
  const auto C = program.inout("C", {3, j}, DType::f64);
  C(i, j) += sum(l, A(i, l) * B(l, j));
  C(i, 0) = A(i, 1);
  C(2, j) *= 2.0;
  CHECK(statements(program) == "C(i,j) += sum(l, A(i,l)*B(l,j))\nC(i,0) = A(i,1)\nC(2,j) *= 2.0\n");
  CHECK(Program::parse(program.print()).print() == program.print());
  test::compare(program);
}

TEST_CASE("fields: offsets, nested slots, symmetries, parameters") {
  const Index i("i", 3), j("j", 3), k("k", 3), l("l", 3);
  Program program("grid");
  program.grid("x", 5);
  TensorForm field, symmetric;
  field.on_grid = symmetric.on_grid = true;
  symmetric.symmetry = sym({0, 1});
  auto last_two = field;
  last_two.symmetry = sym({1, 2});
  const auto psi = program.input("psi", {4, 4}, DType::f64, symmetric);
  const auto dg = program.input("dg", {i, j, k}, DType::f64, symmetric);
  const auto al = program.local("al", {}, DType::f64, field), gu = program.local("gu", {3, 3}, DType::f64, symmetric);
  const auto n = program.local("n", {4}, DType::f64, field);
  const auto G = program.output("G", {3, 3, 3}, DType::f64, last_two), u = program.output("u", {4}, DType::f64, field);
  const auto dt = program.param("dt", DType::f64);
  gu(i, j) = inv3(psi(i + 1, j + 1));
  al() = sqrt(sum({i, j}, gu(i, j) * psi(0, i + 1) * psi(0, j + 1)) + abs(psi(0, 0))) + dt;
  n(0) = 1.0 / al();
  n(i + 1) = -gu(i, 0) / al();
  G(i, j, k) = 0.5 * sum(l, gu(i, l) * (dg(j, l)[k] + dg(l, k)[j] - dg(j, k)[l]));
  u(0) = select(n(0) > 1, n(0), 2 * exp(-n(1)));
  u(i + 1) = n(i + 1) - u(0) * G(0, 0, i);
  test::compare(program, {.seed = 4, .params = {{"dt", {0.5, 0}}}});
  CHECK_THAT(statements(program), ContainsSubstring("n(i+1) = -gu(i,0)/al()"));
}

TEST_CASE("interactions") {
  const Index i("i", 6), j("j", 9);
  Program program("motifs");
  const auto a = program.input("a", {i}, DType::u64), b = program.input("b", {j}, DType::u64);
  const auto off = program.output("off", {i + 1}, DType::i64), count = program.temp("count", {i}, DType::i64);
  const auto arr = program.output("arr", {60}, DType::i32), any = program.output("any", {i}, DType::u64);
  const auto near = popcount(a(i) ^ b(j)) <= 4;
  count(i) = sum(j, guard(near && !(j == 3), 1));
  off(i) = exclusive_scan(Reduction::sum, i, count(i));
  arr(off(i)) = compact(j, near && !(j == 3), cast(DType::i32, j));
  any(i) = reduce(Reduction::bit_or, j, (b(j) & 255) | (a(i) << 3));
  test::compare(program, {.seed = 9, .integers = 256});
}

TEST_CASE("equal expressions are one; expressions are values") {
  const Index i("i", 3);
  Program program;
  const auto A = program.input("A", {i}, DType::f64), b = program.output("b", {i}, DType::f64);
  const Expr twice = 2 * A(i);
  const Expr kept = twice + A(i);
  CHECK((2 * A(i)).id() == twice.id());
  const auto before = program.formula().exprs.size();
  CHECK((2 * A(i) + A(i)).id() == kept.id());
  CHECK(program.formula().exprs.size() == before);
  b(i) = kept * kept;
  CHECK(statements(program) == "b(i) = (2*A(i) + A(i))*(2*A(i) + A(i))\n");
}

TEST_CASE("the C++ front end names file and line") {
  const Index i("i", 3), j("j", 3), k("k", 3);
  Program program;
  program.grid("x", 5);
  TensorForm field;
  field.on_grid = true;
  const auto g = program.output("g", {3, 3}, DType::f64, field), v = program.input("v", {3}, DType::f64, field);
  const auto line = std::to_string(__LINE__ + 1);
  const auto mismatch = [&] { g(i, j) = v(i) * v(j) + v(i) * v(k); };
  CHECK_THROWS_WITH(mismatch(), ContainsSubstring("IndexMismatch: operands of '+' have free indices {i,j} and {i,k}") &&
                                    EndsWith("program_front.cpp:" + line));
  CHECK_THROWS_AS((g(i, i) = v(i)), SpecError);
  CHECK(program.formula().statements.empty());
}

TEST_CASE("stated symmetries") {
  const Index i("i", 3), j("j", 3);
  Program program;
  program.grid("x", 5);
  TensorForm field, symmetric;
  field.on_grid = symmetric.on_grid = true;
  symmetric.symmetry = sym({0, 1});
  const auto g = program.output("g", {3, 3}, DType::f64, field), K = program.output("K", {3, 3}, DType::f64, symmetric);
  const auto e = program.input("e", {3, 3}, DType::f64, field);
  CHECK_THROWS_WITH(g(i, j).with(sym({0, 1})) = e(i, j),
                    StartsWith("SymmetryMismatch: 'g' stored as {}, statement says (0 1)"));
  CHECK_THROWS_WITH(g(i, j) = e(i, j).with(sym({0, 1})), StartsWith("SymmetryMismatch: 'e' stored as {}"));
  CHECK_THROWS_WITH(K(i, j) = e(i, j), StartsWith("SymmetryUnproven"));
  CHECK_THROWS_WITH(K(i).with(sym({0, 1})) = e(i, 0), StartsWith("RankError"));
  int warnings = 0;
  set_log_sink([&](LogTopic, std::string_view) { ++warnings; });
  K(i, j).with(sym({1, 0})) = e(i, j);
  set_log_sink({});
  CHECK(warnings == 1);
  g(i, j) = K(j, i);
  CHECK(statements(program) == "K(sym(0,1), i,j) = e(i,j)\ng(i,j) = K(j,i)\n");
  test::compare(program);
}

TEST_CASE("extents come from shapes") {
  auto program = Program::parse(
      "index i; index j; index k = 4; grid x\n"
      "input A(i, j+1) : f64; input w(k) : f64; input f(3, 3) : f64 sym(0,1) on x; output y(i) : f64\n"
      "input g(2) : f64 on x layout blocked(4)\ny(i) = sum(k, A(i, 0) * w(k))");
  CHECK(program.open_extents() == std::vector<std::string>{"i", "j", "x"});
  CHECK_THROWS_WITH(program.bind({{"A", {5, 7}}, {"w", {3}}}),
                    "ExtentMismatch: 'w' has 3 values of k, the program says 4");
  CHECK_THROWS_WITH(program.bind({{"f", {6, 100}}, {"g", {20, 2, 4}}}),
                    "ExtentMismatch: 'g' has 80 points of x, 'f' has 100");
  CHECK_THROWS_WITH(program.bind({{"f", {5, 100}}}), "ExtentMismatch: 'f' is an array of shape (6, any), got (5, 100)");
  CHECK_THROWS_WITH(program.bind({{"h", {5}}}), "program 'program' has no tensor 'h'");
  CHECK(program.open_extents().size() == 3);
  program.bind({{"A", {5, 7}}, {"w", {4}}, {"f", {6, 80}}, {"g", {20, 2, 4}}});
  CHECK(program.open_extents().empty());
  const auto infos = program.tensors();
  CHECK(infos[0].shape == std::vector<std::int64_t>{5, 7});
  CHECK(infos[2].shape == std::vector<std::int64_t>{6, 80});
  CHECK(infos[2].components == 6);
  CHECK(infos[4].shape == std::vector<std::int64_t>{20, 2, 4});
  CHECK(infos[4].strides == std::vector<std::int64_t>{8, 4, 1});
  program.set_extent("i", 6);
  CHECK(program.tensors()[3].shape == std::vector<std::int64_t>{6});
}

}  // namespace program_front_test
