// How a CPU computes a contraction: register tiles, blocks for its caches, tasks for its threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ricci::plan::gett {

inline std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::int64_t parts(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

/// Runs that come from memory side by side as fast as one does: on an AMD EPYC 16 took 1.1 to 1.5 times as long.
constexpr std::int64_t kStreams = 8;

/// Terms of sums so short that writing is much of the work.
constexpr std::int64_t kShortSum = 128;

/// An index, its steps in the operands and its blocks, from the register tile outwards.
struct Axis {
  int index = 0;
  std::int64_t extent = 1;
  std::int64_t in_rows = 0, in_columns = 0,
               in_result = 0;  ///< strides in the operand of the rows, of the columns, in C
  std::int64_t step = 0;       ///< of a depth axis: the stride in memory that decides its place among the others
  std::int64_t tile = 1;       ///< of the register tile; of a depth axis, what is summed in one go
  std::int64_t block = 1;      ///< packed together: a multiple of the tile
  std::int64_t task = 1;       ///< of a task: a multiple of the block
  /// Of several indices that are joined, the fastest's extent where the others do not go on with it: in the operand, in
  /// C. The strides are those of the fastest one. 0: all values lie evenly.
  std::int64_t run_in_operand = 0, run_in_result = 0;
  bool joined = false;
  /// Of a depth axis: terms that an instruction sums. Extents and tiles are of groups of them, and so are the strides
  /// of operands in which they are neighbours.
  std::int64_t group = 1;
};
using Axes = std::vector<Axis>;

template <class Of>
std::int64_t product(const Axes& axes, Of of) {
  std::int64_t n = 1;
  for (const auto& axis : axes) n *= of(axis);
  return n;
}
constexpr auto extent_of = [](const Axis& axis) { return axis.extent; };
constexpr auto tile_of = [](const Axis& axis) { return axis.tile; };
constexpr auto block_of = [](const Axis& axis) { return axis.block; };

template <class Of>
std::int64_t parts_of(const Axes& axes, Of of) {
  std::int64_t n = 1;
  for (const auto& axis : axes) n *= parts(axis.extent, of(axis));
  return n;
}

/// How the columns that a task packs are chosen.
enum class Blocks : std::uint8_t {
  near,            ///< for the second cache, reaching along what is contiguous in the operand
  rows_of_result,  ///< for the second cache: a line of that, then along what is contiguous in the result
  wide,            ///< for the last cache
};

/// Everything about one candidate.
struct Blocking {
  Axes rows, columns, depth;
  std::int64_t lanes = 1;
  bool pack_rows = true, pack_columns = true;
  Blocks blocks = Blocks::near;
  std::int64_t row_tasks = 1, column_tasks = 1;
  bool joined = false;  ///< of a group: adds to the register tiles of the product before it

  /// How many columns, the last ones, vectors run along as one: two of packed ones where the last is no multiple of
  /// them.
  int lane_columns() const { return pack_columns && columns.size() > 1 && columns.back().tile % lanes != 0 ? 2 : 1; }
  /// Elements of a register tile along these.
  std::int64_t along_lanes() const { return columns.back().tile * (lane_columns() == 1 ? 1 : columns.end()[-2].tile); }
  /// Whether vectors run along another index than the result's fastest.
  bool across() const { return !columns.empty() && columns.back().in_result != 1; }
  /// Whether results are written by whole vectors: along the lanes, or along an index of the tile that is the result's
  /// fastest, by sums that are transposed in registers.
  bool writes_vectors() const {
    const auto is_written = [&](const Axis& axis) { return axis.in_result == 1 && axis.tile % lanes == 0; };
    return !across() || std::any_of(columns.begin(), columns.end(), is_written) ||
           std::any_of(rows.begin(), rows.end(), is_written);
  }
  /// Whether vectors run along an index of both operands: the last of the columns, which moves the rows' operand too.
  bool lanes_of_both() const { return !columns.empty() && columns.back().in_rows != 0; }
};

/// Whether two of one register tile have the same blocks and tasks.
inline bool same_blocks(const Blocking& x, const Blocking& y) {
  const auto same = [](const Axes& of_x, const Axes& of_y) {
    return std::equal(of_x.begin(), of_x.end(), of_y.begin(),
                      [](const Axis& a, const Axis& b) { return a.block == b.block && a.task == b.task; });
  };
  return x.row_tasks == y.row_tasks && x.column_tasks == y.column_tasks && same(x.columns, y.columns) &&
         same(x.rows, y.rows);
}

/// What all candidates share.
struct Problem {
  Axes batch;
  std::int64_t size = 8;   ///< bytes of an element, or of a group of them
  std::int64_t terms = 1;  ///< of dot products: that an instruction sums
  bool flipped = false;    ///< a row more is summed of each tile, by which others are too large
  bool complex = false;
  std::int64_t operations = 1;  ///< of a term, of which a multiply-add is one
  bool far_result = false;      ///< the result is larger than the second cache
  bool group = false;           ///< of products into blocks of the result that stay in the second cache
  bool nontemporal = false;     ///< results go by nontemporal stores: whole lines, larger than the caches and not read
  bool shares_lines = false;    ///< they would, but for lines that rows of the result share
};

}  // namespace ricci::plan::gett
