// How long reductions are cut: sums of products into equal parts, and vectors of partial results along memory.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/passes/split.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {

inline bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Whether a node that `root` is made of, itself included, is one for which f holds.
template <class F>
bool any_below(const Program& program, NodeId root, F f) {
  Few<bool> used(program.nodes.size());
  used[at(root)] = true;
  for (std::size_t id = at(root) + 1; id-- > 0;) {
    if (!used[id]) continue;
    if (f(program.nodes[id])) return true;
    for (int k = 0; k < operand_count(program.nodes[id]); ++k) used[at(program.nodes[id].operand[k])] = true;
  }
  return false;
}

/// How an index is cut: `tiles` whole ones of `length` values, and `rest` behind them.
struct Cut {
  int index = -1;
  std::int64_t length = 0, tiles = 0, rest = 0;
  std::int64_t row = 1;  ///< neighbours that stay together
  bool across = false;   ///< a part has a value of each tile, not all values of one
  std::int64_t parts() const { return across ? length : tiles; }
};

/// Neighbours of an index of a reduction whose values are combined side by side.
struct Lanes {
  int index = -1;
  std::int64_t count = 1;
};
///   bytes  of them all; 0: there are none
Lanes lanes_of(const Program& program, const Node& node, const std::vector<Cut>& cuts, std::int64_t bytes);

/// Whether a reduction is a sum of products of two loads.
bool sums_products(const Program& program, const Node& node);

/// Indices of such a sum in equal parts, so many that the tiles of all parts are work for all; none where they are
/// without, or where the sums would be too short to be worth partial results. Where parts are whole vectors, an index
/// without such divisors leaves a rest.
///   points, values  of the result, and that each of them sums
std::vector<Cut> cuts_of_products(const Program& program, const Node& node, std::int64_t points, std::int64_t values,
                                  const SplitLimits& limits);

/// A reduction of operands whose values are each used once, and whose neighbours in memory are results: in parts that
/// combine as many values far apart as there may be streams, so that each of these is read from end to end. Nothing for
/// others.
///   elements  that the reduction combines, for all results
std::optional<Cut> cut_across(const Program& program, const Node& node, const std::vector<bool>& depends,
                              std::int64_t elements, const SplitLimits& limits);

/// Parts of a reduction whose values are read once and whose neighbours in memory are results, of which there are fewer
/// than a GPU has threads: each part has every so manieth row. Nothing for others.
///   values  that each of the `points` combines
std::optional<Cut> cut_columns(const Program& program, const Node& node, const std::vector<bool>& depends,
                               std::int64_t points, std::int64_t values, const SplitLimits& limits);

/// Whether a reduction reads an operand of so many elements, each of them once, whose neighbours in memory are results:
/// those that `depends` says. No other operand differs between results.
bool sums_columns(const Program& program, const Node& node, const std::vector<bool>& depends, std::int64_t elements);

/// Whether a reduction uses each value of an operand once.
bool uses_once(const Program& program, const Node& node, std::int64_t points, std::int64_t values);

/// One part of a reduction, whose partial results are neighbours of so many bytes.
struct RowLanes {
  Cut whole;
  std::int64_t bytes = 0;
};
/// Those of a reduction that uses each value of an operand once, and whose neighbours in memory it combines: a vector,
/// or half of one or a quarter where that leaves less over. Nothing for others.
std::optional<RowLanes> lanes_of_rows(const Program& program, const Node& node, std::int64_t points,
                                      std::int64_t values, const SplitLimits& limits);

}  // namespace ricci::ir
