// Every operation of the interpreter against values worked out by hand, or the processor's own arithmetic where that is
// defined to be the same.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "catch.hpp"
#include "evaluate.hpp"
#include "ir/passes/canonical.hpp"
#include "ricci/error.hpp"

namespace ir_operations_test {

using namespace ricci;
using ir::OpCode;
using test::apply;

namespace {

using i8 = std::int8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
u64 bits(T value) {
  u64 result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

/// The bits of `value` cast to a half type.
template <class From>
u16 half(DType type, From value) {
  ir::Builder b;
  b.program.buffers = {{"in", test::dtype_of<From>(), false, 0, 0, sizeof value}, {"out", type, true, 0, 0, 2}};
  b.store(1, {}, b.cast(b.load(0, {}), type));
  u16 result = 0;
  ir::interpret(b.finish(), {&value, &result}, {});
  return result;
}

}  // namespace

TEST_CASE("integers wrap, divide towards zero, and divide by zero to zero") {
  CHECK(apply<i8>(OpCode::add, i8{127}, i8{1}) == -128);
  CHECK(apply<u8>(OpCode::sub, u8{1}, u8{2}) == 255);
  CHECK(apply<i32>(OpCode::neg, std::numeric_limits<i32>::min()) == std::numeric_limits<i32>::min());
  CHECK(apply<u32>(OpCode::neg, 1u) == 0xffffffffu);
  CHECK(apply<i32>(OpCode::div, -7, 2) == -3);
  CHECK(apply<i32>(OpCode::div, 7, -2) == -3);
  CHECK(apply<u8>(OpCode::div, u8{200}, u8{7}) == 28);
  CHECK(apply<u64>(OpCode::div, ~u64{0}, ~u64{0}) == 1);
  CHECK(apply<i32>(OpCode::div, 7, 0) == 0);
  CHECK(apply<i64>(OpCode::div, std::numeric_limits<i64>::min(), i64{-1}) == std::numeric_limits<i64>::min());
  CHECK(apply<i32>(OpCode::remainder, -7, 2) == -1);
  CHECK(apply<i32>(OpCode::remainder, 7, -2) == 1);
  CHECK(apply<i32>(OpCode::remainder, 7, 0) == 0);
  CHECK(apply<i32>(OpCode::remainder, 7, -1) == 0);
  CHECK(apply<i64>(OpCode::remainder, std::numeric_limits<i64>::min(), i64{-1}) == 0);
  CHECK(apply<u64>(OpCode::remainder, u64{5}, ~u64{0}) == 5);
}

TEST_CASE("bits and shifts") {
  CHECK(apply<u8>(OpCode::bit_and, u8{0b1100}, u8{0b1010}) == 0b1000);
  CHECK(apply<i8>(OpCode::bit_or, i8{-128}, i8{1}) == -127);
  CHECK(apply<u64>(OpCode::bit_xor, ~u64{0}, u64{1}) == ~u64{1});
  CHECK(apply<u8>(OpCode::bit_not, u8{0}) == 255);
  CHECK(apply<i8>(OpCode::bit_not, i8{0}) == -1);
  CHECK(apply<u8>(OpCode::shift_left, u8{1}, u8{7}) == 128);
  CHECK(apply<i8>(OpCode::shift_left, i8{1}, i8{7}) == -128);
  CHECK(apply<u8>(OpCode::shift_left, u8{1}, u8{8}) == 0);
  CHECK(apply<u64>(OpCode::shift_left, u64{1}, u64{63}) == u64{1} << 63);
  CHECK(apply<i64>(OpCode::shift_left, i64{1}, i64{64}) == 0);
  CHECK(apply<i8>(OpCode::shift_right, i8{-128}, i8{7}) == -1);
  CHECK(apply<i8>(OpCode::shift_right, i8{-128}, i8{8}) == 0);
  CHECK(apply<u8>(OpCode::shift_right, u8{128}, u8{7}) == 1);
  CHECK(apply<i32>(OpCode::shift_right, 1, -1) == 0);
  CHECK(apply<i8>(OpCode::popcount, i8{-1}) == 8);
  CHECK(apply<u64>(OpCode::popcount, ~u64{0}) == 64);
  CHECK(apply<u32>(OpCode::popcount, 0x80000001u) == 2);
}

TEST_CASE("order and equality: signed, unsigned, and NaN") {
  CHECK(apply<i8>(OpCode::minimum, i8{-1}, i8{1}) == -1);
  CHECK(apply<u8>(OpCode::minimum, u8{255}, u8{1}) == 1);
  CHECK(apply<i64>(OpCode::maximum, i64{-1}, i64{1}) == 1);
  CHECK(apply<u64>(OpCode::maximum, ~u64{0}, u64{1}) == ~u64{0});
  CHECK(std::isnan(apply<double>(OpCode::minimum, kNan, 1.0)));  // y < x ? y : x
  CHECK(apply<double>(OpCode::minimum, 1.0, kNan) == 1.0);
  CHECK(std::isnan(apply<double>(OpCode::maximum, kNan, 1.0)));
  CHECK(apply<double>(OpCode::maximum, 1.0, kNan) == 1.0);
  CHECK(std::signbit(apply<double>(OpCode::minimum, -0.0, 0.0)));
  CHECK_FALSE(std::signbit(apply<double>(OpCode::minimum, 0.0, -0.0)));
  CHECK(apply<u8>(OpCode::less, i8{-1}, i8{0}) == 1);
  CHECK(apply<u8>(OpCode::less, u8{255}, u8{0}) == 0);
  CHECK(apply<u8>(OpCode::less, 1.0, 1.0) == 0);
  CHECK(apply<u8>(OpCode::less_equal, 1.0, 1.0) == 1);
  CHECK(apply<u8>(OpCode::less_equal, kNan, 1.0) == 0);
  CHECK(apply<u8>(OpCode::equal, kNan, kNan) == 0);
  CHECK(apply<u8>(OpCode::not_equal, kNan, kNan) == 1);
  CHECK(apply<u8>(OpCode::equal, 0.0, -0.0) == 1);
  CHECK(apply<u8>(OpCode::not_equal, i64{1} << 62, (i64{1} << 62) + 1) == 1);
  CHECK(apply<float>(OpCode::select, u8{0}, 1.0f, 2.0f) == 2.0f);
  CHECK(apply<float>(OpCode::select, u8{7}, 1.0f, 2.0f) == 1.0f);
  CHECK(apply<i32>(OpCode::absolute, -5) == 5);
  CHECK(apply<i8>(OpCode::absolute, i8{-128}) == -128);
  CHECK(apply<u8>(OpCode::absolute, u8{200}) == 200);
  CHECK_FALSE(std::signbit(apply<double>(OpCode::absolute, -0.0)));
  CHECK(apply<i32>(OpCode::sign, -5) == -1);
  CHECK(apply<u8>(OpCode::sign, u8{200}) == 1);
  CHECK(apply<double>(OpCode::sign, -kInf) == -1);
  CHECK(apply<double>(OpCode::sign, 0.0) == 0);
  CHECK(apply<double>(OpCode::sign, kNan) == 0);
}

TEST_CASE("floats are the processor's, each operation rounded once") {
  std::mt19937_64 random(1);
  const auto any = [&] {
    // Exponents over most of the range, so that results over- and underflow too.
    const auto exponent = static_cast<int>(random() % 240) - 120;
    return static_cast<float>(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 + 0.5, exponent));
  };
  for (int k = 0; k < 2000; ++k) {
    const float x = any(), y = random() % 2 == 0 ? any() : -any();
    CHECK(bits(apply<float>(OpCode::add, x, y)) == bits(x + y));
    CHECK(bits(apply<float>(OpCode::sub, x, y)) == bits(x - y));
    CHECK(bits(apply<float>(OpCode::mul, x, y)) == bits(x * y));
    CHECK(bits(apply<float>(OpCode::div, x, y)) == bits(x / y));
    CHECK(bits(apply<float>(OpCode::sqrt, x)) == bits(std::sqrt(x)));
    const double a = static_cast<double>(x) * 1.1, c = static_cast<double>(y) * 1.3;
    CHECK(bits(apply<double>(OpCode::div, a, c)) == bits(a / c));
    CHECK(bits(apply<double>(OpCode::mul, a, c)) == bits(a * c));
  }
}

TEST_CASE("complex numbers") {
  CHECK(apply<c128>(OpCode::add, c128(1, 2), c128(3, -4)) == c128(4, -2));
  CHECK(apply<c128>(OpCode::sub, c128(1, 2), c128(3, -4)) == c128(-2, 6));
  CHECK(apply<c64>(OpCode::mul, c64(1, 2), c64(3, -4)) == c64(11, 2));
  CHECK(apply<c128>(OpCode::div, c128(-1, 7), c128(3, 4)) == c128(1, 1));
  CHECK(apply<c64>(OpCode::div, c64(5, 0), c64(0, 2)) == c64(0, -2.5f));
  CHECK(apply<c128>(OpCode::neg, c128(1, -2)) == c128(-1, 2));
  CHECK(apply<c128>(OpCode::conj, c128(1, -2)) == c128(1, 2));
  CHECK(apply<c128>(OpCode::cast, 2.5f) == c128(2.5, 0));
  CHECK(apply<c128>(OpCode::cast, i64{-3}) == c128(-3, 0));
  // |y|^2 by parts: no scaling, so this is what overflow gives.
  CHECK(apply<c128>(OpCode::div, c128(1, 0), c128(1e200, 1e200)) == c128(0, 0));
}

TEST_CASE("functions are the C library's") {
  const auto check = [](OpCode op, double (*function)(double), double x) {
    CHECK(bits(apply<double>(op, x)) == bits(function(x)));
    const auto narrow = static_cast<float>(x);
    CHECK(bits(apply<float>(op, narrow)) == bits(static_cast<float>(function(static_cast<double>(narrow)))));
  };
  for (const double x : {0.1, 0.37, 0.99}) {
    check(OpCode::sqrt, std::sqrt, x);
    check(OpCode::cbrt, std::cbrt, x);
    check(OpCode::exp, std::exp, x);
    check(OpCode::log, std::log, x);
    check(OpCode::sin, std::sin, x);
    check(OpCode::cos, std::cos, x);
    check(OpCode::tan, std::tan, x);
    check(OpCode::asin, std::asin, x);
    check(OpCode::acos, std::acos, x);
    check(OpCode::atan, std::atan, x);
    check(OpCode::sinh, std::sinh, x);
    check(OpCode::cosh, std::cosh, x);
    check(OpCode::tanh, std::tanh, x);
    CHECK(apply<double>(OpCode::pow, x, 2.5) == std::pow(x, 2.5));
    CHECK(apply<float>(OpCode::pow, 3.0f, 4.0f) == 81.0f);
  }
  CHECK(apply<double>(OpCode::rsqrt, 16.0) == 0.25);
  CHECK(std::isnan(apply<double>(OpCode::log, -1.0)));
}

TEST_CASE("casts round once") {
  CHECK(apply<u8>(OpCode::cast, i64{-1}) == 255);
  CHECK(apply<i8>(OpCode::cast, u8{200}) == -56);
  CHECK(apply<i64>(OpCode::cast, i8{-1}) == -1);
  CHECK(apply<u64>(OpCode::cast, i8{-1}) == ~u64{0});
  CHECK(apply<float>(OpCode::cast, i32{(1 << 24) + 1}) == 0x1p24f);
  CHECK(apply<float>(OpCode::cast, i32{(1 << 24) + 3}) == 0x1.000004p24f);
  CHECK(apply<double>(OpCode::cast, ~u64{0}) == 0x1p64);
  CHECK(apply<double>(OpCode::cast, (i64{1} << 53) + 1) == 0x1p53);
  // Just above a tie of f32: by way of double it would be the tie, and go down to even.
  const i64 above = (i64{1} << 60) + (i64{1} << 36) + 1;
  CHECK(apply<float>(OpCode::cast, above) == 0x1.000002p60f);
  CHECK(apply<float>(OpCode::cast, -above) == -0x1.000002p60f);
  CHECK(apply<float>(OpCode::cast, above - 1) == 0x1p60f);
  CHECK(half(DType::f16, 65519) == 0x7bff);
  CHECK(half(DType::f16, 65520) == 0x7c00);
  CHECK(half(DType::f16, i64{-3}) == 0xc200);
  CHECK(half(DType::bf16, (i64{1} << 60) + (i64{1} << 52) + 1) == 0x5d81);
  CHECK(half(DType::bf16, (i64{1} << 60) + (i64{1} << 52)) == 0x5d80);
}

TEST_CASE("integer constants are exact to 64 bits") {
  struct Row {
    DType type;
    u64 bits;
    const char* text;
  };
  constexpr u64 kPast = (u64{1} << 53) + 1;  // the first that no double holds
  const Row rows[] = {
      {DType::i64, kPast, "out[0] = i64(9007199254740993)\n"},
      {DType::i64, u64{1} << 63, "out[0] = i64(-9223372036854775808)\n"},
      {DType::i64, ~u64{0} >> 1, "out[0] = i64(9223372036854775807)\n"},
      {DType::u64, kPast, "out[0] = u64(9007199254740993)\n"},
      {DType::u64, ~u64{0}, "out[0] = u64(18446744073709551615)\n"},
      {DType::i32, ~u64{0} << 31, "out[0] = i32(-2147483648)\n"},
      {DType::u8, u64{255}, "out[0] = u8(255)\n"},
  };
  for (const auto& row : rows) {
    ir::Builder b;
    b.program.buffers = {{"out", row.type, true, 0, 0, size_of(row.type)}};
    const auto constant = b.integer(row.bits, row.type);
    CHECK(b.constant(b.node(constant)) == constant);
    b.store(0, {}, constant);
    const auto program = b.finish();
    const auto text = ir::print(program);
    INFO(text);
    CHECK(text.ends_with(row.text));
    CHECK(ir::print(ir::canonicalise(program)).find(std::string(row.text).substr(6)) != std::string::npos);
    u64 out = 0;
    ir::interpret(program, {&out}, {});
    CHECK(wrapped(out, row.type) == row.bits);
  }
  // Neighbours that one double would stand for are two nodes.
  ir::Builder b;
  CHECK(b.integer(kPast, DType::i64) != b.integer(kPast - 1, DType::i64));
  CHECK(b.constant(-6, DType::i16) == b.integer(~u64{5}, DType::i16));
  CHECK_THROWS_AS(b.constant(0.5, DType::i32), InternalError);
  CHECK_THROWS_AS(b.constant(0x1p54, DType::i64), InternalError);
  CHECK_THROWS_AS(b.constant({1, 1}, DType::i64), InternalError);
}

TEST_CASE("constants of integers wrap when they are cast") {
  struct Row {
    DType from;
    u64 bits;
    DType to;
    u64 wanted;
  };
  const Row rows[] = {
      {DType::i16, ~u64{5}, DType::u16, 65530},
      {DType::i64, ~u64{0}, DType::u64, ~u64{0}},
      {DType::u64, ~u64{0}, DType::i64, ~u64{0}},
      {DType::i8, ~u64{0}, DType::u32, 0xffffffff},
      {DType::u8, u64{200}, DType::i8, ~u64{55}},
      {DType::i64, (u64{1} << 53) + 1, DType::u64, (u64{1} << 53) + 1},
      {DType::i32, ~u64{0} << 31, DType::i64, ~u64{0} << 31},
      {DType::u64, u64{0x1234}, DType::u8, u64{0x34}},
  };
  for (const bool exact : {true, false}) {
    for (const auto& row : rows) {
      INFO(name(row.from) << " " << row.bits << " to " << name(row.to));
      ir::Builder b;
      b.program.exact = exact;
      const auto& made = b.node(b.cast(b.integer(row.bits, row.from), row.to));
      CHECK(made.kind == ir::NodeKind::constant);
      CHECK(made.type == row.to);
      CHECK(made.integer == row.wanted);
    }
  }
}

TEST_CASE("what no terms give, and what identity() says of it") {
  constexpr OpCode kOps[] = {OpCode::add,     OpCode::mul,    OpCode::minimum, OpCode::maximum,
                             OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor};
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    if (type == DType::f16 || type == DType::bf16) continue;
    for (const auto op : kOps) {
      REQUIRE(ir::associates(op));
      const bool ordered = op == OpCode::minimum || op == OpCode::maximum;
      const bool bitwise = op == OpCode::bit_and || op == OpCode::bit_or || op == OpCode::bit_xor;
      if ((ordered && is_complex(type)) || (bitwise && !is_integer(type))) continue;
      auto b = test::builder(type, {{"k", 0}}, {1, 1});
      b.store(1, {{0}, 0}, b.reduce(op, b.load(0, {{0}, 0}), {0}));
      unsigned char in[16] = {}, out[16] = {};
      ir::interpret(b.finish(), {in, out}, {});
      INFO(name(type) << " operation " << static_cast<int>(op));
      unsigned char expected[16] = {};
      const double real = ir::identity(op, type);
      const auto whole = ir::identity_bits(op, type);
      const auto narrow = static_cast<float>(real);
      if (is_integer(type)) std::memcpy(expected, &whole, static_cast<std::size_t>(size_of(type)));
      if (type == DType::f32 || type == DType::c64) std::memcpy(expected, &narrow, sizeof narrow);
      if (type == DType::f64 || type == DType::c128) std::memcpy(expected, &real, sizeof real);
      CHECK(std::memcmp(out, expected, 16) == 0);
      const auto constant = ir::identity_constant(op, type);
      CHECK(constant.type == type);
      CHECK(constant.integer == (is_integer(type) ? whole : 0));
      CHECK(constant.value == Scalar(is_integer(type) ? 0 : real));
    }
  }
  CHECK_FALSE(ir::associates(OpCode::sub));
  CHECK(ir::identity(OpCode::minimum, DType::i8) == 127);
  CHECK(ir::identity(OpCode::maximum, DType::i8) == -128);
  CHECK(ir::identity(OpCode::minimum, DType::u16) == 65535);
  CHECK(ir::identity(OpCode::maximum, DType::f32) == -kInf);
}

}  // namespace ir_operations_test
