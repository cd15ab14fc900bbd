// Checks of statements: ranks, extents, indices, symmetries, types. Errors name the place in the user's text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "frontend/formula.hpp"
#include "frontend/index_set.hpp"
#include "frontend/symmetry.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::formula {
namespace {

/// Calls f(id) for every expression that those are made of, themselves included, once.
template <class F>
void for_each_part(const ProgramGraph& program, std::vector<ExprId> open, F f) {
  std::unordered_set<ExprId> seen;
  while (!open.empty()) {
    const auto id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    f(id);
    const auto& operands = program.expr(id).operands;
    open.insert(open.end(), operands.begin(), operands.end());
  }
}

/// What a slot with an offset or with several indices runs over.
std::string reached(const ProgramGraph& program, const SlotValue& slot) {
  const auto reach = *program.range(slot);
  if (slot.index() >= 0) {
    return fmt::format("'{}' reaches {}", print_slot(program, slot), reach.least < 0 ? reach.least : reach.greatest);
  }
  std::vector<std::string> extents;
  for (const auto& term : slot.terms) {
    extents.push_back(
        fmt::format("{} = {}", program.indices[static_cast<std::size_t>(term.index)].name, program.extent(term.index)));
  }
  return fmt::format("'{}' runs over {}..{} ({})", print_slot(program, slot), reach.least, reach.greatest,
                     fmt::join(extents, ", "));
}

}  // namespace

/// `longer`: a slot that has one value more than its index, as the totals of an exclusive scan ask for; or -1.
void ProgramGraph::check_slots(int id, const std::vector<SlotValue>& slots, int longer, bool read,
                               const SourcePosition& place) const {
  const auto& declared = tensor(id);
  const bool anywhere = read && declared.form.outside;
  if (slots.size() != declared.slots.size()) {
    fail(place, fmt::format("RankError: '{}' has {} slot{}, got {}", declared.name, declared.slots.size(),
                            declared.slots.size() == 1 ? "" : "s", slots.size()));
  }
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto& slot = slots[k];
    const auto& declared_slot = declared.slots[k];
    const auto values = extent(declared_slot);
    if (slot.position >= 0 || (anywhere && (slot.fixed() || slot.shifted))) continue;
    if (slot.fixed()) {
      if (slot.offset < 0 || (values != kOpenExtent && slot.offset >= values)) {
        fail_shape(place, fmt::format("RangeError: '{}' is out of slot {} of '{}'{}", slot.offset, k, declared.name,
                                      values > 0 ? fmt::format(", which has {} values (0..{})", values, values - 1)
                                                 : std::string(values == 0 ? ", which has none" : "")));
      }
      continue;
    }
    const int own = slot.index();  // -1: there are factors, or several indices
    if (own >= 0 && own == declared_slot.index() && !slot.shifted && declared_slot.offset >= 0) {
      // The slot is as long as the index, or longer by what its declaration says.
      if (static_cast<int>(k) != longer || declared_slot.offset == 1) continue;
    }
    const auto reach = range(slot);
    if (!reach || values == kOpenExtent) {
      if (static_cast<int>(k) != longer || own < 0 || own != declared_slot.index()) continue;
      fail_shape(place, fmt::format("ExtentError: an exclusive scan over index {} has one result more, slot {} of '{}' "
                                    "has not; declare it {}({}+1)",
                                    indices[static_cast<std::size_t>(own)].name, k, declared.name, declared.name,
                                    indices[static_cast<std::size_t>(own)].name));
    }
    if (slot.shifted) {
      const bool empty = std::any_of(slot.terms.begin(), slot.terms.end(),
                                     [&](const SlotTerm& term) { return extent(term.index) == 0; });
      if (empty || (reach->least >= 0 && reach->greatest < values)) continue;
      fail_shape(place, fmt::format("RangeError: {}, slot {} of '{}' has {} values (0..{})", reached(*this, slot), k,
                                    declared.name, values, values - 1));
    }
    const auto& index = indices[static_cast<std::size_t>(own)];
    const auto wanted = index.extent + (static_cast<int>(k) == longer ? 1 : 0);
    if (wanted == values) continue;
    if (static_cast<int>(k) == longer) {
      fail_shape(place,
                 fmt::format("ExtentError: an exclusive scan over index {} ({} values) has {} results, slot {} of "
                             "'{}' has {}",
                             index.name, index.extent, wanted, k, declared.name, values));
    }
    fail_shape(place, fmt::format("ExtentError: index {} has {} values, slot {} of '{}' has {}{}", index.name,
                                  index.extent, k, declared.name, values,
                                  index.extent < values ? fmt::format("; write {}+0 for its first values", index.name)
                                                        : std::string()));
  }
}

void ProgramGraph::check_symmetry_words(int id, const std::vector<SlotValue>& slots,
                                        const std::vector<Symmetry>& stated, const SourcePosition& place) const {
  const auto& declared = tensor(id);
  if (slots.size() != declared.slots.size()) return check_slots(id, slots, -1, true, place);  // which refuses them
  std::vector<Symmetry> kept;
  for (auto symmetry : stated) {
    std::sort(symmetry.slots.begin(), symmetry.slots.end());
    bool effective = true;
    for (const int p : symmetry.slots) {
      if (p < 0 || p >= declared.rank()) {
        fail(place, fmt::format("RangeError: a symmetry of '{}' names slot {}, it has {} slots", declared.name, p,
                                declared.rank()));
      }
      const auto& first = declared.slots[static_cast<std::size_t>(symmetry.slots.front())];
      const auto& here = declared.slots[static_cast<std::size_t>(p)];
      if (extent(first) != extent(here)) {
        fail_shape(place, fmt::format("ExtentError: slots {} and {} of '{}' have {} and {} values; they cannot be "
                                      "symmetric",
                                      symmetry.slots.front(), p, declared.name, extent(first), extent(here)));
      }
      effective = effective && !slots[static_cast<std::size_t>(p)].fixed();
    }
    if (effective) kept.push_back(std::move(symmetry));  // a fixed slot leaves nothing to permute
  }
  const auto& stored = declared.form.symmetry.list;
  const bool all_known = std::all_of(kept.begin(), kept.end(), [&](const Symmetry& symmetry) {
    return std::find(stored.begin(), stored.end(), symmetry) != stored.end();
  });
  const auto applicable = std::count_if(stored.begin(), stored.end(), [&](const Symmetry& symmetry) {
    return std::all_of(symmetry.slots.begin(), symmetry.slots.end(),
                       [&](int p) { return !slots[static_cast<std::size_t>(p)].fixed(); });
  });
  if (all_known && static_cast<std::ptrdiff_t>(kept.size()) == applicable) return;
  fail(place, fmt::format("SymmetryMismatch: '{}' stored as {}, statement says {}", declared.name,
                          print_symmetries(stored), print_symmetries(stated)));
}

void ProgramGraph::check_target(const Expr& target, const Expr& value, Assign op, const SourcePosition& place) const {
  const auto& declared = tensor(target.source);
  const auto left = fmt::format("{}{}", declared.name, braces(*this, target.free));
  for (const int bound : value.bound) {
    if (contains(target.free, bound) || (bound == grid && target.on_grid)) {
      fail(place, fmt::format("SumError: '{}' is summed over on the right side and is also free on the left side",
                              indices[static_cast<std::size_t>(bound)].name));
    }
  }
  if (value.on_grid && !target.on_grid) {
    fail(place, fmt::format("IndexMismatch: assignment to {}, which is not on the grid, from an expression that is; "
                            "reduce over {} first",
                            left, indices[static_cast<std::size_t>(grid)].name));
  }
  const bool strict = target.strict || value.strict;
  if (strict && !value.repeated.empty()) {
    fail(place, fmt::format("RepeatedIndex: '{}' stands in two factors and is not summed over; write diag(...) where "
                            "that is meant",
                            indices[static_cast<std::size_t>(value.repeated.front())].name));
  }
  const auto mismatch = [&] {
    fail(place,
         fmt::format("IndexMismatch: assignment to {} from expression with {}", left, braces(*this, value.free)));
  };
  if (op == Assign::multiply || op == Assign::divide) {
    if (strict && !value.free.empty()) {
      fail(place,
           fmt::format("RankError: '{}' needs a rank-0 right side, got {}", symbol(op), braces(*this, value.free)));
    }
  } else if (strict && target.free != value.free && !value.free.empty()) {
    mismatch();
  } else if (strict && value.free.empty() && !target.free.empty() && op != Assign::set) {
    fail(place, fmt::format("RankError: '{}' adds a rank-0 expression to {}", symbol(op), left));
  }
  if (!std::includes(target.free.begin(), target.free.end(), value.free.begin(), value.free.end())) mismatch();
  if (is_complex(value.type) && !is_complex(target.type)) {
    fail(place, fmt::format("TypeError: '{}' is {} and cannot hold a {} value", declared.name, ricci::name(target.type),
                            ricci::name(value.type)));
  }
  const bool whole = value.literal && value.integral;
  if (!is_integer(value.type) && is_integer(target.type) && !whole) {
    fail(place, fmt::format("TypeError: '{}' is {} and cannot hold a {} value; nothing rounds to integers",
                            declared.name, ricci::name(target.type), ricci::name(value.type)));
  }
}

/// Outputs, temps and locals hold nothing before a statement has written them.
void ProgramGraph::check_written(const Expr& target, Assign op, ExprId value, const SourcePosition& place) const {
  const auto known = [&](int id) {
    const auto role = tensor(id).role;
    return role == TensorRole::input || role == TensorRole::inout || first_statement(id) != nullptr;
  };
  const auto require = [&](int id) {
    if (known(id)) return;
    const bool output = tensor(id).role == TensorRole::output;
    fail(place, fmt::format("NotWritten: '{}' is read before a statement has written it{}", tensor(id).name,
                            output ? "; declare it inout where it brings values" : ""));
  };
  if (op != Assign::set) require(target.source);
  std::vector<ExprId> read{value};
  read.insert(read.end(), target.operands.begin(), target.operands.end());
  for_each_part(*this, std::move(read), [&](ExprId id) {
    if (expr(id).kind == Kind::access) require(expr(id).source);
  });
}

void ProgramGraph::record(int id, std::vector<SlotValue> slots, Assign op, ExprId value_id, bool asserted,
                          const SourcePosition& place) {
  const auto& declared = tensor(id);
  const auto value = expr(value_id);
  if (declared.role == TensorRole::input) {
    fail(place, fmt::format("'{}' is an input and cannot be written; declare it output or inout", declared.name));
  }
  const bool scanned = value.kind == Kind::scan, compacted = value.kind == Kind::compact;
  int longer = -1;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto& slot = slots[k];
    if (slot.position >= 0) {
      if (!compacted) {
        fail(place, fmt::format("slot {} of '{}' is an expression; only a compaction writes where values say", k,
                                declared.name));
      }
      if (!is_integer(expr(slot.position).type)) {
        fail(place, fmt::format("TypeError: the position in slot {} of '{}' is {}, not an integer", k, declared.name,
                                ricci::name(expr(slot.position).type)));
      }
    }
    if (slot.position < 0 && !slot.fixed() && slot.index() < 0) {
      fail(place, fmt::format("slot {} of the left side is '{}'; a statement writes at one index in a slot, with the "
                              "factor 1: give what it writes to a slot an index of its own",
                              k, print_slot(*this, slot)));
    }
    if (scanned && slot.index() == value.over.front()) {
      if (slot.shifted) fail(place, "RangeError: the slot of a scan has no offset");
      if (value.exclusive) longer = static_cast<int>(k);
    }
    for (std::size_t m = 0; m < k; ++m) {
      if (slot.index() < 0 || slots[m].index() != slot.index()) continue;
      fail(place, fmt::format("RepeatedIndex: '{}' appears in slots {} and {} of the left side",
                              indices[static_cast<std::size_t>(slot.index())].name, m, k));
    }
  }
  check_slots(id, slots, longer, false, place);
  auto target = plain_access(id, slots);
  target.exclusive = longer >= 0;
  for (const auto& slot : slots) {
    if (slot.position < 0) continue;
    target.operands.push_back(slot.position);
    target.free.insert(target.free.end(), expr(slot.position).free.begin(), expr(slot.position).free.end());
  }
  std::sort(target.free.begin(), target.free.end());
  target.free.erase(std::unique(target.free.begin(), target.free.end()), target.free.end());
  if (compacted) {
    const auto positions =
        std::count_if(slots.begin(), slots.end(), [](const SlotValue& s) { return s.position >= 0; });
    if (positions != 1) {
      fail(place, "the left side of a compaction has one slot with the first position, as in arr(off(i))");
    }
    if (declared.form.outside) {
      fail(place, fmt::format("a compaction drops what lies outside of '{}', which has a value there", declared.name));
    }
    if (target.strict || op != Assign::set || declared.role == TensorRole::local) {
      fail(place, "a compaction is assigned with '=' to a tensor with storage, without grid and symmetry");
    }
  }
  if (scanned) {
    if (!contains(target.free, value.over.front())) {
      fail(place, fmt::format("SumError: '{}' is scanned over and does not stand on the left side",
                              indices[static_cast<std::size_t>(value.over.front())].name));
    }
    if (is_half(declared.type)) {
      fail(place, fmt::format("TypeError: nothing is computed in {}; scan into f32", ricci::name(declared.type)));
    }
    if (target.strict || value.on_grid || op != Assign::set || declared.role == TensorRole::local) {
      fail(place, "a scan is assigned with '=' to a tensor with storage, without grid and symmetry");
    }
  }
  target.slots = std::move(slots);
  check_target(target, value, op, place);
  check_written(target, op, value_id, place);
  if (declared.role == TensorRole::local && !declared.expanded()) {
    const bool plain = op == Assign::set && std::all_of(target.slots.begin(), target.slots.end(), [](const auto& slot) {
                         return slot.index() >= 0 && !slot.shifted;
                       });
    const bool again = definition(*this, id) != nullptr;
    if (!plain || again || value.on_grid || value.strict) {
      fail(place, fmt::format("'{}' is a local without a grid: a function of its indices, defined once with '=', plain "
                              "indices and nothing on a grid; declare it temp for anything else",
                              declared.name));
    }
  }
  const auto target_id = intern(std::move(target), place);
  Statement made{target_id, op, value_id, asserted, place.describe()};
  check_symmetry(*this, made);
  // A local without a grid is put in where it is read: so deep is what reads it.
  if (declared.role == TensorRole::local && !declared.expanded()) {
    exprs[static_cast<std::size_t>(target_id)].depth = expr(value_id).depth + 1;
  }
  add_statement(std::move(made));
}

void ProgramGraph::add_statement(Statement statement) {
  const auto written = static_cast<std::size_t>(expr(statement.target).source);
  if (first_statement_.size() <= written) first_statement_.resize(tensors.size(), -1);
  if (first_statement_[written] < 0) first_statement_[written] = static_cast<int>(statements.size());
  deepest_ = std::max({deepest_, expr(statement.target).depth, expr(statement.value).depth});
  statements.push_back(std::move(statement));
}

void ProgramGraph::clear_statements() {
  statements.clear();
  first_statement_.clear();
  deepest_ = 0;
  probed = {};
}

const Statement* ProgramGraph::first_statement(int tensor) const noexcept {
  const auto t = static_cast<std::size_t>(tensor);
  const bool written = tensor >= 0 && t < first_statement_.size() && first_statement_[t] >= 0;
  return written ? &statements[static_cast<std::size_t>(first_statement_[t])] : nullptr;
}

int ProgramGraph::deepest() const noexcept { return deepest_; }

void ProgramGraph::check_extents(const Statement& statement) const {
  try {
    for_each_part(*this, {statement.target, statement.value}, [&](ExprId id) {
      const auto& here = expr(id);
      if (here.kind != Kind::access) return;
      int longer = -1;
      const auto& value = expr(statement.value);
      for (std::size_t k = 0; id == statement.target && here.exclusive && k < here.slots.size(); ++k) {
        if (here.slots[k].index() == value.over.front()) longer = static_cast<int>(k);
      }
      check_slots(here.source, here.slots, longer, id != statement.target, {});
    });
  } catch (const ShapeError& error) {
    throw ShapeError(error.what() + statement.where);
  }
}

void ProgramGraph::check_extents() const {
  for (const auto& statement : statements) check_extents(statement);
}

const Statement* definition(const ProgramGraph& program, int tensor) noexcept {
  return program.first_statement(tensor);
}

}  // namespace ricci::formula
