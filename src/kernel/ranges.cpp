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

}  // namespace

/// What is left of the expression, times `scale`, where `added` has been taken off: the sum of both is no less than it.
struct Ranges::Step {
  Affine left;
  std::int64_t scale = 1, added = 0;
  std::int64_t bound = 0;  ///< of the expression
  std::size_t used = 0;    ///< the condition that led here
};

struct Ranges::Search {
  std::int64_t limit = std::numeric_limits<std::int64_t>::min();  // that is enough
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  int tries = 300;
  std::vector<bool> used;
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
  for (const auto& [var, of, divisor, modulus, in_place, most, values, value, tabled] : named_) {
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
  const auto first = conditions_.size();
  for (const auto& condition : conditions) {
    narrow(condition);
    const Condition spelt{spelt_out(condition.value), condition.below};
    // In both forms, either of which an expression may be in.
    conditions_.push_back({condition.value, largest_below(spelt) + 1});
    if (spelt.value != condition.value) conditions_.push_back(spelt);
    for (const auto& let : named_) assume_of_quotient(let, spelt);
  }
  if (!conditions.empty()) narrow(first);
}

/// Of a quotient or a remainder and multiples of the divisor what its expression and they are below, whole: the two
/// conditions alone would leave fractions.
void Ranges::assume_of_quotient(const Let& let, const Condition& condition) {
  if (let.divisor == 1 && let.modulus == 0) return;
  auto beside = condition.value - let.of;
  const auto whole = [&](const Term& term) {
    return term.coefficient % let.divisor == 0 && let.of.coefficient(term.var) == 0;
  };
  if (beside.terms.empty() || !std::all_of(beside.terms.begin(), beside.terms.end(), whole)) return;
  for (auto& term : beside.terms) term.coefficient /= let.divisor;
  const auto last = floor_divided(condition.below - 1 - beside.constant, let.divisor);
  conditions_.push_back({Affine::of(let.var) + beside - beside.constant, last + 1});
}

/// Each variable by the least that the others can be, whole: multiples of conditions alone would leave fractions of it.
void Ranges::narrow(const Condition& condition) {
  if (!knows(condition.value)) return;
  for (const auto& [var, by] : condition.value.terms) {
    if (by < 0) continue;
    auto& extent = in_scope_[static_cast<std::size_t>(var)];
    const auto multiple = multiples_[static_cast<std::size_t>(var)];
    const auto others = -in_box(Affine::of(var, by) - condition.value);
    const auto last = floor_divided(floor_divided(condition.below - 1 - others, by), multiple) * multiple;
    if (last < 0 || last + 1 >= extent) continue;
    narrowed_.push_back({var, extent});
    extent = last + 1;
  }
}

void Ranges::narrow(std::size_t first) {
  const auto told = [&](const Affine& affine) {
    return std::any_of(affine.terms.begin(), affine.terms.end(), [&](const Term& term) {
      return std::any_of(conditions_.begin() + static_cast<std::ptrdiff_t>(first), conditions_.end(),
                         [&](const Condition& condition) { return condition.value.coefficient(term.var) != 0; });
    });
  };
  for (const auto& let : named_) {
    if (told(let.of)) narrow(let);
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
  Search s;
  s.tries = kTries;
  s.used.assign(conditions_.size(), false);
  search({steps, 1, 0, in_box(steps), 0}, s, kDepth);
  const auto most = floor_divided(step * s.best + let.of.constant, let.divisor);
  if (most + 1 >= extent) return;
  narrowed_.push_back({let.var, extent});
  extent = std::max<std::int64_t>(most + 1, 1);
}

void Ranges::restore(const Mark& mark) {
  conditions_.resize(mark.conditions);
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
  conditions_.push_back({scaled - of, 1});
  if (let.modulus == 0) conditions_.push_back({of - scaled, let.divisor});
}

std::int64_t Ranges::in_box(const Affine& affine) const {
  return bounds(affine, [&](Var v) { return in_scope_[static_cast<std::size_t>(v)]; }).last;
}

/// All that is left where one condition more is taken off.
std::vector<Ranges::Step> Ranges::next(const Step& step, const Search& s) const {
  constexpr std::int64_t kLargestScale = std::int64_t{1} << 20;
  std::vector<Step> next;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    if (s.used[c]) continue;
    const auto& condition = conditions_[c];
    for (const auto& [var, by] : condition.value.terms) {
      const auto now = step.left.coefficient(var);
      if (now == 0 || (now < 0) != (by < 0)) continue;
      // left * a = condition * b + rest, in which the variable is gone.
      const auto common = std::gcd(now, by);
      const auto a = std::abs(by) / common, b = std::abs(now) / common;
      if (step.scale * a > kLargestScale) continue;
      Step one{a * step.left - b * condition.value, a * step.scale, a * step.added + b * largest_below(condition), 0,
               c};
      one.bound = floor_divided(one.added + in_box(one.left), one.scale);
      next.push_back(std::move(one));
    }
  }
  return next;
}

/// Takes conditions off as long as each leaves less.
void Ranges::greedily(Step step, Search& s) const {
  s.best = std::min(s.best, step.bound);
  while (s.best > s.limit) {
    auto steps = next(step, s);
    const auto least =
        std::min_element(steps.begin(), steps.end(), [](const Step& x, const Step& y) { return x.bound < y.bound; });
    if (least == steps.end() || least->bound >= step.bound) return;
    step = std::move(*least);
    s.used[step.used] = true;
    s.best = std::min(s.best, step.bound);
  }
}

/// Takes conditions off, the one first that leaves least.
void Ranges::search(const Step& step, Search& s, int depth) const {
  s.best = std::min(s.best, step.bound);
  if (depth == 0 || s.best <= s.limit) return;
  auto next = this->next(step, s);
  std::stable_sort(next.begin(), next.end(), [](const Step& x, const Step& y) { return x.bound < y.bound; });
  for (const auto& one : next) {
    if (--s.tries < 0) return;
    s.used[one.used] = true;
    search(one, s, depth - 1);
    s.used[one.used] = false;
    if (s.best <= s.limit) return;
  }
}

std::int64_t Ranges::bounded(const Affine& affine, Search& s) const {
  constexpr int kDepth = 6;
  s.used.assign(conditions_.size(), false);
  greedily({affine, 1, 0, in_box(affine), 0}, s);
  if (s.best <= s.limit) return s.best;
  s.used.assign(conditions_.size(), false);
  search({affine, 1, 0, in_box(affine), 0}, s, kDepth);
  return s.best;
}

bool Ranges::never_above(const Affine& expression, std::int64_t limit) const {
  if (in_box(expression) <= limit) return true;
  for (const auto& form : {expression, in_names(expression)}) {
    Search s;
    s.limit = limit;
    s.used.assign(conditions_.size(), false);
    greedily({form, 1, 0, in_box(form), 0}, s);
    if (s.best <= limit) return true;
  }
  const auto affine = spelt_out(expression);
  Search s;
  s.limit = limit;
  return bounded(affine, s) <= limit;
}

std::int64_t Ranges::largest(const Affine& affine) const {
  Search s;
  return bounded(spelt_out(affine), s);
}

}  // namespace ricci::kernel
