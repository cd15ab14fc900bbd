// The interpreter against values worked out by hand, since everything else is tested against the interpreter.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"

namespace ir_interpret_test {

using namespace ricci;
using ricci::test::problem_of;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// B = alpha * op(A) + beta * B for one element of each.
template <class To, class From>
To one(DType from, DType to, From value, Scalar alpha = 1, Scalar beta = 0, To old = {}, bool conjugate = false) {
  Runtime::interpret_permute("->", Layout::row_major(from, {}), Layout::row_major(to, {}), &value, &old, alpha, beta,
                             conjugate);
  return old;
}

std::uint16_t half(double value) { return one<std::uint16_t>(DType::f64, DType::f16, value); }
std::uint16_t bfloat(double value) { return one<std::uint16_t>(DType::f64, DType::bf16, value); }

double half_value(unsigned bits) {
  const double fraction = bits & 0x3ff, sign = bits & 0x8000 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31);
  if (exponent == 31) return fraction == 0 ? sign * kInf : kNan;
  return sign * (exponent == 0 ? fraction * std::exp2(-24) : (1 + fraction / 1024) * std::exp2(exponent - 15));
}

double bfloat_value(unsigned bits) {
  const double fraction = bits & 0x7f, sign = bits & 0x8000 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 7 & 255);
  if (exponent == 255) return fraction == 0 ? sign * kInf : kNan;
  return sign * (exponent == 0 ? fraction * std::exp2(-133) : (1 + fraction / 128) * std::exp2(exponent - 127));
}

}  // namespace

TEST_CASE("a permutation, element by element") {
  std::array<int, 24> a, b{};
  std::iota(a.begin(), a.end(), 0);
  Runtime::interpret_permute("abc->cab", Layout::row_major(DType::i32, {2, 3, 4}),
                             Layout::row_major(DType::i32, {4, 2, 3}), a.data(), b.data());
  const std::array<int, 24> expected = {0, 4, 8,  12, 16, 20, 1, 5, 9,  13, 17, 21,
                                        2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23};
  CHECK(b == expected);
}

TEST_CASE("views: backwards, padded, broadcast") {
  const std::array<double, 6> a = {0, 1, 2, 3, 4, 5};
  std::array<double, 9> b;
  b.fill(-1);
  // Rows of A from the last to the first, columns of B two apart.
  Runtime::interpret_permute("ab->ab", Layout::strided(DType::f64, {3, 2}, {-2, 1}),
                             Layout::strided(DType::f64, {3, 2}, {3, 2}), a.data() + 4, b.data());
  CHECK(b == std::array<double, 9>{4, -1, 5, 2, -1, 3, 0, -1, 1});
  Runtime::interpret_permute("ab->ab", Layout::strided(DType::f64, {3, 2}, {0, 1}),
                             Layout::row_major(DType::f64, {3, 2}), a.data(), b.data());
  CHECK(std::array<double, 6>{b[0], b[1], b[2], b[3], b[4], b[5]} == std::array<double, 6>{0, 1, 0, 1, 0, 1});
}

TEST_CASE("an empty tensor touches nothing") {
  CHECK_NOTHROW(Runtime::interpret_permute("ab->ba", Layout::row_major(DType::f64, {0, 3}),
                                           Layout::row_major(DType::f64, {3, 0}), nullptr, nullptr));
}

TEST_CASE("integers wrap") {
  CHECK(one<std::int8_t>(DType::i8, DType::i8, std::int8_t{100}, 3) == 44);
  CHECK(one<std::uint8_t>(DType::u8, DType::u8, std::uint8_t{100}, 3) == 44);
  CHECK(one<std::uint8_t>(DType::u8, DType::u8, std::uint8_t{100}, -1) == 156);
  CHECK(one<std::int16_t>(DType::i16, DType::i16, std::int16_t{300}, 300) == 24464);
  CHECK(one<std::uint16_t>(DType::u16, DType::u16, std::uint16_t{65535}, 1, 1, std::uint16_t{2}) == 1);
  CHECK(one<std::int32_t>(DType::i32, DType::i32, std::numeric_limits<std::int32_t>::min(), -1) ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(one<std::uint32_t>(DType::u32, DType::u32, std::uint32_t{1} << 31, 2) == 0);
  CHECK(one<std::int64_t>(DType::i64, DType::i64, std::numeric_limits<std::int64_t>::max(), 1, 1, std::int64_t{1}) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(one<std::uint64_t>(DType::u64, DType::u64, std::uint64_t{3}, -1) == ~std::uint64_t{2});
  CHECK(one<std::int64_t>(DType::i64, DType::i64, std::int64_t{9007199254740993}, 3) == 27021597764222979);
  CHECK(one<std::int8_t>(DType::i8, DType::i8, std::int8_t{5}, 2, -3, std::int8_t{7}) == -11);
}

TEST_CASE("reals") {
  CHECK(one<double>(DType::f64, DType::f64, 0.1, 3) == 0.1 * 3);
  CHECK(one<double>(DType::f64, DType::f64, 0.1, 3, 7.0, 0.2) == 0.1 * 3 + 7.0 * 0.2);
  CHECK(one<float>(DType::f32, DType::f32, 0.1f, 3) == 0.1f * 3.0f);
  CHECK(one<float>(DType::f32, DType::f32, 0.1f, 0.1) == 0.1f * 0.1f);  // the factor is rounded first
  CHECK(one<float>(DType::f32, DType::f32, 0.1f, 1, 1, 0.7f) == 0.1f + 0.7f);
  CHECK(one<double>(DType::f32, DType::f64, 0.1f) == static_cast<double>(0.1f));
  CHECK(one<float>(DType::f64, DType::f32, 0.1) == 0.1f);
  CHECK(one<float>(DType::f64, DType::f32, 1e300) == std::numeric_limits<float>::infinity());
  CHECK(one<float>(DType::f64, DType::f32, 1e-46) == 0.0f);
  CHECK(std::signbit(one<float>(DType::f64, DType::f32, -0.0)));
  CHECK(std::isnan(one<float>(DType::f64, DType::f32, kNan)));
}

TEST_CASE("complex numbers") {
  using C = std::complex<double>;
  using F = std::complex<float>;
  CHECK(one<C>(DType::c128, DType::c128, C{1, 2}, {3, 4}) == C{-5, 10});
  CHECK(one<C>(DType::c128, DType::c128, C{1, 2}, {3, 4}, 0, {}, true) == C{11, -2});
  CHECK(one<C>(DType::c128, DType::c128, C{1, 2}, 1, {0, 1}, C{10, 20}) == C{-19, 12});
  CHECK(one<F>(DType::c64, DType::c64, F{1, 2}, 1, 0, {}, true) == F{1, -2});
  CHECK(one<F>(DType::c128, DType::c64, C{0.1, 0.2}) == F{0.1f, 0.2f});
  CHECK(one<C>(DType::c64, DType::c128, F{0.1f, 0.2f}, 1, 0, {}, true) == C{0.1f, -0.2f});
  CHECK(one<C>(DType::f32, DType::c128, 0.5f, {0, 2}) == C{0, 1});
  CHECK(one<F>(DType::f64, DType::c64, 0.1, 1, 1, F{1, 2}) == F{static_cast<float>(0.1 + 1), 2});
  // Products are rounded before they are subtracted: 0.1 * 0.1 - 0.1 * 0.1 is 0, not a rounding error.
  CHECK(one<F>(DType::c64, DType::c64, F{0.1f, 0.1f}, {0.1, 0.1}).real() == 0.0f);
}

TEST_CASE("a factor 0 hides its operand") {
  CHECK(one<double>(DType::f64, DType::f64, kNan, 0, 1, 5.0) == 5.0);
  CHECK(one<double>(DType::f64, DType::f64, kInf, 0) == 0.0);
  CHECK_FALSE(std::signbit(one<double>(DType::f64, DType::f64, -1.0, 0)));
  CHECK(one<double>(DType::f64, DType::f64, 3.0, 1, 0, kNan) == 3.0);
  CHECK(std::isnan(one<double>(DType::f64, DType::f64, kNan, 2)));
  CHECK(one<std::complex<double>>(DType::c128, DType::c128, std::complex<double>(kNan, kInf), 0) ==
        std::complex<double>());
}

TEST_CASE("movement keeps every bit") {
  // A signalling NaN with a payload, in each floating type.
  CHECK(one<std::uint32_t>(DType::f32, DType::f32, std::uint32_t{0xffa12345}) == 0xffa12345);
  CHECK(one<std::uint64_t>(DType::f64, DType::f64, std::uint64_t{0x7ff0000000000001}) == 0x7ff0000000000001);
  CHECK(one<std::uint16_t>(DType::f16, DType::f16, std::uint16_t{0xfc01}) == 0xfc01);
  CHECK(one<std::uint16_t>(DType::bf16, DType::bf16, std::uint16_t{0x7f81}) == 0x7f81);
}

TEST_CASE("all 65536 patterns of f16 and bf16 are decoded, and encoded to themselves") {
  struct Type {
    DType type;
    double (*value)(unsigned);
  };
  for (const auto& [type, value] : {Type{DType::f16, half_value}, Type{DType::bf16, bfloat_value}}) {
    INFO(name(type));
    std::vector<std::uint16_t> patterns(65536), again(65536);
    std::iota(patterns.begin(), patterns.end(), std::uint16_t{0});
    std::vector<double> wide(65536);
    const auto narrow_layout = Layout::row_major(type, {65536}), wide_layout = Layout::row_major(DType::f64, {65536});
    Runtime::interpret_permute("a->a", narrow_layout, wide_layout, patterns.data(), wide.data());
    Runtime::interpret_permute("a->a", wide_layout, narrow_layout, wide.data(), again.data());
    int wrong = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const double expected = value(bits);
      if (std::isnan(expected)) {
        wrong += !std::isnan(wide[bits]) || !std::isnan(value(again[bits]));
      } else {
        wrong += std::memcmp(&wide[bits], &expected, 8) != 0 || again[bits] != bits;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("between two neighbours the nearer one, and the even one in the middle") {
  struct Type {
    std::uint16_t (*encode)(double);
    double (*value)(unsigned);
    unsigned infinity;
  };
  for (const auto& [encode, value, infinity] : {Type{half, half_value, 0x7c00u}, Type{bfloat, bfloat_value, 0x7f80u}}) {
    int wrong = 0;
    for (unsigned bits = 0; bits + 1 < infinity; ++bits) {  // all finite neighbours, subnormal ones too
      const double low = value(bits), high = value(bits + 1), middle = (low + high) / 2;
      const unsigned even = bits % 2 == 0 ? bits : bits + 1;
      wrong += encode(middle) != even;
      wrong += encode(std::nextafter(middle, 0)) != bits;
      wrong += encode(std::nextafter(middle, kInf)) != bits + 1;
      wrong += encode(-middle) != (even | 0x8000u);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the ends of f16 and bf16") {
  CHECK(half(65504) == 0x7bff);
  CHECK(half(65519.999) == 0x7bff);
  CHECK(half(65520) == 0x7c00);  // half way to 2^16 goes to the even neighbour, which is infinity
  CHECK(half(-1e300) == 0xfc00);
  CHECK(half(kInf) == 0x7c00);
  CHECK(half(std::exp2(-25)) == 0x0000);
  CHECK(half(std::nextafter(std::exp2(-25), 1)) == 0x0001);
  CHECK(half(1e-300) == 0x0000);
  CHECK(half(-0.0) == 0x8000);
  CHECK((half(kNan) & 0x7fff) == 0x7e00);
  const double largest = std::ldexp(255.0, 120);
  CHECK(bfloat(largest) == 0x7f7f);
  CHECK(bfloat(std::ldexp(255.5, 120)) == 0x7f80);
  CHECK(bfloat(std::nextafter(std::ldexp(255.5, 120), 0)) == 0x7f7f);
  CHECK(bfloat(std::exp2(-134)) == 0x0000);
  CHECK(bfloat(std::nextafter(std::exp2(-134), 1)) == 0x0001);
  CHECK(bfloat(-0.0) == 0x8000);
  CHECK((bfloat(kNan) & 0x7fff) == 0x7fc0);
}

TEST_CASE("one rounding, not two") {
  // 1 + 2^-11 is half way between two halves and goes to the even one. A little more must go up, although rounding it
  // to f32 first gives exactly the half-way point.
  CHECK(half(1 + std::exp2(-11)) == 0x3c00);
  CHECK(half(1 + std::exp2(-11) + std::exp2(-40)) == 0x3c01);
  CHECK(half(1 + 3 * std::exp2(-11) - std::exp2(-40)) == 0x3c01);
  CHECK(half(std::exp2(-25) + std::exp2(-70)) == 0x0001);
  CHECK(bfloat(1 + std::exp2(-8)) == 0x3f80);
  CHECK(bfloat(1 + std::exp2(-8) + std::exp2(-40)) == 0x3f81);
  // Below f32's normal range: f32 would have fewer bits than are needed to see which way to go.
  CHECK(bfloat(std::exp2(-134) + std::exp2(-160)) == 0x0001);
}

TEST_CASE("half types are computed in f32 and rounded once") {
  // 2049 * 1: not a half, but 2048 + 1 is exact in f32 and rounds to even at the end.
  CHECK(one<std::uint16_t>(DType::f16, DType::f16, std::uint16_t{0x6800}, 1, 1, std::uint16_t{0x3c00}) == 0x6800);
  CHECK(one<std::uint16_t>(DType::f16, DType::f16, std::uint16_t{0x3c00}, 0.1) == half(0.1f));
  CHECK(one<std::uint16_t>(DType::bf16, DType::f16, std::uint16_t{0x3f80}) == 0x3c00);
  CHECK(one<std::uint16_t>(DType::f16, DType::bf16, std::uint16_t{0x3c01}) == 0x3f80);
}

TEST_CASE("interpret() wants every buffer and every factor") {
  const auto program = test::lowered(test::dense("a->a", {3}));
  CHECK_THROWS_AS(ir::interpret(program, {nullptr}, {}), InternalError);
  CHECK_THROWS_AS(ir::interpret(program, {nullptr, nullptr}, {1}), InternalError);
}

}  // namespace ir_interpret_test
