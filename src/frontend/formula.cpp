#include "frontend/formula.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "frontend/index_set.hpp"
#include "ir/interpret/interpret_value.hpp"
#include "ir/types.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

/// Passes that walk an expression get a stack for its depth (own_stack.hpp): 80 MB of address space for this one.
constexpr int kMaxDepth = 20000;

std::string key_of(const Expr& expr) {
  std::string key =
      fmt::format("{} {} {} {}{}{}{} {} {:a} {:a}|{}|{}|", static_cast<int>(expr.kind), static_cast<int>(expr.op),
                  static_cast<int>(expr.type), expr.literal, expr.integral, expr.truth, expr.exclusive, expr.source,
                  expr.value.real(), expr.value.imag(), fmt::join(expr.operands, ","), fmt::join(expr.over, ","));
  for (const auto& slot : expr.slots) {
    for (const auto& term : slot.terms) key += fmt::format("{}*{} ", term.coefficient, term.index);
    key += fmt::format("{}{},{},", slot.shifted ? '+' : '=', slot.offset, slot.position);
  }
  return key;
}

DType complex_of(DType type) { return type == DType::f64 || type == DType::c128 ? DType::c128 : DType::c64; }

bool is_bitwise(OpCode op) {
  return op == OpCode::bit_and || op == OpCode::bit_or || op == OpCode::bit_xor || op == OpCode::shift_left ||
         op == OpCode::shift_right;
}

[[noreturn]] void fail_type(const SourcePosition& place, const std::string& what) { fail(place, "TypeError: " + what); }

}  // namespace

DType promote(DType x, DType y, const SourcePosition& place) {
  if (x == y) return x;
  if (is_integer(x) && is_integer(y)) {
    if (is_signed(x) == is_signed(y)) return size_of(x) > size_of(y) ? x : y;
    const auto with_sign = is_signed(x) ? x : y, without_sign = is_signed(x) ? y : x;
    if (size_of(with_sign) > size_of(without_sign)) return with_sign;
    // NumPy's: the next wider signed type holds both. Of u64 there is none.
    if (without_sign == DType::u8) return DType::i16;
    if (without_sign == DType::u16) return DType::i32;
    if (without_sign == DType::u32) return DType::i64;
    fail_type(place, fmt::format("{} and {} have no common type; cast one of them", ricci::name(x), ricci::name(y)));
  }
  if (is_integer(x)) return arithmetic(y);
  if (is_integer(y)) return arithmetic(x);
  const bool wide = x == DType::f64 || y == DType::f64 || x == DType::c128 || y == DType::c128;
  if (is_complex(x) || is_complex(y)) return wide ? DType::c128 : DType::c64;
  return wide ? DType::f64 : DType::f32;
}

ExprId ProgramGraph::intern(Expr made, const SourcePosition& place) {
  made.terms = 1;
  for (const auto operand : made.operands) {
    made.depth = std::max(made.depth, expr(operand).depth + 1);
    made.terms += expr(operand).terms;
  }
  if (made.kind == Kind::access && tensor(made.source).role == TensorRole::local) {
    const auto* defined = definition(*this, made.source);
    if (defined != nullptr && !tensor(made.source).expanded()) {
      made.depth = std::max(made.depth, expr(defined->value).depth + 1);
    }
  }
  if (made.depth > kMaxDepth) {
    fail(place, fmt::format("an expression nests more than {} operations deep; use several statements", kMaxDepth));
  }
  const auto [found, fresh] = known_.try_emplace(key_of(made), static_cast<ExprId>(exprs.size()));
  if (fresh) exprs.push_back(std::move(made));
  return found->second;
}

void ProgramGraph::merge(Expr& made, const SourcePosition& place) const {
  for (const auto id : made.operands) {
    const auto& operand = expr(id);
    if (operand.kind == Kind::scan || operand.kind == Kind::compact) {
      fail(place, fmt::format("a {} is a whole right side; give it a statement of its own",
                              operand.kind == Kind::scan ? "scan" : "compaction"));
    }
    for (const auto& [free, bound] :
         {std::pair{&operand, static_cast<const Expr*>(&made)}, std::pair{static_cast<const Expr*>(&made), &operand}}) {
      auto clash = common(free->free, bound->bound);
      if (free->on_grid && contains(bound->bound, grid)) clash.push_back(grid);
      if (!clash.empty()) {
        fail(place, fmt::format("SumError: '{}' is free in one operand and summed over in another; use another index "
                                "for the sum",
                                indices[static_cast<std::size_t>(clash.front())].name));
      }
    }
    made.free = united(made.free, operand.free);
    made.bound = united(made.bound, operand.bound);
    made.repeated = united(made.repeated, operand.repeated);
    made.on_grid = made.on_grid || operand.on_grid;
    made.strict = made.strict || operand.strict;
  }
}

ExprId ProgramGraph::number(Scalar value, bool integral) {
  Expr made;
  made.kind = Kind::number;
  made.literal = true;
  made.integral = integral && value.imag() == 0;
  made.type = value.imag() != 0 ? DType::c128 : (made.integral ? DType::i64 : DType::f64);
  made.value = value;
  return intern(std::move(made), {});
}

ExprId ProgramGraph::param(int id) {
  Expr made;
  made.kind = Kind::param;
  made.source = id;
  made.type = params[static_cast<std::size_t>(id)].type;
  return intern(std::move(made), {});
}

ExprId ProgramGraph::index(int id, const SourcePosition& place) {
  Expr made;
  made.kind = Kind::index;
  made.source = id;
  made.type = DType::i64;
  if (id == grid) {
    made.on_grid = made.strict = true;
  } else {
    made.free = {id};
  }
  return intern(std::move(made), place);
}

/// An access whose `free` lists the indices of its slots, sorted, as often as they stand there.
Expr ProgramGraph::plain_access(int id, const std::vector<SlotValue>& slots) const {
  const auto& declared = tensor(id);
  Expr made;
  made.kind = Kind::access;
  made.source = id;
  made.type = declared.type;
  made.on_grid = declared.form.on_grid;
  made.strict = declared.expanded();
  for (const auto& slot : slots) {
    for (const auto& term : slot.terms) {
      if (term.index == grid) {
        made.on_grid = true;
      } else {
        made.free.push_back(term.index);
      }
    }
  }
  std::sort(made.free.begin(), made.free.end());
  return made;
}

ExprId ProgramGraph::make_access(int id, std::vector<SlotValue> slots, bool diagonal, const SourcePosition& place) {
  check_slots(id, slots, -1, true, place);
  auto made = plain_access(id, slots);
  const auto all = made.free;
  made.free.erase(std::unique(made.free.begin(), made.free.end()), made.free.end());
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (all[k] == all[k - 1] && !contains(made.repeated, all[k])) made.repeated.push_back(all[k]);
  }
  if (!made.repeated.empty() && !diagonal && !einstein) {
    std::vector<std::size_t> at;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      if (slots[k].holds(made.repeated.front())) at.push_back(k);
    }
    const auto& twice = indices[static_cast<std::size_t>(made.repeated.front())].name;
    fail(place, fmt::format("RepeatedIndex: '{}' appears in slots {} and {} of '{}'; write diag({}(...)) where the "
                            "diagonal is meant, or use einstein mode to sum over it",
                            twice, at[0], at[1], tensor(id).name, tensor(id).name));
  }
  made.slots = std::move(slots);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::access(int id, std::vector<SlotValue> slots, const SourcePosition& place) {
  const auto made = make_access(id, std::move(slots), false, place);
  const auto repeated = expr(made).repeated;
  return repeated.empty() ? made : make_reduce(OpCode::add, repeated, diagonal(made, place), place);
}

ExprId ProgramGraph::diagonal_access(int id, std::vector<SlotValue> slots, const SourcePosition& place) {
  return diagonal(make_access(id, std::move(slots), true, place), place);
}

ExprId ProgramGraph::diagonal(ExprId x, const SourcePosition& place) {
  Expr made;
  made.kind = Kind::diagonal;
  made.type = expr(x).type;
  made.truth = expr(x).truth;
  made.operands = {x};
  merge(made, place);
  made.repeated.clear();
  return intern(std::move(made), place);
}

DType ProgramGraph::common_type(ExprId x, ExprId y, const SourcePosition& place) const {
  const auto& a = expr(x);
  const auto& b = expr(y);
  if (a.literal == b.literal) return arithmetic(promote(a.type, b.type, place));
  const auto& number = a.literal ? a : b;
  const auto other = arithmetic(a.literal ? b.type : a.type);
  if (number.value.imag() != 0) return complex_of(other);
  if (number.integral || !is_integer(other)) return other;
  return DType::f64;
}

/// The rules of tensor algebra, for expressions with fields; others are evaluated point by point.
void ProgramGraph::check_ranks(OpCode op, ExprId x, ExprId y, const SourcePosition& place) const {
  const auto& a = expr(x);
  const auto& b = expr(y);
  if (!a.strict && !b.strict) return;
  if (op == OpCode::mul) return;
  if (op == OpCode::add || op == OpCode::sub) {
    if (a.free == b.free) return;
    const auto text = fmt::format("\n  left:  {}\n  right: {}", formula::print(*this, x), formula::print(*this, y));
    if (a.free.empty() || b.free.empty()) {
      fail(place, fmt::format("RankError: '{}' needs operands of one rank, got {} and {}{}", symbol(op),
                              braces(*this, a.free), braces(*this, b.free), text));
    }
    fail(place, fmt::format("IndexMismatch: operands of '{}' have free indices {} and {}{}", symbol(op),
                            braces(*this, a.free), braces(*this, b.free), text));
  }
  if (op == OpCode::div) {
    if (b.free.empty()) return;
    fail(place, fmt::format("RankError: '/' needs a rank-0 right operand, got {}: {}", braces(*this, b.free),
                            formula::print(*this, y)));
  }
  // What else there is of two operands is done element by element, with one number for all elements or with the same
  // elements of both.
  if (a.free == b.free || a.free.empty() || b.free.empty()) return;
  fail(place,
       fmt::format("IndexMismatch: '{}' is done element by element and needs operands with the same free indices, or "
                   "one without any; got {} and {}\n  left:  {}\n  right: {}",
                   symbol(op), braces(*this, a.free), braces(*this, b.free), formula::print(*this, x),
                   formula::print(*this, y)));
}

ExprId ProgramGraph::make_binary(OpCode op, DType type, ExprId x, ExprId y, const SourcePosition& place) {
  Expr made;
  made.kind = Kind::op;
  made.op = op;
  made.type = type;
  made.truth = is_comparison(op) || (expr(x).truth && expr(y).truth && is_bitwise(op));
  made.operands = {x, y};
  merge(made, place);
  if (op == OpCode::mul) made.repeated = united(made.repeated, common(expr(x).free, expr(y).free));
  return intern(std::move(made), place);
}

ExprId ProgramGraph::binary(OpCode op, ExprId x, ExprId y, const SourcePosition& place) {
  if (expr(x).literal && expr(y).literal) {
    const auto a = expr(x).value, b = expr(y).value;
    const bool integral = expr(x).integral && expr(y).integral;
    // From 2^53 on, a whole number may have been rounded: it is an f64 like any other.
    const auto whole_or_real = [&](Scalar value) { return number(value, integral && std::abs(value.real()) < 0x1p53); };
    if (op == OpCode::add) return whole_or_real(a + b);
    if (op == OpCode::sub) return whole_or_real(a - b);
    if (op == OpCode::mul) return whole_or_real(a * b);
    if (op == OpCode::div && b != Scalar(0)) {
      const bool whole = integral && std::remainder(a.real(), b.real()) == 0;
      return number(b.imag() == 0 ? a / b.real() : a / b, whole);
    }
  }
  if (op == OpCode::div && expr(y).literal && expr(y).value == Scalar(0)) fail(place, "a division by the number 0");
  check_ranks(op, x, y, place);
  auto type = common_type(x, y, place);
  if (is_bitwise(op)) {
    if (!is_integer(type)) {
      fail_type(place, fmt::format("'{}' is for integers, got {} and {}", symbol(op), ricci::name(expr(x).type),
                                   ricci::name(expr(y).type)));
    }
    if (op == OpCode::shift_left || op == OpCode::shift_right) type = expr(x).literal ? type : expr(x).type;
  } else if (is_comparison(op) || op == OpCode::minimum || op == OpCode::maximum || op == OpCode::remainder) {
    if (is_complex(type) && op != OpCode::equal && op != OpCode::not_equal) {
      fail_type(place, fmt::format("'{}' is for real values{}", symbol(op),
                                   is_comparison(op) ? "; complex ones have no order, only == and !=" : ""));
    }
    if (is_comparison(op)) type = DType::u8;
  } else if (op == OpCode::pow || op == OpCode::atan2 || op == OpCode::hypot) {
    if (is_complex(type) && op != OpCode::pow) fail_type(place, fmt::format("'{}' is for real values", symbol(op)));
    if (is_integer(type)) type = DType::f64;
  }
  if (op != OpCode::mul || !einstein) return make_binary(op, type, x, y, place);
  const auto contracted = common(expr(x).free, expr(y).free);
  if (const auto twice = common(expr(x).bound, expr(y).bound); !twice.empty()) {
    fail(place, fmt::format("SumError: '{}' repeats more than twice in a product",
                            indices[static_cast<std::size_t>(twice.front())].name));
  }
  const auto made = make_binary(op, type, x, y, place);
  return contracted.empty() ? made : make_reduce(OpCode::add, contracted, made, place);
}

ExprId ProgramGraph::negate(ExprId x, const SourcePosition& place) {
  if (expr(x).literal) return number(-expr(x).value, expr(x).integral);
  return unary(OpCode::neg, x, place);
}

ExprId ProgramGraph::unary(OpCode op, ExprId x, const SourcePosition& place) {
  const auto& operand = expr(x);
  const bool complex = is_complex(operand.type);
  if ((op == OpCode::conj || op == OpCode::real_part) && !complex) return x;
  Expr made;
  made.kind = Kind::op;
  made.op = op;
  made.type = arithmetic(operand.type);
  const auto part = part_type(made.type);
  switch (op) {
    case OpCode::neg:
    case OpCode::conj:
      break;
    case OpCode::popcount:
    case OpCode::bit_not:
      if (is_integer(made.type)) break;
      fail_type(place, fmt::format("'{}' is for integers, got {}", symbol(op), ricci::name(operand.type)));
    case OpCode::real_part:
    case OpCode::imag_part:
      if (!complex)
        fail_type(place, fmt::format("'{}' is for complex values, got {}", symbol(op), ricci::name(operand.type)));
      made.type = part;
      break;
    case OpCode::absolute:
      if (complex) made.type = part;
      break;
    case OpCode::sign:
      if (complex) fail_type(place, "'sign' is for real values");
      break;
    default:
      if (complex) break;
      if (operand.literal) return number(ir::oracle::function_of(op, operand.value.real()), false);
      if (is_integer(made.type)) made.type = DType::f64;
  }
  made.operands = {x};
  merge(made, place);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::logical_not(ExprId x, const SourcePosition& place) {
  if (!is_integer(expr(x).type)) fail_type(place, "'not' is for comparisons and integers");
  return expr(x).truth ? binary(OpCode::equal, x, number(0, true), place) : unary(OpCode::bit_not, x, place);
}

ExprId ProgramGraph::cast(DType type, ExprId x, const SourcePosition& place) {
  const auto from = expr(x).type;
  if (is_half(type)) fail_type(place, fmt::format("nothing is computed in {}; cast to f32", ricci::name(type)));
  if (is_complex(from) && !is_complex(type)) {
    fail_type(place, fmt::format("a cast from {} to {} would drop an imaginary part; write real(x), imag(x) or abs(x)",
                                 ricci::name(from), ricci::name(type)));
  }
  if (!is_integer(from) && is_integer(type)) {
    fail_type(place, fmt::format("a cast from {} to {} would drop a fraction", ricci::name(from), ricci::name(type)));
  }
  if (from == type && !expr(x).literal) return x;
  Expr made;
  made.kind = Kind::op;
  made.op = OpCode::cast;
  made.type = type;
  made.operands = {x};
  merge(made, place);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::select(ExprId condition, ExprId x, ExprId y, const SourcePosition& place) {
  const auto& c = expr(condition);
  if (!is_integer(c.type)) fail_type(place, "the first operand of 'select' is a comparison or an integer");
  if (c.strict && !c.free.empty() && c.free != expr(x).free) {
    fail(place, fmt::format("RankError: 'select' needs a rank-0 condition or one with the free indices of its values, "
                            "got {}",
                            braces(*this, c.free)));
  }
  if ((expr(x).strict || expr(y).strict) && expr(x).free != expr(y).free) {
    fail(place, fmt::format("IndexMismatch: operands of 'select' have free indices {} and {}",
                            braces(*this, expr(x).free), braces(*this, expr(y).free)));
  }
  Expr made;
  made.kind = Kind::op;
  made.op = OpCode::select;
  made.type = common_type(x, y, place);
  made.truth = expr(x).truth && expr(y).truth;
  made.operands = {condition, x, y};
  merge(made, place);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::guard(ExprId condition, ExprId x, const SourcePosition& place) {
  if (!is_integer(expr(condition).type)) {
    fail_type(place, "the first operand of 'guard' is a comparison or an integer");
  }
  Expr made;
  made.kind = Kind::guard;
  made.type = arithmetic(expr(x).type);
  made.operands = {condition, x};
  merge(made, place);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::make_reduce(OpCode op, std::vector<int> over, ExprId body, const SourcePosition& place) {
  Expr made;
  made.kind = Kind::reduce;
  made.op = op;
  made.type = arithmetic(expr(body).type);
  made.operands = {body};
  merge(made, place);
  std::sort(over.begin(), over.end());
  if (contains(over, grid)) made.on_grid = false;
  made.free = without(made.free, over);
  made.repeated = without(made.repeated, over);
  made.bound = united(made.bound, over);
  made.over = std::move(over);
  return intern(std::move(made), place);
}

/// A sum of what is true counts it, which the u8 of comparisons would do up to 255.
ExprId ProgramGraph::counted(ExprId body, const SourcePosition& place) {
  if (expr(body).truth) return cast(DType::i64, body, place);
  if (expr(body).kind != Kind::guard) return body;
  const auto [condition, x] = std::pair(expr(body).operands[0], expr(body).operands[1]);
  const auto inner = counted(x, place);
  return inner == x ? body : guard(condition, inner, place);
}

ExprId ProgramGraph::reduce(OpCode op, std::vector<int> over, ExprId body, const SourcePosition& place) {
  if (op == OpCode::add) body = counted(body, place);
  const auto* word = reduction_word(op);
  if (over.empty()) fail(place, fmt::format("SumError: '{}' names no index", word));
  for (std::size_t k = 0; k < over.size(); ++k) {
    const auto& index = indices[static_cast<std::size_t>(over[k])].name;
    if (std::find(over.begin(), over.begin() + static_cast<std::ptrdiff_t>(k), over[k]) !=
        over.begin() + static_cast<std::ptrdiff_t>(k)) {
      fail(place, fmt::format("SumError: '{}' is named twice by one '{}'", index, word));
    }
    if (contains(expr(body).bound, over[k])) {
      fail(place, fmt::format("SumError: '{}' is already summed over inside {}", index, formula::print(*this, body)));
    }
    const bool free = over[k] == grid ? expr(body).on_grid : contains(expr(body).free, over[k]);
    if (!free) {
      fail(place, fmt::format("SumError: '{}' is not free in {}", index, formula::print(*this, body)));
    }
  }
  const auto type = expr(body).type;
  if (is_complex(type) && op != OpCode::add && op != OpCode::mul) {
    fail_type(place, fmt::format("'{}' is for real values", word));
  }
  if (!is_integer(type) && (op == OpCode::bit_and || op == OpCode::bit_or || op == OpCode::bit_xor)) {
    fail_type(place, fmt::format("'{}' is for integers, got {}", word, ricci::name(type)));
  }
  return make_reduce(op, std::move(over), body, place);
}

ExprId ProgramGraph::scan(OpCode op, int over, ExprId body, bool exclusive, const SourcePosition& place) {
  const auto reduced = reduce(op, {over}, body, place);  // the same checks
  body = expr(reduced).operands[0];
  if (over == grid) fail(place, "SumError: a scan runs over an index, not over the grid");
  Expr made = expr(reduced);
  made.kind = Kind::scan;
  made.exclusive = exclusive;
  made.bound = expr(body).bound;
  made.free = expr(body).free;
  made.repeated = expr(body).repeated;
  return intern(std::move(made), place);
}

ExprId ProgramGraph::compact(int over, ExprId predicate, ExprId payload, const SourcePosition& place) {
  if (!is_integer(expr(predicate).type)) {
    fail_type(place, "the predicate of 'compact' is a comparison or an integer");
  }
  if (over == grid) fail(place, "SumError: a compaction runs over an index, not over the grid");
  Expr made;
  made.kind = Kind::compact;
  made.type = expr(payload).type;
  made.operands = {predicate, payload};
  merge(made, place);
  const auto& over_name = indices[static_cast<std::size_t>(over)].name;
  if (contains(made.bound, over)) fail(place, fmt::format("SumError: '{}' is already summed over inside", over_name));
  if (!contains(made.free, over)) {
    fail(place, fmt::format("SumError: '{}' is free neither in {} nor in {}", over_name,
                            formula::print(*this, predicate), formula::print(*this, payload)));
  }
  made.over = {over};
  made.free = without(made.free, made.over);
  made.bound = united(made.bound, made.over);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::determinant(ExprId matrix, const SourcePosition& place) {
  const auto x = inverse(matrix, place);  // the same checks
  Expr made = expr(x);
  made.kind = Kind::determinant;
  made.free.clear();
  made.bound = united(made.bound, expr(x).free);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::inverse(ExprId id, const SourcePosition& place) {
  const auto& matrix = expr(id);
  std::vector<int> over;
  if (matrix.kind == Kind::access) {
    for (const auto& slot : matrix.slots) {
      if (slot.index() >= 0 && slot.index() != grid) over.push_back(slot.index());
    }
  }
  if (over.size() != 2 || matrix.free.size() != 2 || !matrix.repeated.empty()) {
    fail(place, fmt::format("RankError: 'det3' and 'inv3' take one access with two free indices, got {}: {}",
                            braces(*this, matrix.free), formula::print(*this, id)));
  }
  for (const int index : over) {
    if (extent(index) == 3) continue;
    fail_shape(place, fmt::format("ExtentError: 'det3' and 'inv3' are for 3 x 3 values, index {} has {}",
                                  indices[static_cast<std::size_t>(index)].name,
                                  extent(index) == kOpenExtent ? "no extent yet" : fmt::format("{}", extent(index))));
  }
  Expr made;
  made.kind = Kind::inverse;
  made.type = arithmetic(matrix.type);
  if (is_integer(made.type)) made.type = DType::f64;
  made.operands = {id};
  merge(made, place);
  made.over = std::move(over);
  return intern(std::move(made), place);
}

ExprId ProgramGraph::delta(int i, int j, const SourcePosition& place) {
  for (const int index : {i, j}) {
    if (index == grid) fail(place, "'delta' takes two indices, not the grid");
  }
  if (i == j) fail(place, "RepeatedIndex: 'delta' of one index is 1");
  Expr made;
  made.kind = Kind::delta;
  made.type = DType::i64;
  made.over = {std::min(i, j), std::max(i, j)};
  made.free = made.over;
  return intern(std::move(made), place);
}

int ProgramGraph::import_index(const ProgramGraph& from, int index, const SourcePosition& place) {
  const auto& declared = from.indices[static_cast<std::size_t>(index)];
  return declare_index(declared.name, declared.extent, place);
}

ExprId ProgramGraph::import(const ProgramGraph& from, ExprId id, const SourcePosition& place) {
  if (&from == this) return id;
  if (!from.tensors.empty() || !from.params.empty()) {
    fail(place, fmt::format("an expression mixes tensors of the programs '{}' and '{}'", name, from.name));
  }
  std::vector<ExprId> taken(static_cast<std::size_t>(id) + 1);
  for (ExprId k = 0; k <= id; ++k) {
    Expr made = from.expr(k);
    for (auto& operand : made.operands) operand = taken[static_cast<std::size_t>(operand)];
    for (auto* list : {&made.over, &made.free, &made.bound, &made.repeated}) {
      for (auto& index : *list) index = import_index(from, index, place);
    }
    for (auto* list : {&made.free, &made.bound, &made.repeated}) std::sort(list->begin(), list->end());
    if (made.kind == Kind::index) {
      taken[static_cast<std::size_t>(k)] = this->index(import_index(from, made.source, place), place);
      continue;
    }
    taken[static_cast<std::size_t>(k)] = intern(std::move(made), place);
  }
  return taken.back();
}

}  // namespace ricci::formula
