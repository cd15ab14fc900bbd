#include "ir/passes/canonical_nodes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "ir/passes/colour_refinement.hpp"

namespace ricci::ir {
namespace {

/// Keeps the nodes `order`, operands before users, in that order.
void select_nodes(Program& program, const Few<NodeId>& order) {
  if (order.size() == program.nodes.size() && std::is_sorted(order.begin(), order.end())) return;  // as it is
  Few<NodeId> place(program.nodes.size(), -1);
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const auto id : order) {
    auto& node = program.nodes[static_cast<std::size_t>(id)];
    for (int k = 0; k < operand_count(node); ++k) node.operand[k] = place[static_cast<std::size_t>(node.operand[k])];
    place[static_cast<std::size_t>(id)] = static_cast<NodeId>(nodes.size());
    nodes.push_back(std::move(node));
  }
  program.nodes = std::move(nodes);
  for (auto& statement : program.statements) statement.value = place[static_cast<std::size_t>(statement.value)];
}

/// Per node: whether a statement uses it.
Few<bool> used_nodes(const Program& program) {
  Few<bool> used(program.nodes.size());
  for (const auto& statement : program.statements) used[static_cast<std::size_t>(statement.value)] = true;
  for (std::size_t id = used.size(); id-- > 0;) {
    const auto& node = program.nodes[id];
    for (int k = 0; used[id] && k < operand_count(node); ++k) used[static_cast<std::size_t>(node.operand[k])] = true;
  }
  return used;
}

/// Nodes of a program by all that decides what they compute, once their operands are numbered.
class NodeValue {
 public:
  explicit NodeValue(const std::vector<Node>& nodes) : nodes_(&nodes) {}

  /// A hash.
  std::size_t operator()(NodeId id) const {
    const auto& node = at(id);
    std::size_t hash = 0;
    const auto add = [&](auto value) { hash = hash * 0x9e3779b97f4a7c15U + static_cast<std::size_t>(value); };
    add(node.kind);
    if (has_operation(node)) add(node.op);
    if (has_source(node)) add(node.source);
    for (const auto coefficient : node.offset.coefficient) add(coefficient);
    NodeId operands = 0;  // in any order
    for (int k = 0; k < operand_count(node); ++k) operands += node.operand[k];
    add(operands);
    return hash ^ hash >> 32;
  }
  /// Whether they are the same.
  bool operator()(NodeId id_x, NodeId id_y) const {
    const auto &x = at(id_x), &y = at(id_y);
    if (x.kind != y.kind || x.type != y.type || x.exclusive != y.exclusive || x.over != y.over) return false;
    if (has_operation(x) && x.op != y.op) return false;
    if (has_source(x) && x.source != y.source) return false;
    if (x.kind == NodeKind::load && x.offset != y.offset) return false;
    if (x.kind == NodeKind::constant && (x.value != y.value || x.integer != y.integer)) return false;
    const int count = operand_count(x);
    if (std::equal(x.operand, x.operand + count, y.operand)) return true;
    return x.kind == NodeKind::op && commutes(x.op) && x.operand[0] == y.operand[1] && x.operand[1] == y.operand[0];
  }

 private:
  const Node& at(NodeId id) const { return (*nodes_)[static_cast<std::size_t>(id)]; }
  static bool has_source(const Node& node) {
    return node.kind == NodeKind::load || node.kind == NodeKind::param || node.kind == NodeKind::index;
  }
  /// A guard's is that of the reduction around it.
  static bool has_operation(const Node& node) {
    return !has_source(node) && node.kind != NodeKind::constant && node.kind != NodeKind::compact;
  }

  const std::vector<Node>* nodes_;
};

/// Rebuilds a program with its chains sorted.
class Sorter {
 public:
  explicit Sorter(Program& program)
      : program_(program), chains_(program), now_(&program.nodes), reads_(reads_outputs(program)) {
    origin_.resize(reads_.size());
    std::iota(origin_.begin(), origin_.end(), 0);
  }

  /// Whether chains are of two operands each, which stand in order.
  bool is_sorted() const {
    for (NodeId id = 0; id < static_cast<NodeId>(origin_.size()); ++id) {
      if (chains_.inner(id)) return false;
      const auto terms = chains_.terms(id);
      if (terms.empty()) continue;
      const auto& node = at(id);
      const bool pair = terms.size() == 2 && terms[0].node == node.operand[0] && terms[1].node == node.operand[1];
      if (!pair || terms[0].inverse || terms[1].inverse != (node.op == OpCode::sub)) return false;
      if (!terms[1].inverse && before(terms[1].node, terms[0].node)) return false;
    }
    return true;
  }

  void run() {
    const auto reads = std::exchange(reads_, {});
    origin_.clear();
    now_ = &nodes_;
    nodes_.reserve(program_.nodes.size());
    Few<NodeId> place(program_.nodes.size(), -1);
    for (std::size_t id = 0; id < place.size(); ++id) {
      if (chains_.inner(static_cast<NodeId>(id))) continue;
      const auto& node = program_.nodes[id];
      auto terms = chains_.terms(static_cast<NodeId>(id));
      for (auto& term : terms) term.node = place[static_cast<std::size_t>(term.node)];
      if (terms.empty()) {
        auto copy = node;
        for (int k = 0; k < operand_count(node); ++k) {
          copy.operand[k] = place[static_cast<std::size_t>(node.operand[k])];
        }
        place[id] = add(std::move(copy), reads[id], static_cast<NodeId>(id));
      } else {
        place[id] = chain(node, std::move(terms));
        origin_[static_cast<std::size_t>(place[id])] = static_cast<NodeId>(id);
      }
    }
    program_.nodes = std::move(nodes_);
    for (auto& statement : program_.statements) statement.value = place[static_cast<std::size_t>(statement.value)];
  }

 private:
  const Node& at(NodeId id) const { return (*now_)[static_cast<std::size_t>(id)]; }

  ///   origin  the program's own node, whose role it has; -1: none
  NodeId add(Node node, bool reads, NodeId origin) {
    nodes_.push_back(std::move(node));
    reads_.push_back(reads);
    origin_.push_back(origin);
    return static_cast<NodeId>(nodes_.size()) - 1;
  }

  NodeId chain(const Node& like, Few<Term, 8> terms) {
    // What is subtracted stands behind what it is subtracted from.
    std::stable_sort(terms.begin(), terms.end(), [&](const Term& x, const Term& y) {
      if (x.inverse != y.inverse) return y.inverse;
      return before(x.node, y.node);
    });
    Node link;
    link.kind = NodeKind::op;
    link.type = like.type;
    auto last = terms.front().node;
    if (terms.front().inverse) {
      link.op = OpCode::neg;
      link.operand[0] = last;
      last = add(link, reads_[static_cast<std::size_t>(last)], -1);
    }
    for (std::size_t k = 1; k < terms.size(); ++k) {
      link.op = terms[k].inverse ? OpCode::sub : like.op == OpCode::sub ? OpCode::add : like.op;
      link.operand[0] = last;
      link.operand[1] = terms[k].node;
      const bool reads = reads_[static_cast<std::size_t>(last)] || reads_[static_cast<std::size_t>(terms[k].node)];
      last = add(link, reads, -1);
    }
    return last;
  }

  bool before(NodeId x, NodeId y) const {
    if (x == y) return false;
    const bool reads_x = reads_[static_cast<std::size_t>(x)], reads_y = reads_[static_cast<std::size_t>(y)];
    if (reads_x != reads_y) return reads_y;
    constexpr int kDepth = 6;  // what is alike so far down is told apart by its role
    const auto order = compare(x, y, kDepth);
    if (order != 0) return order < 0;
    return role(x) < role(y);
  }

  /// Asked for where all else is alike, as few programs need colours.
  const Colours& colours_of_all() const {
    if (!colours_) colours_ = colours(program_);
    return *colours_;
  }
  std::uint64_t role(NodeId id) const {
    const auto origin = origin_[static_cast<std::size_t>(id)];
    return origin < 0 ? 0 : colours_of_all().node[static_cast<std::size_t>(origin)];
  }

  template <class T>
  static int three_way(const T& x, const T& y) {
    return x < y ? -1 : y < x ? 1 : 0;
  }

  int compare(const Affine& x, const Affine& y) const {
    for (std::size_t q = 0; q < x.coefficient.size(); ++q) {
      // The access that is slowest along the first index first: its coefficient there is the largest.
      if (const auto size = three_way(std::abs(y.coefficient[q]), std::abs(x.coefficient[q]))) return size;
      if (const auto sign = three_way(y.coefficient[q], x.coefficient[q])) return sign;
    }
    return three_way(x.constant, y.constant);
  }

  int compare(NodeId id_x, NodeId id_y, int depth) const {
    if (id_x == id_y || depth == 0) return 0;
    const auto &x = at(id_x), &y = at(id_y);
    const auto rank = [](const Node& node) {
      constexpr NodeKind kOrder[] = {NodeKind::constant, NodeKind::param, NodeKind::index, NodeKind::load,
                                     NodeKind::op,       NodeKind::guard, NodeKind::reduce};
      return std::find(std::begin(kOrder), std::end(kOrder), node.kind) - std::begin(kOrder);
    };
    if (const auto kind = three_way(rank(x), rank(y))) return kind;
    if (const auto op = three_way(x.op, y.op)) return op;
    if (const auto type = three_way(x.type, y.type)) return type;
    const auto colour = [](const std::vector<std::uint64_t>& numbers, const Node& node) {
      return numbers[static_cast<std::size_t>(node.source)];
    };
    switch (x.kind) {
      case NodeKind::load:
        if (const auto offset = compare(x.offset, y.offset)) return offset;
        return three_way(colour(colours_of_all().buffer, x), colour(colours_of_all().buffer, y));
      case NodeKind::param:
        return three_way(colour(colours_of_all().param, x), colour(colours_of_all().param, y));
      case NodeKind::index:
        return three_way(x.source, y.source);
      case NodeKind::constant:
        if (is_signed(x.type)) {
          return three_way(static_cast<std::int64_t>(x.integer), static_cast<std::int64_t>(y.integer));
        }
        return three_way(std::tuple(x.integer, x.value.real(), x.value.imag()),
                         std::tuple(y.integer, y.value.real(), y.value.imag()));
      default:
        break;
    }
    if (const auto over = three_way(x.over, y.over)) return over;
    for (int k = 0; k < operand_count(x); ++k) {
      if (const auto operand = compare(x.operand[k], y.operand[k], depth - 1)) return operand;
    }
    return 0;
  }

  Program& program_;
  mutable std::optional<Colours> colours_;
  const Chains chains_;
  std::vector<Node> nodes_;       // as they are made
  const std::vector<Node>* now_;  // these or, before, the program's; of each: does it read outputs, which it was
  Few<bool> reads_;
  Few<NodeId> origin_;
};

}  // namespace

Few<bool> reads_outputs(const Program& program) {
  Few<bool> reads(program.nodes.size());
  for (std::size_t id = 0; id < reads.size(); ++id) {
    const auto& node = program.nodes[id];
    if (node.kind == NodeKind::load) reads[id] = program.buffers[static_cast<std::size_t>(node.source)].written;
    for (int k = 0; k < operand_count(node); ++k) {
      if (reads[static_cast<std::size_t>(node.operand[k])]) reads[id] = true;
    }
  }
  return reads;
}

bool uses_all_nodes(const Program& program) {
  const auto used = used_nodes(program);
  return std::find(used.begin(), used.end(), false) == used.end();
}

Program drop_unused(Program program) {
  const auto used = used_nodes(program);
  Few<NodeId> order;
  order.reserve(used.size());
  for (std::size_t id = 0; id < used.size(); ++id) {
    if (used[id]) order.push_back(static_cast<NodeId>(id));
  }
  select_nodes(program, order);
  return program;
}

Program share_nodes(Program program) {
  const NodeValue value(program.nodes);
  Few<NodeId, 64> known(std::bit_ceil(2 * program.nodes.size()), -1);  // by hash, or behind what is there
  const auto first_like = [&](NodeId id) {
    auto k = value(id) % known.size();
    while (known[k] >= 0 && !value(known[k], id)) k = (k + 1) % known.size();
    return known[k] < 0 ? known[k] = id : known[k];
  };
  Few<NodeId> same(program.nodes.size());
  for (std::size_t id = 0; id < same.size(); ++id) {
    auto& node = program.nodes[id];
    for (int k = 0; k < operand_count(node); ++k) node.operand[k] = same[static_cast<std::size_t>(node.operand[k])];
    same[id] = first_like(static_cast<NodeId>(id));
  }
  for (auto& statement : program.statements) statement.value = same[static_cast<std::size_t>(statement.value)];
  return drop_unused(std::move(program));
}

Program sort_operands(Program program) {
  // What was combined in another order is equal once it is sorted, and then one; and what uses it has another role.
  for (;;) {
    const auto nodes = program.nodes.size();
    Sorter sorter(program);
    if (sorter.is_sorted()) return program;
    sorter.run();
    program = share_nodes(std::move(program));
    if (program.nodes.size() >= nodes) return program;
  }
}

namespace {

/// The nodes that statements need, operands before users: depth first, leaves last, next to their use. The way down is
/// a list, as chains are as long as programs are.
Few<NodeId> use_order(const Program& program) {
  struct Visit {
    NodeId id;
    int next = 0;  // of its operands, those that are not leaves first
  };
  Few<NodeId> order;
  order.reserve(program.nodes.size());
  Few<bool> seen(program.nodes.size());
  Few<Visit, 16> open;
  open.reserve(program.nodes.size());
  const auto enter = [&](NodeId id) {
    if (seen[static_cast<std::size_t>(id)]) return;
    seen[static_cast<std::size_t>(id)] = true;
    open.push_back({id});
  };
  for (const auto& statement : program.statements) {
    enter(statement.value);
    while (!open.empty()) {
      const auto [id, next] = open.back();
      const auto& node = program.nodes[static_cast<std::size_t>(id)];
      const int count = operand_count(node);
      if (next == 2 * count) {
        order.push_back(id);
        open.pop_back();
        continue;
      }
      ++open.back().next;
      const auto operand = node.operand[next % count];
      if (is_leaf(program.nodes[static_cast<std::size_t>(operand)]) == (next >= count)) enter(operand);
    }
  }
  return order;
}

}  // namespace

Program number(Program program) {
  const auto order = use_order(program);
  select_nodes(program, order);

  Few<int> buffer(program.buffers.size(), -1), param(program.params.size(), -1);
  std::vector<Buffer> buffers;
  buffers.reserve(program.buffers.size());
  std::vector<Param> params;
  const auto take = [](auto& place, auto& list, auto& from, int k) {
    auto& number = place[static_cast<std::size_t>(k)];
    if (number >= 0) return;
    number = static_cast<int>(list.size());
    list.push_back(std::move(from[static_cast<std::size_t>(k)]));
  };
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::param) take(param, params, program.params, node.source);
    if (node.kind != NodeKind::load || program.buffers[static_cast<std::size_t>(node.source)].written) continue;
    take(buffer, buffers, program.buffers, node.source);
  }
  for (const auto& statement : program.statements) take(buffer, buffers, program.buffers, statement.buffer);
  for (auto& node : program.nodes) {
    if (node.kind == NodeKind::param) node.source = param[static_cast<std::size_t>(node.source)];
    if (node.kind == NodeKind::load) node.source = buffer[static_cast<std::size_t>(node.source)];
  }
  for (auto& statement : program.statements) statement.buffer = buffer[static_cast<std::size_t>(statement.buffer)];
  program.buffers = std::move(buffers);
  program.params = std::move(params);
  return program;
}

}  // namespace ricci::ir
