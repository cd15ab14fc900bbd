// What a task on a CPU prefetches of the operand that the next task copies, or reads in place, and a copy of what it
// reads soon.
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/build.hpp"
#include "kernel_places.hpp"
#include "ricci/error.hpp"

namespace kernel_ahead_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C[d][e][c][a] = sum A[a][b][c][d] B[b][e].
ir::Program turned() {
  return tests::contraction("abce,bf->efca", {{24, 3, 9, 16}, {3, 7}, {16, 7, 9, 24}}, DType::f64);
}

const std::string kTiles =
    "tile d:8:1; tile c:3:1; tile a:8; tile e:4; order task d0 a0 c0 serial e0 d1 c1;"
    "stage A at c0 scratch d1 c1 b a; stage B at e0 scratch b e;";
const std::string kAtom = "atom fma rows e columns a depth b lanes 8;";

Kernel built(const std::string& directives, Target target = Target::cpu) {
  const auto program = turned();
  return build(program, *contraction_of(program), parse_directives(directives), target);
}

}  // namespace

TEST_CASE("rows ahead are what the next task copies, in the order of memory") {
  auto tiles = built(kTiles + kAtom + "prefetch A");
  const auto& fetch = get<FetchRows>(tiles);
  CHECK(fetch.length == 8);  // along d, its fastest index
  std::vector<std::int64_t> rows;
  for (std::int64_t a = 0; a < 8; ++a) {
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t c = 0; c < 3; ++c) rows.push_back(432 * a + 144 * b + 16 * c);
    }
  }
  CHECK(fetch.rows == rows);
  // 72 rows in two lines each, over 48 register tiles.
  CHECK(get<FetchLines>(tiles).lines == 3);
}

TEST_CASE("rows ahead of an operand in place are what the next round of the sum reads, or the next task's first one") {
  const auto program = tests::contraction("ab,cbd->acd", {{24, 24}, {6, 24, 96}, {24, 6, 96}}, DType::f64);
  const auto rows_of = [&](const std::string& depth) {
    auto kernel = build(program, *contraction_of(program),
                        parse_directives("tile c:2:1; tile d:48:16; tile a:24:24:4;" + depth +
                                         "a1 c1 d1 a2; stage A at a1 scratch a2 b a;"
                                         "atom fma rows a columns c d depth b lanes 8; prefetch B"),
                        Target::cpu);
    return get<FetchRows>(kernel);
  };
  const auto rounds = rows_of("tile b:8; order task c0 d0 a0 serial b0 ");
  CHECK(rounds.length == 48);
  std::vector<std::int64_t> rows;
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t b = 0; b < 8; ++b) rows.push_back(96 * 24 * c + 96 * b);
  }
  CHECK(rounds.rows == rows);
  CHECK(rounds.rounds == std::vector<std::int64_t>{0, 8 * 96, 16 * 96});
  // Of sums in one go, the next task.
  const auto tasks = rows_of("order task c0 d0 a0 serial ");
  CHECK(tasks.rows.size() == 48);
  CHECK(tasks.rounds == std::vector<std::int64_t>{0});
}

TEST_CASE("of rows in place each round of a sum asks for what the next register tile reads then") {
  using Catch::Matchers::ContainsSubstring;
  const auto program = tests::contraction("ab,bc->ac", {{96, 24}, {24, 16}, {96, 16}}, DType::f64);
  const auto built_of = [&](const std::string& tiles) {
    return build(program, *contraction_of(program),
                 parse_directives(tiles + "stage B at c0 scratch c1 b c; atom fma rows a columns c depth b lanes 8;"
                                          "prefetch A"),
                 Target::cpu);
  };
  auto tiles = built_of("tile a:48:12:4; tile c:16:16; order task a0 c0 serial c1 a1 a2;");
  const auto& ahead = get<Prefetch>(tiles);
  CHECK(print(tiles, ahead.from) == "A[1152*a0 + 288*a1 + 96*a2 + 24*a + b + 96]");
  CHECK_THAT(print(expand(tiles)), ContainsSubstring("for b in 24\n        unroll a in 4\n          prefetch A["));
  // No loop of a task goes on with rows of which each has one tile.
  CHECK_THROWS_AS(built_of("tile a:4; tile c:16:16; order task a0 c0 serial c1;"), PlanError);
  // Beside those of the other operand that the next task copies.
  auto both = build(program, *contraction_of(program),
                    parse_directives("tile a:48:12:4; tile c:16:16; order task a0 c0 serial c1 a1 a2;"
                                     "stage B at c0 scratch c1 b c; atom fma rows a columns c depth b lanes 8;"
                                     "prefetch B; prefetch A"),
                    Target::cpu);
  CHECK(get<Prefetch>(both).from.array == get<Prefetch>(tiles).from.array);
  CHECK(both.array(get<FetchRows>(both).from.array).name == "B");
}

TEST_CASE("rows ahead of an operand that is copied for a part of the sum are the next part's") {
  const auto program = tests::contraction("ab,bc->ac", {{24, 24}, {24, 96}, {24, 96}}, DType::f64);
  const std::string tiles =
      "tile b:8; tile c:48:16; tile a:24:24:4; order task c0 a0 serial b0 a1 c1 a2; stage B at b0 scratch c1 b c;";
  const std::string rest = "stage A at a1 scratch a2 b a; atom fma rows a columns c depth b lanes 8;";
  auto kernel = build(program, *contraction_of(program), parse_directives(tiles + rest + "prefetch B"), Target::cpu);
  const auto& fetch = get<FetchRows>(kernel);
  CHECK(fetch.length == 48);
  CHECK(fetch.rows == std::vector<std::int64_t>{0, 96, 192, 288, 384, 480, 576, 672});
  CHECK(fetch.rounds == std::vector<std::int64_t>{0, 8 * 96, 16 * 96});
  // 24 rows in seven lines each, over 3 x 18 register tiles.
  CHECK(get<FetchLines>(kernel).lines == 4);
  // What is copied inside of another loop is not.
  const auto further = parse_directives(tiles + rest + "prefetch A");
  CHECK_THROWS_AS(build(program, *contraction_of(program), further, Target::cpu), PlanError);
}

TEST_CASE("what is fetched for a register tile comes in the rounds of its sum") {
  using Catch::Matchers::ContainsSubstring;
  const auto text = print(expand(built(kTiles + kAtom + "prefetch; prefetch A")));
  // Of four rows two in each of the first rounds, of three; of three lines of rows ahead one in each round.
  CHECK_THAT(text, ContainsSubstring("if b < 2\n"));
  CHECK_THAT(text, ContainsSubstring("+ 864*e0 + 432*b]\n"));
  CHECK_THAT(text, ContainsSubstring("+ 864*e0 + 432*b + 216]\n"));
  CHECK_THAT(text, ContainsSubstring("              prefetch 1 lines of rows ahead\n              declare a_\n"));
  CHECK_THAT(text, !ContainsSubstring("if b < 3\n"));
}

TEST_CASE("what some rounds fetch comes before those that are spelt out together, without a branch between these") {
  using Catch::Matchers::ContainsSubstring;
  const auto program = tests::contraction("abc,cbd->ad", {{96, 16, 4}, {4, 16, 24}, {96, 24}}, DType::f64);
  const auto text = print(expand(
      build(program, *contraction_of(program),
            parse_directives("tile a:24:4; tile d:24:8; order task a0 d0 serial d1 a1; stage B at d0 scratch d1 b c d;"
                             "stage A at d0 scratch a1 b c a; atom fma rows a columns d depth b c lanes 8; prefetch"),
            Target::cpu)));
  // Sixteen times four rounds: of four rows one before each fourth four.
  const auto visit = text.find("let visit = (b) / 4\n");
  REQUIRE(visit != std::string::npos);
  const auto spelt = text.find("unroll c in 4\n", visit);
  REQUIRE(spelt != std::string::npos);
  CHECK(text.find("prefetch C[", visit) < spelt);
  CHECK(text.find("if ", spelt) == std::string::npos);
}

TEST_CASE(
    "copies that transpose ask for lines further on in each stream or, of short ones, for those of later rounds") {
  // Rows of 16 along d, eight of a at a time, over 40 of b.
  const auto program = tests::contraction("abce,bf->efca", {{24, 40, 9, 16}, {40, 7}, {16, 7, 9, 24}}, DType::f64);
  const auto ahead = [&](const std::string& tiles) {
    auto kernel = expand(build(
        program, *contraction_of(program),
        parse_directives(tiles + "stage A at c0 scratch d1 c1 b a; stage B at e0 scratch b e;" + kAtom), Target::cpu));
    return get<Prefetch>(kernel).from.index.front().constant;
  };
  const std::string order = "order task d0 a0 c0 serial e0 d1 c1;";
  // Eight rows of two lines in a round: four rounds of b.
  CHECK(ahead("tile d:16:1; tile c:1:1; tile a:8; tile e:4;" + order) == 4 * 9 * 16);
  // Rows of c and d together have 18 lines: four of them.
  CHECK(ahead("tile d:16:1; tile c:9:1; tile a:8; tile e:4;" + order) == 4 * 8);
}

TEST_CASE("prefetches of operands that break a rule") {
  using Catch::Matchers::ContainsSubstring;
  const auto text = [&](const std::string& directives, Target target = Target::cpu) -> std::string {
    try {
      built(directives, target);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(text(kTiles + kAtom + "prefetch A").empty());
  CHECK_THAT(text(kTiles + kAtom + "prefetch B"), ContainsSubstring("no operand of that name is staged"));
  CHECK_THAT(text(kTiles + kAtom + "prefetch C"), ContainsSubstring("or read where it lies"));
  CHECK_THAT(text("prefetch A;" + kTiles + kAtom), ContainsSubstring("there is one task"));
  CHECK_THAT(text(kTiles + kAtom + "prefetch A; prefetch A"),
             ContainsSubstring("one operand is prefetched for the next task"));
  CHECK_THAT(text(kTiles + kAtom + "prefetch A", Target::cuda), ContainsSubstring("schedule"));
  CHECK_THAT(text("join dc c d; tile dc:12; tile a:8; tile e:4; order task a0 dc0 serial e0;"
                  "stage A at dc0 scratch b dc a; stage B at e0 scratch b e;"
                  "atom fma rows e columns dc a depth b lanes 8; prefetch A"),
             ContainsSubstring("joined indices"));
  CHECK_THROWS_AS(parse_directives("prefetch A B"), PlanError);
}

}  // namespace kernel_ahead_test
