// Index expressions of kernels: sums of variables with literal coefficients. A quotient, a remainder or a parameter of
// the kernel is a variable of its own (kernel.hpp, Let), so that sums, substitution and bounds stay exact and simple.
#pragma once

#include <cstdint>
#include <vector>

namespace ricci::kernel {

/// Number of a variable in Kernel::vars.
using Var = int;

struct Term {
  Var var = 0;
  std::int64_t coefficient = 0;
  bool operator==(const Term&) const = default;
};

/// sum coefficient * var + constant. Terms by rising number of the variable, none of them zero.
struct Affine {
  std::vector<Term> terms;
  std::int64_t constant = 0;

  Affine() = default;
  Affine(std::int64_t value) : constant(value) {}  // NOLINT(google-explicit-constructor): a number is an expression
  static Affine of(Var var, std::int64_t coefficient = 1);

  bool is_constant() const noexcept { return terms.empty(); }
  std::int64_t coefficient(Var var) const noexcept;
  /// With `by` in place of the variable.
  Affine with(Var var, const Affine& by) const;
  bool operator==(const Affine&) const = default;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator-(const Affine& a, const Affine& b);
Affine operator*(std::int64_t factor, const Affine& a);

/// Smallest and largest value where variable v runs over 0 .. extents[v]-1; extents are at least 1.
struct Bounds {
  std::int64_t first, last;
};
template <class Extent>
Bounds bounds(const Affine& affine, Extent&& extent) {
  Bounds b{affine.constant, affine.constant};
  for (const auto& term : affine.terms) {
    const auto far = term.coefficient * (extent(term.var) - 1);
    (far < 0 ? b.first : b.last) += far;
  }
  return b;
}

}  // namespace ricci::kernel
