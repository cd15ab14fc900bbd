#include "lower/lower_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "frontend/index_set.hpp"
#include "ir/own_stack.hpp"
#include "lower/lower_kernel.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

using ir::NodeId;

/// Statements that become one kernel.
struct Group {
  bool components = false;  ///< of tensors whose components are told apart
  bool on_grid = false;
  std::vector<std::size_t> statements;
};

/// Checks of the whole program: every extent is known, every output is written.
void check_complete(const ProgramGraph& program) {
  for (const auto& index : program.indices) {
    if (index.extent != kOpenExtent) continue;
    throw ShapeError(
        fmt::format("ExtentError: index {} of program '{}' has no extent; give one with set_extent() or "
                    "bind arrays that have it",
                    index.name, program.name));
  }
  program.check_extents();
  for (const auto& tensor : program.tensors) {
    if (tensor.role != TensorRole::output) continue;
    const int id = program.find_tensor(tensor.name);
    if (definition(program, id) == nullptr) {
      throw SpecError(fmt::format("NotWritten: no statement writes the output '{}'", tensor.name));
    }
  }
}

class Lowering {
 public:
  explicit Lowering(const ProgramGraph& program) : program_(program), needs_(program), memory_(program) {}

  ir::Sequence run() {
    find_groups();
    find_workspace();
    sequence_.storages = memory_.storages();
    for (const auto& param : program_.params) sequence_.params.push_back({param.name, param.type});
    for (const auto& group : groups_) {
      if (group.components) {
        lower_components(group);
      } else {
        lower_loops(group);
      }
    }
    sequence_.storages = memory_.storages();
    ir::verify(sequence_);
    return std::move(sequence_);
  }

 private:
  const Statement& statement(std::size_t k) const { return program_.statements[k]; }
  const Expr& target(std::size_t k) const { return program_.expr(statement(k).target); }
  const TensorDecl& tensor(std::size_t k) const { return program_.tensor(target(k).source); }
  const std::string& name_of(int index) const { return program_.indices[static_cast<std::size_t>(index)].name; }

  KernelLowering make_kernel() {
    KernelLowering kernel(program_, memory_, needs_);
    kernel.on_read = [this](const Expr& access, int component) { check_component(current_, access, component); };
    return kernel;
  }

  /// Accesses that evaluating an expression performs, definitions of locals without a grid included.
  void collect(ExprId id, std::set<ExprId>& accesses) const {
    std::vector<ExprId> open{id};
    std::set<ExprId> seen;
    while (!open.empty()) {
      const auto next = open.back();
      open.pop_back();
      if (!seen.insert(next).second) continue;
      const auto& expr = program_.expr(next);
      open.insert(open.end(), expr.operands.begin(), expr.operands.end());
      if (expr.kind != Kind::access) continue;
      accesses.insert(next);
      const auto& read = program_.tensor(expr.source);
      if (read.role != TensorRole::local || read.expanded()) continue;
      if (const auto* defined = definition(program_, expr.source)) open.push_back(defined->value);
    }
  }

  bool reads(std::size_t k, int tensor) const {
    std::set<ExprId> accesses;
    collect(statement(k).value, accesses);
    for (const auto operand : target(k).operands) collect(operand, accesses);
    return std::any_of(accesses.begin(), accesses.end(), [&](ExprId id) { return program_.expr(id).source == tensor; });
  }

  /// Whether statement k reads its left-hand tensor at other elements than it writes.
  bool reads_elsewhere(std::size_t k) const {
    std::set<ExprId> accesses;
    collect(statement(k).value, accesses);
    for (const auto operand : target(k).operands) collect(operand, accesses);
    return std::any_of(accesses.begin(), accesses.end(), [&](ExprId id) {
      const auto& expr = program_.expr(id);
      return expr.source == target(k).source && expr.slots != target(k).slots;
    });
  }

  bool sums_up(std::size_t k) const {
    const auto kind = program_.expr(statement(k).value).kind;
    const bool half = is_half(tensor(k).type);
    return (statement(k).op == Assign::add || statement(k).op == Assign::subtract) && kind != Kind::guard &&
           !(half && program_.exact) && !reads(k, target(k).source);
  }

  void find_groups() {
    for (std::size_t k = 0; k < program_.statements.size(); ++k) {
      if (tensor(k).role == TensorRole::local && !tensor(k).expanded()) continue;  // inlined where it is used
      const bool components = tensor(k).expanded(), on_grid = components && target(k).on_grid;
      bool joins = !groups_.empty() && groups_.back().components == components && groups_.back().on_grid == on_grid;
      if (joins && !components) {
        const auto first = groups_.back().statements.front();
        const auto kind = program_.expr(statement(first).value).kind;
        const bool plain = statement(first).op == Assign::set && kind != Kind::guard && kind != Kind::scan &&
                           kind != Kind::compact && !reads(first, target(first).source) &&
                           !(program_.exact && is_half(tensor(k).type));
        joins = statement(first).target == statement(k).target && sums_up(k) && (plain || sums_up(first));
      }
      if (!joins) groups_.push_back({components, on_grid, {}});
      groups_.back().statements.push_back(k);
    }
  }

  /// Allocates workspace for temps and locals that a later kernel reads; those used in one kernel only live in
  /// registers.
  void find_workspace() {
    std::vector<std::set<std::size_t>> used(program_.tensors.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const auto k : groups_[g].statements) {
        std::set<ExprId> accesses;
        collect(statement(k).value, accesses);
        for (const auto operand : target(k).operands) collect(operand, accesses);
        accesses.insert(statement(k).target);
        for (const auto id : accesses) used[static_cast<std::size_t>(program_.expr(id).source)].insert(g);
      }
    }
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
      const auto& declared = program_.tensors[t];
      if (declared.role != TensorRole::local && declared.role != TensorRole::temp) continue;
      const bool expanded = declared.expanded();
      if (declared.role == TensorRole::local && !expanded) continue;
      if (expanded ? used[t].size() > 1 : !used[t].empty()) memory_.place_in_workspace(static_cast<int>(t));
    }
  }

  // --- statements on components -------------------------------------------------------------------------------------

  /// Runs `call` for each combination of values of the indices; the others keep their places.
  template <class F>
  void for_each_value(const std::vector<int>& indices, Positions& at, const F& call) const {
    for (const int index : indices) {
      if (program_.extent(index) == 0) return;
      at.of[index] = constant_affine(0);
    }
    while (true) {
      call();
      std::size_t k = indices.size();
      while (k > 0) {
        auto& value = at.of[indices[k - 1]].constant;
        if (++value < program_.extent(indices[k - 1])) break;
        value = 0;
        --k;
      }
      if (k == 0) return;
    }
  }

  /// Indices of the left side in the order of its slots.
  std::vector<int> left_indices(const Expr& target) const {
    std::vector<int> list;
    for (const auto& slot : target.slots) {
      if (slot.index() >= 0 && slot.index() != program_.grid) list.push_back(slot.index());
    }
    return list;
  }

  /// The same as `value`, but in terms of what the left side holds and the operation of the statement.
  static NodeId assigned(KernelLowering& kernel, Assign op, NodeId before, NodeId value) {
    static constexpr OpCode kOps[] = {OpCode::add, OpCode::add, OpCode::sub, OpCode::mul, OpCode::div};
    return kernel.builder.op(kOps[static_cast<std::size_t>(op)], kernel.builder.node(before).type, before, value);
  }

  void check_component(std::size_t k, const Expr& access, int component) const {
    const auto& declared = program_.tensor(access.source);
    if (declared.role == TensorRole::input || declared.role == TensorRole::inout) return;
    if (written_.contains({access.source, component})) return;
    std::vector<std::string> slots;
    std::string text;
    for (const auto value : memory_.components(access.source).stored(component)) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", value);
    }
    throw SpecError(fmt::format(
        "NotWritten: component ({}) of '{}' is read before a statement has written it{}{}", text, declared.name,
        declared.role == TensorRole::output ? "; declare it inout where it brings values" : "", statement(k).where));
  }

  void lower_components(const Group& group) {
    KernelLowering kernel = make_kernel();
    Positions at;
    if (group.on_grid) {
      at.grid = kernel.add_grid_loops();
      ir::Affine point;
      for (std::size_t k = 0; k < at.grid.size(); ++k) {
        point.coefficient.resize(static_cast<std::size_t>(at.grid[k]) + 1);
        point.coefficient[static_cast<std::size_t>(at.grid[k])] = memory_.grid().weights[k];
      }
      at.of[program_.grid] = point;
    }
    for (const auto k : group.statements) {
      current_ = k;
      component_statement(k, kernel, at);
    }
    store_components(kernel, at);
    if (!kernel.builder.program.statements.empty()) sequence_.steps.push_back(kernel.finish());
  }

  void component_statement(std::size_t k, KernelLowering& kernel, Positions at) {
    const auto& made = statement(k);
    const auto& left = target(k);
    const auto& value = program_.expr(made.value);
    const auto type = tensor(k).type;
    const auto compute = arithmetic(type);
    std::map<int, NodeId> results;  // assigned by this statement: visible only after the whole statement
    for_each_value(left_indices(left), at, [&] {
      const auto component = kernel.component(left, at);
      // A component that several multi-indices share has one value: that of the first.
      if (component.sign == 0 || results.contains(component.number)) return;
      const auto before = [&] {
        check_component(k, left, component.number);
        const auto known = kernel.current.find({left.source, component.number});
        const auto node =
            known != kernel.current.end() ? known->second : kernel.load(left.source, component.number, at);
        return kernel.builder.cast(node, compute);
      };
      NodeId result = -1;
      if (value.kind == Kind::guard) {
        // Where the condition is false the component keeps its value.
        auto there = kernel.value_as(value.operands[1], compute, at);
        if (component.sign < 0) there = kernel.builder.op(OpCode::neg, compute, there);
        if (made.op != Assign::set) there = assigned(kernel, made.op, before(), there);
        result = kernel.builder.op(OpCode::select, compute, kernel.truth(value.operands[0], at), there, before());
      } else if (const auto moved = kernel.component_itself(made.value, at);
                 moved >= 0 && made.op == Assign::set && component.sign > 0 && value.type == type) {
        result = moved;  // copied bit by bit
      } else {
        result = kernel.value_as(made.value, compute, at);
        const bool turned = component.sign < 0 && made.op != Assign::multiply && made.op != Assign::divide;
        if (turned) result = kernel.builder.op(OpCode::neg, compute, result);
        if (made.op != Assign::set) result = assigned(kernel, made.op, before(), result);
      }
      results[component.number] = kernel.builder.cast(result, type);
    });
    for (const auto& [component, node] : results) {
      kernel.current[{left.source, component}] = node;
      written_.insert({left.source, component});
    }
    kernel.forget();
  }

  void store_components(KernelLowering& kernel, const Positions& at) {
    std::set<int> stored;  // tensors
    for (const auto& [place, node] : kernel.current) {
      if (!memory_.has_place(place.first)) continue;
      const auto storage = memory_.storage(place.first, place.second);
      kernel.store(storage, kernel.offset(place.first, place.second, at), node);
      stored.insert(place.first);
    }
    // A kernel reads what it writes at its own elements alone. Components that it reads and leaves are written back.
    for (const int t : stored) {
      for (int c = 0; c < memory_.components(t).count(); ++c) {
        const auto known = kernel.read.find({t, c});
        if (known == kernel.read.end() || kernel.current.contains({t, c})) continue;
        if (program_.tensor(t).form.storage == Storage::pointers) continue;
        kernel.store(memory_.storage(t, c), kernel.offset(t, c, at), known->second);
      }
    }
  }

  // --- statements on loops ------------------------------------------------------------------------------------------

  /// A loop for each index of the left side that need not be a constant, in the order of the slots.
  void add_left_loops(const Expr& left, const std::vector<int>& constants, KernelLowering& kernel, Positions& at) {
    std::vector<int> order;
    for (const auto& slot : left.slots) {
      if (slot.index() >= 0) order.push_back(slot.index());
    }
    for (const int index : left.free) {
      if (!contains(order, index)) order.insert(order.begin(), index);  // of a compaction's position
    }
    for (const int index : order) {
      if (contains(constants, index)) continue;
      ir::Affine made;
      if (index == program_.grid) {
        at.grid = kernel.add_grid_loops();
        for (std::size_t k = 0; k < at.grid.size(); ++k) {
          made.coefficient.resize(static_cast<std::size_t>(at.grid[k]) + 1);
          made.coefficient[static_cast<std::size_t>(at.grid[k])] = memory_.grid().weights[k];
        }
      } else {
        (void)add_loop(kernel, name_of(index), program_.extent(index), made);
      }
      at.of[index] = std::move(made);
    }
  }

  /// Indices of the left side that must be constants in what is evaluated.
  std::vector<int> constants_of(const Group& group) {
    const auto& left = target(group.statements.front());
    std::vector<int> made;
    for (const auto k : group.statements) {
      for (const int index : needs_.of(statement(k).value)) {
        if (contains(left.free, index) && !contains(made, index)) made.push_back(index);
      }
    }
    return made;
  }

  bool is_empty(const Expr& left) const {
    return std::any_of(
               left.slots.begin(), left.slots.end(),
               [&](const SlotValue& slot) { return slot.index() >= 0 && program_.extent(slot.index()) == 0; }) ||
           std::any_of(left.free.begin(), left.free.end(), [&](int index) { return program_.extent(index) == 0; });
  }

  void lower_loops(const Group& group) {
    const auto first = group.statements.front();
    current_ = first;
    const auto kind = program_.expr(statement(first).value).kind;
    if (kind == Kind::scan) return lower_scan(first);
    if (is_empty(target(first))) return;
    if (kind == Kind::compact) return lower_compaction(first);
    const auto& left = target(first);
    // Via a temporary where points would read what other points have written.
    const bool detour = reads_elsewhere(first);
    KernelLowering kernel = make_kernel();
    Positions at;
    const auto constants = constants_of(group);
    add_left_loops(left, constants, kernel, at);
    std::vector<std::pair<ir::Affine, NodeId>> results;
    for_each_value(constants, at,
                   [&] { results.emplace_back(kernel.offset(left, at), loop_value(group, detour, kernel, at)); });
    const int home = memory_.storage(left.source, 0);
    if (!detour) {
      for (auto& [offset, node] : results) kernel.store(home, offset, node);
      sequence_.steps.push_back(kernel.finish());
      return;
    }
    const int temporary = add_temporary(left);
    KernelLowering copy = make_kernel();
    Positions there;
    add_left_loops(left, constants, copy, there);
    std::size_t next = 0;
    for_each_value(constants, at, [&] { kernel.store(temporary, dense_offset(left, at), results[next++].second); });
    for_each_value(constants, there, [&] {
      copy.store(home, copy.offset(left, there), copy.load_storage(temporary, dense_offset(left, there)));
    });
    sequence_.steps.push_back(kernel.finish());
    sequence_.steps.push_back(copy.finish());
  }

  /// What a group of statements leaves in its element; with a detour every element has to have a value.
  NodeId loop_value(const Group& group, bool detour, KernelLowering& kernel, const Positions& at) {
    const auto& left = target(group.statements.front());
    const auto type = tensor(group.statements.front()).type;
    const auto compute = arithmetic(type);
    NodeId total = -1;
    for (const auto k : group.statements) {
      const auto& made = statement(k);
      const auto& value = program_.expr(made.value);
      if (total < 0 && made.op != Assign::set) total = kernel.builder.cast(kernel.load(left, at), compute);
      if (value.kind == Kind::access && made.op == Assign::set && value.type == type &&
          !program_.tensor(value.source).expanded() && program_.tensor(value.source).role != TensorRole::local &&
          group.statements.size() == 1) {
        return kernel.load(value, at);  // copied bit by bit
      }
      if (value.kind == Kind::guard) {  // where it does not hold, nothing is stored
        auto there = kernel.value_as(value.operands[1], compute, at);
        if (made.op != Assign::set) there = assigned(kernel, made.op, total, there);
        const auto holds = kernel.truth(value.operands[0], at);
        if (!detour) return kernel.builder.guard(holds, kernel.builder.cast(there, type));
        const auto before = kernel.builder.cast(kernel.load(left, at), compute);
        return kernel.builder.cast(kernel.builder.op(OpCode::select, compute, holds, there, before), type);
      }
      const auto there = kernel.value_as(made.value, compute, at);
      total = total < 0 ? there : assigned(kernel, made.op, total, there);
    }
    return kernel.builder.cast(total, type);
  }

  /// Row-major over the indices of the left side.
  ir::Affine dense_offset(const Expr& left, const Positions& at) const {
    ir::Affine made;
    std::int64_t step = 1;
    for (std::size_t k = left.slots.size(); k-- > 0;) {
      const int index = left.slots[k].index();
      if (index < 0) continue;
      const auto& affine = at.of.at(index);
      made.coefficient.resize(std::max(made.coefficient.size(), affine.coefficient.size()));
      for (std::size_t q = 0; q < affine.coefficient.size(); ++q) made.coefficient[q] += step * affine.coefficient[q];
      made.constant += step * affine.constant;
      step *= program_.extent(index);
    }
    return made;
  }

  int add_temporary(const Expr& left) {
    std::int64_t elements = 1;
    for (const auto& slot : left.slots) {
      if (slot.index() >= 0) elements *= program_.extent(slot.index());
    }
    return memory_.add_workspace(program_.tensor(left.source).name + "_new", program_.tensor(left.source).type,
                                 elements);
  }

  /// A loop over an index, as the positions of expressions in it.
  static int add_loop(KernelLowering& kernel, const std::string& name, std::int64_t extent, ir::Affine& affine) {
    const int loop = kernel.add_loop(name, extent);
    affine.coefficient.resize(static_cast<std::size_t>(loop) + 1);
    affine.coefficient.back() = 1;
    return loop;
  }

  void lower_scan(std::size_t k) {
    const auto& left = target(k);
    const auto& value = program_.expr(statement(k).value);
    Scan scan{statement(k), left, value.over.front(), value.op, value.exclusive, tensor(k).type};
    for (std::size_t s = 0; s < left.slots.size(); ++s) {
      if (left.slots[s].index() == scan.over) scan.step = memory_.stride(left.source, s);
    }
    for (const int index : left.free) {
      if (index != scan.over && program_.extent(index) == 0) return;
    }
    for (const int index : needs_.of(statement(k).value)) {
      if (!contains(left.free, index)) continue;
      throw SpecError(
          fmt::format("a scan with '{}' free cannot read components of tensors on a grid or with a symmetry; "
                      "copy them to a temp first{}",
                      program_.indices[static_cast<std::size_t>(index)].name, statement(k).where));
    }
    if (reads(k, left.source)) {  // the scanned values are saved before the scan overwrites them
      const int temporary = add_temporary(left);
      KernelLowering kernel = make_kernel();
      Positions at;
      add_left_loops(left, {}, kernel, at);
      kernel.store(temporary, dense_offset(left, at), scan_body(scan, kernel, at));
      sequence_.steps.push_back(kernel.finish());
      scan.source = temporary;
    }
    KernelLowering kernel = make_kernel();
    Positions at;
    add_left_loops(left, {scan.over}, kernel, at);
    auto first = at;
    first.of[scan.over] = constant_affine(0);
    const int loop = add_loop(kernel, name_of(scan.over), program_.extent(scan.over), at.of[scan.over]);
    const auto body = scan_body(scan, kernel, at);
    kernel.store(memory_.storage(left.source, 0), kernel.offset(left, first),
                 kernel.builder.scan(scan.op, body, loop, scan.exclusive), scan.step);
    sequence_.steps.push_back(kernel.finish());
  }

  struct Scan {
    const Statement& statement;
    const Expr& left;
    int over;
    OpCode op;
    bool exclusive;
    DType type;
    std::int64_t step = 0;
    int source = -1;  ///< storage of what is scanned; -1: it is computed
  };

  NodeId scan_body(const Scan& scan, KernelLowering& kernel, const Positions& at) const {
    if (scan.source >= 0) return kernel.load_storage(scan.source, dense_offset(scan.left, at));
    return kernel.value_as(program_.expr(scan.statement.value).operands[0], scan.type, at);
  }

  void lower_compaction(std::size_t k) {
    const auto& left = target(k);
    const auto& value = program_.expr(statement(k).value);
    const int over = value.over.front();
    if (reads(k, left.source)) {
      throw SpecError(fmt::format("AliasError: a compaction reads '{}', which it writes; copy it to a temp first{}",
                                  tensor(k).name, statement(k).where));
    }
    KernelLowering kernel = make_kernel();
    Positions at;
    add_left_loops(left, {}, kernel, at);
    std::int64_t step = 0;
    NodeId base = -1;
    for (std::size_t s = 0; s < left.slots.size(); ++s) {
      if (left.slots[s].position < 0) continue;
      step = memory_.stride(left.source, s);
      base = kernel.value_as(left.slots[s].position, DType::i64, at);
      if (step != 1) {
        base = kernel.builder.op(OpCode::mul, DType::i64, base,
                                 kernel.builder.integer(static_cast<std::uint64_t>(step), DType::i64));
      }
    }
    const int loop = add_loop(kernel, name_of(over), program_.extent(over), at.of[over]);
    const auto predicate = kernel.truth(value.operands[0], at);
    const auto payload = kernel.value_as(value.operands[1], tensor(k).type, at);
    kernel.store(memory_.storage(left.source, 0), kernel.offset(left, at),
                 kernel.builder.compact(predicate, payload, base, loop), step);
    sequence_.steps.push_back(kernel.finish());
  }

  const ProgramGraph& program_;
  Needs needs_;
  Memory memory_;
  ir::Sequence sequence_;
  std::vector<Group> groups_;
  std::set<std::pair<int, int>> written_;  // components
  std::size_t current_ = 0;                // statement
};

}  // namespace
}  // namespace ricci::formula

namespace ricci::ir {

Sequence lower(const formula::ProgramGraph& program) {
  formula::check_complete(program);
  return on_stack_of(stack_for(static_cast<std::size_t>(program.deepest())), [&] {
    const auto bordered = formula::with_borders(program);
    if (program.exact) return formula::Lowering(bordered).run();
    const auto ordered = formula::factorised(bordered);
    return formula::Lowering(ordered).run();
  });
}

}  // namespace ricci::ir
