// Random convolutions, gradients and pooling by plans of the CPU: the interpreter's bits, of numbers that no order of a
// sum rounds.
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/planned_program.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_windows.hpp"

namespace windows_cpu_test {

using namespace ricci;

namespace {

template <class T>
std::string failure(Runtime& runtime, const fuzz::Windows& windows, std::mt19937_64& random, int& tiled) {
  std::vector<std::vector<T>> values;
  std::vector<const void*> from;
  for (const auto elements : windows.read) {
    auto& made = values.emplace_back(static_cast<std::size_t>(elements));
    for (auto& value : made) value = static_cast<T>(static_cast<int>(random() % 3) - 1);
    from.push_back(made.data());
  }
  const std::vector<T> before(static_cast<std::size_t>(windows.results), static_cast<T>(-77));
  return fuzz::difference_of_plans<T>(runtime, Program::parse(windows.text), from, before, [&](const Plan& plan) {
    tiled += plan.explain().find("gett") == std::string::npos ? 0 : 1;
  });
}

}  // namespace

TEST_CASE("random programs that read in windows on the CPU are the interpreter's") {
  const auto first = fuzz::first_seed(940001);
  const int count = fuzz::cases(30);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 3;
  Runtime runtime(options);
  int tiled = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const fuzz::Windows windows(random);
    INFO("seed " << seed << "\n" << windows.text);
    std::string wrong;
    try {
      wrong = windows.type == DType::f32   ? failure<float>(runtime, windows, random, tiled)
              : windows.type == DType::i32 ? failure<std::int32_t>(runtime, windows, random, tiled)
                                           : failure<double>(runtime, windows, random, tiled);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) FAIL(wrong);
  }
  std::printf("%d random programs that read in windows from seed %llu, %d of them by tiles\n", count,
              static_cast<unsigned long long>(first), tiled);
  if (fuzz::enough(count)) CHECK(tiled > count / 8);
}

}  // namespace windows_cpu_test
