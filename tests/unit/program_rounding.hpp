// How far from the exact result a program of statements may come, in whatever order it is evaluated.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "ir/program.hpp"

namespace ricci::test {

/// A forward bound: a value is within count() * u * magnitude of the exact one, u being the unit roundoff, to first
/// order. The magnitude is the sum of |terms|: what would be computed were every term positive. Terms that cancel leave
/// theirs behind: x - x is 0 within roundings of |x|, not of 0, and so is what it is multiplied or divided by. As
/// products distribute over sums of magnitudes exactly, it is the same for a*b + a*c and a*(b + c), a/s + b/s and
/// (a + b)*(1/s): it bounds every order of evaluation, and counts are those of the longest of these.
struct Rounding {
  double magnitude = 0;  ///< 0: of a leaf, whose own it is
  double inner = 0;      ///< roundings of the worst term
  double terms = 1;      ///< of the sum that this is: in some order one of them takes part in all additions
  double count() const { return inner + terms - 1; }
};

/// A real or complex value, or an integer.
struct Value {
  std::complex<double> real = 0;
  std::int64_t integer = 0;
  Rounding rounding = {};

  double magnitude() const { return std::max(rounding.magnitude, std::abs(real)); }
  Value operator-() const { return {-real, -integer, rounding}; }
};

/// Of op(operands) = result; `complex` numbers take more roundings.
Rounding rounding(ir::OpCode op, const Value* operands, const Value& result, bool complex);

/// Of an entry of the inverse of a 3x3 matrix (row-major), and of its determinant.
Rounding rounding_of_inverse(const Value* matrix, std::complex<double> determinant);
Rounding rounding_of_determinant(const Value* matrix);

/// The largest difference between two evaluations whose numbers have the unit roundoff u: each may be off by the bound,
/// and one may have distributed a product over sums, which at most doubles the roundings of a term.
double largest_difference(const Value& value, double unit_roundoff);

}  // namespace ricci::test
