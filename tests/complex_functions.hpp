// Functions of complex numbers beside those of the C library in long double: on branch cuts, at the ends of the range,
// at values that are not finite, and at random.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace ricci::test {

using Wide = std::complex<long double>;

/// A function of formulas, what it is to be, and how many units in the last place each part may be off: of the part
/// itself, or of the larger one where parts are sums in which digits are lost.
struct ComplexFunction {
  const char* name;
  Wide (*of)(Wide);
  double ulps;
  bool of_larger = false;
};

/// The root with the largest real part, as C has no cbrt of complex numbers.
inline Wide cube_root(Wide z) {
  const auto angle = std::arg(z) / 3, size = std::cbrt(std::abs(z));
  return {size * std::cos(angle), angle == 0 ? angle : size * std::sin(angle)};
}

inline const std::vector<ComplexFunction>& complex_functions() {
  static const std::vector<ComplexFunction> all = {
      {"sqrt", [](Wide z) { return std::sqrt(z); }, 4},     {"cbrt", cube_root, 5},
      {"log", [](Wide z) { return std::log(z); }, 4, true}, {"asin", [](Wide z) { return std::asin(z); }, 8},
      {"acos", [](Wide z) { return std::acos(z); }, 8},     {"atan", [](Wide z) { return std::atan(z); }, 8},
  };
  return all;
}

/// Every pair of parts at which something may happen, then random ones over the whole range.
template <class T>
std::vector<std::complex<T>> complex_samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> parts;
  const auto add = [&](T part) {
    parts.push_back(part);
    parts.push_back(-part);
  };
  const int most = Limits::max_exponent - 1;
  for (const T part : {T(0), Limits::denorm_min(), Limits::min(), T(0.3), T(0.5), T(1), T(1.5), T(2), T(11),
                       Limits::max(), Limits::max() / 3, Limits::infinity()}) {
    add(part);
  }
  add(1 - Limits::epsilon() / 2);
  add(1 + Limits::epsilon());
  for (const int exponent : {most / 2, most / 3, most / 4, most / 20}) {
    add(std::ldexp(T(1.1), exponent));
    add(std::ldexp(T(1.1), -exponent));
  }
  parts.push_back(Limits::quiet_NaN());
  std::vector<std::complex<T>> samples;
  for (const T re : parts) {
    for (const T im : parts) samples.emplace_back(re, im);
  }
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-most, most), near(-3, 3), mantissa(-2, 2);
  for (int k = 0; k < 4000; ++k) {
    const auto part = [&] {
      return std::ldexp(static_cast<T>(mantissa(random)),
                        static_cast<int>(k % 4 == 0 ? exponent(random) : near(random)));
    };
    const auto re = part(), im = part();
    samples.emplace_back(re, im);
  }
  return samples;
}

/// Units in the last place of T between a part and what it is to be; infinity where one is finite or a number and the
/// other is not, or where zeros or infinities have other signs. Of `larger` where that is more than the part.
template <class T>
double ulps_between(T got, long double want, long double larger) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : Limits::infinity();
  const auto rounded = static_cast<T>(want);
  if (got == rounded && (got != 0 || std::signbit(got) == std::signbit(rounded))) return 0;
  if (std::isinf(got) || std::isinf(rounded)) return Limits::infinity();
  if (larger == 0 && std::signbit(got) != std::signbit(rounded)) return Limits::infinity();
  const auto size = std::max({std::abs<long double>(got), std::abs(want), larger});
  const auto place = std::max(std::ilogb(size), Limits::min_exponent - 1);
  const auto ulp = std::ldexp(1.0L, place - (Limits::digits - 1));
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / ulp);
}

/// Whether C leaves the sign of a part open: of zeros and infinities beside a part that is NaN.
inline bool sign_is_open(long double part, long double other) {
  return std::isnan(other) && (part == 0 || std::isinf(part));
}

/// The first few samples at which the function's values are not as they should be, and the worst; empty where all are.
template <class T>
std::string complex_failures(const ComplexFunction& function, const std::vector<std::complex<T>>& samples,
                             const std::vector<std::complex<T>>& values) {
  std::string text;
  double worst = 0;
  int wrong = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const auto z = samples[k], got = values[k];
    const auto want = function.of({z.real(), z.imag()});
    const auto off = [&](T part, long double right, long double other) {
      if (sign_is_open(right, other) && !std::isnan(part)) {
        part = std::abs(part);
        right = std::abs(right);
      }
      return ulps_between(part, right, function.of_larger && std::isfinite(other) ? std::abs(other) : 0);
    };
    const double error = std::max(off(got.real(), want.real(), want.imag()), off(got.imag(), want.imag(), want.real()));
    worst = std::max(worst, error);
    if (error <= function.ulps) continue;
    if (++wrong <= 12) {
      text += fmt::format("{}({} {:+}i) is {} {:+}i, should be {} {:+}i: {:.1f} ulp\n", function.name, z.real(),
                          z.imag(), got.real(), got.imag(), want.real(), want.imag(), error);
    }
  }
  return text.empty()
             ? text
             : fmt::format("{}{} of {} samples, the worst by {:.1f} ulp\n", text, wrong, samples.size(), worst);
}

}  // namespace ricci::test
