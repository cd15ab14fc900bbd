// Slots that are sums of indices: windows of convolutions and stencils, Toeplitz and Hankel matrices; what lies outside
// of tensors.
#include <limits>

#include "program_compare.hpp"
#include "ricci/error.hpp"

namespace program_slots_test {

using namespace ricci;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The program does what it says, and is read back from its text.
void check(std::string_view text) {
  INFO(text);
  (void)test::round_trip(text);
  test::compare(text);
}

std::string refused(std::string_view text) {
  try {
    const auto program = Program::parse(text);
    (void)ir::lower(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("windows of all kinds are what they say") {
  check(
      "index n = 2; index c = 3; index k = 2; index i j = 4; index r s = 3\n"
      "input x(n,c,i+r,2*j+s) : f64; input w(k,c,r,s) : f64; output z(n,k,i,j) : f64\n"
      "z(n,k,i,j) = sum(c r s, x(n,c,i+r,2*j+s)*w(k,c,r,s))");
  check(
      "index i = 7; index k = 4\ninput x(i+k) : f32; input h(k) : f32; output z(i) : f32\n"
      "z(i) = sum(k, x(i-k+3)*h(k))");
  check(
      "index i j = 5\ninput h(i+j) : i32; input t(i+j) : i32; output a(i,j) : i32\n"
      "a(i,j) = h(i+j) - t(i-j+4)");
  check("index i = 3; index r = 2\ninput x(20) : f64; output z(i) : f64\nz(i) = maximum(r, x(3*i-2*r+2+1+i))");
  check("index i = 3; index r = 2\ninput x(9) : f64; output z(i) : f64\nexact\nz(i) = sum(r, x(r*2+1*i+0))");
  check(
      "index i = 3; index r = 2\ninput x(9) : f64; output z(i) : f64; local y(6) : f64\n"
      "local v(i) : f64; index q = 6\nlocal u(q) : f64\nu(q) = 2*x(q+1)\nz(i) = sum(r, u(i+r)*u(2*i+0))");
  check("index i = 3; index r = 0\ninput x(i+9) : f64; output z(i) : f64\nz(i) = sum(r, x(i+100*r))");
  // An index in two slots is repeated, as it is without a sum.
  check("index i = 3; index r = 2\ninput x(4,3) : f64; output z(i,r) : f64\nz(i,r) = diag(x(i+r,i))");
}

TEST_CASE("windows over components, grids and in Einstein mode") {
  check(
      "grid x = 5; index i j = 2; index r = 2\n"
      "input g(3,3) : f64 sym(0,1) on x; input h(3) : f64 on x; output z(i,j) : f64 on x\n"
      "z(i,j) = sum(r, g(i+r,j+0)*h(r+1)) + g(i+0,j+1) + h(i+0)*h(j+1)");
  check(
      "index i j = 2\ninput g(3,3) : f64 antisym(0,1); output z(i) : f64\n"
      "z(i) = sum(j, g(i+j,2))");
  check("grid x = 5; index r = 3\ninput t(11) : f64; output z() : f64 on x\nz() = sum(r, t(2*x+r))");
  check(
      "index i = 4; index r = 3\neinstein\ninput x(i+r) : f64; input w(r) : f64; output z(i) : f64\nz(i) = "
      "x(i+r)*w(r)");
  CHECK_THAT(
      refused(
          "index i j = 3; index k = 2\nlocal t(3,3) : f64; input a(9,3) : f64; grid x = 2; input m(9,3) : f64 on x\n"
          "output z(i,j) : f64 on x\nz(i,j) = sum(k, inv3(m(i+k,j+0)))"),
      ContainsSubstring("RankError"));
  // What exchanges i and j keeps i+j.
  check("grid x = 3; index i j = 2\ninput h(3) : f64 on x; output g(2,2) : f64 sym(0,1) on x\ng(i,j) = h(i+j)");
  CHECK_THAT(refused("grid x = 3; index i j = 2\ninput h(4) : f64 on x; output g(2,2) : f64 sym(0,1) on x\n"
                     "g(i,j) = h(2*i+j)"),
             ContainsSubstring("SymmetryUnproven"));
}

TEST_CASE("slots are printed as sums") {
  const auto text = test::round_trip(
      "index i j = 3; index r\ninput x(2*i+r, j-r+4, 7) : f64; output z(i,j,r) : f64\n"
      "z(i,j,r) = diag(x(r+i*2-0, -r+j+4, 2-1))");
  CHECK_THAT(text, ContainsSubstring("x(2*i+r, j-r+4, 7)"));
  CHECK_THAT(text, ContainsSubstring("diag(x(2*i+r,j-r+4,1))"));
}

TEST_CASE("slots that reach beyond a tensor are refused, with all extents") {
  const std::string head = "index i = 5; index r = 3; input x(7) : f64; output z(i) : f64\n";
  CHECK_THAT(refused(head + "z(i) = sum(r, x(2*i+r-1))"),
             ContainsSubstring("RangeError: '2*i+r-1' runs over -1..9 (i = 5, r = 3), slot 0 of 'x' has 7 values (0..6)"
                               "\n  line 2, column 15:"));
  CHECK_THAT(refused(head + "z(i+r-2) = x(i+0)"), ContainsSubstring("writes at one index in a slot"));
  CHECK_THAT(refused(head + "z(2*i) = x(i+0)"), ContainsSubstring("slot 0 of the left side is '2*i'"));
  CHECK_THAT(refused(head + "z(i) = x(i+9223372036854775807+1)"), ContainsSubstring("64 bits"));
  CHECK_THAT(refused(head + "z(i) = x(9223372036854775807*i)"), ContainsSubstring("RangeError"));
  CHECK_THAT(refused(head + "z(i) = x(i+q)"), ContainsSubstring("'q' is no index"));
  CHECK_THAT(refused(head + "z(i) = x(i*r)"), ContainsSubstring("expected an integer"));
}

TEST_CASE("extents come from arrays through sums of indices") {
  const std::string text =
      "index n c k i r\ninput x(n,c,2*i+r-1) : f64 outside(0); input w(k,c,r) : f64; output z(n,k,i) : f64\n"
      "z(n,k,i) = sum(c r, x(n,c,2*i+r-1)*w(k,c,r))";
  auto program = Program::parse(text);
  CHECK(program.open_extents().size() == 5);
  CHECK_THAT(refused(text), ContainsSubstring("has no extent"));
  program.bind({{"x", {2, 3, 12}}, {"w", {4, 3, 5}}});
  CHECK(program.open_extents().empty());
  CHECK(program.tensors()[2].shape == std::vector<std::int64_t>{2, 4, 5});
  auto odd = Program::parse(text);
  CHECK_THROWS_WITH(odd.bind({{"x", {2, 3, 13}}, {"w", {4, 3, 5}}}),
                    ContainsSubstring("'x' has 13 values in slot 2, which 2*i+r-1 has with no extent of i"));
  auto bound = Program::parse(text);
  bound.set_extent("i", 4);
  CHECK_THROWS_WITH(bound.bind({{"x", {2, 3, 12}}, {"w", {4, 3, 5}}}),
                    ContainsSubstring("'x' has 12 values in slot 2, 2*i+r-1 has 10 there"));
  auto open = Program::parse(text);
  open.bind({{"x", {2, 3, 12}}});
  CHECK(open.open_extents() == std::vector<std::string>{"k", "i", "r"});
}

TEST_CASE("what lies outside of a tensor") {
  const std::string head =
      "index n = 2; index c = 3; index k = 2; index i j = 4; index r s = 3\n"
      "input w(k,c,r,s) : f64; output z(n,k,i,j) : f64\n";
  check(head + "input x(n,c,i,j) : f64 outside(0)\nz(n,k,i,j) = sum(c r s, x(n,c,i+r-1,j+s-1)*w(k,c,r,s))");
  check(head +
        "input x(n,c,2*i,5) : f64 outside(-1.5) strides(200,60,7,1)\n"
        "z(n,k,i,j) = sum(c r s, x(n,c,2*i-r+3,j+s-3)*w(k,c,r,s)) + x(0,1,-5,7)");
  check("index i = 5; index r = 3; input x(i) : f32 outside(-inf); output z(i) : f32\nz(i) = maximum(r, x(i+r-1))");
  check("index i = 5; index r = 3; input x(i) : u8 outside(7); output z(i) : i32\nexact\nz(i) = sum(r, x(i+r-1))");
  check("index i = 5; input x(i) : c64 outside(2); output z(i) : c128\nz(i) = x(i-8) + x(i)");
  // A temp has its border where it lies; what no statement writes has the value, too.
  check(
      "index i = 5; index r = 3; input x(i) : f64; temp y(i) : f64 outside(1); temp u(i) : f64 outside(0)\n"
      "output z(i) : f64\ny(i) = 2*x(i)\ny(1) += 1\nu(i) = sum(r, y(i+r-1)*y(i))\nz(i) = u(i+1) - u(i-1) + y(i-1)");
  const std::string one = "index i = 4; input x(i) : f64; ";
  CHECK_THAT(refused(one + "output z(i) : f64 outside(0)\nz(i) = x(i)"), ContainsSubstring("for inputs and temps"));
  CHECK_THAT(refused(one + "input y(4) : f64 sym(0) outside(0)"), ContainsSubstring("SymmetryMismatch"));
  CHECK_THAT(refused(one + "input y(i) : i32 outside(0.5)"), ContainsSubstring("a whole number outside"));
  CHECK_THAT(refused(one + "input y(i) : f64 outside(i)"), ContainsSubstring("outside takes a real number"));
  CHECK_THAT(refused(one + "temp y(i) : f64 outside(0)\ny(i-1) = x(i)"), ContainsSubstring("RangeError"));
  CHECK_THAT(refused(one + "input y(i) : f64 outside(0)\noutput z(i) : f64\nz(i) = y(i+9223372036854775807)"),
             ContainsSubstring("2^58"));
  CHECK_THAT(test::round_trip(one + "input y(i) : f64 outside(-inf); input u(i) : f64 outside(0.5)"),
             ContainsSubstring("outside(-inf)\ninput u(i) : f64 outside(0.5)"));
}

TEST_CASE("sums of indices in C++") {
  const Index n("n", 2), c("c", 3), k("k", 2), i("i", 4), r("r", 3);
  Program program("window");
  TensorForm padded;
  padded.outside = 0.0;
  const auto x = program.input("x", {n, c, 2 * i + r - 1}, DType::f64, padded),
             w = program.input("w", {k, c, r}, DType::f64);
  const auto y = program.input("y", {n, i}, DType::f64, padded);
  const auto z = program.output("z", {n, k, i}, DType::f64), v = program.output("v", {n, i}, DType::f64);
  z(n, k, i) = sum({c, r}, x(n, c, r + i * 2 - 1 + 0) * w(k, c, r));
  v(n, i) = sum(r, guard(i - r < 2, y(n, i - (1 - r)))) + (i + 0.5);
  CHECK_THAT(program.print(), ContainsSubstring("x(n, c, 2*i+r-1)"));
  CHECK_THAT(program.print(), ContainsSubstring("y(n,i+r-1)"));
  CHECK_THAT(program.print(), ContainsSubstring("i + 0.5"));
  CHECK(Program::parse(program.print()).print() == program.print());
}

}  // namespace program_slots_test
