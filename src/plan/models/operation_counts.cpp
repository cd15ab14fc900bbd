#include "plan/models/operation_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

#include "ir/named_values.hpp"

namespace ricci::plan {
namespace {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;

bool meet(const IndexSet& x, const IndexSet& y) {
  for (std::size_t q = 0; q < x.size(); ++q) {
    if (x[q] && y[q]) return true;
  }
  return false;
}

/// Goes through a program as kernel::PointBuilder does, which names a value where it is needed first, and counts in
/// place of writing statements.
class Evaluations {
 public:
  /// Per node: the indices that its value depends on.
  Evaluations(const ir::Program& program, const std::vector<IndexSet>& depends)
      : program_(program),
        depends_(depends),
        times_(program.nodes.size()),
        tests_(program.nodes.size()),
        named_(ir::named_values(program)),
        known_(program.nodes.size()) {}

  void count(const std::vector<int>& statements) {
    open_scope();
    if (statements.size() > 1) count_first_loads(statements);
    for (const int k : statements) count(program_.statements[static_cast<std::size_t>(k)]);
    close_scope();
  }

  /// Per node; of reductions and scans the values that they combine, of guards and compactions those that they test.
  const std::vector<double>& times() const { return times_; }
  /// Per node: as the predicate of a guard inside of a value.
  const std::vector<double>& tests() const { return tests_; }

 private:
  static std::size_t place(NodeId id) { return static_cast<std::size_t>(id); }
  const Node& node(NodeId id) const { return program_.nodes[place(id)]; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  void open_scope() { scopes_.emplace_back(); }
  void close_scope() {
    for (const auto id : scopes_.back()) known_[place(id)] = false;
    scopes_.pop_back();
  }
  void name(NodeId id) {
    known_[place(id)] = true;
    scopes_.back().push_back(id);
  }

  /// Statements of a point read before any of them writes.
  void count_first_loads(const std::vector<int>& statements) {
    std::vector<bool> used(program_.nodes.size());
    for (const int k : statements) used[place(program_.statements[static_cast<std::size_t>(k)].value)] = true;
    for (auto id = used.size(); id-- > 0;) {
      for (int k = 0; used[id] && k < ir::operand_count(program_.nodes[id]); ++k)
        used[place(program_.nodes[id].operand[k])] = true;
    }
    const auto free = program_.free_indices();
    for (std::size_t id = 0; id < used.size(); ++id) {
      const auto& n = program_.nodes[id];
      if (!used[id] || n.kind != NodeKind::load || !program_.buffers[static_cast<std::size_t>(n.source)].written)
        continue;
      bool inside = false;
      for (std::size_t q = 0; q < free.size(); ++q) inside = inside || (!free[q] && depends_[id][q]);
      if (!inside) evaluate(static_cast<NodeId>(id), true);
    }
  }

  void count(const ir::Statement& statement) {
    const auto& value = node(statement.value);
    if (value.kind == NodeKind::scan || value.kind == NodeKind::compact) {
      const bool scan = value.kind == NodeKind::scan;
      if (const auto start = value.operand[scan ? 1 : 2]; start >= 0) evaluate(start);
      // The place where a compaction begins.
      const auto& begin = statement.offset;
      const bool moves = std::any_of(begin.coefficient.begin(), begin.coefficient.end(), [](auto c) { return c != 0; });
      if (!scan && (moves || begin.constant != 0)) times_[place(statement.value)] += here_;
      const auto values = extent(value.over[0]);
      if (values == 0) return;
      if (scan) hoist(value.operand[0], one(value.over));
      const double outside = here_;
      here_ *= static_cast<double>(values);
      times_[place(statement.value)] += here_;
      open_scope();
      scan ? accumulate(value.operand[0]) : compact(value);
      close_scope();
      here_ = outside;
      return;
    }
    accumulate(statement.value, false);
  }

  void compact(const Node& n) {
    evaluate(n.operand[0]);
    open_scope();
    evaluate(n.operand[1]);
    close_scope();
  }

  IndexSet one(const std::vector<int>& over) const {
    IndexSet set(program_.indices.size());
    for (const int q : over) set[static_cast<std::size_t>(q)] = true;
    return set;
  }

  /// A value and all that it needs. Chains of values are as long as programs are: a list takes the place of calls.
  ///   declared  whether it has a name then even if it has one user
  void evaluate(NodeId root, bool declared = false) {
    std::vector<std::pair<NodeId, int>> open;  // with the next operand
    const auto enter = [&](NodeId id) {
      if (known_[place(id)] || ir::is_leaf(node(id))) return;
      if (node(id).kind == NodeKind::reduce) return reduce(id);
      if (node(id).kind == NodeKind::guard) {
        accumulate(id);
        return name(id);
      }
      open.emplace_back(id, 0);
    };
    enter(root);
    while (!open.empty()) {
      auto& [id, next] = open.back();
      if (next < ir::operand_count(node(id))) {
        enter(node(id).operand[next++]);
        continue;
      }
      times_[place(id)] += here_;
      if (named_[place(id)] || (declared && id == root)) name(id);
      open.pop_back();
    }
  }

  void reduce(NodeId id) {
    const auto& n = node(id);
    double values = 1;
    for (const int q : n.over) values *= static_cast<double>(extent(q));
    if (values == 0) return name(id);
    const auto over = one(n.over);
    hoist(n.operand[0], over);
    const auto outside = forget(over);
    const double before = here_;
    here_ *= values;
    times_[place(id)] += here_;
    open_scope();
    accumulate(n.operand[0]);
    close_scope();
    here_ = before;
    for (const auto other : outside) known_[place(other)] = true;
    name(id);
  }

  /// A value inside of guards, as if they held.
  ///   inside  of a sum or of another value, where a register tile tests them for all its points first
  void accumulate(NodeId id, bool inside = true) {
    std::size_t opened = 0;
    for (; node(id).kind == NodeKind::guard && !(inside && known_[place(id)]); id = node(id).operand[1]) {
      const auto predicate = node(id).operand[0];
      evaluate(predicate);
      times_[place(id)] += here_;
      if (inside) tests_[place(predicate)] += here_;
      open_scope();
      ++opened;
    }
    evaluate(id);
    for (; opened > 0; --opened) close_scope();
  }

  /// Invariants of a loop, in front of it; of guarded values their predicates alone.
  void hoist(NodeId root, const IndexSet& over) {
    std::vector<std::pair<NodeId, IndexSet>> open{{root, over}};
    std::set<NodeId> seen;
    while (!open.empty()) {
      const auto [id, closed] = open.back();
      open.pop_back();
      const auto& n = node(id);
      if (known_[place(id)] || ir::is_leaf(n)) continue;
      if (!meet(depends_[place(id)], closed)) {
        evaluate(id, true);
        continue;
      }
      const bool none = std::any_of(n.over.begin(), n.over.end(), [&](int q) { return extent(q) == 0; });
      if (!seen.insert(id).second || none) continue;
      if (n.kind == NodeKind::guard) {
        open.emplace_back(n.operand[0], closed);
        continue;
      }
      auto inside = closed;
      for (const int q : n.over) inside[static_cast<std::size_t>(q)] = true;
      for (int k = ir::operand_count(n); k-- > 0;) open.emplace_back(n.operand[k], inside);
    }
  }

  /// Values that depend on a loop are others inside of it; returns those that are known again behind it.
  std::vector<NodeId> forget(const IndexSet& over) {
    std::vector<NodeId> gone;
    for (const auto& scope : scopes_) {
      for (const auto id : scope) {
        if (!known_[place(id)] || !meet(depends_[place(id)], over)) continue;
        known_[place(id)] = false;
        gone.push_back(id);
      }
    }
    return gone;
  }

  const ir::Program& program_;
  const std::vector<IndexSet>& depends_;
  std::vector<double> times_, tests_;
  std::vector<bool> named_;                  // per node: its users share one name
  std::vector<bool> known_;                  // per node: named in an open scope
  std::vector<std::vector<NodeId>> scopes_;  // what each open scope has named
  double here_ = 1;                          // times that the open loops come here
};

/// Per node: the indices that its value depends on.
std::vector<IndexSet> dependencies(const ir::Program& program) {
  std::vector<IndexSet> depends(program.nodes.size(), IndexSet(program.indices.size()));
  for (std::size_t id = 0; id < depends.size(); ++id) {
    const auto& node = program.nodes[id];
    auto& set = depends[id];
    for (int k = 0; k < ir::operand_count(node); ++k) {
      const auto& operand = depends[static_cast<std::size_t>(node.operand[k])];
      for (std::size_t q = 0; q < set.size(); ++q) set[q] = set[q] || operand[q];
    }
    if (node.kind == NodeKind::load) {
      for (std::size_t q = 0; q < set.size(); ++q) set[q] = set[q] || node.offset.coefficient[q] != 0;
    }
    if (node.kind == NodeKind::index) set[static_cast<std::size_t>(node.source)] = true;
    for (const int q : node.over) set[static_cast<std::size_t>(q)] = false;
  }
  return depends;
}

/// Per node: the indices of the reductions around it, those of all its users, and the last one of the outermost.
struct Around {
  std::vector<IndexSet> indices;
  std::vector<int> stepped;
};
Around reductions_around(const ir::Program& program) {
  const auto count = program.nodes.size();
  Around around{std::vector<IndexSet>(count, IndexSet(program.indices.size())), std::vector<int>(count, -1)};
  for (std::size_t id = count; id-- > 0;) {  // users come after their operands
    const auto& node = program.nodes[id];
    auto inside = around.indices[id];
    for (const int q : node.over) inside[static_cast<std::size_t>(q)] = true;
    const int stepped = around.stepped[id] < 0 && !node.over.empty() ? node.over.back() : around.stepped[id];
    for (int k = 0; k < ir::operand_count(node); ++k) {
      const auto operand = static_cast<std::size_t>(node.operand[k]);
      auto& target = around.indices[operand];
      for (std::size_t q = 0; q < inside.size(); ++q) target[q] = target[q] || inside[q];
      if (stepped >= 0) around.stepped[operand] = stepped;
    }
  }
  return around;
}

/// Per node: whether it is a product of real numbers that is added to one sum and used nowhere else.
std::vector<bool> summed_products(const ir::Program& program) {
  std::vector<int> users(program.nodes.size());
  for (const auto& node : program.nodes) {
    for (int k = 0; k < ir::operand_count(node); ++k) users[static_cast<std::size_t>(node.operand[k])] += 1;
  }
  for (const auto& statement : program.statements) users[static_cast<std::size_t>(statement.value)] += 1;
  std::vector<bool> summed(program.nodes.size());
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::reduce || node.op != ir::OpCode::add) continue;
    const auto value = static_cast<std::size_t>(node.operand[0]);
    const auto& product = program.nodes[value];
    summed[value] = product.kind == NodeKind::op && product.op == ir::OpCode::mul && users[value] == 1 &&
                    !is_complex(product.type) && !is_integer(product.type);
  }
  return summed;
}

}  // namespace

OperationCounts count_operations(const ir::Program& program, const std::vector<std::vector<int>>& parts) {
  OperationCounts counts;
  const auto count = program.indices.size();
  counts.free = program.free_indices();
  const auto depends = dependencies(program);
  const auto around = reductions_around(program);
  const auto summed = summed_products(program);
  Evaluations evaluations(program, depends);
  if (parts.empty()) {
    std::vector<int> all(program.statements.size());
    std::iota(all.begin(), all.end(), 0);
    evaluations.count(all);
  }
  for (const auto& part : parts) evaluations.count(part);
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    if (ir::is_leaf(node)) continue;
    CountedNode counted{static_cast<ir::NodeId>(id), evaluations.times()[id], depends[id],
                        around.indices[id],          around.stepped[id],      summed[id]};
    for (std::size_t q = 0; q < count; ++q) counted.depends[q] = counted.depends[q] && counts.free[q];
    if (const auto tests = evaluations.tests()[id]; tests > 0) {
      counts.shared_tests.push_back(counted);
      counts.shared_tests.back().times = tests;
    }
    const bool cast = node.kind == NodeKind::op &&
                      (node.op == ir::OpCode::cast || node.op == ir::OpCode::tf32 || node.op == ir::OpCode::tf32_rest);
    if (node.kind == NodeKind::load) {
      const auto elements = ir::reached(node.offset, program.indices);
      counts.compulsory_bytes += static_cast<double>(elements) * static_cast<double>(size_of(node.type));
      counts.loads.push_back(std::move(counted));
    } else if (!cast) {
      counts.operations.push_back(std::move(counted));
    } else if (is_half(node.type) || is_half(program.nodes[static_cast<std::size_t>(node.operand[0])].type)) {
      counts.conversions.push_back(std::move(counted));
    }
  }
  for (const auto& statement : program.statements) {
    const auto& value = program.nodes[static_cast<std::size_t>(statement.value)];
    const bool many = value.kind == NodeKind::scan || value.kind == NodeKind::compact;
    counts.sequential = counts.sequential || many;
    const auto times = many ? program.indices[static_cast<std::size_t>(value.over[0])].extent : 1;
    const auto elements = times * ir::reached(statement.offset, program.indices);
    const auto type = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
    counts.written_bytes += static_cast<double>(elements) * static_cast<double>(size_of(type));
  }
  counts.compulsory_bytes += counts.written_bytes;
  for (std::size_t q = 0; q < count; ++q) {
    if (counts.free[q]) counts.order.push_back(static_cast<int>(q));
  }
  const auto& to = program.statement().offset.coefficient;
  std::stable_sort(counts.order.begin(), counts.order.end(), [&](int p, int q) {
    const auto stride = [&](int k) {
      const auto s = std::abs(to[static_cast<std::size_t>(k)]);
      return s == 0 ? INT64_MAX : s;  // an index of other statements alone
    };
    return stride(p) < stride(q);
  });
  return counts;
}

}  // namespace ricci::plan
