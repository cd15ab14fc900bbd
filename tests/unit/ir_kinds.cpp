// What each kind of node and several kernels in order compute, by the interpreter.
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "catch.hpp"
#include "evaluate.hpp"
#include "ir/sequence.hpp"
#include "ir/workspace.hpp"
#include "ricci/error.hpp"

namespace ir_kinds_test {

using namespace ricci;
using ir::Builder;
using ir::NodeId;
using ir::OpCode;
using test::builder;
using test::run;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int64_t>;

TEST_CASE("reductions by every operation") {
  const auto reduced = [](OpCode op) {
    auto b = builder(DType::i64, {{"k", 3}}, {3, 1});
    b.store(1, {{0}, 0}, b.reduce(op, b.load(0, {{1}, 0}), {0}));
    return run<std::int64_t>(b.finish(), {{6, 3, 10}, {0}}).front();
  };
  CHECK(reduced(OpCode::add) == 19);
  CHECK(reduced(OpCode::mul) == 180);
  CHECK(reduced(OpCode::minimum) == 3);
  CHECK(reduced(OpCode::maximum) == 10);
  CHECK(reduced(OpCode::bit_and) == 2);
  CHECK(reduced(OpCode::bit_or) == 15);
  CHECK(reduced(OpCode::bit_xor) == 15);
}

TEST_CASE("reductions nest, stand side by side, and may use one index twice") {
  auto b = builder(DType::f64, {{"i", 2}, {"k", 2}, {"l", 3}}, {12, 2});
  const auto x = b.load(0, {{6, 3, 1}, 0});
  b.store(1, {{1, 0, 0}, 0}, b.reduce(OpCode::maximum, b.reduce(OpCode::add, x, {2}), {1}));
  CHECK(run<double>(b.finish(), {{1, 2, 3, 4, 5, 6, 9, 9, 9, 0, 0, 1}, {0, 0}}) == Doubles{15, 27});

  SECTION("a sum times the sum of something else over the same index") {
    auto c = builder(DType::f64, {{"k", 3}}, {3, 3, 1});
    const auto sum = c.reduce(OpCode::add, c.load(1, {{1}, 0}), {0});
    c.store(2, {{0}, 0}, c.reduce(OpCode::add, c.op(OpCode::mul, DType::f64, c.load(0, {{1}, 0}), sum), {0}));
    CHECK(run<double>(c.finish(), {{1, 2, 3}, {4, 5, 6}, {0}}) == Doubles{90});
  }
  SECTION("values of indices") {
    auto c = builder(DType::i64, {{"i", 3}, {"k", 4}}, {3});
    const auto product = c.op(OpCode::mul, DType::i64, c.index(0), c.index(1));
    c.store(0, {{1, 0}, 0}, c.reduce(OpCode::add, product, {1}));
    CHECK(run<std::int64_t>(c.finish(), {{9, 9, 9}}) == Ints{0, 6, 12});
  }
}

TEST_CASE("a guard gives what changes nothing around it") {
  const auto guarded = [](OpCode op) {
    auto b = builder(DType::f64, {{"k", 4}}, {4, 1});
    const auto x = b.load(0, {{1}, 0});
    const auto positive = b.op(OpCode::less, DType::u8, b.constant(0, DType::f64), x);
    b.store(1, {{0}, 0}, b.reduce(op, b.guard(positive, x), {0}));
    return run<double>(b.finish(), {{2, -1, 3, -4}, {0}}).front();
  };
  CHECK(guarded(OpCode::add) == 5);
  CHECK(guarded(OpCode::mul) == 6);
  CHECK(guarded(OpCode::minimum) == 2);
  CHECK(guarded(OpCode::maximum) == 3);

  SECTION("as a statement's value it keeps what was there") {
    auto b = builder(DType::f64, {{"i", 4}}, {4, 4});
    const auto x = b.load(0, {{1}, 0});
    b.store(1, {{1}, 0}, b.guard(b.op(OpCode::less, DType::u8, b.constant(0, DType::f64), x), x));
    CHECK(run<double>(b.finish(), {{2, -1, 3, -4}, {7, 7, 7, 7}}) == Doubles{2, 7, 3, 7});
  }
  SECTION("elsewhere it gives 0") {
    auto b = builder(DType::f64, {{"i", 4}}, {4, 4});
    const auto x = b.load(0, {{1}, 0});
    const auto positive = b.op(OpCode::less, DType::u8, b.constant(0, DType::f64), x);
    b.store(1, {{1}, 0}, b.op(OpCode::add, DType::f64, b.constant(1, DType::f64), b.guard(positive, x)));
    CHECK(run<double>(b.finish(), {{2, -1, 3, -4}, {7, 7, 7, 7}}) == Doubles{3, 1, 4, 1});
  }
  SECTION("movement under it keeps every bit") {
    auto b = builder(DType::f64, {}, {1, 1});
    b.store(1, {}, b.guard(b.constant(1, DType::u8), b.load(0, {})));
    const std::uint64_t payload = 0x7ff0000000000123;  // a signalling NaN
    double in = 0, out = 0;
    std::memcpy(&in, &payload, sizeof in);
    ir::interpret(b.finish(), {&in, &out}, {});
    CHECK(std::memcmp(&in, &out, sizeof in) == 0);
  }
}

TEST_CASE("a guard that operations fold around is no statement's guard") {
  const auto stored = [](auto fold) {
    auto b = builder(DType::f64, {{"k", 2}}, {2, 2});
    const auto p = b.op(OpCode::equal, DType::u8, b.index(0), b.constant(1, DType::i64));
    b.store(1, {{1}, 0}, fold(b, b.guard(p, b.load(0, {{1}, 0}))));
    return run<double>(b.finish(), {{5, 6}, {9, 9}});
  };
  const auto type = DType::f64;
  CHECK(stored([](Builder&, NodeId x) { return x; }) == Doubles{9, 6});
  CHECK(stored([&](Builder& b, NodeId x) { return b.op(OpCode::neg, type, b.op(OpCode::neg, type, x)); }) ==
        Doubles{0, 6});
  CHECK(stored([&](Builder& b, NodeId x) { return b.op(OpCode::add, type, x, b.constant(0, type)); }) == Doubles{0, 6});
  CHECK(stored([&](Builder& b, NodeId x) { return b.op(OpCode::mul, type, b.constant(1, type), x); }) == Doubles{0, 6});
}

TEST_CASE("scans") {
  const auto scanned = [](OpCode op, bool exclusive, std::int64_t step, Ints out, std::int64_t extent = 4) {
    auto b = builder(DType::i64, {{"q", extent}}, {4, static_cast<std::int64_t>(out.size())});
    b.store(1, {{0}, step < 0 ? static_cast<std::int64_t>(out.size()) - 1 : 0},
            b.scan(op, b.load(0, {{1}, 0}), 0, exclusive), step);
    return run<std::int64_t>(b.finish(), {{3, 1, 4, 1}, std::move(out)});
  };
  CHECK(scanned(OpCode::add, false, 1, Ints(4)) == Ints{3, 4, 8, 9});
  CHECK(scanned(OpCode::add, true, 1, Ints(5)) == Ints{0, 3, 4, 8, 9});
  CHECK(scanned(OpCode::maximum, false, 1, Ints(4)) == Ints{3, 3, 4, 4});
  CHECK(scanned(OpCode::mul, true, 1, Ints(5)) == Ints{1, 3, 3, 12, 12});
  CHECK(scanned(OpCode::add, false, 2, Ints(7, -1)) == Ints{3, -1, 4, -1, 8, -1, 9});
  CHECK(scanned(OpCode::add, true, -1, Ints(5)) == Ints{9, 8, 4, 3, 0});
  CHECK(scanned(OpCode::add, true, 1, Ints(2, 7), 0) == Ints{0, 7});
  CHECK(scanned(OpCode::add, false, 1, Ints(1, 7), 0) == Ints{7});

  SECTION("from a value on, for every point, in place") {
    auto b = builder(DType::i64, {{"i", 2}, {"q", 3}}, {2, 6});
    b.store(1, {{3, 0}, 0}, b.scan(OpCode::add, b.load(1, {{3, 1}, 0}), 1, false, b.load(0, {{1, 0}, 0})), 1);
    CHECK(run<std::int64_t>(b.finish(), {{100, 200}, {1, 2, 3, 4, 5, 6}}) == Ints{101, 103, 106, 204, 209, 215});
  }
}

TEST_CASE("compactions") {
  const auto found = [](std::int64_t room, std::int64_t base, std::int64_t step) {
    auto b = builder(DType::i64, {{"q", 6}}, {6, 1, room});
    const auto x = b.load(0, {{1}, 0});
    const auto odd = b.op(OpCode::bit_and, DType::i64, x, b.constant(1, DType::i64));
    b.store(2, {{0}, 0}, b.compact(odd, x, b.load(1, {{0}, 0}), 0), step);
    return run<std::int64_t>(b.finish(), {{5, 2, 7, 9, 4, 1}, {base}, Ints(static_cast<std::size_t>(room))});
  };
  CHECK(found(4, 0, 1) == Ints{5, 7, 9, 1});
  CHECK(found(6, 1, 1) == Ints{0, 5, 7, 9, 1, 0});
  CHECK(found(3, 0, 1) == Ints{5, 7, 9});   // what does not fit is left out
  CHECK(found(3, -1, 1) == Ints{7, 9, 1});  // on either side
  CHECK(found(7, 0, 2) == Ints{5, 0, 7, 0, 9, 0, 1});
}

TEST_CASE("a point reads all before it writes") {
  auto b = builder(DType::f64, {{"i", 2}}, {4});
  b.store(0, {{2}, 0}, b.load(0, {{2}, 1}));
  b.store(0, {{2}, 1}, b.op(OpCode::neg, DType::f64, b.load(0, {{2}, 0})));
  CHECK(run<double>(b.finish(), {{1, 2, 3, 4}}) == Doubles{2, -1, 4, -3});
}

TEST_CASE("what is shared is computed once") {
  auto b = builder(DType::f64, {{"i", 2}}, {2, 2});
  auto x = b.load(0, {{1}, 0});
  for (int k = 0; k < 60; ++k) x = b.op(OpCode::add, DType::f64, x, x);
  b.store(1, {{1}, 0}, x);
  CHECK(run<double>(b.finish(), {{1, 3}, {0, 0}}) == Doubles{0x1p60, 3 * 0x1p60});

  SECTION("also in what a sum repeats") {
    // 4000 values of an inner sum of 4000 terms that does not change: 16 million if it were done again each time.
    auto c = builder(DType::f64, {{"k", 4000}, {"l", 4000}}, {4000, 1});
    const auto inner = c.reduce(OpCode::add, c.load(0, {{0, 1}, 0}), {1});
    c.store(1, {{0, 0}, 0}, c.reduce(OpCode::add, c.op(OpCode::mul, DType::f64, c.load(0, {{1, 0}, 0}), inner), {0}));
    const auto start = std::chrono::steady_clock::now();
    CHECK(run<double>(c.finish(), {Doubles(4000, 1), {0}}) == Doubles{16e6});
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500));
  }
}

namespace {

/// w[i] = x[i] + x[i]; y[i] = t * w[i] + y[i], over three storages and a workspace.
ir::Sequence two_steps() {
  ir::Sequence sequence;
  sequence.storages = {{"y", ir::Role::output, DType::f64, 0, 2, 8},
                       {"x", ir::Role::input, DType::f64, 0, 2, 8},
                       {"w", ir::Role::workspace, DType::f64, 0, 2, 256}};
  sequence.params = {{"s", DType::f64}, {"t", DType::f64}};
  auto first = builder(DType::f64, {{"i", 3}}, {3, 3});
  const auto x = first.load(0, {{1}, 0});
  first.store(1, {{1}, 0}, first.op(OpCode::add, DType::f64, x, x));
  auto second = builder(DType::f64, {{"i", 3}}, {3, 3});
  second.program.params = {{"factor", DType::f64}};
  const auto product = second.op(OpCode::mul, DType::f64, second.param(0), second.load(0, {{1}, 0}));
  second.store(1, {{1}, 0}, second.op(OpCode::add, DType::f64, product, second.load(1, {{1}, 0})));
  sequence.steps.push_back({first.finish(), {1, 2}, {}});
  sequence.steps.push_back({second.finish(), {2, 0}, {1}});
  return sequence;
}

}  // namespace

TEST_CASE("kernels in order, over storages") {
  const auto sequence = two_steps();
  CHECK_NOTHROW(verify(sequence));
  CHECK(sequence.workspace_bytes() == 256);
  Doubles x = {1, 2, 3}, y = {10, 20, 30}, w(3);
  interpret(sequence, {y.data(), x.data(), w.data()}, {7, 0.5});
  CHECK(y == Doubles{11, 22, 33});
  CHECK_THROWS_AS(interpret(sequence, {y.data(), x.data()}, {7, 0.5}), InternalError);
  CHECK_THROWS_AS(interpret(sequence, {y.data(), x.data(), w.data()}, {7}), InternalError);
}

TEST_CASE("storages of a workspace share memory where their lifetimes do not meet") {
  ir::Sequence sequence;
  sequence.storages = {{"a", ir::Role::workspace, DType::f64, 0, 31, 256},   // 256 bytes
                       {"b", ir::Role::workspace, DType::u8, -1, 255, 256},  // 257, rounded up to 512
                       {"c", ir::Role::workspace, DType::f64, 0, -1, 256},   // none
                       {"d", ir::Role::input, DType::f64, 0, 1000, 8},
                       {"e", ir::Role::workspace, DType::f32, 0, 127, 256},  // 512
                       {"f", ir::Role::workspace, DType::f64, 0, 99, 256}};  // used by no step
  const auto step = [](std::vector<int> storages) { return ir::Step{{}, std::move(storages), {}}; };

  SECTION("all at once: the sum of the storages, each rounded up") {
    sequence.steps = {step({0, 1, 2, 3, 4})};
    const auto layout = ir::workspace_layout(sequence);
    CHECK(layout.bytes == 256 + 512 + 512);
    CHECK(sequence.workspace_bytes() == layout.bytes);
    CHECK(layout.offset[3] == -1);
    CHECK(std::abs(layout.offset[1] - layout.offset[4]) >= 512);
  }
  SECTION("one after the other: the larger two that meet") {
    sequence.steps = {step({3, 1}), step({1, 0}), step({0, 4}), step({4, 3})};
    const auto layout = ir::workspace_layout(sequence);
    CHECK(layout.bytes == 512 + 256);  // b and e take the same place, a lies beside it
    CHECK(layout.offset[1] == layout.offset[4]);
    CHECK(layout.offset[0] == 512);
  }
  SECTION("a storage that is read again later keeps its place") {
    sequence.steps = {step({1}), step({0}), step({4}), step({1})};
    const auto layout = ir::workspace_layout(sequence);
    CHECK(layout.bytes == 512 + 512);
    CHECK(layout.offset[1] != layout.offset[4]);
    CHECK(layout.offset[0] == layout.offset[4]);
  }
}

TEST_CASE("each rule of a sequence, broken once") {
  struct Row {
    const char* rule;
    void (*breaks)(ir::Sequence&);
  };
  const Row rows[] = {
      {"every buffer of a step is a storage", [](ir::Sequence& s) { s.steps[0].storage.pop_back(); }},
      {"every buffer of a step is a storage", [](ir::Sequence& s) { s.steps[0].storage[0] = 3; }},
      {"every buffer of a step is a storage", [](ir::Sequence& s) { s.steps[0].storage[0] = -1; }},
      {"every parameter of a step is one of the sequence's", [](ir::Sequence& s) { s.steps[1].param.clear(); }},
      {"every parameter of a step is one of the sequence's", [](ir::Sequence& s) { s.steps[1].param[0] = 2; }},
      {"every parameter of a step is one of the sequence's", [](ir::Sequence& s) { s.params[1].type = DType::f32; }},
      {"a buffer has its storage's type, or that of its parts",
       [](ir::Sequence& s) { s.storages[1].type = DType::i64; }},
      {"a buffer stays inside its storage", [](ir::Sequence& s) { s.storages[1].last = 1; }},
      {"a buffer stays inside its storage", [](ir::Sequence& s) { s.storages[0].first = 1; }},
      {"a buffer promises what its storage does",
       [](ir::Sequence& s) { s.steps[0].program.buffers[0].alignment = 16; }},
      {"no step writes an input", [](ir::Sequence& s) { s.steps[0].storage = {0, 1}; }},
      {"what a step writes it knows by one buffer", [](ir::Sequence& s) { s.steps[1].storage = {0, 0}; }},
      {"workspace is read after it is written", [](ir::Sequence& s) { std::swap(s.steps[0], s.steps[1]); }},
  };
  for (const auto& row : rows) {
    auto sequence = two_steps();
    row.breaks(sequence);
    INFO(row.rule);
    std::string message;
    try {
      verify(sequence);
    } catch (const InternalError& error) {
      message = error.what();
    }
    CHECK(message.find(std::string("breaks the rule \"") + row.rule + "\"") != std::string::npos);
  }
}

}  // namespace ir_kinds_test
