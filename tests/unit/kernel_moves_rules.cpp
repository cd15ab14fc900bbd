// Schedules that move elements: what is counted from them, and each rule of the verifier broken once.
#include "kernel/permute/moves.hpp"

#include <functional>

#include "catch.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace kernel_moves_rules_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// b=40 slow, a=48 fast in B; A is the other way round.
ir::Program transpose() { return test::canonical(test::dense("ab->ba", {48, 40})); }

/// Tiles of 16 x 16 through shared memory, accesses of two elements.
Moves tiled() {
  Moves moves;
  moves.tile = {16, 16};
  moves.order = {1, 0};
  moves.threads = 64;
  moves.mapping = {{{1, 16, 1}, {0, 16, 1}}, 2, 64};
  Stage stage;
  stage.load = 0;
  stage.mapping = {{{0, 16, 1}, {1, 16, 1}}, 2, 64};
  stage.layout.stride = {1, 16};
  stage.layout.shift = 4;
  stage.layout.mask = 7;
  stage.layout.unit = 1;
  stage.layout.elements = 256;
  moves.stage = stage;
  return moves;
}

struct Broken {
  const char* rule;
  std::function<void(Moves&)> breaks;
};

/// Each change of good ones is refused by its rule.
void check_rules(const Moves& good, const ir::Program& program, const std::vector<Broken>& rows) {
  for (const auto& row : rows) {
    auto moves = good;
    row.breaks(moves);
    INFO(row.rule);
    std::string text;
    try {
      verify(moves, program);
    } catch (const PlanError& error) {
      text = error.what();
    }
    CHECK(text.starts_with("schedule: "));
    CHECK(text.ends_with(": " + std::string(row.rule)));
  }
}

}  // namespace

TEST_CASE("counts that follow from moves") {
  const auto program = transpose();
  const auto moves = tiled();
  CHECK_NOTHROW(verify(moves, program));
  CHECK(moves.mapping.positions() == 128);
  CHECK(moves.mapping.rounds() == 2);
  CHECK(moves.tiles(program) == 3 * 3);  // 40 / 16, rounded up, by 48 / 16
  CHECK(moves.tile_points() == 256);
  CHECK(moves.tiles_per_block() == 1);
  CHECK(moves.blocks(program) == 9);
  CHECK(moves.shared_bytes(program) == 2048);
  auto warps = moves;
  warps.mapping.workers = warps.stage->mapping.workers = 32;
  warps.stage->memory = StageMemory::registers;
  CHECK(warps.tiles_per_block() == 2);
  CHECK(warps.blocks(program) == 5);
  CHECK(warps.shared_bytes(program) == 0);
  CHECK_NOTHROW(verify(warps, program));
  // Elements that pass between warps go through rows of 17.
  auto between = warps;
  between.mapping.workers = between.stage->mapping.workers = 64;
  CHECK(between.shared_bytes(program) == 16 * 17 * 8);
  CHECK_NOTHROW(verify(between, program));
}

TEST_CASE("each rule of tiles in registers, broken once") {
  const auto program = test::canonical(test::dense("ab->ba", {512, 256}, DType::f32));
  auto good = tiled();
  good.stage->memory = StageMemory::registers;
  const auto threads = [](Moves& s, int workers) {
    s.threads = s.mapping.workers = s.stage->mapping.workers = workers;
  };
  const auto whole = [](Moves& s) {
    s.tile = {256, 512};
    s.mapping.digits = {{1, 512, 1}, {0, 256, 1}};
    s.stage->mapping.digits = {{0, 256, 1}, {1, 512, 1}};
  };
  auto large = good;
  whole(large);
  threads(large, 1024);
  CHECK_NOTHROW(verify(large, program));
  CHECK(large.shared_bytes(program) == 257 * 512 * 4);
  check_rules(good, program,
              {
                  {"registers belong to whole warps of a block", [&](Moves& s) { threads(s, 16); }},
                  {"registers belong to whole warps of a block", [&](Moves& s) { threads(s, 2048); }},
                  {"a thread's part of a tile fits into its registers",
                   [&](Moves& s) {
                     whole(s);
                     threads(s, 512);
                   }},
                  {"a tile in registers has 16 digits at most",
                   [&](Moves& s) {
                     whole(s);
                     threads(s, 1024);
                     s.mapping.digits.clear();
                     for (int k = 0; k < 9; ++k) s.mapping.digits.push_back({1, 2, 1 << k});
                     for (int k = 0; k < 8; ++k) s.mapping.digits.push_back({0, 2, 1 << k});
                   }},
                  {"a tile whose elements pass between warps has a block to itself", [](Moves& s) { s.threads = 128; }},
              });
}

TEST_CASE("each rule of moves, broken once") {
  check_rules(
      tiled(), transpose(),
      {
          {"a tile has an extent and a place in the order per index", [](Moves& s) { s.tile.pop_back(); }},
          {"a tile has an extent and a place in the order per index", [](Moves& s) { s.order.push_back(0); }},
          {"the order names every index once", [](Moves& s) { s.order = {1, 1}; }},
          {"a tile lies between 1 and the extent", [](Moves& s) { s.tile[0] = 41; }},
          {"a tile lies between 1 and the extent", [](Moves& s) { s.tile[1] = 0; }},
          {"a digit belongs to an index", [](Moves& s) { s.mapping.digits[0].index = 2; }},
          {"a digit belongs to an index", [](Moves& s) { s.stage->mapping.digits[0].index = -1; }},
          {"digits of one index follow each other without gaps", [](Moves& s) { s.mapping.digits[0].step = 2; }},
          {"digits of one index follow each other without gaps",
           [](Moves& s) { s.mapping.digits = {{1, 8, 1}, {0, 16, 1}, {1, 2, 4}}; }},
          {"a mapping covers its tile", [](Moves& s) { s.mapping.digits[1].count = 8; }},
          {"a mapping covers its tile", [](Moves& s) { s.stage->mapping.digits.pop_back(); }},
          {"a vector divides the first digit", [](Moves& s) { s.mapping.vector = 3; }},
          {"a vector divides the first digit",
           [](Moves& s) { s.mapping.digits = {{1, 1, 1}, {1, 16, 1}, {0, 16, 1}}; }},
          {"a mapping has workers", [](Moves& s) { s.mapping.workers = 0; }},
          {"tiles share a block's threads evenly", [](Moves& s) { s.threads = 96; }},
          {"a stage belongs to a load", [](Moves& s) { s.stage->load = -1; }},
          {"a stage belongs to a load", [](Moves& s) { s.stage->load = 1; }},
          {"a stage uses the statement's workers", [](Moves& s) { s.stage->mapping.workers = 32; }},
          {"a swizzle is a bijection", [](Moves& s) { s.stage->layout.mask = 6; }},
          {"a swizzle is a bijection", [](Moves& s) { s.stage->layout.shift = 3; }},
          {"shared memory has a stride per index", [](Moves& s) { s.stage->layout.stride = {1}; }},
          {"points of a tile lie apart in shared memory", [](Moves& s) { s.stage->layout.stride = {1, 15}; }},
          {"points of a tile lie apart in shared memory", [](Moves& s) { s.stage->layout.stride = {0, 16}; }},
          {"points of a tile lie apart in shared memory", [](Moves& s) { s.stage->layout.stride = {-1, 16}; }},
          {"shared memory holds the tile", [](Moves& s) { s.stage->layout.elements = 255; }},
          {"shared memory holds the tile", [](Moves& s) { s.stage->layout.stride = {1, 17}; }},
      });
}

namespace {

/// The same tile in rectangles of 2 x 2, kept along the output.
Moves transposed_rectangles() {
  auto moves = tiled();
  moves.stage->mapping.digits = {{0, 16, 1}, {1, 2, 1}, {1, 8, 2}};
  moves.stage->mapping.rows = 2;
  moves.stage->layout = {{16, 1}, 4, 1, 7, 256};
  return moves;
}

}  // namespace

TEST_CASE("rectangles are positions of a stage") {
  const auto moves = transposed_rectangles();
  verify(moves, transpose());
  const auto& mapping = moves.stage->mapping;
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
  CHECK(keeps_vectors(moves, stored));
  CHECK(keeps_vectors(moves, moves.mapping));
  CHECK_FALSE(keeps_vectors(moves, mapping));
}

TEST_CASE("each rule of rectangles, broken once") {
  const char* const kept = "a rectangle's rows are the statement's vectors, side by side in shared memory";
  check_rules(transposed_rectangles(), transpose(),
              {
                  {"the rows of a rectangle are the second digit", [](Moves& s) { s.stage->mapping.rows = 4; }},
                  {"the rows of a rectangle are the second digit",
                   [](Moves& s) { s.stage->mapping.digits = {{0, 16, 1}, {1, 16, 1}}; }},
                  {"only a stage has rectangles",
                   [](Moves& s) {
                     s.mapping.digits = {{1, 16, 1}, {0, 2, 1}, {0, 8, 2}};
                     s.mapping.rows = 2;
                   }},
                  {"rectangles wait in shared memory", [](Moves& s) { s.stage->memory = StageMemory::registers; }},
                  {kept, [](Moves& s) { s.stage->layout = {{1, 16}, 4, 1, 7, 256}; }},
                  {kept, [](Moves& s) { s.stage->layout.unit = 0; }},
                  {kept,
                   [](Moves& s) {
                     s.stage->mapping.digits = {{0, 16, 1}, {1, 4, 1}, {1, 4, 4}};
                     s.stage->mapping.rows = 4;
                   }},
              });
}

namespace {

/// Blocks of 4 x 4 in registers, along the input first, by nontemporal stores.
Moves streaming() {
  Moves moves;
  moves.tile = {48, 16};
  moves.order = {0, 1};
  moves.threads = 1;
  moves.mapping = {{{1, 4, 1}, {0, 48, 1}, {1, 4, 4}}, 4, 1};
  Stage stage;
  stage.load = 0;
  stage.memory = StageMemory::registers;
  stage.mapping = {{{0, 48, 1}, {1, 16, 1}}, 4, 1};
  moves.stage = stage;
  moves.streaming = true;
  return moves;
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
          {"a line carry copies from an array by nontemporal stores", [](Moves& s) { s.stage->line_carry = 1; }},
          {"vectors of a CPU lie along the output's contiguous index",
           [](Moves& s) { s.mapping.digits = {{0, 48, 1}, {1, 16, 1}}; }},
          {"a block is read along the input's contiguous index",
           [](Moves& s) { std::swap(s.stage->mapping.digits[0], s.stage->mapping.digits[1]); }},
          {"a block fits into the extents of its indices",
           [](Moves& s) { s.mapping.vector = s.stage->mapping.vector = 64; }},
          {"a block is square", [](Moves& s) { s.stage->mapping.vector = 8; }},
          {"digits do not cut blocks", [](Moves& s) { s.mapping.digits = {{1, 2, 1}, {0, 48, 1}, {1, 8, 2}}; }},
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
          {"a block is kept across neighbours in the array", [](Moves& s) { s.stage->layout.stride = {1, 40}; }},
          {"a block is kept across neighbours in the array", [](Moves& s) { s.stage->across = 2; }},
          {"a block is read along neighbours in the input", [](Moves& s) { s.stage->along = 2; }},
          {"a block is read along neighbours in the input", [](Moves& s) { s.stage->along = 0; }},
          {"a block fits into the extents of its indices", [](Moves& s) { s.stage->mapping.vector = 64; }},
          {"a block has a power of two of columns", [](Moves& s) { s.stage->mapping.vector = 24; }},
          {"a vector holds parts of a power of two of rows", [](Moves& s) { s.stage->row_packing = 3; }},
          {"a vector holds parts of a power of two of rows", [](Moves& s) { s.stage->row_packing = 0; }},
          {"a prefetch distance needs nontemporal stores",
           [](Moves& s) {
             s.stage->prefetch_distance = 2;
             s.streaming = false;
           }},
          {"a prefetch distance needs nontemporal stores", [](Moves& s) { s.stage->prefetch_distance = -1; }},
          {"shared memory holds the tile", [](Moves& s) { s.stage->layout.elements -= 1; }},
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
                  {"a line carry copies from an array by nontemporal stores", [](Moves& s) { s.streaming = false; }},
                  {"a line carry runs along an index whose next tile continues the runs",
                   [](Moves& s) { s.stage->line_carry = 0; }},
                  {"runs with a line carry are no shorter than a line",
                   [](Moves& s) {
                     s.tile = {32, 4};
                     s.mapping.digits = {{1, 4, 1}, {0, 32, 1}};
                     s.stage->mapping.digits = {{0, 32, 1}, {1, 4, 1}};
                   }},
              });
  good.stage->line_carry = -1;
  // The last tile along b begins 16 before the end, and what it shares with the one before is written twice.
  auto adds = test::dense("ab->ba", {40, 48});
  adds.beta = ir::Factor::one;
  CHECK_THROWS_WITH(verify(good, test::canonical(adds)),
                    Catch::Matchers::ContainsSubstring("tiles that overlap add to nothing"));
  good.tile = {16, 8};
  good.mapping.digits = {{1, 8, 1}, {0, 16, 1}};
  good.stage->mapping.digits = {{0, 16, 1}, {1, 8, 1}};
  CHECK_NOTHROW(verify(good, test::canonical(adds)));
}

namespace {

/// The same tiles, cut where the output's sectors begin: four doubles.
Moves skewed() {
  auto moves = tiled();
  moves.skew = {1, 4};
  moves.stage->mapping = {{{0, 16, 1}, {1, 19, 1}}, 2, 64};
  moves.stage->layout.elements = 304;
  return moves;
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
                  {"a skew belongs to an index", [](Moves& s) { s.skew.index = 2; }},
                  {"a skew is a power of two that divides the tile", [](Moves& s) { s.skew.elements = 3; }},
                  {"a skew is a power of two that divides the tile", [](Moves& s) { s.skew.elements = 32; }},
                  {"a skew runs along the output's contiguous index", [](Moves& s) { s.skew.index = 0; }},
                  {"a skewed tile waits in shared memory", [](Moves& s) { s.stage.reset(); }},
                  {"a skewed tile waits in shared memory", [](Moves& s) { s.stage->memory = StageMemory::registers; }},
                  {"a mapping covers its tile", [](Moves& s) { s.stage->mapping.digits[1].count = 16; }},
                  {"shared memory holds the tile", [](Moves& s) { s.stage->layout.elements = 256; }},
              });
  auto scaled = test::dense("ab->ba", {48, 40});
  scaled.alpha = ir::Factor::any;
  check_rules(skewed(), test::canonical(scaled), {{"a skewed tile is moved as it is", [](Moves&) {}}});
}

TEST_CASE("a layout without padding to the swizzle's group reaches past its end") {
  const auto program = transpose();
  auto moves = tiled();
  moves.stage->layout.stride = {1, 17};
  moves.stage->layout.elements = 16 * 17;  // enough for 15 * 17 + 16, and a multiple of the group of 16
  CHECK_NOTHROW(verify(moves, program));
}

}  // namespace kernel_moves_rules_test
