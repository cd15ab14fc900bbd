#include "fuzz/random_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fuzz/random_values.hpp"

namespace ricci::fuzz {
namespace {

/// Indices, types and outputs first, then a statement for each output.
class Maker : Values {
 public:
  Maker(std::uint64_t seed, Kind kind, const ProgramLimits& limits, bool fold) : Values(seed, kind), limits_(limits) {
    exact_ = chance(kind == Kind::motif ? 0.8 : 0.4);
    bits_ = exact_ && chance(0.75);
    builder_.program.exact = exact_ || !fold;
    made_.seed = seed;
  }

  RandomProgram run() {
    make_indices();
    choose_types();
    make_outputs();
    for (std::size_t s = 0; s < outputs_.size(); ++s) make_statement(static_cast<int>(s));
    finish();
    made_.params = std::move(params_);
    return std::move(made_);
  }

 private:
  int add_index(std::int64_t extent) {
    const int q = static_cast<int>(builder_.program.indices.size());
    builder_.program.indices.push_back({fmt::format("i{}", q), extent});
    return q;
  }

  void make_indices() {
    static constexpr std::int64_t kLiked[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 13,
                                              16, 17, 20, 24, 31, 32, 33, 40, 64, 65};
    std::int64_t points = pick(1, limits_.points);
    if (on_grid()) {
      free_.push_back(add_index(pick(1, points)));
      if (chance(0.3)) free_.push_back(add_index(pick(1, 4)));
    } else {
      const auto count = pick(0, 4);
      for (int k = 0; k < count; ++k) {
        const auto n = std::min(chance(0.1) ? points : one_of(kLiked), points);
        free_.push_back(add_index(n));
        points /= n;
      }
    }
    if (kind_ == Kind::fields) return;
    std::int64_t work = limits_.work;
    for (const int q : free_) work /= std::max<std::int64_t>(extent(q), 1);
    const auto count = pick(kind_ == Kind::einsum && chance(0.9) ? 1 : 0, kind_ == Kind::grid ? 2 : 3);
    for (int k = 0; k < count; ++k) {
      const auto n = std::min(chance(0.15)          ? std::int64_t{300}
                              : kind_ == Kind::grid ? pick(1, 5)
                                                    : one_of(kLiked),
                              std::max<std::int64_t>(work, 1));
      over_.push_back(add_index(n));
      work /= n;
    }
    const int all = static_cast<int>(builder_.program.indices.size());
    if (all > 0 && chance(0.03)) builder_.program.indices[static_cast<std::size_t>(pick(0, all - 1))].extent = 0;
  }

  void choose_types() {
    static constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                                          DType::u8, DType::u16, DType::u32, DType::u64};
    integer_ = one_of(kIntegers);
    const auto drawn = pick(0, 99);
    switch (kind_) {
      case Kind::einsum:
        main_ = drawn < 30   ? DType::f64
                : drawn < 55 ? DType::f32
                : drawn < 67 ? DType::c128
                : drawn < 80 ? DType::c64
                             : integer_;
        break;
      case Kind::grid:
        main_ = drawn < 55 ? DType::f64 : drawn < 88 ? DType::f32 : drawn < 94 ? DType::c128 : DType::c64;
        break;
      case Kind::fields:
        main_ = drawn < 60 ? DType::f64 : DType::f32;
        break;
      case Kind::motif:
        main_ = drawn < 85 ? integer_ : drawn < 93 ? DType::f64 : DType::f32;
        break;
    }
    size_ = kind_ == Kind::grid ? pick(3, chance(0.2) ? 120 : 30) : pick(1, 10);
    reuse_ = kind_ == Kind::grid ? 0.35 : 0.12;
    guards_ = kind_ == Kind::motif ? 0.2 : kind_ == Kind::fields ? 0 : 0.03;
  }

  void make_outputs() {
    const auto count = on_grid() ? pick(1, chance(0.2) ? 12 : 5) : chance(0.75) ? 1 : pick(2, 3);
    std::int64_t span = 0;
    for (int k = 0; k < count; ++k) {
      Output output;
      if (!on_grid() && !over_.empty() && chance(kind_ == Kind::motif ? 0.35 : 0.03)) {
        output.way = chance(0.5) ? Output::Way::scan : Output::Way::compact;
        output.over = one_of(over_);
      }
      const auto type = kind_ == Kind::fields || chance(0.85) ? main_ : chance(0.5) ? DType::f32 : integer_;
      output.type = output.way == Output::Way::scan ? type : storage(type, true);
      if (k > 0 && chance(0.3) && output.way == Output::Way::store && outputs_.back().way == output.way) {
        // Another component of the same tensor.
        output = outputs_.back();
        output.offset.constant += span;
        reach(output.buffer, output.offset);
        outputs_.push_back(std::move(output));
        continue;
      }
      output.buffer = add_buffer(output.type, true, Fill::any);
      std::int64_t inner = 1;
      if (output.way != Output::Way::store) {
        output.step = (chance(0.2) ? pick(2, 3) : 1) * (chance(0.15) ? -1 : 1);
        output.exclusive = output.way == Output::Way::scan && chance(0.5);
        inner = (extent(output.over) + kRoom + 1) * std::abs(output.step);
      }
      output.offset = places(free_, inner, &span, false);
      if (output.step < 0) output.offset.constant += inner - 1;
      output.read = output.way != Output::Way::compact && chance(0.35);
      reach(output.buffer, output.offset);
      auto end = output.offset;
      end.constant += output.step < 0 ? 1 - inner : inner - 1;
      if (output.way != Output::Way::store) reach(output.buffer, end);
      auto& area = areas_.back();
      if (output.way == Output::Way::compact && chance(0.3)) {  // what passes may not fit
        area.last -= pick(0, area.last - area.first);
        area.closed = true;
      }
      outputs_.push_back(std::move(output));
    }
  }

  Value value_of_type(DType kept, const Context& context, std::int64_t size) {
    if (is_half(kept)) {
      const auto wide = chance(0.8) ? DType::f32 : DType::f64;
      return cast(scaled(expression(wide, context, size), 1000), kept);
    }
    if (kept == DType::f32 && main_ == DType::f64) return cast(expression(main_, context, size), kept);
    if (kept == DType::c64 && main_ == DType::c128) return cast(expression(main_, context, size), kept);
    return expression(kept, context, size);
  }

  void make_statement(int number) {
    const auto& output = outputs_[static_cast<std::size_t>(number)];
    Context context;
    if (output.way == Output::Way::scan) {
      context.open = bit(output.over);
      context.scan = output.read ? number : -1;
      auto body = Value{};
      auto how = combination(output.type, 2, extent(output.over));
      if (!is_integer(output.type) && how == OpCode::mul) how = OpCode::add;
      context.around = how;
      const auto before = values_.size();
      body = expression(output.type, context, size_);
      // What reads the scan's own elements has a value inside of it alone.
      values_.resize(before);
      builder_.store(output.buffer, output.offset, builder_.scan(how, body.id, output.over, output.exclusive),
                     output.step);
      return;
    }
    if (output.way == Output::Way::compact) {
      context.open = bit(output.over);
      const auto condition = predicate(context, size_);
      const auto payload = chance(0.4) && output.type == DType::i64
                               ? keep({builder_.index(output.over), DType::i64, context.open, 1e4, true, {}})
                               : value_of_type(output.type, context, size_);
      builder_.store(output.buffer, output.offset,
                     builder_.compact(condition.id, payload.id, base(output), output.over), output.step);
      return;
    }
    const bool guarded = chance(guards_);
    std::optional<Value> condition;
    if (guarded) condition = predicate(context, 3);
    const bool moves = chance(0.03);
    auto value = moves ? load(output.type, context) : value_of_type(output.type, context, size_);
    if (output.read && !is_half(output.type) && chance(0.6)) {
      const auto before = keep({builder_.load(output.buffer, output.offset), output.type, 0, 2, true, {}});
      value = op(chance(0.7) ? OpCode::add : OpCode::sub, output.type, before, value, value.bound + 2);
    }
    auto id = value.id;
    if (condition) id = builder_.guard(condition->id, id);
    if (condition && chance(0.3)) id = builder_.guard(predicate(context, 2).id, id);
    builder_.store(output.buffer, output.offset, id);
  }

  /// Where a compaction begins in its row: rows are kRoom elements longer than what can pass.
  NodeId base(const Output& output) {
    const auto room = static_cast<double>(kRoom);
    if (chance(0.3))
      return builder_.constant(static_cast<double>(pick(0, kRoom)) * (output.step < 0 ? -1 : 1), DType::i64);
    std::int64_t span = 0;
    auto offset = places(free_, 1, &span, false);
    const int buffer = add_buffer(DType::i64, false, Fill::room);
    reach(buffer, offset);
    auto id = builder_.load(buffer, std::move(offset));
    id = builder_.op(OpCode::minimum, DType::i64, id, builder_.constant(room, DType::i64));
    return builder_.op(OpCode::mul, DType::i64, id, builder_.constant(static_cast<double>(output.step), DType::i64));
  }

  void finish() {
    auto& program = builder_.program;
    // An index that nothing runs over any more is not a loop of the statements either.
    std::vector<bool> used(program.nodes.size());
    std::uint64_t runs = 0;
    for (const auto& statement : program.statements) used[static_cast<std::size_t>(statement.value)] = true;
    for (std::size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      for (int k = 0; k < ir::operand_count(program.nodes[id]); ++k) {
        used[static_cast<std::size_t>(program.nodes[id].operand[k])] = true;
      }
      for (const int q : program.nodes[id].over) runs |= bit(q);
    }
    for (const int q : over_) {
      if ((runs & bit(q)) == 0) program.indices[static_cast<std::size_t>(q)].extent = 1;
    }
    for (std::size_t k = 0; k < areas_.size(); ++k) {
      auto& area = areas_[k];
      auto& buffer = program.buffers[k];
      if (chance(0.02)) {  // far from its base: offsets of 64 bits
        const std::int64_t far = (chance(0.5) ? 1 : -1) * ((std::int64_t{1} << 33) + 5);
        for (auto& node : program.nodes) {
          if (node.kind == ir::NodeKind::load && node.source == static_cast<int>(k)) node.offset.constant += far;
        }
        for (auto& statement : program.statements) {
          if (statement.buffer == static_cast<int>(k)) statement.offset.constant += far;
        }
        area.first += far;
        area.last += far;
      }
      buffer.first = area.first;
      buffer.last = area.last;
      buffer.alignment = size_of(buffer.type);
      made_.memory.push_back(random_memory(random_, buffer, area.fill));
    }
    made_.bits = bits_;
    made_.program = builder_.finish();
  }

  ProgramLimits limits_;
  RandomProgram made_;
};

}  // namespace

std::string RandomProgram::text() const {
  std::vector<std::string> values;
  for (const auto& param : params) values.push_back(fmt::format("({}, {})", param.real(), param.imag()));
  return fmt::format("seed {}{}, params {}\n{}", seed, bits ? ", to the last bit" : "", fmt::join(values, " "),
                     ir::print(program));
}

namespace {

std::vector<void*> pointers(std::vector<Memory>& memory) {
  std::vector<void*> list;
  for (auto& one : memory) list.push_back(one.element_0());
  return list;
}

}  // namespace

Expectation expect(const RandomProgram& random) {
  Expectation made{random.memory, {}};
  auto reference = random.reference;
  reference.exact = random.bits;
  made.storages = expected(sequence_of(reference), pointers(made.memory), random.params);
  ir::interpret(reference, pointers(made.memory), random.params);
  return made;
}

std::string difference(const RandomProgram& random, const Expectation& expectation, std::vector<Memory>& memory) {
  const auto sequence = sequence_of(random.reference);
  if (auto text = compare(sequence, expectation.storages, pointers(memory)); !text.empty()) return text;
  for (std::size_t k = 0; k < memory.size(); ++k) {
    const auto& buffer = random.reference.buffers[k];
    const auto size = size_of(buffer.type);
    const auto from = memory[k].origin + buffer.first * size, to = memory[k].origin + (buffer.last + 1) * size;
    for (std::size_t byte = 0; byte < memory[k].bytes(); ++byte) {
      const auto at = static_cast<std::int64_t>(byte);
      const bool inside = buffer.written && at >= from && at < to;
      if (!inside && memory[k].begin()[byte] != expectation.memory[k].begin()[byte]) {
        return fmt::format("byte {} of {}'s memory was written; the buffer ends at {}", at, buffer.name, to);
      }
    }
  }
  return {};
}

RandomProgram random_program(std::uint64_t seed, Kind kind, const ProgramLimits& limits) {
  auto made = Maker(seed, kind, limits, true).run();
  made.reference = Maker(seed, kind, limits, false).run().program;
  return made;
}

}  // namespace ricci::fuzz
