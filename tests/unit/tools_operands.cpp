// What the tensors of a bench hold: the same in every run, exact in each type, and filters pass few pairs of sets.
#include <bit>
#include <cstring>

#include "bench/operands.hpp"
#include "catch.hpp"

namespace tools_operands_test {

using namespace ricci;
using namespace ricci::tools;

TEST_CASE("floating operands are the values that a bench compares with") {
  for (const auto type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128}) {
    const auto bytes = contents(type, 3000);
    REQUIRE(bytes.size() == 3000 * static_cast<std::size_t>(size_of(type)));
    CHECK(bytes == contents(type, 3000));
    for (std::int64_t k = 0; k < 3000; ++k) {
      const auto value = element(type, bytes.data() + k * size_of(type));
      if (value != value_at(type, k) || value.real() < 0.5 || value.real() >= 1.5) FAIL_CHECK(name(type) << " " << k);
    }
  }
}

TEST_CASE("few pairs of 64-bit sets differ in four members at most") {
  constexpr std::int64_t kSets = 1000;
  for (const auto type : {DType::i64, DType::u64}) {
    const auto bytes = contents(type, kSets);
    CHECK(bytes == contents(type, kSets));
    std::vector<std::uint64_t> sets(kSets);
    std::memcpy(sets.data(), bytes.data(), bytes.size());
    int alike = 0;
    for (const auto x : sets) {
      for (const auto y : sets) alike += std::popcount(x ^ y) <= 4;
    }
    CHECK(alike == kSets);  // each with itself
  }
}

}  // namespace tools_operands_test
