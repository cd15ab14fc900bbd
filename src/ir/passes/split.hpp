// Long scans, compactions and reductions of few points, cut into tiles that many workers share.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// Of which index of a sum of products parts are made first: of that which is furthest apart in memory, so that parts
/// read whole rows, or of that which comes nearest to as many as are wanted.
enum class CutOrder : std::uint8_t { furthest, nearest };

/// Limits that depend on the device. Rounding depends on them, so they must not depend on the number of threads.
struct SplitLimits {
  std::int64_t longest = 32768;  ///< values that one point may combine before its work is shared
  std::int64_t workers = 256;    ///< points from which on there is work for all
  std::int64_t parts = 4096;     ///< tiles over all points: some for each worker, to even out; at least 2 * workers
  std::int64_t least = 4096;     ///< values of the smallest tile
  /// Threads that read neighbouring columns, each of them some rows, until memory is busy; 0: columns are like rows.
  std::int64_t column_workers = 0;
  std::int64_t lanes_bytes = 0;  ///< of neighbouring partial results of floats that are combined side by side; 0: none
  /// Sums of products of two loads go by tiles of that many points, each a worker's, as few as `tile_workers` of which
  /// have work for all. 0: they are like any others.
  std::int64_t tile_points = 0, tile_workers = 0;
  std::int64_t tile_least = 1024;  ///< products that each part sums, at least
  /// Of a vector along the neighbours in memory that a sum of products runs over, where it uses each value of an
  /// operand once and there are so many of these at least: results are summed by its lanes, then over these. So
  /// are parts of sums of products whose operands are both neighbours there, and parts are whole vectors, with a rest
  /// behind them where an extent has no divisors. 0: they are not.
  std::int64_t vector_bytes = 0, least_of_rows = 0;
  CutOrder cut_order = CutOrder::furthest;  ///< of such sums
  bool scans = true;                        ///< scans and compactions, too: they read and compute everything twice
  std::function<bool(const Program&)> stays = nullptr;  ///< which programs are not cut, whatever they run over
  /// What gives the same bits whole, too.
  bool exact_reductions = true, exact_scans = true;
};

/// Steps in which fewer points than workers each combine more than `longest` values become several, through workspace
/// storages behind the others:
///
///   reduction   partial results of tiles; the rest as it was, with a reduction of the partial results in its place
///   scan        partial results of tiles; their exclusive scan; scans of the tiles that begin with its values
///   compaction  counts of tiles; their exclusive scan; compactions of the tiles that begin there
///
/// Sums of products are cut into equal parts, so that none of them is ragged: of several indices where one makes too
/// few, those that are furthest apart in memory first, and one step combines them. What a ragged last tile holds is
/// left to the step that combines the partial results. So is that of vectors: reductions over neighbours in memory of
/// an operand that is used once become those of each lane of a vector, and one over its lanes. Where vectors are,
/// indices that are neighbours in every access are merged first, and operands that are used once, whose neighbours are
/// results, are combined across memory: a few streams far apart, each read from end to end, and so on with what they
/// leave. Bodies with reductions in them are computed once, into a storage of their own. Only where values may be
/// combined in any order: programs that are not exact, and operations that lose nothing.
Sequence split_long(Sequence sequence, const SplitLimits& limits);

}  // namespace ricci::ir
