// Schedules that move elements: what is counted from them, and each rule of the verifier broken once.
#include "ir/schedule.hpp"

#include <functional>

#include "catch.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

using namespace ricci;
using namespace ricci::ir;

namespace {

/// b=40 slow, a=48 fast in B; A is the other way round.
Program transpose() { return test::canonical(test::dense("ab->ba", {48, 40})); }

/// Tiles of 16 x 16 through shared memory, accesses of two elements.
Schedule tiled() {
  Schedule schedule;
  schedule.name = "tiled";
  schedule.tile = {16, 16};
  schedule.order = {1, 0};
  schedule.threads = 64;
  schedule.mapping = {{{1, 16, 1}, {0, 16, 1}}, 2, 64};
  Stage stage;
  stage.load = 0;
  stage.mapping = {{{0, 16, 1}, {1, 16, 1}}, 2, 64};
  stage.layout.stride = {1, 16};
  stage.layout.shift = 4;
  stage.layout.mask = 7;
  stage.layout.unit = 1;
  stage.layout.elements = 256;
  schedule.stage = stage;
  return schedule;
}

struct Broken {
  const char* rule;
  std::function<void(Schedule&)> breaks;
};

/// Each change of a good schedule is refused by its rule.
void check_rules(const Schedule& good, const Program& program, const std::vector<Broken>& rows) {
  for (const auto& row : rows) {
    auto schedule = good;
    row.breaks(schedule);
    INFO(row.rule);
    std::string text;
    try {
      verify(schedule, program);
    } catch (const PlanError& error) {
      text = error.what();
    }
    CHECK(text.starts_with("schedule: "));
    CHECK(text.ends_with(": " + std::string(row.rule)));
  }
}

}  // namespace

TEST_CASE("counts that follow from a schedule") {
  const auto program = transpose();
  const auto schedule = tiled();
  CHECK_NOTHROW(verify(schedule, program));
  CHECK(schedule.mapping.positions() == 128);
  CHECK(schedule.mapping.rounds() == 2);
  CHECK(schedule.tiles(program) == 3 * 3);  // 40 / 16, rounded up, by 48 / 16
  CHECK(schedule.tile_points() == 256);
  CHECK(schedule.tiles_per_block() == 1);
  CHECK(schedule.blocks(program) == 9);
  CHECK(schedule.shared_bytes(program) == 2048);
  auto warps = schedule;
  warps.mapping.workers = warps.stage->mapping.workers = 32;
  warps.stage->memory = StageMemory::warp;
  CHECK(warps.tiles_per_block() == 2);
  CHECK(warps.blocks(program) == 5);
  CHECK(warps.shared_bytes(program) == 0);
  CHECK_NOTHROW(verify(warps, program));
}

TEST_CASE("each rule of a schedule, broken once") {
  check_rules(
      tiled(), transpose(),
      {
          {"a tile has an extent and a place in the order per index", [](Schedule& s) { s.tile.pop_back(); }},
          {"a tile has an extent and a place in the order per index", [](Schedule& s) { s.order.push_back(0); }},
          {"the order names every index once", [](Schedule& s) { s.order = {1, 1}; }},
          {"a tile lies between 1 and the extent", [](Schedule& s) { s.tile[0] = 41; }},
          {"a tile lies between 1 and the extent", [](Schedule& s) { s.tile[1] = 0; }},
          {"a digit belongs to an index", [](Schedule& s) { s.mapping.digits[0].index = 2; }},
          {"a digit belongs to an index", [](Schedule& s) { s.stage->mapping.digits[0].index = -1; }},
          {"digits of one index follow each other without gaps", [](Schedule& s) { s.mapping.digits[0].step = 2; }},
          {"digits of one index follow each other without gaps",
           [](Schedule& s) { s.mapping.digits = {{1, 8, 1}, {0, 16, 1}, {1, 2, 4}}; }},
          {"a mapping covers its tile", [](Schedule& s) { s.mapping.digits[1].count = 8; }},
          {"a mapping covers its tile", [](Schedule& s) { s.stage->mapping.digits.pop_back(); }},
          {"a vector divides the first digit", [](Schedule& s) { s.mapping.vector = 3; }},
          {"a vector divides the first digit",
           [](Schedule& s) { s.mapping.digits = {{1, 1, 1}, {1, 16, 1}, {0, 16, 1}}; }},
          {"a mapping has workers", [](Schedule& s) { s.mapping.workers = 0; }},
          {"tiles share a block's threads evenly", [](Schedule& s) { s.threads = 96; }},
          {"a stage belongs to a load", [](Schedule& s) { s.stage->load = -1; }},
          {"a stage belongs to a load", [](Schedule& s) { s.stage->load = 1; }},
          {"a stage uses the statement's workers", [](Schedule& s) { s.stage->mapping.workers = 32; }},
          {"a swizzle is a bijection", [](Schedule& s) { s.stage->layout.mask = 6; }},
          {"a swizzle is a bijection", [](Schedule& s) { s.stage->layout.shift = 3; }},
          {"shared memory has a stride per index", [](Schedule& s) { s.stage->layout.stride = {1}; }},
          {"points of a tile lie apart in shared memory", [](Schedule& s) { s.stage->layout.stride = {1, 15}; }},
          {"points of a tile lie apart in shared memory", [](Schedule& s) { s.stage->layout.stride = {0, 16}; }},
          {"points of a tile lie apart in shared memory", [](Schedule& s) { s.stage->layout.stride = {-1, 16}; }},
          {"shared memory holds the tile", [](Schedule& s) { s.stage->layout.elements = 255; }},
          {"shared memory holds the tile", [](Schedule& s) { s.stage->layout.stride = {1, 17}; }},
      });
}

namespace {

/// The same tile in rectangles of 2 x 2, kept along the output.
Schedule turned_tiles() {
  auto schedule = tiled();
  schedule.stage->mapping.digits = {{0, 16, 1}, {1, 2, 1}, {1, 8, 2}};
  schedule.stage->mapping.rows = 2;
  schedule.stage->layout = {{16, 1}, 4, 1, 7, 256};
  return schedule;
}

}  // namespace

TEST_CASE("rectangles are positions of a stage") {
  const auto schedule = turned_tiles();
  verify(schedule, transpose());
  const auto& mapping = schedule.stage->mapping;
  CHECK(mapping.positions() == 64);
  CHECK(mapping.count(0) == 8);
  CHECK(mapping.count(1) == 1);
  CHECK(mapping.count(2) == 8);
  const auto stored = register_transposed(mapping);
  const std::vector<MixedRadixDigit> digits{{1, 2, 1}, {0, 2, 1}, {0, 8, 2}, {1, 8, 2}};
  CHECK(stored.digits == digits);
  CHECK(stored.vector == 2);
  CHECK(stored.rows == 2);
  CHECK(stored.positions() == mapping.positions());
  CHECK(keeps_vectors(schedule, stored));
  CHECK(keeps_vectors(schedule, schedule.mapping));
  CHECK_FALSE(keeps_vectors(schedule, mapping));
}

TEST_CASE("each rule of rectangles, broken once") {
  const char* const kept = "a rectangle's rows are the statement's vectors, side by side in shared memory";
  check_rules(turned_tiles(), transpose(),
              {
                  {"the rows of a rectangle are the second digit", [](Schedule& s) { s.stage->mapping.rows = 4; }},
                  {"the rows of a rectangle are the second digit",
                   [](Schedule& s) { s.stage->mapping.digits = {{0, 16, 1}, {1, 16, 1}}; }},
                  {"only a stage has rectangles",
                   [](Schedule& s) {
                     s.mapping.digits = {{1, 16, 1}, {0, 2, 1}, {0, 8, 2}};
                     s.mapping.rows = 2;
                   }},
                  {"rectangles wait in shared memory", [](Schedule& s) { s.stage->memory = StageMemory::warp; }},
                  {kept, [](Schedule& s) { s.stage->layout = {{1, 16}, 4, 1, 7, 256}; }},
                  {kept, [](Schedule& s) { s.stage->layout.unit = 0; }},
                  {kept,
                   [](Schedule& s) {
                     s.stage->mapping.digits = {{0, 16, 1}, {1, 4, 1}, {1, 4, 4}};
                     s.stage->mapping.rows = 4;
                   }},
              });
}

namespace {

/// Blocks of 4 x 4 in registers, along the input first, by nontemporal stores.
Schedule streaming() {
  Schedule schedule;
  schedule.name = "streaming";
  schedule.tile = {48, 16};
  schedule.order = {0, 1};
  schedule.threads = 1;
  schedule.mapping = {{{1, 4, 1}, {0, 48, 1}, {1, 4, 4}}, 4, 1};
  Stage stage;
  stage.load = 0;
  stage.memory = StageMemory::registers;
  stage.mapping = {{{0, 48, 1}, {1, 16, 1}}, 4, 1};
  schedule.stage = stage;
  schedule.streaming = true;
  return schedule;
}

}  // namespace

TEST_CASE("blocks in the registers of a CPU, and stores past its caches") {
  auto problem = test::dense("ab->ba", {40, 48});
  const auto program = test::canonical(problem);
  const auto good = streaming();
  CHECK_NOTHROW(verify(good, program));
  check_rules(
      good, program,
      {
          {"a line carry copies from an array by nontemporal stores", [](Schedule& s) { s.stage->line_carry = 1; }},
          {"vectors of a CPU lie along the output's contiguous index",
           [](Schedule& s) { s.mapping.digits = {{0, 48, 1}, {1, 16, 1}}; }},
          {"a block is read along the input's contiguous index",
           [](Schedule& s) { std::swap(s.stage->mapping.digits[0], s.stage->mapping.digits[1]); }},
          {"a block fits into the extents of its indices",
           [](Schedule& s) { s.mapping.vector = s.stage->mapping.vector = 64; }},
          {"a block is square", [](Schedule& s) { s.stage->mapping.vector = 8; }},
          {"digits do not cut blocks", [](Schedule& s) { s.mapping.digits = {{1, 2, 1}, {0, 48, 1}, {1, 8, 2}}; }},
      });
}

TEST_CASE("a tile that waits in an array of a CPU") {
  const auto program = test::canonical(test::dense("ab->ba", {40, 48}));
  auto good = streaming();
  good.tile = {32, 16};
  good.mapping = {{{1, 16, 1}, {0, 32, 1}}, 8, 1};
  good.stage->memory = StageMemory::shared;
  good.stage->mapping = {{{0, 32, 1}, {1, 16, 1}}, 4, 1};
  good.stage->layout.stride = {24, 1};
  good.stage->layout.elements = 24 * 31 + 16;
  CHECK_NOTHROW(verify(good, program));
  check_rules(
      good, program,
      {
          {"a block is kept across neighbours in the array", [](Schedule& s) { s.stage->layout.stride = {1, 40}; }},
          {"a block is kept across neighbours in the array", [](Schedule& s) { s.stage->across = 2; }},
          {"a block is read along neighbours in the input", [](Schedule& s) { s.stage->along = 2; }},
          {"a block is read along neighbours in the input", [](Schedule& s) { s.stage->along = 0; }},
          {"a block fits into the extents of its indices", [](Schedule& s) { s.stage->mapping.vector = 64; }},
          {"a block has a power of two of columns", [](Schedule& s) { s.stage->mapping.vector = 24; }},
          {"shared memory holds the tile", [](Schedule& s) { s.stage->layout.elements -= 1; }},
      });
  // The next tile along a, two further on, continues the 32 runs of a tile; the third one is moved back to be whole.
  good.stage->line_carry = 1;
  CHECK_NOTHROW(verify(good, program));
  const auto carry = line_carry_of(program, good);
  CHECK(carry.index == 1);
  CHECK(carry.runs == 32);
  CHECK(carry.apart == 2);
  CHECK(carry.tiles == 2);
  check_rules(good, program,
              {
                  {"a line carry copies from an array by nontemporal stores", [](Schedule& s) { s.streaming = false; }},
                  {"a line carry runs along an index whose next tile continues the runs",
                   [](Schedule& s) { s.stage->line_carry = 0; }},
                  {"runs with a line carry are no shorter than a line",
                   [](Schedule& s) {
                     s.tile = {32, 4};
                     s.mapping.digits = {{1, 4, 1}, {0, 32, 1}};
                     s.stage->mapping.digits = {{0, 32, 1}, {1, 4, 1}};
                   }},
              });
  good.stage->line_carry = -1;
  // The last tile along b begins 16 before the end, and what it shares with the one before is written twice.
  auto adds = test::dense("ab->ba", {40, 48});
  adds.beta = Factor::one;
  CHECK_THROWS_WITH(verify(good, test::canonical(adds)),
                    Catch::Matchers::ContainsSubstring("tiles that overlap add to nothing"));
  good.tile = {16, 8};
  good.mapping.digits = {{1, 8, 1}, {0, 16, 1}};
  good.stage->mapping.digits = {{0, 16, 1}, {1, 8, 1}};
  CHECK_NOTHROW(verify(good, test::canonical(adds)));
}

namespace {

/// The same tiles, cut where the output's sectors begin: four doubles.
Schedule skewed() {
  auto schedule = tiled();
  schedule.skew = {1, 4};
  schedule.stage->mapping = {{{0, 16, 1}, {1, 19, 1}}, 2, 64};
  schedule.stage->layout.elements = 304;
  return schedule;
}

}  // namespace

TEST_CASE("skewed tiles") {
  const auto program = transpose();
  CHECK_NOTHROW(verify(skewed(), program));
  CHECK(skewed().tiles_along(program, 0) == 3);
  CHECK(skewed().tiles_along(program, 1) == 4);  // 48 and the 3 before
  CHECK(skewed().tiles(program) == 12);
  check_rules(skewed(), program,
              {
                  {"a skew belongs to an index", [](Schedule& s) { s.skew.index = 2; }},
                  {"a skew is a power of two that divides the tile", [](Schedule& s) { s.skew.elements = 3; }},
                  {"a skew is a power of two that divides the tile", [](Schedule& s) { s.skew.elements = 32; }},
                  {"a skew runs along the output's contiguous index", [](Schedule& s) { s.skew.index = 0; }},
                  {"a skewed tile waits in shared memory", [](Schedule& s) { s.stage.reset(); }},
                  {"a skewed tile waits in shared memory", [](Schedule& s) { s.stage->memory = StageMemory::warp; }},
                  {"a mapping covers its tile", [](Schedule& s) { s.stage->mapping.digits[1].count = 16; }},
                  {"shared memory holds the tile", [](Schedule& s) { s.stage->layout.elements = 256; }},
              });
  auto scaled = test::dense("ab->ba", {48, 40});
  scaled.alpha = Factor::any;
  CHECK_THROWS_AS(verify(skewed(), test::canonical(scaled)), PlanError);
}

TEST_CASE("a layout without padding to the swizzle's group reaches past its end") {
  const auto program = transpose();
  auto schedule = tiled();
  schedule.stage->layout.stride = {1, 17};
  schedule.stage->layout.elements = 16 * 17;  // enough for 15 * 17 + 16, and a multiple of the group of 16
  CHECK_NOTHROW(verify(schedule, program));
}

TEST_CASE("which neighbours can be one access") {
  const auto program = [](std::vector<std::int64_t> strides, std::int64_t alignment) {
    auto input = Layout::strided(DType::f32, {12, 8}, std::move(strides));
    input.alignment = alignment;
    return test::lowered(test::problem_of("ab->ab", input, Layout::row_major(DType::f32, {12, 8})));
  };
  const auto fits = [](const Program& p, int index, int vector) {
    return vector_access(p, 0, p.nodes[0].offset, index, vector);
  };
  CHECK(fits(program({8, 1}, 16), 1, 4));
  CHECK(fits(program({8, 1}, 8), 1, 2));
  CHECK_FALSE(fits(program({8, 1}, 8), 1, 4));    // the base may lie between
  CHECK_FALSE(fits(program({10, 1}, 16), 1, 4));  // rows begin between
  CHECK(fits(program({10, 1}, 16), 1, 2));
  CHECK_FALSE(fits(program({8, 1}, 16), 0, 2));   // no neighbours
  CHECK_FALSE(fits(program({8, -1}, 16), 1, 2));  // backwards
  CHECK(fits(program({1, 12}, 16), 0, 4));
  CHECK(fits(program({1, 17}, 16), 1, 1));
  CHECK(fits(program({0, 1}, 16), 1, 4));
  auto shifted = program({8, 1}, 16);
  shifted.nodes[0].offset.constant = 2;
  CHECK(fits(shifted, 1, 2));
  CHECK_FALSE(fits(shifted, 1, 4));
}
