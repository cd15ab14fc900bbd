#include "program_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>

namespace ricci::test {
namespace {

using formula::Expr;
using formula::Kind;
using ir::OpCode;

/// The integer is for values that an integer holds: nothing reads it of any other.
Value of(std::complex<double> value) {
  const bool held = std::abs(value.real()) < 0x1p63;
  return {value, held ? static_cast<std::int64_t>(value.real()) : 0};
}
Value of_integer(std::int64_t value) { return {static_cast<double>(value), value}; }

std::int64_t wrapped(std::int64_t value, DType type) {
  switch (type) {
    case DType::i8:
      return static_cast<std::int8_t>(value);
    case DType::i16:
      return static_cast<std::int16_t>(value);
    case DType::i32:
      return static_cast<std::int32_t>(value);
    case DType::u8:
      return static_cast<std::uint8_t>(value);
    case DType::u16:
      return static_cast<std::uint16_t>(value);
    case DType::u32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

/// Brings a value to a type: integers wrap, floats stay as they are.
Value to(Value value, DType from, DType type) {
  if (is_integer(type)) return of_integer(wrapped(value.integer, type));
  if (is_integer(from)) return of(static_cast<double>(value.integer));
  return {value.real, of(value.real).integer, value.rounding};
}

bool holds(const Value& value, DType type) { return is_integer(type) ? value.integer != 0 : value.real.real() != 0; }

std::uint64_t bits(const Value& value) { return static_cast<std::uint64_t>(value.integer); }

Value computed(OpCode op, const Value& x, const Value& y, DType type) {
  const bool integer = is_integer(type);
  const auto a = x.integer, b = y.integer;
  const auto wrap = [&](std::uint64_t value) { return of_integer(wrapped(static_cast<std::int64_t>(value), type)); };
  switch (op) {
    case OpCode::add:
      return integer ? wrap(bits(x) + bits(y)) : of(x.real + y.real);
    case OpCode::sub:
      return integer ? wrap(bits(x) - bits(y)) : of(x.real - y.real);
    case OpCode::mul:
      return integer ? wrap(bits(x) * bits(y)) : of(x.real * y.real);
    case OpCode::div:
      return integer ? of_integer(b == 0 ? 0 : a / b) : of(x.real / y.real);
    case OpCode::minimum:
      return integer ? of_integer(std::min(a, b)) : of(std::min(x.real.real(), y.real.real()));
    case OpCode::maximum:
      return integer ? of_integer(std::max(a, b)) : of(std::max(x.real.real(), y.real.real()));
    case OpCode::bit_and:
      return of_integer(a & b);
    case OpCode::bit_or:
      return of_integer(a | b);
    case OpCode::bit_xor:
      return of_integer(a ^ b);
    case OpCode::remainder:
      return integer ? of_integer(b == 0 ? 0 : a % b) : of(std::fmod(x.real.real(), y.real.real()));
    case OpCode::shift_left:
      return b < 0 || b >= 64 ? of_integer(0) : wrap(bits(x) << b);
    case OpCode::shift_right:
      return of_integer(b < 0 || b >= 64 ? 0 : a >> b);
    case OpCode::pow:
      return is_complex(type) ? of(std::pow(x.real, y.real)) : of(std::pow(x.real.real(), y.real.real()));
    case OpCode::atan2:
      return of(std::atan2(x.real.real(), y.real.real()));
    case OpCode::hypot:
      return of(std::hypot(x.real.real(), y.real.real()));
    default:
      throw std::logic_error("the reference has no such operation");
  }
}

Value combined(OpCode op, const Value& x, const Value& y, DType type) {
  auto result = computed(op, x, y, type);
  const Value operands[] = {x, y};
  if (!is_integer(type)) result.rounding = rounding(op, operands, result, is_complex(type));
  return result;
}

/// What is rounded once where numbers are narrower than those here.
Value once_rounded(Value value) {
  value.rounding.inner = 1;
  return value;
}

}  // namespace

std::vector<std::vector<std::int64_t>> multi_indices(const std::vector<std::int64_t>& extents) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const auto extent : extents) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& head : all) {
      for (std::int64_t value = 0; value < extent; ++value) {
        longer.push_back(head);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<std::int64_t> extents_of(const formula::ProgramGraph& program, int tensor) {
  std::vector<std::int64_t> extents;
  for (const auto& slot : program.tensor(tensor).slots) extents.push_back(program.extent(slot));
  return extents;
}

namespace {

/// Sorts by exchanging neighbours until nothing moves.
int sorted(const formula::TensorDecl& tensor, std::vector<std::int64_t>& multi_index) {
  int sign = 1;
  for (const auto& symmetry : tensor.form.symmetry.list) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t k = 0; k + 1 < symmetry.slots.size(); ++k) {
        auto& low = multi_index[static_cast<std::size_t>(symmetry.slots[k])];
        auto& high = multi_index[static_cast<std::size_t>(symmetry.slots[k + 1])];
        if (symmetry.antisymmetric && low == high) return 0;
        if (low <= high) continue;
        std::swap(low, high);
        if (symmetry.antisymmetric) sign = -sign;
        moved = true;
      }
    }
  }
  return sign;
}

}  // namespace

StoredComponent stored_component(const formula::ProgramGraph& program, int tensor,
                                 std::vector<std::int64_t> multi_index) {
  const int sign = sorted(program.tensor(tensor), multi_index);
  if (sign == 0) return {};
  int number = 0;
  for (auto other : multi_indices(extents_of(program, tensor))) {
    if (other == multi_index) return {sign, number};
    const auto before = other;
    if (sorted(program.tensor(tensor), other) != 0 && other == before) ++number;
  }
  throw std::logic_error("a multi-index outside of its tensor");
}

int component_count(const formula::ProgramGraph& program, int tensor) {
  int number = 0;
  for (auto other : multi_indices(extents_of(program, tensor))) {
    const auto before = other;
    if (sorted(program.tensor(tensor), other) != 0 && other == before) ++number;
  }
  return number;
}

Reference::Reference(const formula::ProgramGraph& program) : program_(program), params_(program.params.size()) {
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    std::size_t count = static_cast<std::size_t>(program.tensors[t].form.on_grid ? points() : 1);
    for (const auto extent : extents_of(program, static_cast<int>(t))) count *= static_cast<std::size_t>(extent);
    values_.emplace_back(count);
  }
}

std::vector<Value>& Reference::values(const std::string& tensor) {
  return values_.at(static_cast<std::size_t>(program_.find_tensor(tensor)));
}

void Reference::set_param(const std::string& name, Value value) {
  params_.at(static_cast<std::size_t>(program_.find_param(name))) = value;
}

void Reference::run() {
  for (const auto& statement : program_.statements) {
    const auto& target = program_.tensor(program_.expr(statement.target).source);
    if (target.role == TensorRole::local && !target.expanded()) continue;
    execute(statement);
  }
}

std::int64_t Reference::sum_at(const formula::SlotSum& sum, const Positions& at) {
  auto made = sum.offset;
  for (const auto& [index, coefficient] : sum.terms) made += coefficient * at.at(index);
  return made;
}

std::vector<std::int64_t> Reference::multi_index(const Expr& access, const Positions& at) const {
  std::vector<std::int64_t> made;
  for (const auto& slot : access.slots) made.push_back(sum_at(slot, at));
  return made;
}

std::size_t Reference::place(int tensor, const std::vector<std::int64_t>& multi_index, const Positions& at) const {
  std::int64_t offset = 0;
  const auto extents = extents_of(program_, tensor);
  for (std::size_t k = 0; k < extents.size(); ++k) offset = offset * extents[k] + multi_index[k];
  return static_cast<std::size_t>(program_.tensor(tensor).form.on_grid ? offset * points() + at.at(program_.grid)
                                                                       : offset);
}

/// To all multi-indices that share the component.
void Reference::store(int tensor, std::vector<std::int64_t> multi_index, const Positions& at, Value value) {
  const auto& declared = program_.tensor(tensor);
  if (declared.form.symmetry.list.empty()) {
    values_[static_cast<std::size_t>(tensor)][place(tensor, multi_index, at)] = value;
    return;
  }
  auto own = multi_index;
  const int sign = sorted(declared, own);
  for (const auto& other : multi_indices(extents_of(program_, tensor))) {
    auto there = other;
    const int turned = sorted(declared, there);
    if (there != own || turned == 0) continue;
    auto& target = values_[static_cast<std::size_t>(tensor)][place(tensor, other, at)];
    target = sign == turned ? value : -value;
  }
}

void Reference::execute(const formula::Statement& statement) {
  const auto& target = program_.expr(statement.target);
  const auto& value = program_.expr(statement.value);
  const auto type = program_.tensor(target.source).type;
  auto free = target.free;
  if (target.on_grid) free.push_back(program_.grid);
  if (value.kind == Kind::scan) free.erase(std::find(free.begin(), free.end(), value.over.front()));
  std::vector<std::int64_t> extents;
  for (const int index : free) extents.push_back(program_.extent(index));
  struct Write {
    std::vector<std::int64_t> multi_index;
    Positions at;
    Value value;
  };
  std::vector<Write> writes;
  std::set<std::pair<int, std::size_t>> written;  // (component, point): the first of equal components counts
  for (const auto& values : multi_indices(extents)) {
    Positions at;
    for (std::size_t k = 0; k < free.size(); ++k) at[free[k]] = values[k];
    if (value.kind == Kind::scan) {
      scan(statement, at);
      continue;
    }
    if (value.kind == Kind::compact) {
      compact(statement, at);
      continue;
    }
    const auto where = multi_index(target, at);
    auto order = where;
    if (sorted(program_.tensor(target.source), order) == 0) continue;
    if (!written.insert({0, place(target.source, order, at)}).second) continue;
    auto before = values_[static_cast<std::size_t>(target.source)][place(target.source, where, at)];
    Value result;
    if (value.kind == Kind::guard) {
      if (!holds(evaluate(value.operands[0], at, nullptr), program_.expr(value.operands[0]).type)) continue;
      result = to(evaluate(value.operands[1], at, nullptr), program_.expr(value.operands[1]).type, type);
    } else {
      result = to(evaluate(statement.value, at, nullptr), value.type, type);
    }
    static constexpr OpCode kOps[] = {OpCode::add, OpCode::add, OpCode::sub, OpCode::mul, OpCode::div};
    if (statement.op != formula::Assign::set) {
      result = combined(kOps[static_cast<std::size_t>(statement.op)], before, result, type);
    }
    writes.push_back({where, at, result});
  }
  for (const auto& write : writes) store(target.source, write.multi_index, write.at, write.value);
}

void Reference::scan(const formula::Statement& statement, Positions at) {
  const auto& target = program_.expr(statement.target);
  const auto& value = program_.expr(statement.value);
  const int over = value.over.front();
  const auto type = program_.tensor(target.source).type;
  const auto extent = program_.extent(over);
  std::vector<Value> results;
  std::optional<Value> total;
  const auto identity = [&]() -> Value {
    if (is_integer(type)) return of_integer(static_cast<std::int64_t>(ir::identity_bits(value.op, type)));
    return of(ir::identity(value.op, type));
  };
  for (std::int64_t k = 0; k < extent; ++k) {
    at[over] = k;
    if (value.exclusive) results.push_back(total.value_or(identity()));
    const auto term = to(evaluate(value.operands[0], at, &value.op), program_.expr(value.operands[0]).type, type);
    total = total ? combined(value.op, *total, term, type) : term;
    if (!value.exclusive) results.push_back(*total);
  }
  if (value.exclusive) results.push_back(total.value_or(identity()));
  for (std::size_t k = 0; k < results.size(); ++k) {
    at[over] = static_cast<std::int64_t>(k);
    store(target.source, multi_index(target, at), at, results[k]);
  }
}

void Reference::compact(const formula::Statement& statement, Positions at) {
  const auto& target = program_.expr(statement.target);
  const auto& value = program_.expr(statement.value);
  auto where = std::vector<std::int64_t>();
  std::size_t moving = 0;
  for (std::size_t k = 0; k < target.slots.size(); ++k) {
    const auto& slot = target.slots[k];
    if (slot.position >= 0) moving = k;
    where.push_back(slot.position >= 0 ? evaluate(slot.position, at, nullptr).integer : sum_at(slot, at));
  }
  const auto extent = extents_of(program_, target.source)[moving];
  for (std::int64_t k = 0; k < program_.extent(value.over.front()); ++k) {
    at[value.over.front()] = k;
    if (!holds(evaluate(value.operands[0], at, nullptr), program_.expr(value.operands[0]).type)) continue;
    const auto payload = to(evaluate(value.operands[1], at, nullptr), program_.expr(value.operands[1]).type,
                            program_.tensor(target.source).type);
    if (where[moving] >= 0 && where[moving] < extent) store(target.source, where, at, payload);
    ++where[moving];
  }
}

Value Reference::evaluate(formula::ExprId id, Positions& at, const OpCode* around) {
  const auto& expr = program_.expr(id);
  switch (expr.kind) {
    case Kind::number:
      return once_rounded(of(expr.value));
    case Kind::param:
      return once_rounded(params_[static_cast<std::size_t>(expr.source)]);
    case Kind::index:
      return of_integer(at.at(expr.source));
    case Kind::access:
      return access(expr, at);
    case Kind::op:
      return operation(expr, at, around);
    case Kind::reduce:
      return reduction(expr, at);
    case Kind::guard: {
      const bool inside = holds(evaluate(expr.operands[0], at, around), program_.expr(expr.operands[0]).type);
      if (inside) return to(evaluate(expr.operands[1], at, around), program_.expr(expr.operands[1]).type, expr.type);
      if (around == nullptr) return of(0);
      return is_integer(expr.type) ? of_integer(static_cast<std::int64_t>(ir::identity_bits(*around, expr.type)))
                                   : of(ir::identity(*around, expr.type));
    }
    case Kind::determinant:
    case Kind::inverse:
      return matrix(expr, at);
    case Kind::delta:
      return of_integer(at.at(expr.over[0]) == at.at(expr.over[1]) ? 1 : 0);
    case Kind::diagonal:
      return evaluate(expr.operands[0], at, around);
    default:
      throw std::logic_error("a scan inside of an expression");
  }
}

Value Reference::access(const Expr& expr, Positions& at) {
  const auto& tensor = program_.tensor(expr.source);
  if (tensor.role == TensorRole::local && !tensor.expanded()) {
    const auto* defined = formula::definition(program_, expr.source);
    Positions inside;
    if (at.contains(program_.grid)) inside[program_.grid] = at[program_.grid];
    const auto where = multi_index(expr, at);
    const auto& target = program_.expr(defined->target);
    for (std::size_t k = 0; k < where.size(); ++k) inside[target.slots[k].index()] = where[k];
    return to(evaluate(defined->value, inside, nullptr), program_.expr(defined->value).type, tensor.type);
  }
  const auto where = multi_index(expr, at);
  const auto extents = extents_of(program_, expr.source);
  for (std::size_t k = 0; k < where.size() && tensor.form.outside; ++k) {
    if (where[k] >= 0 && where[k] < extents[k]) continue;
    return is_integer(tensor.type) ? of_integer(static_cast<std::int64_t>(*tensor.form.outside))
                                   : of(*tensor.form.outside);
  }
  auto order = where;
  if (sorted(tensor, order) == 0) return of(0);
  return values_[static_cast<std::size_t>(expr.source)][place(expr.source, where, at)];
}

Value Reference::reduction(const Expr& expr, Positions& at) {
  std::vector<std::int64_t> extents;
  for (const int index : expr.over) extents.push_back(program_.extent(index));
  std::optional<Value> total;
  for (const auto& values : multi_indices(extents)) {
    for (std::size_t k = 0; k < values.size(); ++k) at[expr.over[k]] = values[k];
    const auto term = to(evaluate(expr.operands[0], at, &expr.op), program_.expr(expr.operands[0]).type, expr.type);
    total = total ? combined(expr.op, *total, term, expr.type) : term;
  }
  for (const int index : expr.over) at.erase(index);
  if (total) return *total;
  return is_integer(expr.type) ? of_integer(static_cast<std::int64_t>(ir::identity_bits(expr.op, expr.type)))
                               : of(ir::identity(expr.op, expr.type));
}

Value Reference::matrix(const Expr& expr, Positions& at) {
  std::complex<double> m[3][3];
  Value entries[9];
  auto there = at;
  for (std::int64_t r = 0; r < 3; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      there[expr.over[0]] = r;
      there[expr.over[1]] = c;
      entries[3 * r + c] = evaluate(expr.operands[0], there, nullptr);
      m[r][c] = entries[3 * r + c].real;
    }
  }
  const auto determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  if (expr.kind == Kind::determinant) return {determinant, 0, rounding_of_determinant(entries)};
  // Gauss-Jordan: not the way of the kernels.
  std::complex<double> inverse[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int k = 0; k < 3; ++k) {
    int pivot = k;
    for (int r = k + 1; r < 3; ++r) {
      if (std::abs(m[r][k]) > std::abs(m[pivot][k])) pivot = r;
    }
    std::swap(m[k], m[pivot]);
    std::swap(inverse[k], inverse[pivot]);
    const auto scale = m[k][k];
    for (int c = 0; c < 3; ++c) {
      m[k][c] /= scale;
      inverse[k][c] /= scale;
    }
    for (int r = 0; r < 3; ++r) {
      if (r == k) continue;
      const auto factor = m[r][k];
      for (int c = 0; c < 3; ++c) {
        m[r][c] -= factor * m[k][c];
        inverse[r][c] -= factor * inverse[k][c];
      }
    }
  }
  return {inverse[at.at(expr.over[0])][at.at(expr.over[1])], 0, rounding_of_inverse(entries, determinant)};
}

Value Reference::operation(const Expr& expr, Positions& at, const OpCode* around) {
  Value operand[3];
  DType types[3] = {};
  for (std::size_t k = 0; k < expr.operands.size(); ++k) {
    operand[k] = evaluate(expr.operands[k], at, around);
    types[k] = program_.expr(expr.operands[k]).type;
  }
  if (expr.op == OpCode::select) {
    return holds(operand[0], types[0]) ? to(operand[1], types[1], expr.type) : to(operand[2], types[2], expr.type);
  }
  auto result = computed(expr, operand, types);
  if (is_integer(expr.type)) return result;
  const bool complex = is_complex(expr.type) || is_complex(types[0]);
  result.rounding = rounding(expr.op, operand, result, complex);
  return result;
}

Value Reference::computed(const Expr& expr, const Value* operand, const DType* types) const {
  const auto x = operand[0].real.real();
  if (is_complex(types[0])) {
    const auto z = operand[0].real;
    switch (expr.op) {
      case OpCode::real_part:
        return of(z.real());
      case OpCode::imag_part:
        return of(z.imag());
      case OpCode::absolute:
        return of(std::abs(z));
      case OpCode::sqrt:
        return of(std::sqrt(z));
      case OpCode::rsqrt:
        return of(1.0 / std::sqrt(z));
      case OpCode::exp:
        return of(std::exp(z));
      case OpCode::log:
        return of(std::log(z));
      case OpCode::sin:
        return of(std::sin(z));
      case OpCode::cos:
        return of(std::cos(z));
      case OpCode::tan:
        return of(std::tan(z));
      case OpCode::asin:
        return of(std::asin(z));
      case OpCode::acos:
        return of(std::acos(z));
      case OpCode::atan:
        return of(std::atan(z));
      case OpCode::cbrt:
        return of(std::pow(z, 1.0 / 3));
      case OpCode::sinh:
        return of(std::sinh(z));
      case OpCode::cosh:
        return of(std::cosh(z));
      case OpCode::tanh:
        return of(std::tanh(z));
      default:
        break;
    }
  }
  switch (expr.op) {
    case OpCode::neg:
      return is_integer(expr.type) ? of_integer(wrapped(-operand[0].integer, expr.type)) : of(-operand[0].real);
    case OpCode::conj:
      return of(std::conj(operand[0].real));
    case OpCode::cast:
      return to(operand[0], types[0], expr.type);
    case OpCode::absolute:
      return is_integer(expr.type) ? of_integer(std::abs(operand[0].integer)) : of(std::abs(x));
    case OpCode::sign:
      return of(x > 0 ? 1 : x < 0 ? -1 : 0);
    case OpCode::sqrt:
      return of(std::sqrt(x));
    case OpCode::cbrt:
      return of(std::cbrt(x));
    case OpCode::rsqrt:
      return of(1 / std::sqrt(x));
    case OpCode::exp:
      return of(std::exp(x));
    case OpCode::log:
      return of(std::log(x));
    case OpCode::sin:
      return of(std::sin(x));
    case OpCode::cos:
      return of(std::cos(x));
    case OpCode::tan:
      return of(std::tan(x));
    case OpCode::asin:
      return of(std::asin(x));
    case OpCode::acos:
      return of(std::acos(x));
    case OpCode::atan:
      return of(std::atan(x));
    case OpCode::sinh:
      return of(std::sinh(x));
    case OpCode::cosh:
      return of(std::cosh(x));
    case OpCode::tanh:
      return of(std::tanh(x));
    case OpCode::bit_not:
      return of_integer(wrapped(~operand[0].integer, expr.type));
    case OpCode::popcount:
      return of_integer(__builtin_popcountll(bits(operand[0])));
    case OpCode::equal:
    case OpCode::not_equal:
    case OpCode::less:
    case OpCode::less_equal: {
      const auto type = program_.common_type(expr.operands[0], expr.operands[1], {});
      const auto a = to(operand[0], types[0], type), b = to(operand[1], types[1], type);
      const bool is_unsigned = type == DType::u64;
      const bool integer = is_integer(type);
      const bool equal = integer ? a.integer == b.integer : a.real == b.real;
      const bool less = !integer      ? a.real.real() < b.real.real()
                        : is_unsigned ? bits(a) < bits(b)
                                      : a.integer < b.integer;
      const bool result = expr.op == OpCode::equal       ? equal
                          : expr.op == OpCode::not_equal ? !equal
                          : expr.op == OpCode::less      ? less
                                                         : less || equal;
      return of_integer(result ? 1 : 0);
    }
    default:
      return test::computed(expr.op, to(operand[0], types[0], expr.type), to(operand[1], types[1], expr.type),
                            expr.type);
  }
}

}  // namespace ricci::test
