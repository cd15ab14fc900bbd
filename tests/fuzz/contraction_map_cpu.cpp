// Random contractions with elementwise maps around their sums, on the CPU. Factors are small whole numbers and powers
// of two, so that no order of a sum rounds: results are the interpreter's to the bit, however many parts a sum comes
// in.
#include <fmt/format.h>

#include <complex>
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/planned_program.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/ricci.hpp"

namespace contraction_map_cpu_test {

using namespace ricci;

namespace {

struct Mapped {
  DType type = DType::f64;
  std::string text;
  std::int64_t i = 1, j = 1, k = 1;
  bool nonlinear = false;

  explicit Mapped(std::mt19937_64& random) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f64, DType::c128, DType::i32};
    type = kTypes[pick(0, 4)];
    i = pick(1, 40);
    j = pick(1, 40);
    k = pick(0, 3) == 0 ? pick(1, 60) : pick(300, 1500);
    // Terms that are no products, and what combines them, of real numbers: sums of both signs stay small.
    constexpr const char* kTerms[] = {"sum(k, ({0} - {1}) * ({0} + {1}))", "sum(k, abs({0} - {1}) - abs({0} + {1}))",
                                      "minimum(k, {0} + {1})", "maximum(k, {0} * {1})", "maximum(k, abs({0} - {1}))"};
    const auto other = pick(0, 9);
    const auto* const terms = other < 5 && is_real(type) ? kTerms[other] : "sum(k, {} * {})";
    const auto sum = fmt::format(fmt::runtime(terms), pick(0, 1) == 0 ? "A(i, k)" : "A(k, i)",
                                 pick(0, 1) == 0 ? "B(k, j)" : "B(j, k)");
    auto value = sum;
    bool squared = false;
    for (int maps = pick(1, 3); maps > 0; --maps) {
      switch (pick(0, 9)) {
        case 0:
          value = fmt::format("e(i) * ({})", value);
          break;
        case 1:
          value = fmt::format("F(i, j) - ({})", value);
          break;
        case 2:
          value = fmt::format("({}) + F(i, j)", value);
          break;
        case 3:
          value = fmt::format("-2 * ({}) - e(i)", value);
          break;
        case 4:
          if (type != DType::i32) value = fmt::format("({}) / e(i)", value);
          break;
        case 5:
          value = fmt::format("({}) - C(i, j)", value);
          break;
        case 6:
          if (!squared) value = fmt::format("({}) * (C(i, j) + 1)", value), nonlinear = true;
          squared = true;
          break;
        case 7:
          if (!squared) value = fmt::format("({0}) * ({0})", value), nonlinear = true;
          squared = true;
          break;
        case 8:
          value = fmt::format("({}) + {}", value, sum);
          break;
        default:
          if (type == DType::c128) break;
          value = fmt::format("max({}, F(i, j))", value);
          nonlinear = true;
      }
    }
    text = fmt::format(
        "index i = {}\nindex j = {}\nindex k = {}\ninput {} : {t}\ninput {} : {t}\ninput F(i, j) : {t}\n"
        "input e(i) : {t}\ninout C(i, j) : {t}\nC(i, j) = {}\n",
        i, j, k, sum.find("A(i") == std::string::npos ? "A(k, i)" : "A(i, k)",
        sum.find("B(k") == std::string::npos ? "B(j, k)" : "B(k, j)", value, fmt::arg("t", ricci::name(type)));
  }
};

template <class T>
std::string failure(Runtime& runtime, const Mapped& mapped, std::mt19937_64& random, int& tiled) {
  const auto numbers = [&](std::int64_t count, int low, int high) {
    std::uniform_int_distribution<int> whole(low, high);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = static_cast<T>(whole(random));
    return values;
  };
  const auto a = numbers(mapped.i * mapped.k, -2, 2), b = numbers(mapped.k * mapped.j, -2, 2);
  const auto f = numbers(mapped.i * mapped.j, -9, 9), before = numbers(mapped.i * mapped.j, -3, 3);
  auto e = numbers(mapped.i, 0, 2);
  for (auto& value : e) value = value == T(0) ? T(1) : value == T(1) ? T(-2) : T(4);
  const std::vector<const void*> from{a.data(), b.data(), f.data(), e.data()};
  return fuzz::difference_of_plans(runtime, Program::parse(mapped.text), from, before, [&](const Plan& plan) {
    tiled += plan.info().schedule.rfind("plain", 0) != 0 ? 1 : 0;
  });
}

std::string failure_of(Runtime& runtime, const Mapped& mapped, std::mt19937_64& random, int& tiled) {
  switch (mapped.type) {
    case DType::f32:
      return failure<float>(runtime, mapped, random, tiled);
    case DType::c128:
      return failure<std::complex<double>>(runtime, mapped, random, tiled);
    case DType::i32:
      return failure<std::int32_t>(runtime, mapped, random, tiled);
    default:
      return failure<double>(runtime, mapped, random, tiled);
  }
}

}  // namespace

TEST_CASE("random contractions on the CPU whose sums other operations take are what the interpreter says") {
  const auto first = fuzz::first_seed(860001);
  const int count = fuzz::cases(20);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 3;
  Runtime runtime(options);
  int tiled = 0, nonlinear = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const Mapped mapped(random);
    INFO("seed " << seed << "\n" << mapped.text);
    nonlinear += mapped.nonlinear ? 1 : 0;
    std::string wrong;
    try {
      wrong = failure_of(runtime, mapped, random, tiled);
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL(wrong);
  }
  std::printf("%d random maps of contractions from seed %llu, %d not linear, %d by tiles of the result\n", count,
              static_cast<unsigned long long>(first), nonlinear, tiled);
  if (fuzz::enough(count)) CHECK((tiled > count / 3 && nonlinear > count / 3));
}

}  // namespace contraction_map_cpu_test
