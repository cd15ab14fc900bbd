// Problems: which are sound, and the programs that they become. Messages are in tests/error.
#include "frontend/problem.hpp"

#include <iterator>
#include <limits>
#include <string>

#include "catch.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace ir_problem_test {

using namespace ricci;
using namespace ricci::ir;
using ricci::test::dense;
using ricci::test::lowered;
using ricci::test::problem_of;

TEST_CASE("a permutation becomes one statement in the output's order") {
  CHECK(print(lowered(dense("abc->cab", {2, 3, 4}, DType::f32))) ==
        "index c = 4\n"
        "index a = 2\n"
        "index b = 3\n"
        "input A : f32 [0..23] align 16\n"
        "output B : f32 [0..23] align 16\n"
        "B[6*c + 3*a + b] = A[c + 12*a + 4*b]\n");
}

TEST_CASE("rank 0") {
  CHECK(print(lowered(dense("->", {}, DType::i16))) ==
        "input A : i16 [0..0] align 16\noutput B : i16 [0..0] align 16\nB[0] = A[0]\n");
}

TEST_CASE("factors, conjugation and conversion are nodes, and only where they do something") {
  const auto value = [](DType from, DType to, Factor alpha, Factor beta, bool conjugate) {
    const auto text = print(
        lowered(problem_of("a->a", Layout::row_major(from, {3}), Layout::row_major(to, {3}), alpha, beta, conjugate)));
    return text.substr(text.find("] = ") + 4);
  };
  const auto one = Factor::one, zero = Factor::zero, any = Factor::any;
  CHECK(value(DType::f64, DType::f64, one, zero, false) == "A[a]\n");
  CHECK(value(DType::f64, DType::f64, one, zero, true) == "A[a]\n");
  CHECK(value(DType::c64, DType::c64, one, zero, true) == "conj(A[a])\n");
  CHECK(value(DType::f64, DType::f64, any, zero, false) == "scale(alpha, A[a])\n");
  CHECK(value(DType::f64, DType::f64, one, one, false) == "add(A[a], B[a])\n");
  CHECK(value(DType::f64, DType::f64, any, any, false) == "add(scale(alpha, A[a]), scale(beta, B[a]))\n");
  CHECK(value(DType::i8, DType::i8, any, one, false) == "add(scale(alpha, A[a]), B[a])\n");
  CHECK(value(DType::f64, DType::f16, one, zero, false) == "f16(A[a])\n");
  CHECK(value(DType::f16, DType::f16, one, zero, false) == "A[a]\n");
  CHECK(value(DType::f16, DType::f16, any, zero, false) == "f16(scale(alpha, f32(A[a])))\n");
  CHECK(value(DType::bf16, DType::f16, one, one, false) == "f16(add(f32(A[a]), f32(B[a])))\n");
  CHECK(value(DType::f32, DType::c128, any, zero, false) == "scale(alpha, c128(A[a]))\n");
  CHECK(value(DType::c64, DType::c128, one, zero, true) == "c128(conj(A[a]))\n");
}

TEST_CASE("factors have the type that is computed in") {
  CHECK(compute_type(DType::i8, DType::i8) == DType::i8);
  CHECK(compute_type(DType::u64, DType::u64) == DType::u64);
  CHECK(compute_type(DType::f16, DType::f16) == DType::f32);
  CHECK(compute_type(DType::f16, DType::bf16) == DType::f32);
  CHECK(compute_type(DType::f64, DType::f16) == DType::f64);
  CHECK(compute_type(DType::f32, DType::f64) == DType::f64);
  CHECK(compute_type(DType::bf16, DType::c64) == DType::c64);
  CHECK(compute_type(DType::f64, DType::c64) == DType::c128);
  CHECK(compute_type(DType::c64, DType::c128) == DType::c128);
  CHECK(compute_type(DType::i32, DType::f32) == DType::f64);  // 24 bits would not hold it
  CHECK(compute_type(DType::i16, DType::f16) == DType::f32);
  CHECK(compute_type(DType::u8, DType::f16) == DType::f32);
  CHECK(compute_type(DType::u64, DType::c64) == DType::c128);
  CHECK(compute_type(DType::u8, DType::i64) == DType::i64);
  const auto program = lowered(problem_of("a->a", Layout::row_major(DType::f16, {3}),
                                          Layout::row_major(DType::f64, {3}), Factor::any, Factor::any));
  REQUIRE(program.params.size() == 2);
  CHECK(program.params[0].name == "alpha");
  CHECK(program.params[1].name == "beta");
  CHECK(program.params[0].type == DType::f64);
  CHECK(program.params[1].type == DType::f64);
}

TEST_CASE("two types meet in NumPy's") {
  // numpy.promote_types of NumPy 2.4; run.numpy_oracle asks the NumPy that is installed.
  static constexpr const char* kTypes[] = {"i8",  "i16", "i32", "i64", "u8",  "u16", "u32",
                                           "u64", "f16", "f32", "f64", "c64", "c128"};
  static constexpr const char* kTable[][14] = {
      {"i8", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f16", "f32", "f64", "c64", "c128"},
      {"i16", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f32", "f32", "f64", "c64", "c128"},
      {"i32", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "f64", "f64", "f64", "f64", "c128", "c128"},
      {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "f64", "f64", "f64", "f64", "c128", "c128"},
      {"u8", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "c64", "c128"},
      {"u16", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "f32", "f32", "f64", "c64", "c128"},
      {"u32", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "f64", "f64", "f64", "c128", "c128"},
      {"u64", "f64", "f64", "f64", "f64", "u64", "u64", "u64", "u64", "f64", "f64", "f64", "c128", "c128"},
      {"f16", "f16", "f32", "f64", "f64", "f16", "f32", "f64", "f64", "f16", "f32", "f64", "c64", "c128"},
      {"f32", "f32", "f32", "f64", "f64", "f32", "f32", "f64", "f64", "f32", "f32", "f64", "c64", "c128"},
      {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128"},
      {"c64", "c64", "c64", "c128", "c128", "c64", "c64", "c128", "c128", "c64", "c64", "c128", "c64", "c128"},
      {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128"},
  };
  for (const auto& row : kTable) {
    for (std::size_t k = 0; k < std::size(kTypes); ++k) {
      INFO(row[0] << " and " << kTypes[k]);
      CHECK(std::string(name(promoted(parse_dtype(row[0]), parse_dtype(kTypes[k])))) == row[k + 1]);
    }
  }
  CHECK(promoted(DType::bf16, DType::bf16) == DType::bf16);
  CHECK(promoted(DType::bf16, DType::i8) == DType::bf16);
  CHECK(promoted(DType::u16, DType::bf16) == DType::f32);
  CHECK(promoted(DType::bf16, DType::i32) == DType::f64);
  CHECK(promoted(DType::bf16, DType::f16) == DType::f32);
  CHECK(promoted(DType::bf16, DType::c64) == DType::c64);
}

TEST_CASE("several types meet in any order, floats first") {
  CHECK(result_type({DType::u64}) == DType::u64);
  CHECK(result_type({DType::u8, DType::i8, DType::f16}) == DType::f16);
  CHECK(result_type({DType::i16, DType::f32, DType::u16}) == DType::f32);
  CHECK(result_type({DType::i8, DType::u8, DType::u16}) == DType::i32);
  CHECK(result_type({DType::i32, DType::c64, DType::f16}) == DType::c128);
}

TEST_CASE("what kind a factor is") {
  CHECK(factor_of(0) == Factor::zero);
  CHECK(factor_of(-0.0) == Factor::zero);
  CHECK(factor_of(1) == Factor::one);
  CHECK(factor_of(-1) == Factor::any);
  CHECK(factor_of({1, 1}) == Factor::any);
  CHECK(factor_of(std::numeric_limits<double>::quiet_NaN()) == Factor::any);
}

TEST_CASE("axes may have the names of buffers and factors") {
  const auto program =
      lowered(problem_of("A B alpha beta -> beta alpha B A", Layout::row_major(DType::f64, {2, 3, 4, 5}),
                         Layout::row_major(DType::f64, {5, 4, 3, 2}), Factor::any, Factor::any));
  CHECK_NOTHROW(verify(program));
  CHECK(program.indices[0].name == "beta_");
}

TEST_CASE("a name made free for a buffer does not take another axis' name") {
  const auto program = lowered(dense("A A_ A__ alpha alpha_ -> alpha_ alpha A__ A_ A", {2, 3, 4, 5, 6}));
  CHECK_NOTHROW(verify(program));
}

TEST_CASE("buffers know what the accesses reach") {
  const auto program = lowered(
      problem_of("ab->ba", Layout::strided(DType::f64, {3, 4}, {-10, 2}), Layout::strided(DType::f64, {4, 3}, {5, 1})));
  CHECK(program.buffers[0].first == -20);
  CHECK(program.buffers[0].last == 6);
  CHECK(program.buffers[1].first == 0);
  CHECK(program.buffers[1].last == 17);
}

TEST_CASE("a promised alignment is at least the element's size") {
  auto input = Layout::row_major(DType::c128, {4});
  input.alignment = 0;
  auto output = input;
  output.alignment = 64;
  const auto program = lowered(problem_of("a->a", input, output));
  CHECK(program.buffers[0].alignment == 16);
  CHECK(program.buffers[1].alignment == 64);
}

TEST_CASE("an empty tensor is a problem like any other") {
  const auto program = lowered(dense("abc->cab", {3, 0, 5}));
  CHECK(program.points() == 0);
  CHECK_NOTHROW(verify(program));
  CHECK_NOTHROW(interpret(program, {nullptr, nullptr}, {}));
}

TEST_CASE("outputs whose elements overlap") {
  const auto refused = [](std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
    const auto output = Layout::strided(DType::f64, extents, std::move(strides));
    std::string spec = "abcdef";
    spec.resize(extents.size());
    try {
      check_permutation(problem_of(spec + "->" + spec, Layout::row_major(DType::f64, std::move(extents)), output));
    } catch (const ShapeError&) {
      return true;
    }
    return false;
  };
  CHECK_FALSE(refused({3, 4}, {4, 1}));
  CHECK_FALSE(refused({3, 4}, {1, 3}));
  CHECK_FALSE(refused({3, 4}, {-4, -1}));
  CHECK_FALSE(refused({1, 4}, {0, 1}));  // one value of a stride that goes nowhere
  CHECK_FALSE(refused({0, 4}, {0, 0}));  // nothing is written
  CHECK_FALSE(refused({2, 3}, {3, 2}));  // 0 2 4 3 5 7: interleaved, found by listing
  CHECK(refused({3, 4}, {3, 1}));
  CHECK(refused({2, 3}, {4, 2}));  // 0 2 4 4 6 8
  CHECK(refused({3, 4}, {0, 1}));
  CHECK(refused({4}, {0}));
  CHECK(refused({3, 4}, {4, -2}));  // 0 -2 -4 -6 4 2 0
  // Too many to list, and not plainly apart: refused although 2 i + 3 j with j < 2 never meets.
  CHECK(refused({2, 1 << 20}, {3, 2}));
}

TEST_CASE("which types convert") {
  const auto allowed = [](DType from, DType to) {
    try {
      check_permutation(problem_of("a->a", Layout::row_major(from, {3}), Layout::row_major(to, {3})));
    } catch (const ShapeError&) {
      return false;
    }
    return true;
  };
  for (int from = 0; from < kDTypeCount; ++from) {
    for (int to = 0; to < kDTypeCount; ++to) {
      const auto x = static_cast<DType>(from), y = static_cast<DType>(to);
      INFO(name(x) << " to " << name(y));
      const bool floats = !is_integer(x) && !is_integer(y);
      CHECK(allowed(x, y) == (x == y || (floats && (is_complex(y) || !is_complex(x)))));
    }
  }
}

TEST_CASE("the output's extents follow the spec") {
  const auto output = permuted_row_major(Spec::parse("abc->cab"), Layout::column_major(DType::i16, {2, 3, 4}));
  CHECK(output.extents == std::vector<std::int64_t>{4, 2, 3});
  CHECK(output.strides == std::vector<std::int64_t>{6, 3, 1});
  CHECK(output.type == DType::i16);
}

TEST_CASE("32 axes are allowed") {
  std::string in, out;
  for (int k = 0; k < kMaxRank; ++k) in += " x" + std::to_string(k);
  for (int k = kMaxRank; k-- > 0;) out += " x" + std::to_string(k);
  std::vector<std::int64_t> extents(kMaxRank, 1);
  extents[3] = 2;
  extents[29] = 3;
  CHECK_NOTHROW(verify(lowered(dense(in + "->" + out, extents))));
}

}  // namespace ir_problem_test
