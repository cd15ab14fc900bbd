// Random programs without sums on the CPU whose operands lie in other orders than their results, so that tiles of them
// are copied first. Values are small whole numbers: results are the interpreter's to the bit.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <random>

#include "catch.hpp"
#include "fuzz/planned_program.hpp"
#include "fuzz/random_problem.hpp"
#include "ricci/ricci.hpp"

namespace across_cpu_test {

using namespace ricci;

namespace {

struct Across {
  DType type = DType::f64;
  std::string text;
  std::int64_t elements = 1;  ///< of each tensor of all indices

  explicit Across(std::mt19937_64& random) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f32, DType::c128, DType::i32, DType::i8};
    type = kTypes[pick(0, 5)];
    const int rank = pick(2, 4);
    std::string names = std::string("ijkl").substr(0, static_cast<std::size_t>(rank));
    std::string head;
    for (const char name : names) {
      const int extent = rank == 2   ? pick(1, 4) == 1 ? pick(1, 9) : pick(60, 600)
                           : rank == 3 ? pick(3, 90)
                                     : pick(2, 33);
      elements *= extent;
      head += fmt::format("index {} = {}\n", name, extent);
    }
    const auto places = [&](std::string order) { return fmt::format("{}", fmt::join(order, ", ")); };
    const auto shuffled = [&] {
      auto order = names;
      std::shuffle(order.begin(), order.end(), random);
      return places(order);
    };
    // Two tensors, of which one may be read in several orders where all extents are one.
    const auto a = shuffled(), b = shuffled(), c = places(names);
    auto value = fmt::format("A({}) {} B({})", a, pick(0, 1) == 0 ? "*" : "+", b);
    if (pick(0, 1) == 0) value = fmt::format("2 * ({}) - C({})", value, c);
    if (pick(0, 2) == 0) value = fmt::format("({}) * e({})", value, names[static_cast<std::size_t>(pick(0, rank - 1))]);
    const auto e = value.find("e(");
    text = fmt::format("{}input A({}) : {t}\ninput B({}) : {t}\n{}inout C({}) : {t}\nC({}) = {}\n", head, a, b,
                       e == std::string::npos ? "" : fmt::format("input e({}) : {}\n", value[e + 2], ricci::name(type)),
                       c, c, value, fmt::arg("t", ricci::name(type)));
  }
};

template <class T>
std::string failure(Runtime& runtime, const Across& across, std::mt19937_64& random, int& staged) {
  const auto numbers = [&](std::int64_t count) {
    std::uniform_int_distribution<int> whole(-2, 2);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = static_cast<T>(whole(random));
    return values;
  };
  const auto a = numbers(across.elements), b = numbers(across.elements), before = numbers(across.elements);
  const auto e = numbers(600);
  std::vector<const void*> from{a.data(), b.data()};
  if (across.text.find("e(") != std::string::npos) from.push_back(e.data());
  return fuzz::difference_of_plans(runtime, Program::parse(across.text), from, before, [&](const Plan& plan) {
    staged += plan.info().schedule.find("staged") != std::string::npos ? 1 : 0;
  });
}

std::string failure_of(Runtime& runtime, const Across& across, std::mt19937_64& random, int& staged) {
  switch (across.type) {
    case DType::f32:
      return failure<float>(runtime, across, random, staged);
    case DType::c128:
      return failure<std::complex<double>>(runtime, across, random, staged);
    case DType::i32:
      return failure<std::int32_t>(runtime, across, random, staged);
    case DType::i8:
      return failure<std::int8_t>(runtime, across, random, staged);
    default:
      return failure<double>(runtime, across, random, staged);
  }
}

/// Prefixes of columns, whose neighbours are scanned side by side.
struct Columns {
  std::string text;
  std::int64_t from = 1, to = 1;  ///< elements

  Columns(std::mt19937_64& random, const char* type) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const int i = pick(1, 300), j = pick(1, 70), k = pick(1, 3) == 1 ? pick(2, 5) : 1;
    constexpr const char* kOperations[] = {"sum", "product", "minimum", "maximum"};
    const bool exclusive = pick(0, 2) == 0, turned = pick(0, 3) == 0;
    const auto value = fmt::format("{}{}", turned ? "A(k, j, i)" : "A(k, i, j)", pick(0, 1) == 0 ? " * e(j)" : "");
    from = std::int64_t{i} * j * k;
    to = std::int64_t{exclusive ? i + 1 : i} * j * k;
    text = fmt::format(
        "index i = {}\nindex j = {}\nindex k = {}\ninput {} : {}\n{}output C(k, {}, j) : {}\n"
        "C(k, i, j) = {}({}, i, {})\n",
        i, j, k, turned ? "A(k, j, i)" : "A(k, i, j)", type,
        value.find("e(j)") == std::string::npos ? "" : fmt::format("input e(j) : {}\n", type), exclusive ? "i+1" : "i",
        type, exclusive ? "exclusive_scan" : "scan", kOperations[pick(0, 3)], value);
  }
};

template <class T>
std::string failure_of(Runtime& runtime, const Columns& columns, std::mt19937_64& random, int& vectors) {
  // Signs alone, so that no product is large.
  const auto numbers = [&](std::int64_t count) {
    std::uniform_int_distribution<int> sign(0, 1);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = static_cast<T>(2 * sign(random) - 1);
    return values;
  };
  const auto a = numbers(columns.from), e = numbers(70);
  std::vector<const void*> from{a.data()};
  const auto program = Program::parse(columns.text);
  if (columns.text.find("e(j)") != std::string::npos) from.push_back(e.data());
  std::vector<T> want(static_cast<std::size_t>(columns.to)), got = want;
  Runtime::interpret_program(program, std::vector<void*>{want.data()}, from);
  const auto plan = runtime.plan_program(program, {});
  vectors += plan.info().schedule.find(" v") != std::string::npos ? 1 : 0;
  plan(std::vector<void*>{got.data()}, from);
  return got == want ? std::string() : plan.explain() + plan.source();
}

}  // namespace

TEST_CASE("random programs on the CPU that read across are what the interpreter says") {
  const auto first = fuzz::first_seed(870001);
  const int count = fuzz::cases(30);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 3;
  Runtime runtime(options);
  int staged = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const Across across(random);
    INFO("seed " << seed << "\n" << across.text);
    const auto found = failure_of(runtime, across, random, staged);
    INFO(found);
    REQUIRE(found.empty());
  }
  if (!fuzz::enough(count)) return;
  INFO(staged << " of " << count << " were staged");
  CHECK(staged > count / 4);
}

TEST_CASE("random prefixes of columns on the CPU are what the interpreter says") {
  const auto first = fuzz::first_seed(880001);
  const int count = fuzz::cases(30);
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(options);
  int vectors = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const Columns columns(random, n % 2 == 0 ? "f64" : "f32");
    INFO("seed " << seed << "\n" << columns.text);
    const auto found = n % 2 == 0 ? failure_of<double>(runtime, columns, random, vectors)
                                  : failure_of<float>(runtime, columns, random, vectors);
    INFO(found);
    REQUIRE(found.empty());
  }
  if (!fuzz::enough(count)) return;
  INFO(vectors << " of " << count << " had vectors");
  CHECK(vectors > count / 4);
}

}  // namespace across_cpu_test
