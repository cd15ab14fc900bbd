// Programs lowered and interpreted against the same programs executed as they read.
#include <algorithm>

#include "program_compare.hpp"

namespace program_lower_test {

using namespace ricci;
using test::compare;

namespace {

std::size_t steps(std::string_view text) { return ir::lower(Program::parse(text)).steps.size(); }

/// Loads and stores of the only kernel.
std::pair<std::size_t, std::size_t> traffic(std::string_view text) {
  const auto sequence = ir::lower(Program::parse(text));
  REQUIRE(sequence.steps.size() == 1);
  const auto& program = sequence.steps[0].program;
  const auto loads = std::count_if(program.nodes.begin(), program.nodes.end(),
                                   [](const ir::Node& node) { return node.kind == ir::NodeKind::load; });
  return {static_cast<std::size_t>(loads), program.statements.size()};
}

}  // namespace

TEST_CASE("loops: contractions, broadcasts, compound assignments") {
  compare(
      "index i = 3; index j = 4; index k = 5\n"
      "input A(i, k) : f64; input B(k, j) : f64; output C(i, j) : f64\n"
      "C(i, j) = sum(k, A(i, k) * B(k, j))");
  compare(
      "index i = 3; index j = 4\n"
      "input a(i) : f64; input b(j) : f64; inout C(i, j) : f64\n"
      "C(i, j) += a(i) * b(j)\nC(i, j) -= a(i)\nC(i, j) *= b(j)\nC(i, j) /= a(i) + b(j)");
  compare(
      "index i = 4; index j = 3\n"
      "input A(i, j) : c128; input x(j) : f64; output y(i) : c128; output n() : f64\n"
      "y(i) = sum(j, conj(A(i, j)) * x(j)) + 2.5i\nn() = sum(j, x(j) * x(j))");
  compare(
      "index i = 4\ninput A(i, i) : f64; output t() : f64; output d(i) : f64\n"
      "d(i) = diag(A(i, i))\nt() = sum(i, diag(A(i, i)))");
  compare(
      "index i = 6; index j = 4\ninput A(8, j) : f64; inout B(10, 6) : f64\n"
      "B(i+4, j+1) = A(i+2, j)\nB(0, j+0) = A(7, j)\nB(i+0, 5) -= A(i+1, 3)");
}

TEST_CASE("loops: strides, any sign") {
  compare(
      "index i = 3; index j = 4\ninput A(i, j) : f64 strides(1, 5); output B(j, i) : f64 strides(-3, 1)\n"
      "B(j, i) = 2 * A(i, j)");
  compare("index i = 3; index j = 4\ninput A(i, j) : f64 strides(0, 1); output B(i, j) : f64\nB(i, j) = A(i, j)");
}

TEST_CASE("statements that add to one access are one kernel") {
  const auto* text =
      "index i = 3; index j = 4; index l = 5\n"
      "input A(i, l) : f64; input B(l, j) : f64; inout C(i, j) : f64; output D(i, j) : f64\n"
      "C(i, j) += sum(l, A(i, l) * B(l, j))\nC(i, j) -= 2 * sum(l, A(i, l) * B(l, 0))\nC(i, j) += A(i, 1)\n"
      "D(i, j) = A(i, 0)\nD(i, j) += B(2, j)\n";
  CHECK(steps(text) == 2);
  compare(text);
  // Reading what the kernel writes, or another left side in between, ends it.
  const auto* apart =
      "index i = 3; index j = 3\ninput A(i, j) : f64; inout C(i, j) : f64; inout D(i, j) : f64\n"
      "C(i, j) += A(i, j)\nC(i, j) += C(j, i)\nC(i, j) += A(j, i)\nD(i, j) += A(i, j)\nC(i, j) += A(i, j)\n";
  CHECK(steps(apart) == 6);
  compare(apart);
}

TEST_CASE("in place: what is read is what was there") {
  compare("index i j = 5\ninout A(i, j) : f64\nA(i, j) = A(j, i)");
  compare("index i = 5\ninout A(6) : f64\nA(i+1) = 2 * A(i+0)");
}

TEST_CASE("temps and locals without a grid") {
  compare(
      "index i = 3; index j = 4\ninput A(i, j) : f64; output b(i) : f64; temp t(j, i) : f64\n"
      "t(j, i) = A(i, j) * A(i, 0)\nb(i) = sum(j, t(j, i)) - t(0, i)");
  // The summed index of a local's definition is another one than that of its user.
  compare(
      "index i j l = 4\ninput A(i, l) : f64; input B(l, j) : f64; output C(i, j) : f64; local L(i) : f64\n"
      "L(i) = sum(l, A(i, l))\nC(i, j) = sum(l, L(l) * B(l, j)) + L(j)");
  compare(
      "index i = 3; index j = 5\ninput A(j) : f64; output C(i) : f64; local L(j) : f64\n"
      "L(j) = A(j) * j\nC(i) = L(i+2) + L(0)");
}

TEST_CASE("index values, comparisons, guards, selects") {
  compare(
      "index i = 5; index j = 7\noutput n(i) : i32; output m(i, j) : f64; input A(i, j) : f64\n"
      "n(i) = sum(j, guard(mod(j, i + 1) == 0, 1))\n"
      "m(i, j) = select(i < j, A(i, j), -A(i, j)) + delta(i, j)");
  compare(
      "index i = 5; index j = 5\ninput A(i, j) : f64; inout B(i, j) : f64\n"
      "B(i, j) = guard(i <= j, A(i, j))\nB(i, j) += guard(j < i, 2 * A(i, j))");
  compare(
      "index i = 4; index j = 6\ninput A(i, j) : f64; output lo(i) : f64; output hi(i) : f64; output p(i) : f64\n"
      "lo(i) = minimum(j, guard(j != 2, A(i, j)))\nhi(i) = maximum(j, A(i, j))\np(i) = product(j, A(i, j))");
  compare(
      "index i = 4; index j = 6\ninput a(j) : u64; input b(i) : u64; output x(i) : u64; output c(i) : i64\n"
      "x(i) = reduce(xor, j, and(a(j), b(i)))\n"
      "c(i) = sum(j, guard(popcount(xor(a(j), b(i))) <= 20, cast(i64, 1)))",
      {.seed = 3, .integers = std::uint64_t{1} << 40});
}

TEST_CASE("functions of fields are done element by element") {
  compare(
      "index k = 3; grid x = 7\ninput q(3) : f64 on x; input r(3) : f64 on x; input K(3, 3) : f64 sym(0,1) on x\n"
      "output u(3) : f64 on x; output w(3) : f64 on x; output m(3) : f64 on x; index i j = 3\n"
      "output L(3, 3) : f64 sym(0,1) on x\n"
      "u(k) = abs(q(k)) + sqrt(abs(r(k)))\nw(k) = max(q(k), r(k)) + select(q(k) < r(k), q(k), 2.0*r(k))\n"
      "m(k) = mod(q(k), 0.75) + min(r(k), 0.25)\nL(i, j) = exp(K(i, j))");
}

TEST_CASE("functions of complex numbers are those of C++") {
  compare(
      "index i = 50\ninput z(i) : c128; input w(i) : c128; output a(i) : f64; output b(i) : c128; output c(i) : c128\n"
      "output d(i) : c128; output e(i) : c128; output f(i) : c128; output r(i) : f64; output p(i) : c128\n"
      "a(i) = abs(z(i)) + 2*real(z(i)) - 3*imag(w(i))\nb(i) = exp(z(i)) + log(w(i))\n"
      "c(i) = sqrt(z(i)) + rsqrt(w(i))\nd(i) = sin(z(i)) - 2*cos(w(i))\ne(i) = tan(z(i)) + tanh(w(i))\n"
      "f(i) = sinh(z(i))*cosh(w(i))\nr(i) = atan2(imag(z(i)), real(z(i))) + hypot(real(w(i)), imag(w(i)))\n"
      "p(i) = pow(z(i), 0.5 + 1.5i) + conj(w(i))");
  compare(
      "index k = 3; grid x = 5\ninput q(3) : c64 on x; output u(3) : f32 on x; output v(3) : c64 on x\n"
      "u(k) = abs(q(k))\nv(k) = exp(q(k)) + sqrt(q(k))");
  compare(
      "index i = 50\ninput z(i) : c128; input w(i) : c128; output a(i) : c128; output b(i) : c128\n"
      "a(i) = asin(z(i)) - 2*acos(w(i))\nb(i) = atan(z(i)) + cbrt(w(i))");
}

TEST_CASE("complex numbers are equal or not, and have no order") {
  compare(
      "index i = 60\ninput z(i) : c128; input w(i) : c128; input r(i) : f64; output a(i) : u8; output b(i) : u8\n"
      "output c(i) : c128; output d(i) : u8\na(i) = z(i) == w(i)\nb(i) = not (z(i) == conj(w(i))) or z(i) != w(i)\n"
      "c(i) = select(z(i) != w(i), z(i), 2i)\nd(i) = z(i) == r(i) or w(i) == 1 or w(i) == 2i",
      {.integers = 3});
}

TEST_CASE("the remainder of real numbers has the sign of the first") {
  compare(
      "index i = 40\ninput a(i) : f64; input b(i) : f64; output c(i) : f64; input f(i) : f32; output g(i) : f32\n"
      "c(i) = mod(a(i), b(i))\ng(i) = mod(f(i), 0.25)");
}

TEST_CASE("integers of two kinds meet in the signed one that holds both") {
  compare(
      "index i = 30\ninput a(i) : u8; input b(i) : i8; output c(i) : i16; input d(i) : u32; input e(i) : i32\n"
      "output f(i) : i64\nc(i) = a(i) + b(i)\nf(i) = d(i) - e(i)",
      {.seed = 4, .integers = 1u << 31});
}

TEST_CASE("integers: wrap, shift, divide") {
  compare(
      "index i = 9\ninput a(i) : i32; input b(i) : i32; output c(i) : i32; output d(i) : i64; output e(i) : u8\n"
      "c(i) = a(i) * a(i) * a(i) - not(b(i))\nd(i) = shl(cast(i64, a(i)), 3) + shr(b(i), 2) + a(i) / (b(i) + 1)\n"
      "e(i) = cast(u8, a(i)) * 3",
      {.seed = 2, .integers = 1u << 30});
}

TEST_CASE("scans and compactions") {
  compare(
      "index i = 11\ninput x(i) : i32; output y(i+1) : i64; output z(i) : i32; output m(i) : i32\n"
      "y(i) = exclusive_scan(sum, i, cast(i64, x(i)))\nz(i) = scan(sum, i, x(i) + i)\nm(i) = scan(maximum, i, x(i))");
  compare(
      "index i = 5; index j = 3\ninput x(i, j) : f64; output y(j, i) : f64; output z(j, 6) : f64\n"
      "y(j, i) = scan(sum, i, x(i, j))\nz(j, i) = exclusive_scan(product, i, x(i, j))");
  compare("index i = 6\ninout x(i) : i64\nx(i) = scan(sum, i, x(i))");  // in place
  compare(
      "index i = 6; index j = 9; index n = 20\n"
      "input a(i, j) : i32; output arr(n) : i32; output off(i+1) : i64; temp c(i) : i64\n"
      "c(i) = sum(j, guard(mod(a(i, j), 3) == 0, 1))\noff(i) = exclusive_scan(sum, i, c(i))\n"
      "arr(off(i)) = compact(j, mod(a(i, j), 3) == 0, cast(i32, j + 10 * i))");
}

TEST_CASE("empty and unit extents") {
  for (const char* extents : {"index i = 0; index j = 3; index k = 2", "index i = 3; index j = 0; index k = 2",
                              "index i = 3; index j = 3; index k = 0", "index i = 1; index j = 1; index k = 1",
                              "index i = 3; index j = 1; index k = 2"}) {
    compare(std::string(extents) +
            "\ninput A(i, k) : f64; input B(k, j) : f64; input w(k) : f64\n"
            "inout C(i, j) : f64; output s() : f64; output p() : f64; output y(k+1) : f64\n"
            "C(i, j) += sum(k, A(i, k) * B(k, j))\ns() = sum(i j, C(i, j))\np() = product(k, w(k))\n"
            "y(k) = exclusive_scan(sum, k, w(k))\n");
  }
  compare(
      "grid x = 0\ninput A(3) : f64 on x; output B(3) : f64 on x; output s() : f64; index i = 3\n"
      "B(i) = 2 * A(i)\ns() = sum(x i, A(i))");
  compare("grid x = 1\ninput A(3) : f64 on x; output B(3) : f64 on x; index i = 3\nB(i) = 2 * A(i)");
}

TEST_CASE("fields: offsets, fixed slots, all assignments") {
  compare(
      "index i j = 3; grid x = 5\ninput psi(4, 4) : f64 on x; inout g(3, 4) : f64 on x; input r() : f64 on x\n"
      "g(i, j+1) = psi(i+1, j+0) - psi(j+1, i+1)\ng(i, 0) += r() * psi(i+1, 2)\ng(i, 0) *= exp(-r()/2)\n"
      "g(2, j+0) /= 1 + r()\ng(i, 3) -= 0.5 * psi(i+1, 0)\ng(0, 0) = 0.0");
  compare(
      "index i = 3; grid x = 4\ninput v(i) : f64 on x; input w() : f64; param dt : f64; output u(i) : f64 on x\n"
      "u(i) = v(i) * w() * dt + diag(i * v(i)) * x",
      {.params = {{"dt", {0.25, 0}}}});
}

TEST_CASE("fields: scalar functions") {
  compare(
      "grid x = 7\ninput a() : f64 on x; input b() : f64 on x; output y() : f64 on x; output z() : f64 on x\n"
      "y() = sqrt(a()) + cbrt(b()) + rsqrt(a()) + exp(a()) + log(b()) + sin(a()) + cos(b()) + tan(a()) + abs(-a())\n"
      "z() = asin(a()/2) + acos(b()/2) + atan(a()) + sinh(a()) + cosh(b()) + tanh(a()) + sign(a() - b())\n"
      "   + pow(a(), b()) + pow(a(), 2) + min(a(), b()) + max(a(), b()) + select(a() < b(), a(), 2*b())");
}

TEST_CASE("fields: symmetries") {
  // The stored component of (t, i) is (i, t) when i comes first.
  compare(
      "index i j = 3; grid x = 3\ninput v(i) : f64 on x; output g(4, 4) : f64 sym(0,1) on x\n"
      "g(3, i+0) = v(i)\ng(3, 3) = 2.0\ng(i+0, j+0) = v(i) * v(j)\n");
  compare(
      "index i j k = 3; grid x = 3\ninput v(i) : f64 on x; input B(i,j,k) : f64 sym(0,1,2) on x\n"
      "output A(k,i,j) : f64 sym(0,1,2) on x; output C(i,j) : f64 sym(0,1) on x\n"
      "A(i, j, k) = v(i) * v(j) * v(k) + B(k, i, j)\nC(i, j) = sum(k, B(i, k, j) * v(k))");
  compare(
      "index i j k l = 3; grid x = 3\ninput a(i, j) : f64 on x; output F(i, j) : f64 antisym(0,1) on x\n"
      "output R(i, j, k, l) : f64 antisym(0,1) antisym(2,3) on x; input E(i,j,k) : f64 antisym(0,1,2) on x\n"
      "output w(i) : f64 on x\n"
      "F(i, j) = a(i, j) - a(j, i)\nF(2, i) -= sum(j, E(2, i, j) * F(j, 0))\n"
      "R(i, j, k, l) = F(i, j) * F(k, l)\nw(i) = sum(j k, E(i, j, k) * F(j, k)) + R(2, 1, 0, i)");
  compare(
      "index i j k l = 2; grid x = 3\ninput K(i, j, k, l) : f64 sym(0,1) sym(2,3) on x\n"
      "output L(i, j, k, l) : f64 sym(0,1) sym(2,3) on x\nL(sym(0,1), sym(2,3), i, j, k, l) = K(k, l, i, j)");
  // Without a grid: one point.
  compare(
      "index i j = 3\ninput a(i, j) : f64; inout K(i, j) : f64 sym(0,1); output t() : f64; output y(i) : f64\n"
      "K(i, j) += a(i, j) + a(j, i)\nt() = sum(i j, K(i, j) * a(i, j))\ny(i) = sum(j, K(j, i) * a(2, j))");
}

TEST_CASE("fields: in place, forwarded, all of a statement before any of it") {
  compare(
      "index i j = 3; grid x = 5\ninout A(i, j) : f64 on x; output B(i, j) : f64 on x\n"
      "A(i, j) = 2 * A(j, i)\n"
      "B(i, j) = A(i, j) - A(j, i)\nA(0, i) = A(i, 1)\nB(i, 2) += A(0, i)",
      {});
  // A component that is read and not written.
  compare("grid x = 5\ninout A(3) : f64 on x\nA(0) = A(1) * A(2)");
  compare("grid x = 8\ninout A(3) : f64 on x layout blocked(4)\nA(0) = A(1) * A(2)");
  compare("grid x = 5\ninout A(3) : f64 on x layout pointers\nA(0) = A(1) * A(2)");
}

TEST_CASE("fields: layouts") {
  for (const char* layout :
       {"layout soa", "layout soa(50)", "layout pointers", "layout blocked(4)", "layout blocked(12)"}) {
    compare("index i j = 3; grid x = 24\ninput K(i, j) : f64 sym(0,1) on x " + std::string(layout) +
            "\ninput v(i) : f64 on x layout blocked(4)\noutput w(i) : f64 on x " + layout +
            "\nw(i) = sum(j, K(i, j) * v(j)) * x\noutput s() : f64\ns() = sum(x i, w(i) * v(i))");
  }
}

TEST_CASE("fields: locals live in registers, or in the workspace where another kernel reads them") {
  const auto* text =
      "index i j = 3; grid x = 6\ninput A(i, j) : f64 on x; output b(i) : f64 on x; output s() : f64\n"
      "local L(i, j) : f64 sym(0,1) on x; temp T(i) : f64 on x; local dead(i, j) : f64 on x\n"
      "L(i, j) = A(i, j) + A(j, i)\nT(i) = sum(j, L(i, j))\ndead(i, j) = A(i, j)\nb(i) = diag(T(i) * L(i, 2))\n";
  CHECK(ir::lower(Program::parse(text + std::string("s() = 0.0"))).workspace_bytes() == 0);
  const auto spilled = std::string(text) + "s() = sum(x i, b(i) * L(i, 1))\n";
  CHECK(ir::lower(Program::parse(spilled)).workspace_bytes() > 0);
  compare(spilled);
}

TEST_CASE("temporaries share memory once nothing reads them any more") {
  // Each sum reads the temporary before it at every index, so that every temporary is a step of its own.
  std::string text = "index i j = 64\ninput A(i, j) : f64\noutput y(i) : f64\n";
  for (const char* name : {"p", "q", "r", "s"}) text += "temp " + std::string(name) + "(i) : f64\n";
  text += "p(i) = sum(j, A(i, j))\nq(i) = sum(j, A(j, i) * p(j))\nr(i) = sum(j, A(i, j) * q(j))\n";
  text += "s(i) = sum(j, A(j, i) * r(j))\ny(i) = sum(j, A(i, j) * s(j))\n";
  CHECK(ir::lower(Program::parse(text)).workspace_bytes() == 2 * 64 * 8);  // of four
  compare(text);
}

TEST_CASE("fields: nested tensors, determinants, inverses, diagonals") {
  compare(
      "index i j k l = 3; grid x = 4\ninput gi(i, j) : f64 sym(0,1) on x; input dg(i, j, k) : f64 sym(0,1) on x\n"
      "output G(i, j, k) : f64 sym(1,2) on x\n"
      "G(i, j, k) = 0.5 * sum(l, gi(i, l) * (dg(j, l)[k] + dg(l, k)[j] - dg(j, k)[l]))");
  compare(
      "index i j = 3; grid x = 4\ninput psi(4, 4) : f64 sym(0,1) on x; input m(4, i, j) : f64 on x\n"
      "output gu(i, j) : f64 sym(0,1) on x; output d() : f64 on x; output mu(i, j) : f64 on x\n"
      "gu(i, j) = inv3(psi(i+1, j+1))\nd() = det3(psi(i+1, j+1)) * det3(m(2, j, i))\nmu(i, j) = inv3(m(1, j, i))",
      {.seed = 5});
  compare(
      "index i j = 3; grid x = 4\ninput A(i, j) : f64 on x; input v(i) : f64 on x; output w(i) : f64 on x\n"
      "output t() : f64 on x\nw(i) = diag(A(i, i)) + diag(v(i) * v(i))\nt() = sum(i, diag(A(i, i)) * v(i))");
}

TEST_CASE("fields: types") {
  compare(
      "index i = 3; grid x = 4\ninput z(i) : c128 on x; input a() : f64 on x; output w(i) : c128 on x\n"
      "w(i) = conj(z(i)) * a() * 2.5i + (1 - 2i) * z(i)");
  compare(
      "index i = 3; grid x = 4\ninput n(i) : i32 on x; output m(i) : i32 on x; output a(i) : f64 on x\n"
      "m(i) = 2 * n(i) - i\na(i) = n(i) / 2 + 0.5 * n(i)");
}

TEST_CASE("what is moved is not computed with") {
  for (const char* type : {"f16", "bf16", "c64", "i8"}) {
    const auto sequence = ir::lower(Program::parse(
        std::string("index i j = 3; grid x = 4\ninput A(i, j) : ") + type + " sym(0,1) on x; input b(i) : " + type +
        "; output d(i) : " + type + "\noutput C(i, j) : " + type + " on x\nC(i, j) = A(j, i)\nd(i) = b(i)"));
    for (const auto& step : sequence.steps) {
      for (const auto& node : step.program.nodes) CHECK(node.kind == ir::NodeKind::load);
    }
  }
}

TEST_CASE("half types are computed in f32 and rounded where they are stored") {
  const auto sequence =
      ir::lower(Program::parse("grid x = 1\ninput a() : f16 on x; output b() : f16 on x; output c() : f32 on x\n"
                               "b() = a() * 1.001\nc() = b() - a()"));
  // 1.5 * 1.001 is 1.5015 in f32; the neighbours of 1.5 in f16 are 2^-10 apart, so that b is 1.5 + 2^-10 * 2
  // = 1.501953125.
  std::uint16_t a = 0x3e00, b = 0;
  float c = 0;
  ir::interpret(sequence, {&a, &b, &c}, {});
  CHECK(b == 0x3e02);
  CHECK(c == 0.001953125f);
}

TEST_CASE("tensors beyond 2^31 elements") {
  const auto sequence = ir::lower(Program::parse(
      "index i = 50000; index j = 70000; grid x = 3000000000\ninput A(i, j) : f32; output y(j, i) : f32\n"
      "input f(3) : f32 on x; output s(2) : f32 on x\ny(j, i) = 2*A(i, j)\ns(1) = f(2)\ns(0) = f(0)"));
  CHECK(sequence.storages[0].last == 3499999999);
  CHECK(sequence.storages[2].last == 8999999999);
  CHECK_THROWS_WITH(ir::lower(Program::parse("index i = 4000000000; output y(i, i, i) : f32\nindex j k = 4000000000\n"
                                             "y(i, j, k) = 1.0")),
                    "tensor 'y' has more than 2^58 elements");
}

TEST_CASE("guards on fields keep what is there") {
  compare(
      "index i = 3; grid x = 6\ninput a() : f64 on x; input v(i) : f64 on x; inout b(i) : f64 on x\n"
      "b(i) = guard(a() < 1, v(i))\nb(i) += guard(a() > 0.7, 2 * v(i))");
}

TEST_CASE("einstein mode sums what is repeated") {
  compare(
      "index i j l = 3; grid x = 3\ninput A(i, j) : f64 on x; input B(i, j) : f64 on x; output C(i, j) : f64 on x\n"
      "output t() : f64 on x\neinstein\nC(i, j) = A(i, l) * B(l, j) + 2 * A(j, i)\nt() = A(i, j) * B(i, j) + A(l, l)");
  const auto program = Program::parse(
      "index i l = 3\ninput A(i, l) : f64; input v(l) : f64; output w(i) : f64\neinstein\n"
      "w(i) = A(i, l) * v(l)");
  CHECK_THAT(program.print(), Catch::Matchers::ContainsSubstring("w(i) = sum(l, A(i,l)*v(l))"));
}

TEST_CASE("the papers' operation counts") {
  const std::string declared =
      "index i j k l m n o = 3; grid x = 2\ninput B(i, m) : f64 on x; input C(i, m) : f64 on x\n"
      "input D(i, m) : f64 on x; input E(i, j, k, l) : f64 on x; output A(i, j, k, l) : f64 on x\n";
  const auto two = Program::parse(declared + "A(i, j, k, l) = sum(m n, C(j, n) * B(i, m) * E(m, n, k, l))");
  CHECK(two.flops().written == 2106);
  CHECK(two.flops().performed == 810);
  compare(two);
  const auto three =
      Program::parse(declared + "A(i, j, k, l) = sum(m n o, D(k, o) * C(j, n) * B(i, m) * E(m, n, o, l))");
  CHECK(three.flops().written == 8667);
  CHECK(three.flops().performed == 1215);
  compare(three);
  auto exact = Program::parse("exact\n" + declared + "A(i, j, k, l) = sum(m n, C(j, n) * B(i, m) * E(m, n, k, l))");
  // As written, but that the first product of all terms is shared.
  CHECK(exact.flops().performed == 81 * (9 + 8) + 81);
  compare(exact);
  const auto pressure = traffic(
      "index i j = 3; grid x = 2\ninput a() : f64 on x; input K(i, j) : f64 sym(0,1) on x\n"
      "input db(i, j) : f64 on x; output dg(i, j) : f64 sym(0,1) on x\n"
      "dg(i, j) = -2*a()*K(i, j) + db(i, j) + db(j, i)");
  CHECK(pressure == std::pair<std::size_t, std::size_t>{16, 6});
}

TEST_CASE("large products go through temps in the order that takes the fewest operations") {
  const auto* text =
      "index p q r s = 6; index a b c d = 5\ninput C(p, a) : f64; input v(p, q, r, s) : f64\n"
      "output w(a, b, c, d) : f64\nw(a, b, c, d) = sum(p q r s, C(p, a) * C(q, b) * C(r, c) * C(s, d) * v(p, q, r, s))";
  const auto program = Program::parse(text);
  CHECK(program.flops().performed * 50 < program.flops().written);
  CHECK(steps(text) == 4);
  compare(program);
  compare(
      "index i j = 7; index k = 3\ninput x(i, k) : f64; input y(j, k) : f64; inout a(k) : f64\n"
      "a(k) += sum(i j, x(i, k) * y(j, k))");
  CHECK(steps("index i j = 7; index k = 3\ninput x(i, k) : f64; input y(j, k) : f64; inout a(k) : f64\n"
              "a(k) += sum(i j, x(i, k) * y(j, k))") == 1);
}

}  // namespace program_lower_test
