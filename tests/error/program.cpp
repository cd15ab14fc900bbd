// Every error about a program: its type, its text with line, column and caret, and that nothing was recorded.
#include "ricci/program.hpp"
#include "catch.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace program_test {

using namespace ricci;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// What a grid program may speak of.
constexpr const char* kGrid =
    "index i j k l = 3; index a b = 4; grid x = 8\n"
    "input psi(4, 4) : f64 sym(0,1) on x; input K(3, 3) : f64 sym(0,1) on x; input e(3, 3) : f64 on x\n"
    "input beta(3) : f64 on x; input al() : f64 on x; input gi(3, 3) : f64 sym(0,1) on x; input n(3) : i32 on x\n"
    "input F(3, 3) : f64 antisym(0,1) on x; input W(3, 4) : f64 on x; input z() : c128 on x; input c() : f64\n"
    "output dg(3, 3) : f64 sym(0,1) on x; output g(3, 3) : f64 on x; output y() : f64 on x; output v(3) : f64 on x\n"
    "output N(3, 3, 3) : f64 sym(1,2) on x; output s() : f64; output m(3) : i32 on x; inout io(3) : f64 on x\n"
    "local loc(3) : f64 on x; output A3(3, 3) : f64 antisym(0,1) on x\n";

/// And one of loops.
constexpr const char* kLoops =
    "index i = 3; index j = 4; index l = 5; index p; param t : f64\n"
    "input A(i, l) : f64; input B(l, j) : f64; input q(i, i) : f64; input I(i) : i64; input w(j) : f64\n"
    "input h(i) : f16; input u(j) : u64; output C(i, j) : f64; output D(i) : f64; output M(i) : i32; temp T(i) : f64\n"
    "output scan6(6) : f64; output scan3(3) : f64; local L(i) : f64; output arr(40) : i32; output S() : f64\n";

template <class E>
std::string text_of(const std::string& program) {
  try {
    (void)Program::parse(program);
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another type: ") + error.what();
  }
  return "nothing";
}

/// The text of the error that `line` gives after the declarations, and that its caret points to `at`.
template <class E>
void refuses(const std::string& before, const std::string& line, const std::string& begin, const std::string& at) {
  const auto text = text_of<E>(before + line);
  INFO(line);
  INFO(text);
  CHECK_THAT(text, StartsWith(begin));
  const auto newline = line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1;
  const auto last = line.substr(newline);
  const auto column = last.find(at);
  REQUIRE(column != std::string::npos);
  CHECK_THAT(text, Catch::Matchers::EndsWith("\n  " + last + "\n  " + std::string(column, ' ') + "^"));
  CHECK_THAT(text, ContainsSubstring("column " + std::to_string(column + 1) + ":"));
}

void grid(const std::string& line, const std::string& begin, const std::string& at) {
  refuses<SpecError>(kGrid, line, begin, at);
}
void grid_shape(const std::string& line, const std::string& begin, const std::string& at) {
  refuses<ShapeError>(kGrid, line, begin, at);
}
void loops(const std::string& line, const std::string& begin, const std::string& at) {
  refuses<SpecError>(kLoops, line, begin, at);
}
void loops_shape(const std::string& line, const std::string& begin, const std::string& at) {
  refuses<ShapeError>(kLoops, line, begin, at);
}

}  // namespace

TEST_CASE("IndexMismatch") {
  grid("g(i,j) = K(i,j) + beta(i)*beta(k)",
       "IndexMismatch: operands of '+' have free indices {i,j} and {i,k}\n  left:  K(i,j)\n  right: beta(i)*beta(k)",
       "+");
  grid("g(i,j) = K(i,j) - e(i,k)", "IndexMismatch: operands of '-' have free indices {i,j} and {i,k}", "-");
  grid("g(i,j) = beta(i)*beta(k)", "IndexMismatch: assignment to g{i,j} from expression with {i,k}", "g(");
  grid("v(i) += e(i,j)", "IndexMismatch: assignment to v{i} from expression with {i,j}", "v(");
  grid("s() = al()",
       "IndexMismatch: assignment to s{}, which is not on the grid, from an expression that is; reduce over "
       "x first",
       "s(");
  grid("g(i,j) = select(al() < 1, e(i,j), e(i,k))",
       "IndexMismatch: operands of 'select' have free indices {i,j} and {i,k}", "select");
  loops("C(i,j) = A(i,l)", "IndexMismatch: assignment to C{i,j} from expression with {i,l}", "C(");
  loops("D(i) = A(i,0) + B(0,j)", "IndexMismatch: assignment to D{i} from expression with {i,j}", "D(");
}

TEST_CASE("RepeatedIndex") {
  grid("dg(sym(0,1), i, i) = K(i,i)", "RepeatedIndex: 'i' appears in slots 0 and 1 of 'K'", "K(");
  grid("dg(sym(0,1), i, i) = beta(i)", "RepeatedIndex: 'i' appears in slots 0 and 1 of the left side", "dg(");
  grid("g(i,i) = beta(i)", "RepeatedIndex: 'i' appears in slots 0 and 1 of the left side", "g(");
  grid("v(i) = K(i,i)",
       "RepeatedIndex: 'i' appears in slots 0 and 1 of 'K'; write diag(K(...)) where the diagonal is meant, "
       "or use einstein mode to sum over it",
       "K(");
  grid("v(i) = beta(i) * K(i,0)", "RepeatedIndex: 'i' stands in two factors and is not summed over; write diag(...)",
       "v(");
  loops("D(i) = q(i,i)", "RepeatedIndex: 'i' appears in slots 0 and 1 of 'q'", "q(");
  loops("D(i) = delta(i,i)", "RepeatedIndex: 'delta' of one index is 1", "delta");
}

TEST_CASE("SymmetryMismatch and SymmetryUnproven") {
  grid("g(sym(0,1), i, j) = K(i,j)", "SymmetryMismatch: 'g' stored as {}, statement says (0 1)", "g(");
  grid("dg(antisym(0,1), i, j) = F(i,j)", "SymmetryMismatch: 'dg' stored as (0 1), statement says -(0 1)", "dg(");
  grid("N(sym(0,1), i, j, k) = beta(i)*beta(j)*beta(k)", "SymmetryMismatch: 'N' stored as (1 2), statement says (0 1)",
       "N(");
  grid("v(i) = sum(j, e(sym(0,1), i, j)*beta(j))", "SymmetryMismatch: 'e' stored as {}, statement says (0 1)", "e(sym");
  grid("dg(sym(0,2), i, j) = K(i,j)", "RangeError: a symmetry of 'dg' names slot 2, it has 2 slots", "dg(");
  grid_shape("g(i,j) = sum(a, W(sym(0,1), i, a)*W(j,a))", "ExtentError: slots 0 and 1 of 'W' have 3 and 4 values",
             "W(sym");
  grid("dg(i,j) = e(i,j)",
       "SymmetryUnproven: 'dg' is stored as (0 1), and the right side does not have that symmetry: e(i,j)", "dg(");
  grid("dg(i,j) = e(i,j) - e(j,i)", "SymmetryUnproven: 'dg' is stored as (0 1)", "dg(");
  grid("dg(i,j) = K(i,j)\ndg(i,j) += beta(i)*K(j,0)", "SymmetryUnproven", "dg(");
  grid("A3(i,j) = K(i,j)", "SymmetryUnproven: 'A3' is stored as -(0 1)", "A3(");
  grid("N(i,j,k) = K(i,j)*beta(k)", "SymmetryUnproven: 'N' is stored as (1 2)", "N(");
}

TEST_CASE("symmetries that are proven, shown, asserted") {
  std::vector<std::string> warnings;
  set_log_sink([&](LogTopic, std::string_view line) { warnings.emplace_back(line); });
  const auto accepts = [&](const std::string& line) {
    INFO(line);
    CHECK(text_of<Error>(kGrid + line) == "nothing");
  };
  accepts("dg(i,j) = -2*al()*K(i,j) + e(i,j) + e(j,i)");
  accepts("dg(i,j) = sum(k l, e(i,k)*gi(k,l)*e(j,l))");  // by exchanging what is summed over
  accepts("A3(i,j) = e(i,j) - e(j,i)");
  accepts("A3(i,j) = sum(k, e(i,k)*e(k,j) - e(j,k)*e(k,i))");
  accepts("dg(i,j) = (e(i,j) + e(j,i))*(1 + al())/sqrt(1 + al())");
  accepts("dg(i,0) = beta(i)");  // nothing to exchange
  accepts("dg(i,j) = inv3(psi(i+1,j+1))");
  // By values: g is symmetric because of what was assigned to it.
  accepts("g(i,j) = K(i,j)\ndg(i,j) = g(i,j)");
  accepts("dg(i,j) = diag((e(i,j) + e(j,i))*(e(i,j) - e(j,i))*(e(i,j) - e(j,i)))");
  CHECK(warnings.empty());
  accepts("dg(sym(0,1), i, j) = e(i,j)");
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], StartsWith("SymmetryUnproven: 'dg' is stored as (0 1)"));
  accepts("dg(i,j) = log(-al())*e(i,j)");  // not a number: it cannot be told
  CHECK(warnings.size() == 2);
  set_log_sink({});
}

TEST_CASE("RankError") {
  grid("y() = 1.0/beta(i)", "RankError: '/' needs a rank-0 right operand, got {i}: beta(i)", "/");
  grid("v(i) = 1 + beta(i)", "RankError: '+' needs operands of one rank, got {} and {i}", "+");
  grid("v(i) = max(beta(j), beta(i))",
       "IndexMismatch: 'max' is done element by element and needs operands with the same free indices, or one without "
       "any; got {j} and {i}",
       "max");
  grid("v(i) = select(beta(j) < 1, beta(i), beta(i))",
       "RankError: 'select' needs a rank-0 condition or one with the free indices of its values, got {j}", "select");
  grid("io(i) *= beta(i)", "RankError: '*=' needs a rank-0 right side, got {i}", "io(");
  grid("io(i) += al()", "RankError: '+=' adds a rank-0 expression to io{i}", "io(");
  grid("y() = det3(beta(i))", "RankError: 'det3' and 'inv3' take one access with two free indices, got {i}: beta(i)",
       "det3");
  grid("v(i) = K(i)", "RankError: 'K' has 2 slots, got 1", "K(");
  grid("v(i) = beta()", "RankError: 'beta' has 1 slot, got 0", "beta()");
  loops("C(i) = A(i,0)", "RankError: 'C' has 2 slots, got 1", "C(");
}

TEST_CASE("ExtentError and RangeError") {
  grid_shape("v(i) = e(i,a)", "ExtentError: index a has 4 values, slot 1 of 'e' has 3", "e(");
  grid_shape("g(a,b) = psi(a,b)", "ExtentError: index a has 4 values, slot 0 of 'g' has 3", "g(");
  grid_shape("g(i,j) = psi(i,j)",
             "ExtentError: index i has 3 values, slot 0 of 'psi' has 4; write i+0 for its first values", "psi(");
  grid_shape("g(i,j) = psi(i+2,j+1)", "RangeError: 'i+2' reaches 4, slot 0 of 'psi' has 4 values (0..3)", "psi(");
  grid_shape("v(i) = beta(i+1)", "RangeError: 'i+1' reaches 3, slot 0 of 'beta' has 3 values (0..2)", "beta(");
  grid_shape("v(i) = beta(i-1)", "RangeError: 'i-1' reaches -1, slot 0 of 'beta' has 3 values (0..2)", "beta(");
  grid_shape("v(i) = e(3,i)", "RangeError: '3' is out of slot 0 of 'e', which has 3 values (0..2)", "e(");
  grid_shape("v(-1) = al()", "RangeError: '-1' is out of slot 0 of 'v'", "v(");
  grid_shape("y() = det3(psi(a,b))", "ExtentError: 'det3' and 'inv3' are for 3 x 3 values, index a has 4", "det3");
  loops_shape("scan3(i) = exclusive_scan(sum, i, A(i,0))",
              "ExtentError: an exclusive scan over index i (3 values) has 4 results, slot 0 of 'scan3' has 3", "scan3");
  loops_shape("D(i) = exclusive_scan(sum, i, A(i,0))",
              "ExtentError: an exclusive scan over index i (3 values) has 4 results, slot 0 of 'D' has 3", "D(");
}

TEST_CASE("extents that are known later are checked later") {
  auto program = Program::parse("index i; index p = 5\ninput A(i) : f64; output b(p) : f64\nb(p) = A(p+1)");
  CHECK_THROWS_WITH(ir::lower(program), StartsWith("ExtentError: index i of program 'program' has no extent"));
  CHECK_THROWS_WITH(
      program.set_extent("i", 5),
      "RangeError: 'p+1' reaches 5, slot 0 of 'A' has 5 values (0..4)\n  line 3, column 1:\n  b(p) = A(p+1)\n  ^");
  CHECK_THROWS_AS(program.set_extent("i", 4), ShapeError);
  CHECK_THROWS_AS(program.set_extent("i", -2), ShapeError);
  CHECK(program.open_extents() == std::vector<std::string>{"i"});
  program.set_extent("i", 6);
  CHECK(ir::lower(program).steps.size() == 1);
  CHECK_THROWS_AS(program.set_extent("nothing", 6), ShapeError);
}

TEST_CASE("SumError") {
  grid("v(i) = sum(l, gi(i,k))", "SumError: 'l' is not free in gi(i,k)", "sum");
  grid("v(i) = sum(i, e(i,j)*beta(j))",
       "SumError: 'i' is summed over on the right side and is also free on the left side", "v(");
  grid("g(i,j) = sum(i, e(i,j))*beta(i)", "SumError: 'i' is free in one operand and summed over in another", "*beta");
  grid("v(i) = sum(j, sum(j, e(i,j)))", "SumError: 'j' is already summed over inside sum(j, e(i,j))", "sum(j, sum");
  grid("v(i) = sum(j j, e(i,j))", "SumError: 'j' is named twice by one 'sum'", "sum");
  grid("v(i) = sum(j, beta(j)) * sum(i, beta(i))",
       "SumError: 'i' is summed over on the right side and is also free on the "
       "left side",
       "v(");
  grid("y() = sum(x, al())", "SumError: 'x' is summed over on the right side and is also free on the left side", "y(");
  grid("einstein\nv(i) = beta(j)*beta(j)*e(i,j)", "SumError: 'j' is free in one operand and summed over in another",
       "*e(");
  grid("einstein\ny() = (beta(j)*beta(j))*(beta(j)*beta(j))", "SumError: 'j' repeats more than twice in a product",
       "*(beta");
  loops("S() = compact(i, 1, A(i,0))", "the left side of a compaction has one slot with the first position", "S(");
  loops("D(i) = scan(sum, l, A(i,l))", "SumError: 'l' is scanned over and does not stand on the left side", "D(");
  loops("D(i) = 1 + scan(sum, i, A(i,0))", "a scan is a whole right side; give it a statement of its own", "+");
  loops("S() = sum(, A(0,0))", "expected indices, separated by blanks, before the first comma", ", A");
}

TEST_CASE("TypeError") {
  grid("y() = z()", "TypeError: 'y' is f64 and cannot hold a c128 value", "y(");
  grid("m(i) = beta(i)", "TypeError: 'm' is i32 and cannot hold a f64 value; nothing rounds to integers", "m(");
  grid("y() = sqrt(z())", "TypeError", "y(");
  grid("y() = select(z() < 2i, 1, 2)",
       "TypeError: '<' is for real values; complex ones have no order, only == and !=", "<");
  grid("y() = imag(al())", "TypeError: 'imag' is for complex values, got f64", "imag");
  grid("y() = sign(z())", "TypeError: 'sign' is for real values", "sign");
  grid("y() = mod(z(), 2)", "TypeError: 'mod' is for real values", "mod");
  grid("y() = and(al(), 1)", "TypeError: 'and' is for integers, got f64 and i64", "and");
  grid("y() = al() and 1", "TypeError: 'and' is for integers, got f64 and i64", "and");
  grid("y() = not(al() < 1) == 1", "'not(x) == y' may be read in two ways; write not(x == y) or (not(x)) == y", "not");
  grid("y() = 1 + not al() < 1", "'not' binds less tightly than arithmetic and comparisons; put it and its operand in",
       "not");
  grid("y() = guard(al(), 1)", "TypeError: the first operand of 'guard' is a comparison or an integer", "guard");
  loops("M(i) = cast(i32, A(i,0))", "TypeError: a cast from f64 to i32 would drop a fraction", "cast");
  loops("D(i) = cast(f16, A(i,0))", "TypeError: nothing is computed in f16; cast to f32", "cast");
  loops("M(i) = sum(j, I(i) + u(j))", "TypeError: i64 and u64 have no common type; cast one of them", "+");
  loops("D(i) = reduce(xor, l, A(i,l))", "TypeError: 'xorall' is for integers, got f64", "reduce");
  loops("arr(A(i,0)) = compact(j, w(j) < 1, cast(i32, j))",
        "TypeError: the position in slot 0 of 'arr' is f64, not an integer", "arr");
}

TEST_CASE("what may be written and read") {
  grid("psi(a,b) = psi(a,b)", "'psi' is an input and cannot be written; declare it output or inout", "psi(");
  grid("v(i) = loc(i)", "NotWritten: 'loc' is read before a statement has written it", "v(");
  grid("v(i) += beta(i)",
       "NotWritten: 'v' is read before a statement has written it; declare it inout where it brings "
       "values",
       "v(");
  loops("L(i) = A(i,0)\nL(i) = A(i,1)", "'L' is a local without a grid: a function of its indices, defined once", "L(");
  loops("L(0) = A(0,0)", "'L' is a local without a grid", "L(");
  loops("D(I(i)) = A(i,0)", "slot 0 of 'D' is an expression; only a compaction writes where values say", "D(");
  const auto lower = [](const std::string& text) {
    try {
      (void)ir::lower(Program::parse(text));
    } catch (const SpecError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(lower("index i = 3; grid x = 2\noutput v(i) : f64 on x; output w(i) : f64 on x\nv(0) = 1.0\nw(i) = v(i)") ==
        "NotWritten: component (1) of 'v' is read before a statement has written it; declare it inout where it brings "
        "values\n  line 4, column 1:\n  w(i) = v(i)\n  ^");
  CHECK(lower("index i = 3\noutput v(i) : f64") == "NotWritten: no statement writes the output 'v'");
  CHECK_THAT(lower("index i j = 3\ninout n(9) : i64\nn(n(i+0)) = compact(j, 1, j)"), StartsWith("AliasError: "));
}

TEST_CASE("declarations") {
  const auto refused = [](const std::string& text, const std::string& begin) {
    const auto got = text_of<Error>(text);
    INFO(text);
    CHECK_THAT(got, StartsWith(begin));
    CHECK_THAT(got, Catch::Matchers::EndsWith("^"));
  };
  refused("index i = 3; index i = 4", "NameError: 'i' is an index already");
  refused("index i = -3", "ExtentError: index i has extent -3; extents start at 0");
  refused("index sum = 3", "NameError: 'sum' is a word of the language; give an index another name");
  refused("grid x = 4; grid t = 4", "NameError: the grid is 'x' already; a program has one");
  refused("input A(i) : f64", "NameError: 'i' is no index; declare it first");
  refused("input A(3) : f64 on x", "NameError: 'x' is not the grid");
  refused("input A(3) : double", "'double' is no element type: i8 i16");
  refused("input A(3) f64", "expected ':' after a name, before its type, found 'f64'");
  refused("input A(3, 4) : f64 sym(0,1)",
          "ExtentError: tensor 'A': slots 0 and 1 are symmetric and have 3 values and 4 values");
  refused("input A(3, 3) : f64 sym(0,2)", "RangeError: a symmetry of 'A' names slot 2, it has 2 slots");
  refused("input A(3, 3) : f64 sym(0)", "SymmetryMismatch: tensor 'A': a symmetry has two slots at least");
  refused("input A(3, 3, 3) : f64 sym(0,1) sym(1,2)", "SymmetryMismatch: tensor 'A': slot 1 is in a symmetry twice");
  refused("grid x; input A(17) : f64 on x",
          "ExtentError: tensor 'A': slot 0 has 17 values; on a grid or with a symmetry it "
          "can have 1 to 16");
  refused("grid x; index i; input A(i) : f64 on x", "ExtentError: tensor 'A': slot 0 is index i without an extent");
  refused("grid x; input A(16, 16, 16, 2) : f64 on x", "ExtentError: tensor 'A': more than 4096 components per point");
  refused("input A(3) : f64 layout pointers",
          "ExtentError: tensor 'A': soa, pointers and blocked are layouts of fields");
  refused("grid x; input A(3) : f64 on x layout blocked",
          "ExtentError: tensor 'A': a blocked layout has a block of one point");
  refused("grid x; input A(3) : f64 on x layout tiled",
          "'tiled' is no layout: soa, soa(points), pointers, blocked(points)");
  refused("input A(3, 4) : f64 strides(1)", "ExtentError: tensor 'A': 1 strides for 2 slots");
  refused("input A(3) : f64 align(3)", "ExtentError: tensor 'A': an alignment of 3 bytes; powers of two, or 0");
  refused("input A(3) : f64 dense", "'dense' is no attribute of a tensor: sym, antisym, on, layout, strides, align");
  refused("grid x; local L(3) : f64 on x layout soa", "ExtentError: tensor 'L': a local has no storage and no layout");
  refused("param h : f16", "TypeError: parameter 'h' cannot be f16; use f32");
  refused("index i = 3\nprogram late", "'program' stands on the first line");
  const auto lower = [](const std::string& text) {
    try {
      (void)ir::lower(Program::parse(text));
    } catch (const ShapeError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK_THAT(lower("index i = 3\ninput a(i) : f64; output b(i) : f64 strides(0)\nb(i) = a(i)"),
             StartsWith("ExtentError: the strides of 'b' put several elements at one place; only inputs may do so"));
  CHECK_THAT(lower("grid x = 10\ninput a() : f64 on x; output b() : f64 on x layout blocked(4)\nb() = a()"),
             StartsWith("ExtentError: tensor 'b' is blocked by 4, which does not divide the 10 points"));
  CHECK_THAT(
      lower("grid x = 24\ninput a() : f64 on x layout blocked(6); output b() : f64 on x layout blocked(4)\nb() = a()"),
      StartsWith("ExtentError: blocks of 6 and of 4 points in one program; one must divide the other"));
  CHECK_THAT(lower("grid x = 10\ninput a() : f64 on x; output b(2) : f64 on x layout soa(9)\nb(0) = a()"),
             StartsWith("ExtentError: tensor 'b' has components every 9 elements, fewer than the 10 points"));
}

TEST_CASE("the language") {
  const auto refused = [](const std::string& line, const std::string& begin, const std::string& at) {
    refuses<SpecError>(kGrid, line, begin, at);
  };
  refused("v(i) = beta(i) $ 2", "'$' is not part of the language", "$");
  refused("v(i) = * 2", "expected an expression, found '*'", "*");
  refused("v(i) = beta(i) beta(j)", "'beta' is not expected here", "beta(j)");
  refused("v(i) == beta(i)", "expected '=', '+=', '-=', '*=' or '/=' after the left side", "==");
  refused("v = beta(i)", "'v' begins neither a declaration nor a statement", "v =");
  refused("3 = v(i)", "a line begins with a word or with a tensor, not with '3'", "3");
  refused("v(i) = nothing(i)", "NameError: 'nothing' is not declared", "nothing");
  refused("v(i) = i(i)", "NameError: 'i' is no tensor and has no slots", "i(i)");
  refused("v(i) = beta(q)", "NameError: 'q' is no index", "q");
  refused("v(i) = beta", "'beta' is a tensor: give its slots, beta()", "beta");
  refused("v(i) = 1.2.3 * beta(i)", "'1.2.3' is no number", "1.2.3");
  refused("v(i) = 1e999 * beta(i)", "'1e999' is no number", "1e999");
  refused("v(i) = 9007199254740993 * beta(i)", "integers up to 2^53 are exact; this one is larger", "9007");
  refused("v(i) = beta(i) / 0", "a division by the number 0", "/");
  refused("v(i) = reduce(first, j, e(i,j))", "'first' is no operation to combine by", "first");
  refused("v(i) = soa(j)", "'soa' is no function", "soa");
  CHECK_THAT(text_of<SpecError>(kGrid + std::string("v(i) = ")),
             StartsWith("expected an expression, found the end of the line\n  line 8, column 8:"));
  CHECK_THAT(text_of<SpecError>(kGrid + std::string("v(i) = beta(i")),
             StartsWith("expected ',' after a slot, found the end of the line\n  line 8, column 14:"));
  CHECK_THAT(text_of<SpecError>(kGrid + ("y() = " + std::string(300, '(') + "1")),
             StartsWith("more than 200 parentheses inside each other\n  line 8, column 207:"));
}

TEST_CASE("expressions that nest too deep are refused") {
  std::string text = "output s() : f64; input a() : f64\ns() = a()";
  for (int k = 0; k < 25000; ++k) text += " + a()";
  CHECK_THAT(text_of<SpecError>(text), StartsWith("an expression nests more than 20000 operations deep"));
}

}  // namespace program_test
