// Counted traffic against counting one by one: sectors of every tile, wavefronts of every access.
#include "plan/models/traffic.hpp"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "plan/models/banks.hpp"
#include "programs.hpp"

namespace plan_traffic_test {

using namespace ricci;
using namespace ricci::ir;
using ir::Program;
using kernel::Moves;
using kernel::SharedLayout;
using kernel::ThreadMapping;
using ricci::plan::kSectorBytes;
using ricci::plan::side_traffic;
using ricci::plan::wavefronts;

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/// Sectors that hold elements of a tile, summed over the tiles, for a base at the beginning of a sector.
std::int64_t sectors_one_by_one(const Program& program, const Moves& moves, int buffer, const Affine& affine) {
  const auto size = size_of(program.buffers[static_cast<std::size_t>(buffer)].type);
  const auto rank = program.indices.size();
  std::map<std::vector<std::int64_t>, std::set<std::int64_t>> of_tile;
  std::vector<std::int64_t> point(rank, 0);
  while (true) {
    auto offset = affine.constant;
    std::vector<std::int64_t> tile;
    for (std::size_t q = 0; q < rank; ++q) {
      offset += affine.coefficient[q] * point[q];
      tile.push_back(point[q] / moves.tile[q]);
    }
    for (auto byte = offset * size; byte < (offset + 1) * size; ++byte)
      of_tile[tile].insert(floor_div(byte, kSectorBytes));
    std::size_t q = rank;
    while (q > 0 && ++point[q - 1] == program.indices[q - 1].extent) point[--q] = 0;
    if (q == 0) break;
  }
  std::int64_t sum = 0;
  for (const auto& [tile, sectors] : of_tile) sum += static_cast<std::int64_t>(sectors.size());
  return sum;
}

struct Counted {
  plan::SideTraffic read, write;
  std::int64_t read_sectors, write_sectors;
};

Counted count(const EinsumProblem& problem, std::vector<std::int64_t> tile) {
  const auto program = test::lowered(problem);  // as written, so that tiles are in the order of the output's axes
  Moves moves;
  moves.tile = std::move(tile);
  const auto& load = program.nodes[0];
  const auto& statement = program.statement();
  return {side_traffic(program, moves, load.source, load.offset),
          side_traffic(program, moves, statement.buffer, statement.offset),
          sectors_one_by_one(program, moves, load.source, load.offset),
          sectors_one_by_one(program, moves, statement.buffer, statement.offset)};
}

EinsumProblem aligned(EinsumProblem problem) {
  problem.inputs[0].alignment = problem.output.alignment = 256;
  return problem;
}

/// What one access of up to 32 lanes costs: per bank, the number of different words asked for.
int cost_of(const std::vector<std::int64_t>& byte_addresses, std::int64_t access_bytes) {
  const std::size_t lanes = access_bytes <= 4 ? 32 : access_bytes == 8 ? 16 : 8;
  int cost = 0;
  for (std::size_t begin = 0; begin < byte_addresses.size(); begin += lanes) {
    std::map<std::int64_t, std::set<std::int64_t>> words_of_bank;
    for (std::size_t k = begin; k < std::min(begin + lanes, byte_addresses.size()); ++k) {
      for (auto byte = byte_addresses[k]; byte < byte_addresses[k] + access_bytes; ++byte) {
        words_of_bank[byte / 4 % 32].insert(byte / 4);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    cost += static_cast<int>(most);
  }
  return cost;
}

/// Wavefronts of every access of a tile; `vector` neighbours in one access or one after another.
int wavefronts_one_by_one(const ThreadMapping& mapping, const SharedLayout& layout, std::int64_t size, bool in_one) {
  const auto address_of = [&](std::int64_t element) {
    std::int64_t address = 0;
    for (const auto& digit : mapping.digits) {
      address += element % digit.count * digit.step * layout.stride[static_cast<std::size_t>(digit.index)];
      element /= digit.count;
    }
    return address ^ ((address >> layout.shift & layout.mask) << layout.unit);
  };
  int total = 0;
  for (std::int64_t first = 0; first < mapping.positions(); first += 32) {
    for (int v = 0; v < (in_one ? 1 : mapping.vector); ++v) {
      std::vector<std::int64_t> addresses;
      for (auto p = first; p < std::min(first + 32, mapping.positions()); ++p) {
        addresses.push_back(address_of(p * mapping.vector + v) * size);
      }
      total += cost_of(addresses, in_one ? size * mapping.vector : size);
    }
  }
  return total;
}

}  // namespace

TEST_CASE("whole sectors are counted exactly") {
  struct Row {
    const char* spec;
    std::vector<std::int64_t> extents;
    DType type;
    std::vector<std::int64_t> tile;  // in the output's order
  };
  const Row rows[] = {
      {"ab->ba", {16, 16}, DType::f64, {4, 4}},           {"ab->ba", {16, 16}, DType::f64, {16, 4}},
      {"ab->ba", {16, 32}, DType::f32, {8, 8}},           {"ab->ab", {16, 16}, DType::f64, {1, 8}},
      {"ab->ab", {16, 16}, DType::f64, {4, 16}},          {"a->a", {1024}, DType::u8, {256}},
      {"abc->cab", {8, 4, 16}, DType::f64, {4, 2, 4}},    {"abc->cab", {4, 8, 16}, DType::c128, {2, 1, 2}},
      {"abc->bac", {3, 5, 8}, DType::f64, {2, 2, 8}},     {"abcd->dcba", {4, 4, 4, 8}, DType::f64, {4, 4, 1, 4}},
      {"ab->ba", {64, 64}, DType::i16, {16, 32}},         {"ab->ba", {32, 64}, DType::i8, {32, 32}},
      {"abc->cba", {16, 3, 16}, DType::u16, {16, 1, 16}},
  };
  for (const auto& row : rows) {
    const auto counted = count(aligned(test::dense(row.spec, row.extents, row.type)), row.tile);
    INFO(row.spec << " " << name(row.type));
    CHECK(counted.read.whole_sectors);
    CHECK(counted.write.whole_sectors);
    CHECK(counted.read.sectors == static_cast<double>(counted.read_sectors));
    CHECK(counted.write.sectors == static_cast<double>(counted.write_sectors));
  }
}

TEST_CASE("runs are as long as the tile's neighbours in memory") {
  const auto whole = count(aligned(test::dense("abc->abc", {4, 8, 16})), {2, 8, 16});
  CHECK(whole.read.run_bytes == 2 * 8 * 16 * 8);
  CHECK(whole.read.bytes == 4 * 8 * 16 * 8);
  const auto part = count(aligned(test::dense("abc->abc", {4, 8, 16})), {4, 4, 16});
  CHECK(part.read.run_bytes == 4 * 16 * 8);
  const auto turned = count(aligned(test::dense("abc->cab", {4, 8, 16})), {2, 4, 8});  // c, a, b
  CHECK(turned.read.run_bytes == 2 * 8);
  CHECK(turned.write.run_bytes == 2 * 4 * 8 * 8);
}

TEST_CASE("rows that begin between sectors are counted to a tenth") {
  struct Row {
    const char* spec;
    std::vector<std::int64_t> extents;
    DType type;
    std::vector<std::int64_t> tile;
  };
  const Row rows[] = {
      {"ab->ba", {33, 35}, DType::f64, {8, 8}},          {"ab->ba", {33, 35}, DType::f64, {16, 4}},
      {"ab->ba", {67, 61}, DType::f32, {16, 16}},        {"abc->cab", {7, 9, 11}, DType::f64, {5, 7, 9}},
      {"ab->ba", {97, 99}, DType::i16, {32, 32}},        {"ab->ba", {129, 127}, DType::u8, {64, 64}},
      {"abc->cba", {15, 2, 17}, DType::f32, {8, 2, 15}}, {"ab->ab", {31, 33}, DType::f64, {1, 33}},
      {"ab->ab", {31, 34}, DType::f64, {1, 34}},
  };
  for (const auto& row : rows) {
    const auto counted = count(aligned(test::dense(row.spec, row.extents, row.type)), row.tile);
    INFO(row.spec << " " << name(row.type) << ": " << counted.read.sectors << " for " << counted.read_sectors << ", "
                  << counted.write.sectors << " for " << counted.write_sectors);
    CHECK(counted.read.sectors == Approx(static_cast<double>(counted.read_sectors)).epsilon(0.1));
    CHECK(counted.write.sectors == Approx(static_cast<double>(counted.write_sectors)).epsilon(0.1));
  }
}

TEST_CASE("a view that runs backwards ends where the base's sector begins") {
  // Elements 0, -1, -2, ... from the beginning of a sector: every run of 4 lies in two sectors.
  const auto problem = aligned(test::problem_of("ab->ab", Layout::strided(DType::f64, {8, 16}, {16, -1}),
                                                Layout::row_major(DType::f64, {8, 16})));
  const auto counted = count(problem, {1, 4});
  CHECK(counted.read_sectors == 8 * 4 * 2);
  CHECK_FALSE(counted.read.whole_sectors);
  CHECK(counted.read.sectors >= static_cast<double>(counted.read_sectors) * 0.85);
}

TEST_CASE("an offset between sectors is no whole sector") {
  auto program = test::lowered(aligned(test::dense("ab->ab", {8, 16})));
  program.nodes[0].offset.constant = 1;
  Moves moves;
  moves.tile = {1, 4};
  const auto side = side_traffic(program, moves, 0, program.nodes[0].offset);
  CHECK(sectors_one_by_one(program, moves, 0, program.nodes[0].offset) == 8 * 4 * 2);
  CHECK_FALSE(side.whole_sectors);
}

TEST_CASE("a broadcast reads each element once") {
  const auto counted = count(aligned(test::problem_of("ab->ab", Layout::strided(DType::f64, {8, 16}, {0, 1}),
                                                      Layout::row_major(DType::f64, {8, 16}))),
                             {8, 16});
  CHECK(counted.read.bytes == 16 * 8);
  CHECK(counted.read.sectors == static_cast<double>(counted.read_sectors));
}

TEST_CASE("wavefronts are counted exactly") {
  std::mt19937 random(5);
  const auto pick = [&](std::vector<std::int64_t> of) {
    return of[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(random)];
  };
  int swizzled = 0, vectors = 0, conflicts = 0;
  for (int k = 0; k < 400; ++k) {
    const auto x = pick({4, 8, 16, 24, 32, 33}), y = pick({4, 5, 8, 16, 32}), size = pick({1, 2, 4, 8, 16});
    const auto vector = static_cast<int>(pick({1, 2, 4}));
    if (x % vector != 0 || size * vector > 16) continue;
    Moves moves;
    moves.tile = {x, y};
    const ThreadMapping mapping = {{{0, x, 1}, {1, y, 1}}, vector, 128};
    SharedLayout layout;
    const auto pad = pick({0, 0, 1, 2, 4});
    const bool along = k % 2 == 0;  // the mapping runs along the rows of the tile, or across them
    layout.stride = along ? std::vector<std::int64_t>{1, x + pad} : std::vector<std::int64_t>{y + pad, 1};
    layout.mask = pick({0, 0, 3, 7, 15});
    while ((1 << layout.unit) < vector) ++layout.unit;
    layout.shift = layout.unit + 4;
    layout.elements = 1 << 14;
    const bool in_one = vector > 1 && along && layout.stride[1] % vector == 0;
    const auto counted = wavefronts(moves, mapping, layout, size, 1 << 20);
    INFO(x << " x " << y << ", " << size << " bytes, vector " << vector << ", pad " << pad << ", mask " << layout.mask);
    const auto expected = wavefronts_one_by_one(mapping, layout, size, in_one);
    REQUIRE(counted.counted == static_cast<double>(expected));
    CHECK(counted.ideal <= counted.counted);
    swizzled += layout.mask != 0;
    vectors += in_one;
    conflicts += counted.counted > counted.ideal;
  }
  CHECK(swizzled > 50);  // the cases are worth something
  CHECK(vectors > 20);
  CHECK(conflicts > 50);
}

TEST_CASE("known costs of shared memory") {
  Moves moves;
  moves.tile = {32, 32};
  const auto cost = [&](std::vector<std::int64_t> stride, std::int64_t size, std::int64_t mask) {
    SharedLayout layout;
    layout.stride = std::move(stride);
    layout.mask = mask;
    layout.shift = 5;
    layout.elements = 32 * 33;
    return wavefronts(moves, {{{0, 32, 1}, {1, 32, 1}}, 1, 256}, layout, size, 1 << 20).counted;
  };
  CHECK(cost({1, 32}, 4, 0) == 32);       // along the rows
  CHECK(cost({32, 1}, 4, 0) == 32 * 32);  // across: all lanes in one bank
  CHECK(cost({33, 1}, 4, 0) == 32);       // one word of padding
  CHECK(cost({32, 1}, 4, 31) == 32);      // a swizzle needs none
  CHECK(cost({1, 32}, 8, 0) == 64);       // 8 bytes go by half-warps
  CHECK(cost({32, 1}, 8, 0) == 64 * 16);
}

TEST_CASE("rectangles are as many accesses as they have rows") {
  // 64 x 64 elements of 4 bytes in rectangles of 4 x 4, 16 along index 0 and 16 along index 1.
  Moves moves;
  moves.tile = {64, 64};
  const ThreadMapping mapping = {{{0, 64, 1}, {1, 4, 1}, {1, 16, 4}}, 4, 256, 4};
  const auto stored = register_transposed(mapping);
  SharedLayout layout;
  layout.stride = {64, 1};
  layout.elements = 64 * 64;
  // 8 warps of 4 accesses each, in quarters. Sixteen lanes lie 256 elements apart, without a swizzle in the same bank.
  const double quarters = 8 * 4 * 4;
  const auto plain = wavefronts(moves, stored, layout, 4, 1 << 20);
  CHECK(plain.ideal == quarters);
  CHECK(plain.counted == quarters * 8);
  layout.shift = 8;
  layout.mask = 7;
  layout.unit = 2;
  CHECK(wavefronts(moves, stored, layout, 4, 1 << 20).counted == quarters);
  // Each access of a warp reads two rows of 256 bytes: four lines.
  Affine rows;
  rows.coefficient = {1, 1024};
  CHECK(plan::lines_of_mapping(mapping, rows, 4, 1 << 20) == 8 * 4 * 4);
  CHECK(plan::least_lines_of_mapping(mapping, rows, 4, 1 << 20) == 8 * 4 * 4);
}

TEST_CASE("blocks that a tile has in part") {
  // Rows of 384 bytes: whole ones end within a block, every other pair of them does not.
  const auto row = count(aligned(test::dense("ab->ab", {8, 96}, DType::f32)), {1, 96});
  CHECK(row.write.partial_blocks == 8);
  const auto pair = count(aligned(test::dense("ab->ab", {8, 96}, DType::f32)), {2, 96});
  CHECK(pair.write.partial_blocks == 0);
  CHECK(pair.read.partial_blocks == 0);
}

TEST_CASE("a sample of warps stands for all of them") {
  Moves moves;
  moves.tile = {32, 32};
  SharedLayout layout;
  layout.stride = {32, 1};
  layout.elements = 1024;
  const ThreadMapping mapping = {{{0, 32, 1}, {1, 32, 1}}, 1, 256};
  CHECK(wavefronts(moves, mapping, layout, 4, 4).counted == wavefronts(moves, mapping, layout, 4, 1 << 20).counted);
}

}  // namespace plan_traffic_test
