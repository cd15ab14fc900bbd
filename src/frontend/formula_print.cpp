// The text form of programs, as the parser reads it back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "frontend/formula.hpp"
#include "ir/own_stack.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

/// Words with a meaning of their own: no names.
constexpr std::string_view kWords[] = {
    "program",
    "index",
    "grid",
    "param",
    "input",
    "output",
    "inout",
    "local",
    "temp",
    "einstein",
    "exact",
    "on",
    "layout",
    "sym",
    "antisym",
    "soa",
    "blocked",
    "pointers",
    "strides",
    "align",
    "outside",
    "sqrt",
    "cbrt",
    "rsqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "abs",
    "sign",
    "pow",
    "real",
    "imag",
    "atan2",
    "hypot",
    "min",
    "max",
    "select",
    "conj",
    "mod",
    "and",
    "or",
    "xor",
    "not",
    "shl",
    "shr",
    "popcount",
    "cast",
    "guard",
    "det3",
    "inv3",
    "delta",
    "diag",
    "sum",
    "product",
    "minimum",
    "maximum",
    "andall",
    "orall",
    "xorall",
    "reduce",
    "scan",
    "compact",
    "exclusive_scan",
};

/// Operator precedence of a printed expression.
enum Level { kOr, kXor, kAnd, kComparison, kSum, kProduct, kUnary, kAtom };

struct Text {
  std::string text;
  Level level;
};

std::string number_text(const Expr& number) {
  const auto real = [](double value) {
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  };
  const auto value = number.value;
  if (number.integral) return fmt::format("{:.0f}", value.real());
  if (value.imag() == 0) return real(value.real());
  if (value.real() == 0 && !std::signbit(value.real())) return real(value.imag()) + "i";
  return fmt::format("({} {} {}i)", real(value.real()), std::signbit(value.imag()) ? '-' : '+',
                     real(std::abs(value.imag())));
}

class Printer {
 public:
  explicit Printer(const ProgramGraph& program) : program_(program) {}

  Text print(ExprId id) const {
    const auto& expr = program_.expr(id);
    switch (expr.kind) {
      case Kind::number: {
        const bool negative =
            std::signbit(expr.value.real()) || (expr.value.real() == 0 && std::signbit(expr.value.imag()));
        const bool pair = expr.value.real() != 0 && expr.value.imag() != 0;
        return {number_text(expr), negative && !pair ? kUnary : kAtom};
      }
      case Kind::param:
        return {program_.params[static_cast<std::size_t>(expr.source)].name, kAtom};
      case Kind::index:
        return {name(expr.source), kAtom};
      case Kind::access:
        return {access(expr), kAtom};
      case Kind::op:
        return operation(expr);
      case Kind::reduce:
        return {fmt::format("{}({}, {})", reduction_word(expr.op), over(expr.over), top(expr.operands[0])), kAtom};
      case Kind::scan:
        return {fmt::format("{}({}, {}, {})", expr.exclusive ? "exclusive_scan" : "scan", combiner(expr.op),
                            over(expr.over), top(expr.operands[0])),
                kAtom};
      case Kind::compact:
        return {fmt::format("compact({}, {}, {})", over(expr.over), top(expr.operands[0]), top(expr.operands[1])),
                kAtom};
      case Kind::guard:
        return call("guard", expr);
      case Kind::determinant:
        return call("det3", expr);
      case Kind::inverse:
        return call("inv3", expr);
      case Kind::delta:
        return {fmt::format("delta({}, {})", name(expr.over[0]), name(expr.over[1])), kAtom};
      case Kind::diagonal:
        return call("diag", expr);
    }
    return {"?", kAtom};
  }

  std::string access(const Expr& expr) const {
    std::vector<std::string> slots;
    for (const auto& slot : expr.slots) slots.push_back(print_slot(program_, slot));
    return fmt::format("{}({})", program_.tensor(expr.source).name, fmt::join(slots, ","));
  }

  std::string top(ExprId id) const { return print(id).text; }

 private:
  const std::string& name(int index) const { return program_.indices[static_cast<std::size_t>(index)].name; }

  std::string over(const std::vector<int>& indices) const {
    std::vector<std::string> names;
    for (const int index : indices) names.push_back(name(index));
    return fmt::format("{}", fmt::join(names, " "));
  }

  static std::string combiner(OpCode op) {
    const std::string word = reduction_word(op);
    return word.ends_with("all") ? word.substr(0, word.size() - 3) : word;
  }

  /// An operand, in parentheses where its precedence is below `level`.
  std::string at(ExprId id, Level level) const {
    const auto made = print(id);
    return made.level >= level ? made.text : "(" + made.text + ")";
  }

  Text call(const std::string& function, const Expr& expr) const {
    std::vector<std::string> operands;
    for (const auto id : expr.operands) operands.push_back(top(id));
    return {fmt::format("{}({})", function, fmt::join(operands, ", ")), kAtom};
  }

  Text operation(const Expr& expr) const {
    const auto infix = [&](Level level, bool right_too) {
      const auto right = static_cast<Level>(level + (right_too ? 0 : 1));
      return Text{fmt::format("{} {} {}", at(expr.operands[0], level), symbol(expr.op), at(expr.operands[1], right)),
                  level};
    };
    switch (expr.op) {
      case OpCode::add:
      case OpCode::sub:
        return infix(kSum, false);
      case OpCode::mul:
      case OpCode::div: {
        const auto left = at(expr.operands[0], kProduct), right = at(expr.operands[1], kUnary);
        return {fmt::format("{}{}{}", left, symbol(expr.op), right), kProduct};
      }
      case OpCode::bit_or:
        return infix(kOr, false);
      case OpCode::bit_xor:
        return infix(kXor, false);
      case OpCode::bit_and:
        return infix(kAnd, false);
      case OpCode::neg:
        return {"-" + at(expr.operands[0], kUnary), kUnary};
      case OpCode::equal:
      case OpCode::not_equal:
      case OpCode::less:
      case OpCode::less_equal: {
        return {fmt::format("{} {} {}", at(expr.operands[0], kSum), symbol(expr.op), at(expr.operands[1], kSum)),
                kComparison};
      }
      case OpCode::cast:
        return {fmt::format("cast({}, {})", ricci::name(expr.type), top(expr.operands[0])), kAtom};
      default:
        return call(symbol(expr.op), expr);
    }
  }

  const ProgramGraph& program_;
};

/// What is added before what is subtracted, then the offset where `with_offset`.
std::string sum_text(const ProgramGraph& program, const SlotSum& sum, bool with_offset) {
  std::string text;
  const auto add = [&](const SlotTerm& term) {
    const auto& name = program.indices[static_cast<std::size_t>(term.index)].name;
    const bool minus = term.coefficient < 0;
    if (minus || !text.empty()) text += minus ? '-' : '+';
    const auto factor = fmt::format("{}", term.coefficient);
    if (factor != "1" && factor != "-1") text += factor.substr(minus ? 1 : 0) + '*';
    text += name;
  };
  for (const auto& term : sum.terms) {
    if (term.coefficient > 0) add(term);
  }
  for (const auto& term : sum.terms) {
    if (term.coefficient < 0) add(term);
  }
  if (with_offset) text += text.empty() ? fmt::format("{}", sum.offset) : fmt::format("{:+d}", sum.offset);
  return text;
}

const char* role_word(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return "input";
    case TensorRole::output:
      return "output";
    case TensorRole::inout:
      return "inout";
    case TensorRole::local:
      return "local";
    case TensorRole::temp:
      return "temp";
  }
  return "?";
}

std::string declaration(const ProgramGraph& program, const TensorDecl& tensor) {
  std::vector<std::string> slots;
  for (const auto& slot : tensor.slots) {
    slots.push_back(print_sum(program, slot));
  }
  auto text = fmt::format("{} {}({}) : {}", role_word(tensor.role), tensor.name, fmt::join(slots, ", "),
                          ricci::name(tensor.type));
  const auto& form = tensor.form;
  for (const auto& symmetry : form.symmetry.list) {
    text += fmt::format(" {}({})", symmetry.antisymmetric ? "antisym" : "sym", fmt::join(symmetry.slots, ","));
  }
  if (form.on_grid) text += fmt::format(" on {}", program.indices[static_cast<std::size_t>(program.grid)].name);
  switch (form.storage) {
    case Storage::dense:
      break;
    case Storage::soa:
      text += form.parameter != 0 ? fmt::format(" layout soa({})", form.parameter) : " layout soa";
      break;
    case Storage::pointers:
      text += " layout pointers";
      break;
    case Storage::blocked:
      text += fmt::format(" layout blocked({})", form.parameter);
      break;
  }
  if (!form.strides.empty()) text += fmt::format(" strides({})", fmt::join(form.strides, ","));
  if (form.outside) text += fmt::format(" outside({})", *form.outside);
  if (form.alignment != TensorForm{}.alignment) text += fmt::format(" align({})", form.alignment);
  return text;
}

}  // namespace

bool is_word(std::string_view name) noexcept {
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)) return true;
  for (int k = 0; k < kDTypeCount; ++k) {
    if (name == ricci::name(static_cast<DType>(k))) return true;
  }
  return false;
}

const char* symbol(OpCode op) noexcept {
  switch (op) {
    case OpCode::add:
      return "+";
    case OpCode::sub:
    case OpCode::neg:
      return "-";
    case OpCode::mul:
    case OpCode::scale:
      return "*";
    case OpCode::div:
      return "/";
    case OpCode::minimum:
      return "min";
    case OpCode::maximum:
      return "max";
    case OpCode::equal:
      return "==";
    case OpCode::not_equal:
      return "!=";
    case OpCode::less:
      return "<";
    case OpCode::less_equal:
      return "<=";
    default:
      return ir::name_of(op);
  }
}

const char* symbol(Assign op) noexcept {
  constexpr const char* kSymbols[] = {"=", "+=", "-=", "*=", "/="};
  return kSymbols[static_cast<std::size_t>(op)];
}

const char* reduction_word(OpCode op) noexcept {
  switch (op) {
    case OpCode::mul:
      return "product";
    case OpCode::minimum:
      return "minimum";
    case OpCode::maximum:
      return "maximum";
    case OpCode::bit_and:
      return "andall";
    case OpCode::bit_or:
      return "orall";
    case OpCode::bit_xor:
      return "xorall";
    default:
      return "sum";
  }
}

std::string braces(const ProgramGraph& program, const std::vector<int>& indices) {
  std::vector<std::string> names;
  for (const int index : indices) names.push_back(program.indices[static_cast<std::size_t>(index)].name);
  std::sort(names.begin(), names.end());
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::string print_symmetries(const std::vector<Symmetry>& list) {
  if (list.empty()) return "{}";
  std::string text;
  for (const auto& symmetry : list) {
    text += fmt::format("{}({})", symmetry.antisymmetric ? "-" : "", fmt::join(symmetry.slots, " "));
  }
  return text;
}

std::string print_sum(const ProgramGraph& program, const SlotSum& sum) {
  return sum_text(program, sum, sum.fixed() || sum.offset != 0);
}

std::string print_slot(const ProgramGraph& program, const SlotValue& slot) {
  if (slot.position >= 0) return print(program, slot.position);
  const bool plain = slot.index() >= 0 && !slot.shifted;
  return slot.index() >= 0 ? sum_text(program, slot, !plain) : print_sum(program, slot);
}

std::string print(const ProgramGraph& program, ExprId id) {
  constexpr double kMostQuoted = 10000;
  if (program.expr(id).terms > kMostQuoted) return fmt::format("({:.3g} terms)", program.expr(id).terms);
  const auto depth = static_cast<std::size_t>(program.expr(id).depth);
  return on_stack_of(stack_for(depth), [&] { return Printer(program).top(id); });
}

namespace {

std::string print_whole(const ProgramGraph& program) {
  auto text = fmt::format("program {}\n", program.name);
  if (program.exact) text += "exact\n";
  for (std::size_t k = 0; k < program.indices.size(); ++k) {
    const auto& index = program.indices[k];
    text += fmt::format("{} {}", static_cast<int>(k) == program.grid ? "grid" : "index", index.name);
    text += index.extent == kOpenExtent ? "\n" : fmt::format(" = {}\n", index.extent);
  }
  for (const auto& param : program.params) text += fmt::format("param {} : {}\n", param.name, ricci::name(param.type));
  for (const auto& tensor : program.tensors) text += declaration(program, tensor) + "\n";
  for (const auto& statement : program.statements) {
    const Printer printer(program);
    const auto& target = program.expr(statement.target);
    auto left = printer.access(target);
    if (statement.asserted) {
      std::string words;
      for (const auto& symmetry : program.tensor(target.source).form.symmetry.list) {
        const bool free = std::all_of(symmetry.slots.begin(), symmetry.slots.end(),
                                      [&](int p) { return target.slots[static_cast<std::size_t>(p)].index() >= 0; });
        if (!free) continue;
        words += fmt::format("{}({}), ", symmetry.antisymmetric ? "antisym" : "sym", fmt::join(symmetry.slots, ","));
      }
      left.insert(left.find('(') + 1, words);
    }
    text += fmt::format("{} {} {}\n", left, symbol(statement.op), printer.top(statement.value));
  }
  return text;
}

}  // namespace

std::string print(const ProgramGraph& program) {
  constexpr double kMostTerms = 1e7;
  for (const auto& statement : program.statements) {
    const auto terms = program.expr(statement.value).terms;
    if (terms <= kMostTerms) continue;
    throw SpecError(
        fmt::format("the text of a statement would have {:.3g} terms, as it writes out what is shared; {:.0g} "
                    "is the most. Give shared parts to locals or temps{}",
                    terms, kMostTerms, statement.where));
  }
  return on_stack_of(stack_for(static_cast<std::size_t>(program.deepest())), [&] { return print_whole(program); });
}

}  // namespace ricci::formula
