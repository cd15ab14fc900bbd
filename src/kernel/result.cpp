#include "kernel/result.hpp"

#include <optional>

#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeKind;

Access Result::access(int buffer, const ir::Affine& offset) const {
  Affine sum(offset.constant);
  for (std::size_t q = 0; q < offset.coefficient.size(); ++q) {
    if (offset.coefficient[q] != 0) sum = sum + offset.coefficient[q] * indices_[q];
  }
  return {buffer, {sum}};
}

Access Result::element() const {
  const auto& statement = program_.statement();
  return access(statement.buffer, statement.offset);
}

Value Result::load(Access access) const {
  const auto type = kernel_.array(access.array).type;
  return load_of(type, std::move(access));
}

Value Result::value(ir::NodeId id, int accumulator) const {
  if (id == sum_) return load({accumulator, {}});
  const auto& n = node(id);
  Value value;
  value.type = n.type;
  value.op = n.op;
  switch (n.kind) {
    case NodeKind::load:
      return load(access(n.source, n.offset));
    case NodeKind::param:
      value.kind = Value::Kind::param;
      value.param = n.source;
      return value;
    case NodeKind::constant:
      value.kind = Value::Kind::constant;
      value.number = n.value;
      value.bits = n.integer;
      return value;
    case NodeKind::index:
      value.kind = Value::Kind::index;
      value.affine = indices_[static_cast<std::size_t>(n.source)];
      return value;
    case NodeKind::op:
      value.kind = Value::Kind::op;
      for (int k = 0; k < ir::operand_count(n); ++k) value.operands.push_back(this->value(n.operand[k], accumulator));
      return value;
    default:
      throw PlanError("schedule: the value around the sum is not elementwise");
  }
}

Value Result::added(ir::NodeId id, int accumulator) const { return plus(element(), part(id, accumulator)); }

Value Result::part(ir::NodeId id, int accumulator) const {
  const auto type = kernel_.array(program_.statement().buffer).type;
  if (type != kernel_.array(accumulator).type)
    throw PlanError("schedule: a sum in parts needs an output of the sum's own type");
  const auto part = [&](ir::NodeId node_id) -> std::optional<Value> {
    const auto& n = node(node_id);
    if (node_id == sum_) return value(node_id, accumulator);
    const bool factor = n.kind == NodeKind::op && (n.op == ir::OpCode::scale || n.op == ir::OpCode::mul);
    if (factor && n.operand[1] == sum_ && node(n.operand[0]).kind != NodeKind::load) return value(node_id, accumulator);
    return std::nullopt;
  };
  auto more = part(id);
  const auto& top = node(id);
  if (!more && top.kind == NodeKind::op && top.op == ir::OpCode::add) {
    more = part(top.operand[0]);
    if (!more) more = part(top.operand[1]);
  }
  if (!more) throw PlanError("schedule: a sum in parts needs a result that is linear in it");
  return std::move(*more);
}

Value Result::plus(Access to, Value more) const {
  const auto type = more.type;
  return apply(ir::OpCode::add, type, {load(std::move(to)), std::move(more)});
}

Value Result::finished(const Group& group, Value sum) const {
  for (const auto& addend : group.addends) {
    const auto type = sum.type;
    sum = apply(addend.negative ? ir::OpCode::sub : ir::OpCode::add, type, {std::move(sum), value(addend.node, -1)});
  }
  return sum;
}

}  // namespace ricci::kernel
