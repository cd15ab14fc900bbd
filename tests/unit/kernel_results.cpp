// Results that are gathered in scratch memory and leave from there run by run.
#include <string>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/build.hpp"
#include "kernel/schedule.hpp"
#include "kernel_places.hpp"
#include "ricci/error.hpp"

namespace kernel_results_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C[e][a][f][c][b] = sum A[a][b][c][d][e] B[d][f].
ir::Program turned(DType type = DType::f64) {
  return tests::contraction("abcde,df->eafcb", {{4, 43, 6, 5, 3}, {5, 7}, {3, 4, 7, 6, 43}}, type);
}

/// The same with 7 values of b.
ir::Program short_runs() {
  return tests::contraction("abcde,df->eafcb", {{4, 7, 6, 5, 3}, {5, 7}, {3, 4, 7, 6, 7}}, DType::f64);
}

const std::string kTiles = "tile a:1:1; tile c:1:1; tile e:3:1; tile b:48:48; tile f:9:9:3;";
const std::string kOrder = "order task a0 e0 b0 c0 f0 serial f1 a1 c1 e1 b1 f2;";
const std::string kAtom =
    "stage A at f0 scratch a1 c1 e1 b1 d a c e b; stage B at f1 scratch f2 d f;"
    "atom fma rows f columns a c e b depth d lanes 8;";
const std::string kAll = kTiles + kOrder + kAtom;

Kernel built(const std::string& directives, const ir::Program& program = turned(), Target target = Target::cpu) {
  return build(program, *contraction_of(program), parse_directives(directives), target);
}

}  // namespace

TEST_CASE("runs of a register tile, or of several, leave scratch memory after the loop that is named") {
  for (const bool tile : {true, false}) {
    const auto directives = kAll + (tile ? "store scratch f2; carry c" : "store scratch b1; carry c");
    auto kernel = built(directives);
    const auto& run = get<CopyRun>(kernel);
    CHECK(run.count == 43);
    CHECK(run.how == CopyRun::How::nontemporal);
    REQUIRE(run.carry);
    CHECK(run.carry->tiles == 6);
    CHECK(run.carry->apart == 1);
    const auto& block = kernel.array(run.from.array);
    CHECK(block.name == "C_block");
    CHECK(block.shape.front() == (tile ? 3 : 7) * 43 + 2 * 8);  // a line before it and one behind it
    // Of each row of a task's results one line waits.
    CHECK(kernel.array(run.carry->line.array).shape.front() == 8 * (tile ? 3 * 3 * 3 : 7 * 3));
    CHECK(launch_of(turned(), Schedule{{}, parse_directives(directives)}, Target::cpu).carried_over == 1);
  }
  // Tasks inside of the loop along which lines go on are as far apart.
  auto turned_tasks =
      built(kTiles + "order task c0 a0 e0 b0 f0 serial f1 a1 c1 e1 b1 f2;" + kAtom + "store scratch f2; carry c");
  CHECK(get<CopyRun>(turned_tasks).carry->apart == 4);
}

TEST_CASE("lines of which no task goes on wait for none") {
  auto kernel = built(kAll + "store scratch f2");
  CHECK_FALSE(get<CopyRun>(kernel).carry);
  CHECK(launch_of(turned(), Schedule{{}, parse_directives(kAll + "store scratch f2")}, Target::cpu).carried_over == 0);
}

TEST_CASE("stores through scratch memory that break a rule") {
  using Catch::Matchers::ContainsSubstring;
  const auto text = [&](const std::string& directives, const ir::Program& program = turned(),
                        Target target = Target::cpu) -> std::string {
    try {
      built(directives, program, target);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(text(kAll + "store scratch f2; carry c").empty());
  CHECK_THAT(text(kAll + "carry c"), ContainsSubstring("it stands behind `store scratch`"));
  CHECK_THAT(text(kAll + "store scratch z"), ContainsSubstring("there is no loop z"));
  CHECK_THAT(text(kAll + "store scratch b"), ContainsSubstring("b is no loop around the sums of register tiles"));
  CHECK_THAT(text(kAll + "store scratch a0"), ContainsSubstring("a0 is not the innermost of their loops"));
  CHECK_THAT(text(kAll + "store scratch f2; store scratch f2"), ContainsSubstring("results leave by one way"));
  CHECK_THAT(text(kTiles + kOrder + "store scratch f2;" + kAtom), ContainsSubstring("it stands behind the atom"));
  CHECK_THAT(text(kAll + "nontemporal; store scratch f2"), ContainsSubstring("results leave by one way"));
  CHECK_THAT(text(kAll + "store scratch f2; nontemporal"), ContainsSubstring("results leave by one way"));
  CHECK_THAT(text(kAll + "prefetch; store scratch f2"), ContainsSubstring("results leave by one way"));
  CHECK_THAT(text(kAll + "store scratch f2; carry z"), ContainsSubstring("no index of this program has that name"));
  CHECK_THAT(text(kAll + "store scratch f2; carry f"), ContainsSubstring("no loop over tasks is of that index"));
  CHECK_THAT(text(kAll + "store scratch f2; carry a"), ContainsSubstring("does not go on where runs"));
  CHECK_THAT(text(kAll + "store scratch f2; carry c", short_runs()), ContainsSubstring("no shorter than a line"));
  CHECK_THAT(text(kAll + "store scratch f2; carry c", turned(DType::c128)), ContainsSubstring("real numbers"));
  CHECK_THAT(text("tile d:1;" + kTiles + "order task a0 e0 b0 c0 f0 serial d0 f1 a1 c1 e1 b1 f2;" +
                  "stage A at d0 scratch a1 c1 e1 b1 d a c e b; stage B at f1 scratch f2 d f;"
                  "atom fma rows f columns a c e b depth d lanes 8; store scratch f2"),
             ContainsSubstring("the sum comes in several parts"));
  CHECK_THROWS_AS(parse_directives("store scratch"), PlanError);
  CHECK_THROWS_AS(parse_directives("store shared f2"), PlanError);
  const auto list = parse_directives("store scratch f2\ncarry c\n");
  CHECK(print(list) == "store scratch f2\ncarry c\n");
}

}  // namespace kernel_results_test
