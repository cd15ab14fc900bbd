// Rules of tile statements.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/print.hpp"
#include "kernel/verifier.hpp"
#include "kernel/warp_tile.hpp"

namespace ricci::kernel {

void Verifier::enter(const std::vector<Digit>& digits) {
  for (const auto& digit : digits) {
    enter(digit.var);
    if (digit.extent != kernel_.extent(digit.var))
      fail(fmt::format("{} has {} values in a tile and {} of its own", name(digit.var), digit.extent,
                       kernel_.extent(digit.var)));
    varies_[static_cast<std::size_t>(digit.var)] = Varies::never;
    unrolled_[static_cast<std::size_t>(digit.var)] = false;
  }
}

void Verifier::leave(const std::vector<Digit>& digits) {
  for (const auto& digit : digits) ranges_.leave(digit.var);
}

void Verifier::one(const Copy& copy) {
  const auto before = ranges_.mark();
  if (array_of_checked(copy.to).space == Space::global || array_of_checked(copy.from).space != Space::global)
    fail("a copy goes from the caller's memory to the kernel's own");
  if (copy.rounded && (!is_half(*copy.rounded) || is_integer(array_of(copy.from).type) ||
                       is_complex(array_of(copy.from).type) || is_integer(array_of(copy.to).type)))
    fail(fmt::format("a copy rounds {} to {}", array_of(copy.from).name, ricci::name(*copy.rounded)));
  if (copy.flipped && (cuda() || array_of(copy.from).type != DType::i8 || array_of(copy.to).type != DType::u8))
    fail(fmt::format("elements of {} are no i8 whose sign bits are flipped", array_of(copy.from).name));
  if (copy.tf32 && array_of(copy.to).type != DType::f32)
    fail(fmt::format("{} rounded to tf32", ricci::name(array_of(copy.to).type)));
  if (array_of(copy.to).tf32 && !copy.tf32 && !array_of(copy.from).tf32) unrounded(copy.to);
  enter(copy.digits);
  for (const auto& quotient : copy.quotients) let(quotient);
  conditions(copy.when);
  access(copy.to);
  // Each element of the copy has a place of its own.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (const auto& digit : copy.digits) {
    if (digit.extent > 1) steps.emplace_back(copy.to.index.front().coefficient(digit.var), digit.extent);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;
  for (const auto& [step, extent] : steps) {
    if (step <= reached) fail(fmt::format("a copy writes elements of {} twice", array_of(copy.to).name));
    reached += step * (extent - 1);
  }
  ranges_.assume(copy.when);
  access(copy.from);
  ranges_.restore(before);
  for (const auto& quotient : copy.quotients) ranges_.leave(quotient.var);
  leave(copy.digits);
  auto& life = life_of(copy.to.array);
  life = Life::ready;  // expand() puts what is needed between a copy and its readers
}

void Verifier::one(const Clear& clear) {
  expect(kernel_.array(clear.array).space == Space::registers, "an accumulator that is no register array");
  life_of(clear.array) = Life::ready;
}

namespace {

/// What is in a tile, each of several values: numbers of variables.
std::vector<Var> elements_of(const TileExchange::Tile& tile) {
  std::vector<Var> vars;
  for (const auto* digits : {&tile.rows, &tile.columns}) {
    for (const auto& digit : *digits) {
      if (digit.extent > 1) vars.push_back(digit.var);
    }
  }
  std::sort(vars.begin(), vars.end());
  return vars;
}

}  // namespace

void Verifier::registers_of(int array, const std::vector<Digit>& rows, const std::vector<Digit>& columns) const {
  const auto& sum = kernel_.array(array);
  const auto last = columns.empty() ? 1 : columns.back().extent;
  const auto vectors = product(columns) / last * ((last + sum.lanes - 1) / sum.lanes);
  if (sum.shape.size() != 2 || sum.shape[0] != product(rows) || sum.shape[1] != vectors)
    fail(fmt::format("{} has not the {} x {} registers of its rows and columns", sum.name, product(rows), vectors));
}

void Verifier::one(const TileExchange& exchange) {
  const auto &to = kernel_.array(exchange.to.array), &from = kernel_.array(exchange.from.array);
  expect(&to != &from, "an exchange of a tile with itself");
  for (const auto* tile : {&exchange.to, &exchange.from}) {
    expect(kernel_.array(tile->array).space == Space::registers, "an exchange of what is no register array");
    enter(tile->rows);
    enter(tile->columns);
    registers_of(tile->array, tile->rows, tile->columns);
    leave(tile->columns);
    leave(tile->rows);
  }
  if (to.type != from.type || to.lanes != from.lanes)
    fail(fmt::format("{} and {} have registers of different types", to.name, from.name));
  if (elements_of(exchange.to) != elements_of(exchange.from))
    fail(fmt::format("{} and {} hold different elements", to.name, from.name));
  read_life(exchange.from.array);
  life_of(exchange.to.array) = Life::ready;
}

void Verifier::one(const Mma& mma) {
  read_life(mma.accumulator);
  enter(mma.batch);
  enter(mma.rows);
  enter(mma.columns);
  enter(mma.depth);
  if (!cuda() && !mma.batch.empty()) fail("products side by side are for the warps of a GPU");
  if (cuda()) products_side_by_side(mma);
  if (!cuda()) {
    if (mma.atom == "dot") {
      dot_tile(mma);
    } else if (mma.atom != "fma") {
      fail(fmt::format("there is no atom {} on a CPU", mma.atom));
    }
    registers_of(mma.accumulator, mma.rows, mma.columns);
  } else if (find_fma(mma.atom) == nullptr) {
    if (const auto deep = find_atom(mma.atom)->k; product(mma.depth) % deep != 0)
      fail(fmt::format("a depth of {} in atoms of {}", product(mma.depth), deep));
  }
  for (const auto* digits : {&mma.rows, &mma.columns}) {
    const auto& other = digits == &mma.rows ? mma.b : mma.a;
    for (const auto& digit : *digits) {
      const bool lanes_of_both = !cuda() && &digit == mma.last_columns();
      if (digit.extent > 1 && !lanes_of_both && other.index.front().coefficient(digit.var) != 0)
        fail(fmt::format("{} moves the operand of the other side", name(digit.var)));
    }
  }
  const auto type = kernel_.array(mma.accumulator).type;
  if (mma.combine != ir::OpCode::add || mma.term) {
    expect(mma.term && find_fma(mma.atom) != nullptr && !mma.outer && !mma.negative && is_real(type),
           "a term of its own is for multiply-adds of real numbers");
    term_of_ = type;
    value(*mma.term);
    term_of_.reset();
    if (mma.term->type != type)
      fail(fmt::format("terms of {} are combined in {}", ricci::name(mma.term->type), ricci::name(type)));
  }
  access(mma.a);
  access(mma.b);
  read_life(mma.a.array);
  read_life(mma.b.array);
  leave(mma.depth);
  leave(mma.columns);
  leave(mma.rows);
  leave(mma.batch);
}

void Verifier::dot_tile(const Mma& mma) {
  const auto* types = dot_types(type_of_checked(mma.a), type_of_checked(mma.b));
  const auto& sum = kernel_.array(mma.accumulator);
  if (types == nullptr || types->sum != sum.type || mma.depth.empty() || mma.group() != types->group)
    fail(fmt::format("no dot products of {} and {} in {}", ricci::name(type_of(mma.a)), ricci::name(type_of(mma.b)),
                     ricci::name(sum.type)));
  expect(sum.lanes > 1 && !mma.term && !mma.outer && !mma.negative, "dot products are sums by vectors");
  expect(!mma.flipped || types->a == DType::u8, "elements that are larger by 128 are of u8");
  const auto group = mma.depth.back().var;
  const auto lane = mma.columns.empty() ? -1 : mma.columns.back().var;
  for (const auto* operand : {&mma.a, &mma.b}) {
    for (const auto& term : operand->index.front().terms) {
      const auto step = term.var == group ? 1 : operand == &mma.b && term.var == lane ? types->group : 0;
      if (step > 0 ? term.coefficient != step : term.coefficient % types->group != 0)
        fail(fmt::format("{} does not hold groups of {}", print(kernel_, *operand), types->group));
    }
  }
}

void Verifier::products_side_by_side(const Mma& mma) const {
  const auto* atom = find_fma(mma.atom);
  if (atom == nullptr) atom = find_atom(mma.atom);
  if (!atom) fail(fmt::format("there is no atom {}", mma.atom));
  const auto lanes = batch_lanes(*atom);
  std::int64_t warps = 1;
  for (const auto& digit : mma.batch) warps *= digit.extent;
  if (lanes > 1 && (mma.batch.empty() || mma.batch.back().extent != lanes))
    fail(fmt::format("lanes of {} are {} products, the last digit of the batch", mma.atom, lanes));
  warps /= lanes;
  if (warps != mma.spread.batches)
    fail(fmt::format("{} products side by side for {} groups of warps", warps, mma.spread.batches));
}

void Verifier::one(const Flush& flush) {
  enter(flush.batch);
  enter(flush.rows);
  enter(flush.columns);
  const auto mark = ranges_.mark();
  for (const auto& quotient : flush.quotients) let(quotient);
  conditions(flush.when);
  ranges_.assume(flush.when);
  finished_ = flush.accumulator;
  read_life(flush.accumulator);
  value(flush.value);
  finished_ = -1;
  if (flush.value.type != type_of_checked(flush.to))
    fail(fmt::format("a value of type {} is stored to {}", ricci::name(flush.value.type), print(kernel_, flush.to)));
  if (flush.parts >= 0 && flush.parts != cluster_) fail(fmt::format("{} is no cluster", name(flush.parts)));
  // The blocks of a cluster share what is written.
  auto tasks = tasks_;
  if (flush.parts >= 0) std::erase(tasks_, flush.parts);
  written(flush.to, flush.atomic);
  std::swap(tasks, tasks_);
  access(flush.to);
  ranges_.restore(mark);
  for (const auto& quotient : flush.quotients) ranges_.leave(quotient.var);
  leave(flush.columns);
  leave(flush.rows);
  leave(flush.batch);
}

void Verifier::one(const Prefetch& prefetch) {
  if (array_of_checked(prefetch.from).space != Space::global || prefetch.from.index.size() != 1)
    fail(fmt::format("{} is prefetched", print(kernel_, prefetch.from)));
  enter(prefetch.digits);
  const auto mark = ranges_.mark();
  for (const auto& quotient : prefetch.quotients) let(quotient);
  known(prefetch.from.index.front());
  if (cuda() && prefetch.digits.empty()) {
    if (prefetch.count * size_of(type_of_checked(prefetch.from)) % 16 != 0)
      fail(fmt::format("{} neighbours of {} are prefetched, and runs are multiples of 16 bytes", prefetch.count,
                       print(kernel_, prefetch.from)));
    auto run = prefetch.from;
    access(run);
    run.index.front() = run.index.front() + Affine(prefetch.count - 1);
    access(run);
  }
  ranges_.restore(mark);
  for (const auto& quotient : prefetch.quotients) ranges_.leave(quotient.var);
  leave(prefetch.digits);
}

}  // namespace ricci::kernel
