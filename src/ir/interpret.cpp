// The oracle: every program, point by point, with its own arithmetic. It shares no code with the generated kernels, so
// that a mistake in one does not hide in the other.
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/program.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

/// One value of any type. Integers are held sign- or zero-extended; reals exactly, as doubles.
struct Value {
  std::uint64_t integer = 0;
  double re = 0, im = 0;
};

std::uint64_t wrap(std::uint64_t bits, DType type) {
  switch (type) {
    case DType::i8:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(bits)));
    case DType::i16:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(bits)));
    case DType::i32:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bits)));
    case DType::u8:
      return bits & 0xff;
    case DType::u16:
      return bits & 0xffff;
    case DType::u32:
      return bits & 0xffffffff;
    default:
      return bits;
  }
}

/// Rounds to `precision` bits with exponents from `min_exponent`, nearest even, overflow to infinity.
double round_to(double x, int precision, int min_exponent, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), min_exponent);
  const double quantum = std::ldexp(1.0, exponent - (precision - 1));
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
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
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
      return {0, decode_half(read<std::uint16_t>(p))};
    case DType::bf16: {
      const auto bits = static_cast<std::uint32_t>(read<std::uint16_t>(p)) << 16;
      return {0, read<float>(&bits)};
    }
    case DType::f32:
      return {0, read<float>(p)};
    case DType::f64:
      return {0, read<double>(p)};
    case DType::c64:
      return {0, read<float>(p), read<float>(static_cast<const char*>(p) + 4)};
    case DType::c128:
      return {0, read<double>(p), read<double>(static_cast<const char*>(p) + 8)};
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

/// Sums and products of two f32 values, computed in double and rounded, are the correctly rounded f32 results
/// (53 >= 2 * 24 + 2), so one path serves every real type.
Value multiply(const Value& x, const Value& y, DType type) {
  if (is_integer(type)) return {wrap(x.integer * y.integer, type)};
  const auto product = [&](double a, double b) { return round_real(a * b, type); };
  if (!is_complex(type)) return {0, product(x.re, y.re)};
  return {0, round_real(product(x.re, y.re) - product(x.im, y.im), type),
          round_real(product(x.re, y.im) + product(x.im, y.re), type)};
}

Value add(const Value& x, const Value& y, DType type) {
  if (is_integer(type)) return {wrap(x.integer + y.integer, type)};
  return {0, round_real(x.re + y.re, type), round_real(x.im + y.im, type)};
}

class Interpreter {
 public:
  Interpreter(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params)
      : program_(program), buffers_(buffers), point_(program.indices.size()), free_(program.indices.size(), true) {
    for (const auto& node : program.nodes) {
      for (const int q : node.over) free_[static_cast<std::size_t>(q)] = false;
    }
    for (std::size_t k = 0; k < params.size(); ++k) {
      const auto type = program.params[k].type;
      params_.push_back(
          {is_integer(type) ? wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(params[k].real())), type) : 0,
           round_real(params[k].real(), type), round_real(params[k].imag(), type)});
    }
  }

  void run() {
    for (std::size_t q = 0; q < free_.size(); ++q) {
      if (free_[q] && program_.indices[q].extent == 0) return;
    }
    do {
      for (const auto& statement : program_.statements) execute(statement);
    } while (advance());
  }

 private:
  bool advance() {
    for (std::size_t q = point_.size(); q-- > 0;) {
      if (!free_[q]) continue;
      if (++point_[q] < program_.indices[q].extent) return true;
      point_[q] = 0;
    }
    return false;
  }

  char* address(int buffer, const Affine& offset) const {
    std::int64_t elements = offset.constant;
    for (std::size_t q = 0; q < point_.size(); ++q) elements += offset.coefficient[q] * point_[q];
    const auto k = static_cast<std::size_t>(buffer);
    return static_cast<char*>(buffers_[k]) + elements * size_of(program_.buffers[k].type);
  }

  void execute(const Statement& statement) {
    const auto& root = program_.nodes[static_cast<std::size_t>(statement.value)];
    char* target = address(statement.buffer, statement.offset);
    if (root.kind == NodeKind::load) {  // movement keeps every bit, NaN payloads too
      std::memcpy(target, address(root.source, root.offset), static_cast<std::size_t>(size_of(root.type)));
      return;
    }
    store(target, root.type, evaluate(statement.value));
  }

  /// The sum over node.over[k ...], in the order of a nest of loops.
  Value sum(const Node& node, std::size_t k) {
    if (k == node.over.size()) return evaluate(node.operand[0]);
    const auto q = static_cast<std::size_t>(node.over[k]);
    Value total;
    for (point_[q] = 0; point_[q] < program_.indices[q].extent; ++point_[q])
      total = add(total, sum(node, k + 1), node.type);
    point_[q] = 0;
    return total;
  }

  Value evaluate(NodeId id) {
    const auto& node = program_.nodes[static_cast<std::size_t>(id)];
    if (node.kind == NodeKind::load) return load(address(node.source, node.offset), node.type);
    if (node.kind == NodeKind::param) return params_[static_cast<std::size_t>(node.source)];
    if (node.kind == NodeKind::reduce) return sum(node, 0);
    const auto x = evaluate(node.operand[0]);
    const auto y = node.operand[1] < 0 ? x : evaluate(node.operand[1]);
    switch (node.op) {
      case OpCode::add:
        return add(x, y, node.type);
      case OpCode::mul:
        return multiply(x, y, node.type);
      case OpCode::scale:
        return x.integer == 0 && x.re == 0 && x.im == 0 ? Value{} : multiply(x, y, node.type);
      case OpCode::conj:
        return {0, x.re, -x.im};
      case OpCode::cast:
        if (is_integer(node.type)) return {wrap(x.integer, node.type)};
        return {0, round_real(x.re, node.type), round_real(x.im, node.type)};
    }
    return {};
  }

  const Program& program_;
  const std::vector<void*>& buffers_;
  std::vector<Value> params_;
  std::vector<std::int64_t> point_;
  std::vector<bool> free_;  // not summed over: a loop of the statement
};

}  // namespace

void interpret(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params) {
  if (buffers.size() != program.buffers.size() || params.size() != program.params.size()) {
    throw InternalError("interpret() takes one pointer per buffer and one value per parameter");
  }
  Interpreter(program, buffers, params).run();
}

}  // namespace ricci::ir
