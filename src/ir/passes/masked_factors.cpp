#include "ir/passes/masked_factors.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/passes/index_uses.hpp"
#include "ir/passes/mask_where_made.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

using Conditions = std::vector<NodeId>;  ///< all of which hold, each once

void add(Conditions& conditions, NodeId condition) {
  if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) conditions.push_back(condition);
}

class Masks {
 public:
  Masks(const Sequence& sequence, std::size_t step)
      : sequence_(sequence),
        step_(step),
        from_(sequence.steps[step]),
        program_(from_.program),
        uses_(index_uses(program_)),
        rest_(from_) {}

  std::optional<Sequence> run() {
    bool found = false;
    for (NodeId id = 0; id < static_cast<NodeId>(program_.nodes.size()); ++id) {
      if (!is_guarded_sum(id)) continue;
      if (!mask_sum(id)) return std::nullopt;
      found = true;
    }
    if (!found) return std::nullopt;
    rest_.store(program_.statement());
    copies_.push_back(rest_.finish());
    replace_step(sequence_, step_, std::move(copies_));
    verify(sequence_);
    return std::move(sequence_);
  }

 private:
  const Node& node(NodeId id) const { return program_.nodes[at(id)]; }

  /// A sum of what a guard is around, or around a factor of.
  bool is_guarded_sum(NodeId id) const {
    const auto& n = node(id);
    if (n.kind != NodeKind::reduce || n.op != OpCode::add || n.over.empty()) return false;
    return (!program_.exact || is_integer(n.type)) && has_guard(n.operand[0]);
  }
  bool has_guard(NodeId id) const {
    const auto& n = node(id);
    if (n.kind == NodeKind::guard) return true;
    if (!is_op(n, OpCode::mul) && !is_op(n, OpCode::neg)) return false;
    for (int k = 0; k < operand_count(n); ++k) {
      if (has_guard(n.operand[k])) return true;
    }
    return false;
  }

  void add_parts(NodeId condition, Conditions& to) const {
    for (const auto part : parts_of(program_, condition)) add(to, part);
  }

  bool mask_sum(NodeId id) {
    const auto& sum = node(id);
    Conditions whole;
    factors_.clear();
    negative_ = false;
    if (!add_factors(sum.operand[0], whole) || factors_.size() < 2) return false;
    Conditions outside;
    for (const auto condition : whole) {
      const auto& has = uses_[at(condition)];
      if (std::none_of(sum.over.begin(), sum.over.end(), [&](int q) { return has[at(q)]; })) {
        add(outside, condition);
        continue;
      }
      bool masked = false;
      for (auto& factor : factors_) {
        if (!within(has, uses_[at(factor.value)])) continue;
        add(factor.conditions, condition);
        masked = true;
      }
      if (!masked) return false;
    }
    auto& builder = rest_.builder;
    NodeId product = -1;
    for (const auto& factor : factors_) {
      const auto value = factor.conditions.empty() ? rest_.copy(factor.value) : masked(factor);
      product = product < 0 ? value : builder.op(OpCode::mul, sum.type, product, value);
    }
    std::vector<int> over;
    for (const int q : sum.over) over.push_back(rest_.whole(q));
    std::sort(over.begin(), over.end());
    auto made = builder.reduce(OpCode::add, product, std::move(over));
    if (negative_) made = builder.op(OpCode::neg, sum.type, made);
    if (!outside.empty()) made = selected(rest_, outside, made);
    rest_.replace(id, made);
    return true;
  }

  struct Factor {
    NodeId value;
    Conditions conditions;
    bool operator<(const Factor& other) const {
      return std::pair(value, conditions) < std::pair(other.value, other.conditions);
    }
  };

  /// Factors of a product, with what guards around each of them ask, and around all of them. False where guards are in
  /// other expressions.
  bool add_factors(NodeId id, Conditions& around) {
    const auto& n = node(id);
    if (n.kind == NodeKind::guard) {
      add_parts(n.operand[0], around);
      return add_factors(n.operand[1], around);
    }
    if (is_op(n, OpCode::neg)) {
      negative_ = !negative_;
      return add_factors(n.operand[0], around);
    }
    if (is_op(n, OpCode::mul)) {
      for (int k = 0; k < 2; ++k) {
        Conditions inside;
        if (!add_factors(n.operand[k], inside)) return false;
        for (const auto condition : inside) add(around, condition);
      }
      return true;
    }
    if (holds_guard(id)) return false;
    factors_.push_back({id, {}});
    return true;
  }

  /// Whether a guard that the sum decides on is anywhere below.
  bool holds_guard(NodeId id) const {
    const auto& n = node(id);
    if (n.kind == NodeKind::guard) return true;
    if (n.kind == NodeKind::reduce) return false;
    for (int k = 0; k < operand_count(n); ++k) {
      if (holds_guard(n.operand[k])) return true;
    }
    return false;
  }

  /// The value where all conditions hold, else zero.
  NodeId selected(StepPiece& piece, const Conditions& conditions, NodeId value) const {
    for (const auto condition : conditions) value = selected_by(piece.builder, piece.copy(condition), value);
    return value;
  }

  /// The masked factor as the step reads it: of a tensor below conversions and conjugations the tensor is masked, in
  /// its own type; where it is made, if nothing reads what the mask leaves out.
  NodeId masked(const Factor& factor) {
    auto inner = factor.value;
    Nodes around;
    while (is_op(node(inner), OpCode::cast) || is_op(node(inner), OpCode::conj)) {
      around.push_back(inner);
      inner = node(inner).operand[0];
    }
    if (node(inner).kind != NodeKind::load) {
      around.clear();
      inner = factor.value;
    }
    if (node(inner).kind == NodeKind::load && mask_where_made(sequence_, step_, inner, factor.conditions))
      return rest_.copy(factor.value);
    auto value = rest_.load(sequence_, copy({inner, factor.conditions}), -1);
    for (std::size_t k = around.size(); k-- > 0;) value = rest_.builder.like(node(around[k]), {value, -1, -1});
    return value;
  }

  const Rows& copy(const Factor& factor) {
    const auto [place, fresh] = made_.try_emplace(factor);
    if (!fresh) return place->second;
    const auto type = node(factor.value).type;
    auto& rows = place->second;
    rows = add_rows(sequence_, program_, order_of(factor.value), 0, type, "masked");
    StepPiece piece(from_);
    auto& builder = piece.builder;
    const auto value = selected(piece, factor.conditions, piece.copy(factor.value));
    builder.store(piece.buffer(sequence_, rows.storage, true), piece.row(rows, -1), value);
    copies_.push_back(piece.finish());
    return rows;
  }

  /// Its indices as the largest tensor in it has them.
  std::vector<int> order_of(NodeId value) const {
    NodeId largest = -1;
    const auto size = [&](NodeId load) { return elements(program_, uses_[at(load)]); };
    Nodes open{value};
    while (!open.empty()) {
      const auto id = open.back();
      const auto& n = node(id);
      open.pop_back();
      if (n.kind == NodeKind::load && (largest < 0 || size(id) > size(largest))) largest = id;
      for (int k = 0; k < operand_count(n); ++k) open.push_back(n.operand[k]);
    }
    return by_memory(uses_[at(value)], largest >= 0 ? node(largest).offset : program_.statement().offset);
  }

  using Nodes = std::vector<NodeId>;

  Sequence sequence_;
  std::size_t step_;
  const Step from_;  // of what `sequence_` is a copy of
  const Program& program_;
  std::vector<Indices> uses_;
  StepPiece rest_;
  std::vector<Step> copies_;
  std::map<Factor, Rows> made_;
  std::vector<Factor> factors_;  // of the sum at hand
  bool negative_ = false;
};

}  // namespace

std::optional<Sequence> masked_factors(const Sequence& sequence, std::size_t step) {
  const auto& program = sequence.steps[step].program;
  if (program.statements.size() != 1 || program.points() == 0) return std::nullopt;
  const auto is = [&](NodeKind kind) {
    return std::any_of(program.nodes.begin(), program.nodes.end(), [kind](const Node& n) { return n.kind == kind; });
  };
  if (!is(NodeKind::guard) || is(NodeKind::scan) || is(NodeKind::compact)) return std::nullopt;
  return Masks(sequence, step).run();
}

}  // namespace ricci::ir
