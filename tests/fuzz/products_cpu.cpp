// Random sums of products of more than two tensors, of a tensor with itself and of several products, on the CPU: to the
// interpreter's bits where no order of a sum rounds, within the bound of their sums where it does, and the same bits
// for one to eight threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/sums_by_threads.hpp"
#include "ricci/ricci.hpp"

namespace products_cpu_test {

using namespace ricci;

namespace {

struct Products {
  DType type = DType::f64;
  std::string text, all_added;     ///< of a program; the same with nothing subtracted
  std::vector<std::int64_t> read;  ///< elements of each input
  std::int64_t results = 1;        ///< elements of the output's memory
  double terms = 0;                ///< roundings of an element, at most

  explicit Products(std::mt19937_64& random) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f64, DType::c128, DType::c64, DType::i32};
    type = kTypes[pick(0, 5)];
    const bool square = pick(0, 2) == 0;  // of tensors that are multiplied by themselves
    const int i = pick(1, 50), j = square ? i : pick(1, 50), k = pick(0, 3) == 0 ? pick(1, 20) : pick(30, 400);
    const auto turned = [&](const char* x, const char* y) {
      return pick(0, 1) == 0 ? fmt::format("{}, {}", x, y) : fmt::format("{}, {}", y, x);
    };
    std::string declared, sum, all;
    const auto declare = [&](const std::string& name, const std::string& axes) {
      std::int64_t elements = 1;
      for (const char axis : axes) elements *= axis == 'i' ? i : axis == 'j' ? j : axis == 'k' ? k : 1;
      declared += fmt::format("input {}({}) : {}\n", name, axes, ricci::name(type));
      read.push_back(elements);
      return fmt::format("{}({})", name, axes);
    };
    const int products = pick(0, 2) == 0 ? pick(2, 3) : 1;
    for (int p = 0; p < products; ++p) {
      const auto number = std::to_string(p);
      std::vector<std::string> factors;
      const auto first = declare("A" + number, turned("i", "k"));
      factors.push_back(first);
      if (square && pick(0, 1) == 0) {
        auto other = first;
        std::replace(other.begin(), other.end(), 'i', 'j');
        factors.push_back(pick(0, 3) == 0 && type >= DType::c64 ? fmt::format("conj({})", other) : other);
      } else {
        factors.push_back(declare("B" + number, turned("k", "j")));
      }
      constexpr const char* kMore[] = {"k", "i", "j", "i, k", "j, k", "i, j"};
      for (int more = pick(0, 5) < 4 ? pick(1, 2) : 0; more > 0; --more)
        factors.push_back(declare(fmt::format("F{}{}", number, more), kMore[pick(0, 5)]));
      if (pick(0, 4) == 0) factors.push_back("2");
      std::shuffle(factors.begin(), factors.end(), random);
      const auto product = fmt::format("{}sum(k, {})", pick(0, 3) == 0 ? "3 * " : "", fmt::join(factors, " * "));
      const bool negative = p > 0 && pick(0, 1) == 0;
      sum += (p == 0 ? "" : negative ? " - " : " + ") + product;
      all += (p == 0 ? "" : " + ") + product;
      terms += k + 8;
    }
    std::string before, behind;
    if (const int map = pick(0, 3); map < 2) {
      before = map == 0 ? "2 * (" : "(";
      behind = map == 0 ? ")" : ") * " + declare("G", "i") + " + " + declare("H", "i, j");
    }
    std::string strides;
    results = std::int64_t{i} * j;
    if (const int lies = pick(0, 5); lies < 3) {
      const int step = lies == 0 ? 2 : 1, more = pick(0, 3);
      const bool across = pick(0, 1) == 0;
      const std::int64_t row = step * (across ? i : j) + more;
      results = row * (across ? j : i);
      strides = across ? fmt::format(" strides({}, {})", step, row) : fmt::format(" strides({}, {})", row, step);
    }
    const auto head =
        fmt::format("{}index k = {}\n{}output C(i, j) : {}{}\n",
                    square ? fmt::format("index i j = {}\n", i) : fmt::format("index i = {}\nindex j = {}\n", i, j), k,
                    declared, ricci::name(type), strides);
    text = fmt::format("{}C(i, j) = {}{}{}\n", head, before, sum, behind);
    all_added = fmt::format("{}C(i, j) = {}{}{}\n", head, before, all, behind);
  }
};

constexpr double kApart = -77;  // what lies between results

template <class T>
std::string failure(Runtime& runtime, const Products& products, std::mt19937_64& random, int& tiled) {
  using Real = decltype(std::abs(T()));
  const bool rounds = std::is_floating_point_v<T> && random() % 2 == 0;
  std::normal_distribution<double> normal;
  std::vector<std::vector<T>> values;
  for (const auto elements : products.read) {
    auto& made = values.emplace_back(static_cast<std::size_t>(elements));
    for (auto& value : made)
      value = rounds ? static_cast<T>(normal(random))
                     : static_cast<T>(static_cast<Real>(static_cast<int>(random() % 3) - 1));
  }
  const std::vector<T> empty(static_cast<std::size_t>(products.results), static_cast<T>(kApart));
  // Both round, each in every term.
  const double relative = rounds ? (products.terms + 16) * std::numeric_limits<Real>::epsilon() : 0;
  std::string schedule;
  auto wrong = fuzz::wrong_sums(runtime, products.text, products.all_added, values, empty, relative, schedule);
  tiled += schedule.find("gett") == std::string::npos ? 0 : 1;
  return wrong;
}

std::string failure_of(Runtime& runtime, const Products& products, std::mt19937_64& random, int& tiled) {
  switch (products.type) {
    case DType::f32:
      return failure<float>(runtime, products, random, tiled);
    case DType::c64:
      return failure<std::complex<float>>(runtime, products, random, tiled);
    case DType::c128:
      return failure<std::complex<double>>(runtime, products, random, tiled);
    case DType::i32:
      return failure<std::int32_t>(runtime, products, random, tiled);
    default:
      return failure<double>(runtime, products, random, tiled);
  }
}

}  // namespace

TEST_CASE("random sums of products of several tensors on the CPU, to the same bits for any number of threads") {
  const auto first = fuzz::first_seed(880001);
  const int count = fuzz::cases(24);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  int tiled = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const Products products(random);
    INFO("seed " << seed << "\n" << products.text);
    std::string wrong;
    try {
      wrong = failure_of(runtime, products, random, tiled);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL(wrong);
  }
  std::printf("%d random sums of products from seed %llu, %d of them by tiles\n", count,
              static_cast<unsigned long long>(first), tiled);
  if (fuzz::enough(count)) CHECK(tiled > count / 4);
}

}  // namespace products_cpu_test
