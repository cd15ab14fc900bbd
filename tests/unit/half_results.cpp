// Results of half types that a CPU kernel rounds by vectors are those that the interpreter rounds one by one.
#include <cstdint>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace half_results_test {

using namespace ricci;

namespace {

/// Numbers of f32 where rounding decides: half numbers, what lies half way between two, its neighbours, and others.
std::vector<float> numbers() {
  std::vector<float> all;
  for (std::uint32_t high = 0; high < 1u << 16; high += 23) {
    for (const std::uint32_t low : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u}) {
      const std::uint32_t bits = high << 16 | low;
      all.push_back(0);
      std::memcpy(&all.back(), &bits, sizeof bits);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("results of half types are rounded by vectors") {
  const auto type = GENERATE(DType::f16, DType::bf16);
  const int beta = GENERATE(0, 1);
  const auto values = numbers();
  const auto rows = static_cast<std::int64_t>(values.size());
  constexpr std::int64_t kColumns = 20;  // vectors and a part of one
  const std::vector<Layout> inputs = {Layout::row_major(DType::f32, {rows, 2}),
                                      Layout::row_major(DType::f32, {2, kColumns})};
  const auto output = Layout::row_major(type, {rows, kColumns});
  std::vector<float> a, b(2 * kColumns, 1);
  for (const float value : values) {
    a.push_back(value);
    a.push_back(0);
  }
  for (std::size_t c = 0; c < kColumns; ++c) b[c] = c % 2 == 0 ? 1.0f : -1.25f;
  // With beta all half numbers are read.
  std::vector<std::uint16_t> found(values.size() * kColumns);
  for (std::size_t k = 0; k < found.size(); ++k) found[k] = static_cast<std::uint16_t>(k);
  auto expected = found;

  EinsumOptions options;
  options.beta = beta;
  options.mode = PlanMode::model;  // whatever other tests measured
  const auto plan = Runtime::global().plan_einsum("ab,bc->ac", inputs, output, options);
  CHECK(plan.source().find(type == DType::f16 ? "narrow_f16(sum[" : "narrow_bf16(sum[") != std::string::npos);
  const std::vector<const void*> from = {a.data(), b.data()};
  plan(std::vector<void*>{found.data()}, from);
  Runtime::interpret_einsum("ab,bc->ac", inputs, output, from, expected.data(), options);
  // Which of two NaNs lends its sign to their sum is the compiler's choice.
  const auto is_nan = [&](std::uint16_t bits) { return (bits & 0x7fffu) > (type == DType::f16 ? 0x7c00u : 0x7f80u); };
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto signs = is_nan(expected[k]) && beta != 0 ? 0x7fffu : 0xffffu;
    wrong += (found[k] & signs) != (expected[k] & signs) ? 1u : 0u;
  }
  CHECK(wrong == 0);
}

}  // namespace half_results_test
