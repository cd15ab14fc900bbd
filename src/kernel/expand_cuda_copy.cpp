// Copies by the threads of a block: neighbours in memory go to neighbouring threads, as wide as both sides allow.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include "kernel/expand_cuda.hpp"
#include "kernel/extensions.hpp"

namespace ricci::kernel::cuda {
namespace {

/// Whether `n` elements from a multiple of n of digit `var` on are neighbours at a multiple of n.
bool runs(const Kernel& kernel, const Copy& copy, const Access& access, Var var, std::int64_t n) {
  const auto& array = kernel.array(access.array);
  const auto bytes = n * size_of(array.type);
  return has_runs(access.index.front(), array.space == Space::global ? copy.quotients : std::vector<Let>{}, var, n) &&
         array.alignment % bytes == 0 && array.alignment > 0;
}

struct Part {
  Digit digit;
  std::size_t number;  ///< among the copy's digits
  std::int64_t step;   ///< 1, or the vector
};

/// How many threads share each digit, the first ones as many as they have values, so that no digit needs a division for
/// each round. Nothing where threads do not come out even.
std::optional<std::vector<std::int64_t>> even_shares(const std::vector<Part>& parts, std::int64_t workers) {
  std::vector<std::int64_t> shares;
  for (const auto& part : parts) {
    const auto n = part.digit.extent / part.step;
    if (workers % n != 0 && n % workers != 0) return std::nullopt;
    shares.push_back(std::min(n, workers));
    workers /= shares.back();
  }
  return shares;
}

/// How many threads share each digit of a copy whose places are quotients, which each thread works out for as few
/// values of the digits as may be: a warp reads whole lines. Nothing where threads do not come out even.
std::optional<std::vector<std::int64_t>> shares_of(const Copy& copy, const std::vector<Part>& parts,
                                                   std::int64_t workers, std::int64_t line) {
  std::vector<std::int64_t> tried(parts.size(), 1), best;
  std::int64_t least = 0;
  const auto quotients_of = [&](const Part& part) {
    return 1 + std::count_if(copy.quotients.begin(), copy.quotients.end(),
                             [&](const Let& let) { return let.of.coefficient(part.digit.var) != 0; });
  };
  const auto search = [&](const auto& self, std::size_t k, std::int64_t left, std::int64_t cost) -> void {
    if (k == parts.size()) {
      if (left == 1 && (best.empty() || cost < least)) best = tried, least = cost;
      return;
    }
    const auto n = parts[k].digit.extent / parts[k].step;
    for (std::int64_t share = std::min(n, left); share >= 1; --share) {
      if (n % share != 0 || left % share != 0 || (k == 0 && share < std::min(n, line))) continue;
      tried[k] = share;
      self(self, k + 1, left / share, cost + quotients_of(parts[k]) * (n / share));
    }
  };
  search(search, 0, workers, 0);
  if (best.empty()) return std::nullopt;
  return best;
}

/// Digits by so many threads each, as sums of thread and round.
std::vector<Affine> by_shares(Threads& threads, const Workers& all, const std::vector<Part>& parts,
                              const std::vector<std::int64_t>& shares, const std::string& stem,
                              std::vector<Var>& rounds) {
  std::vector<Affine> value;
  std::int64_t divisor = 1;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto n = parts[k].digit.extent / parts[k].step;
    const auto name = stem + threads.kernel.vars[static_cast<std::size_t>(parts[k].digit.var)].name;
    const bool last = divisor * shares[k] == all.count;
    auto v = threads.let(threads.names, name, all.number, divisor, last ? 0 : shares[k]);
    if (shares[k] < n) {
      rounds.push_back(threads.loop_var("r" + std::to_string(rounds.size()), n / shares[k]));
      v = v + Affine::of(rounds.back(), shares[k]);
    }
    divisor *= shares[k];
    value.push_back(parts[k].step * v);
  }
  return value;
}

/// The same where threads do not come out even: a digit that more threads are left for than it has values lets the
/// others rest, and one that fewer are left for has a last round that is not full.
struct Uneven {
  std::int64_t active = 1;  ///< threads
  std::int64_t rounds = 1;
  std::vector<std::int64_t> threads;  ///< per part
};
Uneven uneven(const std::vector<Part>& parts, std::int64_t workers) {
  Uneven made;
  std::int64_t rest = workers;
  for (const auto& part : parts) {
    const auto n = part.digit.extent / part.step, rounds = (n + rest - 1) / rest;
    made.threads.push_back((n + rounds - 1) / rounds);  // no more than as many rounds need
    made.active *= made.threads.back();
    made.rounds *= rounds;
    rest = rounds > 1 ? 1 : rest / n;
  }
  return made;
}

/// Adds a visit by such threads.
void add_uneven(Threads& threads, const Workers& all, const std::vector<Part>& parts, const Uneven& made,
                const std::string& stem, Visits& visits) {
  auto& value = visits.value.emplace_back(parts.size());
  auto& when = visits.when.emplace_back();
  std::int64_t divisor = 1;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto n = parts[k].digit.extent / parts[k].step, at_once = made.threads[k];
    const auto name = stem + threads.kernel.vars[static_cast<std::size_t>(parts[k].digit.var)].name;
    auto v = threads.let(threads.names, name, all.number, divisor, at_once);
    divisor *= at_once;
    if (at_once < n) {
      visits.rounds.push_back(
          threads.loop_var("r" + std::to_string(visits.rounds.size()), (n + at_once - 1) / at_once));
      v = v + Affine::of(visits.rounds.back(), at_once);
      if (n % at_once != 0) when.push_back({v, n});
    }
    value[parts[k].number] = parts[k].step * v;
  }
  if (made.active < all.count) when.push_back({all.number, made.active});
}

}  // namespace

Visits visits_of(Threads& threads, const Workers& all, const Copy& copy, bool by_target) {
  const auto& kernel = threads.kernel;
  if (!by_target && find_rule(kernel, copy) != nullptr) return {};
  const auto size = std::max(size_of(kernel.array(copy.to.array).type), size_of(kernel.array(copy.from.array).type));
  Visits visits;
  visits.digits = copy.digits;
  for (const auto& digit : copy.digits) {
    for (std::int64_t n = kWidest / size; n > 1; n /= 2) {
      if (digit.extent % n == 0 && runs(kernel, copy, copy.from, digit.var, n) &&
          runs(kernel, copy, copy.to, digit.var, n) && hold_alike(copy.when, digit.var, n)) {
        visits.vector = static_cast<int>(n);
        visits.along = digit.var;
        break;
      }
    }
  }
  const auto& ordered = by_target ? copy.to : copy.from;
  const auto stem = kernel.array(ordered.array).name + "_";
  std::vector<Part> parts;
  std::int64_t units = 1;
  for (std::size_t k = 0; k < copy.digits.size(); ++k) {
    const std::int64_t step = copy.digits[k].var == visits.along ? visits.vector : 1;
    parts.push_back({copy.digits[k], k, step});
    units *= copy.digits[k].extent / step;
  }
  const auto stride = [&](const Part& part) {
    return std::abs(step_along(ordered.index.front(), copy.quotients, part.digit.var));
  };
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& x, const Part& y) { return stride(x) < stride(y); });

  const auto count = all.count;
  const auto put = [&](const std::vector<Affine>& values) {
    visits.value.emplace_back(copy.digits.size());
    for (std::size_t k = 0; k < parts.size(); ++k) visits.value.back()[parts[k].number] = values[k];
  };
  if (!copy.quotients.empty()) {
    constexpr std::int64_t kLine = 128;  // bytes
    if (const auto shares = shares_of(copy, parts, count, kLine / (size * visits.vector))) {
      put(by_shares(threads, all, parts, *shares, stem, visits.rounds));
      visits.when.emplace_back();
      return visits;
    }
  }
  const auto rounds_of = [&](std::int64_t workers) { return (units + workers - 1) / workers; };
  for (auto workers = count; workers > count / 2 && rounds_of(workers) <= rounds_of(count) + rounds_of(count) / 2;
       --workers) {
    const auto shares = even_shares(parts, workers);
    if (!shares) continue;
    put(by_shares(threads, all, parts, *shares, stem, visits.rounds));
    visits.when.emplace_back();
    const auto active = std::min(workers, units);
    if (active < count) visits.when[0].push_back({all.number, active});
    return visits;
  }
  // Places that are decoded for each round take registers for each.
  if (const auto made = uneven(parts, count); made.rounds > 1 && made.rounds <= 2 * rounds_of(count)) {
    add_uneven(threads, all, parts, made, stem, visits);
    return visits;
  }
  for (std::int64_t round = 0; round < rounds_of(count); ++round) {
    const auto unit = all.number + Affine(count * round);
    visits.value.emplace_back(copy.digits.size());
    std::int64_t below = 1;
    for (const auto& part : parts) {
      const auto n = part.digit.extent / part.step;
      const auto name = stem + kernel.vars[static_cast<std::size_t>(part.digit.var)].name;
      const auto v = threads.let(threads.names, name + "_" + std::to_string(round), unit, below, n);
      visits.value.back()[part.number] = part.step * v;
      below *= n;
    }
    visits.when.emplace_back();
    if ((round + 1) * count > units) visits.when.back().push_back({unit, units});
  }
  return visits;
}

Places places_of(Threads& threads, Body& names, const Visits& visits, std::size_t visit, const Copy& copy) {
  Places places;
  for (std::size_t k = 0; k < visits.digits.size(); ++k)
    places.emplace_back(visits.digits[k].var, visits.value[visit][k]);
  add_quotients(threads, names, places, copy.quotients, threads.kernel.array(copy.from.array).name + "_", "");
  return places;
}

Copy by_table(Threads& threads, const Visits& visits, Copy copy, const Copy& any) {
  constexpr std::int64_t kMostPlaces = 4096;  // 16 KB, of which a round reads few lines
  std::vector<Let> tabled;
  for (std::size_t k = 0; k < any.quotients.size(); ++k) {
    if (copy.quotients[k].tabled && copy.quotients[k].of != any.quotients[k].of) tabled.push_back(copy.quotients[k]);
  }
  // Threads that decode each visit by itself would have a table for each.
  if (tabled.size() < 2 || visits.value.size() != 1) return copy;
  const auto of = tabled.front().of;
  const auto is_tabled = [&](const Let& let) {
    return std::any_of(tabled.begin(), tabled.end(), [&](const Let& other) { return other.var == let.var; });
  };
  for (const auto& let : tabled) {
    const bool asked = std::any_of(copy.when.begin(), copy.when.end(), [&](const Condition& condition) {
      return condition.value.coefficient(let.var) != 0;
    });
    if (let.of != of || asked) return copy;
  }
  // Vectors along the joined index begin at multiples of their length.
  const auto whole = [&](std::int64_t n) {
    return of.constant % n == 0 && std::all_of(of.terms.begin(), of.terms.end(), [&](const Term& term) {
             return term.var == visits.along || term.coefficient % n == 0;
           });
  };
  const std::int64_t step = of.coefficient(visits.along) != 0 && whole(visits.vector) ? visits.vector : 1;
  const auto last = bounds(of, [&](Var var) { return threads.kernel.extent(var); }).last;
  if (last / step >= kMostPlaces) return copy;
  auto end = last + 1;  // of what there is: the rest is not read
  for (const auto& condition : copy.when) {
    if (condition.value == of) end = std::min(end, condition.below);
  }
  auto& index = copy.from.index.front();
  std::vector<std::int64_t> places;
  std::int64_t unit = 0;
  for (std::int64_t p = 0; p <= last; p += step) {
    auto& place = places.emplace_back(0);
    for (const auto& let : tabled) {
      const auto quotient = p < end ? p / let.divisor : 0;
      place += index.coefficient(let.var) * (let.modulus > 0 ? quotient % let.modulus : quotient);
    }
    if (place < 0) return copy;
    unit = std::gcd(unit, place);
  }
  if (unit == 0) return copy;
  for (auto& place : places) place /= unit;
  const auto most = *std::max_element(places.begin(), places.end());
  if (most >= std::numeric_limits<std::int32_t>::max()) return copy;
  const auto var = threads.table_var(threads.kernel.array(copy.from.array).name + "_places", most + 1);
  for (const auto& let : tabled) index = index.with(let.var, Affine(0));
  index = index + Affine::of(var, unit);
  std::erase_if(copy.quotients, is_tabled);
  copy.quotients.push_back({var, of, step, 0, true, -1, std::move(places)});
  return copy;
}

void add_quotients(Threads& threads, Body& names, Places& places, std::vector<Let> quotients, const std::string& begin,
                   const std::string& end) {
  for (const auto& [var, value] : places) quotients = with(std::move(quotients), var, value);
  for (auto& let : quotients) {
    if (!let.values.empty()) {  // an entry for each `divisor` of its expression, which is a multiple of it
      for (auto& term : let.of.terms) term.coefficient /= let.divisor;
      let.of.constant /= std::exchange(let.divisor, 1);
      names.push_back({std::move(let)});
      continue;
    }
    const auto& member = threads.kernel.vars[static_cast<std::size_t>(let.var)].name;
    const auto name = fmt::format("{}{}{}", begin, member, end);
    places.emplace_back(let.var, threads.let(names, name, let.of, let.divisor, let.modulus));
  }
}

std::vector<Visits> shared_out(Threads& threads, const Visits& visits, std::int64_t parts) {
  std::vector<Visits> all(static_cast<std::size_t>(parts), visits);
  const auto longest = std::max_element(visits.rounds.begin(), visits.rounds.end(), [&](Var x, Var y) {
    return threads.kernel.extent(x) < threads.kernel.extent(y);
  });
  const bool by_rounds = longest != visits.rounds.end() && threads.kernel.extent(*longest) > 1;
  const auto count = by_rounds ? threads.kernel.extent(*longest) : static_cast<std::int64_t>(visits.value.size());
  std::int64_t begin = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto end = ((part + 1) * count + parts - 1) / parts;
    auto& of_part = all[static_cast<std::size_t>(part)];
    if (!by_rounds) {
      const auto kept = [&](auto& list) { list = {list.begin() + begin, list.begin() + end}; };
      kept(of_part.value);
      kept(of_part.when);
    } else if (end == begin) {
      of_part.value.clear();
      of_part.when.clear();
    } else {
      Affine round(begin);
      auto& rounds = of_part.rounds;
      std::erase(rounds, *longest);
      if (end - begin > 1) {
        rounds.push_back(threads.loop_var(fmt::format("r{}", visits.rounds.size()), end - begin));
        round = round + Affine::of(rounds.back());
      }
      for (auto& values : of_part.value) {
        for (auto& value : values) value = value.with(*longest, round);
      }
      for (auto& when : of_part.when) when = with(when, *longest, round);
    }
    begin = end;
  }
  return all;
}

namespace {

/// What a thread moves in one visit, and when.
struct Moved {
  Access to, from;
  std::vector<Condition> when;   ///< there is such an element: else 0 takes its place
  std::vector<Condition> taken;  ///< the thread moves one
};
///   names  is given those of the places
Moved moved_by(Threads& threads, Body& names, const Visits& visits, std::size_t visit, const Copy& copy,
               const std::vector<Condition>& only) {
  Moved moved{copy.to, copy.from, copy.when, visits.when[visit]};
  for (const auto& [var, value] : places_of(threads, names, visits, visit, copy)) {
    moved.to = with(moved.to, var, value);
    moved.from = with(moved.from, var, value);
    moved.when = with(moved.when, var, value);
  }
  moved.taken.insert(moved.taken.end(), only.begin(), only.end());
  return moved;
}

/// A copy whose elements pass registers. As many loads as these have room for are under way before any of them is
/// stored: behind a condition each would be waited for on its own (ts00167 of talsh300 in bf16 on an H200: 6.8 ms for
/// 0.59).
class CopyByRegisters {
 public:
  CopyByRegisters(Threads& threads, const Visits& visits, const Copy& copy)
      : threads_(threads),
        kernel_(threads.kernel),
        visits_(visits),
        copy_(copy),
        to_type_(kernel_.array(copy.to.array).type),
        from_type_(kernel_.array(copy.from.array).type),
        converts_(to_type_ != from_type_ || copy.rounded || copy.tf32) {}

  /// Whether asynchronous copies cannot take its place.
  bool converts() const { return converts_; }

  /// All visits, where `only` holds.
  Body of_all(const std::vector<Condition>& only) {
    const auto most = std::max<std::int64_t>(kUnderWay / (visits_.vector * size_of(from_type_)), 1);
    auto visits = visits_;
    std::erase_if(visits.rounds, [&](Var round) { return kernel_.extent(round) == 1; });
    // Rounds that are under way together: the inner ones, and a part of the next one.
    std::vector<Var> within;
    std::int64_t count = 1;
    for (bool whole = true; whole && !visits.rounds.empty();) {
      const auto round = visits.rounds.back();
      const auto extent = kernel_.extent(round);
      auto part = extent;
      while (part > 1 && (extent % part != 0 || count * part > most)) --part;
      if (part == 1) break;
      whole = part == extent;
      count *= part;
      visits.rounds.pop_back();
      within.insert(within.begin(), round);
      if (whole) continue;
      const auto outer = threads_.loop_var(kernel_.vars[static_cast<std::size_t>(round)].name, extent / part);
      within.front() = threads_.loop_var(kernel_.vars[static_cast<std::size_t>(round)].name + "_part", part);
      visits.rounds.push_back(outer);
      const auto number = Affine::of(outer, part) + Affine::of(within.front());
      for (auto& values : visits.value) {
        for (auto& value : values) value = value.with(round, number);
      }
      for (auto& when : visits.when) when = with(std::move(when), round, number);
    }
    const auto values = within.empty() ? most : 1;
    Body all;
    for (std::size_t v = 0; v < visits.value.size(); v += static_cast<std::size_t>(values))
      add(all, visits, v, values, within, count, only);
    return all;
  }

 private:
  static constexpr std::int64_t kUnderWay = 128;  ///< bytes of a thread

  /// Visits from number `v` on, so many at a time, each of as many rounds as those within the others are.
  void add(Body& all, const Visits& visits, std::size_t v, std::int64_t values, const std::vector<Var>& within,
           std::int64_t count, const std::vector<Condition>& only) {
    const auto end = std::min(v + static_cast<std::size_t>(values), visits.value.size());
    const auto held = threads_.registers(kernel_.array(copy_.from.array).name + "_run", from_type_,
                                         {static_cast<std::int64_t>(end - v) * count}, visits_.vector);
    Affine number(0);
    for (const auto round : within) number = kernel_.extent(round) * number + Affine::of(round);
    Body move{{Declare{held}}}, stores;
    for (auto k = v; k < end; ++k) {
      const Access kept{held, {number + Affine(static_cast<std::int64_t>(k - v))}, visits_.vector};
      auto [load, store] = visit(visits, k, kept, only);
      for (const auto round : within | std::views::reverse) {
        load = threads_.unrolled(round, std::move(load));
        store = threads_.unrolled(round, std::move(store));
      }
      for (auto& statement : load) move.push_back(std::move(statement));
      for (auto& statement : store) stores.push_back(std::move(statement));
    }
    for (auto& statement : stores) move.push_back(std::move(statement));
    for (const auto round : visits.rounds | std::views::reverse) move = threads_.unrolled(round, std::move(move));
    for (auto& statement : move) all.push_back(std::move(statement));
  }

  /// A visit's load to registers, and what stores it.
  std::pair<Body, Body> visit(const Visits& visits, std::size_t v, const Access& kept,
                              const std::vector<Condition>& only) {
    Body load;
    auto [to, from, when, taken] = moved_by(threads_, load, visits, v, copy_, only);
    to.lanes = from.lanes = visits_.vector;
    const auto read = taken.size();
    when.insert(when.begin(), taken.begin(), taken.end());
    Body loaded{{Store{kept, load_of(from_type_, from)}}};
    if (when.size() > read) {
      loaded = {{If{std::move(when), std::move(loaded), {{Store{kept, zeros(from_type_)}}}}}};
    } else if (!taken.empty()) {
      loaded = {{If{taken, std::move(loaded), {}}}};
    }
    for (auto& statement : loaded) load.push_back(std::move(statement));
    Body store{{Store{to, of_lanes(to_type_, [&](int l) {
                        auto lane = kept;
                        if (visits_.vector > 1) lane.lane = Affine(l);
                        return converted(load_of(from_type_, std::move(lane)));
                      })}}};
    if (!converts_) store = {{Store{to, load_of(from_type_, kept)}}};
    if (!taken.empty()) store = {{If{std::move(taken), std::move(store), {}}}};
    return {std::move(load), std::move(store)};
  }

  template <class Of>
  Value of_lanes(DType type, Of of) const {
    if (visits_.vector == 1) return of(0);
    Value all;
    all.kind = Value::Kind::pack;
    all.type = type;
    for (int l = 0; l < visits_.vector; ++l) all.operands.push_back(of(l));
    return all;
  }
  Value zeros(DType type) const {
    return of_lanes(type, [&](int) { return zero_of(type); });
  }
  Value converted(Value value) const {
    auto made = cast(cast(std::move(value), copy_.rounded.value_or(from_type_)), to_type_);
    return copy_.tf32 ? apply(ir::OpCode::tf32, to_type_, {std::move(made)}) : made;
  }

  Threads& threads_;
  const Kernel& kernel_;
  const Visits& visits_;
  const Copy& copy_;
  DType to_type_, from_type_;
  bool converts_;
};

}  // namespace

Body copied(Threads& threads, const Visits& visits, const Copy& copy, const std::vector<Condition>& only) {
  if (const auto* rule = find_rule(threads.kernel, copy))
    return where(only, rule->expand(threads.kernel, copy, {Affine::of(threads.thread), threads.count}));
  const auto& kernel = threads.kernel;
  const auto bytes = visits.vector * size_of(kernel.array(copy.to.array).type);
  CopyByRegisters by_registers(threads, visits, copy);
  if (!copy.async || by_registers.converts() || bytes < 4) return by_registers.of_all(only);
  Body all;
  for (std::size_t v = 0; v < visits.value.size(); ++v) {
    Body move;
    auto moved = moved_by(threads, move, visits, v, copy, only);
    move.push_back({AsyncCopy{moved.to, moved.from, static_cast<int>(bytes), moved.when}});
    if (!moved.taken.empty()) move = {{If{std::move(moved.taken), std::move(move), {}}}};
    for (const auto round : visits.rounds | std::views::reverse) {
      if (kernel.extent(round) > 1) move = threads.unrolled(round, std::move(move));
    }
    for (auto& statement : move) all.push_back(std::move(statement));
  }
  return all;
}

}  // namespace ricci::kernel::cuda
