// Schedules of contractions for a CPU: register tiles over the axes that suit them, operands packed or read in place,
// blocks for the caches, tasks for the threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_blocks.hpp"
#include "plan/enumerate/contraction_section.hpp"
#include "plan/models/cost_contraction_cpu.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using namespace gett;
using kernel::Role;

/// Along which index vectors have neighbours.
enum class Lanes : std::uint8_t {
  result,  ///< the result's fastest
  first,
  second,  ///< that of a factor, where it is another: results are written lane by lane
};

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device)
      : program_(program), contraction_(contraction), device_(device) {}

  struct Found {
    double predicted_us = 0;
    Blocking blocking;
  };

  /// Sorts the axes by role, the columns so that the lanes' index is the last of them, be it one of both operands. Not
  /// for what has no such index, for sums of bytes, and for negative strides.
  bool suits(Lanes lanes = Lanes::result);

  /// Every way to cut the axes.
  std::vector<Found> all(std::int64_t depth) {
    for_each_register_tile([&](std::int64_t lanes, std::int64_t vectors, std::int64_t rows) {
      for (const bool in_place : {false, true}) add(lanes, vectors, rows, depth, in_place);
    });
    return std::move(found_);
  }

  Candidate candidate(const Found& found) const {
    const auto& b = found.blocking;
    Candidate candidate;
    candidate.predicted_us = found.predicted_us;
    candidate.schedule.name = name(b);
    candidate.schedule.directives = directives(b);
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = product(problem_.batch, extent_of) * b.row_tasks * b.column_tasks;
    return candidate;
  }
  std::string name(const Found& found) const { return name(found.blocking); }

  /// How many terms are summed in one go, at most, where the model is one of a single thread (CpuModel::alone()), and
  /// what that is predicted to take.
  struct Depth {
    double us = std::numeric_limits<double>::infinity();
    std::int64_t terms = 320;
  };
  Depth summed_in_one_go() const {
    Depth best;
    if (depth_.empty()) return {0, 1};
    for_each_register_tile([&](std::int64_t lanes, std::int64_t vectors, std::int64_t rows) {
      for (const std::int64_t depth : {24, 48, 96, 192, 320}) {
        Blocking b{rows_, columns_, depth_, lanes, !rows_.empty(), true, Blocks::near};
        if (!make_tiles(b, vectors, rows) || !make_depth(b, depth)) continue;
        make_blocks(b, device_.l2_bytes / 2, kManyTasks);
        const auto us = predicted_us(b, problem_, device_);
        if (us < best.us) best = {us, depth};
      }
    });
    return best;
  }

 private:
  /// f(lanes, vectors, rows at most) of the register tiles that suit the columns' fastest index.
  template <class F>
  void for_each_register_tile(F f) const {
    const auto widest = device_.vector_bytes / problem_.size;
    const auto registers = device_.vector_bytes >= 64 ? 31 : 15;
    for (auto lanes = widest; lanes >= std::max<std::int64_t>(widest / 4, 2); lanes /= 2) {
      if (lanes < widest && lane_extent() >= 2 * lanes && !is_worth_narrow(lanes)) continue;
      if (across_) {
        // Vectors of several values of the result's fastest index: as many neighbours are written for each lane.
        for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8}) {
          const auto most = (registers - vectors) / (vectors + (device_.vector_bytes < 64 ? 1 : 0));
          for (const auto rows : {most, most / 2}) {
            if (rows >= 1) f(lanes, vectors, std::min<std::int64_t>(rows, 16));
          }
        }
        continue;
      }
      for (const std::int64_t vectors : {1, 2, 3, 4, 5, 6}) {
        // More than the fastest index has are those of as many values of the one before it. Of lanes that both operands
        // have there is one vector, for as many values of the other columns, and a row takes one to read it.
        const auto along = lanes_of_both() ? 1 : parts(lane_extent(), lanes);
        if (vectors > along && (columns_.size() == 1 || vectors % along != 0)) continue;
        const bool reads = device_.vector_bytes < 64 || lanes_of_both();
        // A row of complex numbers has sums of its real and of its imaginary parts.
        const auto most = (registers - vectors) / (vectors + (reads ? 1 : 0)) / (problem_.complex ? 2 : 1);
        for (const auto rows : {most, most * 2 / 3, most / 2}) {
          if (rows >= 1 && rows <= 16) f(lanes, vectors, rows);
        }
        if (depth_.empty()) f(lanes, vectors, 1);  // rows share nothing but the loads of columns
      }
    }
  }

  /// Whether vectors of half the width, of which a unit computes one in the time that half of a wide one takes, end
  /// with the index where wide ones do not. Elsewhere they are no emptier.
  bool is_worth_narrow(std::int64_t lanes) const {
    return lanes * problem_.size == device_.datapath_bytes && lane_extent() % (2 * lanes) != 0 &&
           lane_extent() % (2 * lanes) <= lanes;
  }

  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }
  std::int64_t lane_extent() const { return columns_.back().extent; }
  bool lanes_of_both() const { return columns_.back().in_rows != 0; }

  /// The index along which a factor's elements are neighbours, where vectors may run along it although the result's
  /// fastest index is `fastest`: real numbers, a sum that is worth their scattered writing. -1: there is none.
  int lane_across(const kernel::Factor& factor, int fastest) const {
    constexpr std::int64_t kShortest = 16;  // sum
    if (problem_.complex || contraction_.reduce < 0 || depth_extent() < kShortest) return -1;
    if (contraction_.role[static_cast<std::size_t>(fastest)] == Role::batch) return -1;
    const auto& step = load(factor).offset.coefficient;
    for (std::size_t q = 0; q < step.size(); ++q) {
      const auto role = contraction_.role[q];
      const auto extent = program_.indices[q].extent;
      if (step[q] == 1 && (role == Role::rows || role == Role::columns) && static_cast<int>(q) != fastest &&
          extent >= device_.vector_bytes / problem_.size)
        return static_cast<int>(q);
    }
    return -1;
  }
  std::int64_t depth_extent() const { return contraction_.extent(program_, Role::depth); }

  /// Whether register tiles along an index of both operands are worth packing these: whole vectors, and each element
  /// used several times. Plain schedules read them as they lie.
  bool suits_lanes_of_both(int lane) const {
    constexpr std::int64_t kVectors = 4, kUses = 16;
    return contraction_.reduce >= 0 &&
           program_.indices[static_cast<std::size_t>(lane)].extent >= kVectors * device_.vector_bytes / problem_.size &&
           contraction_.extent(program_, Role::rows) >= kUses &&
           contraction_.extent(program_, Role::columns) >= kUses && !contraction_.indices(Role::depth).empty();
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

  const std::string& name(const Axis& axis) const {
    return program_.indices[static_cast<std::size_t>(axis.index)].name;
  }
  /// Every way to block a register tile, with both operands packed or with some read in place; what is packed makes no
  /// other blocks.
  void add(std::int64_t lanes, std::int64_t vectors, std::int64_t most_rows, std::int64_t most_depth, bool in_place) {
    std::array<std::array<std::optional<Blocking>, 3>, 2> blocked;
    for (const auto& [pack_columns, pack_rows] :
         {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
      if ((pack_columns && pack_rows) == in_place) continue;
      // Operands of another type than the sum's are converted, and rounded, once, as they are packed.
      if ((convert_columns_ && !pack_columns) || (convert_rows_ && !pack_rows)) continue;
      Blocking tile{rows_, columns_, depth_, lanes, pack_rows, pack_columns, Blocks::near};
      if (!make_tiles(tile, vectors, most_rows) || !make_depth(tile, most_depth) || !is_new(tile)) continue;
      for (const auto blocks : {Blocks::near, Blocks::rows_of_result, Blocks::wide}) {
        if (lanes_of_both() && blocks != Blocks::near) continue;  // one way to cut them
        if (across_ && blocks == Blocks::rows_of_result) continue;
        auto& same = blocked[pack_columns ? 1 : 0][static_cast<std::size_t>(blocks)];
        if (!same) {
          same = tile;
          same->blocks = blocks;
          const auto share = device_.cache_bytes / 2 / std::max(device_.threads, 1);
          const auto room = blocks == Blocks::wide ? std::min<std::int64_t>(share, 8 << 20) : device_.l2_bytes / 2;
          make_blocks(*same, room, kManyTasks);
          if (points() >= kLongRun && !lanes_of_both() && !across_) make_fewer_tasks(*same, room);
        }
        auto b = *same;
        b.pack_rows = pack_rows;
        b.pack_columns = pack_columns;
        const auto us = predicted_us(b, problem_, device_);
        found_.push_back({us, std::move(b)});
      }
    }
  }
  /// Whether a tile was not made before: fewer rows may come to the same.
  bool is_new(const Blocking& b) {
    std::vector<std::int64_t> key{b.lanes, b.pack_rows ? 1 : 0, b.pack_columns ? 1 : 0};
    for (const auto* axes : {&b.rows, &b.columns, &b.depth}) {
      for (const auto& axis : *axes) key.push_back(axis.tile);
    }
    return tiles_.insert(std::move(key)).second;
  }

  static std::int64_t depth_chunks(const Blocking& b) { return parts_of(b.depth, tile_of); }

  std::string name(const Blocking& b) const {
    auto text = fmt::format("{} {}x{}",
                            b.depth.empty()     ? "outer"
                            : b.lanes_of_both() ? "batched"
                                                : "gett",
                            product(b.rows, tile_of), product(b.columns, tile_of));
    if (!b.depth.empty()) text += fmt::format(" depth {}", product(b.depth, tile_of));
    if (across_) text += fmt::format(" vectors along {}", name(b.columns.back()));
    if (b.lanes < device_.vector_bytes / problem_.size) text += fmt::format(" lanes {}", b.lanes);
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
    if (b.lanes_of_both()) return make_tiles_of_both(b, vectors, most_rows);
    if (across_) return make_tiles_across(b, vectors, most_rows);
    lane.tile = std::min(vectors * b.lanes, up(lane.extent, b.lanes));
    if (!b.pack_columns) shorten(lane, b.lanes);
    if (const auto more = vectors / parts(lane.tile, b.lanes); more > 1) {
      auto& next = b.columns[b.columns.size() - 2];
      next.tile = parts(next.extent, parts(next.extent, more));
      if (!b.pack_columns && next.extent % next.tile != 0) return false;
    }
    if (!b.pack_columns && (lane.in_columns != 1 || lane.extent % lane.tile != 0)) return false;
    if (b.rows.empty() && b.pack_rows) return false;
    cover(b.rows, most_rows);
    return b.pack_rows ||
           std::all_of(b.rows.begin(), b.rows.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  }

  /// As many vectors, of which the last is read in part, where that divides the extent and the whole ones do not.
  /// Nontemporal stores begin with vectors.
  void shorten(Axis& lane, std::int64_t lanes) const {
    if (problem_.complex) return;
    for (auto tile = std::min(lane.tile, lane.extent); tile > lane.tile - lanes; --tile) {
      if (lane.extent % tile != 0) continue;
      if (tile < lane.extent && tile % lanes != 0 && problem_.nontemporal) return;
      lane.tile = tile;
      return;
    }
  }

  /// The same where one vector has neighbours along an index of both operands.
  static bool make_tiles_of_both(Blocking& b, std::int64_t columns, std::int64_t most_rows) {
    auto lane = b.columns.back();
    lane.tile = b.lanes;
    b.columns.pop_back();
    cover(b.columns, columns);
    cover(b.rows, most_rows);
    const auto fits = [](const Axes& axes) {
      return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
    };
    const bool whole = lane.extent % lane.tile == 0;
    const bool reads_columns = b.pack_columns || (lane.in_columns == 1 && whole && fits(b.columns));
    const bool reads_rows = b.rows.empty() && b.pack_rows ? false
                            : b.pack_rows                 ? true
                                                          : lane.in_rows == 1 && whole && fits(b.rows);
    b.columns.push_back(lane);
    return reads_columns && reads_rows;
  }

  /// The same where vectors run along another index than the result's fastest, of which the tile has as many values as
  /// it can: these are written together.
  static bool make_tiles_across(Blocking& b, std::int64_t vectors, std::int64_t most_rows) {
    const auto even = [](std::int64_t extent, std::int64_t most) {
      return parts(extent, parts(extent, std::min(extent, most)));
    };
    const auto fastest_of = [](Axes& axes) {
      return std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.in_result == 1; });
    };
    if (b.rows.empty()) return false;
    auto& lane = b.columns.back();
    if (const auto fastest = fastest_of(b.columns); fastest != b.columns.end()) {
      fastest->tile = even(fastest->extent, vectors);
      vectors /= fastest->tile;
      cover(b.rows, most_rows);
    } else if (const auto row = fastest_of(b.rows); row != b.rows.end()) {
      const auto tile = even(row->extent, most_rows);
      Axes others;
      std::copy_if(b.rows.begin(), b.rows.end(), std::back_inserter(others),
                   [](const Axis& a) { return a.in_result != 1; });
      cover(others, most_rows / tile);
      for (auto& axis : b.rows) {
        const auto same =
            std::find_if(others.begin(), others.end(), [&](const Axis& a) { return a.index == axis.index; });
        axis.tile = same == others.end() ? tile : same->tile;
      }
    } else {
      return false;
    }
    lane.tile = std::min(vectors * b.lanes, up(lane.extent, b.lanes));
    const auto fits = [](const Axes& axes) {
      return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
    };
    return (b.pack_columns || fits(b.columns)) && (b.pack_rows || fits(b.rows));
  }

  /// False where an operand that is read in place would be read past its end.
  bool make_depth(Blocking& b, std::int64_t most) const {
    // A result of another type than the sum's is rounded once, so that its sum comes in one part.
    const bool exact = !b.pack_rows || !b.pack_columns;  // what is read in place ends where the index does
    cut_depth(b.depth, sum_in_parts_ ? most : product(b.depth, extent_of), problem_.size, exact);
    return !exact ||
           std::all_of(b.depth.begin(), b.depth.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  }

  static constexpr std::int64_t kManyTasks = 6, kFewTasks = 2;  // for each thread, so that none waits long at the end
  static constexpr double kLongRun = 1e8;                       // products, for which more tasks are worth a look
  double points() const {
    double all = static_cast<double>(product(problem_.batch, extent_of));
    for (const auto* axes : {&rows_, &columns_, &depth_}) all *= static_cast<double>(product(*axes, extent_of));
    return all;
  }

  /// Fewer tasks, unless they are predicted to take a tenth longer: what is packed anew by each task costs more than is
  /// predicted, on an AMD EPYC.
  void make_fewer_tasks(Blocking& b, std::int64_t room) const {
    constexpr double kLonger = 1.1;
    auto few = b;
    make_blocks(few, room, kFewTasks);
    if (predicted_us(few, problem_, device_) < kLonger * predicted_us(b, problem_, device_)) b = std::move(few);
  }

  /// Blocks for the caches, reaching along what is contiguous in memory first: the rows' for the second cache, the
  /// columns', which a task packs once, for `room` bytes. Smaller ones where there would be fewer tasks for a thread.
  void make_blocks(Blocking& b, std::int64_t room, std::int64_t tasks_of_thread) const {
    if (b.lanes_of_both()) return make_blocks_of_both(b);
    const auto chunk = product(b.depth, tile_of);
    const auto batch = product(problem_.batch, extent_of), depth = product(b.depth, extent_of);
    const auto rows = product(b.rows, extent_of), columns = product(b.columns, extent_of);
    const auto tile_rows = product(b.rows, tile_of);
    // Few rows where writing is most of the work: tiles come back soon to where they wrote before.
    constexpr std::int64_t kShortSum = 128, kFewTiles = 8;
    const bool few = depth <= kShortSum && batch * rows * columns * problem_.size > 2 * device_.l2_bytes;
    const auto of_cache = few ? device_.l1_bytes / 2 : device_.l2_bytes * 2 / 5;
    // A task each where results are few and the sums long: what is packed is packed as rarely as can be, once in two
    // tasks of rows and of columns.
    const bool long_sums = depth > 4 * std::min(rows, columns);
    auto most_rows = std::max(of_cache / problem_.size / chunk, few ? kFewTiles * tile_rows : tile_rows);
    if (long_sums && device_.threads > 1) most_rows = std::min(most_rows, std::max(parts(rows, 2), tile_rows));
    // Without sums the result's rows are written one after the other.
    grow(b.rows, depth_.empty() ? tile_rows : most_rows, few ? 1 : 64 / problem_.size,
         few ? &Axis::in_result : &Axis::in_rows);
    const auto counts =
        2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth * batch);
    const auto wanted = device_.threads == 1 || counts < 2e6
                            ? std::int64_t{1}
                            : (long_sums ? kFewTasks : tasks_of_thread) * device_.threads;
    auto most = std::max(room / problem_.size / chunk, product(b.columns, tile_of));
    for (;;) {
      if (b.blocks == Blocks::rows_of_result) {
        grow_along_result(b.columns, most, 64 / problem_.size);
      } else {
        grow(b.columns, most, 64 / problem_.size, &Axis::in_columns);
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

  /// The same where vectors have neighbours along an index of both operands: a task has some of these and all other
  /// columns, as far as the second cache holds them; of its rows the first cache holds one vector's.
  void make_blocks_of_both(Blocking& b) const {
    auto lane = b.columns.back();
    b.columns.pop_back();
    const auto chunk = product(b.depth, tile_of) * problem_.size;
    const auto tile_columns = product(b.columns, tile_of);
    const auto near = device_.l1_bytes * 3 / 4 / chunk / lane.tile - tile_columns;  // rows beside a tile of columns
    grow(b.rows, std::max(near, product(b.rows, tile_of)), 1, &Axis::in_result);
    const auto block_rows = product(b.rows, block_of);
    constexpr std::int64_t kShareOfCache = 8;  // what is packed is read soon
    auto most = std::max(device_.l2_bytes / kShareOfCache / chunk, lane.tile);
    const auto vectors = parts(lane.extent, lane.tile);
    const auto batch = product(problem_.batch, extent_of);
    const std::int64_t wanted = std::int64_t{4} * device_.threads;
    for (;; most /= 2) {
      // Some lines along the lanes, then all of the other columns, then more lanes.
      constexpr std::int64_t kLines = 4;
      const auto line = std::max<std::int64_t>(64 / problem_.size / lane.tile, 1);
      const auto few = std::min(vectors, kLines * line) * lane.tile;
      grow(b.columns, std::max(most / few - block_rows, tile_columns), 1, &Axis::in_columns);
      const auto places = product(b.columns, block_of) + block_rows;
      const auto even = parts(vectors, parts(vectors, std::clamp<std::int64_t>(most / places / lane.tile, 1, vectors)));
      lane.block = lane.tile * even;
      b.column_tasks = parts_of(b.columns, block_of) * parts(lane.extent, lane.block);
      if (device_.threads == 1 || b.column_tasks * batch >= wanted || most <= places * lane.tile) break;
    }
    b.columns.push_back(lane);
    for (auto* axes : {&b.columns, &b.rows}) {
      for (auto& axis : *axes)
        axis.task = axes == &b.columns ? axis.block : axis.block * parts(axis.extent, axis.block);
    }
    b.row_tasks = 1;
  }

  kernel::Directives directives(const Blocking& b) const {
    std::vector<std::string> tasks;
    for (const auto& axis : problem_.batch) tasks.push_back(name(axis));
    for (const auto* axes : {&b.columns, &b.rows}) {
      for (const auto& axis : *axes) tasks.push_back(name(axis) + "0");
    }
    kernel::Directives list;
    add_loops(list, program_, b, tasks);
    add_product(list, program_, b, tasks.back(), rows_name_, columns_name_);
    const bool nontemporal = problem_.nontemporal && depth_chunks(b) == 1;
    if (nontemporal || problem_.far_result) {
      kernel::Directive stores;
      stores.kind = nontemporal ? kernel::Directive::Kind::nontemporal : kernel::Directive::Kind::prefetch;
      list.push_back(std::move(stores));
    }
    return list;
  }

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const CpuModel& device_;
  Problem problem_;
  bool sum_in_parts_ = true;                             ///< the result has the type of the sum
  bool convert_rows_ = false, convert_columns_ = false;  ///< an operand has another type than the sum, or is rounded
  std::string rows_name_, columns_name_;
  Axes rows_, columns_, depth_;
  bool across_ = false;  ///< vectors run along another index than the result's fastest
  std::vector<Found> found_;
  std::set<std::vector<std::int64_t>> tiles_;  ///< of those
};

bool ContractionEnumerator::suits(Lanes lanes) {
  const auto& statement = program_.statement();
  const auto type = contraction_.type;
  if (is_half(type) || size_of(type) < 4) return false;
  problem_.size = size_of(type);
  problem_.complex = is_complex(type);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
  sum_in_parts_ = buffer.type == type;
  const auto& c = statement.offset.coefficient;
  problem_.far_result = (buffer.last - buffer.first + 1) * problem_.size > device_.l2_bytes;
  // Lines that rows of the result share would be written by parts: twice, and read between.
  problem_.nontemporal =
      sum_in_parts_ &&
      std::all_of(c.begin(), c.end(), [&](std::int64_t step) { return step == 1 || step * problem_.size % 64 == 0; }) &&
      device_.beyond_caches(static_cast<double>((buffer.last - buffer.first + 1) * problem_.size)) &&
      std::none_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
        return node.kind == ir::NodeKind::load && node.source == statement.buffer;
      });
  int lane = -1;
  for (std::size_t q = 0; q < c.size(); ++q) {
    const auto role = contraction_.role[q];
    if (role == Role::summed || role == Role::other) return false;
    if (role == Role::depth) continue;
    if (c[q] <= 0) return false;
    if (role != Role::broadcast && c[q] == 1 && program_.indices[q].extent > 1) lane = static_cast<int>(q);
  }
  if (lane < 0) return false;
  across_ = lanes != Lanes::result;
  if (across_) {
    lane = lane_across(lanes == Lanes::first ? contraction_.first : contraction_.second, lane);
    if (lane < 0) return false;
    problem_.nontemporal = false;
  }
  const bool of_both = contraction_.role[static_cast<std::size_t>(lane)] == Role::batch;
  if (of_both && !suits_lanes_of_both(lane)) return false;
  const bool swapped = contraction_.role[static_cast<std::size_t>(lane)] == Role::rows;
  const auto& rows = load(swapped ? contraction_.second : contraction_.first);
  const auto& columns = load(swapped ? contraction_.first : contraction_.second);
  convert_rows_ = rows.type != type || (swapped ? contraction_.second : contraction_.first).rounded;
  convert_columns_ = columns.type != type || (swapped ? contraction_.first : contraction_.second).rounded;
  const bool converts = convert_rows_ || convert_columns_ || !sum_in_parts_;
  if (converts && (problem_.complex || is_complex(rows.type) || is_complex(columns.type))) return false;
  if (problem_.complex && !has_pairs(statement.value, lane)) return false;
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
    if (of_both && axis.index == lane) role = Role::columns;
    (role == Role::rows      ? rows_
     : role == Role::columns ? columns_
     : role == Role::depth   ? depth_
                             : problem_.batch)
        .push_back(axis);
  }
  const auto by_result = [](const Axis& x, const Axis& y) { return x.in_result > y.in_result; };
  std::stable_sort(columns_.begin(), columns_.end(), by_result);
  const auto is_lane = [&](const Axis& axis) { return axis.index == lane; };
  std::stable_partition(columns_.begin(), columns_.end(), [&](const Axis& axis) { return !is_lane(axis); });
  std::stable_sort(rows_.begin(), rows_.end(), by_result);
  // The fastest of the depth last: what is packed is read along it.
  sort_depth(depth_, product(rows_, extent_of), product(columns_, extent_of) / (of_both ? lane_extent() : 1));
  return true;
}

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device, std::size_t most) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return {};
  const auto alone = device.alone();
  ContractionEnumerator::Depth depth;
  for (const auto lanes : {Lanes::result, Lanes::first, Lanes::second}) {
    ContractionEnumerator way(program, *contraction, alone);
    const bool suits = way.suits(lanes);
    if (!suits && lanes == Lanes::result) return {};
    if (!suits) continue;
    if (const auto best = way.summed_in_one_go(); best.us < depth.us) depth = best;
  }
  std::vector<ContractionEnumerator> ways;
  std::vector<std::pair<ContractionEnumerator::Found, std::size_t>> found;
  for (const auto lanes : {Lanes::result, Lanes::first, Lanes::second}) {
    ContractionEnumerator way(program, *contraction, device);
    if (!way.suits(lanes)) continue;
    for (auto& each : way.all(depth.terms)) found.emplace_back(std::move(each), ways.size());
    ways.push_back(std::move(way));
  }
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return found[x].first.predicted_us < found[y].first.predicted_us;
  });
  std::vector<Candidate> list;
  std::set<std::string> names;
  for (const auto k : order) {
    const auto& way = ways[found[k].second];
    if (!names.insert(way.name(found[k].first)).second) continue;
    list.push_back(way.candidate(found[k].first));
    if (list.size() == most) break;
  }
  return list;
}

}  // namespace ricci::plan
