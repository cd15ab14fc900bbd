#include "kernel/chain_values.hpp"

#include <limits>
#include <utility>

#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

Affine ChainValues::offset(const ir::Affine& affine) const {
  Affine sum(affine.constant);
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    if (affine.coefficient[q] != 0) sum = sum + affine.coefficient[q] * places_[q];
  }
  return sum;
}

bool ChainValues::uses(NodeId id, int index) const {
  const auto& node = chain_.node(id);
  if (known_.contains(id)) return false;
  if (node.kind == NodeKind::load) return node.offset.coefficient[nth(index)] != 0;
  if (node.kind == NodeKind::index) return node.source == index;
  for (int k = 0; k < ir::operand_count(node); ++k) {
    if (uses(node.operand[k], index)) return true;
  }
  return false;
}

Value ChainValues::value(NodeId id) const {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  for (const auto& [selection, kept] : chain_.decided) {
    if (selection == id) return value(kept);
  }
  const auto& node = chain_.node(id);
  Value made;
  made.type = node.type;
  switch (node.kind) {
    case NodeKind::load:
      return load_of(node.type, {node.source, {offset(node.offset)}});
    case NodeKind::param:
      made.kind = Value::Kind::param;
      made.param = node.source;
      return made;
    case NodeKind::constant:
      made.number = node.value;
      made.bits = node.integer;
      return made;
    case NodeKind::index:
      made.kind = Value::Kind::index;
      made.affine = places_[nth(node.source)];
      return made;
    case NodeKind::op:
      break;
    default:
      throw InternalError("a sum of a chain where it is not known");
  }
  std::vector<Value> operands;
  for (int k = 0; k < ir::operand_count(node); ++k) operands.push_back(value(node.operand[k]));
  return apply(node.op, node.type, std::move(operands));
}

Value ChainValues::number(double value) {
  auto made = zero_of(DType::f32);
  made.number = value;
  return made;
}

Value ChainValues::power_of_two(Value exponent) {
  Value value;
  value.kind = Value::Kind::power_of_two;
  value.type = DType::f32;
  value.operands.push_back(std::move(exponent));
  return value;
}

Value ChainValues::binary(OpCode op, Value x, Value y) { return apply(op, DType::f32, {std::move(x), std::move(y)}); }

Value ChainValues::greatest(Value x, Value y) {
  auto value = binary(OpCode::maximum, std::move(x), std::move(y));
  value.never_nan = true;
  return value;
}

Value ChainValues::pair_of(DType type, Value x, Value y) {
  Value pair;
  pair.kind = Value::Kind::pack;
  pair.type = type;
  pair.operands = {std::move(x), std::move(y)};
  return pair;
}

Value ChainValues::unless_none(Value maximum, Value otherwise, Value value) {
  auto none = apply(OpCode::equal, DType::u8, {std::move(maximum), number(-std::numeric_limits<double>::infinity())});
  return apply(OpCode::select, DType::f32, {std::move(none), std::move(otherwise), std::move(value)});
}

}  // namespace ricci::kernel
