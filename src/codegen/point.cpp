#include "codegen/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "codegen/expression.hpp"
#include "ir/named_values.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

PointEmitter::PointEmitter(Writer& writer, const ir::Program& program, Language language, PointBlock block)
    : w_(writer), program_(program), language_(language), block_(std::move(block)), free_(program.free_indices()) {
  if (program.indices.size() > kMostIndices) {
    throw PlanError(fmt::format("{} indices in one kernel; {} is the most", program.indices.size(), kMostIndices));
  }
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) unrolled_[q] = block_.register_tile[q] > 1;
  find_dependencies();
  find_names();
  find_reductions_around();
  for (const auto& index : program.indices) taken_[index.name] = 1;
  for (const auto& buffer : program.buffers) taken_[buffer.name] = 1;
  for (const auto& param : program.params) taken_[param.name] = 1;
  for (const char* word : {"t", "block", "tile", "member", "first", "last", "args", "point", "in"}) taken_[word] = 1;
  // Words of the texts of scans and compactions.
  for (const char* word : {"v", "upto", "below", "span", "other", "part", "taken", "to", "out"}) taken_[word] = 1;
}

void PointEmitter::find_dependencies() {
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

void PointEmitter::find_names() {
  named_ = ir::named_values(program_);
  if (language_ == Language::cuda) called_ = called_functions(program_);
  truth_.resize(program_.nodes.size());
  for (std::size_t id = 0; id < truth_.size(); ++id) {
    const auto& n = program_.nodes[id];
    if (n.kind != NodeKind::op || n.type != DType::u8) continue;
    const bool joins = n.op == OpCode::bit_and || n.op == OpCode::bit_or;
    truth_[id] = ir::is_comparison(n.op) || (joins && is_truth(n.operand[0]) && is_truth(n.operand[1]));
  }
}

void PointEmitter::find_reductions_around() {
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

std::string PointEmitter::fresh(const std::string& stem) {
  const int count = ++taken_[stem];
  if (count == 1) return stem;
  auto made = fmt::format("{}{}", stem, count);
  return taken_[made] == 0 ? (taken_[made] = 1, made) : fresh(stem);
}

int PointEmitter::open_unrolled(const Set& set) {
  int count = 0;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (!set[q]) continue;
    w_.line("#pragma unroll");
    const auto name = "u" + index_name(static_cast<int>(q));
    w_.open("for (int {} = 0; {} < {}; ++{}) {{", name, name, block_.register_tile[q], name);
    ++count;
  }
  return count;
}

void PointEmitter::open_scope() { scope_.emplace_back(); }

void PointEmitter::close_scope() {
  for (const auto inner : scope_.back()) names_.erase(inner);
  scope_.pop_back();
}

void PointEmitter::close(int count) {
  for (int k = 0; k < count; ++k) w_.close();
}

std::string PointEmitter::subscript(const Set& set) const {
  std::string text;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (set[q]) text += fmt::format("[u{}]", program_.indices[q].name);
  }
  return text;
}

std::string PointEmitter::dimensions(const Set& set) const {
  std::string text;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (set[q]) text += fmt::format("[{}]", block_.register_tile[q]);
  }
  return text;
}

void PointEmitter::declare_clamped() {
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (!unrolled_[q] || !block_.ragged[q]) continue;
    const auto& name = program_.indices[q].name;
    Set only;
    only[q] = true;
    const char* type = block_.wide ? "i64" : "int";
    w_.line("{} {}_at[{}];  // values past the end load the first one, and are not stored", type, name,
            block_.register_tile[q]);
    const int loops = open_unrolled(only);
    w_.line("{}_at[u{}] = {} + {} * u{} < {} ? {} + {} * u{} : {};", name, name, name, block_.apart[q], name,
            program_.indices[q].extent, name, block_.apart[q], name, name);
    close(loops);
  }
}

std::string PointEmitter::store_guard(const Set& set) const {
  std::vector<std::string> terms;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (!set[q] || !block_.ragged[q]) continue;
    const auto& name = program_.indices[q].name;
    terms.push_back(fmt::format("{} + {} * u{} < {}", name, block_.apart[q], name, program_.indices[q].extent));
  }
  return fmt::format("{}", fmt::join(terms, " && "));
}

std::string PointEmitter::offset(const ir::Affine& affine, bool with_lane) const {
  std::vector<std::int64_t> coefficient;
  std::vector<std::string> factor;
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    const auto c = affine.coefficient[q];
    if (c == 0) continue;
    const auto& name = program_.indices[q].name;
    if (unrolled_[q] && block_.ragged[q]) {
      coefficient.push_back(c);
      factor.push_back(fmt::format("{}_at[u{}]", name, name));
      continue;
    }
    coefficient.push_back(c);
    factor.push_back(name);
    if (unrolled_[q]) {
      coefficient.push_back(c * block_.apart[q]);
      factor.push_back("u" + name);
    }
    if (block_.strip && static_cast<int>(q) == block_.lane) {
      coefficient.push_back(c);
      factor.emplace_back("point");
    }
    if (with_lane && block_.lanes > 1 && static_cast<int>(q) == block_.lane) {
      coefficient.push_back(c);
      factor.emplace_back("v");
    }
  }
  return affine_text(
      coefficient, affine.constant, [&](int k) { return factor[static_cast<std::size_t>(k)]; }, block_.wide);
}

std::string PointEmitter::type_text(DType type, bool lanes) const {
  return lanes ? fmt::format("{}x{}", name(type), block_.lanes) : std::string(c_type(type));
}

std::string PointEmitter::type_text(NodeId id) const { return type_text(node(id).type, on_lanes(id)); }

bool PointEmitter::wants_name(NodeId id, const Set& around) const {
  const auto& n = node(id);
  if (is_leaf(n)) return false;
  if (n.kind == NodeKind::reduce || n.kind == NodeKind::guard) return true;
  return named_[static_cast<std::size_t>(id)] || unrolled(id) != (around & unrolled_);
}

// Chains of values are as long as programs are: a list of what is open takes the place of calls within calls.
void PointEmitter::prepare(NodeId id, const Set& around) {
  struct Visit {
    NodeId id;
    Set around;  // of its operands
    bool named;
    std::size_t next = 0;  // operand
  };
  std::vector<Visit> open;
  const auto enter = [&](NodeId value, const Set& set) {
    const auto& n = node(value);
    if (names_.contains(value) || is_leaf(n)) return;
    if (n.kind == NodeKind::reduce || n.kind == NodeKind::guard) {
      declare(value);
      return;
    }
    const bool named = wants_name(value, set);
    open.push_back({value, named ? unrolled(value) : set, named});
  };
  enter(id, around);
  while (!open.empty()) {
    auto& visit = open.back();
    const auto& n = node(visit.id);
    if (visit.next < std::size(n.operand)) {
      const auto operand = n.operand[visit.next++];
      if (operand >= 0) enter(operand, Set(visit.around));
      continue;
    }
    const auto done = visit;
    open.pop_back();
    if (done.named) declare_value(done.id);
  }
}

void PointEmitter::declare(NodeId id) {
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

void PointEmitter::declare_guard(NodeId id) {
  const auto name = fresh("guarded");
  start_value(id, name, around_[static_cast<std::size_t>(id)]);
  accumulate(id, name, std::nullopt, unrolled(id));
  names_[id] = name;
  scope_.back().push_back(id);
}

void PointEmitter::declare_value(NodeId id) {
  const auto& n = node(id);
  const auto set = unrolled(id);
  const bool load = n.kind == NodeKind::load;
  const auto text = load ? load_text(id) : is_truth(id) ? condition(id) : op_text(id);
  const auto name = fresh(load ? lower_case(program_.buffers[static_cast<std::size_t>(n.source)].name) : "value");
  if (set.none()) {
    w_.line("const {} {} = {};", type_text(id), name, text.text);
  } else {
    w_.line("{} {}{};", type_text(id), name, dimensions(set));
    const int loops = open_unrolled(set);
    w_.line("{}{} = {};", name, subscript(set), text.text);
    close(loops);
  }
  names_[id] = name;
  scope_.back().push_back(id);
}

void PointEmitter::hoist(NodeId root, const Set& over) {
  std::vector<std::pair<NodeId, Set>> open{{root, over}};
  std::set<NodeId> seen;  // what depends on a loop depends on it by every way that leads there
  while (!open.empty()) {
    const auto [id, closed] = open.back();
    open.pop_back();
    const auto& n = node(id);
    if (names_.contains(id) || is_leaf(n)) continue;
    if ((depends(id) & closed).none()) {
      declare(id);
      continue;
    }
    if (!seen.insert(id).second) continue;
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

void PointEmitter::open_loop(int q, bool split, bool unroll) {
  const auto& name = index_name(q);
  if (unroll) w_.line("#pragma unroll");
  const bool wide =
      language_ == Language::cpp || block_.wide || extent(q) > std::numeric_limits<std::int32_t>::max() / 2;
  const auto* type = wide ? "i64" : "int";
  if (split) {
    w_.open("for ({} {} = member; {} < {}; {} += {}) {{", type, name, name, extent(q), name,
            block_.cooperative_threads);
  } else {
    w_.open("for ({} {} = 0; {} < {}; ++{}) {{", type, name, name, extent(q), name);
  }
}

/// Declares `name` with room for the values of `id`, and sets them to the identity of the operation.
void PointEmitter::start_value(NodeId id, const std::string& name, OpCode op) {
  const auto set = unrolled(id);
  const auto start = identity_literal(op, node(id).type);
  if (set.none() && !on_lanes(id)) {
    w_.line("{} {} = {};", type_text(id), name, start);
    return;
  }
  w_.line("{} {}{};", type_text(id), name, dimensions(set));
  const int loops = open_unrolled(set);
  w_.line("{}{} = {};", name, subscript(set), start);
  close(loops);
}

/// Forgets the names of values that depend on `over`, and returns them: a loop over an index may be nested inside
/// another loop over the same index.
std::map<NodeId, std::string> PointEmitter::forget(const Set& over) {
  std::map<NodeId, std::string> gone;
  for (auto place = names_.begin(); place != names_.end();) {
    const bool depends_on_it = (depends(place->first) & over).any();
    if (depends_on_it) gone.insert(*place);
    place = depends_on_it ? names_.erase(place) : std::next(place);
  }
  return gone;
}

std::vector<bool> PointEmitter::needed(NodeId id) const {
  std::vector<bool> used(static_cast<std::size_t>(id) + 1);
  used.back() = true;
  for (auto k = used.size(); k-- > 0;) {
    if (!used[k]) continue;
    for (const auto operand : program_.nodes[k].operand) {
      if (operand >= 0 && !names_.contains(operand)) used[static_cast<std::size_t>(operand)] = true;
    }
  }
  return used;
}

void PointEmitter::emit() {
  declare_clamped();
  open_scope();
  // All statements of a point read before any writes: load buffers that are also written first.
  for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
    const auto& n = program_.nodes[id];
    if (n.kind != NodeKind::load || program_.statements.size() == 1 || names_.contains(static_cast<NodeId>(id)))
      continue;
    const bool written = program_.buffers[static_cast<std::size_t>(n.source)].written;
    bool under_loop = false;
    for (std::size_t q = 0; q < free_.size(); ++q) under_loop = under_loop || (!free_[q] && depends_[id][q]);
    if (written && !under_loop) declare(static_cast<NodeId>(id));
  }
  const auto order = statement_order();
  for (std::size_t k = 0; k < order.size(); ++k) {
    // No thread may overwrite what another one has still to read.
    if (k > 0 && block_.cooperative_threads > 1 && crossing_) thread_barrier();
    emit_statement(program_.statements[order[k]]);
  }
  scope_.pop_back();
}

void PointEmitter::emit_statement(const ir::Statement& statement) {
  switch (node(statement.value).kind) {
    case NodeKind::scan:
      emit_scan(statement);
      return;
    case NodeKind::compact:
      emit_compact(statement);
      return;
    default:
      emit_store(statement);
  }
}

void PointEmitter::thread_barrier() {
  w_.line("{}();", block_.cooperative_threads > 32 ? "__syncthreads" : "__syncwarp");
}

/// A barrier before a statement writes what other cooperative threads may still read.
void PointEmitter::wait_for_readers(const ir::Statement& statement) {
  const bool read = std::any_of(program_.nodes.begin(), program_.nodes.end(), [&](const Node& n) {
    return n.kind == NodeKind::load && n.source == statement.buffer;
  });
  if (read) thread_barrier();
}

void PointEmitter::emit_store(const ir::Statement& statement) {
  Set set;
  for (std::size_t q = 0; q < free_.size(); ++q) set[q] = free_[q] && unrolled_[q];
  auto id = statement.value;
  std::vector<Text> conditions;
  if (const auto ragged = store_guard(set); !ragged.empty()) conditions.push_back({ragged});
  int opened = 0;
  while (node(id).kind == NodeKind::guard) {  // as a statement's value it decides whether there is a store
    const auto predicate = node(id).operand[0];
    if (unrolled(predicate).none()) {
      prepare(predicate, Set());
      w_.open("if ({}) {{", condition(predicate).text);
      open_scope();
      ++opened;
    } else {
      prepare(predicate, set);
      conditions.push_back(condition(predicate));
    }
    id = node(id).operand[1];
  }
  prepare(id, set);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
  if (block_.cooperative_threads > 1) {
    conditions.push_back({"member == 0"});
    wait_for_readers(statement);
  }
  const int loops = open_unrolled(set);
  if (!conditions.empty()) w_.open("if ({}) {{", conjunction(conditions));
  const auto text = value(id).text;
  const auto step = block_.lanes > 1 ? statement.offset.coefficient[static_cast<std::size_t>(block_.lane)] : 0;
  if (block_.lanes <= 1) {
    w_.line("{}[{}] = {};", buffer.name, offset(statement.offset), text);
  } else if (step == 1) {
    const auto type = type_text(buffer.type, true);
    const auto vector = on_lanes(id) ? text : fmt::format("({}){}", type, text);
    const auto number = &statement - program_.statements.data();
    if (block_.buffered_stores) {
      w_.line("*({}*)(out + {} + point) = {};", type, number * block_.row, vector);
    } else if (block_.streaming) {
      w_.line("stream({} + {}, {});", buffer.name, offset(statement.offset), vector);
    } else {
      w_.line("*({}_in_memory*)({} + {}) = {};", type, buffer.name, offset(statement.offset), vector);
    }
  } else if (on_lanes(id)) {
    const auto result = fresh("result");
    w_.line("const {} {} = {};", type_text(buffer.type, true), result, text);
    w_.line("for (int v = 0; v < {}; ++v) {}[{}] = {}[v];", block_.lanes, buffer.name, offset(statement.offset, true),
            result);
  } else {
    w_.line("for (int v = 0; v < {}; ++v) {}[{}] = {};", block_.lanes, buffer.name, offset(statement.offset, true),
            text);
  }
  if (!conditions.empty()) w_.close();
  close(loops);
  for (; opened > 0; --opened) {
    close_scope();
    w_.close();
  }
}

}  // namespace ricci::codegen
