// Calls from threads that are not Ricci's own, as those of an OpenMP region are: plans are made and run by all of them
// at once, on one runtime, with nothing lost and nobody left waiting.
#include <omp.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

constexpr std::int64_t kA = 37, kB = 50, kC = 41;

std::vector<float> counted() {
  std::vector<float> a(static_cast<std::size_t>(kA * kB * kC));
  std::iota(a.begin(), a.end(), 1.0F);
  return a;
}

/// abc -> cab, element by element.
bool is_permuted(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::int64_t i = 0; i < kA; ++i) {
    for (std::int64_t j = 0; j < kB; ++j) {
      for (std::int64_t k = 0; k < kC; ++k) {
        if (b[static_cast<std::size_t>((k * kA + i) * kB + j)] != a[static_cast<std::size_t>((i * kB + j) * kC + k)]) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("plans are made and run inside an OpenMP region") {
  RuntimeOptions options;
  options.threads = 3;
  Runtime runtime(options);
  const auto layout = Layout::row_major(DType::f32, {kA, kB, kC});
  const auto a = counted();
  std::atomic<int> wrong{0}, done{0}, members{0};
#pragma omp parallel num_threads(4)
  {
    ++members;
    std::vector<float> b(a.size());
    for (int round = 0; round < 20; ++round) {
      std::fill(b.begin(), b.end(), 0.0F);
      const auto plan = runtime.plan_permute("abc->cab", layout);
      plan(b.data(), a.data());
      if (!is_permuted(a, b)) ++wrong;
      ++done;
    }
  }
  CHECK(wrong == 0);
  CHECK(done == 20 * members);
  CHECK(members > 1);
}

TEST_CASE("one plan is run by all iterations of an OpenMP loop") {
  RuntimeOptions options;
  options.threads = 2;
  Runtime runtime(options);
  const auto plan = runtime.plan_permute("abc->cab", Layout::row_major(DType::f32, {kA, kB, kC}));
  const auto a = counted();
  int wrong = 0;
#pragma omp parallel for num_threads(3) schedule(dynamic) reduction(+ : wrong)
  for (int k = 0; k < 60; ++k) {
    std::vector<float> b(a.size());
    plan(b.data(), a.data());
    wrong += is_permuted(a, b) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a sum has the same bits with any number of threads") {
  const std::vector<Layout> inputs = {Layout::row_major(DType::f32, {64, 150}),
                                      Layout::row_major(DType::f32, {150, 70})};
  std::vector<float> a(64 * 150), b(150 * 70), first;
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = 1.0F / static_cast<float>(k + 3);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 1.0F / static_cast<float>(2 * k + 5);
  for (const int threads : {1, 2, 3, 5, 8}) {
    RuntimeOptions options;
    options.threads = threads;
    Runtime runtime(options);
    const auto plan = runtime.plan_einsum("ik,kj->ij", inputs);
    std::vector<float> c(64 * 70);
    plan({static_cast<void*>(c.data())}, {static_cast<const void*>(a.data()), static_cast<const void*>(b.data())});
    if (first.empty()) first = c;
    CHECK(std::memcmp(c.data(), first.data(), c.size() * sizeof(float)) == 0);
  }
}
