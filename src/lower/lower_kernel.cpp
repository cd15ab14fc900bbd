#include "lower/lower_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/index_set.hpp"
#include "lower/complex_functions.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

using ir::Affine;
using ir::NodeId;

/// Sums of fields over indices up to here are written out.
constexpr std::int64_t kUnrolled = kMaxComponentExtent;

void add_to(Affine& sum, const Affine& term, std::int64_t times) {
  sum.coefficient.resize(std::max(sum.coefficient.size(), term.coefficient.size()));
  for (std::size_t q = 0; q < term.coefficient.size(); ++q) sum.coefficient[q] += times * term.coefficient[q];
  sum.constant += times * term.constant;
}

void add_loop_to(Affine& sum, int loop, std::int64_t times) {
  sum.coefficient.resize(std::max(sum.coefficient.size(), static_cast<std::size_t>(loop) + 1));
  sum.coefficient[static_cast<std::size_t>(loop)] += times;
}

Affine loop_affine(int loop) {
  Affine made;
  add_loop_to(made, loop, 1);
  return made;
}

}  // namespace

bool is_constant(const Affine& affine) {
  return std::all_of(affine.coefficient.begin(), affine.coefficient.end(), [](std::int64_t c) { return c == 0; });
}

Affine constant_affine(std::int64_t value) {
  Affine made;
  made.constant = value;
  return made;
}

const std::vector<int>& Needs::of(ExprId id) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  const auto& expr = program_.expr(id);
  std::vector<int> made;
  for (const auto operand : expr.operands) made = united(made, of(operand));
  const auto require = [&](int index) {
    if (index >= 0 && index != program_.grid) made = united(made, {index});
  };
  if (expr.kind == Kind::inverse || expr.kind == Kind::determinant) {
    for (const int index : expr.over) require(index);
  }
  if (expr.kind == Kind::access) {
    const auto& tensor = program_.tensor(expr.source);
    if (tensor.expanded()) {
      for (const auto& slot : expr.slots) {
        for (const auto& term : slot.terms) require(term.index);
      }
    } else if (tensor.role == TensorRole::local) {
      // Map the definition's needs to the indices of this access.
      if (const auto* defined = definition(program_, expr.source)) {
        const auto inside = of(defined->value);
        const auto& target = program_.expr(defined->target);
        for (std::size_t k = 0; k < target.slots.size(); ++k) {
          if (!contains(inside, target.slots[k].index())) continue;
          for (const auto& term : expr.slots[k].terms) require(term.index);
        }
      }
    }
  }
  return known_.emplace(id, std::move(made)).first->second;
}

KernelLowering::KernelLowering(const ProgramGraph& program, const Memory& memory, Needs& needs)
    : program_(program), memory_(memory), needs_(needs) {
  builder.program.exact = program.exact;
}

int KernelLowering::add_loop(const std::string& name, std::int64_t extent) {
  builder.program.indices.push_back({names_.unique(name), extent});
  return static_cast<int>(builder.program.indices.size()) - 1;
}

std::vector<int> KernelLowering::add_grid_loops() {
  std::vector<int> loops;
  const auto& name = program_.indices[static_cast<std::size_t>(program_.grid)].name;
  for (const auto extent : memory_.grid().extents) loops.push_back(add_loop(name, extent));
  return loops;
}

int KernelLowering::buffer(int storage) {
  const auto [place, fresh] = buffers_.try_emplace(storage, static_cast<int>(storages_.size()));
  if (!fresh) return place->second;
  const auto& from = memory_.storages()[static_cast<std::size_t>(storage)];
  ir::Buffer made;
  made.name = names_.unique(from.name);
  made.type = from.type;
  made.first = from.first;
  made.last = from.last;
  made.alignment = from.alignment;
  builder.program.buffers.push_back(std::move(made));
  storages_.push_back(storage);
  return static_cast<int>(storages_.size()) - 1;
}

Affine KernelLowering::position(const SlotValue& slot, const Positions& at) const {
  auto made = constant_affine(slot.offset);
  for (const auto& [index, coefficient] : slot.terms) {
    // An index of one value is 0, whatever its factor is.
    if (coefficient == 1 || program_.extent(index) != 1) add_to(made, at.of.at(index), coefficient);
  }
  return made;
}

Affine KernelLowering::offset(const Expr& access, const Positions& at) const {
  Affine made = constant_affine(memory_.base(access.source, 0));
  for (std::size_t k = 0; k < access.slots.size(); ++k) {
    if (access.slots[k].position >= 0) continue;  // a compaction adds it
    add_to(made, position(access.slots[k], at), memory_.stride(access.source, k));
  }
  return made;
}

Affine KernelLowering::offset(int tensor, int component, const Positions& at) const {
  Affine made = constant_affine(memory_.base(tensor, component));
  if (!program_.tensor(tensor).form.on_grid) return made;
  for (std::size_t k = 0; k < at.grid.size(); ++k) add_loop_to(made, at.grid[k], memory_.grid_stride(tensor, k));
  return made;
}

Component KernelLowering::component(const Expr& access, const Positions& at) const {
  std::vector<std::int64_t> multi_index;
  for (const auto& slot : access.slots) multi_index.push_back(position(slot, at).constant);
  return memory_.components(access.source).find(std::move(multi_index));
}

NodeId KernelLowering::load(const Expr& access, const Positions& at) {
  return load_storage(memory_.storage(access.source, 0), offset(access, at));
}

NodeId KernelLowering::load(int tensor, int component, const Positions& at) {
  const auto made = load_storage(memory_.storage(tensor, component), offset(tensor, component, at));
  read[{tensor, component}] = made;
  return made;
}

NodeId KernelLowering::component_value(const Expr& access, int number, const Positions& at) {
  const auto known = current.find({access.source, number});
  if (known != current.end()) return known->second;
  if (on_read) on_read(access, number);
  return load(access.source, number, at);
}

NodeId KernelLowering::component_itself(ExprId id, const Positions& at) {
  const auto& expr = program_.expr(id);
  if (expr.kind != Kind::access || !program_.tensor(expr.source).expanded()) return -1;
  const auto component = this->component(expr, at);
  return component.sign > 0 ? component_value(expr, component.number, at) : -1;
}

NodeId KernelLowering::load_storage(int storage, Affine offset) {
  return builder.load(buffer(storage), std::move(offset));
}

void KernelLowering::store(int storage, Affine offset, NodeId value, std::int64_t step) {
  const int written = buffer(storage);
  builder.program.buffers[static_cast<std::size_t>(written)].written = true;
  builder.store(written, std::move(offset), value, step);
}

NodeId KernelLowering::widened(NodeId node) { return builder.cast(node, arithmetic(builder.node(node).type)); }

std::string KernelLowering::key(ExprId id, const Positions& at) const {
  const auto& expr = program_.expr(id);
  auto made = fmt::format("{}", id);
  const auto add = [&](const Affine& affine) {
    made += fmt::format("|{}", affine.constant);
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (affine.coefficient[q] != 0) made += fmt::format(" {}:{}", q, affine.coefficient[q]);
    }
  };
  for (const int index : expr.free) add(at.of.at(index));
  if (expr.on_grid) add(at.of.at(program_.grid));
  return made;
}

NodeId KernelLowering::value(ExprId id, const Positions& at) {
  const auto& expr = program_.expr(id);
  if (expr.kind == Kind::number) return builder.constant(expr.value, expr.type);
  const auto wanted = key(id, at);
  // A node must not contain a loop that is already open here.
  if (const auto found = known_.find(wanted); found != known_.end()) {
    const bool clash = std::any_of(found->second.loops.begin(), found->second.loops.end(),
                                   [&](int loop) { return contains(active_, loop); });
    if (!clash) return found->second.node;
  }
  const auto made = evaluate(expr, at);
  known_[wanted] = {made, inner_[made]};
  return made;
}

NodeId KernelLowering::value_as(ExprId id, DType type, const Positions& at) {
  const auto& expr = program_.expr(id);
  if (expr.literal) return builder.constant(expr.value, type);
  const auto node = value(id, at);
  const auto made = builder.cast(node, type);
  inner_[made] = united(inner_[made], inner_[node]);
  return made;
}

NodeId KernelLowering::truth(ExprId id, const Positions& at) {
  const auto& expr = program_.expr(id);
  if (expr.literal) return builder.constant(expr.value == Scalar(0) ? 0 : 1, DType::u8);
  const auto node = value(id, at);
  if (expr.truth && builder.node(node).type == DType::u8) return node;
  const auto made = builder.op(OpCode::not_equal, DType::u8, node, builder.constant(0, builder.node(node).type));
  inner_[made] = united(inner_[made], inner_[node]);
  return made;
}

NodeId KernelLowering::index_value(const Affine& affine) {
  const auto constant = [&](std::int64_t value) {
    return builder.integer(static_cast<std::uint64_t>(value), DType::i64);
  };
  NodeId sum = -1;
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    if (affine.coefficient[q] == 0) continue;
    auto term = builder.index(static_cast<int>(q));
    if (affine.coefficient[q] != 1) {
      term = builder.op(OpCode::mul, DType::i64, term, constant(affine.coefficient[q]));
    }
    sum = sum < 0 ? term : builder.op(OpCode::add, DType::i64, sum, term);
  }
  if (sum < 0) return constant(affine.constant);
  return affine.constant == 0 ? sum : builder.op(OpCode::add, DType::i64, sum, constant(affine.constant));
}

NodeId KernelLowering::evaluate(const Expr& expr, const Positions& at) {
  switch (expr.kind) {
    case Kind::param: {
      const auto found = std::find(params_.begin(), params_.end(), expr.source);
      const auto number = static_cast<int>(found - params_.begin());
      if (found == params_.end()) {
        const auto& declared = program_.params[static_cast<std::size_t>(expr.source)];
        builder.program.params.push_back({names_.unique(declared.name), declared.type});
        params_.push_back(expr.source);
      }
      return builder.param(number);
    }
    case Kind::index:
      return index_value(at.of.at(expr.source));
    case Kind::access: {
      const auto& tensor = program_.tensor(expr.source);
      if (!tensor.expanded()) {
        return tensor.role == TensorRole::local ? local(expr, at) : widened(load(expr, at));
      }
      const auto component = this->component(expr, at);
      if (component.sign == 0) return builder.constant(0, arithmetic(tensor.type));
      const auto node = widened(component_value(expr, component.number, at));
      return component.sign > 0 ? node : builder.op(OpCode::neg, builder.node(node).type, node);
    }
    case Kind::reduce:
      return reduction(expr, at);
    case Kind::guard: {
      const auto condition = truth(expr.operands[0], at);
      const auto made = builder.guard(condition, value_as(expr.operands[1], expr.type, at));
      for (const auto operand : builder.node(made).operand) {
        if (operand >= 0) inner_[made] = united(inner_[made], inner_[operand]);
      }
      return made;
    }
    case Kind::determinant:
    case Kind::inverse:
      return matrix(expr, at);
    case Kind::delta: {
      auto difference = at.of.at(expr.over[0]);
      add_to(difference, at.of.at(expr.over[1]), -1);
      if (formula::is_constant(difference)) return builder.constant(difference.constant == 0 ? 1 : 0, DType::i64);
      const auto equal = builder.op(OpCode::equal, DType::u8, index_value(at.of.at(expr.over[0])),
                                    index_value(at.of.at(expr.over[1])));
      return builder.cast(equal, DType::i64);
    }
    case Kind::diagonal:
      return value(expr.operands[0], at);
    default:
      return operation(expr, at);
  }
}

NodeId KernelLowering::operation(const Expr& expr, const Positions& at) {
  NodeId operand[3] = {-1, -1, -1};
  const bool compares = expr.op == OpCode::equal || expr.op == OpCode::not_equal || expr.op == OpCode::less ||
                        expr.op == OpCode::less_equal;
  auto type = expr.type;
  if (compares) type = program_.common_type(expr.operands[0], expr.operands[1], {});
  // Of these the operand alone may be complex.
  const bool takes_complex =
      (expr.op == OpCode::real_part || expr.op == OpCode::imag_part || expr.op == OpCode::absolute) &&
      is_complex(program_.expr(expr.operands[0]).type);
  if (takes_complex) type = expr.type == DType::f64 ? DType::c128 : DType::c64;
  for (std::size_t k = 0; k < expr.operands.size(); ++k) {
    const bool condition = expr.op == OpCode::select && k == 0;
    operand[k] = condition ? truth(expr.operands[k], at) : value_as(expr.operands[k], type, at);
  }
  if (expr.op == OpCode::cast) return operand[0];
  // A fixed order of operands, so that a + b and b + a are one node; both give the same bits.
  if (ir::commutes(expr.op) && operand[1] < operand[0]) std::swap(operand[0], operand[1]);
  const bool by_parts = is_complex(type) && has_complex_function(expr.op);
  const auto made = by_parts ? complex_function(builder, expr.op, operand[0], operand[1])
                             : builder.op(expr.op, expr.type, operand[0], operand[1], operand[2]);
  for (const auto node : operand) {
    if (node >= 0) inner_[made] = united(inner_[made], inner_[node]);
  }
  return made;
}

std::vector<int> KernelLowering::loops_for(int index) {
  auto& made = loops_[index];
  for (const auto& loops : made) {
    const bool busy = std::any_of(loops.begin(), loops.end(), [&](int loop) { return contains(active_, loop); });
    if (!busy) return loops;
  }
  if (index == program_.grid) {
    made.push_back(add_grid_loops());
  } else {
    const auto& declared = program_.indices[static_cast<std::size_t>(index)];
    made.push_back({add_loop(declared.name, declared.extent)});
  }
  return made.back();
}

NodeId KernelLowering::reduction(const Expr& expr, const Positions& at) {
  const auto body = expr.operands[0];
  const auto& needed = needs_.of(body);
  auto inside = at;
  std::vector<int> unrolled, loops;
  const bool in_field = !at.grid.empty();
  for (const int index : expr.over) {
    const auto extent = program_.extent(index);
    const bool must = contains(needed, index);
    if (must || (in_field && index != program_.grid && extent > 0 && extent <= kUnrolled)) {
      unrolled.push_back(index);
      continue;
    }
    const auto own = loops_for(index);
    loops.insert(loops.end(), own.begin(), own.end());
    if (index == program_.grid) {
      inside.grid = own;
      Affine point;
      for (std::size_t k = 0; k < own.size(); ++k) add_loop_to(point, own[k], memory_.grid().weights[k]);
      inside.of[index] = point;
    } else {
      inside.of[index] = loop_affine(own.front());
    }
  }
  active_.insert(active_.end(), loops.begin(), loops.end());
  const bool empty = std::any_of(expr.over.begin(), expr.over.end(), [&](int q) { return program_.extent(q) == 0; });
  // An empty reduction reads nothing: its operands may not exist.
  NodeId total = empty ? builder.constant(0, expr.type) : -1;
  for (const int index : unrolled) inside.of[index] = constant_affine(0);
  while (!empty) {
    const auto term = value_as(body, expr.type, inside);
    if (total < 0) {
      total = term;
    } else {
      const auto before = total;
      total = builder.op(expr.op, expr.type, before, term);
      inner_[total] = united(inner_[total], inner_[before]);
    }
    inner_[total] = united(inner_[total], inner_[term]);
    std::size_t k = unrolled.size();
    while (k > 0) {
      auto& value = inside.of[unrolled[k - 1]].constant;
      if (++value < program_.extent(unrolled[k - 1])) break;
      value = 0;
      --k;
    }
    if (k == 0) break;
  }
  active_.resize(active_.size() - loops.size());
  if (loops.empty()) return total;
  std::sort(loops.begin(), loops.end());
  const auto made = builder.reduce(expr.op, total, loops);
  inner_[made] = united(inner_[total], loops);
  return made;
}

/// Determinant by the first row; inverse element (r, c) is cofactor (c, r) over the determinant.
NodeId KernelLowering::matrix(const Expr& expr, const Positions& at) {
  const auto type = expr.type;
  const auto element = [&](std::int64_t row, std::int64_t column) {
    auto there = at;
    there.of[expr.over[0]] = constant_affine(row);
    there.of[expr.over[1]] = constant_affine(column);
    return value_as(expr.operands[0], type, there);
  };
  const auto product = [&](NodeId x, NodeId y) {
    return builder.op(OpCode::mul, type, std::min(x, y), std::max(x, y));
  };
  const auto cofactor = [&](std::int64_t row, std::int64_t column) {
    // With cyclic neighbours the cofactors have no sign.
    const auto r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
    return builder.op(OpCode::sub, type, product(element(r1, c1), element(r2, c2)),
                      product(element(r1, c2), element(r2, c1)));
  };
  auto determinant = product(element(0, 0), cofactor(0, 0));
  for (std::int64_t column = 1; column < 3; ++column) {
    determinant = builder.op(OpCode::add, type, determinant, product(element(0, column), cofactor(0, column)));
  }
  if (expr.kind == Kind::determinant) return determinant;
  const auto row = at.of.at(expr.over[0]).constant, column = at.of.at(expr.over[1]).constant;
  // A symmetric matrix has a symmetric inverse: one cofactor serves both of its elements.
  const auto& access = program_.expr(expr.operands[0]);
  const auto& symmetries = program_.tensor(access.source).form.symmetry.list;
  bool symmetric = false;
  for (const auto& symmetry : symmetries) {
    std::vector<std::int64_t> offsets;
    for (const int slot : symmetry.slots) {
      const auto& value = access.slots[static_cast<std::size_t>(slot)];
      if (value.index() >= 0) offsets.push_back(value.offset);
    }
    symmetric = symmetric || (!symmetry.antisymmetric && offsets.size() == 2 && offsets[0] == offsets[1]);
  }
  const bool turned = symmetric && column > row;
  return builder.op(OpCode::div, type, turned ? cofactor(row, column) : cofactor(column, row), determinant);
}

NodeId KernelLowering::local(const Expr& access, const Positions& at) {
  const auto* defined = definition(program_, access.source);
  Positions inside;
  inside.grid = at.grid;
  if (program_.grid >= 0 && at.of.contains(program_.grid)) inside.of[program_.grid] = at.of.at(program_.grid);
  const auto& target = program_.expr(defined->target);
  for (std::size_t k = 0; k < target.slots.size(); ++k) {
    inside.of[target.slots[k].index()] = position(access.slots[k], at);
  }
  const auto type = program_.tensor(access.source).type;
  const auto node = value_as(defined->value, arithmetic(type), inside);
  const auto made = widened(builder.cast(node, type));
  inner_[made] = united(inner_[made], inner_[node]);
  return made;
}

void KernelLowering::drop_unused() {
  auto& made = builder.program;
  std::vector<bool> nodes(made.nodes.size()), loops(made.indices.size()), buffers(made.buffers.size()),
      params(made.params.size());
  const auto mark = [](std::vector<bool>& used, int k) { used[static_cast<std::size_t>(k)] = true; };
  const auto mark_affine = [&](const Affine& affine) {
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (affine.coefficient[q] != 0) loops[q] = true;
    }
  };
  for (const auto& statement : made.statements) {
    mark(nodes, statement.value);
    mark(buffers, statement.buffer);
    mark_affine(statement.offset);
  }
  for (std::size_t id = nodes.size(); id-- > 0;) {
    if (!nodes[id]) continue;
    const auto& node = made.nodes[id];
    for (const auto operand : node.operand) {
      if (operand >= 0) mark(nodes, operand);
    }
    for (const int loop : node.over) mark(loops, loop);
    mark_affine(node.offset);
    if (node.kind == ir::NodeKind::load) mark(buffers, node.source);
    if (node.kind == ir::NodeKind::param) mark(params, node.source);
    if (node.kind == ir::NodeKind::index) mark(loops, node.source);
  }
  const auto keep = [](auto& list, const std::vector<bool>& used) {
    std::vector<int> number(used.size(), -1);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (!used[k]) continue;
      number[k] = static_cast<int>(kept);
      if (kept != k) list[kept] = std::move(list[k]);
      ++kept;
    }
    list.resize(kept);
    return number;
  };
  (void)keep(storages_, buffers);
  (void)keep(params_, params);
  const auto buffer_number = keep(made.buffers, buffers), param_number = keep(made.params, params),
             loop_number = keep(made.indices, loops);
  const auto renumber = [](int& k, const std::vector<int>& number) { k = number[static_cast<std::size_t>(k)]; };
  const auto renumber_affine = [&](Affine& affine) {
    decltype(affine.coefficient) coefficient(made.indices.size());
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (affine.coefficient[q] != 0) coefficient[static_cast<std::size_t>(loop_number[q])] = affine.coefficient[q];
    }
    affine.coefficient = std::move(coefficient);
  };
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (!nodes[id]) continue;  // the builder drops it
    auto& node = made.nodes[id];
    for (auto& loop : node.over) renumber(loop, loop_number);
    if (node.kind == ir::NodeKind::load) {
      renumber(node.source, buffer_number);
      renumber_affine(node.offset);
    }
    if (node.kind == ir::NodeKind::param) renumber(node.source, param_number);
    if (node.kind == ir::NodeKind::index) renumber(node.source, loop_number);
  }
  for (auto& statement : made.statements) {
    renumber(statement.buffer, buffer_number);
    renumber_affine(statement.offset);
  }
}

ir::Step KernelLowering::finish() {
  drop_unused();
  ir::Step step;
  step.storage = storages_;
  step.param = params_;
  step.program = builder.finish();
  return step;
}

}  // namespace ricci::formula
