// Values inside a worker's block as nodes of a kernel.
#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/program/point.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;

Value constant_of(DType type, Scalar number) {
  Value value;
  value.type = type;
  value.number = number;
  return value;
}

int PointBuilder::add_registers(const std::string& stem, DType type, const IndexSet& set, int lanes) {
  Array array;
  array.name = names_.fresh(stem);
  array.type = type;
  array.space = Space::registers;
  array.lanes = lanes;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (set[q]) array.shape.push_back(block_.register_tile[q]);
  }
  return kernel_.add_array(std::move(array));
}

void PointBuilder::define(int array, const IndexSet& set, Value value) {
  if (set.none()) {
    body_.add(Define{array, std::move(value)});
  } else {
    body_.add(Declare{array});
    store(array, set, std::move(value));
  }
}

void PointBuilder::store(int array, const IndexSet& set, Value value) {
  const int loops = open_unrolled(set);
  body_.add(Store{cell(array, set), std::move(value)});
  body_.close(loops);
}

Access PointBuilder::cell(int array, const IndexSet& set) const {
  Access access{array, {}, kernel_.array(array).lanes};
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (set[q]) access.index.push_back(Affine::of(block_.vars[q].place));
  }
  return access;
}

Value PointBuilder::value_of(int array, const IndexSet& set) const {
  return load_of(kernel_.array(array).type, cell(array, set));
}

Affine PointBuilder::offset(const ir::Affine& affine) {
  Affine sum(affine.constant);
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    const auto c = affine.coefficient[q];
    if (c == 0) continue;
    const auto& vars = block_.vars[q];
    if (unrolled_[q] && block_.ragged[q]) {
      sum = sum + Affine::of(vars.inside, c);
      clamped_[q] = true;
      continue;
    }
    if (vars.value >= 0) sum = sum + Affine::of(vars.value, c);
    if (unrolled_[q]) sum = sum + Affine::of(vars.place, c * block_.apart[q]);
    if (block_.point >= 0 && static_cast<int>(q) == block_.lane) sum = sum + Affine::of(block_.point, c);
  }
  return sum;
}

int PointBuilder::vector_index(int buffer, const ir::Affine& affine) const {
  for (std::size_t q = 0; !cpu() && q < block_.register_tile.size(); ++q) {
    const bool neighbours = unrolled_[q] && block_.apart[q] == 1 && !block_.ragged[q];
    const auto along = static_cast<int>(q);
    if (neighbours && is_vector_access(program_, buffer, affine, along, block_.register_tile[q])) return along;
  }
  return -1;
}

Value PointBuilder::declared(NodeId id) {
  const auto array = arrays_.at(id);
  auto set = unrolled(id);
  if (kernel_.array(array).space == Space::scratch) {  // kept beside a row
    return load_of(node(id).type, {array, {place_in_row()}, lanes_of(id)});
  }
  if (cpu() || kernel_.array(array).lanes == 1) return value_of(array, set);
  const auto along = static_cast<std::size_t>(vector_index(id));
  set.reset(along);
  auto lane = value_of(array, set);
  lane.access.lane = Affine::of(block_.vars[along].place);
  return lane;
}

Value PointBuilder::load(NodeId id) {
  const auto& n = node(id);
  const int lanes = lanes_of(id);
  if (const auto place = vectors_.find(id); place != vectors_.end()) {
    auto lane = value_of(place->second.first, {});
    lane.access.lane = Affine::of(place->second.second);
    return lane;
  }
  if (const auto place = block_.buffered_loads.find(id); place != block_.buffered_loads.end()) {
    return load_of(n.type, {block_.in, {Affine::of(block_.point) + Affine(place->second * block_.row)}, lanes});
  }
  if (const auto place = block_.staged.find(id); place != block_.staged.end()) {
    const auto& [array, from, first] = place->second;
    return load_of(n.type, {array, {offset(from) - first}, lanes});
  }
  const auto first = offset(n.offset);
  const auto step = lanes > 1 ? n.offset.coefficient[static_cast<std::size_t>(block_.lane)] : 1;
  if (step == 1) return load_of(n.type, {n.source, {first}, lanes});
  Value vector;
  vector.kind = Value::Kind::pack;
  vector.type = n.type;
  for (int v = 0; v < lanes; ++v) vector.operands.push_back(load_of(n.type, {n.source, {first + Affine(step * v)}}));
  return vector;
}

Value PointBuilder::condition(NodeId id) {
  auto value = this->value(id);
  const auto type = value.type;
  if (type == DType::u8) return value;
  return apply(ir::OpCode::not_equal, DType::u8, {std::move(value), zero_of(type)});
}

Value PointBuilder::value(NodeId id) {
  if (arrays_.contains(id)) return declared(id);
  const auto& n = node(id);
  Value value;
  value.type = n.type;
  switch (n.kind) {
    case NodeKind::load:
      return load(id);
    case NodeKind::param:
      value.kind = Value::Kind::param;
      value.param = n.source;
      return value;
    case NodeKind::constant:
      value.number = n.value;
      value.bits = n.integer;
      return value;
    case NodeKind::index: {
      ir::Affine only;
      only.coefficient.assign(program_.indices.size(), 0);
      only.coefficient[static_cast<std::size_t>(n.source)] = 1;
      value.kind = Value::Kind::index;
      value.affine = offset(only);
      return value;
    }
    case NodeKind::op: {
      std::vector<Value> operands;
      for (int k = 0; k < ir::operand_count(n); ++k) operands.push_back(this->value(n.operand[k]));
      return apply(n.op, n.type, std::move(operands));
    }
    default:
      throw InternalError("a value that has no name yet");
  }
}

}  // namespace ricci::kernel
