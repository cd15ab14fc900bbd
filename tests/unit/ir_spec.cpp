// The spec parser: what it reads. What it refuses is in tests/error.
#include "ricci/spec.hpp"

#include "catch.hpp"

namespace ir_spec_test {

using namespace ricci;

namespace {

std::string words(const Spec::Term& term) {
  std::string text;
  for (const auto& axis : term) text += (text.empty() ? "" : " ") + axis.name;
  return text;
}

}  // namespace

TEST_CASE("letters are axes of their own") {
  const auto spec = Spec::parse("abc->cab");
  REQUIRE(spec.operands.size() == 1);
  CHECK(words(spec.operands[0]) == "a b c");
  CHECK(words(spec.output) == "c a b");
  CHECK(spec.text == "abc->cab");
  CHECK(spec.operands[0][2].column == 2);
  CHECK(spec.output[0].column == 5);
}

TEST_CASE("capital letters are other axes than small ones") {
  const auto spec = Spec::parse("aA->Aa");
  CHECK(words(spec.operands[0]) == "a A");
  CHECK(words(spec.output) == "A a");
}

TEST_CASE("two words side by side make every word a name") {
  const auto spec = Spec::parse("occ vir aux -> aux occ vir");
  CHECK(words(spec.operands[0]) == "occ vir aux");
  CHECK(words(spec.output) == "aux occ vir");
  CHECK(spec.output[1].column == 19);
  CHECK(words(Spec::parse("occ -> occ x").operands[0]) == "occ");
  CHECK(words(Spec::parse("i_1 j2->j2 i_1").output) == "j2 i_1");
  CHECK(words(Spec::parse("row\tcol -> col\trow").operands[0]) == "row col");
}

TEST_CASE("without two words side by side blanks mean nothing") {
  for (const auto* text : {"ab->ba", " ab -> ba ", "ab ->\tba"}) {
    INFO(text);
    const auto spec = Spec::parse(text);
    CHECK(words(spec.operands[0]) == "a b");
    CHECK(words(spec.output) == "b a");
    CHECK(spec.text == text);
  }
}

TEST_CASE("a specification of rank 0") {
  for (const auto* text : {"->", "  ->  "}) {
    const auto spec = Spec::parse(text);
    REQUIRE(spec.operands.size() == 1);
    CHECK(spec.operands[0].empty());
    CHECK(spec.output.empty());
  }
}

TEST_CASE("operands are separated by commas") {
  const auto spec = Spec::parse("labi,kjcl->kjicba");
  REQUIRE(spec.operands.size() == 2);
  CHECK(words(spec.operands[0]) == "l a b i");
  CHECK(words(spec.operands[1]) == "k j c l");
  CHECK(spec.operands[1][0].column == 5);
  CHECK(Spec::parse("a,,b->ab").operands.size() == 3);  // the middle one is a scalar
  CHECK(words(Spec::parse("row mid, mid col -> row col").operands[1]) == "mid col");
}

TEST_CASE("one name may stand in several places: what that means is the operation's business") {
  const auto spec = Spec::parse("aa->a");
  CHECK(words(spec.operands[0]) == "a a");
}

TEST_CASE("carets stand under the axes, in order of their columns, once each") {
  const auto spec = Spec::parse("occ vir -> vir occ");
  const auto& in = spec.operands[0];
  CHECK(spec.caret({}) == "  occ vir -> vir occ\n  ");
  CHECK(spec.caret({&in[1]}) == "  occ vir -> vir occ\n      ^");
  CHECK(spec.caret({&spec.output[1], &in[0], &in[0]}) == "  occ vir -> vir occ\n  ^              ^");
}

}  // namespace ir_spec_test
