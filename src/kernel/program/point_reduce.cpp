// Reductions of a point: their loops, what is unrolled of them, sums, and what threads that share one combine.
#include <algorithm>
#include <bit>

#include "kernel/expand.hpp"
#include "kernel/program/point.hpp"

namespace ricci::kernel {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

// Rounds whose loads are in flight at once: those that are left over come one after the other.
constexpr int kFewest = 4, kMost = 8;
constexpr double kLongest = 2048;  // values of text that is unrolled: compile time grows faster than length

Value combined(OpCode op, DType type, Value x, Value y) { return apply(op, type, {std::move(x), std::move(y)}); }

}  // namespace

/// Whether the value contains a reduction that is not computed yet.
bool PointBuilder::loops_below(NodeId id) const {
  const auto used = needed(id);
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k] && program_.nodes[k].kind == NodeKind::reduce) return true;
  }
  return false;
}

/// Number of values computed for one value of `id`; short inner loops count as unrolled.
double PointBuilder::values_below(NodeId id) const {
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

/// Cooperative threads along the k-th index of a reduction that they share.
int PointBuilder::members_along(const Node& reduce, std::size_t k) const {
  if (!block_.members.empty()) return block_.members[static_cast<std::size_t>(reduce.over[k])];
  return k + 1 == reduce.over.size() ? block_.cooperative_threads : 1;
}

/// The member's place along each index of a reduction, that along the last one fastest.
std::vector<Affine> PointBuilder::member_digits(const Node& reduce) {
  std::vector<Affine> digits(reduce.over.size());
  std::int64_t below = 1;
  for (auto k = digits.size(); k-- > 0;) {
    const auto count = members_along(reduce, k);
    if (count == 1) continue;
    if (count == block_.cooperative_threads) {
      digits[k] = Affine::of(block_.member);
      break;
    }
    const auto var = kernel_.add_var(names_.fresh("m" + index_name(reduce.over[k])), count);
    const bool last = below * count == block_.cooperative_threads;
    body_.add(Let{var, Affine::of(block_.member), below, last ? 0 : count});
    digits[k] = Affine::of(var);
    below *= count;
  }
  return digits;
}

/// Whether an index along which `step` threads share a reduction has few rounds, of short text.
bool PointBuilder::in_few_rounds(const Node& reduce, int q, int step) const {
  return extent(q) <= std::int64_t{kMost} * step && !loops_below(reduce.operand[0]) &&
         kMost * values_below(reduce.operand[0]) <= kLongest;
}

/// Few rounds of an index that threads share, spelt out, so that loads of all of them are in flight at once. Returns
/// what is to be closed.
int PointBuilder::open_rounds(int q, const Affine& first, std::int64_t step) {
  const auto rounds = (extent(q) + step - 1) / step;
  const auto round = kernel_.add_var(names_.fresh("r" + index_name(q)), rounds);
  body_.open(Loop{.var = round, .bind = Bind::unroll, .body = {}});
  const bool whole = extent(q) % step == 0;
  const auto value = whole ? enter_index(q) : kernel_.add_var(names_.fresh(index_name(q)), rounds * step);
  if (!whole) enter_index(q, value);
  body_.add(Let{value, first + Affine::of(round, step)});
  if (whole) return 1;
  body_.open(If{{{Affine::of(value), extent(q)}}, {}, {}});
  return 2;
}

/// Which loops of a reduction are unrolled: short ones, from the inside out, as long as the text stays short. A loop
/// around one that is not unrolled stays a loop, too. (Of 72 copies of a loop over bytes LLVM 19 makes one reduction,
/// and crashes in the selection of its instructions.)
std::vector<bool> PointBuilder::unrolled_loops(const Node& reduce, bool shared) const {
  std::vector<bool> unroll(reduce.over.size());
  double values = values_below(reduce.operand[0]);
  for (auto k = unroll.size(); k-- > 0;) {
    const auto n = extent(reduce.over[k]);
    if (n > kUnrolled) break;
    if (shared && members_along(reduce, k) > 1) continue;
    values *= static_cast<double>(n);
    if (values > kLongest) break;
    unroll[k] = true;
  }
  return unroll;
}

/// The variable of a loop over an index: its own, or another one inside of such a loop.
Var PointBuilder::enter_index(int q) {
  const auto& vars = block_.vars[static_cast<std::size_t>(q)];
  const bool inside = !looped_[static_cast<std::size_t>(q)].empty();
  enter_index(q, inside ? kernel_.add_var(names_.fresh(index_name(q)), extent(q)) : vars.value);
  return vars.value;
}

void PointBuilder::enter_index(int q, Var as) {
  auto& var = block_.vars[static_cast<std::size_t>(q)].value;
  looped_[static_cast<std::size_t>(q)].push_back({var, block_.point});
  var = as;
  if (q == block_.lane) block_.point = -1;
}

void PointBuilder::leave_index(int q) {
  auto& outer = looped_[static_cast<std::size_t>(q)];
  block_.vars[static_cast<std::size_t>(q)].value = outer.back().value;
  block_.point = outer.back().point;
  outer.pop_back();
}

int PointBuilder::start_value(NodeId id, const std::string& stem, OpCode op) {
  const auto set = unrolled(id);
  const auto type = node(id).type;
  const auto array = add_registers(stem, type, set, lanes_of(id));
  define(array, set, identity_of(op, type));
  return array;
}

void PointBuilder::open_loop(int q, Loop loop, const std::vector<LoopBound>& bounds) {
  loop.var = enter_index(q);
  for (const auto& bound : bounds) bound_loop(bound, loop);
  body_.open(std::move(loop));
}

void PointBuilder::close_loop(int q, int opened) {
  body_.close(opened);
  leave_index(q);
}

const char* PointBuilder::stem_of(const Node& reduce) {
  return reduce.op == OpCode::add ? "sum" : reduce.op == OpCode::mul ? "product" : "reduced";
}

void PointBuilder::declare_reduce(NodeId id) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const char* stem = stem_of(n);
  if (has_no_values(n)) {
    name(id, start_value(id, stem, n.op));
    return;
  }
  if (!block_.shared_row.empty()) return declare_row_reduce(id, stem);
  IndexSet over;
  for (const int q : n.over) over[static_cast<std::size_t>(q)] = true;
  hoist(n.operand[0], over);
  const auto array = start_value(id, stem, n.op);
  const auto outside = forget(over);
  const bool shared = block_.cooperative_threads > 1 && loops_ == 0;
  const auto unroll = unrolled_loops(n, shared);
  const auto held = held_;
  const auto bounds = bounds_of_loops(n, unroll, shared);
  const auto digits = shared ? member_digits(n) : std::vector<Affine>(n.over.size());
  std::vector<int> opened(n.over.size(), 1);
  for (std::size_t k = 0; k < n.over.size(); ++k) {
    const int step = shared ? members_along(n, k) : 1;
    if (step > 1 && bounds[k].empty() && in_few_rounds(n, n.over[k], step)) {
      opened[k] = open_rounds(n.over[k], digits[k], step);
      continue;
    }
    Loop loop;
    loop.bind = unroll[k] ? Bind::unroll : Bind::any;
    loop.first = digits[k];
    loop.step = step;
    const auto rounds = extent(n.over[k]) / step;
    if (step > 1 && k + 1 == n.over.size() && rounds >= kFewest && !loops_below(n.operand[0])) {
      loop.bind = Bind::unroll;
      loop.times = static_cast<int>(rounds_together(rounds, kFewest, kMost));
    }
    open_loop(n.over[k], std::move(loop), bounds[k]);
  }
  ++loops_;
  open_scope();
  accumulate(n.operand[0], cell(array, set), n.op, set);
  close_scope();
  --loops_;
  held_ = held;
  for (auto k = n.over.size(); k-- > 0;) close_loop(n.over[k], opened[k]);
  for (const auto& [other, known] : outside) arrays_[other] = known;
  if (shared) combine_threads(id, array);
  name(id, array);
}

/// A sum along a row: of the places that each thread has in its register tile, then of all threads. What it reads and
/// computes of them has registers that later sums and results find again; loads come first, whatever guards say.
void PointBuilder::declare_row_reduce(NodeId id, const char* stem) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const auto used = needed(n.operand[0]);
  for (std::size_t k = 0; k < used.size(); ++k) {
    const bool of_row = used[k] && program_.nodes[k].kind == NodeKind::load && (depends_[k] & row_).any();
    if (of_row) declare(static_cast<NodeId>(k));
  }
  const auto array = start_value(id, stem, n.op);
  accumulate(n.operand[0], cell(array, set), n.op, set | (row_ & unrolled_));
  combine_threads(id, array);
  name(id, array);
}

/// target op= value (target = value without an operation) where all guards around the value hold. The whole tile is
/// skipped where no point needs it.
void PointBuilder::accumulate(NodeId id, const Access& target, std::optional<OpCode> op, const IndexSet& target_set) {
  std::vector<NodeId> conditions;
  int opened = 0;
  const auto test = [&](NodeId predicate) {
    const auto set = unrolled(predicate);
    If branch;
    if (set.none()) {
      prepare(predicate, set);
      branch.values.push_back(condition(predicate));
    } else {
      if (!arrays_.contains(predicate) && !is_leaf(node(predicate))) declare(predicate);
      const auto any = add_registers("any", DType::u8, {}, 1);
      body_.add(Define{any, constant_of(DType::u8, 0)});
      auto either = combined(OpCode::bit_or, DType::u8, value_of(any, {}), condition(predicate));
      const int loops = open_unrolled(set);
      body_.add(Store{cell(any, {}), std::move(either)});
      body_.close(loops);
      branch.values.push_back(value_of(any, {}));
      conditions.push_back(predicate);
    }
    body_.open(std::move(branch));
    open_scope();
    ++opened;
  };
  for (; node(id).kind == NodeKind::guard && !arrays_.contains(id); id = node(id).operand[1]) {
    for (const auto predicate : open_conjuncts(node(id).operand[0])) test(predicate);
  }
  prepare(id, target_set);
  const auto type = node(id).type;
  auto result = value(id);
  if (op) result = combined(*op, type, load_of(type, target), std::move(result));
  If branch;
  branch.when = store_guard(target_set & row_);
  for (const auto predicate : conditions) branch.values.push_back(condition(predicate));
  const bool guarded = !branch.when.empty() || !branch.values.empty();
  const int loops = open_unrolled(target_set);
  if (guarded) body_.open(std::move(branch));
  body_.add(Store{target, std::move(result)});
  body_.close(loops + (guarded ? 1 : 0));
  for (; opened > 0; --opened) {
    close_scope();
    body_.close();
  }
}

/// Combines the partial results of the cooperative threads; all of them get the result. The order does not depend on
/// timing.
void PointBuilder::combine_threads(NodeId id, int array) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const auto own = cell(array, set);
  int loops = open_unrolled(set);
  body_.add(LaneReduce{own, n.op, std::min(block_.cooperative_threads, kWarp)});
  body_.close(loops);
  if (block_.cooperative_threads <= kWarp) return;
  const int warps = block_.cooperative_threads / kWarp;
  // Of each value of the tile one part for each warp.
  Affine place;
  std::int64_t parts = warps;
  for (std::size_t q = block_.register_tile.size(); q-- > 0;) {
    if (!set[q]) continue;
    place = place + Affine::of(block_.vars[q].place, parts);
    parts *= block_.register_tile[q];
  }
  const auto shared = kernel_.add_array({names_.fresh("parts"), n.type, Space::shared, {parts}});
  const auto warp = kernel_.add_var(names_.fresh("warp"), warps);
  body_.add(Let{warp, Affine::of(block_.member), kWarp});
  // The first lane of each warp.
  const auto lane = kernel_.add_var(names_.fresh("lane"), kWarp);
  body_.add(Let{lane, Affine::of(block_.member), 1, kWarp});
  loops = open_unrolled(set);
  body_.open(If{{{Affine::of(lane), 1}}, {}, {}});
  body_.add(Store{{shared, {place + Affine::of(warp)}}, value_of(array, set)});
  body_.close(loops + 1);
  body_.add(Barrier{});
  if (row_.any() && std::has_single_bit(static_cast<unsigned>(warps))) {
    // Every warp combines all parts by its lanes: of long rows they are many.
    const auto part = kernel_.add_var(names_.fresh("part"), warps);
    body_.add(Let{part, Affine::of(block_.member), 1, warps});
    loops = open_unrolled(set);
    body_.add(Store{own, load_of(n.type, {shared, {place + Affine::of(part)}})});
    body_.add(LaneReduce{own, n.op, warps});
    body_.close(loops);
    return;
  }
  loops = open_unrolled(set);
  body_.add(Store{own, load_of(n.type, {shared, {place}})});
  const auto other = kernel_.add_var(names_.fresh("other"), warps);
  Loop rest;
  rest.var = other;
  rest.bind = Bind::any;
  rest.first = Affine(1);
  body_.open(std::move(rest));
  body_.add(
      Store{own, combined(n.op, n.type, value_of(array, set), load_of(n.type, {shared, {place + Affine::of(other)}}))});
  body_.close(loops + 1);
}

}  // namespace ricci::kernel
