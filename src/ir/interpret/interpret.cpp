// The oracle: every program, point by point, as plainly as it can be said.
#include <algorithm>
#include <cstring>

#include "ir/interpret/interpret_value.hpp"
#include "ir/named_values.hpp"
#include "ir/own_stack.hpp"
#include "ir/program.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

using oracle::Value;

class Interpreter {
 public:
  Interpreter(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params)
      : program_(program),
        buffers_(buffers),
        point_(program.indices.size()),
        moved_(program.indices.size()),
        free_(program.free_indices()),
        known_(program.nodes.size()) {
    for (std::size_t k = 0; k < params.size(); ++k) {
      params_.push_back(oracle::value_of(params[k], program.params[k].type));
    }
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      known_[id].operands = operand_count(program.nodes[id]);
      depend(id);
    }
  }

  void run() {
    for (std::size_t q = 0; q < free_.size(); ++q) {
      if (free_[q] && program_.indices[q].extent == 0) return;
    }
    do {
      point_moved_ = ++clock_;
      pending_.clear();
      bytes_.clear();
      for (const auto& statement : program_.statements) execute(statement);
      const char* from = bytes_.data();
      for (const auto& write : pending_) {
        std::memcpy(write.target, from, write.bytes);
        from += write.bytes;
      }
    } while (advance());
  }

 private:
  /// What is known of a node: its value, for as long as no index that it depends on has moved.
  struct Known {
    int operands = 0;
    std::vector<std::size_t> indices;  // that it depends on; a load's offset takes the coefficients of these alone
    bool reads_written = false;        // the next point may read what this one wrote
    bool in_rows = false;              // loads and operations alone: all of it may be evaluated at a row of points
    std::uint64_t when = 0;            // 0: never evaluated
    Value value;
    std::vector<Value> row;      // along index `row_of`,
    std::size_t row_of = 0;      // as it was
    std::uint64_t row_when = 0;  // then; 0: never
  };
  struct Write {
    char* target;
    std::size_t bytes;
  };

  const Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }

  void depend(std::size_t id) {
    const auto& node = program_.nodes[id];
    auto& known = known_[id];
    std::vector<bool> needs(program_.indices.size());
    if (node.kind == NodeKind::index) needs[static_cast<std::size_t>(node.source)] = true;
    for (std::size_t q = 0; node.kind == NodeKind::load && q < needs.size(); ++q) {
      needs[q] = node.offset.coefficient[q] != 0;
    }
    if (node.kind == NodeKind::load) {
      known.reads_written = program_.buffers[static_cast<std::size_t>(node.source)].written;
    }
    known.in_rows = known.operands == 0 || node.kind == NodeKind::op;
    for (int k = 0; k < known.operands; ++k) {
      const auto& below = known_[static_cast<std::size_t>(node.operand[k])];
      known.reads_written = known.reads_written || below.reads_written;
      known.in_rows = known.in_rows && below.in_rows;
      for (const auto q : below.indices) {
        if (std::find(node.over.begin(), node.over.end(), static_cast<int>(q)) == node.over.end()) needs[q] = true;
      }
    }
    for (std::size_t q = 0; q < needs.size(); ++q) {
      if (needs[q]) known.indices.push_back(q);
    }
  }

  bool current(const Known& known) const { return holds_since(known, known.when, point_.size()); }

  /// Whether what a node was at a time, 0 for never, it still is, index `along` aside.
  bool holds_since(const Known& known, std::uint64_t when, std::size_t along) const {
    if (when == 0 || (known.reads_written && when < point_moved_)) return false;
    for (const auto q : known.indices) {
      if (q != along && moved_[q] > when) return false;
    }
    return true;
  }

  void move(std::size_t q, std::int64_t value) {
    point_[q] = value;
    moved_[q] = ++clock_;
  }

  bool advance() {
    for (std::size_t q = point_.size(); q-- > 0;) {
      if (!free_[q]) continue;
      if (point_[q] + 1 < program_.indices[q].extent) {
        move(q, point_[q] + 1);
        return true;
      }
      if (point_[q] != 0) move(q, 0);
    }
    return false;
  }

  std::int64_t offset(const Affine& affine) const {
    std::int64_t elements = affine.constant;
    for (std::size_t q = 0; q < point_.size(); ++q) elements += affine.coefficient[q] * point_[q];
    return elements;
  }

  Value load(const Node& node, const Known& known) const {
    auto elements = node.offset.constant;
    for (const auto q : known.indices) elements += node.offset.coefficient[q] * point_[q];
    return oracle::load(address(node.source, elements), node.type);
  }

  char* address(int buffer, std::int64_t elements) const {
    const auto k = static_cast<std::size_t>(buffer);
    return static_cast<char*>(buffers_[k]) + elements * size_of(program_.buffers[k].type);
  }

  /// Room for one element that is written when all statements of the point have read.
  char* pend(int buffer, std::int64_t elements) {
    const auto bytes = static_cast<std::size_t>(size_of(program_.buffers[static_cast<std::size_t>(buffer)].type));
    pending_.push_back({address(buffer, elements), bytes});
    bytes_.resize(bytes_.size() + bytes);
    return bytes_.data() + bytes_.size() - bytes;
  }

  /// Stores what node `id` gives. Movement keeps every bit, NaN payloads too.
  void put(int buffer, std::int64_t elements, NodeId id) {
    const auto& value = node(id);
    if (value.kind == NodeKind::load) {
      const char* from = address(value.source, offset(value.offset));
      char* to = pend(buffer, elements);
      std::memcpy(to, from, static_cast<std::size_t>(size_of(value.type)));
      return;
    }
    const auto result = evaluate(id);
    oracle::store(pend(buffer, elements), value.type, result);
  }

  void execute(const Statement& statement) {
    const auto& root = node(statement.value);
    const auto at = offset(statement.offset);
    around_ = OpCode::add;
    switch (root.kind) {
      case NodeKind::guard: {
        // A guard of a guard is one: what either leaves out is not stored.
        auto id = statement.value;
        for (; node(id).kind == NodeKind::guard; id = node(id).operand[1]) {
          if (!oracle::holds(evaluate(node(id).operand[0]))) return;
        }
        return put(statement.buffer, at, id);
      }
      case NodeKind::scan:
        return scan(statement, root, at);
      case NodeKind::compact:
        return compact(statement, root, at);
      default:
        return put(statement.buffer, at, statement.value);
    }
  }

  void scan(const Statement& statement, const Node& root, std::int64_t at) {
    const auto q = static_cast<std::size_t>(root.over[0]);
    const auto element = [&](std::int64_t k, const Value& value) {
      oracle::store(pend(statement.buffer, at + k * statement.step), root.type, value);
    };
    auto total = root.operand[1] < 0 ? oracle::identity_of(root.op, root.type) : evaluate(root.operand[1]);
    around_ = root.op;
    const auto extent = program_.indices[q].extent;
    for (std::int64_t k = 0; k < extent; ++k) {
      move(q, k);
      if (root.exclusive) element(k, total);
      total = oracle::apply(root.op, root.type, root.type, total, evaluate(root.operand[0]), {});
      if (!root.exclusive) element(k, total);
    }
    if (root.exclusive) element(extent, total);
    move(q, 0);
  }

  void compact(const Statement& statement, const Node& root, std::int64_t at) {
    const auto q = static_cast<std::size_t>(root.over[0]);
    const auto& target = program_.buffers[static_cast<std::size_t>(statement.buffer)];
    auto next = at + static_cast<std::int64_t>(evaluate(root.operand[2]).integer);
    for (std::int64_t k = 0; k < program_.indices[q].extent; ++k) {
      move(q, k);
      if (!oracle::holds(evaluate(root.operand[0]))) continue;
      if (next >= target.first && next <= target.last) put(statement.buffer, next, root.operand[1]);
      next += statement.step;
    }
    move(q, 0);
  }

  /// The values of a node where index q is 0, 1, ... and the others are what they are. An index that moves costs as
  /// much as an operation: rows take less than half of the time of as many points.
  const std::vector<Value>& row(NodeId id, std::size_t q) {
    const auto& node = this->node(id);
    auto& known = known_[static_cast<std::size_t>(id)];
    if (known.row_of == q && holds_since(known, known.row_when, q)) return known.row;
    known.row_of = q;
    known.row_when = clock_;
    const auto extent = static_cast<std::size_t>(program_.indices[q].extent);
    if (std::find(known.indices.begin(), known.indices.end(), q) == known.indices.end()) {
      known.row.assign(extent, evaluate(id));
      return known.row;
    }
    known.row.resize(extent);
    if (node.kind == NodeKind::index) {
      for (std::size_t k = 0; k < extent; ++k) known.row[k] = {static_cast<std::uint64_t>(k)};
    } else if (node.kind == NodeKind::load) {
      const auto step = node.offset.coefficient[q];
      const auto first = offset(node.offset) - step * point_[q];
      for (std::size_t k = 0; k < extent; ++k)
        known.row[k] = oracle::load(address(node.source, first + step * static_cast<std::int64_t>(k)), node.type);
    } else {
      const Value* operands[3] = {};
      const auto count = static_cast<std::size_t>(known.operands);
      for (std::size_t k = 0; k < count; ++k) operands[k] = row(node.operand[k], q).data();
      oracle::apply(node.op, node.type, this->node(node.operand[0]).type, std::span(operands, count), extent,
                    known.row.data());
    }
    return known.row;
  }

  /// Combines the values over node.over[k ...] with `total`, in the order of a nest of loops.
  void combine(const Node& node, std::size_t k, Value& total) {
    if (k == node.over.size()) {
      total = oracle::apply(node.op, node.type, node.type, total, evaluate(node.operand[0]), {});
      return;
    }
    const auto q = static_cast<std::size_t>(node.over[k]);
    if (k + 1 == node.over.size() && known_[static_cast<std::size_t>(node.operand[0])].in_rows) {
      const auto& terms = row(node.operand[0], q);
      total = oracle::combined(node.op, node.type, total, terms.data(), terms.size());
      return;
    }
    const auto before = point_[q];
    for (std::int64_t value = 0; value < program_.indices[q].extent; ++value) {
      move(q, value);
      combine(node, k + 1, total);
    }
    move(q, before);
  }

  Value evaluate(NodeId id) {
    auto& known = known_[static_cast<std::size_t>(id)];
    // A load is made again: that takes no longer than to ask whether an index has moved.
    if (node(id).kind != NodeKind::load && current(known)) return known.value;
    const auto value = compute(node(id), known);
    known.value = value;
    known.when = clock_;
    return value;  // from registers: known.value is not there yet
  }

  Value compute(const Node& node, const Known& known) {
    switch (node.kind) {
      case NodeKind::load:
        return load(node, known);
      case NodeKind::param:
        return params_[static_cast<std::size_t>(node.source)];
      case NodeKind::constant:
        return is_integer(node.type) ? oracle::Value{node.integer} : oracle::value_of(node.value, node.type);
      case NodeKind::index:
        return {static_cast<std::uint64_t>(point_[static_cast<std::size_t>(node.source)])};
      case NodeKind::guard:
        return oracle::holds(evaluate(node.operand[0])) ? evaluate(node.operand[1])
                                                        : oracle::identity_of(around_, node.type);
      case NodeKind::reduce: {
        auto total = oracle::identity_of(node.op, node.type);
        const auto outer = around_;
        around_ = node.op;
        combine(node, 0, total);
        around_ = outer;
        return total;
      }
      case NodeKind::scan:
      case NodeKind::compact:
        return {};  // statements' values alone
      case NodeKind::op:
        break;
    }
    Value operand[3];
    for (int k = 0; k < known.operands; ++k) operand[k] = evaluate(node.operand[k]);
    return oracle::apply(node.op, node.type, this->node(node.operand[0]).type, operand[0], operand[1], operand[2]);
  }

  const Program& program_;
  const std::vector<void*>& buffers_;
  std::vector<Value> params_;
  std::vector<std::int64_t> point_;
  std::vector<std::uint64_t> moved_;  // per index: when its value last changed
  std::vector<bool> free_;            // not run over: a loop of the statements
  std::vector<Known> known_;          // per node
  std::uint64_t clock_ = 1, point_moved_ = 0;
  OpCode around_ = OpCode::add;  // of the innermost reduction
  std::vector<Write> pending_;   // of this point, their bytes one after the other
  std::vector<char> bytes_;
};

}  // namespace

void interpret(const Program& program, const std::vector<void*>& buffers, const std::vector<Scalar>& params) {
  if (buffers.size() != program.buffers.size() || params.size() != program.params.size()) {
    throw InternalError("interpret() takes one pointer per buffer and one value per parameter");
  }
  on_stack_of(stack_for(depth_of(program)), [&] { Interpreter(program, buffers, params).run(); });
}

}  // namespace ricci::ir
