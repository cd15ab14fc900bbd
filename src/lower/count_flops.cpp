// Operations of a program, as written and as its kernels perform them.
#include <algorithm>
#include <map>

#include "frontend/components.hpp"
#include "ir/operation_types.hpp"
#include "ir/own_stack.hpp"
#include "lower/lower_program.hpp"

namespace ricci::ir {
namespace {

/// Operations of one kernel: each node counts once per value of the loops it depends on.
double performed(const Program& program) {
  const auto free = program.free_indices();
  double points = 1;
  for (std::size_t q = 0; q < free.size(); ++q) {
    if (free[q]) points *= static_cast<double>(program.indices[q].extent);
  }
  std::vector<std::vector<bool>> inside(program.nodes.size());  // reduced indices that a node's value depends on
  double total = 0;
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    auto& mine = inside[id];
    mine.assign(program.indices.size(), false);
    for (int k = 0; k < operand_count(node); ++k) {
      const auto& below = inside[static_cast<std::size_t>(node.operand[k])];
      for (std::size_t q = 0; q < mine.size(); ++q) mine[q] = mine[q] || below[q];
    }
    for (std::size_t q = 0; q < mine.size(); ++q) {
      if (free[q]) continue;
      if (node.kind == NodeKind::load && node.offset.coefficient[q] != 0) mine[q] = true;
      if (node.kind == NodeKind::index && node.source == static_cast<int>(q)) mine[q] = true;
    }
    double terms = 1;
    for (const int q : node.over) {
      terms *= static_cast<double>(program.indices[static_cast<std::size_t>(q)].extent);
      mine[static_cast<std::size_t>(q)] = false;
    }
    double here = points;
    for (std::size_t q = 0; q < mine.size(); ++q) {
      if (mine[q]) here *= static_cast<double>(program.indices[q].extent);
    }
    if (node.kind == NodeKind::op && is_counted(node.op)) total += here;
    const bool combines = node.kind == NodeKind::reduce || node.kind == NodeKind::scan;
    if (combines && terms > 1) total += here * (terms - 1);
  }
  return total;
}

class Written {
 public:
  explicit Written(const formula::ProgramGraph& program) : program_(program) {}

  double statement(const formula::Statement& statement) {
    const auto& target = program_.expr(statement.target);
    const auto& tensor = program_.tensor(target.source);
    if (tensor.role == TensorRole::local && !tensor.expanded()) return 0;  // counted where it is used
    double places = 1;
    if (tensor.expanded()) {
      places = stored(target);
    } else {
      for (const int q : target.free) places *= static_cast<double>(program_.extent(q));
    }
    if (target.on_grid && !program_only_on_grid()) places *= static_cast<double>(program_.extent(program_.grid));
    return places * (value(statement.value) + (statement.op == formula::Assign::set ? 0 : 1));
  }

  bool program_only_on_grid() const {
    return program_.grid >= 0 &&
           std::all_of(program_.statements.begin(), program_.statements.end(),
                       [&](const formula::Statement& s) { return program_.expr(s.target).on_grid; });
  }

 private:
  /// Components that a statement stores: those that its left side reaches, each once.
  double stored(const formula::Expr& target) const {
    const formula::Components components(program_.tensor(target.source), program_);
    double count = 0;
    for (int c = 0; c < components.count(); ++c) {
      if (reached(target, components.stored(c))) count += 1;
    }
    return count;
  }

  /// Whether any order of the symmetric slots' values lies in what the left side runs over.
  bool reached(const formula::Expr& target, std::vector<std::int64_t> values) const {
    const auto& symmetries = program_.tensor(target.source).form.symmetry.list;
    const auto fits = [&] {
      for (std::size_t k = 0; k < values.size(); ++k) {
        const auto& slot = target.slots[k];
        const auto low = slot.offset, high = slot.fixed() ? low + 1 : low + program_.extent(slot.index());
        if (values[k] < low || values[k] >= high) return false;
      }
      return true;
    };
    const auto permuted = [&](const auto& self, std::size_t which) -> bool {
      if (which == symmetries.size()) return fits();
      std::vector<std::int64_t> own;
      for (const int slot : symmetries[which].slots) own.push_back(values[static_cast<std::size_t>(slot)]);
      std::sort(own.begin(), own.end());
      do {
        for (std::size_t k = 0; k < own.size(); ++k) {
          values[static_cast<std::size_t>(symmetries[which].slots[k])] = own[k];
        }
        if (self(self, which + 1)) return true;
      } while (std::next_permutation(own.begin(), own.end()));
      return false;
    };
    return permuted(permuted, 0);
  }

  double value(formula::ExprId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const auto& expr = program_.expr(id);
    double cost = 0;
    for (const auto operand : expr.operands) cost += value(operand);
    switch (expr.kind) {
      case formula::Kind::op:
        cost += is_counted(expr.op) ? 1 : 0;
        break;
      case formula::Kind::scan:
        cost += 1;  // its index is one of the left side
        break;
      case formula::Kind::reduce:
      case formula::Kind::compact: {
        double terms = 1;
        for (const int q : expr.over) terms *= static_cast<double>(program_.extent(q));
        cost = terms * cost + (expr.kind == formula::Kind::reduce ? std::max(terms - 1, 0.0) : 0.0);
        break;
      }
      case formula::Kind::determinant:
        cost += 14;
        break;
      case formula::Kind::inverse:
        cost += 18;
        break;
      case formula::Kind::access: {
        const auto& tensor = program_.tensor(expr.source);
        const bool defined = tensor.role == TensorRole::local && !tensor.expanded();
        if (defined) cost += value(formula::definition(program_, expr.source)->value);
        break;
      }
      default:
        break;
    }
    known_.emplace(id, cost);
    return cost;
  }

  const formula::ProgramGraph& program_;
  std::map<formula::ExprId, double> known_;
};

}  // namespace

FlopCount count_flops(const formula::ProgramGraph& program) {
  FlopCount count;
  Written written(program);
  on_stack_of(stack_for(static_cast<std::size_t>(program.deepest())), [&] {
    for (const auto& statement : program.statements) count.written += written.statement(statement);
  });
  const auto sequence = lower(program);
  for (const auto& step : sequence.steps) count.performed += performed(step.program);
  if (written.program_only_on_grid()) {
    count.performed /= std::max(1.0, static_cast<double>(program.extent(program.grid)));
  }
  return count;
}

}  // namespace ricci::ir

namespace ricci {
inline namespace v1 {

FlopCount Program::flops() const { return ir::count_flops(*graph_); }

}  // namespace v1
}  // namespace ricci
