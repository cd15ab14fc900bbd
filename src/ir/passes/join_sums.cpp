#include "ir/passes/join_sums.hpp"

#include <algorithm>
#include <utility>

#include "ir/builder.hpp"
#include "ir/named_values.hpp"
#include "ir/own_stack.hpp"
#include "ir/passes/canonical_nodes.hpp"

namespace ricci::ir {
namespace {

struct Addend {
  bool negative = false;
  NodeId node = -1;
};

class Joiner {
 public:
  explicit Joiner(const Program& program)
      : from_(program), uses_(program.nodes.size()), made_(program.nodes.size(), -1) {
    for (const auto& node : program.nodes) {
      for (const auto operand : node.operand) {
        if (operand >= 0) ++uses_[static_cast<std::size_t>(operand)];
      }
    }
    to_.program.indices = program.indices;
    to_.program.buffers = program.buffers;
    to_.program.params = program.params;
    to_.program.exact = program.exact;
  }

  Program run() {
    for (const auto& statement : from_.statements) {
      to_.store(statement.buffer, statement.offset, build(statement.value), statement.step);
    }
    return to_.finish();
  }

 private:
  const Node& node(NodeId id) const { return from_.nodes[static_cast<std::size_t>(id)]; }
  bool used_once(NodeId id) const { return uses_[static_cast<std::size_t>(id)] == 1; }

  static bool chains(const Node& node) {
    return node.kind == NodeKind::op && (node.op == OpCode::add || node.op == OpCode::sub || node.op == OpCode::neg);
  }

  bool joins(NodeId id) const {
    const auto& n = node(id);
    return n.kind == NodeKind::reduce && n.op == OpCode::add && used_once(id) &&
           node(n.operand[0]).kind != NodeKind::guard;
  }

  void collect(NodeId id, bool negative, bool root, std::vector<Addend>& terms) const {
    const auto& n = node(id);
    if (!chains(n) || !(root || used_once(id))) {
      terms.push_back({negative, id});
      return;
    }
    if (n.op == OpCode::neg) {
      collect(n.operand[0], !negative, false, terms);
      return;
    }
    collect(n.operand[0], negative, false, terms);
    collect(n.operand[1], negative != (n.op == OpCode::sub), false, terms);
  }

  /// The sum of `terms`, whose nodes are of the new program.
  NodeId sum_of(std::vector<Addend> terms, DType type) {
    std::stable_partition(terms.begin(), terms.end(), [](const Addend& term) { return !term.negative; });
    NodeId total = terms.front().negative ? to_.op(OpCode::neg, type, terms.front().node) : terms.front().node;
    for (std::size_t k = 1; k < terms.size(); ++k) {
      total = to_.op(terms[k].negative ? OpCode::sub : OpCode::add, type, total, terms[k].node);
    }
    return total;
  }

  NodeId build(NodeId id) {
    auto& made = made_[static_cast<std::size_t>(id)];
    if (made < 0) made = chains(node(id)) ? build_chain(id) : rebuild(id);
    return made;
  }

  NodeId build_chain(NodeId id) {
    const auto type = node(id).type;
    std::vector<Addend> terms;
    if (!from_.exact || is_integer(type)) collect(id, false, true, terms);
    const auto partners = [&](const Addend& term) {
      return std::count_if(terms.begin(), terms.end(), [&](const Addend& other) {
        return joins(other.node) && node(other.node).over == node(term.node).over;
      });
    };
    const bool any = std::any_of(terms.begin(), terms.end(),
                                 [&](const Addend& term) { return joins(term.node) && partners(term) > 1; });
    if (!any) return rebuild(id);
    std::vector<Addend> rest;
    std::vector<bool> done(terms.size());
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (done[k]) continue;
      if (!joins(terms[k].node) || partners(terms[k]) == 1) {
        rest.push_back({terms[k].negative, build(terms[k].node)});
        continue;
      }
      std::vector<Addend> bodies;
      const auto over = node(terms[k].node).over;
      for (std::size_t j = k; j < terms.size(); ++j) {
        if (!joins(terms[j].node) || node(terms[j].node).over != over) continue;
        done[j] = true;
        bodies.push_back({terms[j].negative, build(node(terms[j].node).operand[0])});
      }
      rest.push_back({false, to_.reduce(OpCode::add, sum_of(std::move(bodies), type), over)});
    }
    return sum_of(std::move(rest), type);
  }

  /// The same node over what its operands have become.
  NodeId rebuild(NodeId id) {
    const auto& n = node(id);
    const auto operand = [&](int k) { return n.operand[k] < 0 ? -1 : build(n.operand[k]); };
    // One after the other: numbers of nodes follow their order.
    const NodeId x = operand(0), y = operand(1), z = operand(2);
    return to_.like(n, {x, y, z});
  }

  const Program& from_;
  std::vector<int> uses_;
  std::vector<NodeId> made_;
  Builder to_;
};

}  // namespace

Program join_sums(Program program) {
  const auto sums = std::count_if(program.nodes.begin(), program.nodes.end(),
                                  [](const Node& node) { return node.kind == NodeKind::reduce; });
  if (sums < 2) return program;
  // A sum that it makes may be one that is there, with its operands the other way round.
  return share_nodes(on_stack_of(stack_for(depth_of(program)), [&] { return Joiner(program).run(); }));
}

}  // namespace ricci::ir
