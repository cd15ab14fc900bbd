#include "kernel/ranges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

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

bool Ranges::enter(Var var, std::int64_t extent) {
  auto& place = in_scope_[static_cast<std::size_t>(var)];
  if (place != 0) return false;
  place = extent;
  return true;
}

bool Ranges::knows(const Affine& affine) const {
  return std::all_of(affine.terms.begin(), affine.terms.end(), [&](const Term& term) {
    return term.var >= 0 && static_cast<std::size_t>(term.var) < in_scope_.size() &&
           in_scope_[static_cast<std::size_t>(term.var)] > 0;
  });
}

void Ranges::assume(const std::vector<Condition>& conditions) {
  conditions_.insert(conditions_.end(), conditions.begin(), conditions.end());
}

void Ranges::assume(const Let& let) {
  // divisor * var <= of, and of < divisor * (var + 1) where nothing is taken off.
  const auto scaled = Affine::of(let.var, let.divisor);
  conditions_.push_back({scaled - let.of, 1});
  if (let.modulus == 0) conditions_.push_back({let.of - scaled, let.divisor});
}

std::int64_t Ranges::in_box(const Affine& affine) const {
  return bounds(affine, [&](Var v) { return in_scope_[static_cast<std::size_t>(v)]; }).last;
}

/// Takes conditions off, the one first that leaves least.
void Ranges::search(const Step& step, Search& s, int depth) const {
  s.best = std::min(s.best, step.bound);
  if (depth == 0 || s.best <= s.limit) return;
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
  search({affine, 1, 0, in_box(affine), 0}, s, kDepth);
  return s.best;
}

bool Ranges::never_above(const Affine& affine, std::int64_t limit) const {
  if (in_box(affine) <= limit) return true;
  Search s;
  s.limit = limit;
  return bounded(affine, s) <= limit;
}

std::int64_t Ranges::largest(const Affine& affine) const {
  Search s;
  return bounded(affine, s);
}

}  // namespace ricci::kernel
