// Guards that compare indices with each other, or with a parameter: conditions of index expressions, which loops end
// by.
#include <algorithm>

#include "kernel/parameter.hpp"
#include "kernel/program/point.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

Bounds bounds_of(const ir::Program& program, const Affine& sum) {
  return bounds(sum,
                [&](Var q) { return std::max<std::int64_t>(program.indices[static_cast<std::size_t>(q)].extent, 1); });
}

}  // namespace

std::optional<Affine> index_sum(const ir::Program& program, NodeId id) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // products of two, with extents, have no overflow
  const auto bounded = [](Affine sum) -> std::optional<Affine> {
    const auto small = [](std::int64_t c) { return c <= kLargest && c >= -kLargest; };
    const auto is_small = [&](const Term& term) { return small(term.coefficient); };
    if (!small(sum.constant) || !std::all_of(sum.terms.begin(), sum.terms.end(), is_small)) return std::nullopt;
    return sum;
  };
  const auto& n = program.nodes[static_cast<std::size_t>(id)];
  if (n.type != DType::i64) return std::nullopt;
  if (n.kind == NodeKind::index) return Affine::of(n.source);
  if (n.kind == NodeKind::constant) return bounded(static_cast<std::int64_t>(n.integer));
  if (n.kind != NodeKind::op || (n.op != OpCode::add && n.op != OpCode::sub && n.op != OpCode::mul))
    return std::nullopt;
  const auto x = index_sum(program, n.operand[0]), y = index_sum(program, n.operand[1]);
  if (!x || !y) return std::nullopt;
  if (n.op != OpCode::mul) return bounded(n.op == OpCode::add ? *x + *y : *x - *y);
  if (x->is_constant()) return bounded(x->constant * *y);
  if (y->is_constant()) return bounded(y->constant * *x);
  return std::nullopt;
}

std::optional<PointBuilder::IndexGuard> PointBuilder::index_guard(NodeId predicate) const {
  const auto& n = node(predicate);
  if (n.kind != NodeKind::op || (n.op != OpCode::less && n.op != OpCode::less_equal)) return std::nullopt;
  const auto param = [&](int k) {
    const auto& operand = node(n.operand[k]);
    return operand.kind == NodeKind::param && operand.type == DType::i64 ? operand.source : -1;
  };
  IndexGuard guard;
  guard.below = n.op == OpCode::less ? 0 : 1;
  const auto x = index_sum(program_, n.operand[0]), y = index_sum(program_, n.operand[1]);
  if (x && y) {
    guard.sum = *x - *y;
  } else if (x && param(1) >= 0) {
    guard.sum = *x;
    guard.param = param(1);
    guard.sign = -1;
  } else if (y && param(0) >= 0) {
    guard.sum = -1 * *y;
    guard.param = param(0);
    guard.sign = 1;
  } else {
    return std::nullopt;
  }
  // Held within these a parameter gives every comparison the same result.
  const auto b = bounds_of(program_, guard.sum);
  guard.least = guard.sign < 0 ? b.first - guard.below : guard.below - 1 - b.last;
  guard.most = guard.sign < 0 ? b.last + 1 - guard.below : guard.below - b.first;
  return guard;
}

Affine PointBuilder::parameter_of(const IndexGuard& guard) {
  if (guard.param < 0) return {};
  const auto& param = program_.params[static_cast<std::size_t>(guard.param)];
  const auto var = kernel_.add_var(names_.fresh(param.name), guard.most - guard.least + 1);
  Let let;
  let.var = var;
  let.value = held_within(guard.param, guard.least, guard.most);
  body_.add(std::move(let));
  return guard.sign * (Affine::of(var) + Affine(guard.least));
}

// A guard that differs between the points of a worker's tile bounds the loop by the point that needs most of it, and
// stays around the values.
std::vector<std::vector<PointBuilder::LoopBound>> PointBuilder::bounds_of_loops(const ir::Node& reduce,
                                                                                const std::vector<bool>& unroll,
                                                                                bool shared) {
  std::vector<std::vector<LoopBound>> made(reduce.over.size());
  std::vector<NodeId> predicates;
  for (auto id = reduce.operand[0]; node(id).kind == NodeKind::guard && !arrays_.contains(id);
       id = node(id).operand[1]) {
    for (const auto predicate : open_conjuncts(node(id).operand[0], true)) predicates.push_back(predicate);
  }
  for (const auto predicate : predicates) {
    const auto guard = index_guard(predicate);
    if (!guard) continue;
    // The innermost loop that it is about; of one that is spelt out it stays with the value.
    auto k = made.size();
    const auto by = [&] { return guard->sum.coefficient(reduce.over[k - 1]); };
    while (k > 0 && by() == 0) --k;
    if (k == 0 || unroll[k - 1]) continue;
    LoopBound bound{*guard, by() < 0, {}};
    if (bound.first) {
      // rest - q < below: q begins at rest - below + 1, which is nowhere below 0.
      const auto rest = guard->sum.with(reduce.over[k - 1], 0);
      const auto least = bounds_of(program_, rest).first + (guard->param < 0 ? 0 : guard->least) - guard->below + 1;
      const bool begins = std::any_of(made[k - 1].begin(), made[k - 1].end(), [](const auto& b) { return b.first; });
      const bool falls = std::any_of(rest.terms.begin(), rest.terms.end(), [&](const Term& term) {  // along the tile
        return term.coefficient < 0 && unrolled_[static_cast<std::size_t>(term.var)];
      });
      if (by() != -1 || least < 0 || begins || falls || (shared && members_along(reduce, k - 1) > 1)) continue;
    }
    bound.parameter = parameter_of(*guard);
    made[k - 1].push_back(std::move(bound));
    if (unrolled(predicate).none() && !on_lanes(predicate)) held_.insert(predicate);
  }
  return made;
}

std::vector<NodeId> PointBuilder::open_conjuncts(NodeId predicate, bool all) const {
  const auto& n = node(predicate);
  if (held_.contains(predicate)) return {};
  if (n.kind != NodeKind::op || n.op != OpCode::bit_and || n.type != DType::u8) return {predicate};
  auto open = open_conjuncts(n.operand[0], all);
  const auto others = open_conjuncts(n.operand[1], all);
  // What nothing is held of is one value.
  if (!all && open == std::vector{n.operand[0]} && others == std::vector{n.operand[1]}) return {predicate};
  open.insert(open.end(), others.begin(), others.end());
  return open;
}

void PointBuilder::bound_loop(const LoopBound& bound, Loop& loop) {
  const auto& sum = bound.guard.sum;
  auto value = Affine(sum.constant) + bound.parameter;
  for (const auto& [index, c] : sum.terms) {
    const auto q = static_cast<std::size_t>(index);
    const bool lane = index == block_.lane;
    const auto last =
        (unrolled_[q] ? (block_.register_tile[q] - 1) * block_.apart[q] : 0) + (lane ? block_.lanes - 1 : 0);
    value = value + Affine::of(block_.vars[q].value, c) + Affine(c < 0 ? c * last : 0);
    if (block_.point >= 0 && lane) value = value + Affine::of(block_.point, c);
  }
  if (bound.first) {
    loop.first = value + Affine::of(loop.var) + Affine(1 - bound.guard.below);
  } else {
    loop.when.push_back({std::move(value), bound.guard.below});
  }
}

}  // namespace ricci::kernel
