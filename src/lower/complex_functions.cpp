#include "lower/complex_functions.hpp"

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
      : b_(builder), type_(type), real_(type == DType::c128 ? DType::f64 : DType::f32) {}

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
  Parts log(Parts z) { return {op(OpCode::log, absolute(z)), op(OpCode::atan2, z.im, z.re)}; }
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
    const auto half = constant(0.5), zero = constant(0);
    const auto large = op(OpCode::sqrt, op(OpCode::add, mul(half, absolute(z)), mul(half, op(OpCode::absolute, z.re))));
    const auto none = truth(OpCode::equal, large, zero);
    const auto small = op(OpCode::select, none, zero, op(OpCode::div, mul(half, z.im), large));
    const auto right = truth(OpCode::less_equal, zero, z.re);
    const auto signed_large = op(OpCode::select, truth(OpCode::less, z.im, zero), op(OpCode::neg, large), large);
    return {op(OpCode::select, right, large, op(OpCode::absolute, small)),
            op(OpCode::select, right, small, signed_large)};
  }
  Parts quotient_of_one(Parts z) { return parts(b_.op(OpCode::div, type_, b_.constant(1, type_), whole(z))); }
  /// exp(w log z); 0 to any power is 0, to 0 it is 1.
  Parts pow(Parts z, Parts w) {
    const auto zero = constant(0);
    const auto power = exp(parts(b_.op(OpCode::mul, type_, whole(w), whole(log(z)))));
    const auto is_zero = [&](Parts x) {
      return b_.op(OpCode::bit_and, DType::u8, truth(OpCode::equal, x.re, zero), truth(OpCode::equal, x.im, zero));
    };
    const auto of_zero = op(OpCode::select, is_zero(w), constant(1), zero);
    const auto base = is_zero(z);
    return {op(OpCode::select, base, of_zero, power.re), op(OpCode::select, base, zero, power.im)};
  }

 private:
  NodeId constant(double value) { return b_.constant(value, real_); }
  NodeId op(OpCode code, NodeId x, NodeId y = -1, NodeId z = -1) { return b_.op(code, real_, x, y, z); }
  NodeId mul(NodeId x, NodeId y) { return op(OpCode::mul, x, y); }
  NodeId truth(OpCode code, NodeId x, NodeId y) { return b_.op(code, DType::u8, x, y); }

  ir::Builder& b_;
  DType type_, real_;
};

}  // namespace

bool has_complex_function(OpCode op) noexcept {
  switch (op) {
    case OpCode::absolute:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::exp:
    case OpCode::log:
    case OpCode::sin:
    case OpCode::cos:
    case OpCode::tan:
    case OpCode::sinh:
    case OpCode::cosh:
    case OpCode::tanh:
    case OpCode::pow:
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
    case OpCode::sinh:
      return f.whole(f.sinh(parts));
    case OpCode::cosh:
      return f.whole(f.cosh(parts));
    case OpCode::tanh:
      return f.whole(f.tanh(parts));
    case OpCode::pow:
      return f.whole(f.pow(parts, f.parts(w)));
    default:
      throw InternalError("a function that complex numbers have not");
  }
}

}  // namespace ricci::formula
