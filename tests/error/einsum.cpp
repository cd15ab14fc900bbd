// What is refused of an einsum, by type and by text: the spec's, the shapes' and the types' own faults, with carets.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "lower/einsum.hpp"
#include "ricci/error.hpp"

namespace einsum_test {

using namespace ricci;
using namespace ricci::ir;

namespace {

std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name(error.code()), error.what());
  }
  return "nothing";
}

Layout f64(std::vector<std::int64_t> extents) { return Layout::row_major(DType::f64, std::move(extents)); }
Layout of_type(DType type) { return Layout::row_major(type, {3}); }

struct Row {
  const char* spec;
  std::vector<Layout> inputs;
  Layout output;
  const char* text;
};

}  // namespace

TEST_CASE("einsums that are refused") {
  const Row rows[] = {
      // the spec
      {"ij,jk->il",
       {f64({2, 3}), f64({3, 4})},
       f64({2, 4}),
       "spec: output axis l is not an axis of any operand\n  ij,jk->il\n          ^"},
      {"ij->k", {f64({2, 3})}, f64({4}), "spec: output axis k is not an axis of the input\n  ij->k\n      ^"},
      {"ij,jk->iki",
       {f64({2, 3}), f64({3, 4})},
       f64({2, 4, 2}),
       "spec: axis i appears twice in the output; an output has one place for each axis\n  ij,jk->iki\n         ^ ^"},
      {"ij,jk->ik", {f64({2, 3})}, f64({2, 4}), "shape: the spec has 2 operands, but 1 tensor was given\n  ij,jk->ik"},
      {"ij->ij",
       {f64({2, 3}), f64({3, 4})},
       f64({2, 3}),
       "shape: the spec has 1 operand, but 2 tensors were given\n  ij->ij"},
      // ellipses
      {"...ij,jk->ik",
       {f64({5, 6, 2, 3}), f64({3, 4})},
       f64({2, 4}),
       "spec: '...' stands for 2 axes, but the output has no '...' to hold them; write it there, or name what is to be "
       "summed over\n  ...ij,jk->ik\n  ^"},
      {"i...,jk...->...i",
       {f64({2, 3}), f64({3})},
       f64({3, 2}),
       "shape: the spec names 2 axes of operand B beside '...', but it has 1 in all\n  i...,jk...->...i\n         ^"},
      {"...i,...i->...",
       {f64({4, 2}), f64({5, 3, 2})},
       f64({5, 4}),
       "shape: axis 1 of '...' has extent 4 in operand A but 3 in operand B\n  ...i,...i->...\n  ^    ^\n"
       "shapes (4, 2) and (5, 3, 2); axes of '...' must agree, but for operands with extent 1"},
      {"...i->...",
       {f64({1, 2})},
       f64({3}),
       "shape: axis 0 of '...' has extent 1 in the input but 3 in the output\n  ...i->...\n  ^     ^\n"
       "shapes (1, 2) and (3); axes of '...' must agree, but for operands with extent 1"},
      {"...,...->...",
       {f64({3}), f64({1})},
       f64({1}),
       "shape: axis 0 of '...' has extent 3 in operand A but 1 in the output\n  ...,...->...\n  ^        ^\n"
       "shapes (3) and (1); axes of '...' must agree, but for operands with extent 1"},
      // extents
      {"ij,jk->ik",
       {f64({2, 3}), f64({5, 4})},
       f64({2, 4}),
       "shape: axis j has extent 3 in operand A but 5 in operand B\n  ij,jk->ik\n   ^ ^\n"
       "shapes (2, 3) and (5, 4); axes with one name must agree"},
      {"ij,jk->ik",
       {f64({2, 1}), f64({3, 4})},  // a named axis does not broadcast
       f64({2, 4}),
       "shape: axis j has extent 1 in operand A but 3 in operand B\n  ij,jk->ik\n   ^ ^\n"
       "shapes (2, 1) and (3, 4); axes with one name must agree"},
      {"ij,jk->ik",
       {f64({2, 3}), f64({3, 4})},
       f64({2, 5}),
       "shape: axis k has extent 4 in operand B but 5 in the output\n  ij,jk->ik\n      ^   ^\n"
       "shapes (3, 4) and (2, 5); axes with one name must agree"},
      {"iji->j",
       {f64({2, 3, 4})},
       f64({3}),
       "shape: axis i has extents 2 and 4 in the input\n  iji->j\n  ^ ^\n"
       "shape (2, 3, 4); an axis that is repeated has one extent"},
      {"ij,jk->ik",
       {f64({2, 3, 4}), f64({3, 4})},
       f64({2, 4}),
       "shape: the spec gives operand A 2 axes, its layout has 3: extents (2, 3, 4)\n  ij,jk->ik"},
      {"ij,jk->ik",
       {f64({2, 3}), {DType::f64, {3, -4}, {4, 1}}},
       f64({2, 4}),
       "shape: axis k of operand B has extent -4; extents start at 0\n  ij,jk->ik\n      ^"},
      {"ij,jk->ik",
       {f64({2, 3}), {DType::f64, {3, 4}, {4}}},
       f64({2, 4}),
       "shape: the layout of operand B has 2 extents but 1 strides"},
      {"ij,jk->ik",
       {f64({2, 3}), {DType::f64, {3, 4}, {4, 1}, 24}},
       f64({2, 4}),
       "shape: the layout of operand B promises an alignment of 24 bytes; it must be 0 or a power of two"},
      {"ij,jk->ik",
       {f64({2, 3}), {DType::f64, {3, 4}, {std::int64_t{1} << 58, 1}}},
       f64({2, 4}),
       "shape: operand B reaches past 2^58 elements at axis j (extent 3, stride 288230376151711744)\n  ij,jk->ik\n     "
       "^"},
      // the output's places
      {"ij,jk->ik",
       {f64({2, 3}), f64({3, 4})},
       {DType::f64, {2, 4}, {0, 1}},
       "shape: axis i of the output has stride 0 and extent 2: its elements would be written 2 times\n  ij,jk->ik\n"
       "         ^"},
      {"ij,jk->ik",
       {f64({2, 3}), f64({3, 4})},
       {DType::f64, {2, 4}, {3, 1}},
       "shape: elements of the output overlap: extents (2, 4), strides (3, 1); give each index point an element of its "
       "own\n  ij,jk->ik"},
      // types
      {"i,i->i",
       {of_type(DType::f64), of_type(DType::c64)},
       of_type(DType::f64),
       "shape: no conversion from c64 (operand B) to f64 (the output); integers go into floats, into integers "
       "that hold all their values and into those of 64 bits, real and complex floats into complex ones, real floats "
       "into "
       "real ones"},
      {"i,i->i",
       {of_type(DType::i64), of_type(DType::f64)},
       of_type(DType::i64),
       "shape: no conversion from f64 (operand B) to i64 (the output); integers go into floats, into integers "
       "that hold all their values and into those of 64 bits, real and complex floats into complex ones, real floats "
       "into "
       "real ones"},
      {"i->",
       {of_type(DType::i32)},
       Layout::row_major(DType::i16, {}),
       "shape: no conversion from i32 (the input) to i16 (the output); integers go into floats, into integers "
       "that hold all their values and into those of 64 bits, real and complex floats into complex ones, real floats "
       "into "
       "real ones"},
      {"i->",
       {of_type(DType::i8)},
       Layout::row_major(DType::u32, {}),
       "shape: no conversion from i8 (the input) to u32 (the output); integers go into floats, into integers "
       "that hold all their values and into those of 64 bits, real and complex floats into complex ones, real floats "
       "into "
       "real ones"},
  };
  for (const auto& row : rows) {
    INFO(row.spec);
    const EinsumProblem problem{Spec::parse(row.spec), row.inputs, row.output};
    CHECK(thrown_by([&] { check(problem); }) == row.text);
    CHECK(thrown_by([&] { lower(problem); }) == row.text);
    CHECK(thrown_by([&] { lower_einsum(problem); }) == row.text);
    CHECK(thrown_by([&] { find_path(problem); }) == row.text);
  }
}

TEST_CASE("results whose type or shape cannot be told") {
  const auto result = [](const char* spec, std::vector<Layout> inputs) {
    return thrown_by([&] { result_row_major(Spec::parse(spec), inputs); });
  };
  CHECK(result("i->j", {of_type(DType::f32)}) == "spec: output axis j is not an axis of the input\n  i->j\n     ^");
  CHECK(result("ii,i->i", {of_type(DType::f32), of_type(DType::f32)}) ==
        "shape: the spec gives operand A 2 axes, its layout has 1: extents (3)\n  ii,i->i");
}

TEST_CASE("addends that are refused") {
  const auto text = [](const Layout& addend, Factor beta, DType type = DType::f64) {
    EinsumProblem problem{Spec::parse("ij,jk->ik"), {f64({2, 3}), f64({3, 4})}, f64({2, 4})};
    problem.inputs[0].type = problem.inputs[1].type = problem.output.type = type;
    problem.beta = beta;
    problem.addend = addend;
    return thrown_by([&] { check(problem); });
  };
  CHECK(text(f64({2, 4}), Factor::one) == "nothing");
  CHECK(text(Layout::strided(DType::f64, {2, 4}, {0, 1}), Factor::any) == "nothing");
  CHECK(text(f64({2, 4}), Factor::zero) ==
        "plan: an addend with beta = 0 is never read; give beta, or leave the addend out");
  CHECK(text(f64({2, 5}), Factor::one) ==
        "shape: axis k has extent 5 in the addend but 4 in the output\n  ij,jk->ik\n          ^\nan addend has the "
        "output's shape");
  CHECK(text(f64({4}), Factor::one) ==
        "shape: the spec gives the addend 2 axes, its layout has 1: extents (4)\n  ij,jk->ik");
  CHECK_THAT(text(Layout::row_major(DType::c64, {2, 4}), Factor::one),
             Catch::Matchers::StartsWith("shape: no conversion from c64 (the addend) to f64 (the output)"));
}

TEST_CASE("a list of conjugations longer than the operands") {
  EinsumProblem problem{
      Spec::parse("i,i->"), {of_type(DType::c64), of_type(DType::c64)}, Layout::row_major(DType::c64, {})};
  problem.conjugate = {true, false, true};
  CHECK(thrown_by([&] { check(problem); }) == "shape: conjugate has 3 entries, the spec 2 operands\n  i,i->");
}

TEST_CASE("more axes than a tensor or a spec may have") {
  std::string many;
  std::vector<std::int64_t> extents;
  for (int k = 0; k < 33; ++k) many += fmt::format(" x{}", k);
  EinsumProblem problem{Spec::parse(many + ", y z ->"), {f64(std::vector<std::int64_t>(33, 1)), f64({2, 2})}, f64({})};
  CHECK(thrown_by([&] { check(problem); }) == "spec: operand A has 33 axes; a tensor has up to 32");

  constexpr std::int64_t large = std::int64_t{1} << 40;
  const Layout repeated{DType::f64, {large}, {0}};
  CHECK(thrown_by([&] { lower({Spec::parse("i,j->"), {repeated, repeated}, f64({})}); }) ==
        "shape: the loops over all axes of \"i,j->\" have more than 2^62 points");
}

TEST_CASE("what is a permutation's alone") {
  const auto permutation = [](const char* spec, Layout input, Layout output) {
    return thrown_by([&] { check_permutation({Spec::parse(spec), {input}, output}); });
  };
  CHECK(permutation("...ab->...ba", f64({5, 2, 3}), f64({5, 3, 2})) == "nothing");
  CHECK(permutation("...ab->ba...", f64({5, 2, 3}), f64({3, 2, 5})) == "nothing");
  CHECK(permutation("...a->...", f64({5, 2}), f64({5})) ==
        "spec: input axis a is missing in the output; a permutation keeps every axis\n  ...a->...\n     ^");
  CHECK(permutation("ba", f64({2, 3}), f64({3, 2})) ==
        "spec: a spec says its output after '->', as in \"abc->cab\"\n  ba\n    ^");
  CHECK(permutation("a->a", of_type(DType::i8), of_type(DType::i32)) ==
        "shape: no conversion from i8 to i32; types must be equal, or both real floating, both complex, or a real "
        "floating input with a complex output");
}

}  // namespace einsum_test
