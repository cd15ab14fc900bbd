// Schedules that move elements as directives: their text, both ways, and what is refused of it.
#include "kernel/permute/moves.hpp"

#include "catch.hpp"
#include "kernel/schedule.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace kernel_moves_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// b=40 slow, a=48 fast in B; A is the other way round.
ir::Program transpose() { return test::canonical(test::dense("ab->ba", {48, 40})); }

const std::string kTiled =
    "tile b:16\n"
    "tile a:16\n"
    "order task b0 a0\n"
    "stage A shared b:16 a:4 a:4/4 vector 2\n"
    "layout b:1 a:16 elements 256 swizzle 4 7 1\n"
    "write a:16 b:16 vector 2\n"
    "threads 64\n";

}  // namespace

TEST_CASE("directives of what moves elements are its fields") {
  const auto program = transpose();
  const auto moves = moves_of(program, parse_directives(kTiled));
  CHECK_NOTHROW(verify(moves, program));
  CHECK(moves.tile == std::vector<std::int64_t>{16, 16});
  CHECK(moves.order == std::vector<int>{1, 0});
  CHECK(moves.threads == 64);
  CHECK(moves.mapping.digits == std::vector<MixedRadixDigit>{{1, 16, 1}, {0, 16, 1}});
  CHECK(moves.mapping.vector == 2);
  CHECK(moves.mapping.workers == 64);
  REQUIRE(moves.stage);
  CHECK(moves.stage->load == 0);
  CHECK(moves.stage->mapping.digits == std::vector<MixedRadixDigit>{{0, 16, 1}, {1, 4, 1}, {1, 4, 4}});
  CHECK(moves.stage->mapping.workers == 64);
  CHECK(moves.stage->layout.stride == std::vector<std::int64_t>{1, 16});
  CHECK(moves.stage->layout.shift == 4);
  CHECK(moves.stage->layout.mask == 7);
  CHECK(moves.stage->layout.unit == 1);
  CHECK(moves.stage->layout.elements == 256);
  CHECK(print(directives_of(moves, program)) == kTiled);
  const auto text = print(Schedule{"tiled", directives_of(moves, program)});
  CHECK(text == "directives\n" + kTiled);
  const auto read = parse_schedule(text);
  REQUIRE(read);
  CHECK(read->directives == directives_of(moves, program));
}

TEST_CASE("indices of one value are tasks, and those of one tile none") {
  const auto program = transpose();
  const auto moves = moves_of(program, parse_directives("order task b; write a:48; threads 64"));
  CHECK(moves.tile == std::vector<std::int64_t>{1, 48});
  CHECK(moves.order == std::vector<int>{0, 1});
  CHECK(moves.tiles(program) == 40);
  CHECK(print(directives_of(moves, program)) == "order task b\nwrite a:48\nthreads 64\n");
}

TEST_CASE("what a CPU does with a tile leads back to its text") {
  const auto program = transpose();
  const auto check = [&](const std::string& text) {
    CHECK(print(directives_of(moves_of(program, parse_directives(text)), program)) == text);
  };
  check(
      "tile a:16\ntile b:32\norder task a0 b0\nstage A shared b:32 a:16 vector 8 packing 2\n"
      "layout b:24 a:1 elements 760\nprefetch 2\ncarry a\nwrite a:16 b:32 vector 8\nnontemporal\n");
  check("order\nstage A registers b:40 a:48 vector 8\nwrite a:8 b:40 a:6/8 vector 8\nnontemporal\n");
  check("order\nstage A shared b:40 a:48 vector 8 along 2 across 3\nlayout b:48 a:1 elements 1920\nwrite a:48 b:40\n");
  check("tile a:32\norder task a0\nstage A registers b:40 a:32\nwrite a:32 b:40 workers 32\nthreads 256\n");
  check(
      "tile b:16\ntile a:16\norder task b0 a0\nstage A shared b:16 a:19\nlayout b:1 a:16 elements 304\n"
      "write a:16 b:16\nskew a 4\norigin shuffle\nthreads 64\n");
}

TEST_CASE("directives that move nothing are named") {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      const auto program = transpose();
      verify(Schedule{{}, parse_directives(text)}, program, Target::cuda);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(refusal("order task a b; write").empty());
  CHECK(refusal("write a:48 b:40") == "schedule: an order is missing");
  CHECK(refusal("tile c:4; order; write") == "schedule: tile c:4: no index of this program has the name c");
  CHECK(refusal("tile a:8:4; order; write") ==
        "schedule: tile a:8:4: a tile that is moved has one size along an index");
  CHECK(refusal("order; tile a:8; write") == "schedule: tile a:8: it comes before the order");
  CHECK(refusal("order; order; write") == "schedule: order: there is an order already");
  CHECK(refusal("order task a0; write") == "schedule: order task a0: there is no loop a0");
  CHECK(refusal("order task b thread a; write") ==
        "schedule: order task b thread a: loops are tasks; what is inside of a tile is in the order of writing");
  CHECK(refusal("order; write a b:40") == "schedule: write a b:40: a is no index:count");
  CHECK(refusal("order; write a:0") == "schedule: write a:0: a:0 is out of range");
  CHECK(refusal("order; write a:x") == "schedule: write a:x: x is no number of elements");
  CHECK(refusal("order; write a:48 b:40 vector 0") ==
        "schedule: write a:48 b:40 vector 0: a number from 1 to 1073741824 follows vector");
  CHECK(refusal("order; stage B shared; write") == "schedule: stage B shared: no operand has that name");
  CHECK(refusal("order; stage A disk; write") == "schedule: stage A disk: it is kept in shared memory or in registers");
  CHECK(refusal("order; stage A registers b:40 a:48; stage A registers; write a:48 b:40; threads 1024") ==
        "schedule: stage A registers: one operand is staged");
  CHECK(refusal("order; carry a; write") == "schedule: carry a: no operand is staged");
  CHECK(refusal("order; stage A shared b:40; layout b:1 elements 40 swizzle 1 2; write") ==
        "schedule: layout b:1 elements 40 swizzle 1 2: a swizzle is a shift, a mask and a unit");
  CHECK(refusal("order; write a:48 b:40; origin lanes") ==
        "schedule: origin lanes: an origin is found by divisions, or by a shuffle");
  CHECK(refusal("order; lanes a 8; write") == "schedule: lanes a 8: it is for what is computed point by point");
  CHECK(refusal("order; pipeline a 2; write") == "schedule: pipeline a 2: it is for the products of an atom");
  // Rules between directives.
  CHECK(refusal("tile a:64; order task a0; write") == "schedule: tile: a tile lies between 1 and the extent");
  CHECK(refusal("order; write a:48 b:20") == "schedule: write: a mapping covers its tile");
  CHECK(refusal("order; write a:48 b:40; threads 64").empty());
}

}  // namespace kernel_moves_test
