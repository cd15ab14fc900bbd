// Functions of vectors in CPU kernels, against those of C++ in a wider type.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace lane_functions_test {

using namespace ricci;

namespace {

/// y(i) = f(x(i)) by a kernel of its own, and whether that has vectors.
template <class T>
std::vector<T> mapped(const std::vector<T>& x, const std::string& f, bool exact, bool& by_vectors) {
  const char* type = sizeof(T) == 4 ? "f32" : "f64";
  auto text = "index i = " + std::to_string(x.size()) + "\ninput x(i) : " + type + "\noutput y(i) : " + type +
              "\ny(i) = " + f + "(x(i))\n";
  const auto plan = Runtime::global().plan_program(Program::parse(exact ? "exact\n" + text : text));
  by_vectors = plan.source().find("Lanes<") != std::string::npos;
  std::vector<T> y(x.size());
  const std::vector<const void*> from = {x.data()};
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

template <class T>
void check(const std::string& f, long double (*wanted)(long double), double most) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const bool wide = sizeof(T) == 8;
  std::vector<T> x = {0,
                      T(-0.0),
                      inf,
                      -inf,
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::denorm_min(),
                      88.5,
                      -88.5,
                      -103,
                      T(-103.9),
                      T(709.5),
                      -745,
                      -709,
                      1000,
                      -1e30F,
                      T(1e-30)};
  std::mt19937_64 random(5);
  for (const double reach : {wide ? 745.0 : 103.0, 20.0, 1.0, 0.4, 1e-3}) {
    std::uniform_real_distribution<T> numbers(static_cast<T>(-reach), static_cast<T>(reach));
    for (int k = 0; k < 20000; ++k) x.push_back(numbers(random));
  }
  // And numbers of all sizes, the least that are not normal among them.
  std::uniform_real_distribution<double> sizes(wide ? -1074 : -149, wide ? 1023 : 127);
  for (int k = 0; k < 20000; ++k) x.push_back(static_cast<T>(std::exp2(sizes(random))));
  for (int k = 0; k < 2000; ++k) x.push_back(1 + static_cast<T>(k - 1000) * std::numeric_limits<T>::epsilon());
  x.resize(x.size() / 16 * 16 + 7);  // the last ones are no vector
  for (std::size_t k = 1; k <= 16; ++k) x[x.size() - k] = x[x.size() - 16 - k];
  bool by_vectors = false;
  const auto y = mapped(x, f, false, by_vectors);
  CHECK(by_vectors);
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) largest = std::max(largest, error(y[k], wanted(x[k])));
  CHECK(largest <= most);
  CHECK(std::signbit(y[1]) == std::signbit(wanted(-0.0L)));
  std::size_t differ = 0;
  for (std::size_t k = 1; k <= 16; ++k) differ += y[y.size() - k] != y[y.size() - 16 - k];
  CHECK(differ == 0);

  const auto exact = mapped(x, f, true, by_vectors);
  CHECK_FALSE(by_vectors);
  for (std::size_t k = 0; k < x.size(); ++k) largest = std::max(largest, error(exact[k], wanted(x[k])));
  CHECK(largest <= most);
}

}  // namespace

TEST_CASE("functions of vectors are near those of C++, with the same bits in every place") {
  check<double>("exp", std::exp, 1.1);
  check<float>("exp", std::exp, 1.1);
  check<double>("log", std::log, 1.1);
  check<float>("log", std::log, 1.1);
  check<double>("tanh", std::tanh, 3);
  check<float>("tanh", std::tanh, 3);
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
