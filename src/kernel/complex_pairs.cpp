#include "kernel/complex_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/types.hpp"
#include "kernel/expand.hpp"

namespace ricci::kernel {
namespace {

using ir::OpCode;

/// The product whose sums are vectors of complex numbers, if there is one.
const Mma* product_in(const Kernel& kernel, const Body& body) {
  for (const auto& statement : body) {
    const Mma* found = nullptr;
    if (const auto* loop = std::get_if<Loop>(&statement.node)) found = product_in(kernel, loop->body);
    if (const auto* mma = std::get_if<Mma>(&statement.node)) {
      const auto& sum = kernel.array(mma->accumulator);
      if (is_complex(sum.type) && sum.lanes > 1) found = mma;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

bool is_factor(const Value& value) {
  return value.kind != Value::Kind::load && value.kind != Value::Kind::index &&
         std::all_of(value.operands.begin(), value.operands.end(), is_factor);
}

bool has_pairs(const Value& value, int accumulator, DType type, Var lane) {
  if (value.type != type) return false;
  const auto holds = [&](const Value& operand) { return has_pairs(operand, accumulator, type, lane); };
  if (value.kind == Value::Kind::load)
    return value.access.array == accumulator || value.access.index.front().coefficient(lane) == 1;
  if (value.kind != Value::Kind::op) return false;
  switch (value.op) {
    case OpCode::add:
    case OpCode::sub:
    case OpCode::neg:
    case OpCode::conj:
      return std::all_of(value.operands.begin(), value.operands.end(), holds);
    case OpCode::scale:
      return is_factor(value.operands[0]) && value.operands[0].type == type && holds(value.operands[1]);
    case OpCode::mul:
      return (is_factor(value.operands[0]) && value.operands[0].type == type && holds(value.operands[1])) ||
             (is_factor(value.operands[1]) && value.operands[1].type == type && holds(value.operands[0]));
    default:
      return false;
  }
}

class Pairs {
 public:
  Pairs(Kernel& kernel, const Mma& mma)
      : kernel_(kernel),
        accumulator_(mma.accumulator),
        conj_a_(mma.conj_a),
        conj_b_(mma.conj_b),
        lane_(mma.columns.back()),
        rows_(mma.rows) {
    part_ = kernel.add_var("part", 2);
    pair_ = kernel.add_var(kernel.vars[static_cast<std::size_t>(lane_.var)].name + "_part", 2 * lane_.extent);
    rows_.push_back({part_, 2});
    for (auto& array : kernel.arrays) {
      if (!is_complex(array.type)) continue;
      array.type = part_type(array.type);
      array.shape.front() *= 2;
      array.lanes *= array.lanes > 1 ? 2 : 1;
      array.first *= 2;
      array.results *= 2;
    }
  }

  Body body(Body from) {
    for (auto& statement : from) {
      std::visit([&](auto& node) { rewrite(node); }, statement.node);
    }
    return from;
  }

 private:
  template <class Node>
  void rewrite(Node& /*node*/) {}
  void rewrite(Loop& loop) { loop.body = body(std::move(loop.body)); }
  void rewrite(If& branch) {
    branch.then = body(std::move(branch.then));
    branch.otherwise = body(std::move(branch.otherwise));
  }

  static Access twice(Access access, const Affine& more = {}) {
    access.index.front() = 2 * access.index.front() + more;
    return access;
  }
  /// Neighbours along `var` as twice as many parts, numbered by `parts`.
  static Access along(Access access, Var var, Var parts) {
    return twice(with(std::move(access), var, Affine(0)), Affine::of(parts));
  }
  static std::vector<Condition> along(std::vector<Condition> when, Var var, Var parts) {
    for (auto& condition : when) {
      if (condition.value.coefficient(var) == 0) continue;
      condition.value = 2 * condition.value.with(var, Affine(0)) + Affine::of(parts);
      condition.below *= 2;
    }
    return when;
  }

  void rewrite(Copy& copy) {
    const auto together = std::find_if(copy.digits.begin(), copy.digits.end(), [&](const Digit& d) {
      return d.extent > 1 && copy.to.index.front().coefficient(d.var) == 1 &&
             copy.from.index.front().coefficient(d.var) == 1 &&
             std::all_of(copy.when.begin(), copy.when.end(),
                         [&](const Condition& c) { return c.value.coefficient(d.var) <= 1; });
    });
    if (together == copy.digits.end()) {
      copy.to = twice(std::move(copy.to), Affine::of(part_));
      copy.from = twice(std::move(copy.from), Affine::of(part_));
      copy.digits.push_back({part_, 2});
      return;
    }
    const auto var = together->var;
    const auto parts =
        kernel_.add_var(kernel_.vars[static_cast<std::size_t>(var)].name + "_part", 2 * together->extent);
    copy.to = along(std::move(copy.to), var, parts);
    copy.from = along(std::move(copy.from), var, parts);
    copy.when = along(std::move(copy.when), var, parts);
    together->var = parts;
    together->extent *= 2;
  }

  void rewrite(Mma& mma) {
    mma.rows = rows_;
    mma.columns.back() = {pair_, 2 * lane_.extent};
    if (mma.a.index.front().coefficient(lane_.var) != 0) {
      mma.a = along(std::move(mma.a), lane_.var, pair_);
      mma.part = part_;
    } else {
      mma.a = twice(std::move(mma.a), Affine::of(part_));
    }
    mma.b = along(std::move(mma.b), lane_.var, pair_);
    mma.conj_a = mma.conj_b = false;
  }

  void rewrite(Flush& flush) {
    flush.columns.back() = {pair_, 2 * lane_.extent};
    flush.to = along(std::move(flush.to), lane_.var, pair_);
    flush.when = along(std::move(flush.when), lane_.var, pair_);
    flush.value = result(flush.value);
  }

  static Value of_pairs(Value::Kind kind, Value operand) {
    Value value;
    value.kind = kind;
    value.type = operand.type;
    value.operands.push_back(std::move(operand));
    return value;
  }
  static Value times_i(Value value) { return of_pairs(Value::Kind::times_i, std::move(value)); }
  static Value conjugate(Value value) { return of_pairs(Value::Kind::conj_pairs, std::move(value)); }

  /// The sum of the products whose factors have that part of the first one.
  Value sum_of(std::int64_t part) const {
    const auto row = position(rows_).with(part_, Affine(part));
    return load_of(kernel_.array(accumulator_).type, Access{accumulator_, {row}});
  }

  Value result(const Value& value) const {
    const auto type = kernel_.array(accumulator_).type;
    if (value.kind == Value::Kind::load && value.access.array == accumulator_) {
      // a b = u + i v, conj(a) b = u - i v, a conj(b) = conj(conj(a) b).
      const auto op = conj_a_ == conj_b_ ? OpCode::add : OpCode::sub;
      auto sum = apply(op, type, {sum_of(0), times_i(sum_of(1))});
      return conj_b_ ? conjugate(std::move(sum)) : sum;
    }
    if (value.kind == Value::Kind::load) return load_of(type, along(value.access, lane_.var, pair_));
    switch (value.op) {
      case OpCode::conj:
        return conjugate(result(value.operands.front()));
      case OpCode::mul:
      case OpCode::scale: {
        const bool first = has_pairs(value.operands[1], accumulator_, value.type, lane_.var);
        const auto& factor = value.operands[first ? 0 : 1];
        const auto of = result(value.operands[first ? 1 : 0]);
        const auto by = [&](OpCode part) { return apply(part, type, {factor}); };
        return apply(OpCode::add, type,
                     {apply(value.op, type, {by(OpCode::real_part), of}),
                      apply(value.op, type, {by(OpCode::imag_part), times_i(of)})});
      }
      default: {
        Value made = value;
        made.type = type;
        for (auto& operand : made.operands) operand = result(operand);
        return made;
      }
    }
  }

  Kernel& kernel_;
  int accumulator_;
  bool conj_a_, conj_b_;
  Digit lane_;               // the column that vectors run along
  std::vector<Digit> rows_;  // and the part of the first factor
  Var part_ = -1, pair_ = -1;
};

}  // namespace

std::string unpaired(const Kernel& kernel, const Access& to, const Value& value, int accumulator, Var lane) {
  const auto type = kernel.array(accumulator).type;
  for (const auto& array : kernel.arrays) {
    if (!is_complex(array.type)) return fmt::format("vectors of {} are not made of {}", name(type), name(array.type));
  }
  if (kernel.array(to.array).type != type || to.index.front().coefficient(lane) != 1 ||
      !has_pairs(value, accumulator, type, lane))
    return fmt::format("the results along {} are no vectors of complex numbers",
                       kernel.vars[static_cast<std::size_t>(lane)].name);
  return {};
}

Kernel in_pairs(Kernel kernel) {
  const auto* found = kernel.target == Target::cpu ? product_in(kernel, kernel.body) : nullptr;
  if (found == nullptr) return kernel;
  const Mma mma = *found;
  auto body = std::move(kernel.body);
  kernel.body = Pairs(kernel, mma).body(std::move(body));
  return kernel;
}

}  // namespace ricci::kernel
