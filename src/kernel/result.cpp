#include "kernel/result.hpp"

#include <optional>

#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

/// What a statement's value is in a sum below it, of which nothing further inside is looked at.
class Linear {
 public:
  Linear(const ir::Program& program, NodeId sum)
      : program_(program), sum_(sum), uses_sum_(program.nodes.size()), reads_result_(program.nodes.size()) {
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& n = program.nodes[id];
      uses_sum_[id] = static_cast<NodeId>(id) == sum;
      reads_result_[id] = n.kind == NodeKind::load && n.source == program.statement().buffer;
      if (uses_sum_[id]) continue;
      for (int k = 0; k < ir::operand_count(n); ++k) {
        const auto operand = static_cast<std::size_t>(n.operand[k]);
        uses_sum_[id] = uses_sum_[id] || uses_sum_[operand];
        reads_result_[id] = reads_result_[id] || reads_result_[operand];
      }
    }
  }

  bool uses_sum(NodeId id) const { return uses_sum_[static_cast<std::size_t>(id)]; }
  bool reads_result(NodeId id) const { return reads_result_[static_cast<std::size_t>(id)]; }
  /// Whether a part of the sum gives a part of the node: it is scaled by what stays the same from part to part.
  bool is_linear(NodeId id) const { return is_linear(id, true); }
  /// The same with nothing added beside the sum.
  bool is_multiple(NodeId id) const { return is_linear(id, false); }

 private:
  bool is_linear(NodeId id, bool adds) const {
    if (id == sum_) return true;
    const auto& n = node(id);
    const bool adds_up = node(sum_).kind != NodeKind::reduce || node(sum_).op == OpCode::add;
    if (n.kind != NodeKind::op || !adds_up) return false;
    const auto scales = [&](int k) { return !uses_sum(n.operand[k]) && !reads_result(n.operand[k]); };
    switch (n.op) {
      case OpCode::add:
      case OpCode::sub:
        return uses_sum(id) && (is_linear(n.operand[0], adds) || (adds && !uses_sum(n.operand[0]))) &&
               (is_linear(n.operand[1], adds) || (adds && !uses_sum(n.operand[1])));
      case OpCode::neg:
        return is_linear(n.operand[0], adds);
      case OpCode::mul:
        return (scales(0) && is_linear(n.operand[1], adds)) || (scales(1) && is_linear(n.operand[0], adds));
      case OpCode::scale:
        return scales(0) && is_linear(n.operand[1], adds);
      case OpCode::div:
        return !is_integer(n.type) && scales(1) && is_linear(n.operand[0], adds);
      default:
        return false;
    }
  }
  const ir::Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const ir::Program& program_;
  NodeId sum_;
  std::vector<bool> uses_sum_, reads_result_;  // per node, itself or below it
};

}  // namespace

bool has_parts(const ir::Program& program, NodeId sum) {
  const auto& statement = program.statement();
  if (program.buffers[static_cast<std::size_t>(statement.buffer)].type !=
      program.nodes[static_cast<std::size_t>(sum)].type)
    return false;
  const Linear linear(program, sum);
  return linear.is_linear(statement.value) || !linear.reads_result(statement.value);
}

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

Value Result::value(NodeId id, int accumulator) const {
  return value(id, Known{{sum_, accumulator < 0 ? Value() : load({accumulator, {}})}});
}

Value Result::value(NodeId id, const Known& known) const {
  for (const auto& [node, value] : known) {
    if (id == node) return value;
  }
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
      for (int k = 0; k < ir::operand_count(n); ++k) value.operands.push_back(this->value(n.operand[k], known));
      return value;
    default:
      throw PlanError("schedule: the value around the sum is not elementwise");
  }
}

Value Result::part(NodeId id, int accumulator) const {
  const Linear linear(program_, sum_);
  const auto& n = node(id);
  if (id == sum_) return value(id, accumulator);
  const auto of = [&](int k) { return part(n.operand[k], accumulator); };
  const bool sums[] = {linear.uses_sum(n.operand[0]), n.op != OpCode::neg && linear.uses_sum(n.operand[1])};
  switch (n.op) {
    case OpCode::add:
      if (!sums[0]) return of(1);
      return sums[1] ? apply(n.op, n.type, {of(0), of(1)}) : of(0);
    case OpCode::sub:
      if (!sums[0]) return apply(OpCode::neg, n.type, {of(1)});
      return sums[1] ? apply(n.op, n.type, {of(0), of(1)}) : of(0);
    case OpCode::neg:
      return apply(n.op, n.type, {of(0)});
    default:
      return sums[0] ? apply(n.op, n.type, {of(0), value(n.operand[1], accumulator)})
                     : apply(n.op, n.type, {value(n.operand[0], accumulator), of(1)});
  }
}

Result::Parts Result::parts(NodeId id, int accumulator) const {
  if (kernel_.array(program_.statement().buffer).type != kernel_.array(accumulator).type)
    throw PlanError("schedule: a sum in parts needs an output of the sum's own type");
  const Linear linear(program_, sum_);
  if (linear.is_linear(id)) {
    return {value(id, accumulator), plus(element(), part(id, accumulator))};
  }
  if (linear.reads_result(id))
    throw PlanError("schedule: a sum in parts needs a result that is linear in it, or reads none of its elements");
  const auto sum = load({accumulator, {}});
  auto further = plus(element(), sum);
  return {sum, further, value(id, Known{{sum_, further}})};
}

Value Result::addition(NodeId id, int accumulator) const {
  const Linear linear(program_, sum_);
  const auto& top = node(id);
  const auto more = top.operand[linear.uses_sum(top.operand[0]) ? 0 : 1];
  if (!linear.is_multiple(more)) throw PlanError("schedule: store atomic: more than multiples of the sum is added");
  return part(more, accumulator);
}

Value Result::plus(Access to, Value more) const {
  const auto type = more.type;
  const bool combines = sum_ >= 0 && node(sum_).kind == NodeKind::reduce;
  return apply(combines ? node(sum_).op : OpCode::add, type, {load(std::move(to)), std::move(more)});
}

Value Result::finished(const Group& group, Value sum) const {
  for (const auto& addend : group.addends) {
    const auto type = sum.type;
    sum = apply(addend.negative ? ir::OpCode::sub : ir::OpCode::add, type, {std::move(sum), value(addend.node, -1)});
  }
  return sum;
}

}  // namespace ricci::kernel
