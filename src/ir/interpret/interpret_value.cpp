#include "ir/interpret/interpret_value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ricci::ir::oracle {
namespace {

/// 2^exponent, of a normal double. ldexp and ilogb, which take any number, are most of the time of a half otherwise.
double power_of_2(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

/// Rounds to `precision` bits with exponents from `min_exponent`, nearest even, overflow to infinity.
double round_to(double x, int precision, int min_exponent, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int own = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 2047) - 1023;
  const double quantum = power_of_2(std::max(own, min_exponent) - (precision - 1));
  const double rounded = std::nearbyint(x / quantum) * quantum;
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

double round_half(double x) { return round_to(x, 11, -14, 65504.0); }
double round_bfloat(double x) { return round_to(x, 8, -126, std::ldexp(255.0, 120)); }

/// Rounds a real to what `type` (or its parts, if complex) can hold.
double round_real(double x, DType type) {
  switch (type) {
    case DType::f16:
      return round_half(x);
    case DType::bf16:
      return round_bfloat(x);
    case DType::f32:
    case DType::c64:
      return static_cast<float>(x);
    default:
      return x;
  }
}

double decode_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? fraction * power_of_2(-24) : (1024 + fraction) * power_of_2(exponent - 25));
}

std::uint16_t encode_half(double x) {
  const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  const double magnitude = std::fabs(round_half(x));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < std::ldexp(1.0, -14))
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent)) - 1024u;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10 | fraction);
}

template <class T>
T read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T>
void write(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

}  // namespace

Value load(const void* p, DType type) {
  switch (type) {
    case DType::i8:
      return {static_cast<std::uint64_t>(static_cast<std::int64_t>(read<std::int8_t>(p)))};
    case DType::i16:
      return {static_cast<std::uint64_t>(static_cast<std::int64_t>(read<std::int16_t>(p)))};
    case DType::i32:
      return {static_cast<std::uint64_t>(static_cast<std::int64_t>(read<std::int32_t>(p)))};
    case DType::i64:
    case DType::u64:
      return {read<std::uint64_t>(p)};
    case DType::u8:
      return {read<std::uint8_t>(p)};
    case DType::u16:
      return {read<std::uint16_t>(p)};
    case DType::u32:
      return {read<std::uint32_t>(p)};
    case DType::f16:
      return Value::real(decode_half(read<std::uint16_t>(p)));
    case DType::bf16: {
      const auto bits = static_cast<std::uint32_t>(read<std::uint16_t>(p)) << 16;
      return Value::real(read<float>(&bits));
    }
    case DType::f32:
      return Value::real(read<float>(p));
    case DType::f64:
      return Value::real(read<double>(p));
    case DType::c64:
      return Value::real(read<float>(p), read<float>(static_cast<const char*>(p) + 4));
    case DType::c128:
      return Value::real(read<double>(p), read<double>(static_cast<const char*>(p) + 8));
  }
  return {};
}

void store(void* p, DType type, const Value& value) {
  switch (type) {
    case DType::i8:
    case DType::u8:
      return write(p, static_cast<std::uint8_t>(value.integer));
    case DType::i16:
    case DType::u16:
      return write(p, static_cast<std::uint16_t>(value.integer));
    case DType::i32:
    case DType::u32:
      return write(p, static_cast<std::uint32_t>(value.integer));
    case DType::i64:
    case DType::u64:
      return write(p, value.integer);
    case DType::f16:
      return write(p, encode_half(value.re));
    case DType::bf16: {
      const auto rounded = static_cast<float>(round_bfloat(value.re));
      const auto bits = read<std::uint32_t>(&rounded);
      return write(p, static_cast<std::uint16_t>(std::isnan(rounded) ? (bits >> 16 & 0x8000u) | 0x7fc0u : bits >> 16));
    }
    case DType::f32:
      return write(p, static_cast<float>(value.re));
    case DType::f64:
      return write(p, value.re);
    case DType::c64:
      write(p, static_cast<float>(value.re));
      return write(static_cast<char*>(p) + 4, static_cast<float>(value.im));
    case DType::c128:
      write(p, value.re);
      return write(static_cast<char*>(p) + 8, value.im);
  }
}

namespace {

Value integer(std::uint64_t bits, DType type) { return {wrapped(bits, type)}; }
Value real(double x, DType type) { return Value::real(round_real(x, type)); }

/// The double nearest to an integer, or, where a narrower type rounds it again, one that rounds there as the integer
/// does: truncated bits set the last bit (round to odd).
double to_double(std::uint64_t bits, DType from, DType to) {
  const bool negative = is_signed(from) && static_cast<std::int64_t>(bits) < 0;
  auto magnitude = negative ? 0 - bits : bits;
  const bool narrow = to != DType::f64 && to != DType::c128;
  if (narrow && magnitude >> 53 != 0) magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0 ? 1 : 0)) << 11;
  const auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

/// Sums, products, quotients and roots of f32 values, computed in double and rounded, are the correctly rounded f32
/// results (53 >= 2 * 24 + 2), so one path serves every real type.
Value multiply(const Value& x, const Value& y, DType type) {
  if (is_integer(type)) return integer(x.integer * y.integer, type);
  const auto product = [&](double a, double b) { return round_real(a * b, type); };
  if (!is_complex(type)) return Value::real(product(x.re, y.re));
  return Value::real(round_real(product(x.re, y.re) - product(x.im, y.im), type),
                     round_real(product(x.re, y.im) + product(x.im, y.re), type));
}

Value divide(const Value& x, const Value& y, DType type) {
  if (is_complex(type)) {
    const auto rounded = [&](double value) { return round_real(value, type); };
    const auto square = rounded(rounded(y.re * y.re) + rounded(y.im * y.im));
    return Value::real(rounded(rounded(rounded(x.re * y.re) + rounded(x.im * y.im)) / square),
                       rounded(rounded(rounded(x.im * y.re) - rounded(x.re * y.im)) / square));
  }
  if (!is_integer(type)) return real(x.re / y.re, type);
  if (y.integer == 0) return {};
  if (!is_signed(type)) return integer(x.integer / y.integer, type);
  if (y.integer == ~std::uint64_t{0}) return integer(0 - x.integer, type);  // the smallest by -1 wraps
  return integer(
      static_cast<std::uint64_t>(static_cast<std::int64_t>(x.integer) / static_cast<std::int64_t>(y.integer)), type);
}

Value remainder(const Value& x, const Value& y, DType type) {
  if (y.integer == 0 || y.integer == ~std::uint64_t{0}) {
    if (y.integer == 0 || is_signed(type)) return {};
  }
  if (!is_signed(type)) return integer(x.integer % y.integer, type);
  return integer(
      static_cast<std::uint64_t>(static_cast<std::int64_t>(x.integer) % static_cast<std::int64_t>(y.integer)), type);
}

Value shift(OpCode op, const Value& x, const Value& y, DType type) {
  const auto width = static_cast<std::uint64_t>(8 * size_of(type));
  if (y.integer >= width) return {};  // a negative count is a large one
  if (op == OpCode::shift_left) return integer(x.integer << y.integer, type);
  if (!is_signed(type)) return integer(x.integer >> y.integer, type);
  return integer(static_cast<std::uint64_t>(static_cast<std::int64_t>(x.integer) >> y.integer), type);
}

bool is_less(const Value& x, const Value& y, DType type) {
  if (!is_integer(type)) return x.re < y.re;
  if (!is_signed(type)) return x.integer < y.integer;
  return static_cast<std::int64_t>(x.integer) < static_cast<std::int64_t>(y.integer);
}

bool is_equal(const Value& x, const Value& y, DType type) {
  return is_integer(type) ? x.integer == y.integer : x.re == y.re;
}

Value absolute(const Value& x, DType type) {
  if (!is_integer(type)) return Value::real(std::fabs(x.re));
  return is_less(x, {}, type) ? integer(0 - x.integer, type) : x;
}

Value sign(const Value& x, DType type) {
  const int value = (is_less({}, x, type) ? 1 : 0) - (is_less(x, {}, type) ? 1 : 0);
  if (!is_integer(type)) return Value::real(static_cast<double>(value));
  return integer(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), type);
}

}  // namespace

double function_of(OpCode op, double x, double y) {
  switch (op) {
    case OpCode::sqrt:
      return std::sqrt(x);
    case OpCode::cbrt:
      return std::cbrt(x);
    case OpCode::rsqrt:
      return 1 / std::sqrt(x);
    case OpCode::exp:
      return std::exp(x);
    case OpCode::log:
      return std::log(x);
    case OpCode::log1p:
      return std::log1p(x);
    case OpCode::sin:
      return std::sin(x);
    case OpCode::cos:
      return std::cos(x);
    case OpCode::tan:
      return std::tan(x);
    case OpCode::asin:
      return std::asin(x);
    case OpCode::acos:
      return std::acos(x);
    case OpCode::atan:
      return std::atan(x);
    case OpCode::sinh:
      return std::sinh(x);
    case OpCode::cosh:
      return std::cosh(x);
    case OpCode::tanh:
      return std::tanh(x);
    case OpCode::atan2:
      return std::atan2(x, y);
    case OpCode::hypot:
      return std::hypot(x, y);
    case OpCode::copysign:
      return std::copysign(x, y);
    default:
      return std::pow(x, y);
  }
}

double nearest_tf32(double x) {
  const auto narrow = static_cast<float>(x);
  if (!std::isfinite(narrow)) return narrow;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(narrow) + 0x1000u) & 0xffffe000u);
}

Value value_of(Scalar scalar, DType type) {
  if (is_integer(type)) return integer(static_cast<std::uint64_t>(static_cast<std::int64_t>(scalar.real())), type);
  return Value::real(round_real(scalar.real(), type), round_real(scalar.imag(), type));
}

Value apply(OpCode op, DType type, DType from, const Value& x, const Value& y, const Value& z) {
  const bool whole = is_integer(type);
  switch (op) {
    case OpCode::add:
      if (whole) return integer(x.integer + y.integer, type);
      return Value::real(round_real(x.re + y.re, type), round_real(x.im + y.im, type));
    case OpCode::sub:
      if (whole) return integer(x.integer - y.integer, type);
      return Value::real(round_real(x.re - y.re, type), round_real(x.im - y.im, type));
    case OpCode::mul:
      return multiply(x, y, type);
    case OpCode::scale:
      return is_zero(x, type) ? Value{} : multiply(x, y, type);
    case OpCode::div:
      return divide(x, y, type);
    case OpCode::neg:
      return whole ? integer(0 - x.integer, type) : Value::real(-x.re, -x.im);
    case OpCode::conj:
      return Value::real(x.re, -x.im);
    case OpCode::cast:
      if (whole) return integer(x.integer, type);
      if (is_integer(from)) return real(to_double(x.integer, from, type), type);
      return Value::real(round_real(x.re, type), round_real(x.im, type));
    case OpCode::tf32:
      return Value::real(nearest_tf32(x.re));
    case OpCode::tf32_rest:
      return Value::real(nearest_tf32(round_real(x.re - nearest_tf32(x.re), type)));
    case OpCode::real_part:
      return Value::real(x.re);
    case OpCode::imag_part:
      return Value::real(x.im);
    case OpCode::complex_of:
      return Value::real(x.re, y.re);
    case OpCode::minimum:
      return is_less(y, x, from) ? y : x;
    case OpCode::maximum:
      return is_less(x, y, from) ? y : x;
    case OpCode::absolute:
      return absolute(x, type);
    case OpCode::sign:
      return sign(x, type);
    case OpCode::remainder:
      return whole ? remainder(x, y, type) : real(std::fmod(x.re, y.re), type);
    case OpCode::bit_and:
      return {x.integer & y.integer};
    case OpCode::bit_or:
      return {x.integer | y.integer};
    case OpCode::bit_xor:
      return {x.integer ^ y.integer};
    case OpCode::bit_not:
      return integer(~x.integer, type);
    case OpCode::shift_left:
    case OpCode::shift_right:
      return shift(op, x, y, type);
    case OpCode::popcount: {
      std::uint64_t count = 0;
      for (std::int64_t bit = 0; bit < 8 * size_of(type); ++bit) count += x.integer >> bit & 1;
      return {count};
    }
    case OpCode::equal:
      return {is_equal(x, y, from) ? 1u : 0u};
    case OpCode::not_equal:
      return {is_equal(x, y, from) ? 0u : 1u};
    case OpCode::less:
      return {is_less(x, y, from) ? 1u : 0u};
    case OpCode::less_equal:
      return {is_less(x, y, from) || is_equal(x, y, from) ? 1u : 0u};
    case OpCode::select:
      return holds(x) ? y : z;
    default:
      return real(function_of(op, x.re, y.re), type);
  }
}

namespace {

/// Calls `each` with the rounding of a real type, which is then a part of its loops.
template <class Each>
auto with_rounding(DType type, const Each& each) {
  switch (type) {
    case DType::f32:
      return each([](double x) { return static_cast<double>(static_cast<float>(x)); });
    case DType::f64:
      return each([](double x) { return x; });
    default:
      return each([type](double x) { return round_real(x, type); });
  }
}

}  // namespace

void apply(OpCode op, DType type, DType from, std::span<const Value* const> operands, std::size_t count,
           Value* results) {
  const Value none;
  if (op == OpCode::mul && !is_integer(type) && !is_complex(type)) {
    return with_rounding(type, [&](const auto& rounded) {
      for (std::size_t k = 0; k < count; ++k) results[k] = Value::real(rounded(operands[0][k].re * operands[1][k].re));
    });
  }
  for (std::size_t k = 0; k < count; ++k) {
    results[k] = apply(op, type, from, operands[0][k], operands.size() > 1 ? operands[1][k] : none,
                       operands.size() > 2 ? operands[2][k] : none);
  }
}

Value combined(OpCode op, DType type, Value total, const Value* terms, std::size_t count) {
  if (op == OpCode::add && !is_integer(type)) {
    return with_rounding(type, [&](const auto& rounded) {
      for (std::size_t k = 0; k < count; ++k)
        total = Value::real(rounded(total.re + terms[k].re), rounded(total.im + terms[k].im));
      return total;
    });
  }
  for (std::size_t k = 0; k < count; ++k) total = apply(op, type, type, total, terms[k], {});
  return total;
}

Value identity_of(OpCode op, DType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto largest = is_integer(type) ? ~std::uint64_t{0} >> (64 - 8 * size_of(type) + (is_signed(type) ? 1 : 0)) : 0;
  switch (op) {
    case OpCode::mul:
      return is_integer(type) ? Value{1} : Value::real(1);
    case OpCode::minimum:
      return is_integer(type) ? Value{largest} : Value::real(kInfinity);
    case OpCode::maximum:
      return is_integer(type) ? integer(is_signed(type) ? ~largest : 0, type) : Value::real(-kInfinity);
    case OpCode::bit_and:
      return integer(~std::uint64_t{0}, type);
    default:
      return {};
  }
}

}  // namespace ricci::ir::oracle
