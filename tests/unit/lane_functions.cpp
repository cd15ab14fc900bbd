// Functions of vectors in CPU kernels, against those of C++ in a wider type.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace lane_functions_test {

using namespace ricci;

namespace {

/// y(i) = f(x(i)) or f(x(i), w(i)) by a kernel of its own, and whether that has vectors.
template <class T>
std::vector<T> mapped(const std::vector<T>& x, const std::vector<T>& w, const std::string& f, bool exact,
                      bool& by_vectors) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  auto text = "index i = " + std::to_string(x.size()) + "\ninput x(i) : " + type + "\n";
  if (!w.empty()) text += "input w(i) : " + type + "\n";
  text += "output y(i) : " + type + "\ny(i) = " + f + (w.empty() ? "(x(i))\n" : "(x(i), w(i))\n");
  const auto plan = Runtime::global().plan_program(Program::parse(exact ? "exact\n" + text : text));
  by_vectors = plan.source().find("Lanes<") != std::string::npos;
  std::vector<T> y(x.size());
  std::vector<const void*> from = {x.data()};
  if (!w.empty()) from.push_back(w.data());
  plan(std::vector<void*>{y.data()}, from);
  return y;
}

/// Units in the last place of what it should be.
template <class T>
double error(T found, long double wanted) {
  const T nearest = static_cast<T>(wanted);
  if (found == nearest || (std::isnan(found) && std::isnan(nearest))) return 0;
  const auto unit = std::nextafter(std::abs(nearest), std::numeric_limits<T>::infinity()) - std::abs(nearest);
  const auto off = std::abs(static_cast<long double>(found) - wanted);
  return static_cast<double>(off / static_cast<long double>(unit));
}

/// Zeros, infinities, NaN, the least and the largest numbers, and some where functions have corners.
template <class T>
std::vector<T> corners() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list = {Limits::quiet_NaN()};
  for (const T x : {T(0),
                    Limits::infinity(),
                    Limits::denorm_min(),
                    Limits::min(),
                    Limits::max(),
                    T(1),
                    T(2),
                    T(3),
                    T(0.5),
                    T(2.5),
                    T(0.4375),
                    T(0.6875),
                    T(1.1875),
                    T(2.4375),
                    T(88.5),
                    T(89.3),
                    T(103),
                    T(103.9),
                    T(709.5),
                    T(710.4),
                    T(745),
                    T(1e6),
                    T(1e7),
                    T(1e30),
                    T(1e-30)}) {
    list.push_back(x);
    list.push_back(-x);
  }
  return list;
}

template <class T>
void fill_vectors(std::vector<T>& x) {
  x.resize(x.size() / 16 * 16 + 7);  // the last ones are no vector
  for (std::size_t k = 1; k <= 16; ++k) x[x.size() - k] = x[x.size() - 16 - k];
}

/// The largest error of f, by vectors and one by one; what is left over has the bits of vectors.
template <class T, class Wanted>
void check(const std::string& f, const std::vector<T>& x, const std::vector<T>& w, Wanted wanted, double most) {
  INFO(f);
  bool by_vectors = false;
  const auto y = mapped(x, w, f, false, by_vectors);
  CHECK(by_vectors);
  const auto exact = mapped(x, w, f, true, by_vectors);
  CHECK_FALSE(by_vectors);
  constexpr double kMostOfC = 4;  // glibc's cbrt is off by more than three
  double largest = 0, of_c = 0;
  std::size_t signs = 0, differ = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto value = wanted(k);
    largest = std::max(largest, error(y[k], value));
    of_c = std::max(of_c, error(exact[k], value));
    signs += !std::isnan(y[k]) && std::signbit(y[k]) != std::signbit(value);
  }
  CHECK(largest <= most);
  CHECK(of_c <= kMostOfC);
  CHECK(signs == 0);
  for (std::size_t k = 1; k <= 16; ++k) differ += error(y[y.size() - k], y[y.size() - 16 - k]) != 0;
  CHECK(differ == 0);
}

template <class T>
void check(const std::string& f, long double (*wanted)(long double), double most) {
  const bool wide = sizeof(T) == 8;
  auto x = corners<T>();
  std::mt19937_64 random(5);
  for (const double reach : {wide ? 745.0 : 103.0, 20.0, 1.0, 0.4, 1e-3, 1e5, 3e6}) {
    std::uniform_real_distribution<T> numbers(static_cast<T>(-reach), static_cast<T>(reach));
    for (int k = 0; k < 10000; ++k) x.push_back(numbers(random));
  }
  // And numbers of all sizes, the least that are not normal among them, and those nearest to quarters of turns.
  std::uniform_real_distribution<double> sizes(wide ? -1074 : -149, wide ? 1023 : 127);
  for (int k = 0; k < 20000; ++k) x.push_back(static_cast<T>(std::exp2(sizes(random))));
  for (int k = 0; k < 2000; ++k) x.push_back(1 + static_cast<T>(k - 1000) * std::numeric_limits<T>::epsilon());
  for (int k = 1; k < 5000; ++k) x.push_back(static_cast<T>(k * 1.57079632679489661923L));
  fill_vectors(x);
  check(f, x, {}, [&](std::size_t k) { return wanted(x[k]); }, most);
}

template <class T>
void check(const std::string& f, long double (*wanted)(long double, long double), double most) {
  const bool wide = sizeof(T) == 8;
  std::vector<T> x, w;
  for (const T first : corners<T>()) {
    for (const T second : corners<T>()) {
      x.push_back(first);
      w.push_back(second);
    }
  }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> sizes(wide ? -1074 : -149, wide ? 1023 : 127), units(-1, 1);
  const double near = wide ? 1e-3 : 1e-2, power = wide ? 7e5 : 8e3;
  for (int k = 0; k < 10000; ++k) {
    const auto add = [&](double first, double second) {
      x.push_back(static_cast<T>(first));
      w.push_back(static_cast<T>(second));
    };
    add(40 * std::abs(units(random)), 40 * units(random));
    add(units(random), 3 * units(random));
    add(std::exp2(sizes(random)), 2 * units(random));
    add(std::exp2(sizes(random)), -std::exp2(sizes(random)));
    add(1 + near * units(random), power * units(random));  // powers of all sizes
    add(-0.5 - k % 37, k % 101 - 50);
  }
  fill_vectors(x);
  fill_vectors(w);
  check(f, x, w, [&](std::size_t k) { return wanted(x[k], w[k]); }, most);
}

template <class Wanted>
void check_both(const std::string& f, Wanted wanted, double most) {
  check<double>(f, wanted, most);
  check<float>(f, wanted, most);
}

}  // namespace

TEST_CASE("functions of vectors are near those of C++, with the same bits in every place") {
  using One = long double (*)(long double);
  using Two = long double (*)(long double, long double);
  check_both("exp", One(std::exp), 1.1);
  check_both("log", One(std::log), 1.1);
  check_both("cbrt", One(std::cbrt), 1.1);
  check_both("sin", One(std::sin), 1.1);
  check_both("cos", One(std::cos), 1.1);
  check_both("tan", One(std::tan), 3);
  check_both("asin", One(std::asin), 3);
  check_both("acos", One(std::acos), 3);
  check_both("atan", One(std::atan), 3);
  check_both("sinh", One(std::sinh), 3);
  check_both("cosh", One(std::cosh), 3);
  check_both("tanh", One(std::tanh), 3);
  check_both("pow", Two(std::pow), 3);
  check_both("atan2", Two(std::atan2), 3);
  check_both("hypot", Two(std::hypot), 3);
}

TEST_CASE("half types are computed by vectors, rounded once") {
  for (const auto type : {DType::bf16, DType::f16}) {
    const std::string name = type == DType::bf16 ? "bf16" : "f16";
    // Every number of the type, by vectors and one by one.
    const std::string text = "index i = 65536\ninput x(i) : " + name + "\noutput y(i) : " + name +
                             "\noutput c(i) : " + name + "\ny(i) = max(x(i)*0.7, -2.5)/(1 + abs(x(i)))\nc(i) = 1.5\n";
    std::vector<std::uint16_t> x(65536), y(x.size()), exact(x.size()), c(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::uint16_t>(k);
    const std::vector<const void*> from = {x.data()};
    const auto plan = Runtime::global().plan_program(Program::parse(text));
    CHECK(plan.source().find("narrow_" + name + "(f32x") != std::string::npos);
    plan(std::vector<void*>{y.data(), c.data()}, from);
    Runtime::global().plan_program(Program::parse("exact\n" + text))(std::vector<void*>{exact.data(), c.data()}, from);
    CHECK(y == exact);
    CHECK(c == std::vector<std::uint16_t>(c.size(), type == DType::bf16 ? 0x3fc0 : 0x3e00));
  }
}

TEST_CASE("functions of a product's results in half types") {
  const auto plan = Runtime::global().plan_program(
      Program::parse("index i = 32\nindex j = 64\nindex k = 8\ninput x(i, k) : bf16\ninput y(j, k) : bf16\n"
                     "output z(i, j) : bf16\nz(i, j) = exp(sum(k, (x(i, k) - y(j, k))*(x(i, k) - y(j, k))))\n"));
  const std::vector<std::uint16_t> ones(64 * 8, 0x3f80);
  std::vector<std::uint16_t> z(32 * 64);
  plan(std::vector<void*>{z.data()}, std::vector<const void*>{ones.data(), ones.data()});
  CHECK(plan.source().find("Lanes<") != std::string::npos);
  CHECK(z == std::vector<std::uint16_t>(z.size(), 0x3f80));
}

TEST_CASE("least and greatest values are found by vectors") {
  constexpr std::size_t kRows = 37, kColumns = 1000;
  const auto plan = Runtime::global().plan_program(
      Program::parse("index i = 37\nindex j = 1000\ninput x(i, j) : f32\noutput a(j) : f32\noutput b(i) : f32\n"
                     "a(j) = maximum(i, max(x(i, j), -0.5))\nb(i) = minimum(j, x(i, j))\n"));
  std::mt19937_64 random(6);
  std::normal_distribution<float> numbers;
  std::vector<float> x(kRows * kColumns), a(kColumns), b(kRows);
  for (auto& one : x) one = numbers(random);
  const std::vector<const void*> from = {x.data()};
  plan(std::vector<void*>{a.data(), b.data()}, from);
  CHECK(plan.source().find("maximum<f32x") != std::string::npos);
  CHECK(plan.source().find("minimum<f32x") != std::string::npos);
  for (std::size_t j = 0; j < kColumns; ++j) {
    float most = -0.5F;
    for (std::size_t i = 0; i < kRows; ++i) most = std::max(most, x[i * kColumns + j]);
    REQUIRE(a[j] == most);
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < kColumns; ++j) least = std::min(least, x[i * kColumns + j]);
    REQUIRE(b[i] == least);
  }
}

TEST_CASE("a sum of comparisons counts beyond what they are held in") {
  constexpr std::size_t kCount = 3000;
  const auto plan = Runtime::global().plan_program(Program::parse(
      "index n = 3000\nindex k = 3\ninput x(n) : i32\noutput h(k) : i64\noutput p(n) : i32\n"
      "h(k) = sum(n, guard(n > 0, x(n) == k and x(n) < 2))\np(n) = scan(sum, n, cast(i32, x(n) == 1))\n"));
  std::vector<std::int32_t> x(kCount), p(kCount);
  for (std::size_t n = 0; n < kCount; ++n) x[n] = static_cast<std::int32_t>(n % 3);
  std::vector<std::int64_t> h(3);
  const std::vector<const void*> from = {x.data()};
  plan(std::vector<void*>{h.data(), p.data()}, from);
  CHECK(h == std::vector<std::int64_t>{999, 1000, 0});
  CHECK(p.back() == 1000);
}

}  // namespace lane_functions_test
