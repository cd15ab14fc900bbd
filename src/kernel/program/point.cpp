#include "kernel/program/point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "ir/named_values.hpp"
#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

PointBuilder::PointBuilder(Kernel& kernel, BodyWriter& body, const ir::Program& program, PointBlock block)
    : kernel_(kernel),
      body_(body),
      program_(program),
      block_(std::move(block)),
      names_(program),
      named_(ir::named_values(program)),
      free_(program.free_indices()),
      looped_(program.indices.size()) {
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) unrolled_[q] = block_.register_tile[q] > 1;
  for (const int q : block_.shared_row) {
    row_[static_cast<std::size_t>(q)] = true;
    free_[static_cast<std::size_t>(q)] = block_.row_results;
  }
  find_dependencies();
  find_reductions_around();
}

void PointBuilder::find_dependencies() {
  depends_.resize(program_.nodes.size());
  for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
    const auto& n = program_.nodes[id];
    auto& set = depends_[id];
    for (const auto operand : n.operand) {
      if (operand >= 0) set |= depends(operand);
    }
    if (n.kind == NodeKind::load) {
      for (std::size_t q = 0; q < n.offset.coefficient.size(); ++q) {
        if (n.offset.coefficient[q] != 0) set[q] = true;
      }
    } else if (n.kind == NodeKind::index) {
      set[static_cast<std::size_t>(n.source)] = true;
    }
    for (const int q : n.over) set[static_cast<std::size_t>(q)] = false;
  }
}

void PointBuilder::find_reductions_around() {
  around_.resize(program_.nodes.size(), OpCode::add);
  for (std::size_t id = around_.size(); id-- > 0;) {
    const auto& n = program_.nodes[id];
    const bool combines = n.kind == NodeKind::reduce || n.kind == NodeKind::scan;
    for (std::size_t k = 0; k < std::size(n.operand); ++k) {
      if (n.operand[k] < 0) continue;
      around_[static_cast<std::size_t>(n.operand[k])] = combines && k == 0 ? n.op : around_[id];
    }
  }
}

void PointBuilder::build() {
  if (cpu() && row_.any()) return build_row();
  open_scope();
  // All statements of a point read before any writes: load buffers that are also written first.
  for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
    const auto& n = program_.nodes[id];
    if (n.kind != NodeKind::load || program_.statements.size() == 1) continue;
    const bool written = program_.buffers[static_cast<std::size_t>(n.source)].written;
    bool under_loop = false;
    for (std::size_t q = 0; q < free_.size(); ++q) under_loop = under_loop || (!free_[q] && depends_[id][q]);
    if (written && !under_loop) declare(static_cast<NodeId>(id));
  }
  // Sums along rows are of all threads, whatever guards say of a place.
  for (const auto& statement : program_.statements) {
    if (row_.none()) break;
    const auto used = needed(statement.value);
    for (std::size_t id = 0; id < used.size(); ++id) {
      if (used[id] && program_.nodes[id].kind == NodeKind::reduce) declare(static_cast<NodeId>(id));
    }
  }
  const auto order = statement_order();
  for (std::size_t k = 0; k < order.size(); ++k) {
    // No thread may overwrite what another one has still to read.
    if (k > 0 && block_.cooperative_threads > 1 && crossing_) thread_barrier();
    add_statement(program_.statements[order[k]]);
  }
  close_scope();
}

void PointBuilder::close_scope() {
  for (const auto inner : scope_.back()) arrays_.erase(inner);
  scope_.pop_back();
}

void PointBuilder::name(NodeId id, int array) {
  arrays_[id] = array;
  scope_.back().push_back(id);
}

int PointBuilder::open_unrolled(const IndexSet& set) {
  int count = 0;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (!set[q]) continue;
    const auto& vars = block_.vars[q];
    Loop loop;
    loop.var = vars.place;
    loop.bind = Bind::unroll;
    body_.open(std::move(loop));
    ++count;
    if (!clamped_[q]) continue;
    Let inside;
    inside.var = vars.inside;
    inside.of = Affine::of(vars.value) + Affine::of(vars.place, block_.apart[q]);
    inside.most = program_.indices[q].extent - 1;
    body_.add(std::move(inside));
  }
  clamped_.reset();
  return count;
}

bool PointBuilder::wants_name(NodeId id, const IndexSet& around) const {
  const auto& n = node(id);
  if (is_leaf(n)) return false;
  if (n.kind == NodeKind::reduce || n.kind == NodeKind::guard) return true;
  return named_[static_cast<std::size_t>(id)] || unrolled(id) != (around & unrolled_);
}

// Chains of values are as long as programs are: a list of what is open takes the place of calls within calls.
void PointBuilder::prepare(NodeId id, const IndexSet& around, bool guarded) {
  struct Visit {
    NodeId id;
    IndexSet around;  // of its operands
    bool named;
    std::size_t next = 0;  // operand
  };
  std::vector<Visit> open;
  const auto enter = [&](NodeId value, const IndexSet& set) {
    const auto& n = node(value);
    if (arrays_.contains(value) || is_leaf(n)) return;
    const bool vector = n.kind == NodeKind::load && !vectors_.contains(value) && vector_index(value) >= 0;
    if (vector) return declare_vector(value);
    if (n.kind == NodeKind::reduce || n.kind == NodeKind::guard) {
      declare(value);
      return;
    }
    const bool inline_guarded =
        guarded && std::none_of(open.begin(), open.end(), [](const Visit& visit) { return visit.named; });
    const bool named = wants_name(value, set) || (!inline_guarded && reads_of_others(value));
    open.push_back({value, named ? unrolled(value) : set, named});
  };
  enter(id, around);
  while (!open.empty()) {
    auto& visit = open.back();
    const auto& n = node(visit.id);
    if (visit.next < std::size(n.operand)) {
      const auto operand = n.operand[visit.next++];
      if (operand >= 0) enter(operand, IndexSet(visit.around));
      continue;
    }
    const auto done = visit;
    open.pop_back();
    if (done.named) declare_value(done.id);
  }
}

void PointBuilder::declare(NodeId id) {
  switch (node(id).kind) {
    case NodeKind::reduce:
      declare_reduce(id);
      return;
    case NodeKind::guard:
      declare_guard(id);
      return;
    default:
      break;
  }
  const auto set = unrolled(id);
  for (const auto operand : node(id).operand) {
    if (operand >= 0) prepare(operand, set);
  }
  declare_value(id);
}

void PointBuilder::declare_guard(NodeId id) {
  const auto array = start_value(id, "guarded", around_[static_cast<std::size_t>(id)]);
  const auto set = unrolled(id);
  accumulate(id, cell(array, set), std::nullopt, set);
  name(id, array);
}

void PointBuilder::declare_value(NodeId id) {
  const auto& n = node(id);
  const bool load = n.kind == NodeKind::load;
  if (load && vector_index(id) >= 0) return declare_vector(id);
  const auto set = unrolled(id);
  auto value = load ? this->load(id) : this->value(id);
  const auto stem = load ? lower_case(program_.buffers[static_cast<std::size_t>(n.source)].name) : "value";
  const auto array = add_registers(stem, n.type, set, lanes_of(id));
  if (set.none()) {
    body_.add(Define{array, std::move(value)});
  } else {
    const bool guarded = reads_of_others(id);
    body_.add(Declare{array, guarded});
    const int loops = open_unrolled(set);
    if (guarded) body_.open(If{store_guard(set), {}, {}});
    body_.add(Store{cell(array, set), std::move(value)});
    body_.close(loops + (guarded ? 1 : 0));
  }
  name(id, array);
}

void PointBuilder::declare_vector(NodeId id) {
  const auto& n = node(id);
  const auto along = static_cast<std::size_t>(vector_index(id));
  const auto lanes = static_cast<int>(block_.register_tile[along]);
  unrolled_.reset(along);
  const auto set = unrolled(id);
  const auto stem = lower_case(program_.buffers[static_cast<std::size_t>(n.source)].name) + "_vector";
  const auto array = add_registers(stem, n.type, set, lanes);
  auto vector = load_of(n.type, {n.source, {offset(n.offset)}, lanes});
  if (set.none()) {
    body_.add(Define{array, std::move(vector)});
  } else {
    body_.add(Declare{array});
    const int loops = open_unrolled(set);
    body_.add(Store{cell(array, set), std::move(vector)});
    body_.close(loops);
  }
  unrolled_.set(along);
  name(id, array);
}

bool PointBuilder::reads_of_others(NodeId id) const {
  const auto& n = node(id);
  if (n.kind != NodeKind::load || !program_.buffers[static_cast<std::size_t>(n.source)].written) return false;
  const auto set = unrolled(id);
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (set[q] && block_.ragged[q]) return true;
  }
  return false;
}

bool PointBuilder::has_no_values(const ir::Node& n) const {
  return std::any_of(n.over.begin(), n.over.end(), [&](int q) { return extent(q) == 0; });
}

void PointBuilder::hoist(NodeId root, const IndexSet& over) {
  std::vector<std::pair<NodeId, IndexSet>> open{{root, over}};
  std::set<NodeId> seen;  // what depends on a loop depends on it by every way that leads there
  while (!open.empty()) {
    const auto [id, closed] = open.back();
    open.pop_back();
    const auto& n = node(id);
    if (arrays_.contains(id) || is_leaf(n)) continue;
    if ((depends(id) & closed).none()) {
      declare(id);
      continue;
    }
    if (!seen.insert(id).second || has_no_values(n)) continue;
    // A guarded value may be expensive and rarely needed: only its condition is hoisted.
    if (n.kind == NodeKind::guard) {
      open.emplace_back(n.operand[0], closed);
      continue;
    }
    // Nor may it depend on the loops inside.
    auto inside = closed;
    for (const int q : n.over) inside[static_cast<std::size_t>(q)] = true;
    for (std::size_t k = std::size(n.operand); k-- > 0;) {
      if (n.operand[k] >= 0) open.emplace_back(n.operand[k], inside);
    }
  }
}

/// Forgets the arrays of values that depend on `over`, and returns them: a loop over an index may be nested inside
/// another loop over the same index.
std::map<NodeId, int> PointBuilder::forget(const IndexSet& over) {
  std::map<NodeId, int> gone;
  for (auto place = arrays_.begin(); place != arrays_.end();) {
    const bool depends_on_it = (depends(place->first) & over).any();
    if (depends_on_it) gone.insert(*place);
    place = depends_on_it ? arrays_.erase(place) : std::next(place);
  }
  return gone;
}

std::vector<bool> PointBuilder::needed(NodeId id) const {
  std::vector<bool> used(static_cast<std::size_t>(id) + 1);
  used.back() = true;
  for (auto k = used.size(); k-- > 0;) {
    if (!used[k]) continue;
    for (const auto operand : program_.nodes[k].operand) {
      if (operand >= 0 && !arrays_.contains(operand)) used[static_cast<std::size_t>(operand)] = true;
    }
  }
  return used;
}

}  // namespace ricci::kernel
