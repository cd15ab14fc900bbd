#include "ir/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "ir/select_indices.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

/// Zeros at the end do not count: affines grow with the program's indices.
bool same_access(const Affine& x, const Affine& y) {
  const bool shorter = x.coefficient.size() < y.coefficient.size();
  const auto &few = shorter ? x.coefficient : y.coefficient, &many = shorter ? y.coefficient : x.coefficient;
  return x.constant == y.constant && std::equal(few.begin(), few.end(), many.begin()) &&
         std::all_of(many.begin() + few.size(), many.end(), [](auto more) { return more == 0; });
}

/// Whether two nodes are one.
bool same_node(const Node& x, const Node& y) {
  const auto bits = [](Scalar value) { return std::bit_cast<std::array<std::uint64_t, 2>>(value); };
  return x.kind == y.kind && x.op == y.op && x.type == y.type && std::ranges::equal(x.operand, y.operand) &&
         x.source == y.source && x.exclusive == y.exclusive && x.over == y.over && same_access(x.offset, y.offset) &&
         bits(x.value) == bits(y.value) && x.integer == y.integer;
}

std::size_t hash_of(const Node& node) {
  std::size_t hash = 0;
  const auto add = [&](auto value) { hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15U; };
  add(node.kind);
  add(node.op);
  add(node.source);
  for (const auto operand : node.operand) add(operand);
  add(node.offset.constant);
  for (const auto coefficient : node.offset.coefficient) {
    if (coefficient != 0) add(coefficient);
  }
  add(std::bit_cast<std::uint64_t>(node.value.real()));
  add(node.integer);
  return hash ^ hash >> 32;
}

bool is_floating(DType type) { return !is_integer(type); }

/// The reduction around a node's k-th operand, `around` being the one around the node.
OpCode around_operand(const Node& node, int k, OpCode around) {
  const bool combines = node.kind == NodeKind::reduce || (node.kind == NodeKind::scan && k == 0);
  return combines ? node.op : around;
}

/// A guard's value outside of its condition is the identity of the enclosing reduction: a guard inside reductions of
/// several operations becomes one node for each.
class GuardParting {
 public:
  explicit GuardParting(Program& program) : program_(program), waits_(program.nodes.size()) {
    for (std::size_t id = 0; id < waits_.size(); ++id) {
      const auto& node = program.nodes[id];
      waits_[id] = node.kind == NodeKind::guard;
      for (int k = 0; k < operand_count(node); ++k) {
        const bool inside = around_operand(node, k, OpCode::sub) == OpCode::sub;  // not in a reduction of the node's
        if (inside && waits_[static_cast<std::size_t>(node.operand[k])]) waits_[id] = true;
      }
    }
  }

  void run() {
    for (auto& statement : program_.statements) statement.value = place({statement.value, OpCode::add});
    program_.nodes = std::move(nodes_);
  }

 private:
  using Key = std::pair<NodeId, OpCode>;  // a node, and the reduction around it where that matters

  Key key_of(NodeId id, OpCode around) const {
    return {id, waits_[static_cast<std::size_t>(id)] ? around : OpCode::add};
  }

  /// The node's number among the new ones, operands before users.
  NodeId place(const Key& root) {
    struct Visit {
      Key key;
      int next = 0;
    };
    std::vector<Visit> open{{key_of(root.first, root.second)}};
    while (!open.empty()) {
      auto& visit = open.back();
      const auto [id, around] = visit.key;
      const auto& node = program_.nodes[static_cast<std::size_t>(id)];
      if (places_.contains(visit.key)) {
        open.pop_back();
      } else if (visit.next < operand_count(node)) {
        const int k = visit.next++;
        open.push_back({key_of(node.operand[k], around_operand(node, k, around))});
      } else {
        auto made = node;
        for (int k = 0; k < operand_count(node); ++k) {
          made.operand[k] = places_.at(key_of(node.operand[k], around_operand(node, k, around)));
        }
        if (node.kind == NodeKind::guard) made.op = around;
        nodes_.push_back(std::move(made));
        places_[visit.key] = static_cast<NodeId>(nodes_.size()) - 1;
        open.pop_back();
      }
    }
    return places_.at(key_of(root.first, root.second));
  }

  Program& program_;
  std::vector<bool> waits_;  // per node: holds a guard that the reduction around the node decides on
  std::vector<Node> nodes_;
  std::map<Key, NodeId> places_;
};

bool has_guards(const Program& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [](const Node& node) { return node.kind == NodeKind::guard; });
}

}  // namespace

NodeId& Builder::place_of(const Node& node) {
  auto k = hash_of(node) % known_.size();
  while (known_[k] >= 0 && !same_node(this->node(known_[k]), node)) k = (k + 1) % known_.size();
  return known_[k];
}

NodeId Builder::add(Node node) {
  constexpr std::size_t kFew = 32;
  const auto count = program.nodes.size();
  if (2 * (count + 1) > known_.size()) {
    known_.assign(std::max(kFew, std::bit_ceil(4 * count)), -1);
    for (std::size_t id = 0; id < count; ++id) place_of(program.nodes[id]) = static_cast<NodeId>(id);
  }
  auto& place = place_of(node);
  if (place < 0) {
    place = static_cast<NodeId>(count);
    program.nodes.push_back(std::move(node));
  }
  return place;
}

bool Builder::is_constant(NodeId id, double value) const {
  return id >= 0 && node(id).kind == NodeKind::constant && node(id).value == Scalar(value);
}

NodeId Builder::load(int buffer, Affine offset) {
  Node node;
  node.kind = NodeKind::load;
  node.type = program.buffers[static_cast<std::size_t>(buffer)].type;
  node.source = buffer;
  node.offset = std::move(offset);
  return add(std::move(node));
}

NodeId Builder::param(int param) {
  Node node;
  node.kind = NodeKind::param;
  node.type = program.params[static_cast<std::size_t>(param)].type;
  node.source = param;
  return add(std::move(node));
}

NodeId Builder::constant(Scalar value, DType type) {
  if (is_integer(type)) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const auto real = value.real();
    if (!(std::fabs(real) <= kExact) || real != std::floor(real) || value.imag() != 0) {
      throw InternalError(fmt::format("({}, {}) as an exact {}; please report", real, value.imag(), name(type)));
    }
    return integer(static_cast<std::uint64_t>(static_cast<std::int64_t>(real)), type);
  }
  Node node;
  node.kind = NodeKind::constant;
  node.type = type;
  // One zero: -0 would be another constant, and a sum's identity is +0.
  node.value = value == Scalar(0) ? Scalar(0) : value;
  return add(std::move(node));
}

NodeId Builder::integer(std::uint64_t bits, DType type) {
  Node node;
  node.kind = NodeKind::constant;
  node.type = type;
  node.integer = wrapped(bits, type);
  return add(std::move(node));
}

NodeId Builder::constant(const Node& like) {
  return is_integer(like.type) ? integer(like.integer, like.type) : constant(like.value, like.type);
}

NodeId Builder::like(const Node& other, const std::array<NodeId, 3>& operand) {
  switch (other.kind) {
    case NodeKind::load:
      return load(other.source, other.offset);
    case NodeKind::param:
      return param(other.source);
    case NodeKind::constant:
      return constant(other);
    case NodeKind::index:
      return index(other.source);
    case NodeKind::reduce:
      return reduce(other.op, operand[0], other.over);
    case NodeKind::guard:
      return guard(operand[0], operand[1]);
    case NodeKind::scan:
      return scan(other.op, operand[0], other.over.front(), other.exclusive, operand[1]);
    case NodeKind::compact:
      return compact(operand[0], operand[1], operand[2], other.over.front());
    case NodeKind::op:
      break;
  }
  return op(other.op, other.type, operand[0], operand[1], operand[2]);
}

NodeId Builder::index(int index) {
  Node node;
  node.kind = NodeKind::index;
  node.type = DType::i64;
  node.source = index;
  return add(std::move(node));
}

NodeId Builder::cast(NodeId x, DType type) { return node(x).type == type ? x : op(OpCode::cast, type, x); }

NodeId Builder::op(OpCode code, DType type, NodeId x, NodeId y, NodeId z) {
  // A guard that is left alone would be the statement's: what it leaves out is not stored, and 0 in an expression.
  if (const auto made = folded(code, type, x, y, z); made >= 0 && node(made).kind != NodeKind::guard) return made;
  Node made;
  made.kind = NodeKind::op;
  made.op = code;
  made.type = type;
  made.operand[0] = x;
  made.operand[1] = y;
  made.operand[2] = z;
  return add(std::move(made));
}

NodeId Builder::folded(OpCode code, DType type, NodeId& x, NodeId& y, NodeId z) {
  // Integers have no rounding: always fold.
  const bool both = y >= 0 && node(x).kind == NodeKind::constant && node(y).kind == NodeKind::constant;
  if (code == OpCode::cast && node(x).kind == NodeKind::constant && is_integer(node(x).type) == is_integer(type)) {
    if (is_integer(type)) return integer(node(x).integer, type);
    if (!program.exact && !is_half(type)) return constant(node(x).value, type);
  }
  if (code == OpCode::select && y == z) return y;
  if (program.exact || !is_floating(type) || is_comparison(code)) return -1;

  const auto negated = [&](NodeId id) { return node(id).kind == NodeKind::op && node(id).op == OpCode::neg; };
  const auto inner = [&](NodeId id) { return node(id).operand[0]; };
  const auto negate = [&](NodeId id) { return op(OpCode::neg, type, id); };
  switch (code) {
    case OpCode::neg:
      if (node(x).kind == NodeKind::constant) return constant(-node(x).value, type);
      if (negated(x)) return inner(x);
      if (node(x).kind == NodeKind::op && node(x).op == OpCode::sub) {
        return op(OpCode::sub, type, node(x).operand[1], node(x).operand[0]);
      }
      break;
    case OpCode::add:
      if (both) return constant(node(x).value + node(y).value, type);
      if (is_constant(x, 0)) return y;
      if (is_constant(y, 0)) return x;
      if (negated(y)) return op(OpCode::sub, type, x, inner(y));
      if (negated(x)) return op(OpCode::sub, type, y, inner(x));
      break;
    case OpCode::sub:
      if (both) return constant(node(x).value - node(y).value, type);
      if (is_constant(y, 0)) return x;
      if (is_constant(x, 0)) return negate(y);
      if (x == y) return constant(0, type);
      if (negated(y)) return op(OpCode::add, type, x, inner(y));
      if (negated(x)) return negate(op(OpCode::add, type, inner(x), y));
      break;
    case OpCode::mul: {
      if (both) return constant(node(x).value * node(y).value, type);
      if (node(y).kind == NodeKind::constant) std::swap(x, y);
      if (is_constant(x, 0)) return x;
      if (is_constant(x, 1)) return y;
      if (is_constant(x, -1)) return negate(y);
      if (negated(x) && negated(y)) return op(OpCode::mul, type, inner(x), inner(y));
      if (negated(x)) return negate(op(OpCode::mul, type, inner(x), y));
      if (negated(y)) {
        if (node(x).kind == NodeKind::constant) return op(OpCode::mul, type, constant(-node(x).value, type), inner(y));
        return negate(op(OpCode::mul, type, x, inner(y)));
      }
      const auto& factor = node(y);
      if (node(x).kind == NodeKind::constant && factor.kind == NodeKind::op && factor.op == OpCode::mul &&
          node(factor.operand[0]).kind == NodeKind::constant) {
        return op(OpCode::mul, type, constant(node(x).value * node(factor.operand[0]).value, type), factor.operand[1]);
      }
      break;
    }
    case OpCode::div:
      if (is_constant(y, 1)) return x;
      if (is_constant(x, 0)) return x;
      if (negated(x) && negated(y)) return op(OpCode::div, type, inner(x), inner(y));
      if (negated(x)) return negate(op(OpCode::div, type, inner(x), y));
      if (negated(y)) return negate(op(OpCode::div, type, x, inner(y)));
      // Dividing by a power of two equals multiplying by its inverse, bit by bit.
      if (node(y).kind == NodeKind::constant && node(y).value.imag() == 0) {
        int exponent = 0;
        const double value = node(y).value.real();
        if (std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 60) {
          return op(OpCode::mul, type, constant(1 / value, type), x);
        }
      }
      break;
    case OpCode::scale:
      if (is_constant(x, 0)) return x;
      if (is_constant(x, 1)) return y;
      break;
    default:
      break;
  }
  return -1;
}

NodeId Builder::reduce(OpCode code, NodeId body, std::vector<int> over) {
  if (over.empty()) return body;
  std::sort(over.begin(), over.end());
  Node made;
  made.kind = NodeKind::reduce;
  made.op = code;
  made.type = node(body).type;
  made.operand[0] = body;
  made.over = std::move(over);
  return add(std::move(made));
}

NodeId Builder::guard(NodeId predicate, NodeId body) {
  Node made;
  made.kind = NodeKind::guard;
  made.type = node(body).type;
  made.operand[0] = predicate;
  made.operand[1] = body;
  return add(std::move(made));
}

NodeId Builder::scan(OpCode code, NodeId body, int over, bool exclusive, NodeId start) {
  Node made;
  made.kind = NodeKind::scan;
  made.op = code;
  made.type = node(body).type;
  made.operand[0] = body;
  made.operand[1] = start;
  made.over = {over};
  made.exclusive = exclusive;
  return add(std::move(made));
}

NodeId Builder::compact(NodeId predicate, NodeId payload, NodeId base, int over) {
  Node made;
  made.kind = NodeKind::compact;
  made.type = node(payload).type;
  made.operand[0] = predicate;
  made.operand[1] = payload;
  made.operand[2] = base;
  made.over = {over};
  return add(std::move(made));
}

void Builder::store(int buffer, Affine offset, NodeId value, std::int64_t step) {
  program.statements.push_back({buffer, std::move(offset), value, step});
}

Program Builder::finish() {
  Few<bool> used(program.nodes.size());
  for (const auto& statement : program.statements) used[static_cast<std::size_t>(statement.value)] = true;
  for (std::size_t id = program.nodes.size(); id-- > 0;) {
    if (!used[id]) continue;
    for (const auto operand : program.nodes[id].operand) {
      if (operand >= 0) used[static_cast<std::size_t>(operand)] = true;
    }
  }
  Few<NodeId> renumbered(program.nodes.size(), -1);
  NodeId kept = 0;
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    if (!used[id]) continue;
    auto& node = program.nodes[id];
    for (auto& operand : node.operand) {
      if (operand >= 0) operand = renumbered[static_cast<std::size_t>(operand)];
    }
    if (node.kind == NodeKind::load) node.offset.coefficient.resize(program.indices.size());
    renumbered[id] = kept++;
    if (renumbered[id] < static_cast<NodeId>(id))
      program.nodes[static_cast<std::size_t>(renumbered[id])] = std::move(node);
  }
  program.nodes.resize(static_cast<std::size_t>(kept));
  for (auto& statement : program.statements) {
    statement.value = renumbered[static_cast<std::size_t>(statement.value)];
    statement.offset.coefficient.resize(program.indices.size());
  }
  known_.clear();
  auto made = std::exchange(program, Program{});
  // An index that only folded sums ran over goes with them: no point of it would write an element of its own.
  Few<bool> used_indices(made.indices.size());
  for_each_access(made, [&](const Affine& affine) {
    for (std::size_t q = 0; q < used_indices.size(); ++q)
      if (affine.coefficient[q] != 0) used_indices[q] = true;
  });
  for (const auto& node : made.nodes) {
    for (const int q : node.over) used_indices[static_cast<std::size_t>(q)] = true;
    if (node.kind == NodeKind::index) used_indices[static_cast<std::size_t>(node.source)] = true;
  }
  Few<std::size_t> kept_indices;
  for (std::size_t q = 0; q < used_indices.size(); ++q) {
    if (used_indices[q] || made.indices[q].extent < 2) kept_indices.push_back(q);
  }
  select_indices(made, kept_indices);
  if (has_guards(made)) GuardParting(made).run();
  verify(made);
  return made;
}

}  // namespace ricci::ir
