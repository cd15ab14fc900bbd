// Vectors of integers in CPU kernels of programs: each operation that they have, wrapping as C's unsigned types do.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace integer_lanes_test {

using namespace ricci;

namespace {

template <class T>
std::string name_of() {
  return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
}

/// Random bits, the least, the largest and small numbers among them.
template <class T>
std::vector<T> numbers(std::size_t count, std::mt19937_64& random) {
  constexpr T kCorners[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0), T(1), T(-1)};
  std::vector<T> list(count);
  for (auto& one : list) one = random() % 4 == 0 ? kCorners[random() % 5] : static_cast<T>(random());
  return list;
}

/// Runs the program `text` of x, y and z; it has vectors, of x's type, where it should.
template <class T, class Z>
std::vector<Z> run(const std::string& text, const std::vector<T>& x, const std::vector<T>& y, std::size_t results,
                   bool by_vectors = true) {
  INFO(text);
  const auto plan = Runtime::global().plan_program(Program::parse(text));
  CHECK((plan.source().find(" " + name_of<T>() + "x") != std::string::npos) == by_vectors);
  std::vector<Z> z(results);
  std::vector<const void*> from = {x.data()};
  if (!y.empty()) from.push_back(y.data());
  plan(std::vector<void*>{z.data()}, from);
  return z;
}

using Wide = std::uint64_t;

/// z(i) = an operation of x(i) and y(i), with points that fill no vector.
template <class T>
void check_points() {
  constexpr std::size_t kPoints = 1003;
  std::mt19937_64 random(3);
  const auto x = numbers<T>(kPoints, random), y = numbers<T>(kPoints, random);
  using Operation = std::function<Wide(T, T)>;
  std::vector<std::pair<std::string, Operation>> operations = {
      {"x(i) + y(i)", [](T a, T b) { return static_cast<Wide>(a) + static_cast<Wide>(b); }},
      {"3 * x(i) - y(i)", [](T a, T b) { return 3 * static_cast<Wide>(a) - static_cast<Wide>(b); }},
      {"x(i) * y(i)", [](T a, T b) { return static_cast<Wide>(a) * static_cast<Wide>(b); }},
      {"-x(i) * y(i)", [](T a, T b) { return 0 - static_cast<Wide>(a) * static_cast<Wide>(b); }},
      {"min(x(i), y(i))", [](T a, T b) { return static_cast<Wide>(std::min(a, b)); }},
      {"max(x(i), y(i))", [](T a, T b) { return static_cast<Wide>(std::max(a, b)); }},
      {"x(i) and y(i)", [](T a, T b) { return static_cast<Wide>(a) & static_cast<Wide>(b); }},
      {"x(i) or y(i)", [](T a, T b) { return static_cast<Wide>(a) | static_cast<Wide>(b); }},
      {"x(i) xor y(i)", [](T a, T b) { return static_cast<Wide>(a) ^ static_cast<Wide>(b); }},
  };
  if (std::is_signed_v<T>) {
    operations.emplace_back("abs(x(i)) - y(i)", [](T a, T b) {
      return (a < 0 ? 0 - static_cast<Wide>(a) : static_cast<Wide>(a)) - static_cast<Wide>(b);
    });
  }
  const auto text_of = [](const std::string& operation) {
    const auto type = name_of<T>();
    return "index i = " + std::to_string(kPoints) + "\ninput x(i) : " + type + "\ninput y(i) : " + type +
           "\noutput z(i) : " + type + "\nz(i) = " + operation + "\n";
  };
  for (const auto& [operation, wanted] : operations) {
    INFO(operation << " of " << name_of<T>());
    const auto z = run<T, T>(text_of(operation), x, y, kPoints);
    for (std::size_t k = 0; k < kPoints; ++k) REQUIRE(z[k] == static_cast<T>(wanted(x[k], y[k])));
  }
  run<T, T>(text_of("x(i) / y(i)"), x, y, kPoints, false);
}

/// Sums, products and extremes of rows that fill no vector, in a wider type, too.
template <class T, class Z = T>
void check_rows() {
  constexpr std::size_t kRows = 130, kLength = 203;
  std::mt19937_64 random(4);
  const auto x = numbers<T>(kRows * kLength, random);
  const auto check = [&](const std::string& reduction, Wide first, const std::function<Wide(Wide, T)>& add) {
    INFO(reduction << " of " << name_of<T>() << " in " << name_of<Z>());
    const auto text = "index b = " + std::to_string(kRows) + "\nindex k = " + std::to_string(kLength) +
                      "\ninput x(b,k) : " + name_of<T>() + "\noutput z(b) : " + name_of<Z>() + "\nz(b) = " + reduction +
                      "\n";
    const auto z = run<T, Z>(text, x, {}, kRows);
    for (std::size_t b = 0; b < kRows; ++b) {
      Wide total = first;
      for (std::size_t k = 0; k < kLength; ++k) total = add(total, x[b * kLength + k]);
      REQUIRE(z[b] == static_cast<Z>(total));
    }
  };
  const auto cast = std::is_same_v<T, Z> ? std::string("x(b,k)") : "cast(" + name_of<Z>() + ", x(b,k))";
  check("sum(k, " + cast + ")", 0, [](Wide total, T one) { return total + static_cast<Wide>(one); });
  check("product(k, 2 * " + cast + " - 1)", 1,
        [](Wide total, T one) { return total * (2 * static_cast<Wide>(one) - 1); });
  check("maximum(k, " + cast + ")", static_cast<Wide>(std::numeric_limits<T>::min()),
        [](Wide total, T one) { return static_cast<Wide>(std::max(static_cast<T>(total), one)); });
}

}  // namespace

TEMPLATE_TEST_CASE("vectors of integers combine points as C does, and have no quotients", "", std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
  check_points<TestType>();
}

TEMPLATE_TEST_CASE("vectors of integers reduce rows", "", std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
  check_rows<TestType>();
}

TEST_CASE("vectors of integers are converted to wider ones") {
  check_rows<std::int8_t, std::int32_t>();
  check_rows<std::uint8_t, std::uint32_t>();
  check_rows<std::int16_t, std::int64_t>();
  check_rows<std::int32_t, std::int64_t>();
  check_rows<std::uint32_t, std::uint64_t>();
}

}  // namespace integer_lanes_test
