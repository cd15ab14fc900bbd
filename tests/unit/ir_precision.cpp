// Sums of products in a precision: which casts stand where, which types sums and factors have, what the interpreter
// then computes, and what is refused.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/precision.hpp"
#include "lower/einsum.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"

namespace ir_precision_test {

using namespace ricci;

namespace {

/// The statement of an einsum of 4 x 4 tensors in a precision.
std::string statement(Precision precision, const std::vector<DType>& inputs, DType output, const std::string& spec,
                      ir::Factor alpha = ir::Factor::one, ir::Factor beta = ir::Factor::zero) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto rank = problem.spec.operands[k].size();
    problem.inputs.push_back(Layout::row_major(inputs[k], std::vector<std::int64_t>(rank, 4)));
  }
  problem.output = Layout::row_major(output, std::vector<std::int64_t>(problem.spec.output.size(), 4));
  problem.alpha = alpha;
  problem.beta = beta;
  problem.precision = precision;
  const auto made = ir::in_precision(ir::sequence_of(ir::lower(problem)), precision);
  const auto text = ir::print(made.steps.front().program);
  const auto begin = text.rfind("] = ") + 4;
  return text.substr(begin, text.size() - begin - 1);
}

std::string product(Precision precision, DType a, DType b, DType c) {
  return statement(precision, {a, b}, c, "ab,bc->ac");
}

constexpr const char* kA = "A[4*a + b]";
constexpr const char* kB = "B[c + 4*b]";

std::string sum_of(const std::string& a, const std::string& b) { return "sum(b : mul(" + a + ", " + b + "))"; }

/// The last statement of a program's only kernel in a precision.
std::string of_program(const std::string& text, Precision precision) {
  const auto program = Program::parse(text);
  const auto made = ir::in_precision(ir::lower(program), precision);
  const auto printed = ir::print(made.steps.front().program);
  const auto begin = printed.rfind("] = ") + 4;
  return printed.substr(begin, printed.size() - begin - 1);
}

}  // namespace

TEST_CASE("factors are rounded to a half type and summed in f32") {
  const auto rounded = [](const std::string& of) { return "f32(bf16(" + of + "))"; };
  for (const auto type : {DType::f32, DType::f16}) {
    CHECK(product(Precision::bf16, type, type, DType::f32) == sum_of(rounded(kA), rounded(kB)));
  }
  CHECK(product(Precision::bf16, DType::f64, DType::f64, DType::f64) ==
        "f64(" + sum_of(rounded(kA), rounded(kB)) + ")");
  CHECK(product(Precision::f16, DType::f32, DType::f32, DType::f32) ==
        sum_of("f32(f16(" + std::string(kA) + "))", "f32(f16(" + std::string(kB) + "))"));
  // What is of the type already is as it was.
  CHECK(product(Precision::bf16, DType::bf16, DType::bf16, DType::f32) ==
        product(Precision::operands, DType::bf16, DType::bf16, DType::f32));
  CHECK(product(Precision::bf16, DType::bf16, DType::f32, DType::f32) ==
        sum_of("f32(" + std::string(kA) + ")", rounded(kB)));
}

TEST_CASE("what is no product of two tensors is not rounded") {
  CHECK(statement(Precision::bf16, {DType::f32}, DType::f32, "ab->a") == "sum(b : A[4*a + b])");
  CHECK(statement(Precision::bf16, {DType::f32, DType::f32}, DType::f32, "a,b->ab") == "mul(A[a], B[b])");
  const auto scaled =
      statement(Precision::bf16, {DType::f32, DType::f32}, DType::f32, "ab,bc->ac", ir::Factor::any, ir::Factor::any);
  CHECK(scaled ==
        "add(scale(alpha, " + sum_of("f32(bf16(A[4*a + b]))", "f32(bf16(B[c + 4*b]))") + "), scale(beta, C[4*a + c]))");
  // Of three factors each is rounded, and none of their products.
  CHECK(statement(Precision::bf16, {DType::f32, DType::f32, DType::f32}, DType::f32, "ab,b,b->a") ==
        "sum(b : mul(mul(f32(bf16(A[4*a + b])), f32(bf16(B[b]))), f32(bf16(C[b]))))");
}

TEST_CASE("a wider type is that of products, sums and factors around them, and the result is rounded once") {
  const auto sum = sum_of("f64(A[4*a + b])", "f64(B[c + 4*b])");
  for (const auto type : {DType::f32, DType::f16, DType::bf16}) {
    CHECK(product(Precision::f64, type, type, type) == std::string(name(type)) + "(" + sum + ")");
  }
  CHECK(product(Precision::f64, DType::f64, DType::f64, DType::f64) ==
        product(Precision::operands, DType::f64, DType::f64, DType::f64));
  CHECK(statement(Precision::f64, {DType::f32, DType::f32}, DType::f32, "ab,bc->ac", ir::Factor::any,
                  ir::Factor::any) == "f32(add(scale(alpha, " + sum + "), scale(beta, f64(C[4*a + c]))))");
  CHECK(product(Precision::f64, DType::c64, DType::f32, DType::c64).find("c64(") == 0);
}

TEST_CASE("a narrower type is that of products and sums alone") {
  CHECK(product(Precision::f32, DType::f64, DType::f64, DType::f64) ==
        "f64(" + sum_of("f32(A[4*a + b])", "f32(B[c + 4*b])") + ")");
  CHECK(product(Precision::f32, DType::c128, DType::c128, DType::c128) ==
        "c128(" + sum_of("c64(A[4*a + b])", "c64(B[c + 4*b])") + ")");
  for (const auto type : {DType::f32, DType::f16, DType::c64})
    CHECK(product(Precision::f32, type, type, type) == product(Precision::operands, type, type, type));
}

TEST_CASE("narrow integers are summed in i32, of which a result has the lowest bits") {
  const auto sum = sum_of("i32(A[4*a + b])", "i32(B[c + 4*b])");
  CHECK(product(Precision::i32, DType::i8, DType::i8, DType::i8) == "i8(" + sum + ")");
  CHECK(product(Precision::i32, DType::u8, DType::i8, DType::i64) == "i64(" + sum + ")");
  CHECK(product(Precision::i32, DType::i8, DType::i8, DType::i32) == sum);
  CHECK(product(Precision::i32, DType::i16, DType::i16, DType::i16) == "i16(" + sum + ")");
}

TEST_CASE("words for tensor cores change no program") {
  for (const auto precision : {Precision::operands, Precision::tf32, Precision::tf32x3}) {
    for (const auto type : {DType::f32, DType::f64, DType::c64, DType::i8})
      CHECK(product(precision, type, type, type) == product(Precision::operands, type, type, type));
  }
}

TEST_CASE("what a precision is not for is refused") {
  const auto refused = [](Precision precision, DType type) {
    try {
      product(precision, type, type, type);
    } catch (const PlanError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(Precision::i32, DType::f32)
            .find("precision i32 is for sums of i8, i16, i32, u8 and u16, and this "
                  "sums f32") != std::string::npos);
  CHECK(refused(Precision::i32, DType::i64).find("sums i64") != std::string::npos);
  CHECK(refused(Precision::i32, DType::u32).find("sums u32") != std::string::npos);
  CHECK(refused(Precision::bf16, DType::c64).find("real floats") != std::string::npos);
  for (const auto precision : {Precision::bf16, Precision::f16, Precision::f32, Precision::f64})
    CHECK(refused(precision, DType::i32).find("sums i32") != std::string::npos);
}

TEST_CASE("statements of programs are in the precision, but for functions and for sums that it is not for") {
  const std::string head = "index i = 4\nindex j = 4\ninput A(i, j) : f32\ninput x(j) : f32\ninput n(j) : i32\n";
  CHECK(of_program(head + "output y(i) : f32\ny(i) = 2 * sum(j, A(i, j) * x(j)) + x(i)\n", Precision::f64) ==
        "f32(add(mul(f64(2), sum(j : mul(f64(A[4*i + j]), f64(x[j])))), f64(x[i])))");
  // Each factor of a chain, whatever stands around it; functions are of their own type.
  CHECK(of_program(head + "output y(i) : f32\ny(i) = sum(j, exp(A(i, j)) * x(j))\n", Precision::bf16) ==
        "sum(j : mul(f32(bf16(exp(A[4*i + j]))), f32(bf16(x[j]))))");
  CHECK(of_program(head + "output y(i) : f32\ny(i) = exp(sum(j, A(i, j) * x(j)))\n", Precision::f64) ==
        "exp(f32(sum(j : mul(f64(A[4*i + j]), f64(x[j])))))");
  // Integers stay what they are beside a sum that the precision is for.
  const auto both = head + "output y(i) : f32\noutput m(i) : i32\ny(i) = sum(j, A(i, j) * x(j))\nm(i) = sum(j, n(j))\n";
  CHECK_NOTHROW(ir::in_precision(ir::lower(Program::parse(both)), Precision::bf16));
  CHECK_THROWS_AS(of_program(head + "output m(i) : i32\nm(i) = sum(j, n(j))\n", Precision::bf16), PlanError);
}

TEST_CASE("the interpreter rounds as the program says") {
  // 1 + 2^-9 is 1 in bf16; 2^24 + 1 is 2^24 in f32.
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("b,b->");
  problem.inputs = {Layout::row_major(DType::f32, {2}), Layout::row_major(DType::f32, {2})};
  problem.output = Layout::row_major(DType::f32, {});
  const auto result = [&](Precision precision, std::vector<float> a, std::vector<float> b) {
    problem.precision = precision;
    const auto made = ir::in_precision(ir::sequence_of(ir::lower(problem)), precision);
    float c = 0;
    ir::interpret(made, {a.data(), b.data(), &c}, {});
    return c;
  };
  const float near_one = 1 + std::ldexp(1.0F, -9);
  CHECK(result(Precision::operands, {near_one, 0}, {1, 0}) == near_one);
  CHECK(result(Precision::bf16, {near_one, 0}, {1, 0}) == 1);
  CHECK(result(Precision::f16, {near_one, 0}, {1, 0}) == near_one);
  const float large = std::ldexp(1.0F, 24);
  CHECK(result(Precision::operands, {large, 1}, {1, 1}) == large);
  CHECK(result(Precision::f64, {1e30F, 1}, {1e30F, 1e-30F}) == INFINITY);
  CHECK(result(Precision::f64, {large, -large}, {large, large}) == 0);
  CHECK(result(Precision::f64, {large + 2, -large}, {large + 2, large}) == 67108868.0F);
}

}  // namespace ir_precision_test
