// Results of contractions that leave through scratch memory as whole lines: random extents, places in memory and
// numbers of threads, beside a schedule that writes them at once.
#include <fmt/format.h>

#include <random>
#include <vector>

#include "catch.hpp"
#include "fuzz/seeds.hpp"
#include "ricci/ricci.hpp"

namespace result_runs_cpu_test {

using namespace ricci;

namespace {

struct Counts {
  int carried = 0, along_lanes = 0;
};

/// C[e a f c b] = sum(d) A[a b c d e] B[d f]: runs along b go on with the next c, or those of a part of b with the next
/// part. What is wrong with a seed's; nothing where it is right.
template <class T>
std::string failure(Runtime& runtime, std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  const auto up = [](std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; };
  constexpr auto type = sizeof(T) == 8 ? DType::f64 : DType::f32;
  const std::int64_t lanes = from(0, 1) == 0 ? 4 : 8, rows = from(1, 4);
  const bool along_lanes = random() % 3 == 0;
  const std::int64_t part = lanes * from(1, 5);
  const std::int64_t e = from(2, 4), a = from(2, 5), f = from(2, 9), c = from(2, 7), d = from(2, 9);
  const std::int64_t b = along_lanes ? part * from(2, 5) : from(6, 70);
  const bool carries = random() % 4 != 0 && (along_lanes ? part : b) * sizeof(T) >= 64;  // runs of a line at least
  const std::int64_t gap = random() % 2 == 0 ? 0 : from(1, 9), row = c * b + gap;
  const Layout inputs[] = {Layout::row_major(type, {a, b, c, d, e}), Layout::row_major(type, {d, f})};
  auto output = Layout::strided(type, {e, a, f, c, b}, {a * f * row, f * row, row, b, 1});
  output.alignment = sizeof(T);

  std::vector<T> first(static_cast<std::size_t>(a * b * c * d * e)), second(static_cast<std::size_t>(d * f));
  for (auto* operand : {&first, &second}) {
    for (auto& x : *operand) x = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 256;
  }
  const std::int64_t around = 64, offset = around + from(0, 20);
  const auto elements = static_cast<std::size_t>(e * a * f * row + offset + around);
  const auto run = [&](const std::string& stores, int threads) {
    const auto wide = along_lanes ? part : up(b, lanes);
    EinsumOptions options;
    options.threads = threads;
    options.schedule = fmt::format(
        "tile a:1:1; tile c:1:1; tile e:{0}:1; tile b:{1}:{1}; tile f:{2}:{2}:{3};"
        "order task a0 e0 {4} f0 {5} serial f1 a1 c1 e1 b1 f2; stage A at {5} scratch a1 c1 e1 b1 d a c e b;"
        "stage B at f1 scratch f2 d f; atom fma rows f columns a c e b depth d lanes {6}; {7}",
        e, wide, up(f, rows), rows, along_lanes ? "c0" : "b0", along_lanes ? "b0" : "c0", lanes, stores);
    std::vector<T> results(elements, T{-7});
    const void* in[] = {first.data(), second.data()};
    void* out[] = {results.data() + offset};
    runtime.plan_einsum("abcde,df->eafcb", inputs, output, options)(out, in);
    return results;
  };
  const auto expected = run("prefetch", 1);
  const auto stores = fmt::format("store scratch {}{}", random() % 2 == 0 ? "f2" : "b1",
                                  carries ? along_lanes ? "; carry b" : "; carry c" : "");
  counts.carried += carries;
  counts.along_lanes += carries && along_lanes;
  for (const int threads : {1, static_cast<int>(from(2, 8))}) {
    if (run(stores, threads) != expected)
      return fmt::format("{} {}x{}x{}x{}x{}x{}, gap {}, offset {}, {} threads: {}", name(type), a, b, c, d, e, f, gap,
                         offset, threads, stores);
  }
  return {};
}

}  // namespace

TEST_CASE("results that leave through scratch memory are those that are written at once") {
  const auto seed = fuzz::first_seed(810001);
  const int count = fuzz::cases(10);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(options);
  Counts counts;
  for (int k = 0; k < count; ++k) {
    const auto one = seed + static_cast<std::uint64_t>(k);
    const auto wrong = k % 2 == 0 ? failure<double>(runtime, one, counts) : failure<float>(runtime, one, counts);
    INFO("seed " << one);
    CHECK(wrong == "");
  }
  if (fuzz::enough(count)) {
    CHECK(counts.carried > count / 2);
    CHECK(counts.along_lanes > count / 20);
  }
}

}  // namespace result_runs_cpu_test
