#include "codegen/kernel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {

using ir::OpCode;
using kernel::Access;
using kernel::Affine;
using kernel::Space;
using kernel::Value;

namespace {

constexpr std::int64_t kNarrow = std::int64_t{1} << 31;  ///< elements that 32-bit offsets reach

bool is_sum(const Affine& value) { return value.terms.size() + (value.constant != 0 ? 1 : 0) > 1; }

/// Registers that instructions of a warp take.
void add_fragments(const kernel::Body& body, std::set<int>& fragments) {
  for (const auto& statement : body) {
    if (const auto* load = std::get_if<kernel::MatrixLoad>(&statement.node)) fragments.insert(load->to.array);
    if (const auto* call = std::get_if<kernel::MmaCall>(&statement.node))
      fragments.insert({call->d.array, call->a.array, call->b.array});
    kernel::for_each_body(statement, [&](const kernel::Body& inner) { add_fragments(inner, fragments); });
  }
}

}  // namespace

KernelText::KernelText(const kernel::Kernel& kernel, bool vectors, bool wide)
    : kernel_(kernel), vectors_(vectors), wide_(wide) {
  add_fragments(kernel.body, fragments_);
}

const std::string& KernelText::name(kernel::Var var) const {
  const auto said = in_place_.find(var);
  return said == in_place_.end() ? kernel_.vars[static_cast<std::size_t>(var)].name : said->second.second;
}

std::string KernelText::quotient(const kernel::Let& let, bool wide) const {
  auto text = affine(let.of, wide);
  if (is_sum(let.of) && (let.divisor > 1 || let.modulus > 0)) text = fmt::format("({})", text);
  if (let.divisor > 1) text += fmt::format(" / {}", let.divisor);
  if (let.modulus > 0) text += fmt::format(" % {}", let.modulus);
  return text;
}

bool KernelText::is_wide(const Affine& value) const {
  const auto reached = kernel::bounds(value, [&](kernel::Var var) { return kernel_.extent(var); });
  return reached.last >= kNarrow || reached.first < -kNarrow;
}

std::string KernelText::affine(const Affine& value, bool wide) const {
  std::string text;
  const auto term = [&](std::int64_t coefficient, const std::string& factor) {
    const auto magnitude = coefficient < 0 ? -coefficient : coefficient;
    if (!text.empty()) {
      text += coefficient < 0 ? " - " : " + ";
    } else if (coefficient < 0) {
      text += "-";
    }
    const auto literal = fmt::format("{}{}", magnitude, wide ? "LL" : "");
    if (factor.empty()) {
      text += literal;
    } else if (magnitude == 1) {
      text += factor;
    } else {
      const bool several = factor.find(' ') != std::string::npos;
      text += fmt::format("{} * {}", literal, several ? fmt::format("({})", factor) : factor);
    }
  };
  for (const auto& [var, coefficient] : value.terms) term(coefficient, name(var));
  if (value.constant != 0 || text.empty()) term(value.constant, "");
  return text;
}

std::string KernelText::offset(const Access& access) const {
  const auto& offset = access.index.front();
  const auto& to = array(access);
  const bool large = to.space == Space::global && to.elements() > kNarrow && is_wide(offset);
  const auto text = affine(offset, wide_ || large);
  const auto& [shift, mask, unit] = to.swizzle;
  return mask == 0 ? text : fmt::format("swizzle<{}, {}, {}>({})", shift, mask, unit, text);
}

std::string KernelText::condition(const std::vector<kernel::Condition>& when) const {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < when.size(); ++k) {
    const auto& [value, below] = when[k];
    const bool turned = !value.terms.empty() && std::all_of(value.terms.begin(), value.terms.end(),
                                                            [](const auto& term) { return term.coefficient < 0; });
    if (k + 1 < when.size() && when[k + 1].value == -1 * value && when[k + 1].below == 2 - below) {
      parts.push_back(fmt::format("{} == {}", affine(value), below - 1));
      ++k;
    } else if (turned) {
      parts.push_back(fmt::format("{} > {}", affine(-1 * value), -below));
    } else {
      parts.push_back(fmt::format("{} < {}", affine(value), below));
    }
  }
  return fmt::format("{}", fmt::join(parts, " && "));
}

std::string KernelText::vector_type(DType type, int lanes) {
  if (!vectors_) return fmt::format("vec<{}, {}>", c_type(type), lanes);
  types_.insert({type, lanes});
  return fmt::format("{}x{}", ricci::name(type), lanes);
}

bool KernelText::are_words(int array) const { return kernel_.array(array).lanes > 1 && fragments_.contains(array); }

std::string KernelText::word(const Value& value) {
  if (value.kind == Value::Kind::load) return fmt::format("load<u32>({})", pointer(value.access));
  std::string elements;
  for (const auto& element : value.operands) elements += (elements.empty() ? "" : ", ") + text(element).text;
  return fmt::format("word_of({})", elements);
}

std::string KernelText::pointer(const Access& access) const {
  const auto& offset = access.index.front();
  return offset == Affine() ? array(access).name : fmt::format("{} + {}", array(access).name, this->offset(access));
}

std::string KernelText::registers(const Access& access) const {
  std::string text = array(access).name;
  for (std::size_t k = 0; k < access.index.size(); ++k) {
    const bool lane = k == array(access).shape.size();
    text += fmt::format("{}[{}]", lane && !vectors_ ? ".at" : "", affine(access.index[k]));
  }
  return text;
}

std::string KernelText::load(const Access& access) {
  const auto& from = array(access);
  if (from.space == Space::registers) return registers(access);
  if (access.whole) return fmt::format("load_whole({})", pointer(access));
  if (access.lanes == 1) return fmt::format("{}[{}]", from.name, offset(access));
  const auto type = vector_type(from.type, access.lanes);
  if (!vectors_) return fmt::format("load<{}>({})", type, pointer(access));
  if (access.count > 0) {
    parts_ = true;
    return fmt::format("load_part<{}, {}>({})", type, access.count, pointer(access));
  }
  return fmt::format("*(const {}_in_memory*)({})", type, pointer(access));
}

std::string KernelText::store(const Access& access, const std::string& value) {
  const auto& to = array(access);
  if (to.space == Space::registers) return fmt::format("{} = {};", registers(access), value);
  if (access.whole) return fmt::format("store_whole({}, {});", pointer(access), value);
  if (access.lanes == 1) return fmt::format("{}[{}] = {};", to.name, offset(access), value);
  const auto type = vector_type(to.type, access.lanes);
  if (!vectors_) return fmt::format("store({}, {});", pointer(access), value);
  if (access.count > 0) {
    parts_ = true;
    return fmt::format("store_part<{}>({}, {});", access.count, pointer(access), value);
  }
  return fmt::format("*({}_in_memory*)({}) = {};", type, pointer(access), value);
}

std::string KernelText::value(const Value& value) { return text(value).text; }

KernelText::Text KernelText::text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::load:
      return {load(value.access), 3};
    case Value::Kind::param:
      return {kernel_.params[static_cast<std::size_t>(value.param)].name, 3};
    case Value::Kind::constant:
      return constant(value);
    case Value::Kind::index:
      return {fmt::format("(i64)({})", affine(value.affine)), 2};
    case Value::Kind::lane:
      return {fmt::format("{}{}[{}]", load(value.operands[0].access), vectors_ ? "" : ".at", affine(value.affine)), 3};
    case Value::Kind::tf32:
      return {fmt::format("to_tf32({})", text(value.operands[0]).text), 3};
    case Value::Kind::pack: {
      std::string lanes;
      for (const auto& lane : value.operands) lanes += (lanes.empty() ? "" : ", ") + text(lane).text;
      return {fmt::format("{}{{{}}}", vector_type(value.type, value.lanes()), lanes), 3};
    }
    case Value::Kind::shuffle:
      return {fmt::format("shuffle({}, {})", text(value.operands[0]).text, affine(value.affine)), 3};
    case Value::Kind::times_i:
    case Value::Kind::conj_pairs:
      pairs_.emplace(value.type, value.lanes());
      vector_type(value.type, value.lanes());
      return {fmt::format("{}({})", value.kind == Value::Kind::times_i ? "times_i" : "conj_pairs",
                          text(value.operands[0]).text),
              3};
    case Value::Kind::op:
      return operation(value);
  }
  return {};
}

KernelText::Text KernelText::constant(const Value& value) {
  auto text = is_integer(value.type) ? literal(value.bits, value.type) : literal(value.number, value.type);
  const int rank = text[0] == '-' || text[0] == '(' ? 2 : 3;
  return {std::move(text), rank};
}

/// Operations that vectors have: those that expand() gives to vectors.
KernelText::Text KernelText::on_lanes(const Value& value, const Text& x, const Text& y) {
  const auto type = vector_type(value.type, value.lanes());
  switch (value.op) {
    case OpCode::add:
      return infix(x, "+", y, 1);
    case OpCode::sub:
      return infix(x, "-", y, 1);
    case OpCode::mul:
      return infix(x, "*", y, 2);
    case OpCode::div:
      return infix(x, "/", y, 2);
    case OpCode::neg:
      return {"-" + in_brackets(x, 3), 2};
    case OpCode::scale:
      return {fmt::format("{} == 0 ? ({})0 : {}", in_brackets(x, 2), type, infix(x, "*", y, 2).text), 0};
    case OpCode::cast:
      return {fmt::format("__builtin_convertvector({}, {})", x.text, type), 3};
    case OpCode::sqrt:
      return {fmt::format("__builtin_elementwise_sqrt({})", x.text), 3};
    case OpCode::rsqrt:
      return {fmt::format("{} / __builtin_elementwise_sqrt({})", literal(Scalar(1), value.type), x.text), 2};
    case OpCode::absolute:
      return {fmt::format("__builtin_elementwise_abs({})", x.text), 3};
    default:
      throw InternalError(fmt::format("no text for vectors of the operation {}", ir::name_of(value.op)));
  }
}

KernelText::Text KernelText::operation(const Value& value) {
  const auto x = text(value.operands[0]);
  const auto y = value.operands.size() > 1 ? text(value.operands[1]) : Text{};
  if (value.lanes() > 1) return on_lanes(value, x, y);
  const std::string type = c_type(value.type);
  const bool real = is_real(value.type);
  // C computes with integers narrower than int as ints: what they combine to is cast back.
  const bool narrow = is_integer(value.type) && size_of(value.type) < 4;
  const auto call = [&](const std::string& function) {
    return Text{
        y.text.empty() ? fmt::format("{}({})", function, x.text) : fmt::format("{}({}, {})", function, x.text, y.text),
        3};
  };
  // Parentheses around comparisons and operations on bits: few readers know C's precedence of them.
  const auto loose = [&](const char* symbol) {
    return fmt::format("{} {} {}", in_brackets(x, 1), symbol, in_brackets(y, 1));
  };
  const auto bits = [&](const char* symbol) {
    return narrow ? Text{fmt::format("({})({})", type, loose(symbol)), 2} : Text{loose(symbol), 0};
  };
  const auto truth = [&](const char* symbol) { return Text{fmt::format("(u8)({})", loose(symbol)), 2}; };
  switch (value.op) {
    case OpCode::add:
      return real ? infix(x, "+", y, 1) : call("add");
    case OpCode::sub:
      return real ? infix(x, "-", y, 1) : call("sub");
    case OpCode::mul:
      return real ? infix(x, "*", y, 2) : call("mul");
    case OpCode::div:
      return real ? infix(x, "/", y, 2) : call("divide");
    case OpCode::neg:
      return real ? Text{"-" + in_brackets(x, 3), 2} : call("neg");
    case OpCode::scale:
      return call("scale");
    case OpCode::conj:
      return call("conj");
    case OpCode::cast:
      if (is_integer(value.operands[0].type) && is_half(value.type))
        return {fmt::format("cast_{}(cast_f64({}))", ricci::name(value.type), x.text), 3};
      if (is_integer(value.type)) return {fmt::format("({}){}", type, in_brackets(x, 3)), 2};
      return call(fmt::format("cast_{}", ricci::name(value.type)));
    case OpCode::real_part:
      return {in_brackets(x, 3) + ".re", 3};
    case OpCode::imag_part:
      return {in_brackets(x, 3) + ".im", 3};
    case OpCode::complex_of:
      return {fmt::format("{}{{{}, {}}}", type, x.text, y.text), 3};
    case OpCode::minimum:
      return call(fmt::format("minimum<{}>", type));
    case OpCode::maximum:
      return call(fmt::format("maximum<{}>", type));
    case OpCode::absolute:
      return call("absolute");
    case OpCode::sign:
      return call("sign");
    case OpCode::rsqrt:
      return {fmt::format("{} / {}({})", literal(Scalar(1), value.type), function("sqrt", value.type), x.text), 2};
    case OpCode::remainder:
      return call(fmt::format("remainder_of<{}>", type));
    case OpCode::bit_and:
      return bits("&");
    case OpCode::bit_or:
      return bits("|");
    case OpCode::bit_xor:
      return bits("^");
    case OpCode::bit_not:
      return {fmt::format("{}~{}", narrow ? fmt::format("({})", type) : "", in_brackets(x, 3)), 2};
    case OpCode::shift_left:
      return call(fmt::format("shift_left<{}>", type));
    case OpCode::shift_right:
      return call(fmt::format("shift_right<{}>", type));
    case OpCode::popcount: {
      // Narrow signed values must not bring their sign along.
      const bool wide = size_of(value.type) == 8;
      const auto word = wide ? x.text : fmt::format("(u{}){}", 8 * size_of(value.type), in_brackets(x, 3));
      const char* function =
          vectors_ ? (wide ? "__builtin_popcountll" : "__builtin_popcount") : (wide ? "popcount64" : "popcount32");
      return {fmt::format("({}){}({})", type, function, word), 2};
    }
    case OpCode::equal:
      return truth("==");
    case OpCode::not_equal:
      return truth("!=");
    case OpCode::less:
      return truth("<");
    case OpCode::less_equal:
      return truth("<=");
    case OpCode::select:
      return {
          fmt::format("{} ? {} : {}", in_brackets(x, 1), in_brackets(y, 1), in_brackets(text(value.operands[2]), 1)),
          0};
    default:
      return call(function(ir::name_of(value.op), value.type));
  }
}

std::string KernelText::function(const std::string& name, DType type) const {
  return (vectors_ ? "__builtin_" : "") + name + (type == DType::f32 ? "f" : "");
}

std::string KernelText::in_brackets(const Text& x, int rank) { return x.rank < rank ? "(" + x.text + ")" : x.text; }

KernelText::Text KernelText::infix(const Text& x, const char* symbol, const Text& y, int rank) {
  return {fmt::format("{} {} {}", in_brackets(x, rank), symbol, in_brackets(y, rank + 1)), rank};
}

}  // namespace ricci::codegen
