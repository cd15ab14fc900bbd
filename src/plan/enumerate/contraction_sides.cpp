#include "plan/enumerate/contraction_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/result.hpp"
#include "plan/enumerate/contraction_blocks.hpp"
#include "plan/enumerate/contraction_section.hpp"
#include "plan/models/columns_ahead_cpu.hpp"
#include "plan/models/cost_contraction_cpu.hpp"
#include "plan/models/result_runs.hpp"

namespace ricci::plan::gett {

using kernel::Role;

namespace {
constexpr std::int64_t kShortestAcross = 16;      // sum, for which results that are written one by one are few
constexpr std::int64_t kShortestTransposed = 24;  // sum, beside which transposing results in registers is little
}  // namespace

bool ContractionSides::suits(Lanes lanes) {
  const auto& statement = program_.statement();
  const auto type = contraction_.type;
  if (is_half(type) || size_of(type) < 4) return false;
  if (!kernel::has_vectors(contraction_, program_)) return false;
  problem_.size = size_of(type);
  problem_.operations = kernel::operations_of(contraction_, program_, false);
  problem_.complex = is_complex(type);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
  sum_in_parts_ = kernel::has_parts(program_, contraction_.reduce);
  for (const auto& index : program_.indices) names_.push_back(index.name);
  const auto& c = statement.offset.coefficient;
  problem_.far_result = (buffer.last - buffer.first + 1) * problem_.size > device_->l2_bytes;
  const bool past_caches =
      sum_in_parts_ && device_->beyond_caches(static_cast<double>((buffer.last - buffer.first + 1) * problem_.size)) &&
      std::none_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
        return node.kind == ir::NodeKind::load && node.source == statement.buffer;
      });
  // Lines that rows of the result share would be written by parts: twice, and read between. So would those of results
  // in half types, of which a vector is less than a line.
  problem_.nontemporal =
      past_caches && size_of(buffer.type) >= problem_.size &&
      std::all_of(c.begin(), c.end(), [&](std::int64_t step) { return step == 1 || step * problem_.size % 64 == 0; });
  problem_.shares_lines = past_caches && !problem_.nontemporal && buffer.type == type && !problem_.complex;
  int lane = -1;
  for (std::size_t q = 0; q < c.size(); ++q) {
    const auto role = contraction_.role[q];
    if (role == Role::summed || role == Role::other) return false;
    if (role == Role::depth) continue;
    if (c[q] <= 0) return false;
    if (role != Role::broadcast && c[q] == 1 && program_.indices[q].extent > 1) lane = static_cast<int>(q);
  }
  const auto is_of_both = [&] { return contraction_.role[static_cast<std::size_t>(lane)] == Role::batch; };
  if (lane >= 0 && is_of_both() && !suits_lanes_of_both(lane)) lane = -1;
  if (lane < 0) {
    // Without neighbours in the result vectors run along what lies nearest, and results are written lane by lane; so
    // where its neighbours are of a batch that leaves lanes idle, or shares too little.
    if (lanes != Lanes::result || problem_.complex || depth_extent() < kShortestAcross) return false;
    for (std::size_t q = 0; q < c.size(); ++q) {
      const auto role = contraction_.role[q];
      if ((role != Role::rows && role != Role::columns) || program_.indices[q].extent == 1) continue;
      if (lane < 0 || c[q] < c[static_cast<std::size_t>(lane)]) lane = static_cast<int>(q);
    }
    if (lane < 0) return false;
    problem_.nontemporal = problem_.shares_lines = false;
  }
  across_ = lanes != Lanes::result;
  if (across_) {
    lane = lane_across(lanes == Lanes::first ? contraction_.first : contraction_.second, lane);
    if (lane < 0) return false;
  }
  const bool of_both = is_of_both();
  const bool swapped = contraction_.role[static_cast<std::size_t>(lane)] == Role::rows;
  const auto& rows = load(swapped ? contraction_.second : contraction_.first);
  const auto& columns = load(swapped ? contraction_.first : contraction_.second);
  convert_rows_ = rows.type != type || (swapped ? contraction_.second : contraction_.first).rounded;
  convert_columns_ = columns.type != type || (swapped ? contraction_.first : contraction_.second).rounded;
  const bool converts = convert_rows_ || convert_columns_ || buffer.type != type;
  // Complex factors of another size are converted as they are packed, part by part.
  const bool of_pairs = is_complex(rows.type) && is_complex(columns.type) && buffer.type == type;
  if (converts && !of_pairs && (problem_.complex || is_complex(rows.type) || is_complex(columns.type))) return false;
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
  // What vectors run over is best far away where much is written: each of its values is a place that tiles go on at.
  const bool apart = problem_.far_result && depth_extent() <= kShortSum &&
                     lane_extent() % (device_->vector_bytes / problem_.size) != 0;
  if (apart && !across_ && columns_.size() > 2) std::rotate(columns_.begin(), columns_.begin() + 1, columns_.end() - 1);
  std::stable_sort(rows_.begin(), rows_.end(), by_result);
  // The fastest of the depth last: what is packed is read along it.
  sort_depth(depth_, product(rows_, extent_of), product(columns_, extent_of) / (of_both ? lane_extent() : 1));
  if (!of_both) make_groups(swapped);
  return true;
}

namespace {

constexpr double kWorthJoining = 1.05;  // share of register tiles that is used, over that of axes on their own
constexpr double kFull = 0.97;          // of which no more is worth a further axis

/// Share of a register tile's columns that is used, of the tiles that are wide enough for rows to be worth reading.
double used_columns(std::int64_t extent, std::int64_t lanes) {
  double most = 0;
  for (const std::int64_t vectors : {2, 3, 4}) {
    const auto tile = std::min(vectors * lanes, up(extent, lanes));
    most = std::max(most, static_cast<double>(extent) / static_cast<double>(up(extent, tile)));
  }
  return most;
}

/// What a register tile of rows is worth: the share of it that is used, and how often columns are.
double worth_of_rows(const Axes& rows) {
  double used = 1, points = 1;
  for (const auto& axis : rows) {
    used *= static_cast<double>(axis.extent) / static_cast<double>(up(axis.extent, axis.tile));
    points *= static_cast<double>(axis.tile);
  }
  return used * points / (points + 2);
}

}  // namespace

bool ContractionSides::join() {
  if (across_ || problem_.terms > 1 || lanes_of_both() || columns_.back().in_result != 1) return false;
  const bool columns = join_columns(), rows = join_rows();
  return columns || rows;
}

void ContractionSides::make_joined(Axes& axes, std::size_t count) {
  const auto first = axes.end() - static_cast<std::ptrdiff_t>(count);
  auto axis = axes.back();
  Joined joined;
  bool in_operand = true, in_result = true;  // all values lie evenly
  const auto step = step_of(axes);
  for (auto slower = axes.end() - 1; slower-- != first;) {
    in_operand = in_operand && (*slower).*step == axis.extent * axis.*step;
    in_result = in_result && slower->in_result == axis.extent * axis.in_result;
    axis.extent *= slower->extent;
  }
  for (auto member = first; member != axes.end(); ++member) {
    joined.members.push_back(name(*member));
    joined.name += name(*member);
  }
  if (!in_operand) axis.run_in_operand = axes.back().extent;
  if (!in_result) axis.run_in_result = axes.back().extent;
  axis.joined = true;
  axis.index = static_cast<int>(names_.size());
  names_.push_back(joined.name);
  joined_.push_back(std::move(joined));
  axes.erase(first, axes.end());
  axes.push_back(axis);
}

std::size_t ContractionSides::add_axis(Axes& axes, std::size_t count) const {
  const auto step = step_of(axes);
  const auto end = axes.end() - static_cast<std::ptrdiff_t>(count);
  std::int64_t evenly = axes.back().*step;
  for (auto axis = end; axis != axes.end(); ++axis) evenly *= axis->extent;
  auto next = end;
  for (auto axis = axes.begin(); axis != end; ++axis) {
    // Its neighbours would be read one by one.
    if ((*axis).*step == 1) continue;
    const auto before = [&](const Axis& x, const Axis& y) {
      return std::pair(x.*step != evenly, x.in_result) < std::pair(y.*step != evenly, y.in_result);
    };
    if (next == end || before(*axis, *next)) next = axis;
  }
  if (next == end) return count;
  std::rotate(next, next + 1, end);
  return count + 1;
}

bool ContractionSides::join_columns() {
  const auto widest = device_->vector_bytes / problem_.size;
  auto extent = lane_extent();
  auto used = used_columns(extent, widest);
  if (extent < widest || is_worth_narrow(widest / 2)) used = std::max(used, used_columns(extent, widest / 2));
  if (problem_.complex || used * kWorthJoining > 1) return false;
  auto axes = columns_;
  std::size_t count = 1;
  double joined = 0;
  while (joined < kFull) {
    const auto more = add_axis(axes, count);
    if (more == count) break;
    count = more;
    extent *= axes[axes.size() - count].extent;
    joined = used_columns(extent, widest);
  }
  if (joined < kWorthJoining * used) return false;
  columns_ = std::move(axes);
  make_joined(columns_, count);
  problem_.nontemporal = problem_.shares_lines = false;
  return true;
}

bool ContractionSides::join_rows() {
  constexpr std::int64_t kRows = 9, kMoreRows = 14;  // of tiles of three and of two vectors
  if (rows_.size() < 2) return false;
  const auto worth = [&](Axes axes) {
    double sum = 0;
    for (const auto most : {kRows, kMoreRows}) {
      cover(axes, most);
      sum += worth_of_rows(axes);
    }
    return sum;
  };
  auto axes = rows_;
  // Rows are packed by vectors of neighbours, or by transposes of what lies along the depth.
  const auto reads_neighbours = [](const Axis& axis) { return axis.in_rows == 1; };
  const auto fastest = std::find_if(axes.begin(), axes.end(), reads_neighbours);
  if (fastest != axes.end()) {
    std::rotate(fastest, fastest + 1, axes.end());
  } else if (std::none_of(depth_.begin(), depth_.end(), reads_neighbours)) {
    return false;
  }
  const double alone = worth(axes);
  std::size_t count = 1;
  Axis one;
  one.extent = axes.back().extent;
  double best = 0;
  while (count < axes.size()) {
    const auto more = add_axis(axes, count);
    if (more == count) break;
    count = more;
    one.extent *= axes[axes.size() - count].extent;
    Axes joined(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(count));
    joined.push_back(one);
    best = worth(std::move(joined));
    if (best > kWorthJoining * alone) break;
  }
  if (best < kWorthJoining * alone) return false;
  rows_ = std::move(axes);
  make_joined(rows_, count);
  return true;
}

bool ContractionSides::is_worth_narrow(std::int64_t lanes) const {
  return lanes * problem_.size == device_->datapath_bytes && lane_extent() % (2 * lanes) != 0 &&
         lane_extent() % (2 * lanes) <= lanes;
}

int ContractionSides::lane_across(const kernel::Factor& factor, int fastest) const {
  if (problem_.complex || contraction_.reduce < 0 || depth_extent() < kShortestTransposed) return -1;
  if (contraction_.role[static_cast<std::size_t>(fastest)] == Role::batch) return -1;
  const auto& step = load(factor).offset.coefficient;
  for (std::size_t q = 0; q < step.size(); ++q) {
    const auto role = contraction_.role[q];
    const auto extent = program_.indices[q].extent;
    if (step[q] == 1 && (role == Role::rows || role == Role::columns) && static_cast<int>(q) != fastest &&
        extent >= device_->vector_bytes / problem_.size)
      return static_cast<int>(q);
  }
  return -1;
}

bool ContractionSides::suits_lanes_of_both(int lane) const {
  constexpr std::int64_t kVectors = 4, kUses = 16;
  return contraction_.reduce >= 0 &&
         program_.indices[static_cast<std::size_t>(lane)].extent >= kVectors * device_->vector_bytes / problem_.size &&
         contraction_.extent(program_, Role::rows) >= kUses && contraction_.extent(program_, Role::columns) >= kUses &&
         !contraction_.indices(Role::depth).empty();
}

bool ContractionSides::has_pairs(ir::NodeId id, int lane) const {
  if (id == contraction_.reduce) return true;
  const auto& node = program_.nodes[static_cast<std::size_t>(id)];
  if (node.type != contraction_.type) return false;
  if (node.kind == ir::NodeKind::load) return node.offset.coefficient[static_cast<std::size_t>(lane)] == 1;
  if (node.kind != ir::NodeKind::op) return false;
  const auto holds = [&](int k) { return has_pairs(node.operand[k], lane); };
  const auto factor = [&](int k) {
    const auto& operand = program_.nodes[static_cast<std::size_t>(node.operand[k])];
    return operand.type == node.type && (operand.kind == ir::NodeKind::param || operand.kind == ir::NodeKind::constant);
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

std::string ContractionSides::name(const Blocking& b) const {
  auto text = fmt::format("{} {}{}x{}",
                          b.depth.empty()     ? "outer"
                          : b.lanes_of_both() ? "batched"
                                              : "gett",
                          problem_.terms > 1 ? "dot " : "", product(b.rows, tile_of), product(b.columns, tile_of));
  if (!b.depth.empty()) text += fmt::format(" depth {}", product(b.depth, tile_of) * problem_.terms);
  if (across_) text += fmt::format(" vectors along {}", name(b.columns.back()));
  if (b.lanes < device_->vector_bytes / problem_.size) text += fmt::format(" lanes {}", b.lanes);
  if (b.blocks != Blocks::near) text += b.blocks == Blocks::wide ? " wide" : " along";
  for (const auto& joined : joined_) text += " joined " + joined.name;
  if (b.pack_rows || b.pack_columns) {
    text += fmt::format(" packed{}{}", b.pack_rows ? " " + rows_name_ : "", b.pack_columns ? " " + columns_name_ : "");
  }
  return text;
}

bool ContractionSides::make_tiles(Blocking& b, std::int64_t vectors, std::int64_t most_rows) const {
  for (auto& axis : b.columns) axis.tile = 1;
  auto& lane = b.columns.back();
  if (b.rows.empty() && b.pack_rows && problem_.terms == 1) return false;
  if (b.lanes_of_both()) return tile_lanes_of_both(b, vectors, most_rows);
  if (across_) return tile_across(b, vectors, most_rows, [&] { cover_rows(b.rows, most_rows); });
  if (!b.pack_columns && lane.in_columns != 1) return false;
  lane.tile = std::min(vectors * b.lanes, up(lane.extent, b.lanes));
  if (!b.pack_columns) shorten(lane, b.lanes);
  if (const auto along = parts(lane.tile, b.lanes), more = vectors / along; !run_over(b, vectors) && more > 1) {
    if (vectors % along != 0) return false;
    auto& next = b.columns[b.columns.size() - 2];
    next.tile = parts(next.extent, parts(next.extent, more));
    if (!b.pack_columns && next.extent % next.tile != 0) return false;
  }
  if (!b.pack_columns && lane.extent % lane.tile != 0) return false;
  cover_rows(b.rows, most_rows);
  if (streams_rows(b)) {
    for (auto& axis : b.rows) axis.task = axis.extent;
    divide(b.rows, std::min(most_rows, kStreams));
  }
  return b.pack_rows ||
         std::all_of(b.rows.begin(), b.rows.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
}

bool ContractionSides::run_over(Blocking& b, std::int64_t vectors) const {
  if (!b.pack_columns || b.columns.size() == 1 || problem_.complex || problem_.terms > 1 ||
      lane_extent() % b.lanes == 0)
    return false;
  auto &lane = b.columns.back(), &next = b.columns.end()[-2];
  const auto most = std::min(vectors * b.lanes / lane.extent, next.extent);
  if (most < 2 || lane.in_result != 1 || lane.joined || next.joined) return false;
  const auto tiles = parts(next.extent, most), tile = parts(next.extent, tiles);
  const auto over = static_cast<double>(tiles * parts(tile * lane.extent, b.lanes));  // vectors of all columns
  if (over * kWorthJoining > static_cast<double>(next.extent * parts(lane.extent, b.lanes))) return false;
  lane.tile = lane.extent;
  next.tile = tile;
  return true;
}

bool ContractionSides::streams_rows(const Blocking& b) const {
  constexpr std::int64_t kFewColumns = 4;
  return !b.pack_rows && !b.rows.empty() && !across_ && !lanes_of_both() &&
         product(b.columns, extent_of) <= kFewColumns && depth_extent() >= kLongStream && depth_.back().in_rows == 1;
}

void ContractionSides::cover_rows(Axes& rows, std::int64_t most) const {
  auto& tiles = covers_[most];
  if (tiles.empty()) {
    cover(rows, most);
    for (const auto& axis : rows) tiles.push_back(axis.tile);
  }
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k].tile = tiles[k];
}

void ContractionSides::shorten(Axis& lane, std::int64_t lanes) const {
  if (problem_.complex) return;
  for (auto tile = std::min(lane.tile, lane.extent); tile > lane.tile - lanes; --tile) {
    if (lane.extent % tile != 0) continue;
    if (tile < lane.extent && tile % lanes != 0 && problem_.nontemporal) return;
    lane.tile = tile;
    return;
  }
}

bool ContractionSides::make_depth(Blocking& b, std::int64_t most) const {
  // A result that no parts pass through has its sum in one: it is rounded once to its own type, say.
  const bool exact =
      !b.pack_rows || !b.pack_columns || !contraction_.keeps_zeros;  // no zeros behind where the index ends
  cut_depth(b.depth, sum_in_parts_ ? most : product(b.depth, extent_of), problem_.size, exact);
  return !exact ||
         std::all_of(b.depth.begin(), b.depth.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
}

double ContractionSides::points() const {
  double all = static_cast<double>(product(problem_.batch, extent_of));
  for (const auto* axes : {&rows_, &columns_, &depth_}) all *= static_cast<double>(product(*axes, extent_of));
  return all;
}

double ContractionSides::make_fewer_tasks(Blocking& b, std::int64_t room) const {
  constexpr double kLonger = 1.1;
  const double us = predicted_us(b, problem_, *device_);
  if (device_->threads == 1) return us;  // for whom there is no number of tasks
  auto few = b;
  make_blocks(few, room, kFewTasks);
  if (same_blocks(few, b)) return us;
  const double few_us = predicted_us(few, problem_, *device_);
  if (few_us >= kLonger * us) return us;
  b = std::move(few);
  return few_us;
}

void ContractionSides::make_blocks(Blocking& b, std::int64_t room, std::int64_t tasks_of_thread) const {
  if (b.lanes_of_both()) return make_blocks_of_both(b);
  const auto chunk = product(b.depth, tile_of);
  const auto batch = product(problem_.batch, extent_of), depth = product(b.depth, extent_of);
  const auto rows = product(b.rows, extent_of), columns = product(b.columns, extent_of);
  const auto tile_rows = product(b.rows, tile_of);
  // Few rows where writing is most of the work: tiles come back soon to where they wrote before. Rows that are read in
  // place go on where they ended, so that the processor fetches them ahead.
  constexpr std::int64_t kFewTiles = 8;
  const bool go_on = across_ && !b.pack_rows && b.depth.back().in_rows == 1;
  const bool few = !go_on && depth <= kShortSum && batch * rows * columns * problem_.size > 2 * device_->l2_bytes;
  const auto of_cache = few ? device_->l1_bytes / 2 : device_->l2_bytes * 2 / 5;
  const bool long_sums = depth > 4 * std::min(rows, columns);
  const auto counts =
      2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth * batch);
  constexpr std::int64_t kFewerOfLongSums = 3;  // tasks, each of which packs anew what it sums
  const auto of_thread = long_sums ? std::max<std::int64_t>(tasks_of_thread / kFewerOfLongSums, 1) : tasks_of_thread;
  const auto wanted = device_->threads == 1 || counts < 2e6 ? 1 : of_thread * device_->threads;
  // A task each where results are few and the sums long: what is packed is packed as rarely as can be, once in two
  // tasks of rows and of columns.
  auto most_rows = std::max(of_cache / problem_.size / chunk, few ? kFewTiles * tile_rows : tile_rows);
  if (depth > 4 * std::max(rows, columns) && batch < wanted)
    most_rows = std::min(most_rows, up(parts(rows, 2), tile_rows));
  // Without sums the result's rows are written one after the other.
  grow(b.rows, depth_.empty() ? tile_rows : most_rows, few ? 1 : 64 / problem_.size,
       few ? &Axis::in_result : &Axis::in_rows);
  // Lines from memory fill as much of the cache as what is packed of them.
  if (packs_from_memory(b, problem_, *device_)) room /= 2;
  // Those that are fetched ahead are there twice, and few, as none is packed.
  if (may_read_ahead(b, problem_, *device_)) room = std::min(room, device_->l2_bytes / 8);
  if (may_pack_ahead(b, problem_, *device_)) room = std::min(room, device_->l2_bytes / kAheadBlocks);
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
  // Columns that threads share evenly; along what is contiguous blocks are whole lines.
  for (auto& axis : b.columns) {
    if (axis.in_columns == 1 || axis.block >= axis.extent) continue;
    const auto others = b.column_tasks / parts(axis.extent, axis.block) * b.row_tasks * batch;
    axis.block =
        axis.tile * even_share(parts(axis.extent, axis.tile), axis.block / axis.tile, others, device_->threads);
    b.column_tasks = parts_of(b.columns, block_of);
  }
  cut(b.rows, b.row_tasks, b.column_tasks * batch, device_->threads);
  b.row_tasks = 1;
  for (const auto& axis : b.rows) b.row_tasks *= parts(axis.extent, axis.task);
  for (auto& axis : b.columns) axis.task = axis.block;
}

void ContractionSides::make_streams(Blocking& b) {
  for (auto& axis : b.rows) axis.block = axis.task = axis.tile;
  b.row_tasks = parts_of(b.rows, tile_of);
}

void ContractionSides::make_blocks_of_both(Blocking& b) const {
  auto lane = b.columns.back();
  b.columns.pop_back();
  const auto chunk = product(b.depth, tile_of) * problem_.size;
  const auto tile_columns = product(b.columns, tile_of);
  const auto near = device_->l1_bytes * 3 / 4 / chunk / lane.tile - tile_columns;  // rows beside a tile of columns
  grow(b.rows, std::max(near, product(b.rows, tile_of)), 1, &Axis::in_result);
  const auto block_rows = product(b.rows, block_of);
  constexpr std::int64_t kShareOfCache = 8;  // what is packed is read soon
  auto most = std::max(device_->l2_bytes / kShareOfCache / chunk, lane.tile);
  const auto vectors = parts(lane.extent, lane.tile);
  const auto batch = product(problem_.batch, extent_of);
  const std::int64_t wanted = std::int64_t{4} * device_->threads;
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
    if (device_->threads == 1 || b.column_tasks * batch >= wanted || most <= places * lane.tile) break;
  }
  b.columns.push_back(lane);
  for (auto* axes : {&b.columns, &b.rows}) {
    for (auto& axis : *axes) axis.task = axes == &b.columns ? axis.block : axis.block * parts(axis.extent, axis.block);
  }
  b.row_tasks = 1;
}

kernel::Directives ContractionSides::directives(const Blocking& b) const {
  std::vector<std::string> tasks;
  for (const auto& axis : problem_.batch) tasks.push_back(name(axis));
  for (const auto& axis : task_order(b, problem_, *device_)) tasks.push_back(name(axis) + "0");
  kernel::Directives list;
  for (const auto& joined : joined_) {
    kernel::Directive directive;
    directive.kind = kernel::Directive::Kind::join;
    directive.subject = joined.name;
    directive.loops = {{"", joined.members}};
    list.push_back(std::move(directive));
  }
  add_loops(list, names_, b, tasks, follows_result(b, problem_, *device_));
  const auto tiles = list.back().loops.back().second.back();
  add_product(list, names_, b, tasks.back(), rows_name_, columns_name_);
  const auto add = [&](kernel::Directive::Kind kind, const std::string& subject = {}) -> kernel::Directive& {
    list.emplace_back().kind = kind;
    list.back().subject = subject;
    return list.back();
  };
  if (const auto runs = gathered_runs(b, problem_, *device_)) {
    auto& store = add(kernel::Directive::Kind::store);
    store.space = "scratch";
    store.at = tiles;
    add(kernel::Directive::Kind::carry, names_[static_cast<std::size_t>(runs->carried)]);
  } else if (problem_.nontemporal && depth_chunks(b) == 1 && b.writes_vectors()) {
    add(kernel::Directive::Kind::nontemporal);
  } else if (problem_.far_result) {
    add(kernel::Directive::Kind::prefetch);
  }
  if (reads_ahead(b, problem_, *device_) || packs_ahead(b, problem_, *device_) ||
      packs_parts_ahead(b, problem_, *device_))
    add(kernel::Directive::Kind::prefetch, columns_name_);
  if (reads_rows_ahead(b, problem_, *device_)) add(kernel::Directive::Kind::prefetch, rows_name_);
  return list;
}
}  // namespace ricci::plan::gett
