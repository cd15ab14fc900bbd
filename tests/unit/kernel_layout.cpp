// Layouts: who holds which element, by modes of any extents.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "catch.hpp"
#include "kernel/layout.hpp"
#include "kernel/warp_group.hpp"
#include "kernel/warp_tile.hpp"
#include "ricci/error.hpp"

namespace kernel_layout_test {

using namespace ricci::kernel;

namespace {

using Chain = std::array<Layout, 1>;

Exchange between(const Layout& to, const Layout& from) { return exchange(Chain{to}, Chain{from}); }

/// Rows of so many columns, `pitch` elements apart.
Layout rows(std::int64_t count, std::int64_t columns, std::int64_t pitch, Swizzle swizzle = {}) {
  Layout made{.shape = {count, columns, 1}, .swizzle = swizzle};
  return made.add(LayoutAxis::memory, columns, 1, 1).add(LayoutAxis::memory, count, 0, 1, pitch);
}

/// The place of every element, by the definition of a tile in rows.
void check_rows(const Layout& layout, std::int64_t pitch) {
  for (std::int64_t r = 0; r < layout.shape[0]; ++r) {
    for (std::int64_t c = 0; c < layout.shape[1]; ++c) {
      const auto place = layout.swizzle(layout.start + pitch * r + c);
      REQUIRE(layout.holder({r, c}) == Spot{.memory = place});
      REQUIRE(layout.at({.memory = place}) == Point{r, c});
    }
  }
}

constexpr Spread kSpreads[] = {{1, 1, 1, 1, 1, 1}, {2, 2, 1, 1, 1, 1}, {4, 1, 2, 4, 2, 1}, {1, 3, 4, 1, 4, 1}};

}  // namespace

TEST_CASE("an element of rows in memory is where its coordinates say, and is found there") {
  check_rows(rows(7, 12, 12), 12);
  check_rows(rows(5, 9, 13), 13);
  auto shifted = rows(4, 6, 10);
  shifted.start = 30;
  check_rows(shifted, 10);
  CHECK(shifted.holder({4, 0}) == std::nullopt);
  CHECK(shifted.holder({0, 6}) == std::nullopt);
  CHECK(rows(7, 12, 12).size(LayoutAxis::memory) == 84);
  CHECK(rows(7, 12, 15).size(LayoutAxis::memory) == 6 * 15 + 12);
}

TEST_CASE("a swizzle is undone where an element is looked for") {
  const Swizzle swizzle{5, 3, 3};
  REQUIRE(swizzle.is_bijection());
  CHECK(swizzle.group() == 32);
  check_rows(rows(8, 32, 32, swizzle), 32);
  CHECK(rows(8, 32, 32, swizzle).fault().empty());
  CHECK_FALSE(Swizzle{4, 3, 3}.is_bijection());
  CHECK_FALSE(Swizzle{5, 2, 3}.is_bijection());
  CHECK(Swizzle{}.group() == 1);
}

TEST_CASE("layouts that hold each element once, or as often as they say") {
  Layout thirds{.shape = {15, 14, 1}};
  thirds.add(LayoutAxis::reg, 5, 0, 3)
      .add(LayoutAxis::lane, 3, 0, 1)
      .add(LayoutAxis::lane, 7, 1, 2)
      .add(LayoutAxis::reg, 2, 1, 1);
  CHECK(thirds.fault().empty());
  CHECK(thirds.size(LayoutAxis::lane) == 21);
  CHECK(thirds.size(LayoutAxis::reg) == 10);
  CHECK(thirds.size(LayoutAxis::reg, 0) == 5);
  CHECK(thirds.at({.reg = 7, .lane = 20}) == Point{2 + 3 * 2, 2 * 6 + 1});
  CHECK(thirds.holder({8, 13}) == Spot{.reg = 7, .lane = 20});

  auto copies = thirds;
  copies.add(LayoutAxis::warp, 3, 0, 0);
  CHECK(copies.replicas() == 3);
  CHECK(copies.fault().empty());
  CHECK(copies.holder({8, 13}) == Spot{.reg = 7, .lane = 20});

  const auto fault = [&](std::int64_t step, std::int64_t stride) {
    Layout other{.shape = {15, 2, 1}};
    other.add(LayoutAxis::lane, 3, 0, 1).add(LayoutAxis::lane, 5, 0, step, stride).add(LayoutAxis::reg, 2, 1, 1);
    return other.fault();
  };
  CHECK(fault(3, 3).empty());
  CHECK(fault(2, 3).find("is held twice") != std::string::npos);
  CHECK(fault(4, 3).find("lane 12 holds row 16") != std::string::npos);
  CHECK(fault(3, 2).find("and another element") != std::string::npos);
  Layout few{.shape = {4, 4, 1}};
  CHECK(few.add(LayoutAxis::memory, 8, 1, 1).fault() == "8 spots are not 1 for each of 16 elements");
}

TEST_CASE("tiles of tiles, and coordinates numbered anew") {
  Layout atom{.shape = {3, 4, 1}}, warps{.shape = {2, 5, 1}};
  atom.add(LayoutAxis::lane, 3, 0, 1);
  atom.add(LayoutAxis::lane, 4, 1, 1);
  warps.add(LayoutAxis::warp, 2, 0, 1).add(LayoutAxis::reg, 5, 1, 1);
  const auto block = product(atom, warps);
  CHECK(block.shape == Point{6, 20, 1});
  CHECK(block.fault().empty());
  CHECK(block.at({.reg = 3, .lane = 7, .warp = 1}) == Point{3 + 1, 12 + 2});

  // Columns in runs of two, 10 apart.
  Layout order{.shape = {20, 1, 1}};
  order.add(LayoutAxis::memory, 2, 0, 10).add(LayoutAxis::memory, 10, 0, 1);
  const auto other = composed(block, 1, order);
  CHECK(other.fault().empty());
  for (std::int64_t reg = 0; reg < 5; ++reg) {
    for (std::int64_t lane = 0; lane < 12; ++lane) {
      const auto before = block.at({.reg = reg, .lane = lane}), after = other.at({.reg = reg, .lane = lane});
      CHECK(after[0] == before[0]);
      CHECK(after[1] == order.at({.memory = before[1]})[0]);
    }
  }
  Layout thirds{.shape = {20, 1, 1}};
  thirds.add(LayoutAxis::memory, 3, 0, 1);
  CHECK_THROWS_AS(composed(block, 1, thirds), ricci::InternalError);
}

TEST_CASE("what lanes exchange from one layout to another") {
  // A row of two registers each to lanes, or columns.
  Layout by_rows{.shape = {6, 2, 1}}, by_columns{.shape = {6, 2, 1}};
  by_rows.add(LayoutAxis::lane, 6, 0, 1).add(LayoutAxis::reg, 2, 1, 1);
  by_columns.add(LayoutAxis::lane, 2, 1, 1).add(LayoutAxis::lane, 3, 0, 1).add(LayoutAxis::reg, 2, 0, 3);
  const auto same = between(by_rows, by_rows);
  CHECK(same.by == Exchange::By::registers);
  CHECK(same.registers_for(1) == std::vector<std::int64_t>{1});

  const auto made = between(by_columns, by_rows);
  CHECK(made.by == Exchange::By::shuffles);
  REQUIRE(made.source.size() == 12);
  for (std::int64_t reg = 0; reg < 2; ++reg) {
    CHECK(made.registers_for(reg) == std::vector<std::int64_t>{0, 1});
    for (std::int64_t lane = 0; lane < 6; ++lane) {
      const auto point = by_columns.at({.reg = reg, .lane = lane});
      CHECK(made.source[static_cast<std::size_t>(reg * 6 + lane)] == Spot{.reg = point[1], .lane = point[0]});
    }
  }
  Layout warps{.shape = {6, 2, 1}};
  warps.add(LayoutAxis::lane, 6, 0, 1).add(LayoutAxis::warp, 2, 1, 1);
  CHECK(between(by_rows, warps).by == Exchange::By::memory);

  // Orders of 6 x 3 and of 2 x 3 x 3 dealt to two warps of two lanes, which have what they get, each in another
  // register.
  Layout shared{.shape = {18, 1, 1}}, straight{.shape = {18, 1, 1}}, parted{.shape = {18, 1, 1}};
  shared.add(LayoutAxis::lane, 2, 0, 1).add(LayoutAxis::warp, 2, 0, 2).add(LayoutAxis::reg, 5, 0, 4);
  straight.add(LayoutAxis::memory, 18, 0, 1);
  parted.add(LayoutAxis::memory, 2, 0, 1).add(LayoutAxis::memory, 3, 0, 6).add(LayoutAxis::memory, 3, 0, 2);
  const auto apart = exchange(std::array{shared, parted}, std::array{shared, straight});
  CHECK(apart.by == Exchange::By::registers);
  CHECK(apart.registers_for(0) == std::vector<std::int64_t>{0, 1});
  CHECK(apart.registers_for(4) == std::vector<std::int64_t>{4});

  // An order of 3 x 5 dealt to lanes two at a time, whose digits do not end where lanes do: read along 5, held along 3.
  Layout dealt{.shape = {15, 1, 1}}, along{.shape = {15, 1, 1}}, across{.shape = {15, 1, 1}};
  dealt.add(LayoutAxis::lane, 4, 0, 1).add(LayoutAxis::reg, 4, 0, 4);
  along.add(LayoutAxis::memory, 15, 0, 1);
  across.add(LayoutAxis::memory, 3, 0, 5).add(LayoutAxis::memory, 5, 0, 1);
  const auto turned = exchange(std::array{dealt, across}, std::array{dealt, along});
  for (std::int64_t n = 0; n < 16; ++n) {
    const auto& source = turned.source[static_cast<std::size_t>(n)];
    if (n == 15) {
      CHECK(source == std::nullopt);
      continue;
    }
    const auto number = n % 3 * 5 + n / 3;
    CHECK(source == Spot{.reg = number / 4, .lane = number % 4});
  }
}

TEST_CASE("sums of one product are factors of the next one, by which exchange layouts say") {
  // Pairs of neighbours both: the same lane, as flash attention has it.
  const auto* half = find_atom("m16n8k8_f16");
  REQUIRE(half != nullptr);
  const auto pairs = between(half->a.layout, half->c.layout);
  CHECK(pairs.by == Exchange::By::registers);
  const auto* whole = find_atom("m16n8k8_f64");
  REQUIRE(whole != nullptr);
  const auto words = between(whole->a.layout, whole->c.layout);
  CHECK(words.by == Exchange::By::shuffles);
  CHECK(words.registers_for(0) == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("every atom's fragments and every tile of them are held once") {
  std::vector<const Atom*> atoms;
  for (const auto& atom : kAtoms) atoms.push_back(&atom);
  for (const auto& atom : kGroupAtoms) atoms.push_back(&atom);
  for (const char* name : {"fma", "fma_row", "fma_batch8", "fma_batch32"}) atoms.push_back(find_fma(name));
  int tiles = 0;
  for (const auto* atom : atoms) {
    for (const auto* fragment : {&atom->a, &atom->b, &atom->c}) {
      INFO(atom->name);
      CHECK(fragment->layout.fault() == "");
      CHECK(fragment->layout.size(LayoutAxis::lane) == kWarp);
    }
    for (auto spread : kSpreads) {
      spread.run_depth = std::max(atom->a.per_register() > 1 ? atom->a.per_register() : spread.run_depth, 1);
      const std::int64_t deep = std::int64_t{2} * atom->k * spread.run_depth;
      for (const auto sums : {ricci::DType::f32, ricci::DType::c64}) {
        const auto tile = warp_tile(std::string(atom->name), spread, {{0, 96}}, {{1, 72}}, {{2, deep}}, sums);
        INFO(fmt::format("{} {}x{} warps, runs {} {} {}", atom->name, spread.warp_rows, spread.warp_columns,
                         spread.run_rows, spread.run_columns, spread.run_depth));
        const auto a = tile.a(), b = tile.b(), c = tile.c();
        for (const auto* layout : {&a, &b, &c}) CHECK(layout->fault() == "");
        CHECK(a.shape == Point{tile.rows.padded, tile.depth.padded, batch_lanes(*atom)});
        CHECK(c.shape == Point{tile.rows.padded, tile.columns.padded, batch_lanes(*atom)});
        // A lane's first element of C is of the row and the column that it has of A and B.
        for (std::int64_t lane = 0; lane < kWarp; ++lane) {
          if (tile.fma()) CHECK(c.at({.lane = lane})[1] == b.at({.lane = lane})[1]);
          CHECK(c.at({.lane = lane})[0] == a.at({.lane = lane})[0]);
        }
        ++tiles;
      }
    }
  }
  CHECK(tiles == static_cast<int>(atoms.size()) * 4 * 2);
}

TEST_CASE("wavefronts of a warp by the banks that its words lie in") {
  Layout column{.shape = {32, 32, 1}};
  column.add(LayoutAxis::lane, 32, 0, 1);
  const auto held = column.lanes();
  const auto count = [&](const Layout& memory, std::int64_t size, std::int64_t bytes) {
    return wavefronts(held, memory, size, bytes);
  };
  CHECK(count(rows(32, 32, 32), 4, 4) == 32);
  CHECK(count(rows(32, 32, 33), 4, 4) == 1);
  CHECK(count(rows(32, 32, 32, {5, 31, 0}), 4, 4) == 1);
  CHECK(count(rows(32, 32, 36), 4, 16) == least_wavefronts(16));
  CHECK(least_wavefronts(16) == 4);
  CHECK(wavefronts(held, rows(32, 32, 32), 8, 8, 5) >= 5);
  // Columns in panels: a coordinate of two modes.
  Layout panels{.shape = {32, 32, 1}};
  panels.add(LayoutAxis::memory, 16, 1, 1).add(LayoutAxis::memory, 32, 0, 1).add(LayoutAxis::memory, 2, 1, 16);
  REQUIRE(panels.fault().empty());
  CHECK(count(panels, 4, 4) == 16);
}

}  // namespace kernel_layout_test
