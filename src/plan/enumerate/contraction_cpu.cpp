// Schedules of contractions for a CPU: register tiles over the axes that suit them, operands packed or read in place,
// blocks for the caches, tasks for the threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;

constexpr double kClockMHz = 3000;

std::int64_t up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }
std::int64_t parts(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

/// An index, its steps in the operands and its blocks, from the register tile outwards.
struct Axis {
  int index = 0;
  std::int64_t extent = 1;
  std::int64_t in_rows = 0, in_columns = 0,
               in_result = 0;  ///< strides in the operand of the rows, of the columns, in C
  std::int64_t tile = 1;       ///< of the register tile; of a depth axis, what is summed in one go
  std::int64_t block = 1;      ///< packed together: a multiple of the tile
  std::int64_t task = 1;       ///< of a task: a multiple of the block
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

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device)
      : program_(program), contraction_(contraction), device_(device) {}

  std::vector<Candidate> run() {
    if (!suits()) return {};
    const auto widest = device_.vector_bytes / size_;
    const auto registers = device_.vector_bytes >= 64 ? 31 : 15;
    for (auto lanes = widest; lanes >= std::max<std::int64_t>(widest / 4, 2); lanes /= 2) {
      if (lanes < widest && lane_extent() >= 2 * lanes) continue;  // twice the vector would not be emptier
      for (const std::int64_t vectors : {1, 2, 3, 4, 6}) {
        if (vectors > 1 && (vectors - 1) * lanes >= lane_extent()) continue;
        // A row of complex numbers has sums of its real and of its imaginary parts.
        const auto most = (registers - vectors) / (vectors + (device_.vector_bytes >= 64 ? 0 : 1)) / (complex_ ? 2 : 1);
        for (const auto rows : {most, most * 2 / 3, most / 2}) {
          if (rows < 1 || rows > 16) continue;
          for (const bool pack_columns : {true, false}) {
            for (const bool pack_rows : {true, false}) {
              // Operands of another type than the sum's are converted once, as they are packed.
              if ((convert_columns_ && !pack_columns) || (convert_rows_ && !pack_rows)) continue;
              for (const std::int64_t depth : {192, 320}) {
                for (const auto blocks : {Blocks::near, Blocks::rows_of_result, Blocks::wide}) {
                  add(lanes, vectors, rows, pack_columns, pack_rows, depth, blocks);
                }
              }
            }
          }
        }
      }
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    constexpr std::size_t kKept = 24;
    if (list_.size() > kKept) list_.resize(kKept);
    return std::move(list_);
  }

 private:
  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }
  std::int64_t lane_extent() const { return columns_.back().extent; }

  /// Sorts the axes by role, the columns so that C's fastest index is the last of them. Not for what has no such index
  /// on one side alone, for sums of bytes, and for negative strides.
  bool suits() {
    const auto& statement = program_.statement();
    const auto type = contraction_.type;
    if (is_half(type) || size_of(type) < 4) return false;
    size_ = size_of(type);
    complex_ = is_complex(type);
    const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
    sum_in_parts_ = buffer.type == type;
    beyond_caches_ = sum_in_parts_ &&
                     device_.beyond_caches(static_cast<double>((buffer.last - buffer.first + 1) * size_)) &&
                     std::none_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
                       return node.kind == ir::NodeKind::load && node.source == statement.buffer;
                     });
    const auto& c = statement.offset.coefficient;
    int lane = -1;
    for (std::size_t q = 0; q < c.size(); ++q) {
      const auto role = contraction_.role[q];
      if (role == Role::summed || role == Role::other) return false;
      if (role == Role::depth) continue;
      if (c[q] <= 0) return false;
      if (role == Role::rows || role == Role::columns) {
        if (c[q] == 1 && program_.indices[q].extent > 1) lane = static_cast<int>(q);
      }
    }
    if (lane < 0) return false;
    const bool swapped = contraction_.role[static_cast<std::size_t>(lane)] == Role::rows;
    const auto& rows = load(swapped ? contraction_.second : contraction_.first);
    const auto& columns = load(swapped ? contraction_.first : contraction_.second);
    convert_rows_ = rows.type != type;
    convert_columns_ = columns.type != type;
    const bool converts = convert_rows_ || convert_columns_ || !sum_in_parts_;
    if (converts && (complex_ || is_complex(rows.type) || is_complex(columns.type))) return false;
    if (complex_ && !has_pairs(statement.value, lane)) return false;
    rows_name_ = program_.buffers[static_cast<std::size_t>(rows.source)].name;
    columns_name_ = program_.buffers[static_cast<std::size_t>(columns.source)].name;
    if (rows_name_ == columns_name_) return false;  // one tensor twice: an operand's name says which
    for (std::size_t q = 0; q < c.size(); ++q) {
      Axis axis;
      axis.index = static_cast<int>(q);
      axis.extent = program_.indices[q].extent;
      axis.in_rows = rows.offset.coefficient[q];
      axis.in_columns = columns.offset.coefficient[q];
      axis.in_result = c[q];
      auto role = contraction_.role[q];
      if (swapped && role == Role::rows) {
        role = Role::columns;
      } else if (swapped && role == Role::columns) {
        role = Role::rows;
      }
      (role == Role::rows      ? rows_
       : role == Role::columns ? columns_
       : role == Role::depth   ? depth_
                               : batch_)
          .push_back(axis);
    }
    const auto by_result = [](const Axis& x, const Axis& y) { return x.in_result > y.in_result; };
    std::stable_sort(columns_.begin(), columns_.end(), by_result);
    std::stable_sort(rows_.begin(), rows_.end(), by_result);
    // The fastest of the depth last: what is packed is read along it.
    std::stable_sort(depth_.begin(), depth_.end(), [](const Axis& x, const Axis& y) {
      return std::min(x.in_rows, x.in_columns) > std::min(y.in_rows, y.in_columns);
    });
    return true;
  }

  /// Whether vectors hold the result's complex numbers, neighbours along `lane`: kernel::unpaired() of what is built.
  bool has_pairs(ir::NodeId id, int lane) const {
    if (id == contraction_.reduce) return true;
    const auto& node = program_.nodes[static_cast<std::size_t>(id)];
    if (node.type != contraction_.type) return false;
    if (node.kind == ir::NodeKind::load) return node.offset.coefficient[static_cast<std::size_t>(lane)] == 1;
    if (node.kind != ir::NodeKind::op) return false;
    const auto holds = [&](int k) { return has_pairs(node.operand[k], lane); };
    const auto factor = [&](int k) {
      const auto& operand = program_.nodes[static_cast<std::size_t>(node.operand[k])];
      return operand.type == node.type &&
             (operand.kind == ir::NodeKind::param || operand.kind == ir::NodeKind::constant);
    };
    switch (node.op) {
      case ir::OpCode::add:
      case ir::OpCode::sub:
        return holds(0) && holds(1);
      case ir::OpCode::neg:
      case ir::OpCode::conj:
        return holds(0);
      case ir::OpCode::scale:
        return factor(0) && holds(1);
      case ir::OpCode::mul:
        return (factor(0) && holds(1)) || (factor(1) && holds(0));
      default:
        return false;
    }
  }

  /// Tiles of several axes whose product is close to `most` and that leave as little as possible over.
  static void cover(Axes& axes, std::int64_t most) {
    double best = 0;
    std::vector<std::int64_t> chosen(axes.size(), 1), now(axes.size(), 1);
    const auto search = [&](const auto& self, std::size_t k, std::int64_t room, double used) -> void {
      if (k == axes.size()) {
        double points = 1;
        for (const auto t : now) points *= static_cast<double>(t);
        const double score = used * points / (points + 2);
        if (score > best * 1.001) {
          best = score;
          chosen = now;
        }
        return;
      }
      for (std::int64_t t = 1; t <= std::min(room, axes[k].extent); ++t) {
        now[k] = t;
        const auto e = axes[k].extent;
        self(self, k + 1, room / t, used * static_cast<double>(e) / static_cast<double>(up(e, t)));
      }
      now[k] = 1;
    };
    // More than a few axes: the longest ones alone.
    Axes longest = axes;
    if (axes.size() > 3) {
      std::vector<std::size_t> order(axes.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return axes[x].extent > axes[y].extent; });
      Axes few{axes[order[0]], axes[order[1]], axes[order[2]]};
      cover(few, most);
      for (auto& axis : axes) axis.tile = 1;
      for (std::size_t k = 0; k < 3; ++k) axes[order[k]].tile = few[k].tile;
      return;
    }
    search(search, 0, most, 1);
    for (std::size_t k = 0; k < axes.size(); ++k) axes[k].tile = chosen[k];
  }

  /// Makes blocks of the axes larger, those first that `less` puts first, until `room` elements are reached.
  template <class Less>
  static void grow(Axes& axes, std::int64_t room, std::int64_t line, Less less) {
    std::vector<Axis*> order;
    for (auto& axis : axes) {
      axis.block = axis.tile;
      order.push_back(&axis);
    }
    std::stable_sort(order.begin(), order.end(), [&](const Axis* x, const Axis* y) { return less(*x, *y); });
    for (auto* axis : order) {
      const auto now = product(axes, block_of);
      auto times = std::clamp<std::int64_t>(room / now, 1, parts(axis->extent, axis->tile));
      // Whole lines of what is read along this axis, else blocks of equal size.
      const auto unit = std::max<std::int64_t>(line / axis->tile, 1);
      if (axis == order.front() && axis->extent % line == 0 && 2 * times > unit) {
        times = std::max(times / unit, std::int64_t{1}) * unit;
        axis->block = axis->tile * std::min(times, parts(axis->extent, axis->tile));
        continue;
      }
      const auto count = parts(parts(axis->extent, axis->tile), times);
      axis->block = axis->tile * parts(parts(axis->extent, axis->tile), count);
    }
  }

  /// A line along what is contiguous in the operand, then all that fits along what is contiguous in the result.
  void grow_along_result(Axes& axes, std::int64_t room) const {
    for (auto& axis : axes) {
      const auto lines = axis.in_columns == 1 ? parts(64 / size_, axis.tile) : 1;
      axis.block = axis.tile * std::min(lines, parts(axis.extent, axis.tile));
    }
    for (std::size_t k = axes.size(); k-- > 0;) {
      auto& axis = axes[k];
      const auto others = product(axes, block_of) / axis.block, tiles = parts(axis.extent, axis.tile);
      const auto times = std::clamp<std::int64_t>(room / others / axis.tile, axis.block / axis.tile, tiles);
      axis.block = std::max(axis.block, axis.tile * parts(tiles, parts(tiles, times)));
    }
  }

  /// Cuts the axes into about `count` tasks, the outermost of the result first.
  static void cut(Axes& axes, std::int64_t count) {
    for (auto& axis : axes) {
      const auto blocks = parts(axis.extent, axis.block);
      const auto n = std::clamp<std::int64_t>(count, 1, blocks);
      axis.task = axis.block * parts(blocks, n);
      count = parts(count, parts(axis.extent, axis.task));
    }
  }

  const std::string& name(const Axis& axis) const {
    return program_.indices[static_cast<std::size_t>(axis.index)].name;
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
  };

  void add(std::int64_t lanes, std::int64_t vectors, std::int64_t most_rows, bool pack_columns, bool pack_rows,
           std::int64_t most_depth, Blocks blocks) {
    Blocking b{rows_, columns_, depth_, lanes, pack_rows, pack_columns, blocks};
    if (!make_tiles(b, vectors, most_rows) || !make_depth(b, most_depth)) return;
    const auto share = device_.cache_bytes / 2 / std::max(device_.threads, 1);
    make_blocks(b, blocks == Blocks::wide ? std::min<std::int64_t>(share, 8 << 20) : device_.l2_bytes * 2 / 5);
    Candidate candidate;
    candidate.predicted_us = predict(b);
    candidate.schedule.directives = directives(b);
    candidate.schedule.name = name(b);
    candidate.schedule.threads = 1;
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = product(batch_, extent_of) * b.row_tasks * b.column_tasks;
    if (names_.insert(candidate.schedule.name).second) list_.push_back(std::move(candidate));
  }

  static std::int64_t depth_chunks(const Blocking& b) { return parts_of(b.depth, tile_of); }

  std::string name(const Blocking& b) const {
    auto text = fmt::format("gett {}x{} depth {}", product(b.rows, tile_of), product(b.columns, tile_of),
                            product(b.depth, tile_of));
    if (b.lanes < device_.vector_bytes / size_) text += fmt::format(" lanes {}", b.lanes);
    if (b.blocks != Blocks::near) text += b.blocks == Blocks::wide ? " wide" : " along";
    if (b.pack_rows || b.pack_columns) {
      text +=
          fmt::format(" packed{}{}", b.pack_rows ? " " + rows_name_ : "", b.pack_columns ? " " + columns_name_ : "");
    }
    return text;
  }

  /// The register tile; false where an operand that is read in place would be read past its end.
  bool make_tiles(Blocking& b, std::int64_t vectors, std::int64_t most_rows) const {
    auto& lane = b.columns.back();
    lane.tile = std::min(vectors * b.lanes, up(lane.extent, b.lanes));
    if (!b.pack_columns && (lane.in_columns != 1 || lane.extent % lane.tile != 0)) return false;
    if (b.rows.empty() && b.pack_rows) return false;
    cover(b.rows, most_rows);
    return b.pack_rows ||
           std::all_of(b.rows.begin(), b.rows.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  }

  /// What is summed in one go: all of it where that is little, else a line along what is contiguous in either operand,
  /// and then as much as fits, innermost first; divisors of extents where there are any, so that nothing is filled up.
  bool make_depth(Blocking& b, std::int64_t most) const {
    for (auto& axis : b.depth) axis.tile = axis.extent;
    // A result of another type than the sum's is rounded once, so that its sum comes in one part.
    if (product(b.depth, extent_of) <= 2 * most || !sum_in_parts_) return true;
    const auto divisor = [](std::int64_t extent, std::int64_t near) {
      for (auto size = near; size > near / 2; --size) {
        if (extent % size == 0) return size;
      }
      return near;
    };
    for (auto& axis : b.depth) {
      const bool contiguous = axis.in_rows == 1 || axis.in_columns == 1;
      const auto line = 64 / size_;
      axis.tile = !contiguous               ? 1
                  : axis.extent % line == 0 ? line * (axis.extent % (2 * line) == 0 ? 2 : 1)
                                            : divisor(axis.extent, std::min<std::int64_t>(axis.extent, 2 * line));
    }
    for (std::size_t k = b.depth.size(); k-- > 0;) {
      auto& axis = b.depth[k];
      const auto others = product(b.depth, tile_of) / axis.tile;
      const auto room = std::clamp<std::int64_t>(most / others, axis.tile, axis.extent);
      if (room <= axis.tile) continue;
      axis.tile = room == axis.extent ? room : divisor(axis.extent, parts(axis.extent, parts(axis.extent, room)));
    }
    return (b.pack_rows && b.pack_columns) ||
           std::all_of(b.depth.begin(), b.depth.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  }

  /// Blocks for the caches, reaching along what is contiguous in memory first: the rows' for the second cache, the
  /// columns', which a task packs once, for `room` bytes. Smaller ones where there would be too few tasks.
  void make_blocks(Blocking& b, std::int64_t room) const {
    const auto chunk = product(b.depth, tile_of);
    const auto most_rows = std::max(device_.l2_bytes * 2 / 5 / size_ / chunk, product(b.rows, tile_of));
    grow(b.rows, most_rows, 64 / size_, [](const Axis& x, const Axis& y) { return x.in_rows < y.in_rows; });
    const auto batch = product(batch_, extent_of), depth = product(b.depth, extent_of);
    const auto rows = product(b.rows, extent_of), columns = product(b.columns, extent_of);
    const auto counts =
        2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth * batch);
    // A task each where results are few and the sums long: what is packed is packed as rarely as can be.
    const bool long_sums = depth > 4 * std::min(rows, columns);
    const auto wanted =
        device_.threads == 1 || counts < 2e6 ? std::int64_t{1} : std::int64_t{long_sums ? 2 : 6} * device_.threads;
    auto most = std::max(room / size_ / chunk, product(b.columns, tile_of));
    for (;;) {
      if (b.blocks == Blocks::rows_of_result) {
        grow_along_result(b.columns, most);
      } else {
        grow(b.columns, most, 64 / size_, [](const Axis& x, const Axis& y) { return x.in_columns < y.in_columns; });
      }
      b.column_tasks = parts_of(b.columns, block_of);
      const auto missing = parts(wanted, b.column_tasks * batch);
      b.row_tasks = std::min(missing, parts_of(b.rows, block_of));
      if (b.column_tasks * b.row_tasks * batch >= wanted || most <= product(b.columns, tile_of)) break;
      most /= 2;
    }
    // Rows are cut where each piece is still worth packing the columns for.
    if (columns * b.row_tasks > 4 * rows * b.column_tasks && b.row_tasks > 2) b.row_tasks = 2;
    cut(b.rows, b.row_tasks);
    b.row_tasks = 1;
    for (const auto& axis : b.rows) b.row_tasks *= parts(axis.extent, axis.task);
    for (auto& axis : b.columns) axis.task = axis.block;
  }

  kernel::Directives directives(const Blocking& b) const {
    kernel::Directives list;
    using Names = std::vector<std::string>;
    Names tasks, serial, row_blocks, column_tiles, row_tiles, rows, columns, depth;
    const auto tile = [&](const Axis& axis, std::vector<std::int64_t> sizes) {
      Directive directive;
      directive.kind = Directive::Kind::tile;
      directive.subject = name(axis);
      directive.sizes = std::move(sizes);
      list.push_back(std::move(directive));
    };
    for (const auto& axis : batch_) tasks.push_back(name(axis));
    for (const auto& axis : b.columns) {
      tile(axis, {axis.task, axis.tile});
      tasks.push_back(name(axis) + "0");
      column_tiles.push_back(name(axis) + "1");
      columns.push_back(name(axis));
    }
    for (const auto& axis : b.rows) {
      tile(axis, {axis.task, axis.block, axis.tile});
      tasks.push_back(name(axis) + "0");
      row_blocks.push_back(name(axis) + "1");
      row_tiles.push_back(name(axis) + "2");
      rows.push_back(name(axis));
    }
    for (const auto& axis : b.depth) {
      if (axis.tile != axis.extent) {
        tile(axis, {axis.tile});
        serial.push_back(name(axis) + "0");
      }
      depth.push_back(name(axis));
    }
    const auto columns_at = serial.empty() ? tasks.back() : serial.back();
    for (const auto* names : {&row_blocks, &column_tiles, &row_tiles})
      serial.insert(serial.end(), names->begin(), names->end());
    Directive order;
    order.kind = Directive::Kind::order;
    order.loops = {{"task", tasks}, {"serial", serial}};
    list.push_back(std::move(order));
    const auto stage = [&](const std::string& operand, const std::string& at, const Names& outer, const Names& inner) {
      Directive directive;
      directive.kind = Directive::Kind::stage;
      directive.subject = operand;
      directive.at = at;
      directive.space = "scratch";
      Names dimensions = outer;
      dimensions.insert(dimensions.end(), depth.begin(), depth.end());
      dimensions.insert(dimensions.end(), inner.begin(), inner.end());
      directive.loops = {{"", std::move(dimensions)}};
      list.push_back(std::move(directive));
    };
    if (b.pack_columns) stage(columns_name_, columns_at, column_tiles, columns);
    if (b.pack_rows) stage(rows_name_, row_blocks.back(), row_tiles, rows);
    Directive atom;
    atom.kind = Directive::Kind::atom;
    atom.subject = "fma";
    atom.loops = {{"rows", rows}, {"columns", columns}, {"depth", depth}};
    atom.lanes = static_cast<int>(b.lanes);
    list.push_back(std::move(atom));
    if (beyond_caches_ && depth_chunks(b) == 1) {
      Directive streaming;
      streaming.kind = Directive::Kind::nontemporal;
      list.push_back(std::move(streaming));
    }
    return list;
  }

  template <class Of>
  static std::int64_t parts_of(const Axes& axes, Of of) {
    std::int64_t n = 1;
    for (const auto& axis : axes) n *= parts(axis.extent, of(axis));
    return n;
  }

  /// Cycles that an element costs that is read along the axis which is contiguous in memory, if the block reaches along
  /// it: otherwise each one takes a line of its own.
  double packing_cycles(const Axes& first, const Axes& second, bool rows, std::int64_t lanes) const {
    double along = 1;
    bool transposed = true;
    for (const auto* axes : {&first, &second}) {
      for (const auto& axis : *axes) {
        if ((rows ? axis.in_rows : axis.in_columns) != 1) continue;
        along = static_cast<double>(std::min(axis.extent, std::max(axis.block, axis.tile)));
        transposed = axes == &second || axis.tile < lanes;
      }
    }
    const double line = 64.0 / static_cast<double>(size_);
    return (transposed ? (along >= static_cast<double>(lanes) ? 1.0 : 2.0) : 0.5) + 6 * std::max(0.0, 1 - along / line);
  }

  /// Elements side by side in memory that a block holds, over axes of two kinds.
  template <class Step>
  static double run(const Axes& first, const Axes& second, Step step) {
    double length = 1;
    for (bool longer = true; longer;) {
      longer = false;
      for (const auto* axes : {&first, &second}) {
        for (const auto& axis : *axes) {
          const auto reach = std::min(std::max(axis.block, axis.tile), axis.extent);
          if (static_cast<double>(step(axis)) != length || reach == 1) continue;
          length *= static_cast<double>(reach);
          longer = reach == axis.extent;
        }
      }
    }
    return length;
  }

  /// Microseconds: cycles of the register tiles and of packing, beside what memory takes.
  double predict(const Blocking& b) const {
    const auto n = [](std::int64_t value) { return static_cast<double>(value); };
    const double batch = n(product(batch_, extent_of)), depth = n(product(b.depth, extent_of));
    const double rows = n(product(b.rows, extent_of)), columns = n(product(b.columns, extent_of));
    const double tile_rows = n(product(b.rows, tile_of));
    const double vectors =
        n(product(b.columns, tile_of)) / n(b.columns.back().tile) * n(parts(b.columns.back().tile, b.lanes));
    const double row_passes = n(parts_of(b.rows, tile_of)), column_passes = n(parts_of(b.columns, tile_of));
    const double chunk = n(product(b.depth, tile_of)), chunks = n(parts_of(b.depth, tile_of));
    // Two fused multiply-adds a cycle, each of which waits four cycles for the one before it; two loads a cycle.
    const double sums = tile_rows * (complex_ ? 2 : 1);
    double round = std::max({sums * vectors / 2, (sums + vectors) / 2, 4.0});
    if (!b.pack_rows) round += 0.1 * tile_rows;
    if (!b.pack_columns) round += 0.25 * vectors;
    const double results = tile_rows * vectors * (chunks > 1 ? 3 : 1.5) + 20;
    double cycles = batch * row_passes * column_passes * chunks * (chunk * round + results);
    const double line = 64.0 / n(size_);
    // Elements on their way from the second or the last cache into the first one, once for each block of rows.
    double blocks_of_rows = 1;
    for (const auto& axis : b.rows) blocks_of_rows *= n(parts(axis.extent, axis.block));
    const double from_cache = (b.blocks == Blocks::wide ? 0.1 : 0.03) * n(size_);
    cycles += batch * columns * depth * blocks_of_rows * from_cache;
    // Each run of neighbours that is read or written apart from the one before costs a translation of its address.
    constexpr double kRunCycles = 30;
    const auto result_run = run(b.columns, b.rows, [](const Axis& axis) { return axis.in_result; });
    const auto column_run = run(b.columns, b.depth, [](const Axis& axis) { return axis.in_columns; });
    cycles += batch * rows * columns * chunks / result_run * kRunCycles;
    cycles += batch * columns * depth * n(b.row_tasks) / column_run * kRunCycles;
    if (b.pack_columns) {
      cycles +=
          batch * columns * depth * n(b.row_tasks) * (packing_cycles(b.columns, b.depth, false, b.lanes) + from_cache);
    } else {
      cycles += batch * columns * depth * (0.3 + row_passes * 0.05);
    }
    if (b.pack_rows) {
      cycles += batch * rows * depth * n(b.column_tasks) * packing_cycles(b.rows, b.depth, true, b.lanes);
    } else {
      double along = 1;
      for (const auto* axes : {&b.depth, &b.rows}) {
        for (const auto& axis : *axes) along = axis.in_rows == 1 ? n(axis.tile) : along;
      }
      const auto row_run = run(b.rows, b.depth, [](const Axis& axis) { return axis.in_rows; });
      cycles +=
          batch * rows * depth * (column_passes * 0.15 + 0.6 * std::max(1.0, line / along) + column_passes / row_run);
    }
    const double workers = std::min<double>(device_.threads, n(b.row_tasks * b.column_tasks) * batch);
    const double bytes = n(size_) * batch * (rows * depth + columns * depth + rows * columns * (chunks > 1 ? 3 : 1));
    const double rate = device_.thread_GBs(false, 20) * n(device_.threads);
    const double compute = cycles / workers / kClockMHz,
                 memory = device_.beyond_caches(bytes) ? bytes / rate * 1e-3 : 0;
    return std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)) + 1;
  }

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const CpuModel& device_;
  std::int64_t size_ = 8;
  bool beyond_caches_ = false;  ///< the result is larger than the caches and not read
  bool complex_ = false;
  bool sum_in_parts_ = true;                             ///< the result has the type of the sum
  bool convert_rows_ = false, convert_columns_ = false;  ///< an operand has another type than the sum
  std::string rows_name_, columns_name_;
  Axes rows_, columns_, depth_, batch_;
  std::vector<Candidate> list_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return {};
  return ContractionEnumerator(program, *contraction, device).run();
}

}  // namespace ricci::plan
