// The passes on programs of every kind: what they do, what they leave alone, and that what was written in another order
// becomes the same text.
#include "catch.hpp"
#include "ir/builder.hpp"
#include "ir/passes/canonical.hpp"
#include "ricci/error.hpp"
#include "whole_number_program.hpp"

namespace ir_canonical_any_test {

using namespace ricci;
using namespace ricci::ir;
using ir::Program;
using test::rewritten;
using test::WholeNumberProgram;

namespace {

/// Buffers by name with their type and last offset; "out" is written.
Builder builder(std::vector<LoopIndex> indices, std::vector<std::pair<std::string, std::int64_t>> buffers,
                DType type = DType::f64) {
  Builder b;
  b.program.indices = std::move(indices);
  for (auto& [name, last] : buffers) b.program.buffers.push_back({name, type, name == "out", 0, last, size_of(type)});
  return b;
}

std::string statement_of(const Program& program) {
  const auto text = print(program);
  const auto line = text.rfind('\n', text.size() - 2);
  return text.substr(line + 1, text.size() - line - 2);
}

std::string canonical_statement(Builder& b) { return statement_of(canonicalise(b.finish())); }

Program run(const std::string& pass, Program program) {
  for (const auto& candidate : canonical_passes()) {
    if (candidate.name != pass) continue;
    program = candidate.run(std::move(program));
    verify(program);
    return program;
  }
  FAIL("no pass is called " << pass);
  return program;
}

}  // namespace

TEST_CASE("unit indices go from sums, and their values are 0") {
  auto b = builder({{"i", 3}, {"u", 1}, {"l", 1}, {"m", 4}}, {{"in", 20}, {"out", 2}});
  const auto load = b.load(0, {{4, 9, 7, 1}, 0});
  const auto u = b.cast(b.index(1), DType::f64);
  b.store(1, {{1, 5, 0, 0}, 0}, b.op(OpCode::add, DType::f64, b.reduce(OpCode::add, load, {2, 3}), u));
  CHECK(canonical_statement(b) == "B[a] = add(f64(i64(0)), sum(b : A[4*a + b]))");

  SECTION("a sum over unit indices alone is its operand") {
    auto one = builder({{"i", 3}, {"l", 1}}, {{"in", 2}, {"out", 2}});
    one.store(1, {{1, 0}, 0}, one.reduce(OpCode::mul, one.load(0, {{1, 0}, 0}), {1}));
    CHECK(canonical_statement(one) == "B[a] = A[a]");
  }
  SECTION("a guard keeps the product that says what it gives") {
    auto one = builder({{"i", 3}, {"l", 1}}, {{"in", 2}, {"out", 2}});
    const auto x = one.load(0, {{1, 1}, 0});
    const auto positive = one.op(OpCode::less, DType::u8, one.constant(0, DType::f64), x);
    one.store(1, {{1, 0}, 0}, one.reduce(OpCode::mul, one.guard(positive, x), {1}));
    CHECK(canonical_statement(one) == "B[a] = product(b : guard(less(f64(0), %1), %1))");
  }
  SECTION("what is scanned keeps its index") {
    auto one = builder({{"l", 1}}, {{"in", 0}, {"out", 1}});
    one.store(1, {{0}, 0}, one.scan(OpCode::add, one.load(0, {{1}, 0}), 0, true), 1);
    CHECK(canonical_statement(one) == "B[0] by 1 = exclusive_scan(sum, a : A[0])");
  }
}

TEST_CASE("an index that only folded sums ran over goes with them") {
  auto b = builder({{"i", 3}, {"k", 4}}, {{"in", 11}, {"out", 2}});
  b.program.exact = false;
  const auto sum = b.reduce(OpCode::add, b.load(0, {{4, 1}, 0}), {1});
  b.store(1, {{1, 0}, 0}, b.op(OpCode::mul, DType::f64, b.constant(0, DType::f64), sum));
  const auto program = b.finish();
  CHECK(print(program).find("index k") == std::string::npos);
  CHECK(statement_of(program) == "out[i] = f64(0)");

  SECTION("also where a pass finds the 0") {
    auto one = builder({{"i", 3}, {"u", 1}, {"k", 4}, {"l", 4}}, {{"in", 11}, {"out", 2}});
    one.program.exact = false;
    const auto zero = one.reduce(OpCode::add, one.constant(0, DType::f64), {1});
    const auto k = one.reduce(OpCode::add, one.load(0, {{4, 0, 1, 0}, 0}), {2});
    const auto l = one.reduce(OpCode::add, one.load(0, {{4, 0, 0, 1}, 0}), {3});
    const auto product = one.op(OpCode::mul, DType::f64, zero, k);
    one.store(1, {{1, 0, 0, 0}, 0}, one.op(OpCode::mul, DType::f64, product, l));
    CHECK(canonical_statement(one) == "A[a] = f64(0)");
  }
}

TEST_CASE("empty sums are constants where constants can say them") {
  const auto text = [](OpCode op, DType type) {
    auto b = builder({{"i", 3}, {"l", 0}}, {{"in", 2}, {"out", 2}}, type);
    b.store(1, {{1, 0}, 0}, b.reduce(op, b.load(0, {{1, 1}, 0}), {1}));
    const auto form = canonicalise(b.finish());
    return std::to_string(form.indices.size()) + " " + statement_of(form);
  };
  CHECK(text(OpCode::add, DType::f64) == "1 A[a] = f64(0)");
  CHECK(text(OpCode::mul, DType::i32) == "1 A[a] = i32(1)");
  CHECK(text(OpCode::bit_xor, DType::u8) == "1 A[a] = u8(0)");
  CHECK(text(OpCode::minimum, DType::f64) == "2 B[a] = minimum(b : A[a + b])");
}

TEST_CASE("values of indices, scans and compactions keep indices as they are") {
  SECTION("an index is not turned around, nor merged, when its value is used") {
    auto b = builder({{"i", 3}, {"j", 4}}, {{"in", 11}, {"out", 11}});
    const auto j = b.cast(b.index(1), DType::f64);
    b.store(1, {{4, -1}, 3}, b.op(OpCode::mul, DType::f64, j, b.load(0, {{4, 1}, 0})));
    CHECK(canonical_statement(b) == "B[4*a - b + 3] = mul(A[4*a + b], f64(b))");
  }
  SECTION("without its value it is") {
    auto b = builder({{"i", 3}, {"j", 4}}, {{"in", 11}, {"out", 11}});
    b.store(1, {{4, -1}, 3}, b.op(OpCode::neg, DType::f64, b.load(0, {{4, -1}, 3})));
    CHECK(canonical_statement(b) == "B[a] = neg(A[a])");
  }
  SECTION("neighbours that one sum runs over and another does not stay apart") {
    auto b = builder({{"i", 2}, {"k", 3}, {"l", 4}}, {{"in", 23}, {"out", 1}});
    const auto load = b.load(0, {{12, 4, 1}, 0});
    b.store(1, {{1, 0, 0}, 0}, b.reduce(OpCode::maximum, b.reduce(OpCode::add, load, {2}), {1}));
    CHECK(canonical_statement(b) == "B[a] = maximum(b : sum(c : A[12*a + 4*b + c]))");
  }
  SECTION("neighbours that all sums run over merge") {
    auto b = builder({{"i", 2}, {"k", 3}, {"l", 4}}, {{"in", 23}, {"out", 1}});
    const auto load = b.load(0, {{12, 4, 1}, 0});
    const auto sums =
        b.op(OpCode::mul, DType::f64, b.reduce(OpCode::add, load, {1, 2}), b.reduce(OpCode::maximum, load, {1, 2}));
    b.store(1, {{1, 0, 0}, 0}, sums);
    CHECK(canonical_statement(b) == "B[a] = mul(sum(b : %1), maximum(b : %1))");
  }
  SECTION("what is scanned does not merge with what is not") {
    auto b = builder({{"i", 3}, {"l", 4}}, {{"in", 11}, {"out", 14}});
    b.store(1, {{5, 0}, 0}, b.scan(OpCode::add, b.load(0, {{4, 1}, 0}), 1, true), 1);
    CHECK(canonical_statement(b) == "B[5*a] by 1 = exclusive_scan(sum, b : A[4*a + b])");
  }
}

TEST_CASE("what sums run over is ordered by strides where rounding is free") {
  const auto text = [](bool exact, DType type) {
    auto b = builder({{"i", 2}, {"k", 3}, {"l", 4}}, {{"in", 23}, {"out", 1}}, type);
    b.program.exact = exact;
    b.store(1, {{1, 0, 0}, 0}, b.reduce(OpCode::add, b.load(0, {{1, 2, 6}, 0}), {1, 2}));
    return print(run("order by output", b.finish()));
  };
  CHECK(text(false, DType::f64).rfind("index i = 2\nindex l = 4\nindex k = 3\n", 0) == 0);
  CHECK(text(true, DType::f64).rfind("index i = 2\nindex k = 3\nindex l = 4\n", 0) == 0);
  CHECK(text(true, DType::i32).rfind("index i = 2\nindex l = 4\nindex k = 3\n", 0) == 0);
}

TEST_CASE("equal nodes are one, whichever way round they were written") {
  Program program;
  program.indices = {{"i", 3}};
  program.buffers = {
      {"x", DType::f64, false, 0, 2, 8}, {"y", DType::f64, false, 0, 2, 8}, {"z", DType::f64, true, 0, 2, 8}};
  const auto load = [](int source) {
    Node node;
    node.source = source;
    node.offset = {{1}, 0};
    return node;
  };
  const auto op = [](OpCode code, NodeId x, NodeId y) {
    Node node;
    node.kind = NodeKind::op;
    node.op = code;
    node.operand[0] = x;
    node.operand[1] = y;
    return node;
  };
  program.nodes = {load(0),
                   load(1),
                   op(OpCode::add, 0, 1),
                   load(1),
                   load(0),
                   op(OpCode::add, 3, 4),
                   op(OpCode::mul, 2, 5),
                   op(OpCode::sub, 0, 1)};
  program.statements = {{2, {{1}, 0}, 6, 0}};
  CHECK(run("share equal nodes", program).nodes.size() == 4);
  CHECK(statement_of(canonicalise(program)) == "C[a] = mul(%1, %1)");
  program.nodes[5].op = OpCode::sub;
  CHECK(run("share equal nodes", program).nodes.size() == 5);
}

TEST_CASE("operands stand in an order of their own") {
  const auto text = [](bool exact, int way) {
    auto b = builder({{"i", 3}}, {{"x", 2}, {"y", 2}, {"z", 2}, {"out", 2}});
    b.program.exact = exact;
    b.program.params = {{"t", DType::f64}};
    const auto f = [&](OpCode op, NodeId x, NodeId y) { return b.op(op, DType::f64, x, y); };
    const auto x = b.load(0, {{1}, 0}), y = b.load(1, {{1}, 0}), z = b.load(2, {{-1}, 2}), old = b.load(3, {{1}, 0});
    const auto two = b.constant(2, DType::f64), t = b.param(0);
    const auto scaled = way == 0 ? f(OpCode::mul, two, x) : f(OpCode::mul, x, two);
    const auto other = way == 0 ? f(OpCode::mul, y, z) : f(OpCode::mul, z, y);
    NodeId sum = -1;
    if (way == 0) sum = f(OpCode::sub, f(OpCode::add, f(OpCode::add, scaled, other), old), t);
    if (way == 1) sum = f(OpCode::sub, f(OpCode::add, old, f(OpCode::add, other, scaled)), t);
    if (way == 2) sum = f(OpCode::add, f(OpCode::sub, old, t), f(OpCode::add, scaled, other));
    b.store(3, {{1}, 0}, sum);
    return statement_of(canonicalise(b.finish()));
  };
  // A sum of three and a difference, whichever way it is written.
  CHECK(text(false, 0) == "D[a] = sub(add(add(mul(f64(2), A[a]), mul(B[a], C[-a + 2])), D[a]), alpha)");
  CHECK(text(false, 1) == text(false, 0));
  CHECK(text(false, 2) == text(false, 0));
  // Written order counts where it is exact: only operands of one operation change places.
  CHECK(text(true, 1) == "D[a] = sub(add(add(mul(f64(2), A[a]), mul(B[a], C[-a + 2])), D[a]), alpha)");
  CHECK(text(true, 2) == "D[a] = add(add(mul(f64(2), A[a]), mul(B[a], C[-a + 2])), sub(D[a], alpha))");
}

TEST_CASE("buffers and parameters are numbered by use, and the caller is told which is which") {
  auto b = builder({{"i", 3}}, {{"out", 2}, {"never", 2}, {"x", 2}, {"y", 4}});
  b.program.params = {{"unused", DType::f64}, {"t", DType::f64}, {"u", DType::f64}};
  const auto f = [&](OpCode op, NodeId x, NodeId y) { return b.op(op, DType::f64, x, y); };
  const auto sum =
      f(OpCode::div, f(OpCode::pow, b.load(3, {{2}, 0}), b.param(2)), f(OpCode::pow, b.load(2, {{1}, 0}), b.param(1)));
  b.store(0, {{1}, 0}, sum);
  const auto form = canonicalise(b.finish());
  CHECK(print(form) ==
        "index a = 3\n"
        "input A : f64 [0..4] align 8\n"
        "input B : f64 [0..2] align 8\n"
        "output C : f64 [0..2] align 8\n"
        "param alpha : f64\n"
        "param beta : f64\n"
        "C[a] = div(pow(A[2*a], alpha), pow(B[a], beta))\n");
  CHECK(form.buffer == std::vector<int>{3, 2, 0});
  CHECK(form.param == std::vector<int>{2, 1});
}

TEST_CASE("what scales the old output is beta") {
  auto b = builder({{"i", 3}}, {{"x", 2}, {"out", 2}});
  b.program.params = {{"q", DType::f64}, {"p", DType::f64}};
  const auto f = [&](OpCode op, NodeId x, NodeId y) { return b.op(op, DType::f64, x, y); };
  const auto old = f(OpCode::scale, b.param(0), b.load(1, {{1}, 0}));
  b.store(1, {{1}, 0}, f(OpCode::add, old, f(OpCode::scale, b.param(1), b.load(0, {{1}, 0}))));
  const auto form = canonicalise(b.finish());
  CHECK(statement_of(form) == "B[a] = add(scale(alpha, A[a]), scale(beta, B[a]))");
  CHECK(form.param == std::vector<int>{1, 0});
}

TEST_CASE("a product of matrices is the same either way round") {
  const auto text = [](bool swapped) {
    auto b = builder({{"k", 5}, {"j", 4}, {"i", 3}}, {{"p", swapped ? 19 : 14}, {"q", swapped ? 14 : 19}, {"out", 11}});
    const auto p = b.load(0, swapped ? Affine{{4, 1, 0}, 0} : Affine{{1, 0, 5}, 0});
    const auto q = b.load(1, swapped ? Affine{{1, 0, 5}, 0} : Affine{{4, 1, 0}, 0});
    b.store(2, {{0, 1, 4}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, p, q), {0}));
    const auto form = canonicalise(b.finish());
    CHECK(form.buffer == (swapped ? std::vector<int>{1, 0, 2} : std::vector<int>{0, 1, 2}));
    return print(form);
  };
  CHECK(text(true) == text(false));
  CHECK(text(true).find("C[4*a + c] = sum(b : mul(A[5*a + b], B[c + 4*b]))") != std::string::npos);
}

TEST_CASE("more parts than letters have names of their own") {
  Builder b;
  b.program.indices = {{"i", 2}};
  NodeId sum = -1;
  for (int k = 0; k < 80; ++k) {
    b.program.buffers.push_back({"in" + std::to_string(k), DType::f64, false, 0, k + 1, 8});
    b.program.params.push_back({"p" + std::to_string(k), DType::f64});
    const auto term = b.op(OpCode::pow, DType::f64, b.load(k, {{k + 1}, 0}), b.param(k));
    sum = k == 0 ? term : b.op(OpCode::div, DType::f64, sum, term);
  }
  b.program.buffers.push_back({"out", DType::f64, true, 0, 1, 8});
  b.store(80, {{1}, 0}, sum);
  const auto form = canonicalise(b.finish());  // verifies that names are unique
  CHECK(form.buffers[25].name == "Z");
  CHECK(form.buffers[26].name == "AA");
  CHECK(form.buffers[52].name == "A2");
  CHECK(form.params[79].name == "p79");
}

TEST_CASE("no pass changes what any program computes") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const WholeNumberProgram random(seed);
    INFO("seed " << seed << "\n" << print(random.program));
    const auto same = [](std::size_t count) {
      std::vector<int> order(count);
      std::iota(order.begin(), order.end(), 0);
      return order;
    };
    const auto expected = random.result(random.program, same(random.data.size()), same(random.params.size()));
    auto program = random.program;
    for (const auto& pass : canonical_passes()) {
      INFO(pass.name);
      program = pass.run(std::move(program));
      verify(program);
      if (std::string(pass.name) == "rename") break;  // names were what told the buffers apart
      const auto places = [](const auto& now, const auto& before) {
        std::vector<int> found;
        for (const auto& item : now) {
          const auto place =
              std::find_if(before.begin(), before.end(), [&](const auto& b) { return b.name == item.name; });
          found.push_back(static_cast<int>(place - before.begin()));
        }
        return found;
      };
      REQUIRE(random.result(program, places(program.buffers, random.program.buffers),
                            places(program.params, random.program.params)) == expected);
    }
    const auto form = canonicalise(random.program);
    CHECK(print(form) == print(program));
    REQUIRE(random.result(form, form.buffer, form.param) == expected);
  }
}

TEST_CASE("programs that say the same become the same text") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const WholeNumberProgram random(seed);
    const auto expected = print(canonicalise(random.program));
    for (std::uint64_t way = 1; way <= 3; ++way) {
      const auto other = rewritten(random.program, 10 * seed + way, false);
      INFO("seed " << seed << "\n" << print(random.program) << "against\n" << print(other));
      REQUIRE(print(canonicalise(other)) == expected);
    }
  }
}

TEST_CASE("and so do sums that are combined in another order") {
  // Of a + b + c, one order may find a + b computed elsewhere and another not: such programs differ.
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const WholeNumberProgram random(seed);
    const auto form = canonicalise(random.program);
    const auto other = canonicalise(rewritten(random.program, seed, true));
    if (other.nodes.size() != form.nodes.size()) continue;
    ++compared;
    INFO("seed " << seed << "\n" << print(random.program));
    REQUIRE(print(other) == print(form));
  }
  CHECK(compared > 1900);
}

}  // namespace ir_canonical_any_test
