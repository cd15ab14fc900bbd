// Long loops cut into tiles give what they gave whole.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "ir/builder.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/split.hpp"

namespace ir_split_test {

using namespace ricci;
using ir::NodeKind;
using ir::OpCode;

namespace {

/// Slots with small whole numbers, exact in every order; workspace holds rubbish.
std::vector<std::vector<char>> memory_of(const ir::Sequence& sequence) {
  std::mt19937 random(3);
  std::vector<std::vector<char>> memory;
  for (const auto& storage : sequence.storages) {
    auto& bytes = memory.emplace_back(static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)), '\x5a');
    const auto put = [&](auto zero) {
      for (std::size_t i = 0; i < bytes.size() / sizeof zero; ++i) {
        const auto value = static_cast<decltype(zero)>(random() % 7);
        std::memcpy(bytes.data() + i * sizeof zero, &value, sizeof zero);
      }
    };
    if (storage.role == ir::Role::workspace) continue;
    if (storage.type == DType::f32) put(0.0f);
    if (storage.type == DType::f64) put(0.0);
    if (storage.type == DType::i32) put(std::int32_t{0});
    if (storage.type == DType::i64) put(std::int64_t{0});
    if (storage.type == DType::u64) put(std::uint64_t{0});
  }
  return memory;
}

std::vector<std::vector<char>> executed(const ir::Sequence& sequence, const std::vector<Scalar>& params) {
  auto memory = memory_of(sequence);
  std::vector<void*> storages;
  for (auto& bytes : memory) storages.push_back(bytes.data());
  ir::interpret(sequence, storages, params);
  return memory;
}

const ir::SplitLimits kSmall{.longest = 64, .workers = 12, .parts = 24, .least = 16};

/// The sequence cut, after a check that it gives the same bits.
ir::Sequence cut(const ir::Program& program, const ir::SplitLimits& limits = kSmall,
                 const std::vector<Scalar>& params = {}) {
  const auto whole = sequence_of(program);
  const auto tiles = ir::split_long(whole, limits);
  const auto wanted = executed(whole, params), got = executed(tiles, params);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    INFO(whole.storages[k].name);
    for (const auto& step : tiles.steps) UNSCOPED_INFO(ir::print(step.program));
    REQUIRE(wanted[k] == got[k]);
  }
  for (std::size_t k = wanted.size(); k < tiles.storages.size(); ++k) {
    CHECK(tiles.storages[k].role == ir::Role::workspace);
  }
  return tiles;
}

struct Scan {
  OpCode op = OpCode::add;
  DType type = DType::i32;
  bool exclusive = true, in_place = false, starts = false, exact = true;
  std::int64_t points = 1, length = 1000, step = 1;
};

ir::Program program_of(const Scan& s) {
  ir::Builder b;
  b.program.exact = s.exact;
  b.program.indices = {{"p", s.points}, {"q", s.length}};
  const auto row = (s.length + 3) * s.step;
  auto& buffers = b.program.buffers;
  buffers.push_back({"y", s.type, true, 0, s.points * row + 5, 0});
  if (!s.in_place) buffers.push_back({"x", s.type, false, 0, s.points * row, 0});
  buffers.push_back({"w", s.type, false, 0, s.points, 0});
  const auto x = s.in_place ? b.load(0, {{row, s.step}, 2}) : b.load(1, {{row, s.step}, 0});
  const auto start = s.starts ? b.load(s.in_place ? 1 : 2, {{1, 0}, 0}) : -1;
  b.store(0, {{row, 0}, 2}, b.scan(s.op, x, 1, s.exclusive, start), s.step);
  return b.finish();
}

std::size_t count(const ir::Sequence& sequence, NodeKind kind) {
  std::size_t number = 0;
  for (const auto& step : sequence.steps) {
    for (const auto& node : step.program.nodes) number += node.kind == kind;
  }
  return number;
}

}  // namespace

TEST_CASE("a long scan becomes partial results, their scan and scans of tiles") {
  using enum DType;
  for (const bool exclusive : {false, true}) {
    for (const bool starts : {false, true}) {
      for (const std::int64_t length : {65, 100, 128, 999, 1024, 1025, 4096}) {
        for (const std::int64_t points : {1, 3}) {
          CHECK(cut(program_of({.exclusive = exclusive, .starts = starts, .points = points, .length = length}))
                    .steps.size() == 3);
        }
      }
      auto lanes = kSmall;
      lanes.lanes_bytes = 32;
      for (const auto type : {i64, u64, f32, f64}) {
        cut(program_of({.type = type, .exclusive = exclusive, .starts = starts, .exact = false}));
        cut(program_of({.type = type, .exclusive = exclusive, .starts = starts, .exact = false, .points = 2}), lanes);
        for (const auto op : {OpCode::minimum, OpCode::maximum}) {
          const bool wide = is_integer(type);
          CHECK(cut(program_of({.op = op, .type = type, .exclusive = exclusive, .starts = starts})).steps.size() == 3);
          if (wide) cut(program_of({.op = OpCode::bit_and, .type = type, .exclusive = exclusive, .starts = starts}));
        }
      }
      cut(program_of({.exclusive = exclusive, .starts = starts, .points = 2, .step = 3}));
    }
  }
}

TEST_CASE("scans in place: inclusive ones tile by tile, exclusive ones from a copy") {
  CHECK(cut(program_of({.exclusive = false, .in_place = true, .points = 2})).steps.size() == 3);
  CHECK(cut(program_of({.exclusive = true, .in_place = true, .points = 2, .length = 1025})).steps.size() == 4);
}

TEST_CASE("sums inside of a scan are computed once") {
  for (const bool guarded : {false, true}) {
    ir::Builder b;
    b.program.indices = {{"q", 500}, {"k", 4}};
    b.program.buffers = {{"x", DType::i64, false, 0, 2003, 0}, {"y", DType::i64, true, 0, 500, 0}};
    auto body = b.reduce(OpCode::add, b.load(0, {{4, 1}, 0}), {1});
    const auto even =
        b.op(OpCode::equal, DType::u8, b.op(OpCode::remainder, DType::i64, b.index(0), b.constant(2, DType::i64)),
             b.constant(0, DType::i64));
    // Where a guard does not hold, it gives what changes no minimum.
    if (guarded) body = b.guard(even, body);
    b.store(1, {}, b.scan(guarded ? OpCode::minimum : OpCode::add, body, 0, true), 1);
    const auto tiles = cut(b.finish());
    REQUIRE(tiles.steps.size() == 4);
    CHECK(tiles.storages[2].last == 499);
  }
}

TEST_CASE("a long compaction begins where the tiles before it end") {
  for (const std::int64_t length : {100, 1000, 1024}) {
    for (const std::int64_t step : {1, 2}) {
      ir::Builder b;
      b.program.indices = {{"p", 2}, {"q", length}};
      b.program.buffers = {{"x", DType::i32, false, 0, 2 * length, 0},
                           {"at", DType::i64, false, 0, 1, 0},
                           {"y", DType::i64, true, 0, 4 * length + 20, 0}};
      const auto odd = b.op(OpCode::bit_and, DType::i32, b.load(0, {{length, 1}, 0}), b.constant(1, DType::i32));
      const auto base = b.op(
          OpCode::add, DType::i64, b.load(1, {{1}, 0}),
          b.op(OpCode::mul, DType::i64, b.index(0), b.constant(2.0 * static_cast<double>(length) + 8, DType::i64)));
      b.store(2, {}, b.compact(odd, b.index(1), base, 1), step);
      const auto tiles = cut(b.finish());
      CHECK(tiles.steps.size() == 3);
      CHECK(count(tiles, NodeKind::compact) >= 1);
    }
  }
}

TEST_CASE("long reductions of few points become partial results and their combination") {
  for (const auto& [points, length] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1000}, {3, 1024}, {5, 77}}) {
    ir::Builder b;
    b.program.exact = false;
    b.program.indices = {{"p", points}, {"q", length}};
    b.program.params = {{"f", DType::f64}};
    b.program.buffers = {{"x", DType::f64, false, 0, points * length, 0},
                         {"y", DType::f64, false, 0, length, 0},
                         {"s", DType::f64, true, 0, points, 0}};
    const auto product = b.op(OpCode::mul, DType::f64, b.load(0, {{length, 1}, 0}), b.load(1, {{0, 1}, 0}));
    const auto dot = b.reduce(OpCode::add, product, {1});
    const auto scaled = b.op(OpCode::mul, DType::f64, b.param(0), dot);
    b.store(2, {{1}, 0}, b.op(OpCode::add, DType::f64, scaled, b.load(2, {{1}, 0})));
    const auto program = b.finish();
    CHECK(cut(program, kSmall, {3.0}).steps.size() == 2);
    auto lanes = kSmall;
    lanes.lanes_bytes = 32;
    cut(program, lanes, {3.0});

    auto exact = program;
    exact.exact = true;
    CHECK(cut(exact, kSmall, {3.0}).steps.size() == 1);
  }
}

TEST_CASE("an index of one value is not cut") {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 1}, {"q", 1000}};
  b.program.buffers = {{"x", DType::f64, false, 0, 999, 0}, {"s", DType::f64, true, 0, 0, 0}};
  b.store(1, {{0, 0}, 0}, b.reduce(OpCode::add, b.load(0, {{1000, 1}, 0}), {0, 1}));
  CHECK(cut(b.finish()).steps.size() == 2);
}

TEST_CASE("accumulators over all pairs: the outer loop is cut, sums of others stay whole") {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"k", 6}, {"i", 64}, {"j", 50}};
  b.program.buffers = {{"x", DType::f32, false, 0, 400, 0},
                       {"y", DType::f32, false, 0, 400, 0},
                       {"a", DType::f32, true, 0, 5, 0},
                       {"n", DType::i64, true, 0, 5, 0}};
  const auto product = b.op(OpCode::mul, DType::f32, b.load(0, {{1, 6, 0}, 0}), b.load(1, {{1, 0, 6}, 0}));
  const auto sum = b.reduce(OpCode::add, product, {1, 2});
  b.store(2, {{1}, 0}, b.op(OpCode::add, DType::f32, b.load(2, {{1}, 0}), sum));
  const auto less = b.op(OpCode::less, DType::u8, b.index(1), b.index(2));
  const auto counted = b.reduce(OpCode::add, b.guard(less, b.constant(1, DType::i64)), {1, 2});
  b.store(3, {{1}, 0}, b.op(OpCode::add, DType::i64, counted, b.index(0)));
  const auto tiles = cut(b.finish());
  // Partial sums; partial counts; the count, once for all k; the statements.
  CHECK(tiles.steps.size() == 4);
}

TEST_CASE("what is short, or has points for all workers, or an order to keep, stays as it is") {
  CHECK(cut(program_of({.length = 64})).steps.size() == 1);
  CHECK(cut(program_of({.points = 12, .length = 100})).steps.size() == 1);
  CHECK(cut(program_of({.type = DType::f32, .exact = true})).steps.size() == 1);
  auto alone = kSmall;
  alone.exact_scans = alone.exact_reductions = false;
  CHECK(cut(program_of({}), alone).steps.size() == 1);
  CHECK(cut(program_of({.type = DType::f32, .exact = false}), alone).steps.size() == 3);
  auto never = kSmall;
  never.scans = false;
  CHECK(cut(program_of({.type = DType::f32, .exact = false}), never).steps.size() == 1);
}

TEST_CASE("sums of products of few tiles of points become equal parts, furthest apart in memory") {
  // C[a, b] = 3 + sum over c and d of A[a, c, d] * B[c, d, b], of 20 x 18 points: six tiles of 64.
  const auto product = [](std::int64_t c, std::int64_t d, bool exact) {
    ir::Builder b;
    b.program.exact = exact;
    b.program.indices = {{"a", 20}, {"b", 18}, {"c", c}, {"d", d}};
    b.program.buffers = {{"A", DType::f64, false, 0, 20 * c * d - 1, 0},
                         {"B", DType::f64, false, 0, c * d * 18 - 1, 0},
                         {"C", DType::f64, true, 0, 20 * 18 - 1, 0}};
    const auto x = b.load(0, {{c * d, 0, d, 1}, 0}), y = b.load(1, {{0, 1, 18 * d, 18}, 0});
    const auto sum = b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {2, 3});
    b.store(2, {{18, 1, 0, 0}, 0}, b.op(OpCode::add, DType::f64, b.constant(3, DType::f64), sum));
    return b.finish();
  };
  ir::SplitLimits limits;
  limits.tile_points = 64;
  limits.tile_workers = 24;
  const auto tiles = cut(product(60, 70, false), limits);
  REQUIRE(tiles.steps.size() == 2);
  REQUIRE(tiles.storages.size() == 4);
  // 4200 products are four parts of a thousand at least; 60 is divided by 4, 70 by 2 at most.
  CHECK(tiles.storages[3].last + 1 == 4 * 20 * 18);
  const auto& parts = tiles.steps[0].program;
  const auto& to = parts.statement().offset.coefficient;
  CHECK(std::count(to.begin(), to.end(), 20 * 18) == 1);  // the parts
  CHECK(std::count(to.begin(), to.end(), 1) == 1);
  CHECK(cut(product(53, 59, false), limits).steps.size() == 1);  // primes
  const auto each = cut(product(3, 1999, false), limits);        // primes, of which one is few parts
  REQUIRE(each.steps.size() == 2);
  CHECK(each.storages[3].last + 1 == 3 * 20 * 18);
  const auto more = cut(product(7, 599, false), limits);  // rather more parts than four than none
  REQUIRE(more.steps.size() == 2);
  CHECK(more.storages[3].last + 1 == 7 * 20 * 18);
  CHECK(cut(product(6, 70, false), limits).steps.size() == 1);  // short
  CHECK(cut(product(60, 70, true), limits).steps.size() == 1);  // in the order that is written
  limits.tile_workers = 8;
  CHECK(cut(product(60, 70, false), limits).steps.size() == 1);  // enough tiles for all
}

TEST_CASE("parts of several indices of a sum of products are combined by one step") {
  // C[a] = sum over p, q and r of A[a, p, q, r] * B[p, q, r]: no index makes as many parts as are wanted.
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 3}, {"p", 10}, {"q", 10}, {"r", 1009}};
  b.program.buffers = {{"A", DType::f64, false, 0, 3 * 100900 - 1, 0},
                       {"B", DType::f64, false, 0, 100900 - 1, 0},
                       {"C", DType::f64, true, 0, 2, 0}};
  const auto x = b.load(0, {{100900, 10090, 1009, 1}, 0}), y = b.load(1, {{0, 10090, 1009, 1}, 0});
  b.store(2, {{1, 0, 0, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {1, 2, 3}));
  ir::SplitLimits limits;
  limits.tile_points = 64;
  limits.tile_workers = 40;
  const auto tiles = cut(b.finish(), limits);
  REQUIRE(tiles.steps.size() == 2);
  REQUIRE(tiles.storages.size() == 4);
  CHECK(tiles.storages[3].last + 1 == 3 * 100);  // ten and ten
  const auto& parts = tiles.steps[0].program;
  const auto neighbours = std::find_if(parts.indices.begin(), parts.indices.end(),
                                       [](const auto& index) { return index.name.starts_with("r"); });
  REQUIRE(neighbours != parts.indices.end());
  CHECK(neighbours->extent == 1009);  // stay together
}

TEST_CASE("parts of sums of products read whole rows of memory, or come nearest to the number that is wanted") {
  // C[a] = sum over p, q and r of A[a, p, q, r] * B[p, q, r], of rows of 72 elements: 12 parts of one
  // tile of points are wanted.
  const auto parts_of = [](std::int64_t p, std::int64_t q, ir::CutOrder order) {
    ir::Builder b;
    b.program.exact = false;
    b.program.indices = {{"a", 64}, {"p", p}, {"q", q}, {"r", 72}};
    const auto row = p * q * 72;
    b.program.buffers = {{"A", DType::f64, false, 0, 64 * row - 1, 0},
                         {"B", DType::f64, false, 0, row - 1, 0},
                         {"C", DType::f64, true, 0, 63, 0}};
    const auto x = b.load(0, {{row, q * 72, 72, 1}, 0}), y = b.load(1, {{0, q * 72, 72, 1}, 0});
    b.store(2, {{1, 0, 0, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {1, 2, 3}));
    ir::SplitLimits limits;
    limits.tile_points = 64;
    limits.tile_workers = 12;
    limits.cut_order = order;
    const auto tiles = cut(b.finish(), limits);
    REQUIRE(tiles.steps.size() == 2);
    // Of each index, what one part sums over, and the number of parts.
    std::vector<std::int64_t> left;
    for (const std::string name : {"p", "q", "r"}) {
      for (const auto& index : tiles.steps[0].program.indices) {
        if (index.name.starts_with(name) && index.name.find("tile") == std::string::npos) left.push_back(index.extent);
      }
    }
    left.push_back((tiles.storages[3].last + 1) / 64);
    return left;
  };
  using Parts = std::vector<std::int64_t>;
  CHECK(parts_of(4, 300, ir::CutOrder::furthest) == Parts{1, 100, 72, 12});  // 4 of p, 3 of q
  CHECK(parts_of(4, 300, ir::CutOrder::nearest) == Parts{4, 25, 72, 12});    // 12 of q at once
  CHECK(parts_of(5, 331, ir::CutOrder::furthest) == Parts{1, 331, 36, 10});  // 5 of p; rows in halves, 331 is prime
  CHECK(parts_of(1, 331, ir::CutOrder::furthest) == Parts{1, 331, 18, 4});   // rows of a line of memory at least
  CHECK(parts_of(1, 331, ir::CutOrder::nearest) == Parts{1, 331, 6, 12});
}

TEST_CASE("parts of sums of products are whole vectors with a rest where an extent is prime") {
  // C[a, b] = sum over k of A[a, k] * B[b, k], or of A[k, a] * B[k, b].
  const auto product = [](std::int64_t k, bool rows) {
    ir::Builder b;
    b.program.exact = false;
    b.program.indices = {{"a", 5}, {"b", 7}, {"k", k}};
    b.program.buffers = {{"A", DType::f64, false, 0, 5 * k - 1, 0},
                         {"B", DType::f64, false, 0, 7 * k - 1, 0},
                         {"C", DType::f64, true, 0, 34, 0}};
    const auto x = b.load(0, {{rows ? k : 1, 0, rows ? 1 : 5}, 0}), y = b.load(1, {{0, rows ? k : 1, rows ? 1 : 7}, 0});
    b.store(2, {{7, 1, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {2}));
    return b.finish();
  };
  ir::SplitLimits limits;
  limits.tile_points = 64;
  limits.tile_workers = 4;
  const auto partial_results = [&](std::int64_t k, bool rows) {
    const auto tiles = cut(product(k, rows), limits);
    return tiles.steps.size() == 2 ? (tiles.storages[3].last + 1) / 35 : 0;
  };
  CHECK(partial_results(5003, false) == 0);  // no vectors, no rest
  limits.vector_bytes = 64;
  CHECK(partial_results(5003, false) >= 4);
  CHECK(partial_results(5003, true) >= 4 * 8);  // of each lane
  CHECK(partial_results(5003, true) % 8 == 0);
  CHECK(partial_results(4096, false) == 4);  // equal parts
  CHECK(partial_results(4096, true) == 4 * 8);
  CHECK(partial_results(1019, false) == 0);  // short
}

TEST_CASE("lanes divide what a part has of an index") {
  // C[a, b] = sum over p and q of A[a, p, q] * B[b, p, q]: both are cut, and 100 is no multiple of 8.
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 5}, {"b", 7}, {"p", 5}, {"q", 200}};
  b.program.buffers = {
      {"A", DType::f64, false, 0, 4999, 0}, {"B", DType::f64, false, 0, 6999, 0}, {"C", DType::f64, true, 0, 34, 0}};
  const auto x = b.load(0, {{1000, 0, 200, 1}, 0}), y = b.load(1, {{0, 1000, 200, 1}, 0});
  b.store(2, {{7, 1, 0, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {2, 3}));
  ir::SplitLimits limits;
  limits.tile_points = 64;
  limits.tile_workers = 10;
  limits.tile_least = 100;
  limits.vector_bytes = 64;
  const auto tiles = cut(b.finish(), limits);
  REQUIRE(tiles.steps.size() == 2);
  CHECK(tiles.storages[3].last + 1 == 10 * 35);
}

TEST_CASE("a sum of products along memory that uses an operand once is summed by the lanes of a vector") {
  // C[a] = sum over k of A[a, k] * B[k], or of A[k, a]; of A[a, k] * B[k, a] both operands are used once.
  struct Case {
    std::int64_t k = 300, step_k = 1, b_a = 0, b_k = 1;
    DType type = DType::f64;
    bool exact = false;
  };
  const auto product = [](const Case& c) {
    constexpr std::int64_t kRows = 20;
    ir::Builder b;
    b.program.exact = c.exact;
    b.program.indices = {{"a", kRows}, {"k", c.k}};
    const auto along = c.step_k == 1 ? c.k : std::int64_t{1};
    b.program.buffers = {{"A", c.type, false, 0, kRows * c.k - 1, 0},
                         {"B", c.type, false, 0, kRows * c.k - 1, 0},
                         {"C", c.type, true, 0, kRows - 1, 0}};
    const auto x = b.load(0, {{along, c.step_k}, 0}), y = b.load(1, {{c.b_a, c.b_k}, 0});
    b.store(2, {{1, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, c.type, x, y), {1}));
    return b.finish();
  };
  ir::SplitLimits limits;
  limits.vector_bytes = 64;
  limits.least_of_rows = 5000;
  const auto tiles = cut(product({}), limits);
  REQUIRE(tiles.steps.size() == 2);
  CHECK(tiles.storages[3].last + 1 == 20 * 8);
  const auto& to = tiles.steps[0].program.statement().offset.coefficient;
  CHECK(std::count(to.begin(), to.end(), 1) == 1);              // lanes
  CHECK(tiles.steps[1].program.nodes.size() > 3);               // and the last four products of a row
  CHECK(cut(product({.k = 304}), limits).steps.size() == 2);    // nothing is left
  CHECK(cut(product({.b_a = 300}), limits).steps.size() == 2);  // both operands are used once
  CHECK(cut(product({.type = DType::f32}), limits).storages[3].last + 1 == 20 * 8);  // of 16, 12 are left
  CHECK(cut(product({.k = 320, .type = DType::f32}), limits).storages[3].last + 1 == 20 * 16);
  CHECK(cut(product({.k = 249}), limits).steps.size() == 1);            // few products
  CHECK(cut(product({.step_k = 20}), limits).steps.size() == 1);        // neighbours are results
  CHECK(cut(product({.b_k = 20}), limits).steps.size() == 1);           // the other operand's are apart
  CHECK(cut(product({.type = DType::i64}), limits).steps.size() == 1);  // exact in any order
  CHECK(cut(product({.exact = true}), limits).steps.size() == 1);       // in the order that is written
  limits.least_of_rows = 600;
  CHECK(cut(product({.k = 31}), limits).steps.size() == 1);  // as many partial results as a sixteenth of the products
}

TEST_CASE("columns of short rows are summed in parts of whole rows") {
  // C[a] = sum over k of A[k, a] * B[k].
  const auto parts_of = [](std::int64_t columns) {
    ir::Builder b;
    b.program.exact = false;
    b.program.indices = {{"a", columns}, {"k", 4096}};
    b.program.buffers = {{"A", DType::f64, false, 0, 4096 * columns - 1, 0},
                         {"B", DType::f64, false, 0, 4095, 0},
                         {"C", DType::f64, true, 0, columns - 1, 0}};
    const auto x = b.load(0, {{1, columns}, 0}), y = b.load(1, {{0, 1}, 0});
    b.store(2, {{1, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f64, x, y), {1}));
    const ir::SplitLimits limits{.longest = 1 << 20,
                                 .workers = 64,
                                 .lanes_bytes = 256,
                                 .tile_points = 1024,
                                 .tile_workers = 8,
                                 .tile_least = 512,
                                 .vector_bytes = 64,
                                 .least_of_rows = 1 << 18};
    const auto sequence = ir::split_long(sequence_of(b.finish()), limits);
    return sequence.steps.size() == 1 ? 1 : (sequence.storages[3].last + 1) / columns;
  };
  CHECK(parts_of(64) == 16);
  CHECK(parts_of(1024) == 8);
  CHECK(parts_of(2048) == 4);  // of two tiles
  CHECK(parts_of(2049) == 1);  // a task reads long runs of each row
}

TEST_CASE("sums whose neighbours in memory are results combine what lies far apart first") {
  // C[b] = sum over a of A[a, b], or of A[a, b] * A[a, b].
  constexpr std::int64_t kColumns = 600;
  const auto sum = [](std::int64_t a, DType type, bool squares, bool exact) {
    ir::Builder b;
    b.program.exact = exact;
    b.program.indices = {{"b", kColumns}, {"a", a}};
    b.program.buffers = {{"A", type, false, 0, a * kColumns - 1, 0}, {"C", type, true, 0, kColumns - 1, 0}};
    const auto x = b.load(0, {{1, kColumns}, 0});
    b.store(1, {{1, 0}, 0}, b.reduce(OpCode::add, squares ? b.op(OpCode::mul, type, x, x) : x, {1}));
    return b.finish();
  };
  ir::SplitLimits limits;
  limits.lanes_bytes = 256;
  limits.vector_bytes = 64;
  limits.least_of_rows = 25000;
  const auto tiles = cut(sum(227, DType::f64, false, false), limits);
  REQUIRE(tiles.steps.size() == 2);
  CHECK(tiles.storages[2].last + 1 == 15 * kColumns);  // of 15 tiles, with two rows left
  const auto& parts = ir::merge_indices(tiles.steps[0].program);
  CHECK(parts.indices.size() == 2);                                           // results of all parts are one run
  CHECK(cut(sum(1600, DType::f64, false, false), limits).steps.size() == 3);  // and what they leave, again
  CHECK(cut(sum(230, DType::f32, true, false), limits).steps.size() == 2);
  CHECK(cut(sum(230, DType::f64, false, true), limits).steps.size() == 1);   // in the order that is written
  CHECK(cut(sum(150, DType::f64, false, false), limits).steps.size() == 1);  // little
}

TEST_CASE("columns fewer than a GPU's threads are summed in parts of every so manieth row") {
  // C[b] = sum over a of A[a, b] - D[b], or of A[b, a] where columns are rows.
  const auto sum = [](std::int64_t columns, std::int64_t rows, bool of_rows = false, bool exact = false) {
    ir::Builder b;
    b.program.exact = exact;
    b.program.indices = {{"b", columns}, {"a", rows}};
    b.program.buffers = {{"A", DType::f64, false, 0, rows * columns - 1, 0},
                         {"D", DType::f64, false, 0, columns - 1, 0},
                         {"C", DType::f64, true, 0, columns - 1, 0}};
    const auto x = of_rows ? b.load(0, {{rows, 1}, 0}) : b.load(0, {{1, columns}, 0});
    const auto value = b.op(OpCode::sub, DType::f64, x, b.load(1, {{1, 0}, 0}));
    b.store(2, {{1, 0}, 0}, b.reduce(OpCode::add, value, {1}));
    return b.finish();
  };
  ir::SplitLimits limits;
  limits.column_workers = 4096;
  const auto parts = cut(sum(512, 4096), limits);
  REQUIRE(parts.steps.size() == 2);
  CHECK(parts.storages[3].last + 1 == 8 * 512);
  const auto& part = parts.steps[0].program;
  REQUIRE(part.indices.size() == 3);
  const auto& row = part.nodes[0].offset.coefficient;  // of neighbouring parts one after the other
  CHECK(*std::min_element(row.begin(), row.end()) == 1);
  CHECK(std::count(row.begin(), row.end(), 512) == 1);
  CHECK(*std::max_element(row.begin(), row.end()) == 8 * 512);
  // As many parts as leave the least over.
  CHECK(cut(sum(512, 4102), limits).storages.at(3).last + 1 == 7 * 512);
  CHECK(cut(sum(512, 4099), limits).steps.size() == 2);
  CHECK(cut(sum(512, 2048), limits).steps.size() == 1);               // little
  CHECK(cut(sum(2049, 1024), limits).steps.size() == 1);              // a thread for each column is enough
  CHECK(cut(sum(512, 4096, true), limits).steps.size() == 1);         // threads share rows
  CHECK(cut(sum(512, 4096, false, true), limits).steps.size() == 1);  // in the order that is written
  limits.column_workers = 0;
  CHECK(cut(sum(512, 4096), limits).steps.size() == 1);
}

TEST_CASE("neighbours over several indices are one index of a sum before they are cut") {
  // C = sum over a and b of A[a, b] * B[a, b]: vectors divide neither.
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 210}, {"b", 200}};
  b.program.buffers = {
      {"A", DType::f32, false, 0, 41999, 0}, {"B", DType::f32, false, 0, 41999, 0}, {"C", DType::f32, true, 0, 0, 0}};
  const auto x = b.load(0, {{200, 1}, 0}), y = b.load(1, {{200, 1}, 0});
  b.store(2, {{0, 0}, 0}, b.reduce(OpCode::add, b.op(OpCode::mul, DType::f32, x, y), {0, 1}));
  ir::SplitLimits limits;
  limits.longest = 3000;
  limits.least = 3000;
  limits.lanes_bytes = 256;
  limits.vector_bytes = 64;
  const auto tiles = cut(b.finish(), limits);
  REQUIRE(tiles.steps.size() == 2);
  CHECK((tiles.storages[3].last + 1) % 64 == 0);  // lanes of four vectors
}

}  // namespace ir_split_test
