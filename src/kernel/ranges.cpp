#include "kernel/ranges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

namespace ricci::kernel {
namespace {

std::int64_t floor_divided(std::int64_t x, std::int64_t by) { return x / by - (x % by < 0 ? 1 : 0); }

/// The largest value below `below` of an expression whose terms go in steps.
std::int64_t largest_below(const Condition& condition) {
  std::int64_t step = 0;
  for (const auto& term : condition.value.terms) step = std::gcd(step, term.coefficient);
  if (step == 0) return condition.below - 1;
  return condition.value.constant + step * floor_divided(condition.below - 1 - condition.value.constant, step);
}

constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::min();

}  // namespace

/// What is left of the expression, times `scale`, where `added` has been taken off: the sum of both is no less than it.
struct Ranges::Step {
  Affine left;
  std::int64_t scale = 1, added = 0;
};

/// A condition to take off next: `of_left` times what is left and `of_condition` times the condition have a variable in
/// common, which is then gone. The step is made only where the search goes on from it.
struct Ranges::Way {
  std::size_t condition;
  std::int64_t of_left, of_condition;
  std::int64_t bound;  ///< of the expression, afterwards
};

struct Ranges::Search {
  Search(const Ranges& ranges, std::int64_t enough) : limit(enough), coefficients(ranges.in_scope_.size()) {}

  std::int64_t limit;  ///< that is enough
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  int tries = 300;
  std::vector<char> used;                  ///< per condition
  std::vector<Way> ways;                   ///< of all steps that the search is in
  std::vector<std::int64_t> coefficients;  ///< per variable: of what is left, zeros in between
};

bool Ranges::enter(Var var, std::int64_t extent, std::int64_t multiple) {
  auto& place = in_scope_[static_cast<std::size_t>(var)];
  if (place != 0) return false;
  auto& by = multiples_[static_cast<std::size_t>(var)];
  by = std::max<std::int64_t>(multiple, 1);
  place = (extent - 1) / by * by + 1;
  return true;
}

std::int64_t Ranges::multiple(std::int64_t step, const Affine& affine) const {
  auto divisor = std::gcd(step, affine.constant);
  for (const auto& [var, by] : affine.terms)
    divisor = std::gcd(divisor, by * multiples_[static_cast<std::size_t>(var)]);
  return divisor;
}

bool Ranges::knows(const Affine& affine) const {
  return std::all_of(affine.terms.begin(), affine.terms.end(), [&](const Term& term) {
    return term.var >= 0 && static_cast<std::size_t>(term.var) < in_scope_.size() &&
           in_scope_[static_cast<std::size_t>(term.var)] > 0;
  });
}

/// In terms of loop variables, quotients and remainders: names of sums are spelt out.
Affine Ranges::spelt_out(Affine affine) const {
  for (const auto& named : std::views::reverse(named_)) {
    const bool sum = named.divisor == 1 && named.modulus == 0;
    if (sum && affine.coefficient(named.var) != 0) affine = affine.with(named.var, named.of);
  }
  return affine;
}

/// With names of multiples in place of what they are multiples of.
Affine Ranges::in_names(Affine affine) const {
  for (const auto& [var, of, divisor, modulus, in_place, most, values, value, anew, tabled] : named_) {
    if (divisor != 1 || modulus != 0 || of.terms.size() != 1 || of.constant != 0) continue;
    const auto& [multiplied, factor] = of.terms.front();
    const auto coefficient = affine.coefficient(multiplied);
    if (coefficient % factor == 0)
      affine = affine.with(multiplied, Affine::of(var, 1)) + Affine::of(var, coefficient / factor - coefficient);
  }
  return affine;
}

void Ranges::assume(const Condition& condition) { assume(std::vector{condition}); }

void Ranges::assume(const std::vector<Condition>& conditions) {
  const auto first = facts_.size();
  for (const auto& condition : conditions) {
    narrow(condition);
    const Condition spelt{spelt_out(condition.value), condition.below};
    // In both forms, either of which an expression may be in.
    hold({condition.value, largest_below(spelt) + 1});
    if (spelt.value != condition.value) hold(spelt);
    for (const auto& let : named_) assume_of_quotient(let, spelt);
  }
  if (!conditions.empty()) narrow(first);
}

void Ranges::hold(Condition condition) {
  const auto largest = largest_below(condition);
  facts_.push_back({std::move(condition.value), largest});
}

/// Of a quotient or a remainder and multiples of the divisor what its expression and they are below, whole: the two
/// conditions alone would leave fractions.
void Ranges::assume_of_quotient(const Let& let, const Condition& condition) {
  if (let.divisor == 1 && let.modulus == 0) return;
  const auto alike = [&](const Term& term) { return condition.value.coefficient(term.var) == term.coefficient; };
  if (!std::all_of(let.of.terms.begin(), let.of.terms.end(), alike)) return;
  auto beside = condition.value - let.of;
  const auto whole = [&](const Term& term) { return term.coefficient % let.divisor == 0; };
  if (beside.terms.empty() || !std::all_of(beside.terms.begin(), beside.terms.end(), whole)) return;
  for (auto& term : beside.terms) term.coefficient /= let.divisor;
  const auto last = floor_divided(condition.below - 1 - beside.constant, let.divisor);
  hold({Affine::of(let.var) + beside - beside.constant, last + 1});
}

/// Each variable by the least that the others can be, whole: multiples of conditions alone would leave fractions of it.
void Ranges::narrow(const Condition& condition) {
  if (!knows(condition.value)) return;
  // What is added to a variable that is at least 0 is the same for each.
  const auto others = bounds(condition.value, extents()).first;
  for (const auto& [var, by] : condition.value.terms) {
    if (by < 0) continue;
    auto& extent = in_scope_[static_cast<std::size_t>(var)];
    const auto multiple = multiples_[static_cast<std::size_t>(var)];
    const auto last = floor_divided(floor_divided(condition.below - 1 - others, by), multiple) * multiple;
    if (last < 0 || last + 1 >= extent) continue;
    narrowed_.push_back({var, extent});
    extent = last + 1;
  }
}

void Ranges::narrow(std::size_t first) {
  std::vector<char> told(in_scope_.size());
  for (auto fact = first; fact < facts_.size(); ++fact) {
    for (const auto& term : facts_[fact].value.terms) told[static_cast<std::size_t>(term.var)] = 1;
  }
  for (const auto& let : named_) {
    const auto is_told = [&](const Term& term) { return told[static_cast<std::size_t>(term.var)] != 0; };
    if (std::any_of(let.of.terms.begin(), let.of.terms.end(), is_told)) narrow(let);
  }
}

/// A quotient by what its expression can be under the conditions, whole: by its two conditions alone it need not be.
void Ranges::narrow(const Let& let) {
  constexpr int kDepth = 2, kTries = 40;
  auto& extent = in_scope_[static_cast<std::size_t>(let.var)];
  std::int64_t step = 0;
  for (const auto& term : let.of.terms) step = std::gcd(step, term.coefficient);
  if (let.modulus != 0 || extent <= 1 || step == 0) return;
  auto steps = let.of - let.of.constant;
  for (auto& term : steps.terms) term.coefficient /= step;
  Search s(*this, kNoLimit);
  s.tries = kTries;
  s.best = in_box(steps);
  s.used.assign(facts_.size(), 0);
  search({std::move(steps)}, s, kDepth);
  const auto most = floor_divided(step * s.best + let.of.constant, let.divisor);
  if (most + 1 >= extent) return;
  narrowed_.push_back({let.var, extent});
  extent = std::max<std::int64_t>(most + 1, 1);
}

void Ranges::restore(const Mark& mark) {
  facts_.resize(mark.facts);
  named_.resize(mark.named);
  for (; narrowed_.size() > mark.narrowed; narrowed_.pop_back()) {
    auto& extent = in_scope_[static_cast<std::size_t>(narrowed_.back().var)];
    if (extent > 0) extent = narrowed_.back().extent;
  }
}

bool Ranges::is_multiple(Affine affine, std::int64_t factor) const {
  for (const auto& named : std::views::reverse(named_)) {
    const auto coefficient = affine.coefficient(named.var);
    if (coefficient * multiples_[static_cast<std::size_t>(named.var)] % factor == 0) continue;
    // A remainder differs from what it is of by a multiple of the modulus.
    if (named.divisor != 1 || coefficient * named.modulus % factor != 0) return false;
    affine = affine.with(named.var, named.of);
  }
  return affine.constant % factor == 0 && std::all_of(affine.terms.begin(), affine.terms.end(), [&](const Term& term) {
           const auto by = multiples_[static_cast<std::size_t>(term.var)];
           return term.coefficient * by % factor == 0;
         });
}

const Let* Ranges::name(Var var) const {
  const auto named = std::find_if(named_.begin(), named_.end(), [&](const Let& let) { return let.var == var; });
  return named == named_.end() ? nullptr : &*named;
}

bool Ranges::depends(const Affine& affine, Var on) const {
  return std::any_of(affine.terms.begin(), affine.terms.end(), [&](const Term& term) {
    if (term.var == on) return true;
    const auto* named = name(term.var);
    return named != nullptr && depends(named->of, on);
  });
}

void Ranges::assume(const Let& let) {
  if (let.most >= 0) {
    // It is at most its expression, and not always that.
    assume({Affine::of(let.var, let.divisor) - let.of, 1});
    assume({Affine::of(let.var), let.most + 1});
    return;
  }
  named_.push_back({let.var, spelt_out(let.of), let.divisor, let.modulus, let.in_place});
  narrow(named_.back());
  if (let.divisor == 1 && let.modulus == 0) return;
  // divisor * var <= of, and of < divisor * (var + 1) where nothing is taken off.
  const auto scaled = Affine::of(let.var, let.divisor);
  const auto& of = named_.back().of;
  hold({scaled - of, 1});
  if (let.modulus == 0) hold({of - scaled, let.divisor});
}

std::int64_t Ranges::in_box(const Affine& affine) const { return bounds(affine, extents()).last; }

/// Adds what may be taken off next to the ways of a search. The bound is counted from that of what is left, by the
/// variables of the condition alone.
void Ranges::add_ways(const Step& step, Search& s) const {
  constexpr std::int64_t kLargestScale = std::int64_t{1} << 20;
  const auto coefficient = [&](const Term& term) -> auto& {
    return s.coefficients[static_cast<std::size_t>(term.var)];
  };
  const auto most = [&](const Term& term, std::int64_t by) {
    return std::max<std::int64_t>(by * (in_scope_[static_cast<std::size_t>(term.var)] - 1), 0);
  };
  for (const auto& term : step.left.terms) coefficient(term) = term.coefficient;
  const auto all = in_box(step.left);
  for (std::size_t c = 0; c < facts_.size(); ++c) {
    if (s.used[c]) continue;
    const auto& [value, largest] = facts_[c];
    const auto alike = [&](const Term& term) {
      const auto now = coefficient(term);
      return now != 0 && (now < 0) == (term.coefficient < 0);
    };
    if (std::none_of(value.terms.begin(), value.terms.end(), alike)) continue;
    auto others = all;
    for (const auto& term : value.terms) others -= most(term, coefficient(term));
    for (const auto& common : value.terms) {
      if (!alike(common)) continue;
      // left * a = condition * b + rest, in which the variable is gone.
      const auto divisor = std::gcd(coefficient(common), common.coefficient);
      const auto a = std::abs(common.coefficient) / divisor, b = std::abs(coefficient(common)) / divisor;
      if (step.scale * a > kLargestScale) continue;
      auto rest = a * others - b * value.constant;
      for (const auto& term : value.terms) rest += most(term, a * coefficient(term) - b * term.coefficient);
      s.ways.push_back({c, a, b, floor_divided(a * step.added + b * largest + rest, a * step.scale)});
    }
  }
  for (const auto& term : step.left.terms) coefficient(term) = 0;
}

Ranges::Step Ranges::taken(const Step& step, const Way& way) const {
  const auto& [value, largest] = facts_[way.condition];
  return {way.of_left * step.left - way.of_condition * value, way.of_left * step.scale,
          way.of_left * step.added + way.of_condition * largest};
}

/// Takes conditions off as long as each leaves less.
void Ranges::greedily(Step step, Search& s) const {
  s.used.assign(facts_.size(), 0);
  auto bound = in_box(step.left);
  s.best = std::min(s.best, bound);
  while (s.best > s.limit) {
    s.ways.clear();
    add_ways(step, s);
    const auto least = std::ranges::min_element(s.ways, {}, &Way::bound);
    if (least == s.ways.end() || least->bound >= bound) return;
    step = taken(step, *least);
    bound = least->bound;
    s.used[least->condition] = 1;
    s.best = std::min(s.best, bound);
  }
}

/// Takes conditions off, the one first that leaves least.
void Ranges::search(const Step& step, Search& s, int depth) const {
  const auto first = s.ways.size();
  add_ways(step, s);
  std::ranges::stable_sort(s.ways | std::views::drop(first), {}, &Way::bound);
  const auto end = s.ways.size();
  for (auto k = first; k < end && s.best > s.limit && --s.tries >= 0; ++k) {
    const auto way = s.ways[k];
    s.best = std::min(s.best, way.bound);
    if (depth == 1 || s.best <= s.limit) continue;
    s.used[way.condition] = 1;
    search(taken(step, way), s, depth - 1);
    s.used[way.condition] = 0;
  }
  s.ways.resize(first);
}

/// With all ways, of what nothing has been taken off yet.
void Ranges::search(const Affine& affine, Search& s) const {
  constexpr int kDepth = 6;
  s.used.assign(facts_.size(), 0);
  s.ways.clear();
  search({affine}, s, kDepth);
}

bool Ranges::never_above(const Affine& expression, std::int64_t limit) const {
  if (in_box(expression) <= limit) return true;
  Search s(*this, limit);
  const auto told = [&](const Affine& form) {
    greedily({form}, s);
    return s.best <= limit;
  };
  if (told(expression)) return true;
  if (const auto named = in_names(expression); named != expression && told(named)) return true;
  const auto spelt = spelt_out(expression);
  if (spelt != expression && told(spelt)) return true;
  search(spelt, s);
  return s.best <= limit;
}

std::int64_t Ranges::largest(const Affine& affine) const {
  Search s(*this, kNoLimit);
  const auto spelt = spelt_out(affine);
  greedily({spelt}, s);
  search(spelt, s);
  return s.best;
}

}  // namespace ricci::kernel
