// Schedules of groups of contractions for a CPU. A task has a block of the result, which stays in its second cache
// while one product after the other adds to it, each with register tiles and packing of its own; products that split
// the result's indices alike add to one register tile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_blocks.hpp"
#include "plan/enumerate/contraction_section.hpp"
#include "plan/models/cost_contraction_cpu.hpp"

namespace ricci::plan {
namespace {

using namespace gett;
using kernel::Role;

constexpr std::int64_t kDepth = 320;  // summed in one go: for any number of threads the same

/// A product, and how it is computed.
struct Product {
  int number = 0;  ///< from 1
  Blocking axes;   ///< all indices by role, whole
  std::string rows_operand, columns_operand;
};
/// Products whose rows and columns are the same.
using Section = std::vector<Product>;

/// Numbers of values of an index that blocks of it may have: its divisors; of an index that has none, and along the
/// lanes, also what leaves at most a tenth of all blocks past the end.
std::vector<std::int64_t> block_sizes(std::int64_t extent, std::int64_t unit) {
  std::vector<std::int64_t> sizes, even;
  for (std::int64_t n = parts(extent, unit); n > 0; --n) {
    const auto size = up(parts(extent, n), unit);
    if (unit == 1 && extent % size == 0) sizes.push_back(size);
    const bool fresh = even.empty() || even.back() != size;
    if (fresh && 10 * size * parts(extent, size) <= 11 * up(extent, unit)) even.push_back(size);
  }
  return sizes.size() > 2 ? sizes : even;
}

class GroupEnumerator {
 public:
  GroupEnumerator(const ir::Program& program, const kernel::Group& group, const CpuModel& device)
      : program_(program), group_(group), device_(device) {}

  std::vector<Candidate> run() {
    if (!suits()) return {};
    const auto widest = device_.vector_bytes / problem_.size;
    for (auto lanes = widest; lanes >= std::max<std::int64_t>(widest / 4, 2); lanes /= 2) {
      if (lanes < widest && lane_extent() >= 2 * lanes) continue;  // twice the vector would not be emptier
      for (const std::int64_t vectors : {1, 2, 3, 4}) {
        if (vectors > 1 && (vectors - 1) * lanes >= lane_extent()) continue;
        for (const std::int64_t share : {2, 4, 8, 16}) add(lanes, vectors, device_.l2_bytes / share / problem_.size);
      }
    }
    sort_by_time(list_);
    return std::move(list_);
  }

 private:
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t lane_extent() const { return extent(lane_); }

  /// Sorts the products by their splits. Not for what has no neighbours in the result, indices of both operands and the
  /// result, products of other types than the result, complex ones, and one tensor twice in a product.
  bool suits() {
    const auto& statement = program_.statement();
    const auto& c = statement.offset.coefficient;
    const auto type = program_.buffers[static_cast<std::size_t>(statement.buffer)].type;
    if (is_complex(type) || is_half(type) || size_of(type) < 4) return false;
    problem_.size = size_of(type);
    problem_.group = true;
    for (std::size_t q = 0; q < c.size(); ++q) {
      if (c[q] < 0) return false;
      if (c[q] == 1 && program_.indices[q].extent > 1) lane_ = static_cast<int>(q);
      if (c[q] > 0) free_.push_back(static_cast<int>(q));
    }
    if (lane_ < 0) return false;
    std::stable_sort(free_.begin(), free_.end(),
                     [&](int x, int y) { return c[static_cast<std::size_t>(x)] > c[static_cast<std::size_t>(y)]; });
    for (std::size_t k = 0; k < group_.products.size(); ++k) {
      auto product = product_of(group_.products[k], static_cast<int>(k) + 1);
      if (product.number == 0 || group_.products[k].type != type) return false;
      const auto alike = [&](const Section& section) { return joins(section, product); };
      const auto place = std::find_if(sections_.begin(), sections_.end(), alike);
      if (place == sections_.end()) {
        sections_.push_back({std::move(product)});
      } else {
        place->push_back(std::move(product));
      }
    }
    return true;
  }

  /// Its number is 0 where it has no schedule.
  Product product_of(const kernel::Contraction& contraction, int number) const {
    Product made;
    const auto load = [&](const kernel::Factor& factor) -> const ir::Node& {
      return program_.nodes[static_cast<std::size_t>(factor.load)];
    };
    const bool swapped = contraction.role[static_cast<std::size_t>(lane_)] == Role::rows;
    const auto& rows = load(swapped ? contraction.second : contraction.first);
    const auto& columns = load(swapped ? contraction.first : contraction.second);
    made.rows_operand = program_.buffers[static_cast<std::size_t>(rows.source)].name;
    made.columns_operand = program_.buffers[static_cast<std::size_t>(columns.source)].name;
    if (rows.source == columns.source || rows.type != contraction.type || columns.type != contraction.type) return made;
    if (contraction.first.rounded || contraction.second.rounded) return made;
    const auto axis_of = [&](int q) {
      Axis axis;
      axis.index = q;
      axis.extent = extent(q);
      axis.in_rows = rows.offset.coefficient[static_cast<std::size_t>(q)];
      axis.in_columns = columns.offset.coefficient[static_cast<std::size_t>(q)];
      axis.in_result = program_.statement().offset.coefficient[static_cast<std::size_t>(q)];
      return axis;
    };
    for (const int q : free_) {
      const auto axis = axis_of(q);
      if (axis.in_rows != 0 && axis.in_columns != 0) return made;
      (axis.in_columns != 0 ? made.axes.columns : made.axes.rows).push_back(axis);
    }
    for (std::size_t q = 0; q < contraction.role.size(); ++q) {
      if (contraction.role[q] == Role::summed) return made;
      if (contraction.role[q] == Role::depth) made.axes.depth.push_back(axis_of(static_cast<int>(q)));
    }
    auto& depth = made.axes.depth;
    sort_depth(depth, 1, 1);
    cut_depth(depth, kDepth, problem_.size, false);
    if (made.axes.rows.empty() || depth.empty()) return made;
    made.number = number;
    return made;
  }

  /// Whether a product's sums may be in the register tiles of a section: of the same split, together short.
  static bool joins(const Section& section, const Product& product) {
    const auto& rows = section.front().axes.rows;
    const auto& more = product.axes.rows;
    auto terms = product_of_extents(product.axes.depth);
    for (const auto& other : section) terms += product_of_extents(other.axes.depth);
    return terms <= 2 * kDepth && std::equal(rows.begin(), rows.end(), more.begin(), more.end(),
                                             [](const Axis& x, const Axis& y) { return x.index == y.index; });
  }
  static std::int64_t product_of_extents(const Axes& axes) { return product(axes, extent_of); }

  /// Blocks of the result with at most so many elements: the lane's whole neighbours first, then all alike.
  std::vector<std::int64_t> block_of_result(std::int64_t tile, std::int64_t most) const {
    std::vector<std::vector<std::int64_t>> sizes;
    for (const int q : free_) sizes.push_back(block_sizes(extent(q), q == lane_ ? tile : 1));
    std::vector<std::size_t> at(free_.size());
    std::int64_t elements = tile;
    for (;;) {
      std::size_t best = free_.size();
      for (std::size_t k = 0; k < free_.size(); ++k) {
        if (at[k] + 1 == sizes[k].size()) continue;
        if (elements / sizes[k][at[k]] * sizes[k][at[k] + 1] > most) continue;
        const bool first = free_[k] == lane_ && sizes[k][at[k]] < 4 * tile;
        if (first || best == free_.size() || sizes[k][at[k]] <= sizes[best][at[best]]) best = k;
        if (first) break;
      }
      if (best == free_.size()) break;
      elements = elements / sizes[best][at[best]] * sizes[best][at[best] + 1];
      ++at[best];
    }
    std::vector<std::int64_t> block(program_.indices.size(), 1);
    for (std::size_t k = 0; k < free_.size(); ++k) block[static_cast<std::size_t>(free_[k])] = sizes[k][at[k]];
    return block;
  }

  /// The fastest way to compute a product, and its cycles; packing both operands always works.
  CpuContractionCycles choose(Product& product, const std::vector<std::int64_t>& block, std::int64_t vectors,
                              bool joined) const {
    auto b = product.axes;
    b.joined = joined;
    const auto registers = device_.vector_bytes >= 64 ? 31 : 15;  // but one, for an element of all lanes
    const auto most = (registers - vectors) / vectors;
    for (auto* axes : {&b.rows, &b.columns}) {
      for (auto& axis : *axes) axis.block = axis.task = block[static_cast<std::size_t>(axis.index)];
    }
    const auto task = [](const Axis& axis) { return axis.task; };
    b.row_tasks = parts_of(b.rows, task);
    b.column_tasks = parts_of(b.columns, task);
    for (auto& axis : b.columns) axis.tile = axis.index == lane_ ? vectors * b.lanes : 1;
    std::stable_sort(b.rows.begin(), b.rows.end(),
                     [](const Axis& x, const Axis& y) { return x.in_result > y.in_result; });
    divide(b.rows, most);
    const auto& lane = b.columns.back();
    const auto whole = [](const Axis& axis) { return axis.extent % axis.tile == 0; };
    const bool depth_whole = std::all_of(b.depth.begin(), b.depth.end(), whole);
    std::optional<CpuContractionCycles> least;
    for (const bool pack_columns : {true, false}) {
      if (!pack_columns && (lane.in_columns != 1 || !whole(lane) || !depth_whole)) continue;
      for (const bool pack_rows : {true, false}) {
        if (!pack_rows && !(depth_whole && std::all_of(b.rows.begin(), b.rows.end(), whole))) continue;
        b.pack_columns = pack_columns;
        b.pack_rows = pack_rows;
        const auto cycles = cycles_in_group(b, problem_, device_);
        if (least && cycles.all() >= least->all()) continue;
        least = cycles;
        product.axes.pack_columns = pack_columns;
        product.axes.pack_rows = pack_rows;
      }
    }
    b.pack_columns = product.axes.pack_columns;
    b.pack_rows = product.axes.pack_rows;
    product.axes = std::move(b);
    return *least;
  }

  void add(std::int64_t lanes, std::int64_t vectors, std::int64_t most) {
    const auto block = block_of_result(vectors * lanes, most);
    double tasks = 1, elements = 1;
    for (const int q : free_) {
      tasks *= static_cast<double>(parts(extent(q), block[static_cast<std::size_t>(q)]));
      elements *= static_cast<double>(extent(q));
    }
    auto sections = sections_;
    CpuContractionCycles cycles;
    for (auto& section : sections) {
      for (auto& product : section) {
        product.axes.lanes = lanes;
        cycles += choose(product, block, vectors, &product != &section.front());
      }
    }
    Candidate candidate;
    auto& schedule = candidate.schedule;
    schedule.name = fmt::format("gett group of {} {}x{} block", group_.products.size(),
                                product(sections.front().front().axes.rows, tile_of), vectors * lanes);
    for (const int q : free_) {
      const auto size = block[static_cast<std::size_t>(q)];
      if (size > 1) schedule.name += fmt::format(" {}{}", name(q), size);
    }
    if (lanes < device_.vector_bytes / problem_.size) schedule.name += fmt::format(" lanes {}", lanes);
    if (!names_.insert(schedule.name).second) return;
    std::vector<std::string> loops, indices;
    for (const auto& index : program_.indices) indices.push_back(index.name);
    for (const int q : free_) loops.push_back(name(q) + "0");
    candidate.products.resize(group_.products.size());
    for (const auto& section : sections) {
      kernel::Directive products;
      products.kind = kernel::Directive::Kind::products;
      for (const auto& product : section) products.sizes.push_back(product.number);
      schedule.directives.push_back(std::move(products));
      add_loops(schedule.directives, indices, section.front().axes, loops);
      for (const auto& product : section) {
        add_product(schedule.directives, indices, product.axes, loops.back(), product.rows_operand,
                    product.columns_operand);
        candidate.products[static_cast<std::size_t>(product.number) - 1] = counts_of(product.axes, problem_);
      }
    }
    const double rounds = std::ceil(tasks / device_.threads);
    const double bytes = 2 * elements * static_cast<double>(problem_.size);
    const double memory =
        device_.beyond_caches(bytes) ? bytes / (device_.thread_GBs(false, 20) * device_.threads) * 1e-3 : 0;
    candidate.predicted_us = time_of(cycles.all(), rounds / tasks, memory, device_);
    candidate.parts = time_parts(cycles, rounds / tasks, memory, device_);
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = static_cast<std::int64_t>(tasks);
    list_.push_back(std::move(candidate));
  }

  const ir::Program& program_;
  const kernel::Group& group_;
  const CpuModel& device_;
  Problem problem_;
  int lane_ = -1;          // the index of neighbours in the result
  std::vector<int> free_;  // indices of the result, slowest first
  std::vector<Section> sections_;
  std::vector<Candidate> list_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Candidate> group_candidates(const ir::Program& program, const CpuModel& device) {
  const auto group = kernel::group_of(program);
  if (!group) return {};
  return GroupEnumerator(program, *group, device).run();
}

}  // namespace ricci::plan
