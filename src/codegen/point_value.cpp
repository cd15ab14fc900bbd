// Texts of values inside a worker's block: literals, loads, operations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

/// Whether C promotes the type to int, so that results must be cast back.
bool is_narrow(DType type) { return is_integer(type) && size_of(type) < 4; }

const char* symbol_of(OpCode op) {
  switch (op) {
    case OpCode::equal:
      return "==";
    case OpCode::not_equal:
      return "!=";
    case OpCode::less:
      return "<";
    case OpCode::less_equal:
      return "<=";
    case OpCode::bit_and:
      return "&";
    case OpCode::bit_or:
      return "|";
    default:
      return "^";
  }
}

}  // namespace

std::string literal(Scalar value, DType type) {
  const auto real = [](double x, bool narrow) {
    if (narrow) x = static_cast<float>(x);
    const char* bits = narrow ? "f32" : "f64";
    if (std::isnan(x)) return fmt::format("nan_{}()", bits);
    if (std::isinf(x)) return fmt::format("{}infinity_{}()", x < 0 ? "-" : "", bits);
    auto text = narrow ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return narrow ? text + "f" : text;
  };
  switch (type) {
    case DType::f32:
      return real(value.real(), true);
    case DType::f64:
      return real(value.real(), false);
    case DType::c64:
      return fmt::format("c64{{{}, {}}}", real(value.real(), true), real(value.imag(), true));
    case DType::c128:
      return fmt::format("c128{{{}, {}}}", real(value.real(), false), real(value.imag(), false));
    case DType::f16:
    case DType::bf16:
      if (value != Scalar(0)) throw InternalError("a literal of a half type");
      return fmt::format("{}{{}}", name(type));
    default:
      throw InternalError("a literal of an integer type by a float");
  }
}

std::string literal(std::uint64_t bits, DType type) {
  const auto number = static_cast<std::int64_t>(bits);
  // C has no negative literals, and none of the smallest value without its sign.
  if (type == DType::i32 && number == std::numeric_limits<std::int32_t>::min()) return "(i32)0x80000000u";
  if (type == DType::i64 && number == std::numeric_limits<std::int64_t>::min()) return "(i64)0x8000000000000000ULL";
  if (type == DType::i32) return fmt::format("{}", number);
  if (type == DType::u64 && number < 0) return fmt::format("(u64){}ULL", bits);
  return fmt::format("({}){}{}", name(type), number, size_of(type) == 8 ? "LL" : "");
}

std::string identity_literal(OpCode op, DType type) {
  if (!is_integer(type)) return literal(Scalar(ir::identity(op, type)), type);
  const auto bits = ir::identity_bits(op, type);
  if (bits <= 1) return literal(bits, type);
  return fmt::format("({}){:#x}{}", name(type), bits, bits > 0xffffffffu ? "ULL" : "u");
}

std::string PointEmitter::in_brackets(const Text& x, int rank) { return x.rank < rank ? "(" + x.text + ")" : x.text; }

std::string PointEmitter::infix(const Text& x, const char* symbol, const Text& y, int rank) const {
  return fmt::format("{} {} {}", in_brackets(x, rank), symbol, in_brackets(y, rank + 1));
}

/// x op y for bitwise operations, always with brackets: few readers know their precedence in C.
PointEmitter::Text PointEmitter::on_bits(OpCode op, DType type, const Text& x, const Text& y) const {
  auto text = fmt::format("{} {} {}", in_brackets(x, 1), symbol_of(op), in_brackets(y, 1));
  if (!is_narrow(type)) return {std::move(text), 0};
  return {fmt::format("({})({})", c_type(type), text), 2};
}

std::string PointEmitter::combined(OpCode op, DType type, const std::string& x, const Text& y) const {
  switch (op) {
    case OpCode::add:
      return is_real(type) ? fmt::format("{} + {}", x, in_brackets(y, 2)) : fmt::format("add({}, {})", x, y.text);
    case OpCode::mul:
      return is_real(type) ? fmt::format("{} * {}", x, in_brackets(y, 3)) : fmt::format("mul({}, {})", x, y.text);
    case OpCode::minimum:
      return fmt::format("minimum<{}>({}, {})", c_type(type), x, y.text);
    case OpCode::maximum:
      return fmt::format("maximum<{}>({}, {})", c_type(type), x, y.text);
    case OpCode::bit_and:
    case OpCode::bit_or:
    case OpCode::bit_xor:
      return on_bits(op, type, {x}, y).text;
    default:
      throw InternalError("a reduction by an operation that does not associate");
  }
}

PointEmitter::Text PointEmitter::condition(NodeId id) const {
  const auto& n = node(id);
  if (names_.contains(id) || !is_truth(id)) return value(id);
  const auto [left, right] = std::pair{n.operand[0], n.operand[1]};
  if (is_comparison(n.op)) {
    return {fmt::format("{} {} {}", in_brackets(value(left), 1), symbol_of(n.op), in_brackets(value(right), 1)), 1};
  }
  const bool both = n.op == OpCode::bit_and;
  const auto side = [&](NodeId operand) {
    const bool alike = !names_.contains(operand) && is_truth(operand) && node(operand).op == n.op;
    return alike ? condition(operand).text : in_brackets(condition(operand), 1);
  };
  return {fmt::format("{} {} {}", side(left), both ? "&&" : "||", side(right)), both ? 1 : 0};
}

std::string PointEmitter::conjunction(const std::vector<Text>& conditions) {
  if (conditions.size() == 1) return conditions.front().text;
  std::vector<std::string> terms;
  for (const auto& condition : conditions) terms.push_back(in_brackets(condition, 1));
  return fmt::format("{}", fmt::join(terms, " && "));
}

PointEmitter::Text PointEmitter::load_text(NodeId id) const {
  const auto& n = node(id);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(n.source)].name;
  if (!on_lanes(id)) return {fmt::format("{}[{}]", buffer, offset(n.offset)), 3};
  const auto type = type_text(n.type, true);
  if (const auto place = block_.buffered_loads.find(id); place != block_.buffered_loads.end()) {
    return {fmt::format("*(const {}*)(in + {} + point)", type, place->second * block_.row), 2};
  }
  const auto step = n.offset.coefficient[static_cast<std::size_t>(block_.lane)];
  if (step == 1) return {fmt::format("*(const {}_in_memory*)({} + {})", type, buffer, offset(n.offset)), 2};
  std::vector<std::string> elements;
  const auto first = offset(n.offset);
  for (int v = 0; v < block_.lanes; ++v) {
    elements.push_back(v == 0 ? fmt::format("{}[{}]", buffer, first)
                              : fmt::format("{}[{} {} {}]", buffer, first, step < 0 ? '-' : '+', std::abs(step) * v));
  }
  return {fmt::format("{}{{{}}}", type, fmt::join(elements, ", ")), 3};
}

PointEmitter::Text PointEmitter::value(NodeId id) const {
  if (const auto place = names_.find(id); place != names_.end()) return {place->second + subscript(unrolled(id)), 3};
  const auto& n = node(id);
  switch (n.kind) {
    case NodeKind::load:
      return load_text(id);
    case NodeKind::param:
      return {program_.params[static_cast<std::size_t>(n.source)].name, 3};
    case NodeKind::constant: {
      auto text = is_integer(n.type) ? literal(n.integer, n.type) : literal(n.value, n.type);
      const int rank = text[0] == '-' || text[0] == '(' ? 2 : 3;
      return {std::move(text), rank};
    }
    case NodeKind::index: {
      const auto q = static_cast<std::size_t>(n.source);
      const auto& name = index_name(n.source);
      if (!unrolled_[q]) return {fmt::format("(i64){}", name), 2};
      return {block_.ragged[q] ? fmt::format("(i64){}_at[u{}]", name, name)
                               : fmt::format("(i64)({} + {} * u{})", name, block_.apart[q], name),
              2};
    }
    case NodeKind::op:
      return op_text(id);
    default:
      throw InternalError("a value that has no name yet");
  }
}

/// The operations that vectors spell in another way; an empty text for the rest.
PointEmitter::Text PointEmitter::lanes_text(NodeId id, const Text& x, const Text& y) const {
  const auto& n = node(id);
  const auto type = type_text(id);
  switch (n.op) {
    case OpCode::scale:
      return {fmt::format("{} == 0 ? ({})0 : {}", in_brackets(x, 1), type, infix(x, "*", y, 2)), 0};
    case OpCode::sqrt:
      return {fmt::format("__builtin_elementwise_sqrt({})", x.text), 3};
    case OpCode::rsqrt:
      return {fmt::format("{} / __builtin_elementwise_sqrt({})", literal(Scalar(1), n.type), x.text), 2};
    case OpCode::absolute:
      return {fmt::format("__builtin_elementwise_abs({})", x.text), 3};
    default:
      return {};
  }
}

PointEmitter::Text PointEmitter::op_text(NodeId id) const {
  const auto& n = node(id);
  if (n.kind != NodeKind::op) throw InternalError("the text of a value that is no operation");
  const auto x = value(n.operand[0]);
  const auto y = n.operand[1] >= 0 ? value(n.operand[1]) : Text{};
  const auto type = c_type(n.type);
  const bool real = is_real(n.type);
  if (on_lanes(id)) {
    if (auto special = lanes_text(id, x, y); !special.text.empty()) return special;
  }
  const auto call = [&](const std::string& function) {
    return Text{
        y.text.empty() ? fmt::format("{}({})", function, x.text) : fmt::format("{}({}, {})", function, x.text, y.text),
        3};
  };
  const auto bits = [&] { return on_bits(n.op, n.type, x, y); };
  switch (n.op) {
    case OpCode::add:
      // The interpreter adds from the left: a sum on the right keeps its brackets.
      if (real && node(n.operand[1]).kind == NodeKind::constant && y.text[0] == '-') {
        return {infix(x, "-", {y.text.substr(1)}, 1), 1};
      }
      return real ? Text{infix(x, "+", y, 1), 1} : call("add");
    case OpCode::sub:
      return real ? Text{infix(x, "-", y, 1), 1} : call("sub");
    case OpCode::mul:
      return real ? Text{infix(x, "*", y, 2), 2} : call("mul");
    case OpCode::div:
      return real ? Text{infix(x, "/", y, 2), 2} : call("divide");
    case OpCode::neg:
      return real ? Text{"-" + in_brackets(x, 3), 2} : call("neg");
    case OpCode::scale:
      return call("scale");
    case OpCode::conj:
      return call("conj");
    case OpCode::cast: {
      const bool from_integer = is_integer(node(n.operand[0]).type);
      if (from_integer && is_half(n.type)) return {fmt::format("cast_{}(cast_f64({}))", name(n.type), x.text), 3};
      if (is_integer(n.type)) return {fmt::format("({}){}", type, in_brackets(x, 3)), 2};
      return call(fmt::format("cast_{}", name(n.type)));
    }
    case OpCode::real_part:
      return {in_brackets(x, 3) + ".re", 3};
    case OpCode::imag_part:
      return {in_brackets(x, 3) + ".im", 3};
    case OpCode::complex_of:
      return {fmt::format("{}{{{}, {}}}", type, x.text, y.text), 3};
    case OpCode::minimum:
      return {fmt::format("minimum<{}>({}, {})", type, x.text, y.text), 3};
    case OpCode::maximum:
      return {fmt::format("maximum<{}>({}, {})", type, x.text, y.text), 3};
    case OpCode::absolute:
      return call("absolute");
    case OpCode::sign:
      return call("sign");
    case OpCode::rsqrt: {
      if (called_.contains({n.op, n.type})) return call(called_name(n.op, n.type));
      const auto one = literal(Scalar(1), n.type);
      const auto root = language_ == Language::cuda ? (n.type == DType::f32 ? "sqrtf" : "sqrt")
                                                    : (n.type == DType::f32 ? "__builtin_sqrtf" : "__builtin_sqrt");
      return {fmt::format("{} / {}({})", one, root, x.text), 2};
    }
    case OpCode::remainder:
      if (real)
        return call((language_ == Language::cpp ? "__builtin_fmod" : "fmod") +
                    std::string(n.type == DType::f32 ? "f" : ""));
      return {fmt::format("remainder_of<{}>({}, {})", type, x.text, y.text), 3};
    case OpCode::bit_and:
    case OpCode::bit_or:
    case OpCode::bit_xor:
      return bits();
    case OpCode::bit_not: {
      const auto inverted = "~" + in_brackets(x, 3);
      return {is_narrow(n.type) ? fmt::format("({}){}", type, inverted) : inverted, 2};
    }
    case OpCode::shift_left:
      return {fmt::format("shift_left<{}>({}, {})", type, x.text, y.text), 3};
    case OpCode::shift_right:
      return {fmt::format("shift_right<{}>({}, {})", type, x.text, y.text), 3};
    case OpCode::popcount: {
      const bool wide = size_of(n.type) == 8;
      // No sign extension of narrow signed values.
      const auto word = wide ? x.text : fmt::format("(u{}){}", 8 * size_of(n.type), in_brackets(x, 3));
      return {fmt::format("({}){}({})", type, wide ? "popcount64" : "popcount32", word), 2};
    }
    case OpCode::equal:
    case OpCode::not_equal:
    case OpCode::less:
    case OpCode::less_equal:
      return {fmt::format("(u8)({})", condition(id).text), 2};
    case OpCode::select: {
      const auto z = value(n.operand[2]);
      return {
          fmt::format("{} ? {} : {}", in_brackets(condition(n.operand[0]), 1), in_brackets(y, 1), in_brackets(z, 1)),
          0};
    }
    default:
      break;
  }
  if (called_.contains({n.op, n.type})) return call(called_name(n.op, n.type));
  // C's function of that name, which both compilers know without a header.
  const std::string suffix = n.type == DType::f32 ? "f" : "";
  return call((language_ == Language::cpp ? "__builtin_" : "") + std::string(ir::name_of(n.op)) + suffix);
}

}  // namespace ricci::codegen
