// Einsums as one kernel: every role that an axis can have, against numbers that can be checked by hand or against loops
// that know nothing of programs. Messages are in tests/error.
#include "lower/einsum.hpp"

#include <complex>
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "ricci/error.hpp"

namespace ir_einsum_test {

using namespace ricci;
using namespace ricci::ir;

namespace {

using Values = std::vector<double>;

struct Operand {
  std::vector<std::int64_t> extents;
  Values values = {};  ///< empty: 1, 2, 3, ... for the first operand, 2, 3, ... for the second
};

std::int64_t elements(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// Dense f64: the result as one kernel, which the canonical form and the sequences of both paths must repeat. The
/// values are small whole numbers, so that no order of summation shows.
Values run(const std::string& spec, const std::vector<Operand>& operands, Values old = {}, Factor alpha = Factor::one,
           Factor beta = Factor::zero, const std::vector<Scalar>& factors = {}) {
  std::vector<Layout> layouts;
  std::vector<Values> values;
  for (const auto& operand : operands) {
    layouts.push_back(Layout::row_major(DType::f64, operand.extents));
    values.push_back(operand.values);
    if (!operand.values.empty()) continue;
    values.back().resize(static_cast<std::size_t>(elements(operand.extents)));
    std::iota(values.back().begin(), values.back().end(), static_cast<double>(values.size()));
  }
  EinsumProblem problem{Spec::parse(spec), layouts, result_row_major(Spec::parse(spec), layouts), alpha, beta};
  if (old.empty()) old.assign(static_cast<std::size_t>(problem.output.elements()), -77);
  std::vector<void*> buffers;
  for (auto& v : values) buffers.push_back(v.data());

  auto plain = old;
  buffers.push_back(plain.data());
  const auto program = lower(problem);
  interpret(program, buffers, factors);
  auto canonical = old;
  buffers.back() = canonical.data();
  const auto form = canonicalise(program);
  std::vector<void*> reordered;
  for (const int buffer : form.buffer) reordered.push_back(buffers[static_cast<std::size_t>(buffer)]);
  std::vector<Scalar> scalars;
  for (const int param : form.param) scalars.push_back(factors[static_cast<std::size_t>(param)]);
  interpret(form, reordered, scalars);
  CHECK(plain == canonical);
  for (const auto minimise : {PathOptions::Minimise::flops, PathOptions::Minimise::memory}) {
    const auto sequence = lower_einsum(problem, {minimise});
    verify(sequence);
    auto result = old;
    std::vector<std::vector<double>> workspace;
    auto storages = buffers;
    storages.back() = result.data();
    for (std::size_t k = storages.size(); k < sequence.storages.size(); ++k) {
      REQUIRE(sequence.storages[k].role == Role::workspace);
      workspace.emplace_back(static_cast<std::size_t>(sequence.storages[k].last + 1),
                             std::numeric_limits<double>::quiet_NaN());
      storages.push_back(workspace.back().data());
    }
    interpret(sequence, storages, factors);
    CHECK(plain == result);
  }
  return plain;
}

std::string value(const EinsumProblem& problem) {
  const auto text = print(lower(problem));
  const auto start = text.find("] = ") + 4;
  return text.substr(start, text.find('\n', start) - start);
}

EinsumProblem problem_of(const std::string& spec, std::vector<Layout> inputs, DType output) {
  auto result = result_row_major(Spec::parse(spec), inputs);
  result.type = output;
  return {Spec::parse(spec), std::move(inputs), result};
}

}  // namespace

TEST_CASE("a product of matrices") {
  // A = 1 2 3 / 4 5 6, B = 2 3 / 4 5 / 6 7
  CHECK(run("ik,kj->ij", {{{2, 3}}, {{3, 2}}}) == Values{28, 34, 64, 79});
  CHECK(run("ik,kj->ji", {{{2, 3}}, {{3, 2}}}) == Values{28, 64, 34, 79});
  CHECK(run("ik,kj", {{{2, 3}}, {{3, 2}}}) == Values{28, 34, 64, 79});
}

TEST_CASE("roles of axes in one operand") {
  CHECK(run("ij->i", {{{2, 3}}}) == Values{6, 15});
  CHECK(run("ij->", {{{2, 3}}}) == Values{21});
  CHECK(run("ii->i", {{{3, 3}}}) == Values{1, 5, 9});
  CHECK(run("ii->", {{{3, 3}}}) == Values{15});
  CHECK(run("ii", {{{3, 3}}}) == Values{15});
  CHECK(run("iji->j", {{{2, 2, 2}}}) == Values{1 + 6, 3 + 8});
  CHECK(run("iii->i", {{{2, 2, 2}}}) == Values{1, 8});
  CHECK(run("ijij->", {{{2, 2, 2, 2}}}) == Values{1 + 6 + 11 + 16});
  CHECK(run("ba", {{{2, 3}}}) == Values{1, 4, 2, 5, 3, 6});
}

TEST_CASE("roles of axes in two operands") {
  CHECK(run("i,j->ij", {{{2}}, {{2}}}) == Values{2, 3, 4, 6});           // outer
  CHECK(run("i,i->i", {{{3}}, {{3}}}) == Values{2, 6, 12});              // batch
  CHECK(run("bi,bi->b", {{{2, 2}}, {{2, 2}}}) == Values{8, 32});         // batch and contracted
  CHECK(run("ij,j->", {{{2, 2}}, {{2}}}) == Values{2 + 6 + 6 + 12});     // all summed
  CHECK(run("ij,jk->j", {{{2, 2}}, {{2, 2}}}) == Values{4 * 5, 6 * 9});  // i and k in one operand alone
  CHECK(run("ij,k->k", {{{2, 2}}, {{2}}}) == Values{20, 30});            // nothing in common
  CHECK(run("ii,i->i", {{{2, 2}}, {{2}}}) == Values{2, 12});             // a diagonal times a vector
  CHECK(run("ii,ij->j", {{{2, 2}}, {{2, 2}}}) == Values{2 + 16, 3 + 20});
  CHECK(run(",i->i", {{{}}, {{3}}}) == Values{2, 3, 4});  // a scalar
  CHECK(run(",->", {{{}}, {{}}}) == Values{2});
}

TEST_CASE("three and more operands") {
  CHECK(run("i,ij,j->", {{{2}}, {{2, 2}}, {{2}, {3, 4}}}) == Values{1 * (2 * 3 + 3 * 4) + 2 * (4 * 3 + 5 * 4)});
  CHECK(run("i,i,i->i", {{{2}}, {{2}}, {{2}, {3, 4}}}) == Values{1 * 2 * 3, 2 * 3 * 4});
  CHECK(run("i,i,i->", {{{2}}, {{2}}, {{2}, {3, 4}}}) == Values{6 + 24});  // one sum over three operands
  CHECK(run("ia,ib,ic->abc", {{{2, 1}}, {{2, 2}}, {{2, 1}, {3, 4}}}) ==
        Values{1 * 2 * 3 + 2 * 4 * 4, 1 * 3 * 3 + 2 * 5 * 4});
  CHECK(run("i,j,k->kji", {{{2}}, {{2}}, {{2}, {3, 4}}}) == Values{6, 12, 9, 18, 8, 16, 12, 24});
  CHECK(run("ab,cd,,b->bd", {{{2, 2}}, {{2, 2}}, {{}, {5}}, {{2}, {1, 2}}}) ==
        Values{4 * 1 * 5 * 6, 4 * 1 * 5 * 8, 6 * 2 * 5 * 6, 6 * 2 * 5 * 8});
  CHECK(run("aab,bcc,d->", {{{2, 2, 2}}, {{2, 2, 2}}, {{2}, {3, 4}}}) ==
        Values{7 * ((1 + 7) * (2 + 5) + (2 + 8) * (6 + 9))});
}

TEST_CASE("ellipses") {
  CHECK(run("...i->...", {{{2, 3}}}) == Values{6, 15});
  CHECK(run("...ij->...ji", {{{1, 2, 2}}}) == Values{1, 3, 2, 4});
  CHECK(run("i...->...i", {{{2, 3}}}) == Values{1, 4, 2, 5, 3, 6});
  // Extent 1 against 2, and no axis at all against two.
  CHECK(run("...i,...i->...", {{{1, 2}}, {{2, 2}}}) == Values{1 * 2 + 2 * 3, 1 * 4 + 2 * 5});
  CHECK(run("...,...", {{{2, 1}}, {{2}}}) == Values{2, 3, 4, 6});
  CHECK(run("...,...,...->...", {{{2, 1}}, {{2}}, {{1, 1}, {10}}}) == Values{20, 30, 40, 60});
  CHECK(run("i...,i...->...", {{{2}}, {{2, 2}}}) == Values{2 + 2 * 4, 3 + 2 * 5});
  CHECK(run("...->...", {{{}}}) == Values{1});
}

TEST_CASE("extents 0 and 1 in every role") {
  CHECK(run("ik,kj->ij", {{{1, 3}}, {{3, 1}}}) == Values{20});
  CHECK(run("ik,kj->ij", {{{2, 1}}, {{1, 2}}}) == Values{2, 3, 4, 6});
  CHECK(run("ik,kj->ij", {{{2, 0}}, {{0, 2}}}) == Values{0, 0, 0, 0});  // an empty sum is 0
  CHECK(run("ik,kj->ij", {{{0, 2}}, {{2, 3}}}).empty());
  CHECK(run("bi,bi->b", {{{1, 2}}, {{1, 2}}}) == Values{8});
  CHECK(run("bi,bi->b", {{{0, 2}}, {{0, 2}}}).empty());
  CHECK(run("ii->", {{{1, 1}}}) == Values{1});
  CHECK(run("ii->", {{{0, 0}}}) == Values{0});
  CHECK(run("ii->i", {{{0, 0}}}).empty());
  CHECK(run("ij->i", {{{2, 0}}}) == Values{0, 0});
  CHECK(run("ij->j", {{{1, 2}}}) == Values{1, 2});
  CHECK(run("i,j->ij", {{{0}}, {{2}}}).empty());
  CHECK(run("i,j->j", {{{0}}, {{2}}}) == Values{0, 0});
  CHECK(run("ij,jk,kl->il", {{{2, 2}}, {{2, 0}}, {{0, 2}}}) == Values{0, 0, 0, 0});
  CHECK(run("ij,jk,kl->il", {{{1, 1}}, {{1, 1}}, {{1, 1}, {3}}}) == Values{6});
  CHECK(run("...i,...i->...", {{{0, 2}}, {{1, 2}}}).empty());
  CHECK(run("...i->...", {{{2, 0}}}) == Values{0, 0});
}

TEST_CASE("factors") {
  const auto any = Factor::any, one = Factor::one, zero = Factor::zero;
  const std::vector<Operand> a{{{2, 2}}, {{2}}};  // 1 2 / 3 4 times 2 3: 8, 18
  CHECK(run("ij,j->i", a, {5, 7}, one, one) == Values{13, 25});
  CHECK(run("ij,j->i", a, {5, 7}, any, zero, {10}) == Values{80, 180});
  CHECK(run("ij,j->i", a, {5, 7}, any, any, {10, 100}) == Values{580, 880});
  CHECK(run("ij,j->i", a, {5, 7}, zero, any, {100}) == Values{500, 700});
  CHECK(run("ij,j->i", a, {5, 7}, zero, one) == Values{5, 7});
  CHECK(run("ij,j->i", a, {5, 7}, zero, zero) == Values{0, 0});
  // In a path the factors belong to the last step.
  CHECK(run("ij,j,k->i", {{{2, 2}}, {{2}}, {{2}, {1, 2}}}, {5, 7}, any, any, {10, 100}) ==
        Values{500 + 240, 700 + 540});
  CHECK(run("ij,j,k->i", {{{2, 2}}, {{2}}, {{2}, {1, 2}}}, {5, 7}, zero, any, {100}) == Values{500, 700});
  // A sum over nothing is 0: beta * C is what is left.
  CHECK(run("ij,j->i", {{{2, 0}}, {{0}}}, {5, 7}, any, any, {10, 100}) == Values{500, 700});
  CHECK(run("ij,j->i", {{{2, 0}}, {{0}}}, {5, 7}, one, one) == Values{5, 7});
}

TEST_CASE("a factor 0 hides what it multiplies") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(run("ij,j->i", {{{1, 2}, {nan, infinity}}, {{2}}}, {5}, Factor::any, Factor::any, {0, 2}) == Values{10});
  CHECK(run("ij,j->i", {{{1, 2}}, {{2}}}, {nan}, Factor::one, Factor::zero) == Values{8});
  CHECK(run("ij,j->i", {{{1, 2}}, {{2}}}, {nan}, Factor::any, Factor::any, {1, 0}) == Values{8});
}

TEST_CASE("operands lie in memory as they like, and so does the output") {
  // A = 1 2 3 / 4 5 6 from a buffer of 12, its columns backwards and two apart; B one number for all; C column-major
  // with a gap.
  const auto a = Layout::strided(DType::f64, {2, 3}, {6, -2});
  const auto b = Layout::strided(DType::f64, {3, 2}, {0, 0});
  const auto c = Layout::strided(DType::f64, {2, 2}, {1, 3});
  const auto program = lower({Spec::parse("ik,kj->ij"), {a, b}, c});
  CHECK(program.buffers[0].first == -4);
  CHECK(program.buffers[0].last == 6);
  CHECK(program.buffers[1].last == 0);
  Values av{3, -1, 2, -1, 1, -1, 6, -1, 5, -1, 4, -1}, bv{10}, cv(5, -7);
  interpret(program, {av.data() + 4, bv.data(), cv.data()}, {});
  CHECK(cv == Values{60, 150, -7, 60, 150});
}

TEST_CASE("what is computed in which type") {
  const auto dense = [](DType type, std::vector<std::int64_t> extents) {
    return Layout::row_major(type, std::move(extents));
  };
  const auto dot = [&](DType a, DType b, DType c) {
    return value(problem_of("i,i->", {dense(a, {3}), dense(b, {3})}, c));
  };
  CHECK(dot(DType::f64, DType::f64, DType::f64) == "sum(i : mul(A[i], B[i]))");
  CHECK(dot(DType::f32, DType::f32, DType::f32) == "sum(i : mul(A[i], B[i]))");
  CHECK(dot(DType::f16, DType::f16, DType::f16) == "f16(sum(i : mul(f32(A[i]), f32(B[i]))))");
  CHECK(dot(DType::bf16, DType::f16, DType::f32) == "sum(i : mul(f32(A[i]), f32(B[i])))");
  CHECK(dot(DType::f32, DType::f32, DType::f64) == "sum(i : mul(f64(A[i]), f64(B[i])))");
  CHECK(dot(DType::f64, DType::f32, DType::f32) == "f32(sum(i : mul(A[i], f64(B[i]))))");
  CHECK(dot(DType::i8, DType::i8, DType::i32) == "sum(i : mul(i32(A[i]), i32(B[i])))");
  CHECK(dot(DType::i8, DType::i8, DType::i8) == "sum(i : mul(A[i], B[i]))");
  CHECK(dot(DType::u8, DType::i64, DType::i64) == "sum(i : mul(i64(A[i]), B[i]))");
  // Real operands are multiplied with each other first, and stay real where all are.
  CHECK(dot(DType::c128, DType::f64, DType::c128) == "sum(i : mul(c128(B[i]), A[i]))");
  CHECK(dot(DType::f64, DType::f64, DType::c128) == "c128(sum(i : mul(A[i], B[i])))");
  CHECK(value(problem_of("i,i,i->", {dense(DType::f32, {3}), dense(DType::c64, {3}), dense(DType::f64, {3})},
                         DType::c128)) == "sum(i : mul(c128(mul(f64(A[i]), C[i])), c128(B[i])))");
  CHECK(value(problem_of("i->", {dense(DType::f16, {3})}, DType::f16)) == "f16(sum(i : f32(A[i])))");
  CHECK(value(problem_of("ii->i", {dense(DType::f16, {3, 3})}, DType::f16)) == "A[4*i]");
}

TEST_CASE("conjugation belongs to an operand") {
  auto problem =
      problem_of("i,i->", {Layout::row_major(DType::c64, {3}), Layout::row_major(DType::c64, {3})}, DType::c64);
  problem.conjugate = {true, false};
  CHECK(value(problem) == "sum(i : mul(conj(A[i]), B[i]))");
  problem.conjugate = {true};
  CHECK(value(problem) == "sum(i : mul(conj(A[i]), B[i]))");
  problem.conjugate = {false, true};
  CHECK(value(problem) == "sum(i : mul(A[i], conj(B[i])))");
  auto real = problem_of("i,i->", {Layout::row_major(DType::f32, {3}), Layout::row_major(DType::c64, {3})}, DType::c64);
  real.conjugate = {true, true};
  CHECK(value(real) == "sum(i : mul(c64(A[i]), conj(B[i])))");
}

TEST_CASE("only what is not merely moved may be fused") {
  const auto matrix = Layout::row_major(DType::f64, {3, 3});
  CHECK(lower(problem_of("ij->ji", {matrix}, DType::f64)).exact);
  CHECK(lower(problem_of("ii->i", {matrix}, DType::f64)).exact);
  CHECK_FALSE(lower(problem_of("ij->i", {matrix}, DType::f64)).exact);
  CHECK_FALSE(lower(problem_of("ij,ij->ij", {matrix, matrix}, DType::f64)).exact);
  // A sum over one value is none.
  CHECK(lower(problem_of("ij->i", {Layout::row_major(DType::f64, {3, 1})}, DType::f64)).exact);
}

TEST_CASE("axes of an einsum may have the names of buffers and factors") {
  const auto matrix = Layout::row_major(DType::f64, {3, 3});
  const auto program = lower({Spec::parse("A B, B C_ -> A C_"), {matrix, matrix}, matrix, Factor::any, Factor::any});
  CHECK(program.indices[0].name == "A_");
  CHECK(program.indices[2].name == "B_");
  CHECK_NOTHROW(lower({Spec::parse("A A_ alpha, C -> C A_"),
                       {Layout::row_major(DType::f64, {2, 2, 2}), Layout::row_major(DType::f64, {2})},
                       Layout::row_major(DType::f64, {2, 2}),
                       Factor::any}));
}

TEST_CASE("the type of a result that is to be made") {
  const auto type = [](DType a, DType b) {
    return result_row_major(Spec::parse("i,i->i"), {Layout::row_major(a, {3}), Layout::row_major(b, {3})}).type;
  };
  CHECK(type(DType::f16, DType::f16) == DType::f16);
  CHECK(type(DType::f16, DType::bf16) == DType::f32);
  CHECK(type(DType::f32, DType::c64) == DType::c64);
  CHECK(type(DType::c64, DType::f64) == DType::c128);
  CHECK(type(DType::i8, DType::i32) == DType::i32);
  CHECK(type(DType::i16, DType::u8) == DType::i16);
  CHECK(type(DType::u8, DType::i8) == DType::i16);
  CHECK(type(DType::i64, DType::u64) == DType::f64);
  CHECK(type(DType::f32, DType::i64) == DType::f64);
  CHECK(type(DType::i32, DType::c64) == DType::c128);
  const auto shape = [](const char* spec, std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    return result_row_major(Spec::parse(spec), {Layout::row_major(DType::f64, a), Layout::row_major(DType::f64, b)})
        .extents;
  };
  CHECK(shape("...i,...j->...ij", {3, 1, 4}, {2, 5}) == std::vector<std::int64_t>{3, 2, 4, 5});
  CHECK(shape("i...,...i", {4, 0}, {1, 4}) == std::vector<std::int64_t>{0});
}

TEST_CASE("loops past 2^62 points are refused") {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  const auto vector = Layout::strided(DType::f64, {large}, {0});
  CHECK_THROWS_AS(lower({Spec::parse("i,j->"), {vector, vector}, Layout::row_major(DType::f64, {})}), ShapeError);
}

}  // namespace ir_einsum_test
