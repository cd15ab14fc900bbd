// Reductions of a point: their loops, what is unrolled of them, sums, and what threads that share one combine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

/// Whether the value contains a reduction that is not computed yet.
bool PointEmitter::loops_below(NodeId id) const {
  const auto used = needed(id);
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k] && program_.nodes[k].kind == NodeKind::reduce) return true;
  }
  return false;
}

/// Number of values computed for one value of `id`; short inner loops count as unrolled.
double PointEmitter::values_below(NodeId id) const {
  const auto used = needed(id);
  std::vector<double> copies(used.size());
  copies.back() = 1;
  double total = 0;
  for (auto k = used.size(); k-- > 0;) {
    const auto& n = program_.nodes[k];
    if (!used[k] || is_leaf(n)) continue;
    double values = copies[k];
    const auto set = unrolled(static_cast<NodeId>(k));
    for (std::size_t q = 0; q < block_.register_tile.size(); ++q)
      values *= set[q] ? static_cast<double>(block_.register_tile[q]) : 1;
    total += values;
    double inner = copies[k];
    for (const int q : n.over) inner *= extent(q) <= kUnrolled ? static_cast<double>(extent(q)) : 1;
    for (const auto operand : n.operand) {
      if (operand >= 0)
        copies[static_cast<std::size_t>(operand)] = std::max(copies[static_cast<std::size_t>(operand)], inner);
    }
  }
  return total;
}

/// Which loops of a reduction are unrolled: short ones, from the inside out, as long as the text stays short. A loop
/// around one that is not unrolled stays a loop, too. (Of 72 copies of a loop over bytes LLVM 19 makes one reduction,
/// and crashes in the selection of its instructions.)
std::vector<bool> PointEmitter::unrolled_loops(const Node& reduce, bool shared) const {
  constexpr double kValues = 2048;  // compile time grows faster than length
  std::vector<bool> unroll(reduce.over.size());
  double values = values_below(reduce.operand[0]);
  for (auto k = unroll.size(); k-- > 0;) {
    const auto n = extent(reduce.over[k]);
    if (n > kUnrolled) break;
    const bool split = shared && k + 1 == unroll.size();
    if (split) continue;
    values *= static_cast<double>(n);
    if (values > kValues) break;
    unroll[k] = true;
  }
  return unroll;
}

void PointEmitter::declare_reduce(NodeId id) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const char* stem = n.op == OpCode::add ? "sum" : n.op == OpCode::mul ? "product" : "reduced";
  const auto name = fresh(stem);
  Set over;
  for (const int q : n.over) over[static_cast<std::size_t>(q)] = true;
  hoist(n.operand[0], over);
  start_value(id, name, n.op);
  const auto outside = forget(over);
  const bool shared = block_.cooperative_threads > 1 && loops_ == 0;
  const auto unroll = unrolled_loops(n, shared);
  for (std::size_t k = 0; k < n.over.size(); ++k) {
    const bool split = shared && k + 1 == n.over.size();
    // Loads of a thread that are in flight at once.
    constexpr std::int64_t kLoads = 8;
    if (split && extent(n.over[k]) >= kLoads * block_.cooperative_threads && !loops_below(n.operand[0])) {
      w_.line("#pragma unroll {}", kLoads);
    }
    open_loop(n.over[k], split, unroll[k]);
  }
  ++loops_;
  open_scope();
  accumulate(n.operand[0], name, n.op, set);
  close_scope();
  --loops_;
  close(static_cast<int>(n.over.size()));
  for (const auto& [other, known] : outside) names_[other] = known;
  if (shared) combine_threads(id, name);
  names_[id] = name;
  scope_.back().push_back(id);
}

/// target op= value (target = value without an operation) where all guards around the value hold. The whole tile is
/// skipped where no point needs it.
void PointEmitter::accumulate(NodeId id, const std::string& target, std::optional<OpCode> op, const Set& target_set) {
  std::vector<Text> conditions;
  int opened = 0;
  while (node(id).kind == NodeKind::guard && !names_.contains(id)) {
    const auto predicate = node(id).operand[0];
    const auto set = unrolled(predicate);
    if (set.none()) {
      prepare(predicate, set);
      w_.open("if ({}) {{", condition(predicate).text);
    } else {
      if (!names_.contains(predicate) && !is_leaf(node(predicate))) declare(predicate);
      const auto any = fresh("any");
      w_.line("bool {} = false;", any);
      const int loops = open_unrolled(set);
      w_.line("{} = {} || {};", any, any, in_brackets(condition(predicate), 1));
      close(loops);
      w_.open("if ({}) {{", any);
      conditions.push_back(condition(predicate));
    }
    open_scope();
    ++opened;
    id = node(id).operand[1];
  }
  prepare(id, target_set);
  const int loops = open_unrolled(target_set);
  const auto cell = target + subscript(target_set);
  if (!conditions.empty()) w_.open("if ({}) {{", conjunction(conditions));
  const auto type = node(id).type;
  if (!op) {
    w_.line("{} = {};", cell, value(id).text);
  } else if (is_real(type) && (op == OpCode::add || op == OpCode::mul)) {
    w_.line("{} {}= {};", cell, op == OpCode::add ? '+' : '*', value(id).text);
  } else {
    w_.line("{} = {};", cell, combined(*op, type, cell, value(id)));
  }
  if (!conditions.empty()) w_.close();
  close(loops);
  for (; opened > 0; --opened) {
    close_scope();
    w_.close();
  }
}

/// Combines the partial results of the cooperative threads; all of them get the result. The order does not depend on
/// timing.
void PointEmitter::combine_threads(NodeId id, const std::string& name) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const auto cell = name + subscript(set);
  const int within = std::min(block_.cooperative_threads, 32);
  int loops = open_unrolled(set);
  w_.line("#pragma unroll");
  w_.line("for (int mask = {}; mask > 0; mask /= 2) {} = {};", within / 2, cell,
          combined(n.op, n.type, cell, {fmt::format("shuffle_xor({}, mask)", cell)}));
  close(loops);
  if (block_.cooperative_threads <= 32) return;
  const int warps = block_.cooperative_threads / 32;
  const auto shared = fresh("parts");
  w_.line("static __shared__ {} {}{}[{}];", type_text(id), shared, dimensions(set), warps);
  loops = open_unrolled(set);
  w_.line("if (member % 32 == 0) {}{}[member / 32] = {};", shared, subscript(set), cell);
  close(loops);
  w_.line("__syncthreads();");
  loops = open_unrolled(set);
  w_.line("{} = {}{}[0];", cell, shared, subscript(set));
  w_.line("for (int warp = 1; warp < {}; ++warp) {} = {};", warps, cell,
          combined(n.op, n.type, cell, {fmt::format("{}{}[warp]", shared, subscript(set))}));
  close(loops);
}

}  // namespace ricci::codegen
