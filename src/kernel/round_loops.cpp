#include "kernel/round_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "ricci/error.hpp"

namespace ricci::kernel::cuda {
namespace {

/// A condition of a loop as one of how often it has gone round: values that it goes on by are divided out.
Condition in_rounds(const Condition& end, Var var) {
  const auto step = end.value.coefficient(var);
  bool whole = step > 0 && end.value.constant % step == 0;
  Affine begun(whole ? end.value.constant / step : 0);
  for (const auto& term : end.value.terms) {
    whole = whole && term.coefficient % step == 0;
    if (whole && term.var != var) begun = begun + Affine::of(term.var, term.coefficient / step);
  }
  if (!whole) throw PlanError("schedule: a pipeline's outermost loop ends inside of a round");
  return {begun, (end.below + step - 1) / step};
}

/// Whether all copies of a body bring zeros from the end of an index on.
bool copies_zeros(const Kernel& kernel, const Body& body, const Condition& end) {
  const auto is_behind = [&](const Affine& value) {
    const auto further = value - end.value;
    return further.constant == 0 &&
           std::all_of(further.terms.begin(), further.terms.end(), [](const Term& t) { return t.coefficient > 0; });
  };
  return std::all_of(body.begin(), body.end(), [&](const Statement& statement) {
    const auto* copy = std::get_if<Copy>(&statement.node);
    if (copy != nullptr && copy->boxes) {  // past the extent of the tensor, not of a part of the sum
      const auto& dimensions = kernel.maps[static_cast<std::size_t>(copy->boxes->map)].dimensions;
      for (std::size_t k = 0; k < dimensions.size(); ++k)
        if (dimensions[k].extent == end.below && is_behind(copy->boxes->at[k])) return true;
      return false;
    }
    return copy == nullptr || std::any_of(copy->when.begin(), copy->when.end(), [&](const Condition& when) {
             return when.below == end.below && is_behind(when.value);
           });
  });
}

}  // namespace

std::vector<const Loop*> nest_of(const Loop& loop) {
  std::vector<const Loop*> nest = {&loop};
  while (nest.back()->stages == 1 && nest.back()->body.size() == 1) {
    const auto* inner = std::get_if<Loop>(&nest.back()->body.front().node);
    if (inner == nullptr || inner->bind != Bind::serial) break;
    nest.push_back(inner);
  }
  return nest;
}

std::optional<TileLoop> tile_loop(const Loop& loop) {
  TileLoop tiles{&loop};
  for (const auto& statement : loop.body) {
    if (std::holds_alternative<Copy>(statement.node)) return std::nullopt;
    const auto* rounds = std::get_if<Loop>(&statement.node);
    if (rounds == nullptr) {
      (tiles.rounds.empty() ? tiles.before : tiles.after).push_back(statement);
      continue;
    }
    if (!tiles.rounds.empty()) return std::nullopt;
    tiles.rounds = nest_of(*rounds);
  }
  if (tiles.rounds.empty() || tiles.rounds.back()->stages == 1) return std::nullopt;
  return tiles;
}

std::vector<Condition> ends_of(const Kernel& kernel, const std::vector<const Loop*>& nest, std::int64_t inner,
                               bool tiles) {
  std::vector<Condition> ends;
  for (const auto& end : nest.front()->when) {
    if (!tiles && copies_zeros(kernel, nest.back()->body, end)) continue;
    const auto [value, below] = in_rounds(end, nest.front()->var);
    ends.push_back({inner * value, inner * below});
  }
  return ends;
}

}  // namespace ricci::kernel::cuda
