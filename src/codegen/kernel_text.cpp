#include "codegen/kernel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {

using ir::OpCode;
using kernel::Access;
using kernel::Affine;
using kernel::Space;
using kernel::Value;

namespace {

constexpr std::int64_t kNarrow = std::int64_t{1} << 31;  ///< elements that 32-bit offsets reach
constexpr int kWrittenOut = 32;                          ///< places that NVRTC writes a function's instructions out at

/// Operations that C has an operator of.
struct Operator {
  OpCode op;
  const char* symbol;
  int rank;              ///< of the text
  const char* function;  ///< for types that C has no such operator of; null: operations on bits, comparisons
};
constexpr Operator kOperators[] = {
    {OpCode::add, "+", 1, "add"},       {OpCode::sub, "-", 1, "sub"},           {OpCode::mul, "*", 2, "mul"},
    {OpCode::div, "/", 2, "divide"},    {OpCode::bit_and, "&", 0, nullptr},     {OpCode::bit_or, "|", 0, nullptr},
    {OpCode::bit_xor, "^", 0, nullptr}, {OpCode::equal, "==", 0, nullptr},      {OpCode::not_equal, "!=", 0, nullptr},
    {OpCode::less, "<", 0, nullptr},    {OpCode::less_equal, "<=", 0, nullptr},
};
const Operator* operator_of(OpCode op) {
  const auto* const found =
      std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& one) { return one.op == op; });
  return found == std::end(kOperators) ? nullptr : found;
}

/// Functions of the prelude that are called for all types, some with the type as an argument.
constexpr std::pair<OpCode, const char*> kFunctions[] = {
    {OpCode::scale, "scale"},
    {OpCode::conj, "conj"},
    {OpCode::sign, "sign"},
    {OpCode::absolute, "absolute"},
    {OpCode::minimum, "minimum<{}>"},
    {OpCode::maximum, "maximum<{}>"},
    {OpCode::shift_left, "shift_left<{}>"},
    {OpCode::shift_right, "shift_right<{}>"},
};
/// By Value::Kind: functions of a C++ vector.
constexpr const char* kLaneFunctions[] = {"prefixes",   "shifted",    "times_i",    "conj_pairs",
                                          "real_pairs", "imag_pairs", "interleave", "dot"};

std::string function_name(OpCode op, DType type) { return fmt::format("{}_{}", ir::name_of(op), name(type)); }

bool is_sum(const Affine& value) { return value.terms.size() + (value.constant != 0 ? 1 : 0) > 1; }

}  // namespace

KernelText::KernelText(const kernel::Kernel& kernel, bool cpu) : kernel_(kernel), cpu_(cpu) {
  look_at(kernel.body);
  for (const auto& [to, from] : copies_) {
    if (fragments_.contains(to) && array({from, {}}).space == Space::registers) fragments_.insert(from);
  }
  find_truths();
}

void KernelText::find_truths() {
  for (const auto& [array, value] : set_to_) truths_.insert(array);
  // All of them, until one is found to be set to something else.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [array, value] : set_to_) {
      const bool digit = value && value->kind == Value::Kind::constant && value->bits <= 1;
      if (!digit && !(value && is_truth(*value))) changed = truths_.erase(array) > 0 || changed;
    }
  }
}

void KernelText::look_at(const kernel::Body& body) {
  const auto look_at_value = [&](const Value& value) {
    kernel::for_each_value(value, [&](const Value& part) {
      if (part.kind != Value::Kind::op) return;
      if (ir::is_function(part.op)) ++functions_[{part.op, part.type}];
      if (ir::is_function_of_vectors(part.op) && part.lanes() > 1) on_lanes_.insert({part.op, part.type});
    });
  };
  const auto set = [&](int number, const Value& value) {
    look_at_value(value);
    const auto& to = kernel_.array(number);
    if (to.space == Space::registers && to.type == DType::u8 && to.lanes == 1) set_to_.emplace_back(number, &value);
  };
  const auto combined = [&](int number) {
    stored_.insert(number);
    set_to_.emplace_back(number, nullptr);
  };
  for (const auto& statement : body) {
    const auto& node = statement.node;
    kernel::for_each_body(statement, [&](const kernel::Body& inner) { look_at(inner); });
    if (const auto* branch = std::get_if<kernel::If>(&node)) {
      for (const auto& value : branch->values) look_at_value(value);
    } else if (const auto* store = std::get_if<kernel::Store>(&node)) {
      stored_.insert(store->to.array);
      set(store->to.array, store->value);
      if (store->value.kind == Value::Kind::load && !store->value.access.lane)
        copies_.emplace_back(store->to.array, store->value.access.array);
    } else if (const auto* define = std::get_if<kernel::Define>(&node)) {
      set(define->array, define->value);
    } else if (const auto* scatter = std::get_if<kernel::Scatter>(&node)) {
      look_at_value(scatter->value);
    } else if (const auto* reduce = std::get_if<kernel::LaneReduce>(&node)) {
      combined(reduce->registers.array);
    } else if (const auto* scan = std::get_if<kernel::LaneScan>(&node)) {
      combined(scan->registers.array);
    } else if (const auto* load = std::get_if<kernel::MatrixLoad>(&node)) {
      fragments_.insert(load->to.array);
    } else if (const auto* call = std::get_if<kernel::MmaCall>(&node)) {
      fragments_.insert({call->d.array, call->a.array, call->b.array});
    } else if (const auto* product = std::get_if<kernel::GroupMma>(&node)) {
      fragments_.insert(product->d.array);
      if (const auto* held = std::get_if<kernel::Access>(&product->a)) fragments_.insert(held->array);
    }
  }
}

// NVRTC writes each function out wherever it stands, a hundred instructions and more for a sine of doubles: 200 of them
// take it eight seconds, as calls a third of one.
std::string KernelText::called_definitions() const {
  std::string text;
  for (const auto& [function, places] : functions_) {
    if (cpu_ || places <= kWrittenOut) continue;
    const auto [op, type] = function;
    const auto* c = c_type(type);
    const char* suffix = type == DType::f32 ? "f" : "";
    const bool two = ir::operand_count(op) == 2;
    const auto value = fmt::format("{}{}(x{})", ir::name_of(op), suffix, two ? ", y" : "");
    text += fmt::format("static __attribute__((noinline)) {} {}({} x{}) {{ return {}; }}\n", c, function_name(op, type),
                        c, two ? fmt::format(", {} y", c) : "", value);
  }
  return text.empty() ? text : "// Called from many places.\n" + text + "\n";
}

const char* KernelText::type(kernel::Var var) const {
  // The value after the last one fits, too.
  return cpu_ || kernel_.extent(var) > (std::int64_t{1} << 30) ? "i64" : "int";
}

std::string KernelText::declaration(int number) {
  const auto& array = kernel_.array(number);
  const auto type = are_words(number) ? std::string("u32")
                    : array.lanes > 1 ? vector_type(array.type, array.lanes)
                                      : std::string(c_type(array.type));
  std::string text = array.alignment > 0 ? fmt::format("alignas({}) ", array.alignment) : "";
  if (array.shape.empty() && !stored_.contains(number)) text += "const ";
  text += fmt::format("{} {}", type, array.name);
  for (const auto extent : array.shape) text += fmt::format("[{}]", extent);
  return text;
}

const std::string& KernelText::name(kernel::Var var) const {
  const auto said = in_place_.find(var);
  return said == in_place_.end() ? kernel_.vars[static_cast<std::size_t>(var)].name : said->second.second;
}

std::string KernelText::quotient(const kernel::Let& let, bool wide) const {
  if (!let.values.empty())
    return fmt::format("{}[{}]", kernel_.vars[static_cast<std::size_t>(let.var)].name, affine(let.of, wide));
  auto text = affine(let.of, wide);
  const bool hidden = counts_rounds(let.of), is_part = let.divisor > 1 || let.modulus > 0;
  if (is_part && (hidden || is_sum(let.of))) text = fmt::format("{}({})", hidden ? "opaque" : "", text);
  if (let.divisor > 1) text += fmt::format(" / {}", let.divisor);
  if (let.modulus > 0) text += fmt::format(" % {}", let.modulus);
  return is_part && !wide && has_any(let.of, anew_) ? fmt::format("(int)((u32){})", text) : text;
}

bool KernelText::is_wide(const Affine& value) const {
  const auto reached = kernel::bounds(value, [&](kernel::Var var) { return kernel_.extent(var); });
  return reached.last >= kNarrow || reached.first < -kNarrow;
}

std::string KernelText::affine(const Affine& value, bool wide) const {
  std::string text;
  // A number alone is wide where it has to be.
  wide = wide && (!value.is_constant() || is_wide(value));
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

Affine KernelText::from_base(const Access& access) const {
  auto offset = access.index.front();
  for (const auto& base : bases_) {
    if (base.array == access.array) offset = offset - base.index.front();
  }
  return offset;
}

std::string KernelText::offset(const Access& access) const {
  const auto offset = from_base(access);
  const auto& to = array(access);
  const bool large =
      to.space == Space::global && (to.shape.front() > kNarrow || -to.first > kNarrow) && is_wide(offset);
  const auto text = affine(offset, cpu_ || large);
  const auto& [shift, mask, unit] = to.swizzle;
  return mask == 0 ? text : fmt::format("swizzle<{}, {}, {}>({})", shift, mask, unit, text);
}

std::string KernelText::vector_type(DType type, int lanes) {
  if (!cpu_) return fmt::format("vec<{}, {}>", c_type(type), lanes);
  types_.insert({type, lanes});
  return fmt::format("{}x{}", ricci::name(type), lanes);
}

bool KernelText::are_words(int array) const { return kernel_.array(array).lanes > 1 && fragments_.contains(array); }

std::string KernelText::word(const Value& value) {
  if (value.kind == Value::Kind::load) {
    return array(value.access).space == Space::registers ? registers(value.access)
                                                         : fmt::format("load<u32>({})", pointer(value.access));
  }
  const auto is_rounded = [&](const Value& operand) {
    return operand.kind == Value::Kind::op && operand.op == OpCode::cast && operand.operands[0].type == DType::f32;
  };
  if (value.operands.size() == 2 && is_half(value.type) && std::ranges::all_of(value.operands, is_rounded))
    return fmt::format("word_of_{}({}, {})", ricci::name(value.type), text(value.operands[0].operands[0]).text,
                       text(value.operands[1].operands[0]).text);
  return fmt::format("word_of({})", operands(value));
}

std::string KernelText::operands(const Value& value, const char* of_half) {
  std::vector<std::string> texts;
  for (const auto& operand : value.operands)
    texts.push_back(is_half(operand.type) ? in_brackets(text(operand), 3) + of_half : text(operand).text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string KernelText::unswizzled(const Access& access) const {
  const auto& offset = access.index.front();
  return offset == Affine() ? array(access).name : fmt::format("{} + {}", array(access).name, affine(offset, cpu_));
}

std::string KernelText::pointer(const Access& access) const {
  return from_base(access) == Affine() ? base(access) : fmt::format("{} + {}", base(access), this->offset(access));
}

std::string KernelText::base(const Access& access) const {
  const auto& name = array(access).name;
  return access.block ? fmt::format("of_block({}, {})", name, affine(*access.block)) : name;
}

std::string KernelText::registers(const Access& access) const {
  std::string text = array(access).name;
  for (const auto& index : access.index) text += fmt::format("[{}]", affine(index));
  if (access.lane && are_words(access.array))
    return fmt::format("half_of<{}>({}, {})", c_type(array(access).type), text, affine(*access.lane));
  return text + lane(access);
}

std::string KernelText::lane(const Access& access) const {
  return access.lane ? fmt::format("{}[{}]", cpu_ ? "" : ".at", affine(*access.lane)) : "";
}

std::string KernelText::lanes(const Access& access) const {
  return fmt::format("{}, {}", affine(access.since.value_or(Affine(0))),
                     affine(access.until.value_or(Affine(access.lanes))));
}

std::string KernelText::said(const Access& access, const std::string* value) {
  const auto& at = array(access);
  // How it reads and how it writes; {0}: the place, {1}: the value, {2}: the vector's type, {3}: which of its elements,
  // or where from; {4}: what is taken of it.
  const auto say = [&](const char* read, const char* written, const std::string& place, const std::string& of = {},
                       const std::string& then = {}) {
    const auto type = access.lanes > 1 ? vector_type(at.type, access.lanes) : std::string();
    return fmt::format(fmt::runtime(value == nullptr ? read : written), place, value == nullptr ? "" : *value, type, of,
                       then);
  };
  const auto where = at.space == Space::registers ? registers(access) : pointer(access);
  if (at.space == Space::registers && access.lanes <= at.lanes) return say("{0}", "{0} = {1};", where);
  if (at.space == Space::registers) return say("*(const {2}_in_memory*)&{0}", "*({2}_in_memory*)&{0} = {1};", where);
  if (access.whole) return say("load_whole({0})", "store_whole({0}, {1});", where);
  if (access.lanes == 1) return say("{0}", "{0} = {1};", fmt::format("{}[{}]", base(access), offset(access)));
  if (!cpu_ && at.space == Space::shared && !access.block && at.type == DType::f32) {
    const auto place = fmt::format("{}, {}", base(access), offset(access));
    return say("load_shared<{2}>({3}){4}", "store({0}, {1});", where, place, lane(access));
  }
  if (!cpu_) return say("load<{2}>({0}){3}", "store({0}, {1});", where, lane(access));
  some_lanes_ = some_lanes_ || access.since || access.until;
  if (access.since || access.until)
    return say("load_lanes<{2}>({0}, {3})", "store_lanes<{2}>({0}, {1}, {3});", where, lanes(access));
  pieces_ = pieces_ || access.count > 0;
  if (access.count > 0)
    return say("load_part<{2}, {3}>({0})", "store_part<{3}>({0}, {1});", where, std::to_string(access.count));
  return say("*(const {2}_in_memory*)({0})", "*({2}_in_memory*)({0}) = {1};", where);
}

std::string KernelText::load(const Access& access) {
  const auto text = said(access, nullptr);
  const auto type = array(access).type;
  // Lanes of half types are their bits.
  return cpu_ && access.lane && is_half(type) ? fmt::format("{}{{{}}}", c_type(type), text) : text;
}

std::string KernelText::store(const kernel::Store& store) {
  const auto& value = store.value;
  const auto& to = array(store.to);
  if (store.atomic) return fmt::format("atomic_add({}, {});", pointer(store.to), this->value(value));
  const bool wide = store.to.lanes > 1;
  auto what = are_words(store.to.array) ? word(value) : this->value(value);
  // All lanes of a half type are its bits.
  if (cpu_ && wide && value.lanes() == 1 && is_half(to.type)) what = in_brackets(text(value), 3) + ".bits";
  if (store.nontemporal && (wide || !cpu_))
    return fmt::format("store_nontemporal<{}>({}, {});", wide ? vector_type(to.type, store.to.lanes) : c_type(to.type),
                       cpu_ ? fmt::format("{}, {}", base(store.to), offset(store.to)) : pointer(store.to), what);
  // "sum += x" for what is added to itself.
  const bool sums = value.kind == Value::Kind::op && (value.op == OpCode::add || value.op == OpCode::mul) &&
                    is_real(value.type) && to.space == Space::registers;
  if (sums && value.operands[0].kind == Value::Kind::load && value.operands[0].access.array == store.to.array &&
      value.operands[0].access.index == store.to.index && value.operands[0].access.lane == store.to.lane) {
    return fmt::format("{} {}= {};", registers(store.to), value.op == OpCode::add ? '+' : '*',
                       text(value.operands[1]).text);
  }
  return said(store.to, &what);
}

std::string KernelText::scatter(const kernel::Scatter& scatter) {
  const auto& array = kernel_.array(scatter.array);
  const auto place = value(scatter.place);
  return fmt::format("if ({} >= {} && {} < {}) {}[{}] = {};", place, array.first, place, array.shape.front(),
                     array.name, place, value(scatter.value));
}

std::string KernelText::let(const kernel::Let& let) {
  if (let.value) return value(*let.value);
  auto text = quotient(let, cpu_ || is_wide(let.of));
  if (let.anew) {
    anew_.insert(let.var);
    text = fmt::format("anew({})", text);
  }
  return let.most >= 0 ? fmt::format("{} < {} ? {} : {}", text, let.most, text, affine(Affine(let.most))) : text;
}

std::string KernelText::combined(OpCode op, DType type, const std::string& x, const std::string& y) {
  return scalar(op, type, type, {x, 3}, {y, 3}, {}).text;
}

std::string KernelText::value(const Value& value) {
  return is_truth(value) && value.type == DType::u8 ? truth(value).text : text(value).text;
}

bool KernelText::is_truth(const Value& value) const {
  if (value.kind == Value::Kind::load) return truths_.contains(value.access.array);
  if (value.kind != Value::Kind::op || value.type != DType::u8) return false;
  const bool joins = value.op == OpCode::bit_and || value.op == OpCode::bit_or;
  return ir::is_comparison(value.op) || (joins && is_truth(value.operands[0]) && is_truth(value.operands[1]));
}

KernelText::Text KernelText::truth(const Value& value) {
  if (value.kind != Value::Kind::op || !is_truth(value)) return text(value);
  const auto &x = value.operands[0], &y = value.operands[1];
  if (ir::is_comparison(value.op)) return {infix(text(x), value.op, text(y)).text, 1};
  const bool both = value.op == OpCode::bit_and;
  const auto side = [&](const Value& operand) {
    const bool alike = is_truth(operand) && operand.op == value.op;
    return alike ? truth(operand).text : in_brackets(truth(operand), 1);
  };
  return {fmt::format("{} {} {}", side(x), both ? "&&" : "||", side(y)), both ? 1 : 0};
}

KernelText::Text KernelText::text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::load:
      return {load(value.access), value.access.lanes > 1 && array(value.access).lanes == 1 && cpu_ ? 2 : 3};
    case Value::Kind::param:
      return {kernel_.params[static_cast<std::size_t>(value.param)].name, 3};
    case Value::Kind::constant:
      return constant(value);
    case Value::Kind::index:
      return {value.affine.terms.size() == 1 && value.affine == Affine::of(value.affine.terms.front().var)
                  ? fmt::format("(i64){}", affine(value.affine))
                  : fmt::format("(i64)({})", affine(value.affine)),
              2};
    case Value::Kind::pack:
      pieces_ = pieces_ || value.operands.front().lanes() > 1;
      if (value.operands.front().lanes() > 1) return {fmt::format("join({})", operands(value)), 3};
      return {fmt::format("{}{{{}}}", vector_type(value.type, value.lanes()), operands(value, cpu_ ? ".bits" : "")), 3};
    case Value::Kind::part:
      pieces_ = true;
      vector_type(value.type, value.lanes());
      return {fmt::format("part_of<{}, {}, {}>({})", c_type(value.type), affine(value.affine), value.lanes(),
                          text(value.operands[0]).text),
              3};
    case Value::Kind::shuffle:
    case Value::Kind::shuffle_up:
      return {fmt::format("{}({}, {})", value.kind == Value::Kind::shuffle ? "shuffle" : "shuffle_up",
                          text(value.operands[0]).text, affine(value.affine)),
              3};
    case Value::Kind::power_of_two:
      return {fmt::format("power_of_two({})", text(value.operands[0]).text), 3};
    case Value::Kind::ballot:
      return {fmt::format("ballot({})", truth(value.operands[0]).text), 3};
    case Value::Kind::op:
      return operation(value);
    default:
      break;
  }
  const char* name = kLaneFunctions[static_cast<int>(value.kind) - static_cast<int>(Value::Kind::prefixes)];
  vector_type(value.type, value.lanes());
  auto of = value.type;
  if (value.kind == Value::Kind::interleave) vector_type(of, value.lanes() / 2);
  if (value.kind == Value::Kind::dot) {
    of = value.operands[1].type;
    vector_type(DType::u32, value.lanes());
    for (const auto& operand : value.operands) vector_type(operand.type, operand.lanes());
  }
  lane_functions_[name].emplace(of, value.lanes());
  return {fmt::format("{}({})", name, operands(value)), 3};
}

KernelText::Text KernelText::constant(const Value& value) {
  auto text = is_integer(value.type) ? literal(value.bits, value.type) : literal(value.number, value.type);
  const int rank = text[0] == '-' || text[0] == '(' ? 2 : 3;
  const bool negative = text[0] == '-' && is_real(value.type);
  return {std::move(text), rank, negative};
}

/// Operations that vectors have: those that expand() gives to vectors.
KernelText::Text KernelText::on_lanes(const Value& value, const Text& x, const Text& y) {
  const auto type = vector_type(value.type, value.lanes());
  if (operator_of(value.op) != nullptr) return infix(x, value.op, y);
  switch (value.op) {
    case OpCode::neg:
      return {"-" + in_brackets(x, 3), 2};
    case OpCode::scale:
      return {fmt::format("{} == 0 ? ({})0 : {}", in_brackets(x, 2), type, infix(x, OpCode::mul, y).text), 0};
    case OpCode::cast: {
      const auto from = value.operands.front().type;
      if (!is_half(value.type) && !is_half(from))
        return {fmt::format("__builtin_convertvector({}, {})", x.text, type), 3};
      const auto half = is_half(value.type) ? value.type : from;
      const auto function = fmt::format("{}_{}", is_half(value.type) ? "narrow" : "widen", ricci::name(half));
      for (const auto part : {half, DType::u32}) vector_type(part, value.lanes());
      lane_functions_[function].insert({half, value.lanes()});
      return {fmt::format("{}({})", function, x.text), 3};
    }
    case OpCode::sqrt:
      return {fmt::format("__builtin_elementwise_sqrt({})", x.text), 3};
    case OpCode::rsqrt:
      return {fmt::format("{} / __builtin_elementwise_sqrt({})", literal(Scalar(1), value.type), x.text), 2};
    case OpCode::absolute:
      return {fmt::format("__builtin_elementwise_abs({})", x.text), 3};
    case OpCode::minimum:
    case OpCode::maximum:
      return {fmt::format("{}<{}>({}, {})", ir::name_of(value.op), type, x.text, y.text), 3};
    default:
      if (ir::is_function_of_vectors(value.op)) return lane_function(value.op, value.type, value.lanes(), x, y);
      throw InternalError(fmt::format("no text for vectors of the operation {}", ir::name_of(value.op)));
  }
}

KernelText::Text KernelText::lane_function(OpCode op, DType type, int lanes, const Text& x, const Text& y) {
  const auto operands = y.text.empty() ? x.text : fmt::format("{}, {}", x.text, y.text);
  return {fmt::format("Lanes<{}, {}>::{}({})", c_type(type), lanes, ir::name_of(op), operands), 3};
}

KernelText::Text KernelText::operation(const Value& value) {
  const auto& operands = value.operands;
  if (value.lanes() == 1 && ir::is_comparison(value.op)) return {fmt::format("(u8)({})", truth(value).text), 2};
  // As text says it, compilers fuse a product of complex numbers in itself alone: six instructions in place of four.
  if (value.op == OpCode::add && kernel_.contracts && is_complex(value.type) && value.lanes() == 1) {
    const auto is_product = [](const Value& one) { return one.kind == Value::Kind::op && one.op == OpCode::mul; };
    const auto product = std::find_if(operands.rbegin(), operands.rend(), is_product);
    if (product != operands.rend()) {
      const auto& addend = operands[product == operands.rbegin() ? 0 : 1];
      return {fmt::format("add_product({}, {})", text(addend).text, this->operands(*product)), 3};
    }
  }
  const auto x = value.op == OpCode::select ? truth(operands[0]) : text(operands[0]);
  const auto y = operands.size() > 1 ? text(operands[1]) : Text{};
  if (value.lanes() > 1) return on_lanes(value, x, y);
  if (value.never_nan && (value.op == OpCode::minimum || value.op == OpCode::maximum))
    return {fmt::format("{}({}, {})", value.op == OpCode::minimum ? "least" : "greatest", x.text, y.text), 3};
  return scalar(value.op, value.type, operands[0].type, x, y, operands.size() > 2 ? text(operands[2]) : Text{});
}

KernelText::Text KernelText::scalar(OpCode op, DType dtype, DType from, const Text& x, const Text& y,
                                    const Text& z) const {
  const std::string type = c_type(dtype);
  const bool real = is_real(dtype);
  // C computes with integers narrower than int as ints: what they combine to is cast back.
  const bool narrow = is_integer(dtype) && size_of(dtype) < 4;
  const auto call = [&](const std::string& function) {
    return Text{
        y.text.empty() ? fmt::format("{}({})", function, x.text) : fmt::format("{}({}, {})", function, x.text, y.text),
        3};
  };
  if (const auto* found = operator_of(op)) {
    const bool on_bits = found->function == nullptr;
    if (!on_bits && !real) return call(found->function);
    // The interpreter adds from the left: a sum on the right keeps its brackets.
    if (op == OpCode::add && y.negative) return infix(x, OpCode::sub, {y.text.substr(1)});
    auto text = infix(x, op, y);
    return on_bits && narrow ? Text{fmt::format("({})({})", type, text.text), 2} : text;
  }
  for (const auto& [code, name] : kFunctions) {
    if (code == op) return call(fmt::format(fmt::runtime(name), type));
  }
  // What vectors leave over has their bits.
  if (on_lanes_.contains({op, dtype})) return lane_function(op, dtype, 1, x, y);
  switch (op) {
    case OpCode::neg:
      return real ? Text{"-" + in_brackets(x, 3), 2} : call("neg");
    case OpCode::cast:
      if (is_integer(from) && is_half(dtype))
        return {fmt::format("cast_{}(cast_f64({}))", ricci::name(dtype), x.text), 3};
      if (is_integer(dtype)) return {fmt::format("({}){}", type, in_brackets(x, 3)), 2};
      return call(fmt::format("cast_{}", ricci::name(dtype)));
    case OpCode::tf32:
      return call(cpu_ ? "nearest_tf32" : "to_tf32");
    case OpCode::tf32_rest:
      return call(cpu_ ? "nearest_tf32_rest" : "tf32_rest");
    case OpCode::real_part:
      return {in_brackets(x, 3) + ".re", 3};
    case OpCode::imag_part:
      return {in_brackets(x, 3) + ".im", 3};
    case OpCode::complex_of:
      return {fmt::format("{}{{{}, {}}}", type, x.text, y.text), 3};
    case OpCode::rsqrt:
      if (is_called(op, dtype)) return call(function_name(op, dtype));
      if (!cpu_) return call(function("rsqrt", dtype));
      return {fmt::format("{} / {}({})", literal(Scalar(1), dtype), function("sqrt", dtype), x.text), 2};
    case OpCode::remainder:
      return call(real ? function("fmod", dtype) : fmt::format("remainder_of<{}>", type));
    case OpCode::bit_not:
      return {fmt::format("{}~{}", narrow ? fmt::format("({})", type) : "", in_brackets(x, 3)), 2};
    case OpCode::popcount: {
      // Narrow signed values must not bring their sign along.
      const bool wide = size_of(dtype) == 8;
      const auto word = wide ? x.text : fmt::format("(u{}){}", 8 * size_of(dtype), in_brackets(x, 3));
      const char* function =
          cpu_ ? (wide ? "__builtin_popcountll" : "__builtin_popcount") : (wide ? "popcount64" : "popcount32");
      return {fmt::format("({}){}({})", type, function, word), 2};
    }
    case OpCode::select:
      return {fmt::format("{} ? {} : {}", in_brackets(x, 1), in_brackets(y, 1), in_brackets(z, 1)), 0};
    default:
      return call(is_called(op, dtype) ? function_name(op, dtype) : function(ir::name_of(op), dtype));
  }
}

bool KernelText::is_called(OpCode op, DType type) const {
  const auto places = functions_.find({op, type});
  return !cpu_ && places != functions_.end() && places->second > kWrittenOut;
}

std::string KernelText::function(const std::string& name, DType type) const {
  return (cpu_ ? "__builtin_" : "") + name + (type == DType::f32 ? "f" : "");
}

std::string KernelText::in_brackets(const Text& x, int rank) { return x.rank < rank ? "(" + x.text + ")" : x.text; }

KernelText::Text KernelText::infix(const Text& x, OpCode op, const Text& y) {
  const auto& [code, symbol, rank, function] = *operator_of(op);
  // Parentheses around what comparisons and operations on bits combine: few readers know C's precedence of them.
  return {fmt::format("{} {} {}", in_brackets(x, std::max(rank, 1)), symbol, in_brackets(y, rank + 1)), rank};
}

}  // namespace ricci::codegen
