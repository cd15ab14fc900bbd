// Sums of products, in the order that takes the fewest operations.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "frontend/index_set.hpp"
#include "lower/lower_program.hpp"
#include "lower/memory.hpp"
#include "lower/path.hpp"

namespace ricci::formula {
namespace {

constexpr std::size_t kMostFactors = 8;  // exhaustive search up to this number of factors
/// A nest of loops is left alone unless another order takes this many times fewer operations: it costs temps.
constexpr double kWorthTemps = 2;
/// Temps are at most this many times as large as what the statement reads and writes.
constexpr double kLargestTemp = 4;

class Factoriser {
 public:
  explicit Factoriser(const ProgramGraph& program) : from_(program), made_(program) {
    made_.clear_statements();
    made_.einstein = false;
    for (const auto& tensor : made_.tensors) names_.take(tensor.name);
    for (const auto& index : made_.indices) names_.take(index.name);
    for (const auto& param : made_.params) names_.take(param.name);
  }

  ProgramGraph run() {
    for (const auto& statement : from_.statements) {
      auto changed = statement;
      const auto& target = made_.expr(statement.target);
      on_components_ = made_.tensor(target.source).expanded();
      const bool definition = made_.tensor(target.source).role == TensorRole::local && !on_components_;
      rewritten_.clear();
      target_ = statement.target;
      // Locals without a grid are inlined where they are used; their surroundings are not known here.
      if (on_components_) {
        changed.value = fields(statement.value);
      } else if (!definition && !target.on_grid) {
        changed.value = loops(statement.value);
      }
      made_.add_statement(std::move(changed));
    }
    return std::move(made_);
  }

 private:
  /// The expression with other operands.
  ExprId with(ExprId id, std::vector<ExprId> operands) {
    Expr changed = made_.expr(id);
    if (changed.operands == operands) return id;
    changed.operands = std::move(operands);
    changed.depth = 1;
    return made_.intern(std::move(changed), {});
  }

  /// Every sum inside of an expression on components.
  ExprId fields(ExprId id) {
    if (const auto known = rewritten_.find(id); known != rewritten_.end()) return known->second;
    auto operands = made_.expr(id).operands;
    for (auto& operand : operands) operand = fields(operand);
    const auto changed = contracted(with(id, std::move(operands)), {});
    rewritten_.emplace(id, changed);
    return changed;
  }

  /// The sums that a statement adds, subtracts and scales. Sums inside of functions and guards stay: hoisting them
  /// might compute unneeded values.
  ExprId loops(ExprId id) {
    if (const auto known = rewritten_.find(id); known != rewritten_.end()) return known->second;
    const auto changed = loops_once(id);
    rewritten_.emplace(id, changed);
    return changed;
  }

  ExprId loops_once(ExprId id) {
    const auto& expr = made_.expr(id);
    if (expr.strict) return id;
    if (expr.kind == Kind::reduce) {
      const auto around = made_.expr(target_).free;  // a copy: the graph grows meanwhile
      return contracted(id, around);
    }
    const bool linear = expr.kind == Kind::op && (expr.op == OpCode::add || expr.op == OpCode::sub ||
                                                  expr.op == OpCode::neg || expr.op == OpCode::mul);
    if (!linear) return id;
    auto operands = expr.operands;
    for (auto& operand : operands) operand = loops(operand);
    return with(id, std::move(operands));
  }

  /// Takes products apart; false where a factor has another type than the sum, so that another order would round
  /// otherwise.
  bool collect(ExprId id, DType type, std::vector<int>& over, std::vector<ExprId>& factors, bool& negative) const {
    if (factors.size() > kMostFactors) return false;
    const auto& expr = made_.expr(id);
    if (expr.kind == Kind::op && expr.op == OpCode::mul && expr.type == type) {
      return collect(expr.operands[0], type, over, factors, negative) &&
             collect(expr.operands[1], type, over, factors, negative);
    }
    if (expr.kind == Kind::op && expr.op == OpCode::neg && expr.type == type) {
      negative = !negative;
      return collect(expr.operands[0], type, over, factors, negative);
    }
    const bool disjoint = std::none_of(expr.over.begin(), expr.over.end(), [&](int q) { return contains(over, q); });
    if (expr.kind == Kind::reduce && expr.op == OpCode::add && expr.type == type && disjoint) {
      over.insert(over.end(), expr.over.begin(), expr.over.end());
      return collect(expr.operands[0], type, over, factors, negative);
    }
    factors.push_back(id);
    return expr.literal || arithmetic(expr.type) == type;
  }

  /// A sum of products in its best order. `around`: indices of the loops that it stands in, for statements on loops.
  ExprId contracted(ExprId id, const std::vector<int>& around) {
    const auto expr = made_.expr(id);
    if (expr.kind != Kind::reduce || expr.op != OpCode::add) return id;
    std::vector<ExprId> factors;
    auto over = expr.over;
    bool negative = false;
    if (!collect(expr.operands[0], expr.type, over, factors, negative)) return id;
    if (factors.size() < 2 || factors.size() > kMostFactors || contains(over, made_.grid)) return id;
    ir::EinsumProblem problem;
    std::set<int> all;
    for (const auto factor : factors) {
      problem.spec.operands.push_back(term(made_.expr(factor).free));
      problem.inputs.push_back(layout(expr.type, made_.expr(factor).free));
      all.insert(made_.expr(factor).free.begin(), made_.expr(factor).free.end());
    }
    problem.spec.output = term(expr.free);
    problem.output = layout(expr.type, expr.free);
    if (std::any_of(all.begin(), all.end(), [&](int q) { return made_.extent(q) == 0; })) return id;
    // An index without a factor, which merged sums may leave, is not handled here.
    if (!std::all_of(over.begin(), over.end(), [&](int q) { return all.contains(q); })) return id;
    const auto path = ir::find_path(problem);
    if (path.steps.size() < 2 || path.flops >= path.single_kernel_flops) return id;
    if (!on_components_ && !worth_temps(path, factors, expr)) return id;
    auto result = follow(path, factors, over, around);
    if (negative) result = made_.negate(result, {});
    return result;
  }

  ExprId follow(const ir::Path& path, std::vector<ExprId> results, std::vector<int> open,
                const std::vector<int>& around) {
    for (std::size_t k = 0; k < path.steps.size(); ++k) {
      const auto& step = path.steps[k];
      auto value = results[static_cast<std::size_t>(step.operands[0])];
      if (step.operands.size() == 2) {
        value = made_.binary(OpCode::mul, value, results[static_cast<std::size_t>(step.operands[1])], {});
      }
      const bool last = k + 1 == path.steps.size();
      std::vector<int> summed;
      for (const int q : made_.expr(value).free) {
        const auto& name = made_.indices[static_cast<std::size_t>(q)].name;
        const bool kept = std::any_of(step.spec.output.begin(), step.spec.output.end(),
                                      [&](const Spec::Axis& axis) { return axis.name == name; });
        // The path knows no indices of extent 1: they go last.
        const bool unit = made_.extent(q) == 1 && !last;
        if (contains(open, q) && !kept && !unit) summed.push_back(q);
      }
      for (const int q : summed) open.erase(std::find(open.begin(), open.end(), q));
      if (!summed.empty()) value = made_.reduce(OpCode::add, summed, value, {});
      const bool inside =
          std::includes(made_.expr(value).free.begin(), made_.expr(value).free.end(), around.begin(), around.end());
      if (!on_components_ && !last && !inside) value = put_aside(value);
      results.push_back(value);
    }
    return results.back();
  }

  bool worth_temps(const ir::Path& path, const std::vector<ExprId>& factors, const Expr& sum) const {
    if (path.flops * kWorthTemps > path.single_kernel_flops) return false;
    double largest = elements(sum.free);
    for (const auto factor : factors) largest = std::max(largest, elements(made_.expr(factor).free));
    return path.largest_intermediate <= kLargestTemp * largest;
  }

  /// A temp that holds the value, filled by a statement before this one; an access to it.
  ExprId put_aside(ExprId value) {
    const auto& expr = made_.expr(value);
    TensorDecl declared;
    declared.name = names_.unique(made_.tensor(made_.expr(target_).source).name + "_part");
    declared.role = TensorRole::temp;
    declared.type = expr.type;
    std::vector<SlotValue> slots;
    for (const int q : expr.free) {
      declared.slots.push_back({{{{q, 1}}, 0}});
      slots.push_back({{{{q, 1}}, 0}});
    }
    const int tensor = made_.declare_tensor(std::move(declared), {});
    made_.record(tensor, slots, Assign::set, value, false, {});
    return made_.access(tensor, std::move(slots), {});
  }

  double elements(const std::vector<int>& free) const {
    double product = 1;
    for (const int q : free) product *= static_cast<double>(made_.extent(q));
    return product;
  }

  Spec::Term term(const std::vector<int>& free) const {
    Spec::Term made;
    for (const int q : free) made.push_back({made_.indices[static_cast<std::size_t>(q)].name});
    return made;
  }

  Layout layout(DType type, const std::vector<int>& free) const {
    std::vector<std::int64_t> extents;
    for (const int q : free) extents.push_back(made_.extent(q));
    return Layout::row_major(type, std::move(extents));
  }

  const ProgramGraph& from_;
  ProgramGraph made_;
  bool on_components_ = false;
  ExprId target_ = -1;
  std::map<ExprId, ExprId> rewritten_;
  Names names_;  // taken in the program
};

}  // namespace

ProgramGraph factorised(const ProgramGraph& program) { return Factoriser(program).run(); }

}  // namespace ricci::formula
