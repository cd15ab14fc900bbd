// Tiles over groups of axes: of the rows, the columns or the depth of a contraction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "ir/few.hpp"
#include "plan/models/short_lists.hpp"

namespace ricci::plan::tiles {

inline std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::int64_t parts(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

struct Axis {
  std::string name;
  std::int64_t extent = 1;
  std::int64_t in_operand = 0;  ///< stride in the operand that the side belongs to; of depth in that of the rows
  std::int64_t in_other = 0;    ///< of rows and columns in the result, of depth in the operand of the columns
  int index = -1;               ///< of the program

  /// Of a depth: whether one operand alone has it.
  bool is_of_one() const { return in_operand == 0 || in_other == 0; }
};
using Axes = std::vector<Axis>;

/// Extents of a tile along the axes of one group, in the order of the axes.
struct Tile {
  static constexpr std::size_t kUsualAxes = 6;
  ir::Few<std::size_t, kUsualAxes> order;   ///< axes from the slowest digit to the fastest
  ir::Few<std::int64_t, kUsualAxes> sizes;  ///< per axis
  std::int64_t size = 1, blocks = 1;
  double used = 1;  ///< of the positions of all blocks
  /// So many axes, the last ones of the order, are one, of which the tile has `size` positions, wherever others end:
  /// `sizes` are what it reaches of each of them, and 1 of the others.
  std::size_t joined = 0;
  /// Of a depth: the last two axes of the order have the neighbours of the columns' operand and of the rows'. Each
  /// operand lies in shared memory with its own last, and atoms take two positions of both at once.
  bool crossed = false;
  bool operator==(const Tile&) const = default;

  /// In the order in which an operand lies.
  Tile lying(bool of_rows) const {
    auto tile = *this;
    if (crossed && !of_rows) std::swap(tile.order.back(), tile.order.end()[-2]);
    return tile;
  }
  bool is_joined(std::size_t k) const {
    return joined > 0 && std::find(order.end() - static_cast<std::ptrdiff_t>(joined), order.end(), k) != order.end();
  }
  /// By whose multiples the values of an axis begin.
  std::int64_t step_of(const Axes& axes, std::size_t k) const {
    return !is_joined(k) ? sizes[k] : k == order.back() ? std::gcd(size, axes[k].extent) : 1;
  }

  /// Of as many positions as there is room for: the share that is used, the more the fuller it is.
  double worth(std::int64_t most) const {
    return used * std::pow(static_cast<double>(size) / static_cast<double>(most), 0.3);
  }
};

/// Axes that a tile joins, the slowest first.
inline std::vector<std::size_t> joined_axes(const Tile& tile) {
  return {tile.order.end() - static_cast<std::ptrdiff_t>(tile.joined), tile.order.end()};
}
/// What they are called together.
std::string joined_name(const Axes& axes, const Tile& tile);

/// On average, what parts of runs of a length there are in `size` positions from a multiple of size on.
inline std::int64_t piece_of(std::int64_t size, std::int64_t run) {
  const auto begins = std::gcd(size, run);
  return std::max(size * run / (size + run - begins) / begins * begins, begins);
}

/// Whether a side's fastest digit moves the other tensor to its neighbour.
inline bool is_fastest(const Axes& axes, const Tile& tile) {
  return !tile.order.empty() && axes[tile.order.back()].in_other == 1;
}

/// How far a tile reaches along one axis of a tensor.
struct Reach {
  std::int64_t stride, size, extent;
  std::int64_t in_shared;   ///< step in the block's own memory
  std::int64_t joined = 0;  ///< positions of the tile, where the axis is joined with others
};

/// How a block's part of a tensor lies in memory.
struct Lie {
  std::int64_t run = 1;       ///< neighbours, in elements
  std::int64_t fastest = 1;   ///< those along the fastest axis alone
  std::int64_t step = 1;      ///< from one of these to the next, in the block's own memory
  std::int64_t together = 1;  ///< those that are neighbours there, too
};
/// Sorts them, and leaves them in place.
Lie lie_of(std::vector<Reach>&& all);

/// The same of two groups' axes, and whether it follows from how each is cut.
struct LieOfTwo {
  Lie lie;
  std::array<bool, 2> of = {};
};

/// The axes of a tensor, whose order in memory is worked out once for all tiles.
class MemoryOrder {
 public:
  /// An axis that is of no group, and the neighbours along it that a tile has.
  struct Beside {
    std::int64_t stride, size, extent;
  };
  ///   first_other  whether the tensor is the other one of the first group's, not its operand
  MemoryOrder(const Axes& first, bool first_other, const Axes& second, bool second_other,
              const std::optional<Beside>& beside);
  /// How tiles of both groups lie in it, whose fastest digits are so many elements apart in the block's own memory.
  ///   beside  the same of the axis beside
  LieOfTwo of(const Tile& first, std::int64_t first_step, const Tile& second, std::int64_t second_step,
              std::int64_t beside) const;

 private:
  struct Place {
    std::int64_t stride, extent;
    std::size_t axis;
    int group;
    std::int64_t size;  ///< of the axis beside
  };
  ir::Few<Place, 12> by_stride_;
};

/// Tiles of a group of axes.
class Tiles {
 public:
  static constexpr std::int64_t kMost = 768;  ///< positions of a tile

  ///   unit  positions that warps take at once
  ///   run   elements that are worth being neighbours
  Tiles(const Axes& axes, std::int64_t unit, std::int64_t run)
      : axes_(axes), unit_(unit), runs_{chain(false, run), chain(true, run)} {
    divisors_.reserve(axes.size());
    for (const auto& axis : axes) divisors_.push_back(divisors(axis.extent));
  }

  /// The tile of at most `most` positions that leaves the least unused and reads and writes the longest runs; its
  /// fastest digit is axis number `fastest`.
  Tile of(std::size_t fastest, std::int64_t most) {
    if (order_.empty() || order_.front() != fastest) start(fastest);
    most_ = most;
    score_ = -1;
    current_.sizes.assign(axes_.size(), 1);
    take(0, 1, 1);
    best_.order.clear();
    for (auto k = order_.size(); k-- > 0;) best_.order.push_back(order_[k]);
    return best_;
  }

 private:
  /// Sorts the other axes, the nearest in memory first.
  void start(std::size_t fastest) {
    order_.clear();
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (k != fastest) order_.push_back(k);
    }
    const auto step = [&](std::size_t k) {
      return std::min(std::abs(axes_[k].in_operand), std::abs(axes_[k].in_other));
    };
    sort_few(order_, [&](std::size_t x, std::size_t y) { return step(x) < step(y); });
    if (!axes_.empty()) order_.insert(order_.begin(), fastest);
  }

  /// Axes whose elements are neighbours in a tensor, the fastest first, as far as tiles of them make longer runs.
  struct Chain {
    std::vector<std::size_t> axes;
    std::int64_t longest = 1;  ///< that counts
  };
  Chain chain(bool other, std::int64_t most) const {
    Chain chain;
    std::int64_t run = 1;
    for (bool found = true; found && run < most;) {
      found = false;
      for (std::size_t k = 0; k < axes_.size() && !found; ++k) {
        found = axes_[k].extent > 1 && std::abs(other ? axes_[k].in_other : axes_[k].in_operand) == run;
        if (!found) continue;
        chain.axes.push_back(k);
        run *= axes_[k].extent;
      }
    }
    chain.longest = std::min(run, most);
    return chain;
  }
  /// Neighbours that a tile has of a chain, over those that count.
  double share(const Chain& chain) const {
    std::int64_t run = 1;
    for (const auto k : chain.axes) {
      run *= current_.sizes[k];
      if (current_.sizes[k] != axes_[k].extent) break;
    }
    return static_cast<double>(std::min(run, chain.longest)) / static_cast<double>(chain.longest);
  }

  ///   used  share of the positions of all parts that are of the axes before
  void take(std::size_t k, std::int64_t size, double used) {
    constexpr double kRounded = 1 + 1e-9;  // of an upper bound: no tile is worth more than what is used of it
    if (used * kRounded <= score_) return;
    if (k == order_.size()) return judge(size);
    const auto extent = axes_[order_[k]].extent, room = most_ / size;
    const auto with = [&](std::int64_t n) {
      current_.sizes[order_[k]] = n;
      take(k + 1, size * n, used * static_cast<double>(extent) / static_cast<double>(up(extent, n)));
    };
    if (extent <= room) {
      with(extent);
      if (k > 0 || axes_.size() == 1) return;
    }
    constexpr int kDivisors = 3;
    int found = 0;
    for (const auto n : divisors_[order_[k]]) {
      if (n > room) continue;
      with(n);
      if (++found == kDivisors) break;
    }
    // As few parts as there is room for, of about equal sizes.
    if (const auto n = room > 1 ? parts(extent, parts(extent, room)) : 1; n > 1 && extent % n != 0) with(n);
    for (auto n = unit_; n <= std::min(room, extent - 1); n *= 2) with(n);
    for (auto n = 3 * unit_; n <= std::min(room, extent - 1); n *= 2) with(n);
    if (k > 0) with(1);
  }

  void judge(std::int64_t size) {
    double used = 1;
    std::int64_t blocks = 1;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const auto n = parts(axes_[k].extent, current_.sizes[k]);
      used *= static_cast<double>(axes_[k].extent) / static_cast<double>(n * current_.sizes[k]);
      blocks *= n;
    }
    used *= static_cast<double>(size) / static_cast<double>(up(size, unit_));
    const auto full = static_cast<double>(size) / static_cast<double>(most_);
    if (used <= score_) return;  // the other factors are 1 at most
    const double runs = std::sqrt(share(runs_[0]) * share(runs_[1]));
    if (used * runs <= score_) return;
    const double score = used * std::pow(full, 0.3) * runs;
    if (score <= score_) return;
    score_ = score;
    best_ = current_;
    best_.size = size;
    best_.blocks = blocks;
    best_.used = used;
  }

  /// Parts of an extent that leave nothing over, the largest first: of more than one position, and less than all.
  using Divisors = ir::Few<std::int64_t, 32>;
  static Divisors divisors(std::int64_t extent) {
    Divisors all;
    auto n = std::max<std::int64_t>(parts(extent, kMost), 2);
    for (; n * n < extent; ++n) {
      if (extent % n == 0) all.push_back(extent / n);
    }
    for (n = std::min(n, kMost); n > 1; --n) {
      if (n * n <= extent && extent % n == 0) all.push_back(n);
    }
    return all;
  }

  const Axes& axes_;
  std::int64_t unit_, most_ = 1;
  std::array<Chain, 2> runs_;  ///< in the operand and in the result
  std::vector<Divisors> divisors_;
  std::vector<std::size_t> order_;
  Tile current_, best_;
  double score_ = -1;
};

/// Of the rows or the columns: from 16 to 256 positions, each along every axis that is the fastest of a tensor; and
/// where more of those are used, of all axes as one.
///   unit   positions that warps take at once
///   run    elements that are worth being neighbours
///   joins  whether axes may be joined
///   wide   whether there may be up to 768 positions where neighbours lie along two axes: for runs of both
std::vector<Tile> side_tiles(const Axes& axes, std::int64_t unit, std::int64_t run, bool joins, bool wide);

/// Of the depth, multiples of `unit`; one of one position where there is none; where no extents are, the fastest axis
/// is longer than it is.
///   row      elements of the longest row that warp groups read
///   crosses  whether operands may lie in orders of their own
std::vector<Tile> depth_tiles(const Axes& depth, std::int64_t unit, std::int64_t row, bool joins, bool crosses);
/// Adds such rows of the fastest axis where it is no multiple of them, and they leave little of it over.
void add_ragged_rows(std::vector<Tile>& list, const Axes& depth, std::int64_t row);

}  // namespace ricci::plan::tiles
