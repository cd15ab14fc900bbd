#include "program_rounding.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::test {
namespace {

using ir::OpCode;

/// |f'(z)| where f(z) = f.
double slope(OpCode op, std::complex<double> z, std::complex<double> f) {
  const std::complex<double> one = 1;
  switch (op) {
    case OpCode::sqrt:
      return std::abs(0.5 / f);
    case OpCode::cbrt:
      return std::abs(one / (3.0 * f * f));
    case OpCode::rsqrt:
      return std::abs(0.5 * f * f * f);
    case OpCode::exp:
      return std::abs(f);
    case OpCode::log:
      return std::abs(one / z);
    case OpCode::sin:
      return std::abs(std::cos(z));
    case OpCode::cos:
      return std::abs(std::sin(z));
    case OpCode::tan:
      return std::abs(one + f * f);
    case OpCode::asin:
    case OpCode::acos:
      return std::abs(one / std::sqrt(one - z * z));
    case OpCode::atan:
      return std::abs(one / (one + z * z));
    case OpCode::sinh:
      return std::abs(std::cosh(z));
    case OpCode::cosh:
      return std::abs(std::sinh(z));
    case OpCode::tanh:
      return std::abs(one - f * f);
    default:
      return 1;
  }
}

double times(double slope, double magnitude) { return magnitude == 0 ? 0 : slope * magnitude; }

double largest(const Value* matrix) {
  double most = 0;
  for (int k = 0; k < 9; ++k) most = std::max(most, matrix[k].magnitude());
  return most;
}

double most_roundings(const Value* matrix) {
  double most = 0;
  for (int k = 0; k < 9; ++k) most = std::max(most, matrix[k].rounding.count());
  return most;
}

}  // namespace

Rounding rounding(OpCode op, const Value* operands, const Value& result, bool complex) {
  const auto& x = operands[0];
  const auto& y = operands[1];
  const double own = std::abs(result.real);
  const double product = complex ? 3 : 1, quotient = complex ? 8 : 2, function = 8;
  const auto count = x.rounding.count();
  switch (op) {
    case OpCode::add:
    case OpCode::sub:
      return {x.magnitude() + y.magnitude(), std::max(x.rounding.inner, y.rounding.inner),
              x.rounding.terms + y.rounding.terms};
    case OpCode::mul:
      return {x.magnitude() * y.magnitude(), count + y.rounding.count() + product};
    case OpCode::div:  // dx / |y| + |x| dy / y^2, each of which this is at least
      return {x.magnitude() * y.magnitude() / std::norm(y.real), count + y.rounding.count() + quotient};
    case OpCode::minimum:
    case OpCode::maximum:
      return {std::max(x.magnitude(), y.magnitude()), std::max(count, y.rounding.count())};
    case OpCode::remainder:
      return {x.magnitude() + std::abs(x.real / y.real) * y.magnitude(), std::max(count, y.rounding.count()) + product};
    case OpCode::hypot:
      return {x.magnitude() + y.magnitude(), std::max(count, y.rounding.count()) + function};
    case OpCode::atan2:
      return {own + (std::abs(y.real) * x.magnitude() + std::abs(x.real) * y.magnitude()) /
                        (std::norm(x.real) + std::norm(y.real)),
              std::max(count, y.rounding.count()) + function};
    case OpCode::pow:  // y x^(y - 1) dx + x^y log(x) dy
      return {own + times(own * std::abs(y.real / x.real), x.magnitude()) +
                  times(own * std::abs(std::log(x.real)), y.magnitude()),
              std::max(count, y.rounding.count()) + function};
    case OpCode::neg:
    case OpCode::conj:
      return x.rounding;
    case OpCode::cast:
    case OpCode::absolute:
    case OpCode::real_part:
    case OpCode::imag_part:
      return {x.magnitude(), count + product};
    case OpCode::sign:
      return {};
    default:
      return {times(slope(op, x.real, result.real), x.magnitude()) + own, count + function};
  }
}

/// By cofactors an entry is off by cof * det / det^2 of magnitudes, by elimination with pivots by an entry of
/// |inverse| |matrix| |inverse|. Both are at most 9 * cof^2 * a / det^2 with the largest of cofactors and entries.
Rounding rounding_of_inverse(const Value* matrix, std::complex<double> determinant) {
  const double a = largest(matrix), cofactor = 2 * a * a;
  return {9 * cofactor * cofactor * a / std::norm(determinant), 5 * most_roundings(matrix) + 10};
}

Rounding rounding_of_determinant(const Value* matrix) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    const auto at = [&](int row, int column) { return matrix[3 * row + (c + column) % 3].magnitude(); };
    sum += at(0, 0) * (at(1, 1) * at(2, 2) + at(1, 2) * at(2, 1));
  }
  return {sum, 3 * most_roundings(matrix) + 5};
}

double largest_difference(const Value& value, double unit_roundoff) {
  const double both = 2, distributed = 2;
  return both * distributed * std::max(value.rounding.count(), 1.0) * unit_roundoff * value.magnitude();
}

}  // namespace ricci::test
