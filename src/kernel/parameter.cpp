#include "kernel/parameter.hpp"

#include <algorithm>
#include <limits>

#include "kernel/expand.hpp"

namespace ricci::kernel {

using ir::OpCode;

Value held_within(int param, std::int64_t least, std::int64_t most) {
  const auto number = [](std::int64_t n) {
    Value value;
    value.type = DType::i64;
    value.bits = static_cast<std::uint64_t>(n);
    return value;
  };
  Value value;
  value.kind = Value::Kind::param;
  value.type = DType::i64;
  value.param = param;
  value = apply(OpCode::maximum, DType::i64, {std::move(value), number(least)});
  value = apply(OpCode::minimum, DType::i64, {std::move(value), number(most)});
  return least == 0 ? value : apply(OpCode::sub, DType::i64, {std::move(value), number(least)});
}

std::optional<Bounds> bounds_of_parameters(const Value& value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value.type != DType::i64) return std::nullopt;
  if (value.kind == Value::Kind::param) return Bounds{Limits::min(), Limits::max()};
  const auto number = static_cast<std::int64_t>(value.bits);
  if (value.kind == Value::Kind::constant) return Bounds{number, number};
  if (value.kind != Value::Kind::op || value.operands.size() != 2) return std::nullopt;
  const auto x = bounds_of_parameters(value.operands[0]), y = bounds_of_parameters(value.operands[1]);
  if (!x || !y) return std::nullopt;
  Bounds b{};
  switch (value.op) {
    case OpCode::minimum:
      return Bounds{std::min(x->first, y->first), std::min(x->last, y->last)};
    case OpCode::maximum:
      return Bounds{std::max(x->first, y->first), std::max(x->last, y->last)};
    case OpCode::add:
      if (__builtin_add_overflow(x->first, y->first, &b.first) || __builtin_add_overflow(x->last, y->last, &b.last))
        return std::nullopt;
      return b;
    case OpCode::sub:
      if (__builtin_sub_overflow(x->first, y->last, &b.first) || __builtin_sub_overflow(x->last, y->first, &b.last))
        return std::nullopt;
      return b;
    default:
      return std::nullopt;
  }
}

}  // namespace ricci::kernel
