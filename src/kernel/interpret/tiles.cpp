// Tile statements, executed as they are defined, whatever the layouts that expand() would choose for them.
#include "kernel/atoms.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/machine.hpp"

namespace ricci::kernel {
namespace {

/// Rows of products side by side, one after the other.
std::vector<Digit> of_products(std::vector<Digit> batch, const std::vector<Digit>& rows) {
  batch.insert(batch.end(), rows.begin(), rows.end());
  return batch;
}

}  // namespace

void Machine::over(std::span<const Digit> digits, int thread, const std::function<void()>& each) {
  if (digits.empty()) return each();
  for (std::int64_t k = 0; k < digits.front().extent; ++k) {
    variable(digits.front().var, thread) = k;
    over(digits.subspan(1), thread, each);
  }
}

Item Machine::flipped(const Item& item) {
  const auto flips = sign_flipped(zero_of(DType::u8));
  const Item operands[] = {item, value(flips.operands[1], 0).front()};
  return operation(flips, operands);
}

void Machine::one(const Copy& copy, const Threads& threads) {
  const auto from = kernel_.array(copy.from.array).type, to = kernel_.array(copy.to.array).type;
  for (const auto t : threads) {
    over(copy.digits, t, [&] {
      if (--steps_ < 0) throw Left{};
      for (const auto& quotient : copy.quotients) one(quotient, {t});
      count(copy.to, {t}, true);
      Item item;
      if (holds(copy.when, t)) {
        count(copy.from, {t}, false);
        const auto rounded = copy.rounded.value_or(from);
        item = converted(converted(load(copy.from, t).front(), from, rounded), rounded, to);
        if (copy.flipped) item = flipped(item);
        if (copy.tf32 && values_) item.value.re = ir::oracle::nearest_tf32(item.value.re);
      }
      store(copy.to, {item}, t);
    });
  }
}

void Machine::one(const Clear& clear, const Threads&) {
  tiles_[clear.array].clear();
  begins_[clear.array] = clear.combine;
}

void Machine::one(const TileExchange& exchange, const Threads& threads) {
  const auto& [to, from] = exchange;
  if (!tiles_.contains(from.array)) broken(kernel_, origin_, "sums are passed on that nothing has cleared");
  auto held = tiles_[from.array];
  auto& made = tiles_[to.array];
  made.clear();
  const auto row = position(to.rows), column = position(to.columns);
  const auto from_row = position(from.rows), from_column = position(from.columns);
  const auto t = threads.front();
  over(to.rows, t, [&] {
    over(to.columns, t, [&] { made[{at(row, t), at(column, t)}] = held[{at(from_row, t), at(from_column, t)}]; });
  });
}

void Machine::one(const Mma& mma, const Threads& threads) {
  const auto of = kernel_.array(mma.accumulator).type;
  const auto from_a = kernel_.array(mma.a.array).type, from_b = kernel_.array(mma.b.array).type;
  const auto rows = of_products(mma.batch, mma.rows);
  const auto row = position(rows), column = position(mma.columns);
  const auto cleared = tiles_.find(mma.accumulator);
  if (cleared == tiles_.end()) broken(kernel_, origin_, "a sum is added to that nothing has cleared");
  const auto term = apply(ir::OpCode::mul, of, {zero_of(of), zero_of(of)});
  const auto sum = apply(mma.negative ? ir::OpCode::sub : mma.combine, of, {zero_of(of), zero_of(of)});
  const auto start = value(identity_of(begins_[mma.accumulator], of), threads.front()).front();
  const auto conjugate = apply(ir::OpCode::conj, of, {zero_of(of)});
  const auto t = threads.front();
  const auto* atom = find_atom(mma.atom);
  const bool rounds = atom != nullptr && atom->a.type == AtomType::tf32 && mma.parts == 1;
  const auto operand = [&](const Access& access, DType from, bool conj) {
    count(access, {t}, false);
    auto item = load(access, t).front();
    if (mma.flipped && &access == &mma.a) {
      item = converted(flipped(item), from, DType::i8);
      from = DType::i8;
    }
    item = converted(item, from, of);
    if (rounds && values_) item.value.re = ir::oracle::nearest_tf32(item.value.re);
    return conj && is_complex(of) ? operation(conjugate, &item) : item;
  };
  over(rows, t, [&] {
    over(mma.columns, t, [&] {
      auto& element = cleared->second.try_emplace({at(row, t), at(column, t)}, start).first->second;
      over(mma.depth, t, [&] {
        if (--steps_ < 0) throw Left{};
        const Item factors[] = {operand(mma.a, from_a, mma.conj_a), operand(mma.b, from_b, mma.conj_b)};
        factors_ = factors;
        const Item terms[] = {element, mma.term ? value(*mma.term, t).front() : operation(term, factors)};
        element = mma.outer ? terms[1] : operation(sum, terms);
        counts_.flops += mma.term ? 1 : 2;
      });
    });
  });
}

void Machine::one(const Flush& flush, const Threads& threads) {
  if (flush.parts >= 0) {
    // The parts of earlier blocks first; the last block's makes the sum whole.
    const auto type = kernel_.array(flush.accumulator).type;
    const auto add = apply(ir::OpCode::add, type, {zero_of(type), zero_of(type)});
    auto& tile = tiles_[flush.accumulator];
    if (const auto before = parts_.find(flush.accumulator); before != parts_.end()) {
      for (auto& [place, part] : tile) {
        const Item both[] = {before->second[place], part};
        part = operation(add, both);
      }
    }
    parts_[flush.accumulator] = tile;
    if (variable(flush.parts, threads.front()) < kernel_.extent(flush.parts) - 1) return;
    parts_.erase(flush.accumulator);
  }
  const auto rows = of_products(flush.batch, flush.rows);
  const auto row = position(rows), column = position(flush.columns);
  const auto t = threads.front();
  over(rows, t, [&] {
    over(flush.columns, t, [&] {
      if (--steps_ < 0) throw Left{};
      for (const auto& quotient : flush.quotients) one(quotient, {t});
      if (!holds(flush.when, t)) return;
      Item nothing;
      nothing.unwritten = flush.accumulator;
      const auto tile = tiles_.find(flush.accumulator);
      if (tile != tiles_.end()) nothing = tile->second[{at(row, t), at(column, t)}];
      finished_ = &nothing;
      finished_array_ = flush.accumulator;
      count(flush.to, {t}, true);
      count_loads(flush.value, {t});
      const auto items = value(flush.value, t);
      finished_ = nullptr;
      flush.atomic ? add(flush.to, items.front(), t) : store(flush.to, items, t);
    });
  });
}

}  // namespace ricci::kernel
