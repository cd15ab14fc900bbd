// Scans and compactions by one thread, by warps and by blocks: every text runs without a fault and gives the
// interpreter's bits.
#include <fmt/format.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/builder.hpp"
#include "plan/plan.hpp"
#include "simt/emitted.hpp"

namespace test_scan {

using namespace ricci;
using ir::OpCode;

namespace {

struct alignas(256) Line {
  unsigned char at[256] = {};
};

// Small whole numbers in every type, so that sums are exact in every order; products need smaller ones.
struct Memory {
  std::vector<std::vector<Line>> buffers;
  std::vector<std::size_t> bytes;

  Memory(const ir::Program& program, unsigned seed, int most) {
    std::mt19937 random(seed);
    for (const auto& buffer : program.buffers) {
      const auto elements = static_cast<std::size_t>(buffer.last + 1);
      bytes.push_back(elements * static_cast<std::size_t>(size_of(buffer.type)));
      auto& lines = buffers.emplace_back(bytes.back() / sizeof(Line) + 1);
      auto* begin = lines.data()->at;
      std::uniform_int_distribution<int> digits(buffer.type == DType::u8 || is_integer(buffer.type) ? 0 : -most, most);
      const auto put = [&](auto zero) {
        for (std::size_t i = 0; i < bytes.back() / sizeof zero; ++i) {
          const auto value = static_cast<decltype(zero)>(digits(random));
          std::memcpy(begin + i * sizeof zero, &value, sizeof zero);
        }
      };
      switch (buffer.type) {
        case DType::f32:
        case DType::c64:
          put(0.0f);
          break;
        case DType::f64:
        case DType::c128:
          put(0.0);
          break;
        case DType::i64:
        case DType::u64:
          put(std::int64_t{0});
          break;
        case DType::i32:
        case DType::u32:
          put(std::int32_t{0});
          break;
        case DType::i16:
        case DType::u16:
          put(std::int16_t{0});
          break;
        default:
          put(std::int8_t{0});
      }
    }
  }
  void* begin(std::size_t k) { return buffers[k].data()->at; }
};

kernel::Schedule schedule_of(const ir::Program& program, int cooperative_threads, int items, int warps_per_block = 1) {
  std::string tile, tasks, thread;
  const auto free = program.free_indices();
  int points = 1;
  for (std::size_t q = free.size(); q-- > 0;) {
    const auto& [name, extent] = program.indices[q];
    if (!free[q]) continue;
    if (warps_per_block > 1 && points == 1 && cooperative_threads == 32 && extent >= warps_per_block) {
      points = warps_per_block;
      tile = extent == points ? "" : fmt::format("tile {}:{}; ", name, points);
      thread = " thread " + name;
      if (extent > points) tasks += fmt::format(" {}0", name);
    } else {
      tasks += " " + name;
    }
  }
  kernel::Schedule schedule;
  schedule.name = "test";
  schedule.directives = kernel::parse_directives(fmt::format(
      "{}order{}{}; threads {}{}", tile, tasks.empty() ? "" : " task" + tasks, thread, cooperative_threads * points,
      cooperative_threads == 1 ? "" : fmt::format("; cooperative {} items {}", cooperative_threads, items)));
  return schedule;
}

std::string run(const ir::Program& program, const kernel::Schedule& schedule, simt::Order order, int most = 9) {
  Memory memory(program, 5, most), expected(program, 5, most);
  std::vector<void*> pointers, wanted;
  std::vector<simt::Buffer> buffers;
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    pointers.push_back(memory.begin(k));
    wanted.push_back(expected.begin(k));
    buffers.push_back({memory.begin(k), memory.bytes[k], program.buffers[k].written});
  }
  ir::interpret(program, wanted, {});
  const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {});
  std::vector<void*> arguments;
  for (auto& pointer : pointers) arguments.push_back(&pointer);
  simt::Options options;
  options.order = order;
  options.check_uninitialised = true;
  const auto report = simt::run(simt::launch_of(source, program, schedule), arguments.data(), buffers, options);
  INFO(kernel::print(schedule));
  INFO(report.text());
  INFO(source.portable.size() << source.text);
  REQUIRE(report.clean());
  for (std::size_t k = 0; k < pointers.size(); ++k) {
    INFO(program.buffers[k].name);
    REQUIRE(std::memcmp(pointers[k], wanted[k], memory.bytes[k]) == 0);
  }
  return source.text;
}

struct Scan {
  OpCode op = OpCode::add;
  DType type = DType::i32;
  bool exclusive = true;
  std::int64_t points = 1, length = 100;
  std::int64_t gap = 0;                      // between rows
  std::int64_t read_from = 0, write_to = 0;  // constants of the accesses
  std::int64_t step = 1;                     // of the output
  bool in_place = false, starts = false;
};

ir::Program program_of(const Scan& s) {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", s.points}, {"q", s.length}};
  const auto row = s.length + 1 + s.gap;
  const auto out_row = row * s.step;
  const auto last = [&](std::int64_t stride, std::int64_t from) { return (s.points + 1) * stride + from + 32; };
  auto& buffers = b.program.buffers;
  int out = 0;
  if (!s.in_place) {
    buffers.push_back({"x", s.type, false, 0, last(row, s.read_from), 256});
    out = 1;
  }
  buffers.push_back({"y", s.type, true, 0, last(out_row, s.write_to), 256});
  if (s.starts) buffers.push_back({"w", s.type, false, 0, s.points, 256});
  const auto x = s.in_place ? b.load(out, {{out_row, s.step}, s.write_to}) : b.load(0, {{row, 1}, s.read_from});
  const auto start = s.starts ? b.load(out + 1, {{1, 0}, 0}) : -1;
  b.store(out, {{out_row, 0}, s.write_to}, b.scan(s.op, x, 1, s.exclusive, start), s.step);
  return b.finish();
}

/// Threads that share a point and items of each: of those listed, every problem takes two in turns.
class InTurns {
 public:
  using Ways = std::vector<std::pair<int, int>>;
  explicit InTurns(Ways ways) : ways_(std::move(ways)) {}
  Ways next() { return {ways_[at_++ % ways_.size()], ways_[at_++ % ways_.size()]}; }

 private:
  Ways ways_;  // an odd number, so that each meets each
  std::size_t at_ = 0;
};

void run_all(const Scan& s, int most = 9) {
  static InTurns ways({{1, 1}, {32, 1}, {32, 8}, {64, 1}, {128, 16}});
  static unsigned which = 0;
  const auto program = program_of(s);
  for (const auto& [cooperative_threads, items] : ways.next()) {
    constexpr simt::Order kOrders[] = {simt::Order::forward, simt::Order::reverse, simt::Order::random};
    run(program, schedule_of(program, cooperative_threads, items, 4), kOrders[which++ % 3], most);
  }
}

}  // namespace

TEST_CASE("scans of every operation and type by threads, warps and blocks") {
  using enum DType;
  for (const bool exclusive : {true, false}) {
    for (const auto type : {i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128}) {
      run_all({.type = type, .exclusive = exclusive, .points = 3, .length = 300, .starts = true}, 3);
    }
    for (const auto op :
         {OpCode::mul, OpCode::minimum, OpCode::maximum, OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor}) {
      run_all({.op = op, .type = i32, .exclusive = exclusive, .points = 2, .length = 77});
      const bool bits = op == OpCode::bit_and || op == OpCode::bit_or || op == OpCode::bit_xor;
      run_all({.op = op, .type = bits ? u64 : f32, .exclusive = exclusive, .points = 2, .length = 77, .starts = true},
              1);
    }
  }
}

TEST_CASE("scans of every length, layout and alignment") {
  for (const bool exclusive : {true, false}) {
    for (const std::int64_t length : {0, 1, 2, 31, 32, 33, 64, 128, 255, 2048, 2049, 4100}) {
      run_all({.exclusive = exclusive, .points = 5, .length = length, .starts = length % 2 == 0});
    }
    run_all({.exclusive = exclusive, .points = 4, .length = 4096, .gap = 15});
    run_all({.exclusive = exclusive, .points = 4, .length = 4096, .gap = 15, .write_to = 1});
    run_all({.exclusive = exclusive, .points = 4, .length = 4096, .gap = 15, .read_from = 3, .write_to = 2});
    run_all(
        {.type = DType::f64, .exclusive = exclusive, .points = 4, .length = 512, .gap = 1, .step = 3, .starts = true});
    run_all({.exclusive = exclusive, .points = 3, .length = 1000, .in_place = true, .starts = true});
    run_all({.exclusive = exclusive, .points = 3, .length = 4096, .gap = 15, .in_place = true});
    run_all({.type = DType::i64, .exclusive = exclusive, .points = 3, .length = 256, .step = 2, .in_place = true});
  }
}

TEST_CASE("aligned scans read and write whole vectors, and an inclusive one behind a first element too") {
  const auto whole = program_of({.points = 2, .length = 4096, .gap = 31});
  CHECK(run(whole, schedule_of(whole, 128, 16), simt::Order::forward).find("store(y") != std::string::npos);
  const auto behind = program_of({.exclusive = false, .points = 2, .length = 4096, .gap = 31, .write_to = 1});
  const auto text = run(behind, schedule_of(behind, 128, 16), simt::Order::random);
  CHECK(text.find("store(y") != std::string::npos);
  CHECK(text.find("load<vec<i32, 4>>(x") != std::string::npos);
}

TEST_CASE("bodies of scans: guards, sums and index values") {
  for (const auto op : {OpCode::add, OpCode::minimum}) {
    ir::Builder b;
    b.program.exact = false;
    b.program.indices = {{"p", 3}, {"q", 200}, {"k", 7}};
    b.program.buffers = {{"x", DType::i32, false, 0, 2000, 256}, {"y", DType::i64, true, 0, 700, 256}};
    const auto x = b.load(0, {{5, 9, 1}, 0});
    const auto total = b.reduce(OpCode::add, b.cast(x, DType::i64), {2});
    const auto third =
        b.op(OpCode::equal, DType::u8, b.op(OpCode::remainder, DType::i64, b.index(1), b.constant(3, DType::i64)),
             b.constant(0, DType::i64));
    b.store(1, {{201, 0, 0}, 0}, b.scan(op, b.guard(third, total), 1, true), 1);
    const auto program = b.finish();
    for (const auto& [cooperative_threads, items] :
         std::vector<std::pair<int, int>>{{1, 1}, {32, 1}, {32, 4}, {128, 2}, {1024, 1}}) {
      run(program, schedule_of(program, cooperative_threads, items), simt::Order::random);
    }
  }
}

TEST_CASE("two scans in one kernel, each over what the other's point reads") {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 2}, {"q", 500}};
  b.program.buffers = {{"x", DType::i32, true, 0, 1100, 256}, {"y", DType::i32, true, 0, 1100, 256}};
  // y reads x before x is scanned in place, although it stands behind it.
  const auto x = b.load(0, {{512, 1}, 0});
  b.store(0, {{512, 0}, 0}, b.scan(OpCode::add, x, 1, false), 1);
  b.store(1, {{512, 0}, 0}, b.scan(OpCode::maximum, x, 1, false), 1);
  const auto program = b.finish();
  for (const auto& [cooperative_threads, items] :
       std::vector<std::pair<int, int>>{{1, 1}, {32, 1}, {32, 4}, {128, 2}}) {
    run(program, schedule_of(program, cooperative_threads, items), simt::Order::random);
  }
}

TEST_CASE("compactions keep the order, and what does not fit is left out") {
  InTurns ways({{1, 1}, {32, 1}, {32, 4}, {64, 1}, {256, 4}});
  for (const std::int64_t length : {0, 1, 31, 100, 1000, 4097}) {
    for (const std::int64_t step : {1, 2}) {
      for (const bool clipped : {false, true}) {
        ir::Builder b;
        b.program.exact = true;
        const std::int64_t points = 5;
        b.program.indices = {{"p", points}, {"q", length}};
        const auto room = clipped ? length : 2 * points * (length + 1);
        b.program.buffers = {{"x", DType::i32, false, 0, points * length + 32, 256},
                             {"first", DType::i64, false, 0, points, 256},
                             {"y", DType::i64, true, 0, room, 256}};
        const auto x = b.load(0, {{length, 1}, 0});
        const auto odd = b.op(OpCode::bit_and, DType::i32, x, b.constant(1, DType::i32));
        const auto row =
            b.op(OpCode::mul, DType::i64, b.index(0), b.constant(static_cast<double>(2 * length + 2), DType::i64));
        const auto base = b.op(OpCode::add, DType::i64, row, b.load(1, {{1, 0}, 0}));
        const auto payload = b.op(OpCode::add, DType::i64, b.index(1), b.cast(x, DType::i64));
        b.store(2, {{0, 0}, 0}, b.compact(odd, payload, base, 1), step);
        const auto program = b.finish();
        for (const auto& [cooperative_threads, items] : ways.next()) {
          // The bases lie within 10 of each other's rows: at most 9 elements of a row meet the next one's.
          run(program, schedule_of(program, cooperative_threads, items, 4), simt::Order::random, 1);
        }
      }
    }
  }
}

TEST_CASE("the planner gives long scans to blocks, compactions to warps and short scans to threads") {
  const auto device_model = plan::GpuModel::of_capability(90);
  /// Threads that share a point.
  const auto sharing = [](const plan::Candidate& candidate) {
    for (const auto& directive : candidate.schedule.directives) {
      if (directive.kind == kernel::Directive::Kind::cooperative) return directive.sizes.front();
    }
    return std::int64_t{1};
  };
  const auto best = [&](const ir::Program& program) {
    return sharing(plan::candidates(program, device_model).front());
  };
  CHECK(best(program_of({.points = 4096, .length = 16384})) >= 32);
  CHECK(best(program_of({.points = 1, .length = 16384})) >= 256);
  CHECK(best(program_of({.points = 1 << 20, .length = 8})) == 1);
  ir::Builder b;
  b.program.indices = {{"p", 1 << 17}, {"q", 512}};
  b.program.buffers = {{"x", DType::i32, false, 0, (1 << 26) - 1, 256}, {"y", DType::i32, true, 0, (1 << 26) - 1, 256}};
  const auto x = b.load(0, {{512, 1}, 0});
  b.store(1, {{512, 0}, 0}, b.compact(x, x, b.constant(0, DType::i64), 1), 1);
  CHECK(best(b.finish()) == 32);

  // Sums of floats in the written order are one thread's.
  auto exact = program_of({.type = DType::f32, .points = 16, .length = 16384});
  exact.exact = true;
  for (const auto& candidate : plan::candidates(exact, device_model)) CHECK(sharing(candidate) == 1);
}

}  // namespace test_scan
