// Tensors that are read beyond their ends, with a border of the value that they have there: kernels read what lies in
// memory alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lower/lower_program.hpp"
#include "lower/memory.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

class Borders {
 public:
  explicit Borders(const ProgramGraph& program) : from_(program), made_(program) {
    for (const auto& tensor : made_.tensors) names_.take(tensor.name);
    for (const auto& index : made_.indices) names_.take(index.name);
    for (const auto& param : made_.params) names_.take(param.name);
  }

  ProgramGraph run() {
    find();
    if (wide_.empty()) return std::move(made_);
    made_.clear_statements();
    for (auto& [tensor, wide] : wide_) declare(tensor, wide);
    std::vector<ExprId> changed;
    for (ExprId id = 0; id < static_cast<ExprId>(from_.exprs.size()); ++id) changed.push_back(rewritten(id, changed));
    for (auto statement : from_.statements) {
      statement.target = changed[static_cast<std::size_t>(statement.target)];
      statement.value = changed[static_cast<std::size_t>(statement.value)];
      made_.add_statement(std::move(statement));
    }
    return std::move(made_);
  }

 private:
  /// A tensor and the values before and behind each slot of it that are read.
  struct Wide {
    std::vector<std::int64_t> before, behind;
    int tensor = -1;
  };

  void find() {
    std::vector<bool> used(from_.exprs.size());
    for (const auto& statement : from_.statements) used[static_cast<std::size_t>(statement.value)] = true;
    for (std::size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      const auto& expr = from_.exprs[id];
      for (const auto operand : expr.operands) used[static_cast<std::size_t>(operand)] = true;
      if (expr.kind != Kind::access || !from_.tensor(expr.source).form.outside) continue;
      const auto& slots = from_.tensor(expr.source).slots;
      std::vector<SlotRange> reach;
      for (const auto& slot : expr.slots) reach.push_back(*from_.range(slot));
      const auto beyond = [&](std::size_t k) {
        return reach[k].greatest < reach[k].least ? 0 : reach[k].greatest - from_.extent(slots[k]) + 1;
      };
      for (std::size_t k = 0; k < slots.size(); ++k) {
        if (reach[k].least >= 0 && beyond(k) <= 0) continue;
        auto& wide = wide_[expr.source];
        wide.before.resize(slots.size());
        wide.behind.resize(slots.size());
        wide.before[k] = std::max(wide.before[k], -reach[k].least);
        wide.behind[k] = std::max(wide.behind[k], beyond(k));
      }
    }
  }

  /// The tensor with its border, filled before all statements; of an input with a copy of its values.
  void declare(int tensor, Wide& wide) {
    const auto declared = made_.tensor(tensor);
    TensorDecl made;
    made.name = names_.unique(declared.name + "_wide");
    made.role = TensorRole::temp;
    made.type = declared.type;
    std::vector<SlotValue> all, within, own;
    for (std::size_t k = 0; k < declared.slots.size(); ++k) {
      const auto values = from_.extent(declared.slots[k]);
      constexpr std::int64_t kFar = std::int64_t{1} << 58;  // no tensor has so many elements
      if (std::max(wide.before[k], wide.behind[k]) > kFar) {
        throw ShapeError(
            fmt::format("RangeError: '{}' is read more than 2^58 elements beyond slot {}", declared.name, k));
      }
      made.slots.push_back({{{}, values + wide.before[k] + wide.behind[k]}});
      all.push_back(index_over(made.slots.back().offset));
      within.push_back(index_over(values));
      own.push_back(within.back());
      within.back().offset = wide.before[k];
      within.back().shifted = true;
    }
    wide.tensor = made_.declare_tensor(std::move(made), {});
    const double value = *declared.form.outside;
    made_.record(wide.tensor, all, Assign::set, made_.number(value, is_integer(declared.type)), false, {});
    if (declared.role != TensorRole::input) return;
    made_.record(wide.tensor, within, Assign::set, made_.access(tensor, own, {}), false, {});
  }

  SlotValue index_over(std::int64_t extent) {
    return {{{{made_.declare_index(names_.unique("at"), extent, {}), 1}}, 0}};
  }

  ExprId rewritten(ExprId id, const std::vector<ExprId>& changed) {
    Expr expr = made_.expr(id);
    bool same = true;
    for (auto& operand : expr.operands) {
      same = same && operand == changed[static_cast<std::size_t>(operand)];
      operand = changed[static_cast<std::size_t>(operand)];
    }
    const auto wide = expr.kind == Kind::access ? wide_.find(expr.source) : wide_.end();
    if (wide != wide_.end()) {
      same = false;
      expr.source = wide->second.tensor;
      for (std::size_t k = 0; k < expr.slots.size(); ++k) {
        expr.slots[k].offset += wide->second.before[k];
        expr.slots[k].shifted = !expr.slots[k].fixed();
      }
    }
    for (auto& slot : expr.slots) {
      if (slot.position < 0) continue;
      same = same && slot.position == changed[static_cast<std::size_t>(slot.position)];
      slot.position = changed[static_cast<std::size_t>(slot.position)];
    }
    if (same) return id;
    expr.depth = 1;
    return made_.intern(std::move(expr), {});
  }

  const ProgramGraph& from_;
  ProgramGraph made_;
  std::map<int, Wide> wide_;  // by tensor
  Names names_;               // taken in the program
};

}  // namespace

ProgramGraph with_borders(const ProgramGraph& program) { return Borders(program).run(); }

}  // namespace ricci::formula
