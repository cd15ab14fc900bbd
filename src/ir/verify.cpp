#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "ir/operation_types.hpp"
#include "ir/program.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), run_over_(program.indices.size()) {}

  void run() {
    declarations();
    for (std::size_t id = 0; id < program_.nodes.size(); ++id) node(static_cast<NodeId>(id));
    for (const auto& statement : program_.statements) this->statement(statement);
    index_values();
    guards();
    reads_of_written();
  }

 private:
  [[noreturn]] void broken(const char* rule) const {
    throw InternalError(
        fmt::format("a program breaks the rule \"{}\"; please report this program:\n{}", rule, print(program_)));
  }
  void require(bool holds, const char* rule) const {
    if (!holds) broken(rule);
  }
  const Buffer& buffer(int k) const { return program_.buffers[static_cast<std::size_t>(k)]; }
  const Node& at(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  bool is_index(int q) const { return q >= 0 && q < static_cast<int>(program_.indices.size()); }

  void declarations() {
    for (const auto& index : program_.indices) require(index.extent >= 0, "extents start at 0");
    for (const auto& node : program_.nodes) {
      for (std::size_t k = 0; k < node.over.size(); ++k) {
        require(is_index(node.over[k]), "nodes run over indices of the program");
        require(k == 0 || node.over[k - 1] < node.over[k], "nodes run over indices in ascending order, once");
        run_over_[static_cast<std::size_t>(node.over[k])] = true;
      }
    }
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (!run_over_[q] && program_.indices[q].extent == 0) empty_ = true;
    }
    Few<bool> accessed(program_.buffers.size());
    const auto access = [&](int k, const Affine& affine) {
      require(k >= 0 && k < static_cast<int>(program_.buffers.size()), "an access names a buffer of the program");
      require(affine.coefficient.size() == program_.indices.size(), "an access has one coefficient per index");
      accessed[static_cast<std::size_t>(k)] = true;
    };
    for (const auto& node : program_.nodes) {
      if (node.kind == NodeKind::load) access(node.source, node.offset);
    }
    for (const auto& statement : program_.statements) access(statement.buffer, statement.offset);
    for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
      const auto& declared = program_.buffers[k];
      require(!accessed[k] || declared.first <= declared.last || program_.points() == 0,
              "a buffer has a first and a last offset");
    }
    const auto count = program_.indices.size() + program_.buffers.size() + program_.params.size();
    Few<const std::string*, 64> known(std::bit_ceil(2 * count + 1));  // names by hash, or behind what is there
    const auto declare = [&](const auto& named) {
      auto k = std::accumulate(named.name.begin(), named.name.end(), std::size_t{0},
                               [](std::size_t hash, char c) { return 31 * hash + static_cast<unsigned char>(c); });
      for (k %= known.size(); known[k] != nullptr; k = (k + 1) % known.size())
        require(*known[k] != named.name, "names are unique");
      known[k] = &named.name;
    };
    std::for_each(program_.indices.begin(), program_.indices.end(), declare);
    std::for_each(program_.buffers.begin(), program_.buffers.end(), declare);
    std::for_each(program_.params.begin(), program_.params.end(), declare);
  }

  void node(NodeId id) {
    const auto& node = at(id);
    for (int k = 0; k < operand_count(node); ++k) {
      const auto operand = node.operand[k];
      require(operand >= 0 && operand < id, "operands stand before their users");
      const auto kind = at(operand).kind;
      require(kind != NodeKind::scan && kind != NodeKind::compact, "scans and compactions are statements' values");
    }
    for (int k = operand_count(node); k < 3; ++k) require(node.operand[k] == -1, "operands that no node uses are -1");
    const bool runs = node.kind == NodeKind::reduce || node.kind == NodeKind::scan || node.kind == NodeKind::compact;
    require(runs || node.over.empty(), "only reductions, scans and compactions run over indices");
    const auto type_of = [&](int k) { return at(node.operand[k]).type; };
    const bool half = is_half(node.type);
    switch (node.kind) {
      case NodeKind::load:
        require(node.type == buffer(node.source).type, "a load has its buffer's type");
        if (program_.points() > 0) {
          const auto reach = bounds(node.offset, program_.indices);
          require(reach.first >= buffer(node.source).first && reach.last <= buffer(node.source).last,
                  "an access stays inside its buffer");
        }
        return;
      case NodeKind::param:
        require(node.source >= 0 && node.source < static_cast<int>(program_.params.size()) &&
                    node.type == program_.params[static_cast<std::size_t>(node.source)].type,
                "a parameter exists and has its declared type");
        require(!half, "nothing is computed in f16 or bf16");
        return;
      case NodeKind::constant:
        require(!half, "nothing is computed in f16 or bf16");
        require(is_complex(node.type) || node.value.imag() == 0, "only complex constants have an imaginary part");
        require(is_integer(node.type) ? node.value == Scalar(0) && wrapped(node.integer, node.type) == node.integer
                                      : node.integer == 0,
                "a constant is a value of its type, an integer one wrapped to it");
        return;
      case NodeKind::index:
        require(is_index(node.source) && node.type == DType::i64, "an index value names an index and is i64");
        return;
      case NodeKind::reduce:
      case NodeKind::scan:
        require(type_of(0) == node.type && !half, "a reduction has its terms' type, which is no half type");
        require(associates(node.op), "reductions and scans combine by an associative operation");
        combining_type(node);
        require(node.kind == NodeKind::reduce || node.over.size() == 1, "scans and compactions run over one index");
        require(operand_count(node) == 1 || type_of(1) == node.type, "a scan begins with a value of its terms' type");
        return;
      case NodeKind::guard:
        require(is_integer(type_of(0)), "predicates are integers");
        require(type_of(1) == node.type, "a guard has its operand's type");
        return;
      case NodeKind::compact:
        require(is_integer(type_of(0)), "predicates are integers");
        require(type_of(1) == node.type, "a compaction has its payload's type");
        require(type_of(2) == DType::i64, "a compaction begins at an i64");
        require(node.over.size() == 1, "scans and compactions run over one index");
        return;
      case NodeKind::op:
        require(!half || node.op == OpCode::cast, "nothing is computed in f16 or bf16");
        operation(node);
    }
  }

  /// Whether the operation is defined for the node's type.
  void combining_type(const Node& node) const {
    const bool ordered = node.op == OpCode::minimum || node.op == OpCode::maximum;
    require(!ordered || !is_complex(node.type), "complex numbers have no order");
    const bool bits = node.op == OpCode::bit_and || node.op == OpCode::bit_or || node.op == OpCode::bit_xor;
    require(!bits || is_integer(node.type), "bits are those of integers");
  }

  void operation(const Node& node) const {
    require(operand_count(node.op) > 0, "an operation is one of those that there are");
    DType operands[3] = {};
    for (int k = 0; k < operand_count(node.op); ++k) operands[k] = at(node.operand[k]).type;
    if (const char* rule = broken_type_rule(node.op, node.type, operands)) broken(rule);
  }

  void statement(const Statement& statement) const {
    const auto& target = buffer(statement.buffer);
    require(target.written, "a statement writes an output");
    require(statement.value >= 0 && statement.value < static_cast<NodeId>(program_.nodes.size()),
            "a statement has a value");
    const auto& value = at(statement.value);
    require(value.type == target.type, "a statement stores a value of its buffer's type");
    require(!target.tf32 || (value.kind == NodeKind::op && (value.op == OpCode::tf32 || value.op == OpCode::tf32_rest)),
            "what is stored as tf32 is rounded to it");
    const bool many = value.kind == NodeKind::scan || value.kind == NodeKind::compact;
    require(many == (statement.step != 0), "scans and compactions alone have a step");
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const bool moves = statement.offset.coefficient[q] != 0;
      require(!moves || !run_over_[q], "no statement writes along an index that a node runs over");
      require(moves || run_over_[q] || program_.indices[q].extent < 2 || value.kind == NodeKind::compact,
              "every point writes an element of its own");
    }
    if (empty_ || value.kind == NodeKind::compact) return;
    auto reach = bounds(statement.offset, program_.indices);
    if (value.kind == NodeKind::scan) {
      const auto extent = program_.indices[static_cast<std::size_t>(value.over[0])].extent;
      const auto last = extent - (value.exclusive ? 0 : 1);
      if (last < 0) return;
      (statement.step < 0 ? reach.first : reach.last) += statement.step * last;
    }
    require(reach.first >= target.first && reach.last <= target.last, "an access stays inside its buffer");
  }

  /// A reduced index has a value only inside its reductions.
  void index_values() const {
    const auto count = program_.indices.size();
    Few<char, 128> rows((program_.nodes.size() + 1) * count);  // one for each node, and one of what it runs over
    auto* const over = rows.data();
    auto* const needs = rows.data() + count;
    for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
      const auto& node = program_.nodes[id];
      auto* const mine = needs + id * count;
      for (const int q : node.over) over[q] = 1;
      const auto inherit = [&](int k, bool bound) {
        const auto* const below = needs + static_cast<std::size_t>(node.operand[k]) * count;
        for (std::size_t q = 0; q < count; ++q) {
          if (below[q] != 0 && !(bound && over[q] != 0)) mine[q] = 1;
        }
      };
      if (node.kind == NodeKind::index) mine[static_cast<std::size_t>(node.source)] = 1;
      for (std::size_t q = 0; node.kind == NodeKind::load && q < count; ++q) {
        mine[q] = node.offset.coefficient[q] != 0 && program_.indices[q].extent != 1 ? 1 : 0;
      }
      // The start of a compaction and the initial value of a scan may not depend on the scanned index.
      const auto before = node.kind == NodeKind::compact ? 2 : node.kind == NodeKind::scan ? 1 : -1;
      for (int k = 0; k < operand_count(node); ++k) inherit(k, k != before);
      for (const int q : node.over) over[q] = 0;
    }
    for (const auto& statement : program_.statements) {
      const auto* const needed = needs + static_cast<std::size_t>(statement.value) * count;
      for (std::size_t q = 0; q < count; ++q) {
        require(needed[q] == 0 || !run_over_[q], "an index that nodes run over has a value inside of them alone");
      }
    }
  }

  /// All enclosing reductions of a guard must have the same operation, whose identity is its value.
  void guards() const {
    const auto is_guard = [](const Node& node) { return node.kind == NodeKind::guard; };
    if (std::none_of(program_.nodes.begin(), program_.nodes.end(), is_guard)) return;
    // Per node: the operations of the reductions around it; outside of one, a sum's identity holds.
    std::vector<std::set<OpCode>> ops(program_.nodes.size());
    for (const auto& statement : program_.statements)
      ops[static_cast<std::size_t>(statement.value)].insert(OpCode::add);
    for (std::size_t id = program_.nodes.size(); id-- > 0;) {
      const auto& node = program_.nodes[id];
      if (node.kind == NodeKind::guard) {
        for (const auto op : ops[id]) {
          require(identity(op, node.type) == identity(*ops[id].begin(), node.type),
                  "a guard stands in one kind of reduction");
        }
      }
      for (int k = 0; k < operand_count(node); ++k) {
        auto& below = ops[static_cast<std::size_t>(node.operand[k])];
        if (node.kind == NodeKind::reduce || (node.kind == NodeKind::scan && k == 0)) {
          below.insert(node.op);
        } else {
          below.insert(ops[id].begin(), ops[id].end());
        }
      }
    }
  }

  /// Points are independent: a written element is read only by the point that writes it.
  void reads_of_written() const {
    const auto same = [&](const Affine& x, const Affine& y) {
      for (std::size_t q = 0; q < program_.indices.size(); ++q) {
        if (x.coefficient[q] != y.coefficient[q] && program_.indices[q].extent > 1) return false;
      }
      return x.constant == y.constant;
    };
    for (const auto& node : program_.nodes) {
      if (node.kind != NodeKind::load || !buffer(node.source).written || program_.points() == 0) continue;
      const bool own = std::any_of(program_.statements.begin(), program_.statements.end(), [&](const Statement& s) {
        const auto& value = at(s.value);
        if (s.buffer != node.source || value.kind == NodeKind::compact) return false;
        auto written = s.offset;
        if (same(node.offset, written)) return true;
        if (value.kind != NodeKind::scan) return false;
        written.coefficient[static_cast<std::size_t>(value.over[0])] = s.step;
        return same(node.offset, written);
      });
      require(own, "what is written is read at the offsets of the same point alone");
    }
  }

  const Program& program_;
  Few<bool> run_over_;  // per index: whether a reduction, scan or compaction runs over it
  bool empty_ = false;  // no points
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace ricci::ir
