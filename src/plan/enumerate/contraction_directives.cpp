// The schedule of a contraction for a GPU, as a name and as directives.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

using kernel::Directive;
using tiles::Axes;
using tiles::parts;
using tiles::Tile;

std::string GpuContraction::name(const Cut& cut) const {
  const auto list = [](const Axes& axes, const Tile& tile) {
    if (tile.joined > 0) return fmt::format("{}{}", joined_name(axes, tile), tile.size);
    std::string text;
    for (const auto k : tile.order) {
      if (tile.crossed && k == tile.order.back()) text += " by ";
      if (tile.sizes[k] > 1) text += fmt::format("{}{}", axes[k].name, tile.sizes[k]);
    }
    return text.empty() ? std::string("1") : text;
  };
  const auto tile = fmt::format("{}{} {} x {}", atom_of(*cut.depth).name, factor_parts > 1 || by_three() ? "x3" : "",
                                list(row_axes, *cut.rows), list(column_axes, *cut.columns));
  const bool alone = cut.share.blocks == 1;
  const auto warps = fmt::format("warps {}x{}{}", cut.spread.warp_rows, cut.spread.warp_columns,
                                 alone && cut.relaid ? " via shared" : "");
  if (is_outer()) return fmt::format("{} {}", tile, warps);
  const auto beside = products > 1 ? fmt::format(" beside {}{}", batch_axes[products_axis].name, products) : "";
  return fmt::format("{} x {}{} {} stages {}{}{}{}{}", tile, list(depth_axes, *cut.depth), beside, warps, cut.stages,
                     cut.prefetch ? " prefetch" : "", alone ? "" : fmt::format(" cluster {}", cut.share.blocks),
                     cut.share.last > 0 ? fmt::format(" last {}", cut.share.last) : "",
                     cut.turns > 1 ? fmt::format(" turns {}", cut.turns) : "");
}

std::vector<GpuContraction::DepthDigit> GpuContraction::depth_digits(const Tile& depth) const {
  constexpr std::int64_t kPair = 2;
  std::vector<DepthDigit> digits;
  for (const auto k : depth.order) digits.push_back({k, depth.sizes[k], false});
  if (!depth.crossed) return digits;
  std::vector<DepthDigit> pairs;
  for (auto digit = digits.end() - 2; digit != digits.end(); ++digit) {
    pairs.push_back({digit->axis, kPair, true});
    digit->extent /= kPair;
  }
  // Lanes have the pairs, and blocks of an atom's positions end with a digit around them.
  const auto even = std::find_if(digits.rbegin(), digits.rend(), [](const auto& d) { return d.extent % 2 == 0; });
  if (even != digits.rend()) std::rotate(even.base() - 1, even.base(), digits.end());
  digits.insert(digits.end(), pairs.begin(), pairs.end());
  return digits;
}

std::vector<GpuContraction::DepthDigit> GpuContraction::lying(std::vector<DepthDigit> digits, const Tile& depth,
                                                              bool of_rows) {
  const auto last = depth.lying(of_rows).order;
  std::stable_sort(digits.begin(), digits.end(), [&](const DepthDigit& x, const DepthDigit& y) {
    return std::find(last.begin(), last.end(), x.axis) < std::find(last.begin(), last.end(), y.axis);
  });
  return digits;
}

namespace {

constexpr std::int64_t kGrouped = 8;  // rows of blocks that go together

bool are_many(std::int64_t blocks) { return blocks >= 2 * kGrouped; }

/// An index and its level, of the name of a loop.
std::pair<std::string, std::size_t> level_of(const std::string& loop) {
  const auto digits = loop.find_last_not_of("0123456789") + 1;
  return {loop.substr(0, digits), std::stoul(loop.substr(digits))};
}
std::string level_inside(const std::string& loop) {
  const auto [subject, level] = level_of(loop);
  return fmt::format("{}{}", subject, level + 1);
}

/// Splits the level of a loop over blocks, so that each of them makes so many of its tiles in turns; the loop that goes
/// through these.
std::string take_turns(kernel::Directives& list, const BlockLoop& loop, std::int64_t turns) {
  if (turns == loop.count) return loop.name;
  const auto [subject, level] = level_of(loop.name);
  auto& sizes = std::find_if(list.begin(), list.end(), [&, &of = subject](const Directive& d) {
                  return d.kind == Directive::Kind::tile && d.subject == of;
                })->sizes;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(level), turns * sizes[level]);
  return level_inside(loop.name);
}

}  // namespace

std::size_t GpuContraction::grouped_rows(const Cut& cut) const {
  auto grouped = row_axes.size();
  if (follows_result || !are_many(cut.rows->blocks) || cut.columns->blocks < kGrouped) return grouped;
  std::int64_t others = 1;  // blocks of axes before those that are joined
  for (const auto k : cut.rows->order) {
    const auto blocks =
        cut.rows->is_joined(k) ? cut.rows->blocks / others : parts(row_axes[k].extent, cut.rows->sizes[k]);
    // Of the last tiles none is missing.
    if (are_many(blocks) && (cut.share.last == 0 || blocks % kGrouped == 0)) grouped = k;
    if (!cut.rows->is_joined(k)) others *= blocks;
  }
  return grouped;
}

std::vector<BlockLoop> GpuContraction::block_loops(const Cut& cut) const {
  const auto grouped = grouped_rows(cut);
  std::vector<BlockLoop> near;
  const auto of = [&](bool of_rows) {
    const auto& axes = of_rows ? row_axes : column_axes;
    const auto& tile = of_rows ? *cut.rows : *cut.columns;
    std::vector<BlockLoop> loops;
    const auto add = [&](const std::string& name, std::int64_t extent, std::int64_t step, bool in_groups) {
      loops.push_back({name + "0", of_rows, parts(extent, in_groups ? kGrouped * step : step), extent % step == 0});
      if (in_groups) near = {{name + "1", of_rows, kGrouped, extent % (kGrouped * step) == 0}};
    };
    std::int64_t joined = 1;
    for (const auto k : tile.order) {
      if (tile.is_joined(k))
        joined *= axes[k].extent;
      else if (tile.sizes[k] != axes[k].extent)
        add(axes[k].name, axes[k].extent, tile.sizes[k], of_rows && k == grouped);
    }
    if (tile.joined > 0) add(joined_name(axes, tile), joined, tile.size, of_rows && tile.order.back() == grouped);
    return loops;
  };
  auto rows = of(true), columns = of(false);
  auto& first = !near.empty() || cut.columns->blocks <= cut.rows->blocks ? rows : columns;
  const auto& then = &first == &rows ? columns : rows;
  first.insert(first.end(), then.begin(), then.end());
  first.insert(first.end(), near.begin(), near.end());
  if (follows_result) {
    std::stable_sort(first.begin(), first.end(),
                     [&](const BlockLoop& x, const BlockLoop& y) { return result_step(cut, x) > result_step(cut, y); });
  }
  return std::move(first);
}

const BlockLoop* GpuContraction::turning_loop(const std::vector<BlockLoop>& loops) const {
  const BlockLoop* most = nullptr;
  for (const auto& loop : loops) {
    if (loop.of_rows == cached_rows_) continue;
    if (!loop.name.ends_with('0')) return nullptr;  // in groups
    if (most == nullptr || loop.count > most->count) most = &loop;
  }
  return most;
}

std::int64_t GpuContraction::result_step(const Cut& cut, const BlockLoop& loop) const {
  auto least = std::numeric_limits<std::int64_t>::max();
  const auto& axes = loop.of_rows ? row_axes : column_axes;
  const auto& tile = loop.of_rows ? *cut.rows : *cut.columns;
  const bool joined = tile.joined > 0 && loop.name == joined_name(axes, tile) + "0";
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (joined ? tile.is_joined(k) : loop.name == axes[k].name + "0")
      least = std::min(least, std::abs(axes[k].in_other));
  }
  return least;
}

// Of 18 products of 24 values of each index in f32, f64 and c128 on an H200 that are added to what was there, all took
// 0.40 to 0.97 of the time so: what lanes read in pieces comes by runs, while the block waits for its operands. Long
// sums have the time to read it as it is: three residuals of sums of 1,024 and more took 1.006 to 1.009 times as long.
bool GpuContraction::prefetches(const Cut& cut) const {
  constexpr std::int64_t kUnit = 16, kLeastBytes = 64;
  constexpr double kLong = 4, kMemoryBytes = 16;  // times what results take; of a multiprocessor in a cycle
  const bool is_long = terms / rate > kLong * static_cast<double>(2 * result_size) / kMemoryBytes;
  if (is_long || !reads_result || cut.share.blocks > 1 || cut.rows->joined > 0 || cut.columns->joined > 0 ||
      result_alignment % kUnit != 0)
    return false;
  const auto turning = cut.turns > 1 ? block_loops(cut)[cut.turning].name : std::string();
  struct Digit {
    std::int64_t step, count;
    bool ragged;
  };
  ir::Few<Digit, 12> digits;
  std::int64_t steps = 0;  // of all that is no run, whose lowest bit is that of each
  const auto add = [&](const Axes& axes, const tiles::Tile& tile, std::size_t group) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto level = tile.sizes[k] * (k == group ? kGrouped : 1);
      const auto whole = level * (axes[k].name + "0" == turning ? cut.turns : 1);
      if (tile.sizes[k] > 1) digits.push_back({axes[k].in_other, tile.sizes[k], axes[k].extent % whole != 0});
      if (tile.sizes[k] < axes[k].extent) steps |= axes[k].in_other * tile.sizes[k];
    }
  };
  add(row_axes, *cut.rows, grouped_rows(cut));
  add(column_axes, *cut.columns, column_axes.size());
  for (std::size_t k = 0; k < batch_axes.size(); ++k) {
    if (products > 1 && k == products_axis) {
      digits.push_back({in_result(), products, batch_axes[k].extent % products != 0});
    } else if (batch_axes[k].extent > 1) {
      steps |= in_result(k);
    }
  }
  std::sort(digits.begin(), digits.end(), [](const Digit& x, const Digit& y) { return x.step < y.step; });
  std::int64_t run = 1;
  for (const auto& digit : digits) {
    if (digit.step == run && !digit.ragged) {
      run *= digit.count;
    } else {
      steps |= digit.step;
    }
  }
  return run * result_size >= kLeastBytes && (steps | run) * result_size % kUnit == 0;
}

kernel::Directives GpuContraction::directives(const Cut& cut, const std::array<int, 2>& padding) const {
  kernel::Directives list;
  std::vector<std::string> chunks, task;
  const auto grouped = grouped_rows(cut);
  // What a warp group reads along a side lies in panels as wide as its rows: a level of the side's fastest axis.
  const auto panel = [&](bool of_rows) {
    return read_by_groups(of_rows) && !deep(of_rows)
               ? group_row(of_rows, of_rows ? *cut.rows : *cut.columns, *cut.depth)
               : 0;
  };
  std::string row_panels, column_panels;
  const auto join = [&](const Axes& axes, const Tile& t, bool in_groups) {
    Directive d;
    d.kind = Directive::Kind::join;
    d.subject = joined_name(axes, t);
    auto& [word, members] = d.loops.emplace_back();
    for (const auto k : joined_axes(t)) members.push_back(axes[k].name);
    list.push_back(d);
    d.kind = Directive::Kind::tile;
    d.loops.clear();
    d.sizes = in_groups ? std::vector{kGrouped * t.size, t.size} : std::vector{t.size};
    list.push_back(std::move(d));
  };
  const auto tile = [&](const Axes& axes, const Tile& t, std::size_t group, std::int64_t wide, std::string* panels) {
    for (const auto k : t.order) {
      if (t.is_joined(k)) break;
      const auto n = t.sizes[k];
      Directive d;
      d.kind = Directive::Kind::tile;
      d.subject = axes[k].name;
      d.sizes = {n};
      if (k == group) d.sizes = {kGrouped * n, n};
      const bool split = wide > 0 && wide < n && k == t.order.back();
      if (split) {
        *panels = fmt::format("{}{}", axes[k].name, d.sizes.size());
        d.sizes.push_back(wide);
      }
      // Of a depth, pairs of the axes that have neighbours of the operands.
      const bool pairs = t.crossed && n > 2 && (k == t.order.back() || k == t.order.end()[-2]);
      if (pairs) d.sizes.push_back(2);
      if (n != axes[k].extent || split || pairs) list.push_back(std::move(d));
    }
    if (t.joined > 0) join(axes, t, group == t.order.back());
  };
  tile(row_axes, *cut.rows, grouped, panel(true), &row_panels);
  tile(column_axes, *cut.columns, column_axes.size(), panel(false), &column_panels);
  tile(depth_axes, *cut.depth, depth_axes.size(), 0, nullptr);
  for (const auto k : cut.depth->order) {
    if (!cut.depth->is_joined(k) && cut.depth->sizes[k] != depth_axes[k].extent)
      chunks.push_back(depth_axes[k].name + "0");
  }
  if (cut.depth->joined > 0) chunks.push_back(joined_name(depth_axes, *cut.depth) + "0");
  std::vector<std::string> cluster;
  if (cut.share.blocks > 1) {
    const auto& name = depth_axes[cut.share.axis].name;
    const auto n = cut.depth->sizes[cut.share.axis];
    auto& sizes = std::find_if(list.begin(), list.end(), [&](const Directive& d) { return d.subject == name; })->sizes;
    sizes.insert(sizes.begin(), cut.share.chunks * n);
    *std::find(chunks.begin(), chunks.end(), name + "0") = name + "1";
    cluster = {name + "0"};
  }
  std::vector<std::string> beside;
  for (const auto& axis : batch_axes) {
    const bool shared = products > 1 && &axis == &batch_axes[products_axis];
    if (shared) beside = {axis.name};
    if (shared && products == axis.extent) continue;
    task.push_back(axis.name);
    if (!shared) continue;
    task.back() += "0";
    Directive d;
    d.kind = Directive::Kind::tile;
    d.subject = axis.name;
    d.sizes = {products};
    list.push_back(std::move(d));
  }
  const auto loops = block_loops(cut);
  for (const auto& loop : loops) task.push_back(loop.name);
  if (chunks.empty() && task.empty()) {
    // All of it is one tile: a loop of one round to stage at.
    const auto& axis = is_outer() ? row_axes[cut.rows->order.back()] : depth_axes[cut.depth->order.back()];
    const auto made =
        std::find_if(list.begin(), list.end(), [&](const Directive& d) { return d.subject == axis.name; });
    if (made != list.end()) {
      made->sizes.insert(made->sizes.begin(), axis.extent);  // of a crossed depth
    } else {
      Directive d;
      d.kind = Directive::Kind::tile;
      d.subject = axis.name;
      d.sizes = {axis.extent, axis.extent};
      list.push_back(std::move(d));
    }
    (is_outer() ? task : chunks) = {axis.name + "0", axis.name + "1"};
  }
  // Loops of one round outside: the innermost one is the pipeline. What the last tiles' parts are of is around others.
  std::stable_sort(chunks.begin(), chunks.end(), [&](const std::string& x, const std::string& y) {
    const auto inside = [&](const std::string& name) {
      if (cut.depth->joined > 0 && name == joined_name(depth_axes, *cut.depth) + "0") return 2;
      for (std::size_t k = 0; k < depth_axes.size(); ++k) {
        const bool shared = !cluster.empty() && k == cut.share.axis;
        if (depth_axes[k].name + (shared ? "1" : "0") != name) continue;
        if (shared && cut.share.last > 0) return 1;
        if ((shared ? cut.share.chunks : parts(depth_axes[k].extent, cut.depth->sizes[k])) == 1) return 0;
        return depth_axes[k].is_of_one() ? 3 : 2;  // the other operand's elements are read again soon
      }
      return 0;
    };
    return inside(x) < inside(y);
  });
  std::string turning;
  if (cut.turns > 1) {
    const auto& loop = loops[cut.turning];
    turning = take_turns(list, loop, cut.turns);
    if (turning == loop.name) std::erase(task, turning);
    for (auto* panels : {&row_panels, &column_panels}) {
      if (turning != loop.name && !panels->empty() && level_of(*panels).first == level_of(loop.name).first)
        *panels = level_inside(*panels);
    }
  }
  Directive order;
  order.kind = Directive::Kind::order;
  if (!task.empty()) order.loops.emplace_back("task", task);
  if (!cluster.empty()) order.loops.emplace_back("cluster", cluster);
  if (cut.share.last > 0) order.loops.push_back({"last", {std::to_string(cut.share.last)}});
  if (!turning.empty()) order.loops.push_back({"serial", {turning}});
  if (!chunks.empty()) order.loops.emplace_back("sum", chunks);
  list.push_back(order);
  const auto at = !turning.empty() && cut.rounds() == 1 ? turning : chunks.empty() ? task.back() : chunks.back();
  const auto names = [](const Axes& axes, const Tile& t, const std::string& panels) {
    std::vector<std::string> all;
    for (const auto k : t.order) {
      if (!t.is_joined(k)) all.push_back(axes[k].name);
    }
    if (t.joined > 0) all.push_back(joined_name(axes, t));
    if (!panels.empty()) all.insert(all.end() - 1, panels);
    return all;
  };
  const auto rows = names(row_axes, *cut.rows, row_panels), columns = names(column_axes, *cut.columns, column_panels),
             depth = names(depth_axes, *cut.depth, {});
  const auto names_of = [&](const std::vector<DepthDigit>& digits) {
    std::vector<std::string> all;
    for (const auto& digit : digits) {
      const auto& name = depth_axes[digit.axis].name;
      const bool split = !digit.pair && std::any_of(digits.begin(), digits.end(), [&](const DepthDigit& other) {
        return other.axis == digit.axis && other.pair;
      });
      if (!split) all.push_back(name);
      if (!split || digit.extent == 1) continue;
      const auto made = std::find_if(list.begin(), list.end(), [&](const Directive& d) { return d.subject == name; });
      all.push_back(fmt::format("{}{}", name, made->sizes.size() - 1));
    }
    return all;
  };
  const auto digits = depth_digits(*cut.depth);
  const auto stage = [&](bool of_rows) {
    Directive d;
    d.kind = Directive::Kind::stage;
    d.subject = of_rows ? rows_name_ : columns_name_;
    // What stays for all tiles of a block is copied once.
    d.at = turning != at || cut.turns_rows == of_rows || task.empty() ? at : task.back();
    d.space = converts(of_rows) ? "shared" : "async";
    const bool along_depth = deep(of_rows);
    const auto& side = of_rows ? rows : columns;
    auto deep = cut.depth->crossed ? names_of(lying(digits, *cut.depth, of_rows)) : depth;
    for (const auto& axis : depth_axes) {
      if ((of_rows ? axis.in_operand : axis.in_other) == 0) std::erase(deep, axis.name);
    }
    auto dimensions = along_depth ? side : deep;
    for (const auto& n : along_depth ? deep : side) dimensions.push_back(n);
    if (read_by_groups(of_rows) && !along_depth) {
      dimensions = side;
      dimensions.insert(dimensions.end() - 1, deep.begin(), deep.end());
    }
    dimensions.insert(by_lanes() ? dimensions.end() : dimensions.begin(), beside.begin(), beside.end());
    d.loops.emplace_back("", std::move(dimensions));
    if (!read_by_groups(of_rows) && !is_outer()) d.padding = padding[of_rows ? 0 : 1];
    list.push_back(std::move(d));
  };
  stage(true);
  stage(false);
  Directive atom;
  atom.kind = Directive::Kind::atom;
  atom.subject = atom_of(*cut.depth).name;
  atom.loops = {{"rows", rows}, {"columns", columns}};
  if (!is_outer()) atom.loops.emplace_back("depth", cut.depth->crossed ? names_of(digits) : depth);
  if (!beside.empty()) atom.loops.emplace_back("batch", beside);
  atom.warps = {cut.spread.warp_rows, cut.spread.warp_columns};
  atom.blocks = cut.resident;
  atom.parts = factor_parts;
  if (by_three()) atom.products = real_products;
  atom.runs = {cut.spread.run_rows, cut.spread.run_columns, cut.spread.run_depth};
  list.push_back(std::move(atom));
  if (cut.relaid && cluster.empty()) {
    Directive store;
    store.kind = Directive::Kind::store;
    store.space = "shared";
    list.push_back(std::move(store));
  }
  const auto say = [&](Directive::Kind kind) {
    Directive d;
    d.kind = kind;
    list.push_back(std::move(d));
  };
  if (streams(cut)) say(Directive::Kind::nontemporal);
  if (prefetches(cut)) say(Directive::Kind::prefetch);
  if (cut.turns > 1 || (cut.rounds() > 1 && cut.stages > 1)) {
    Directive pipeline;
    pipeline.kind = Directive::Kind::pipeline;
    pipeline.subject = at;
    pipeline.sizes = {cut.stages};
    if (cut.prefetch) pipeline.loops.push_back({"prefetch", {}});
    list.push_back(std::move(pipeline));
  }
  return list;
}

}  // namespace ricci::plan
