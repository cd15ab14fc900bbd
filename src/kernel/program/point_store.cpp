// Statements of a point: in which order, and how their values are stored.
#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/program/point.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;

std::vector<std::size_t> PointBuilder::statement_order() {
  const auto count = program_.statements.size();
  // reads[s]: buffers that statement s reads inside its loops.
  std::vector<std::vector<bool>> reads(count, std::vector<bool>(program_.buffers.size()));
  for (std::size_t s = 0; s < count; ++s) {
    const auto used = needed(program_.statements[s].value);
    for (std::size_t id = 0; id < used.size(); ++id) {
      const auto& n = program_.nodes[id];
      if (!used[id]) continue;
      bool looped = false;
      for (std::size_t q = 0; q < free_.size(); ++q) looped = looped || (!free_[q] && depends_[id][q]);
      if (n.kind == NodeKind::load && looped) reads[s][static_cast<std::size_t>(n.source)] = true;
    }
  }
  const auto before = [&](std::size_t s, std::size_t r) {  // s reads what r writes
    return s != r && reads[s][static_cast<std::size_t>(program_.statements[r].buffer)];
  };
  std::vector<std::size_t> order;
  std::vector<bool> done(count);
  while (order.size() < count) {
    const auto waits = [&](std::size_t r) {
      for (std::size_t s = 0; s < count; ++s) {
        if (!done[s] && before(s, r)) return true;
      }
      return false;
    };
    std::size_t next = 0;
    while (next < count && (done[next] || waits(next))) ++next;
    if (next == count) {
      throw PlanError(
          "statements of one kernel each read, value by value, what another of them writes; write one of "
          "the results to a tensor of its own");
    }
    for (std::size_t s = 0; s < count; ++s) crossing_ = crossing_ || before(s, next);
    done[next] = true;
    order.push_back(next);
  }
  return order;
}

void PointBuilder::add_statement(const ir::Statement& statement) {
  switch (node(statement.value).kind) {
    case NodeKind::scan:
      add_scan(statement);
      return;
    case NodeKind::compact:
      add_compact(statement);
      return;
    default:
      add_store(statement);
  }
}

/// A barrier before a statement writes what other cooperative threads may still read.
void PointBuilder::wait_for_readers(const ir::Statement& statement) {
  const bool read = std::any_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& n) {
    return n.kind == NodeKind::load && n.source == statement.buffer;
  });
  if (read) thread_barrier();
}

std::vector<Condition> PointBuilder::store_guard(const IndexSet& set) const {
  std::vector<Condition> when;
  for (std::size_t q = 0; q < block_.register_tile.size(); ++q) {
    if (!set[q] || !block_.ragged[q]) continue;
    const auto& vars = block_.vars[q];
    when.push_back({Affine::of(vars.value) + Affine::of(vars.place, block_.apart[q]), program_.indices[q].extent});
  }
  return when;
}

IndexSet PointBuilder::results() const {
  IndexSet set;
  for (std::size_t q = 0; q < free_.size(); ++q) set[q] = free_[q] && unrolled_[q];
  return set;
}

void PointBuilder::add_store(const ir::Statement& statement) {
  const auto set = results();
  auto id = statement.value;
  If inner;
  inner.when = store_guard(set);
  std::vector<NodeId> conditions;
  int opened = 0;
  while (node(id).kind == NodeKind::guard) {  // as a statement's value it decides whether there is a store
    const auto predicate = node(id).operand[0];
    if (unrolled(predicate).none()) {
      prepare(predicate, IndexSet());
      If outer;
      outer.values.push_back(condition(predicate));
      body_.open(std::move(outer));
      open_scope();
      ++opened;
    } else {
      prepare(predicate, set, true);
      conditions.push_back(predicate);
    }
    id = node(id).operand[1];
  }
  prepare(id, set, true);
  if (block_.cooperative_threads > 1 && !block_.row_results) {
    inner.when.push_back({Affine::of(block_.member), 1});
    wait_for_readers(statement);
  }
  for (const auto predicate : conditions) inner.values.push_back(condition(predicate));
  auto result = value(id);
  const auto along = conditions.empty() ? vector_index(statement.buffer, statement.offset) : -1;
  if (along >= 0) {
    store_vectors(statement, along, set, std::move(inner), std::move(result));
    for (; opened > 0; --opened) {
      close_scope();
      body_.close();
    }
    return;
  }
  auto first = offset(statement.offset);
  const int loops = open_unrolled(set);
  const bool guarded = !inner.when.empty() || !inner.values.empty();
  if (guarded) body_.open(std::move(inner));
  if (block_.lanes > 1) {
    store_lanes(statement, first, std::move(result));
  } else {
    body_.add(Store{{statement.buffer, {std::move(first)}}, std::move(result)});
  }
  body_.close(loops + (guarded ? 1 : 0));
  for (; opened > 0; --opened) {
    close_scope();
    body_.close();
  }
}

/// GPU: neighbours along an index, gathered in a vector.
void PointBuilder::store_vectors(const ir::Statement& statement, int along, IndexSet set, If guard, Value value) {
  const auto q = static_cast<std::size_t>(along);
  const auto lanes = static_cast<int>(block_.register_tile[q]);
  const auto type = value.type;
  unrolled_.reset(q);
  Access all{statement.buffer, {offset(statement.offset)}, lanes};
  unrolled_.set(q);
  set.reset(q);
  const int loops = open_unrolled(set);
  const bool guarded = !guard.when.empty();
  if (guarded) body_.open(std::move(guard));
  const auto vector = add_registers("result", type, {}, lanes);
  body_.add(Declare{vector});
  const int each = open_unrolled(IndexSet().set(q));
  Access lane{vector, {}, lanes};
  lane.lane = Affine::of(block_.vars[q].place);
  body_.add(Store{std::move(lane), std::move(value)});
  body_.close(each);
  body_.add(Store{std::move(all), value_of(vector, {})});
  body_.close(loops + (guarded ? 1 : 0));
}

void PointBuilder::store_lanes(const ir::Statement& statement, const Affine& first, Value value) {
  const auto step = statement.offset.coefficient[static_cast<std::size_t>(block_.lane)];
  if (step == 1 && block_.out >= 0) {
    const auto row = (&statement - program_.statements.data()) * block_.row;
    body_.add(Store{{block_.out, {Affine::of(block_.point) + Affine(row)}, block_.lanes}, std::move(value)});
  } else if (step == 1) {
    body_.add(Store{{statement.buffer, {first}, block_.lanes}, std::move(value), block_.nontemporal});
  } else {
    // Lanes that lie apart, one by one; what they share is computed once.
    const bool vector = value.lanes() > 1;
    const bool loaded = value.kind == Value::Kind::load && kernel_.array(value.access.array).space != Space::registers;
    auto lane = value;
    if (vector || loaded || value.kind == Value::Kind::op) {
      const auto result = add_registers("result", value.type, {}, value.lanes());
      lane = value_of(result, {});
      body_.add(Define{result, std::move(value)});
    }
    for (int v = 0; v < block_.lanes; ++v) {
      if (vector) lane.access.lane = Affine(v);
      body_.add(Store{{statement.buffer, {first + Affine(step * v)}}, lane});
    }
  }
}

}  // namespace ricci::kernel
