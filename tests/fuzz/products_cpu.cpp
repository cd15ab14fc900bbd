// Random sums of products of more than two tensors, of a tensor with itself and of several products, on the CPU: to the
// interpreter's bits where no order of a sum rounds, within the bound of their sums where it does, and the same bits
// for one to eight threads.
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_products.hpp"
#include "fuzz/sums_by_threads.hpp"
#include "ricci/ricci.hpp"

namespace products_cpu_test {

using namespace ricci;

namespace {

constexpr double kApart = -77;  // what lies between results

template <class T>
std::string failure(Runtime& runtime, const fuzz::Products& products, std::mt19937_64& random, int& tiled) {
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

std::string failure_of(Runtime& runtime, const fuzz::Products& products, std::mt19937_64& random, int& tiled) {
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
    const fuzz::Products products(random);
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
