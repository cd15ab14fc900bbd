// Each pass as what it is: a function of a program. And what they are for: equal problems, equal text.
#include "ir/passes/canonical.hpp"

#include <cstring>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "programs.hpp"

namespace ir_canonical_test {

using namespace ricci;
using namespace ricci::ir;
using ir::Program;
using ricci::test::canonical;
using ricci::test::dense;
using ricci::test::lowered;
using ricci::test::problem_of;

namespace {

Program run(const char* pass, Program program) {
  for (const auto& candidate : canonical_passes()) {
    if (std::string(candidate.name) == pass) {
      program = candidate.run(std::move(program));
      verify(program);
      return program;
    }
  }
  FAIL("no pass is called " << pass);
  return program;
}

/// The passes from the first up to and including `last`.
Program run_to(const char* last, Program program) {
  for (const auto& pass : canonical_passes()) {
    program = pass.run(std::move(program));
    if (std::string(pass.name) == last) return program;
  }
  FAIL("no pass is called " << last);
  return program;
}

std::string indices(const Program& program) {
  std::string text;
  for (const auto& index : program.indices) {
    text += (text.empty() ? "" : " ") + index.name + "=" + std::to_string(index.extent);
  }
  return text;
}

std::string statement(const Program& program) {
  const auto text = print(program);
  const auto line = text.rfind('\n', text.size() - 2);
  return text.substr(line + 1, text.size() - line - 2);
}

}  // namespace

TEST_CASE("the passes and their order") {
  std::vector<std::string> names;
  for (const auto& pass : canonical_passes()) names.emplace_back(pass.name);
  CHECK(names == std::vector<std::string>{"drop unit indices", "share equal nodes", "join sums", "orient output",
                                          "order by output", "merge adjacent", "copy bits", "sort operands", "number",
                                          "rename"});
}

TEST_CASE("drop unit indices") {
  const auto program = run("drop unit indices", lowered(dense("abcd->dcba", {1, 3, 1, 4})));
  CHECK(indices(program) == "d=4 b=3");
  CHECK(statement(program) == "B[3*d + b] = A[d + 4*b]");
  CHECK(indices(run("drop unit indices", lowered(dense("ab->ba", {1, 1})))).empty());
  // A unit axis may have any stride: it goes without a trace.
  const auto odd =
      problem_of("ab->ab", Layout::strided(DType::f64, {1, 4}, {777, 1}), Layout::strided(DType::f64, {1, 4}, {-5, 1}));
  CHECK(statement(run("drop unit indices", lowered(odd))) == "B[b] = A[b]");
}

TEST_CASE("orient output: negative strides of the output turn both sides around") {
  const auto program = run("orient output", lowered(problem_of("ab->ab", Layout::row_major(DType::f64, {3, 4}),
                                                               Layout::strided(DType::f64, {3, 4}, {-4, 1}))));
  CHECK(statement(program) == "B[4*a + b - 8] = A[-4*a + b + 8]");
  const auto input = lowered(
      problem_of("ab->ab", Layout::strided(DType::f64, {3, 4}, {-4, 1}), Layout::row_major(DType::f64, {3, 4})));
  CHECK(print(run("orient output", input)) == print(input));
}

TEST_CASE("order by output: slowest first") {
  const auto program = run("order by output", lowered(problem_of("abc->abc", Layout::row_major(DType::f64, {2, 3, 4}),
                                                                 Layout::column_major(DType::f64, {2, 3, 4}))));
  CHECK(indices(program) == "c=4 b=3 a=2");
  CHECK(statement(program) == "B[6*c + 2*b + a] = A[c + 4*b + 12*a]");
}

TEST_CASE("merge adjacent") {
  SECTION("neighbours on both sides become one, named after both") {
    const auto program = run_to("merge adjacent", lowered(dense("abcd->cdab", {2, 3, 4, 5})));
    CHECK(indices(program) == "c.d=20 a.b=6");
    CHECK(statement(program) == "B[6*c.d + a.b] = A[c.d + 20*a.b]");
  }
  SECTION("a dense copy is one index") {
    CHECK(indices(run_to("merge adjacent", lowered(dense("abcd->abcd", {2, 3, 4, 5})))) == "a.b.c.d=120");
  }
  SECTION("only when both sides agree") {
    // Padded rows of the input.
    const auto padded = lowered(
        problem_of("ab->ab", Layout::strided(DType::f64, {3, 4}, {6, 1}), Layout::row_major(DType::f64, {3, 4})));
    CHECK(indices(run_to("merge adjacent", padded)) == "a=3 b=4");
    // Padded rows of the output.
    const auto other = lowered(
        problem_of("ab->ab", Layout::row_major(DType::f64, {3, 4}), Layout::strided(DType::f64, {3, 4}, {6, 1})));
    CHECK(indices(run_to("merge adjacent", other)) == "a=3 b=4");
    // Both padded alike.
    const auto both = lowered(problem_of("abc->abc", Layout::strided(DType::f64, {3, 4, 5}, {24, 6, 1}),
                                         Layout::strided(DType::f64, {3, 4, 5}, {24, 6, 1})));
    CHECK(indices(run_to("merge adjacent", both)) == "a.b=12 c=5");
    // One of them backwards.
    const auto backwards = lowered(
        problem_of("ab->ab", Layout::strided(DType::f64, {3, 4}, {4, -1}), Layout::row_major(DType::f64, {3, 4})));
    CHECK(indices(run_to("merge adjacent", backwards)) == "a=3 b=4");
  }
  SECTION("both backwards on the input") {
    const auto program = lowered(
        problem_of("ab->ab", Layout::strided(DType::f64, {3, 4}, {-4, -1}), Layout::row_major(DType::f64, {3, 4})));
    CHECK(indices(run_to("merge adjacent", program)) == "a.b=12");
    CHECK(statement(run_to("merge adjacent", program)) == "B[a.b] = A[-a.b]");
  }
  SECTION("broadcasts merge with each other alone") {
    const auto program = lowered(problem_of("abc->abc", Layout::strided(DType::f64, {3, 4, 5}, {0, 0, 1}),
                                            Layout::row_major(DType::f64, {3, 4, 5})));
    CHECK(indices(run_to("merge adjacent", program)) == "a.b=12 c=5");
    CHECK(statement(run_to("merge adjacent", program)) == "B[5*a.b + c] = A[c]");
  }
  SECTION("B that is read counts too, and never disagrees") {
    auto problem = dense("abcd->cdab", {2, 3, 4, 5});
    problem.beta = Factor::one;
    CHECK(indices(run_to("merge adjacent", lowered(problem))) == "c.d=20 a.b=6");
  }
}

TEST_CASE("names that merging makes are unique, whatever the user's are") {
  for (const auto* spec : {"A B alpha beta -> alpha beta A B", "B A_ A beta -> A beta B A_"}) {
    auto problem = dense(spec, {2, 3, 4, 5});
    problem.alpha = problem.beta = Factor::any;
    auto program = lowered(problem);
    for (const auto& pass : canonical_passes()) {
      INFO(spec << ": " << pass.name);
      program = pass.run(std::move(program));
      CHECK_NOTHROW(verify(program));
    }
  }
}

TEST_CASE("copy bits: movement knows sizes, not types") {
  const auto type_after = [](DType type, bool conjugate) {
    auto problem = dense("ab->ba", {3, 4}, type);
    problem.conjugate = {conjugate};
    return run("copy bits", lowered(problem)).buffers[0].type;
  };
  CHECK(type_after(DType::i8, false) == DType::u8);
  CHECK(type_after(DType::bf16, false) == DType::u16);
  CHECK(type_after(DType::f32, false) == DType::u32);
  CHECK(type_after(DType::f64, false) == DType::u64);
  CHECK(type_after(DType::c64, false) == DType::u64);
  CHECK(type_after(DType::c128, false) == DType::c128);
  CHECK(type_after(DType::c64, true) == DType::c64);
  CHECK(type_after(DType::f64, true) == DType::u64);
  auto scaled = dense("ab->ba", {3, 4});
  scaled.alpha = Factor::any;
  CHECK(run("copy bits", lowered(scaled)).buffers[0].type == DType::f64);
  const auto converted = problem_of("a->a", Layout::row_major(DType::f64, {3}), Layout::row_major(DType::f32, {3}));
  CHECK(run("copy bits", lowered(converted)).buffers[1].type == DType::f32);
}

TEST_CASE("rename: the input reads abc") {
  CHECK(statement(run("rename", lowered(dense("xyz->zxy", {2, 3, 4})))) == "B[6*c + 3*a + b] = A[c + 12*a + 4*b]");
  // 32 axes of extent 2, reversed, so that nothing merges; spread wide enough that all fit.
  std::string in, out;
  for (int k = 0; k < kMaxRank; ++k) in += " x" + std::to_string(k);
  for (int k = kMaxRank; k-- > 0;) out += " x" + std::to_string(k);
  const auto program = canonical(dense(in + "->" + out, std::vector<std::int64_t>(kMaxRank, 2)));
  REQUIRE(program.indices.size() == kMaxRank);
  std::set<std::string> names;
  for (const auto& index : program.indices) names.insert(index.name);
  CHECK(names.size() == kMaxRank);
  CHECK(names.count("z") == 1);
  CHECK(names.count("af") == 1);
}

TEST_CASE("problems that are the same become the same text") {
  const auto text = [](const EinsumProblem& problem) { return print(canonical(problem)); };
  const auto reference = text(dense("ab->ba", {6, 20}));
  CHECK(text(dense("xy->yx", {6, 20})) == reference);
  CHECK(text(dense("row column -> column row", {6, 20})) == reference);
  CHECK(text(dense("abcd->cdab", {2, 3, 4, 5})) == reference);
  CHECK(text(dense("aubvc->cvaub", {6, 1, 4, 1, 5})) != reference);
  CHECK(text(dense("aubvcw->bvcwau", {6, 1, 4, 1, 5, 1})) == reference);
  CHECK(text(dense("ab->ba", {6, 20}, DType::i64)) == reference);
  CHECK(text(dense("ab->ba", {6, 20}, DType::c64)) == reference);
  CHECK(text(dense("ab->ba", {6, 20}, DType::f32)) != reference);
  CHECK(text(dense("ab->ba", {20, 6})) != reference);
  // Column-major both sides of the opposite spec.
  CHECK(text(problem_of("ba->ab", Layout::column_major(DType::f64, {20, 6}),
                        Layout::column_major(DType::f64, {6, 20}))) == reference);
  // The same axis backwards on both sides, seen from the other end: another base, so another kernel.
  const auto backwards = problem_of("ab->ba", Layout::strided(DType::f64, {6, 20}, {-20, 1}),
                                    Layout::strided(DType::f64, {20, 6}, {6, -1}));
  CHECK(text(backwards) != reference);
  const auto reversed = canonical(backwards);
  CHECK(statement(reversed) == "B[6*b + a - 5] = A[b + 20*a - 100]");
}

TEST_CASE("the trace shows the program after each pass") {
  std::string trace;
  const auto program = canonicalise(lowered(dense("ab->ba", {6, 20})), &trace);
  CHECK(trace.find("-- as written\nindex b = 20\n") == 0);
  CHECK(trace.find("-- after \"drop unit indices\" (unchanged)\n") != std::string::npos);
  CHECK(trace.find("-- after \"copy bits\"\n" + print(program)) != std::string::npos);
  CHECK(trace.find("-- after \"rename\" (unchanged)\n") != std::string::npos);
}

TEST_CASE("no pass changes what a program computes") {
  for (std::uint64_t seed = 7000; seed < 7200; ++seed) {
    auto problem = fuzz::random_problem(seed, {400, 8});
    INFO(problem.text());
    const auto expected = fuzz::expected(problem);
    auto program = lower(problem.problem());
    const auto before = problem.b;
    for (const auto& pass : canonical_passes()) {
      program = pass.run(std::move(program));
      INFO(pass.name);
      std::vector<Scalar> factors;
      for (const auto& param : program.params) {
        factors.push_back(param.name == "alpha" ? problem.alpha : problem.beta);
      }
      problem.b = before;
      interpret(program, {problem.a.element_0(), problem.b.element_0()}, factors);
      const bool equal = problem.b == expected;
      REQUIRE(equal);
    }
  }
}

}  // namespace ir_canonical_test
