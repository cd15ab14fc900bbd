// Times that run side by side as one, and what is rounded on the way.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ricci::plan {

/// std::floor() and std::ceil() of what is not negative and fits into 64 bits: x86-64 has no instruction for them.
inline double rounded_down(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }
inline double rounded_up(double x) {
  const double down = rounded_down(x);
  return down < x ? down + 1 : down;
}

/// What takes times that run side by side, in any unit: the norm of their cubes.
template <class... Times>
double side_by_side(Times... times) {
  return std::cbrt(((times * times * times) + ...));
}

/// As side_by_side() inside of a round, where more is hidden: the norm of their eighth powers.
template <class... Times>
double hidden(Times... times) {
  const auto eighth = [](double x) { return x * x * x * x * x * x * x * x; };
  return std::sqrt(std::sqrt(std::sqrt((eighth(times) + ...))));
}

/// What a block takes for its products, shared memory and issue: one after the other where each part of the
/// multiprocessor has one warp, which waits for each of them in turn, and the more hidden the more warps there are (of
/// 6 kernels of talsh300 in f64 on an H200: off by 12 %).
template <class... Times>
double by_warps(double warps, Times... times) {
  if (warps < 8) return (times + ...);
  return warps < 12 ? std::sqrt(((times * times) + ...)) : side_by_side(times...);
}

/// A cube root from below, by less than a millionth of it: in a third of the time of std::cbrt().
inline double about_cube_root(double x) {
  constexpr std::uint64_t kThirdOfBias = 0x2A9F789300000000;  // W. Kahan: within 5 %
  auto root = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) / 3 + kThirdOfBias);
  for (int step = 0; step < 2; ++step) {  // E. Halley's, each of which has three times as many digits
    const double cube = root * root * root;
    root *= (cube + 2 * x) / (2 * cube + x);
  }
  return (1 - 1e-9) * root;
}

/// As by_warps(), from below.
inline double least_by_warps(double warps, double products, double shared, double issue) {
  if (warps < 12) return by_warps(warps, products, shared, issue);
  return about_cube_root(products * products * products + shared * shared * shared + issue * issue * issue);
}

}  // namespace ricci::plan
