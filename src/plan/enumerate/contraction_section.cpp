#include "plan/enumerate/contraction_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ricci::plan::gett {
namespace {

using kernel::Directive;
using Names = std::vector<std::string>;

const std::string& name(const Names& indices, const Axis& axis) {
  return indices[static_cast<std::size_t>(axis.index)];
}

/// Names of a level of all axes; no level: the innermost.
Names loops(const Names& indices, const Axes& axes, const char* level = "") {
  Names names;
  for (const auto& axis : axes) names.push_back(name(indices, axis) + level);
  return names;
}

/// Loops over tiles of columns. Those along lanes of both operands are the outermost: what these have of a few lanes
/// stays in the first cache.
Names column_tiles(const Names& indices, const Blocking& blocking) {
  auto names = loops(indices, blocking.columns, "1");
  if (blocking.lanes_of_both()) std::rotate(names.begin(), names.end() - 1, names.end());
  return names;
}

bool in_parts(const Axis& axis) { return axis.tile != axis.extent; }

}  // namespace

void add_loops(kernel::Directives& list, const Names& indices, const Blocking& blocking, const Names& tasks,
               bool along_result) {
  const auto tile = [&](const Axis& axis, std::vector<std::int64_t> sizes) {
    Directive directive;
    directive.kind = Directive::Kind::tile;
    directive.subject = name(indices, axis);
    directive.sizes = std::move(sizes);
    list.push_back(std::move(directive));
  };
  Names serial;
  for (const auto& axis : blocking.columns) tile(axis, {axis.task, axis.tile});
  for (const auto& axis : blocking.rows) tile(axis, {axis.task, axis.block, axis.tile});
  for (const auto& axis : blocking.depth) {
    if (axis.group > 1) tile(axis, {axis.tile * axis.group, axis.group});
    if (!in_parts(axis)) continue;
    if (axis.group == 1) tile(axis, {axis.tile});
    serial.push_back(name(indices, axis) + "0");
  }
  const auto blocks = loops(indices, blocking.rows, "1");
  serial.insert(serial.end(), blocks.begin(), blocks.end());
  const auto tiles = serial.size();
  for (const auto& names : {column_tiles(indices, blocking), loops(indices, blocking.rows, "2")})
    serial.insert(serial.end(), names.begin(), names.end());
  if (along_result) {
    std::map<std::string, std::int64_t> steps;
    for (const auto& axis : blocking.columns) steps[name(indices, axis) + "1"] = axis.in_result;
    for (const auto& axis : blocking.rows) steps[name(indices, axis) + "2"] = axis.in_result;
    std::stable_sort(serial.begin() + static_cast<std::ptrdiff_t>(tiles), serial.end(),
                     [&](const std::string& x, const std::string& y) { return steps.at(x) > steps.at(y); });
  }
  Directive order;
  order.kind = Directive::Kind::order;
  order.loops = {{"task", tasks}, {"serial", std::move(serial)}};
  list.push_back(std::move(order));
}

void add_product(kernel::Directives& list, const Names& indices, const Blocking& blocking, const std::string& last_task,
                 const std::string& rows_operand, const std::string& columns_operand) {
  Names depth, group;  // neighbours that an instruction sums are the last dimension of what is packed
  for (const auto& axis : blocking.depth) {
    depth.push_back(name(indices, axis) + (axis.group > 1 ? "1" : ""));
    if (axis.group > 1) group.push_back(name(indices, axis));
  }
  const auto stage = [&](const std::string& operand, const std::string& at, Names dimensions, const Axes& side) {
    Directive directive;
    directive.kind = Directive::Kind::stage;
    directive.subject = operand;
    directive.at = at;
    directive.space = "scratch";
    for (const auto& names : {depth, loops(indices, side), group})
      dimensions.insert(dimensions.end(), names.begin(), names.end());
    directive.loops = {{"", std::move(dimensions)}};
    // Each step of the depth begins with a vector.
    if (&side == &blocking.columns && blocking.lane_columns() > 1)
      directive.padding = static_cast<int>(up(blocking.along_lanes(), blocking.lanes) - blocking.along_lanes());
    list.push_back(std::move(directive));
  };
  std::string part = last_task;  // of the sum
  for (const auto& axis : blocking.depth) part = in_parts(axis) ? name(indices, axis) + "0" : part;
  if (blocking.pack_columns) stage(columns_operand, part, column_tiles(indices, blocking), blocking.columns);
  if (blocking.pack_rows) {
    auto blocks = loops(indices, blocking.rows, "2");
    auto side = blocking.rows;
    if (blocking.lanes_of_both()) {
      blocks.insert(blocks.begin(), name(indices, blocking.columns.back()) + "1");
      side.push_back(blocking.columns.back());
    }
    stage(rows_operand, side.empty() ? part : name(indices, blocking.rows.back()) + "1", std::move(blocks), side);
  }
  Directive atom;
  atom.kind = Directive::Kind::atom;
  atom.subject = group.empty() ? "fma" : "dot";
  atom.loops = {{"rows", loops(indices, blocking.rows)}, {"columns", loops(indices, blocking.columns)}};
  depth.insert(depth.end(), group.begin(), group.end());
  if (!depth.empty()) atom.loops.emplace_back("depth", depth);
  atom.lanes = static_cast<int>(blocking.lanes);
  atom.over = blocking.lane_columns();
  list.push_back(std::move(atom));
}

}  // namespace ricci::plan::gett
