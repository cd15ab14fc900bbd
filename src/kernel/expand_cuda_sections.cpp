// Groups of contractions on a GPU: sections one after the other, of which each multiplies its operands into sums that
// stay in registers. The next section finds them there under other names or, where its lanes hold others, by way of
// shared memory. All sections' rounds are one pipeline, so that operands of the next section come while one multiplies.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/expand_cuda.hpp"
#include "kernel/round_loops.hpp"
#include "kernel/tile_exchange.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel::cuda {
namespace {

void append(Body& to, Body more, int origin = -1) {
  made_by(more, origin);
  for (auto& statement : more) to.push_back(std::move(statement));
}

/// What a section does between its sums' coming and going.
struct SectionRounds {
  std::string title;
  std::vector<const Loop*> nest = {};  ///< of its rounds; none: it has one
  std::int64_t rounds = 1, first = 0;  ///< how many, and those of earlier sections
  std::vector<Copy> copies = {};
  std::vector<int> origins = {};  ///< of the copies' directives
  Mma mma = {};
  int origin = -1;  ///< of the atom's directive
  WarpTile tile = {};
  std::vector<Visits> visits = {};  ///< of the copies
  Body names = {};                  ///< of the visits
};

class Sections {
 public:
  Sections(Kernel& kernel, const Body& block)
      : kernel_(kernel), parts_(parts_of(block)), threads_(kernel, parts_.front().mma.spread) {
    std::int64_t rounds = 0;
    for (auto& part : parts_) {
      const auto& mma = part.mma;
      auto& sum = kernel.arrays[static_cast<std::size_t>(mma.accumulator)];
      part.tile = warp_tile(mma.atom, mma.spread, mma.rows, mma.columns, mma.depth, sum.type);
      sum.shape = {part.tile.rows.atoms(), part.tile.columns.atoms()};
      if (!part.tile.fma()) sum.shape.push_back(part.tile.atom->c.registers());
      for (const auto* side : {&part.tile.rows, &part.tile.columns}) {
        if (side->extent != side->padded)
          throw PlanError(
              fmt::format("schedule: {}: sums go on in whole tiles, and warps hold {} rows or columns of {}",
                          part.title, side->padded, side->extent));
      }
      for (const auto* loop : part.nest) part.rounds *= kernel.extent(loop->var);
      const int stages = part.nest.empty() ? 1 : part.nest.back()->stages;
      if (&part != &parts_.front() && stages != places_)
        throw PlanError(fmt::format("schedule: {}: all sections of a group are in one pipeline, of {} stages",
                                    part.title, places_));
      places_ = stages;
      part.first = rounds;
      rounds += part.rounds;
      auto names = std::exchange(threads_.names, {});
      // Threads' places are made of their number where a section copies: those of all sections would take registers.
      const auto number = threads_.loop_var("thread", threads_.count);
      threads_.names.push_back({Let{.var = number, .of = Affine::of(threads_.thread), .anew = true}});
      for (const auto& copy : part.copies)
        part.visits.push_back(visits_of(threads_, {Affine::of(number), threads_.count}, copy));
      part.names = std::exchange(threads_.names, std::move(names));
    }
    rounds_ = rounds;
    for (const auto& part : parts_) texts_ += static_cast<int>(std::min(part.rounds, ahead() + 1));
    auto& tiles = kernel.arrays[static_cast<std::size_t>(parts_.front().mma.a.array)];
    size_ = tiles.shape.front();
    tiles.shape.front() *= places_;
  }

  Body run() {
    Body body;
    for (std::int64_t round = 0; round < std::min(ahead(), rounds_); ++round) {
      append(body, only({Section{{}, copies_of(part_at(round), round)}}));
      body.push_back({Commit{}});
    }
    bool negative = false;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      auto& part = parts_[k];
      threads_.place(part.mma.spread);
      const bool turned = part.mma.negative != negative;
      negative = part.mma.negative;
      append(body, k == 0 ? cleared(threads_, part.mma.accumulator) : passed(parts_[k - 1], part, turned), part.origin);
      append(body, only({Section{part.title, rounds_of(part)}}), part.origin);
    }
    const auto& last = parts_.back();
    if (negative) append(body, negated(last.mma.accumulator), last.origin);
    append(body, flushed(threads_, *flush_, last.tile), last.origin);
    Body block = std::move(threads_.names);
    made_by(block, parts_.front().origin);
    append(block, std::move(body));
    return only({loop_over(threads_.thread, Bind::thread, std::move(block)).node, parts_.front().origin});
  }

 private:
  std::vector<SectionRounds> parts_of(const Body& block) {
    std::vector<SectionRounds> parts;
    const auto add = [&](const auto& self, const Section& section) -> void {
      SectionRounds part{section.title};
      const Body* rounds = &section.body;
      const Section* next = nullptr;
      for (const auto& statement : section.body) {
        if (const auto* loop = std::get_if<Loop>(&statement.node)) {
          part.nest = nest_of(*loop);
          rounds = &part.nest.back()->body;
        }
        if (const auto* inner = std::get_if<Section>(&statement.node)) next = inner;
        if (const auto* flush = std::get_if<Flush>(&statement.node)) flush_ = flush;
      }
      for (const auto& statement : *rounds) {
        if (const auto* copy = std::get_if<Copy>(&statement.node)) {
          if (copy->boxes) throw PlanError("schedule: no tensor maps for groups of products yet");
          part.copies.push_back(*copy);
          part.origins.push_back(statement.origin);
        }
        if (const auto* mma = std::get_if<Mma>(&statement.node)) {
          part.mma = *mma;
          part.origin = statement.origin;
        }
      }
      if (!part.mma.batch.empty())
        throw PlanError(fmt::format("schedule: {}: no products side by side in a group", part.title));
      if (part.mma.accumulator < 0 || part.copies.size() != 2)
        throw PlanError(fmt::format("schedule: {}: a section of a group stages both operands at one loop", part.title));
      if (!part.nest.empty() && !ends_of(kernel_, part.nest, 1, false).empty())
        throw PlanError(fmt::format("schedule: {}: all rounds of a group's sums have values", part.title));
      parts.push_back(std::move(part));
      if (next != nullptr) self(self, *next);
    };
    for (const auto& statement : block) add(add, std::get<Section>(statement.node));
    if (flush_ == nullptr) throw PlanError("schedule: the sums of a group are not written");
    return parts;
  }

  /// Rounds that copies run ahead.
  std::int64_t ahead() const { return places_ - 1; }
  const SectionRounds& part_at(std::int64_t round) const {
    return *std::find_if(parts_.rbegin(), parts_.rend(),
                         [&](const SectionRounds& part) { return part.first <= round; });
  }
  Affine place_of(Body& names, const Affine& round) {
    if (round.is_constant()) return Affine(round.constant % places_);
    return places_ == 1 ? Affine(0) : threads_.let(names, "place", round, 1, places_);
  }

  /// Those of a round by its number.
  Body copies_of(const SectionRounds& part, const Affine& round) {
    Body body = part.names;
    append(body, moves_of(part, round));
    return body;
  }
  /// The same where what the visits are named by stands in front.
  Body moves_of(const SectionRounds& part, const Affine& round) {
    Body body;
    const auto chunk = round - Affine(part.first);
    std::vector<std::pair<Var, Affine>> values;
    std::int64_t below = part.rounds;
    for (const auto* loop : part.nest) {
      const auto extent = kernel_.extent(loop->var);
      below /= extent;
      const auto& name = kernel_.vars[static_cast<std::size_t>(loop->var)].name;
      values.emplace_back(loop->var, chunk.is_constant() ? Affine(chunk.constant / below % extent)
                                                         : threads_.let(body, "next_" + name, chunk, below, extent));
    }
    const auto place = place_of(body, round);
    for (std::size_t c = 0; c < part.copies.size(); ++c) {
      auto copy = part.copies[c];
      for (const auto& [var, value] : values) {
        copy.from = with(copy.from, var, value);
        copy.when = with(copy.when, var, value);
      }
      copy.to.index.front() = copy.to.index.front() + size_ * place;
      append(body, copied(threads_, part.visits[c], copy), part.origins[c]);
    }
    return body;
  }

  /// A section's rounds: those whose copies ahead are its own in a loop, behind them one by one those that copy for
  /// later sections.
  Body rounds_of(const SectionRounds& part) {
    Body body;
    const auto own = std::max<std::int64_t>(part.rounds - ahead(), 0);
    if (own > 0) {
      append(body, part.names);
      const auto chunk = threads_.loop_var("chunk", own);
      const auto number = Affine(part.first) + (own > 1 ? Affine::of(chunk) : Affine(0));
      auto round = round_of(part, number, [&] { return moves_of(part, number + Affine(ahead())); });
      if (own > 1) round = only(loop_over(chunk, Bind::serial, std::move(round)));
      append(body, only({Section{{}, std::move(round)}}));
    }
    for (auto number = part.first + own; number < part.first + part.rounds; ++number) {
      const auto later = number + ahead();
      auto round = round_of(part, Affine(number),
                            [&] { return later < rounds_ ? copies_of(part_at(later), Affine(later)) : Body{}; });
      append(body, part.rounds > 1 ? only({Section{{}, std::move(round)}}) : std::move(round));
    }
    return body;
  }

  template <class Moves>
  Body round_of(const SectionRounds& part, const Affine& number, const Moves& moves) {
    Body round;
    auto mma = part.mma;
    const auto place = place_of(round, number);
    for (auto* operand : {&mma.a, &mma.b}) operand->index.front() = operand->index.front() + size_ * place;
    if (ahead() == 0) {
      if (number != Affine(0)) round.push_back({Barrier{}});  // all have done the round before
      append(round, moves());
      append(round, {{Commit{}}, {Wait{0}}, {Barrier{}}});
      append(round, multiplied(threads_, mma, part.tile, {}, texts_), part.origin);
      return round;
    }
    append(round, {{Wait{static_cast<int>(ahead() - 1)}}, {Barrier{}}});
    // Between the first fragments and later ones: shared memory takes its requests in their order.
    append(round, multiplied(threads_, mma, part.tile, {only({Section{{}, moves()}})}, texts_), part.origin);
    round.push_back({Commit{}});
    return round;
  }

  // ---- sums from section to section

  Access register_of(int array, std::int64_t number) const {
    const auto& shape = kernel_.array(array).shape;
    std::vector<Affine> index(shape.size());
    for (std::size_t k = shape.size(); k-- > 0; number /= shape[k]) index[k] = Affine(number % shape[k]);
    return {array, std::move(index)};
  }
  Value sum_of(Access access, bool turned) const {
    const auto type = kernel_.array(access.array).type;
    auto value = load_of(type, std::move(access));
    return turned ? apply(ir::OpCode::neg, type, {std::move(value)}) : value;
  }

  /// What is left of 0: sums that are 0 have no sign then.
  Body negated(int array) {
    static constexpr const char* kNames[] = {"i", "j", "e"};
    const auto shape = kernel_.array(array).shape;
    Access each{array, {}};
    std::vector<Var> vars;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      vars.push_back(threads_.loop_var(kNames[k], shape[k]));
      each.index.push_back(Affine::of(vars.back()));
    }
    const auto type = kernel_.array(array).type;
    Body body{{Store{each, apply(ir::OpCode::sub, type, {zero_of(type), load_of(type, each)})}}};
    for (std::size_t k = vars.size(); k-- > 0;) body = threads_.unrolled(vars[k], std::move(body));
    return body;
  }

  ///   turned  the sums change their sign
  Body passed(const SectionRounds& from, const SectionRounds& to, bool turned) {
    const PassedTile before{from.tile, from.mma.rows, from.mma.columns}, now{to.tile, to.mma.rows, to.mma.columns};
    Body body{{Declare{to.mma.accumulator}}};
    if (const auto renamed = renamed_registers(before, now)) {
      append(body, renamed_sums(from.mma.accumulator, to.mma.accumulator, *renamed, turned));
      return body;
    }
    const auto plan = exchange_plan(before, now, kernel_.array(to.mma.accumulator).type);
    if (exchanged_ < 0) exchanged_ = threads_.shared("exchanged", kernel_.array(to.mma.accumulator).type, 1);
    auto& room = kernel_.arrays[static_cast<std::size_t>(exchanged_)].shape.front();
    room = std::max(room, plan.elements);
    const auto write = thread_place(plan.from), read = thread_place(plan.to);
    for (std::int64_t k = 0; k < plan.parts; ++k) {
      if (k > 0) body.push_back({Barrier{}});
      for (std::int64_t r = 0; r < plan.registers; ++r) {
        if (plan.from_part.at({.reg = r})[0] != k) continue;
        body.push_back({Store{{exchanged_, {write + Affine(plan.from.at({.reg = r})[0])}},
                              sum_of(register_of(from.mma.accumulator, r), turned)}});
      }
      body.push_back({Barrier{}});
      for (std::int64_t r = 0; r < plan.registers; ++r) {
        if (plan.to_part.at({.reg = r})[0] != k) continue;
        body.push_back({Store{register_of(to.mma.accumulator, r),
                              sum_of({exchanged_, {read + Affine(plan.to.at({.reg = r})[0])}}, false)}});
      }
    }
    return body;
  }

  /// Elements before a thread's first one, in a layout of places.
  Affine thread_place(const Layout& held) {
    auto sum = threads_.lane_position(held, 0, "place");
    for (const auto& mode : held.all()) {
      if (mode.axis != LayoutAxis::warp || mode.step == 0) continue;
      sum = sum + mode.step * threads_.digit("warp_digit", std::int64_t{kWarp} * mode.stride, mode.extent);
    }
    return sum;
  }

  /// Registers under other names, by loops over digits of their numbers where these move both alike.
  Body renamed_sums(int from, int to, const std::vector<std::int64_t>& source, bool turned) {
    if (const auto digits = common_digits(kernel_.array(to).shape, kernel_.array(from).shape, source)) {
      Access target = register_of(to, 0), origin = register_of(from, source.front());
      std::vector<Var> loops;
      for (const auto& digit : *digits) {
        loops.push_back(threads_.loop_var(fmt::format("e{}", loops.size()), digit.extent));
        for (std::size_t k = 0; k < target.index.size(); ++k)
          target.index[k] = target.index[k] + Affine::of(loops.back(), digit.to[k]);
        for (std::size_t k = 0; k < origin.index.size(); ++k)
          origin.index[k] = origin.index[k] + Affine::of(loops.back(), digit.from[k]);
      }
      Body body{{Store{std::move(target), sum_of(std::move(origin), turned)}}};
      for (const auto loop : loops) body = threads_.unrolled(loop, std::move(body));
      return body;
    }
    Body body;
    for (std::size_t r = 0; r < source.size(); ++r)
      body.push_back(
          {Store{register_of(to, static_cast<std::int64_t>(r)), sum_of(register_of(from, source[r]), turned)}});
    return body;
  }

  Kernel& kernel_;
  const Flush* flush_ = nullptr;
  std::vector<SectionRounds> parts_;
  Threads threads_;
  std::int64_t places_ = 1, rounds_ = 0, size_ = 0;  ///< of the pipeline; of one place, elements
  int texts_ = 0;                                    ///< of rounds, which stand one by one but for a section's first
  int exchanged_ = -1;                               ///< shared memory of what lanes exchange
};

}  // namespace

Body sections_expanded(Kernel& kernel, const Body& block) { return Sections(kernel, block).run(); }

}  // namespace ricci::kernel::cuda
