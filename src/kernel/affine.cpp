#include "kernel/affine.hpp"

#include <algorithm>

namespace ricci::kernel {

Affine Affine::of(Var var, std::int64_t coefficient) {
  Affine result;
  if (coefficient != 0) result.terms.push_back({var, coefficient});
  return result;
}

std::int64_t Affine::coefficient(Var var) const noexcept {
  for (const auto& term : terms) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

Affine Affine::with(Var var, const Affine& by) const {
  const auto factor = coefficient(var);
  if (factor == 0) return *this;
  Affine rest = *this;
  std::erase_if(rest.terms, [&](const Term& term) { return term.var == var; });
  return rest + factor * by;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum;
  sum.constant = a.constant + b.constant;
  sum.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->var < y->var)) {
      sum.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->var < x->var) {
      sum.terms.push_back(*y++);
    } else {
      if (x->coefficient + y->coefficient != 0) sum.terms.push_back({x->var, x->coefficient + y->coefficient});
      ++x, ++y;
    }
  }
  return sum;
}

Affine operator*(std::int64_t factor, const Affine& a) {
  Affine product;
  if (factor == 0) return product;
  product = a;
  product.constant *= factor;
  for (auto& term : product.terms) term.coefficient *= factor;
  return product;
}

Affine operator-(const Affine& a, const Affine& b) { return a + -1 * b; }

}  // namespace ricci::kernel
