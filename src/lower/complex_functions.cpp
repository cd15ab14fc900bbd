#include "lower/complex_functions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "ir/types.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

using ir::NodeId;
using ir::OpCode;

/// A complex number by its parts, as nodes.
struct Parts {
  NodeId re, im;
};

class Functions {
 public:
  Functions(ir::Builder& builder, DType type)
      : b_(builder),
        type_(type),
        real_(part_type(type)),
        digits_(type == DType::c128 ? 53 : 24),
        exponents_(type == DType::c128 ? Exponents{-1022, 1023} : Exponents{-126, 127}) {}

  Parts parts(NodeId z) {
    const auto& node = b_.node(z);
    if (node.kind == ir::NodeKind::op && node.op == OpCode::complex_of) return {node.operand[0], node.operand[1]};
    return {b_.op(OpCode::real_part, real_, z), b_.op(OpCode::imag_part, real_, z)};
  }
  NodeId whole(Parts z) { return b_.op(OpCode::complex_of, type_, z.re, z.im); }

  NodeId absolute(Parts z) { return op(OpCode::hypot, z.re, z.im); }
  Parts exp(Parts z) {
    const auto size = op(OpCode::exp, z.re);
    return {mul(size, op(OpCode::cos, z.im)), mul(size, op(OpCode::sin, z.im))};
  }
  /// Near |z| = 1 from |z|^2 - 1, of which no digit is lost; elsewhere from |z| times what keeps it in range.
  Parts log(Parts z) {
    const auto x = op(OpCode::absolute, z.re), y = op(OpCode::absolute, z.im);
    const auto large = op(OpCode::maximum, x, y), small = op(OpCode::minimum, x, y);
    const auto above = mul(sub(large, constant(1)), add(large, constant(1)));
    const auto near = mul(constant(0.5), op(OpCode::log1p, add(above, mul(small, small))));
    const auto size = absolute(z);
    const auto is_near = both(less(constant(0.7), size), less(size, constant(1.5)));
    const auto factor = scale(x, y, std::ldexp(1, 2 * digits_), 0.25, 1);
    const auto log_factor = scale(x, y, 2 * digits_ * std::numbers::ln2, -2 * std::numbers::ln2, 0);
    const auto far = sub(op(OpCode::log, absolute({mul(factor, x), mul(factor, y)})), log_factor);
    return {select(is_near, near, far), op(OpCode::atan2, z.im, z.re)};
  }
  Parts sin(Parts z) {
    return {mul(op(OpCode::sin, z.re), op(OpCode::cosh, z.im)), mul(op(OpCode::cos, z.re), op(OpCode::sinh, z.im))};
  }
  Parts cos(Parts z) {
    return {mul(op(OpCode::cos, z.re), op(OpCode::cosh, z.im)),
            op(OpCode::neg, mul(op(OpCode::sin, z.re), op(OpCode::sinh, z.im)))};
  }
  Parts sinh(Parts z) {
    return {mul(op(OpCode::sinh, z.re), op(OpCode::cos, z.im)), mul(op(OpCode::cosh, z.re), op(OpCode::sin, z.im))};
  }
  Parts cosh(Parts z) {
    return {mul(op(OpCode::cosh, z.re), op(OpCode::cos, z.im)), mul(op(OpCode::sinh, z.re), op(OpCode::sin, z.im))};
  }
  /// With t = tanh x and T = tan y: (t (1 + T^2) + i T / cosh^2 x) / (1 + t^2 T^2), where nothing overflows but what is
  /// 0 then.
  Parts tanh(Parts z) {
    const auto t = op(OpCode::tanh, z.re), tangent = op(OpCode::tan, z.im), square = mul(tangent, tangent);
    const auto secant = op(OpCode::div, constant(1), op(OpCode::cosh, z.re));
    const auto below = op(OpCode::add, constant(1), mul(mul(t, t), square));
    return {op(OpCode::div, mul(t, op(OpCode::add, constant(1), square)), below),
            op(OpCode::div, mul(tangent, mul(secant, secant)), below)};
  }
  /// tan z = -i tanh iz.
  Parts tan(Parts z) {
    const auto turned = tanh({op(OpCode::neg, z.im), z.re});
    return {turned.im, op(OpCode::neg, turned.re)};
  }
  /// The larger part from |z| and |x|, the smaller one from it: no difference of what is nearly equal.
  Parts sqrt(Parts z) {
    const auto x = op(OpCode::absolute, z.re), y = op(OpCode::absolute, z.im);
    const auto factor = scale(x, y, std::ldexp(1, 2 * digits_ + 1), 0.125, 0.5);
    const auto back = scale(x, y, std::ldexp(1, -digits_ - 1), 2, 1);
    const auto scaled = mul(factor, x);
    const auto sum = add(scaled, absolute({scaled, mul(factor, y)}));
    const auto endless = equal(y, constant(kInfinity)), none = both(equal(x, constant(0)), equal(y, constant(0)));
    const auto large = select(endless, y, mul(back, op(OpCode::sqrt, sum)));
    const auto small = select(either(endless, none), y, div(y, add(large, large)));
    const auto left = less(z.re, constant(0));
    return {select(left, small, large), copysign(select(left, large, small), z.im)};
  }
  /// By Kahan ("Branch cuts for complex elementary functions", 1987), from the roots of 1 - z and 1 + z, with which
  /// nothing cancels; far out, where these overflow, from log 2|z|.
  Parts asin(Parts z) {
    const auto a = sqrt({sub(constant(1), z.re), op(OpCode::neg, z.im)}), b = sqrt({add(constant(1), z.re), z.im});
    const auto far = is_far(z);
    const auto beside = sub(mul(a.re, b.re), mul(a.im, b.im)), height = sub(mul(a.re, b.im), mul(a.im, b.re));
    const auto re = op(OpCode::atan2, z.re, select(far, op(OpCode::absolute, z.im), beside));
    return {select(equal(z.re, constant(0)), z.re, re), copysign(select(far, log_of_twice(z), asinh(height)), z.im)};
  }
  Parts acos(Parts z) {
    const auto a = sqrt({sub(constant(1), z.re), op(OpCode::neg, z.im)}), b = sqrt({add(constant(1), z.re), z.im});
    const auto far = is_far(z);
    const auto near = mul(constant(2), op(OpCode::atan2, a.re, b.re));
    const auto re = select(far, op(OpCode::atan2, op(OpCode::absolute, z.im), z.re), near);
    const auto im = select(far, log_of_twice(z), asinh(sub(mul(b.im, a.re), mul(b.re, a.im))));
    return {select(equal(z.re, constant(0)), constant(std::numbers::pi / 2), re), op(OpCode::neg, copysign(im, z.im))};
  }
  /// From the angle of 1 - |z|^2 + 2ix, and log(|z + i|^2 / |z - i|^2) as a log1p, so that small ones keep their
  /// digits.
  Parts atan(Parts z) {
    const auto x = op(OpCode::absolute, z.re), y = op(OpCode::absolute, z.im), one = constant(1);
    const auto far = is_far(z);
    const auto above = sub(mul(sub(one, y), add(one, y)), mul(z.re, z.re));
    const auto near_re = mul(constant(0.5), op(OpCode::atan2, add(z.re, z.re), above));
    const auto known = either(equal(x, constant(kInfinity)), same(z, z));
    const auto far_re = select(known, copysign(constant(std::numbers::pi / 2), z.re), add(z.re, z.im));
    // Beside i, where |z - i|^2 would underflow, its logarithm is 2 log x.
    const auto pole = both(equal(y, one), less(x, constant(std::ldexp(1, exponents_.min / 4))));
    const auto pole_im = mul(constant(0.5), sub(constant(std::numbers::ln2), op(OpCode::log, x)));
    const auto below = add(mul(sub(one, y), sub(one, y)), mul(x, x));
    const auto near_im = mul(constant(0.25), op(OpCode::log1p, div(mul(constant(4), y), below)));
    const auto half = absolute({mul(constant(0.5), x), mul(constant(0.5), y)});
    const auto infinite = either(equal(x, constant(kInfinity)), equal(y, constant(kInfinity)));
    const auto far_im = select(infinite, constant(0), div(div(mul(constant(0.25), y), half), half));
    const auto im = select(far, far_im, select(pole, pole_im, near_im));
    return {select(far, far_re, near_re), select(equal(z.im, constant(0)), z.im, copysign(im, z.im))};
  }
  /// By its angle: the root with the largest real part.
  Parts cbrt(Parts z) {
    const auto x = op(OpCode::absolute, z.re), y = op(OpCode::absolute, z.im);
    const auto factor = scale(x, y, std::ldexp(1, 3 * digits_), 0.125, 1);
    const auto back = scale(x, y, std::ldexp(1, -digits_), 2, 1);
    const auto size = mul(back, op(OpCode::cbrt, absolute({mul(factor, x), mul(factor, y)})));
    const auto angle = div(op(OpCode::atan2, z.im, z.re), constant(3));
    // Small angles may underflow where their products with the size do not.
    const auto small = less(op(OpCode::absolute, angle), constant(std::ldexp(1, -digits_)));
    const auto product = div(mul(div(size, x), z.im), constant(3));
    const auto end = both(equal(angle, constant(0)), either(equal(x, constant(0)), equal(x, constant(kInfinity))));
    const auto im = select(end, angle, select(small, product, mul(size, op(OpCode::sin, angle))));
    return {mul(size, op(OpCode::cos, angle)), im};
  }
  Parts quotient_of_one(Parts z) { return parts(b_.op(OpCode::div, type_, b_.constant(1, type_), whole(z))); }
  /// exp(w log z); 0 to any power is 0, to 0 it is 1.
  Parts pow(Parts z, Parts w) {
    const auto zero = constant(0);
    const auto power = exp(parts(b_.op(OpCode::mul, type_, whole(w), whole(log(z)))));
    const auto is_zero = [&](Parts x) { return same(x, {zero, zero}); };
    const auto of_zero = select(is_zero(w), constant(1), zero);
    const auto base = is_zero(z);
    return {select(base, of_zero, power.re), select(base, zero, power.im)};
  }
  NodeId same(Parts z, Parts w) { return both(equal(z.re, w.re), equal(z.im, w.im)); }
  NodeId differ(Parts z, Parts w) { return either(differ(z.re, w.re), differ(z.im, w.im)); }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  NodeId constant(double value) { return b_.constant(value, real_); }
  NodeId op(OpCode code, NodeId x, NodeId y = -1, NodeId z = -1) { return b_.op(code, real_, x, y, z); }
  NodeId add(NodeId x, NodeId y) { return op(OpCode::add, x, y); }
  NodeId sub(NodeId x, NodeId y) { return op(OpCode::sub, x, y); }
  NodeId mul(NodeId x, NodeId y) { return op(OpCode::mul, x, y); }
  NodeId div(NodeId x, NodeId y) { return op(OpCode::div, x, y); }
  NodeId copysign(NodeId size, NodeId sign) { return op(OpCode::copysign, size, sign); }
  NodeId select(NodeId condition, NodeId x, NodeId y) { return op(OpCode::select, condition, x, y); }
  NodeId less(NodeId x, NodeId y) { return b_.op(OpCode::less, DType::u8, x, y); }
  NodeId equal(NodeId x, NodeId y) { return b_.op(OpCode::equal, DType::u8, x, y); }
  NodeId differ(NodeId x, NodeId y) { return b_.op(OpCode::not_equal, DType::u8, x, y); }
  NodeId both(NodeId p, NodeId q) { return b_.op(OpCode::bit_and, DType::u8, p, q); }
  NodeId either(NodeId p, NodeId q) { return b_.op(OpCode::bit_or, DType::u8, p, q); }

  /// `tiny` where what is computed of parts x, y >= 0 would lose digits or vanish, `huge` where it would overflow.
  NodeId scale(NodeId x, NodeId y, double tiny, double huge, double otherwise) {
    const auto least = constant(std::ldexp(1, exponents_.min + 3 * digits_));
    const auto most = constant(std::ldexp(1, exponents_.max - 3));
    const auto is_huge = either(less(most, x), less(most, y)), is_tiny = both(less(x, least), less(y, least));
    return select(is_huge, constant(huge), select(is_tiny, constant(tiny), constant(otherwise)));
  }
  /// Squares of larger ones overflow, and 1 is nothing beside them.
  NodeId is_far(Parts z) {
    const auto limit = constant(std::ldexp(1, exponents_.max / 2 - 4));
    return either(less(limit, op(OpCode::absolute, z.re)), less(limit, op(OpCode::absolute, z.im)));
  }
  NodeId log_of_twice(Parts z) {
    const auto half = constant(0.5);
    return add(op(OpCode::log, absolute({mul(half, z.re), mul(half, z.im)})), constant(2 * std::numbers::ln2));
  }
  /// Of |t| < 2^(exponents / 2).
  NodeId asinh(NodeId t) {
    const auto size = op(OpCode::absolute, t), square = mul(size, size);
    const auto root = op(OpCode::sqrt, add(constant(1), square));
    return copysign(op(OpCode::log1p, add(size, div(square, add(constant(1), root)))), t);
  }

  struct Exponents {
    int min, max;  ///< of 2, for normal numbers
  };
  ir::Builder& b_;
  DType type_, real_;
  int digits_;  ///< of a number, in bits
  Exponents exponents_;
};

}  // namespace

bool has_complex_function(OpCode op) noexcept {
  switch (op) {
    case OpCode::absolute:
    case OpCode::sqrt:
    case OpCode::cbrt:
    case OpCode::rsqrt:
    case OpCode::exp:
    case OpCode::log:
    case OpCode::sin:
    case OpCode::cos:
    case OpCode::tan:
    case OpCode::asin:
    case OpCode::acos:
    case OpCode::atan:
    case OpCode::sinh:
    case OpCode::cosh:
    case OpCode::tanh:
    case OpCode::pow:
    case OpCode::equal:
    case OpCode::not_equal:
      return true;
    default:
      return false;
  }
}

NodeId complex_function(ir::Builder& builder, OpCode op, NodeId z, NodeId w) {
  Functions f(builder, builder.node(z).type);
  const auto parts = f.parts(z);
  switch (op) {
    case OpCode::absolute:
      return f.absolute(parts);
    case OpCode::sqrt:
      return f.whole(f.sqrt(parts));
    case OpCode::cbrt:
      return f.whole(f.cbrt(parts));
    case OpCode::rsqrt:
      return f.whole(f.quotient_of_one(f.sqrt(parts)));
    case OpCode::exp:
      return f.whole(f.exp(parts));
    case OpCode::log:
      return f.whole(f.log(parts));
    case OpCode::sin:
      return f.whole(f.sin(parts));
    case OpCode::cos:
      return f.whole(f.cos(parts));
    case OpCode::tan:
      return f.whole(f.tan(parts));
    case OpCode::asin:
      return f.whole(f.asin(parts));
    case OpCode::acos:
      return f.whole(f.acos(parts));
    case OpCode::atan:
      return f.whole(f.atan(parts));
    case OpCode::sinh:
      return f.whole(f.sinh(parts));
    case OpCode::cosh:
      return f.whole(f.cosh(parts));
    case OpCode::tanh:
      return f.whole(f.tanh(parts));
    case OpCode::pow:
      return f.whole(f.pow(parts, f.parts(w)));
    case OpCode::equal:
      return f.same(parts, f.parts(w));
    case OpCode::not_equal:
      return f.differ(parts, f.parts(w));
    default:
      throw InternalError("a function that complex numbers have not");
  }
}

}  // namespace ricci::formula
