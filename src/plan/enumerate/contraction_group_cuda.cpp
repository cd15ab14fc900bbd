// Schedules of groups of contractions for a GPU. A block has a tile of the result in registers, to which one product
// after the other adds. Lanes hold one index of the result along the rows of an atom and one along its columns, which
// are on different sides of all products that follow each other: between those sums stay where they are, whatever else
// is a row or a column. Where no pair of indices suits all products, sums change lanes once or twice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "kernel/atom_types.hpp"
#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/group_atoms.hpp"
#include "plan/models/norms.hpp"
#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;
using Indices = std::uint32_t;  ///< a set of the result's indices, by their places in a list

constexpr int kRowLanes = 8, kColumnLanes = 4;  // of a warp

/// An index of the result.
struct Free {
  int index = -1;
  std::int64_t extent = 1;
  std::int64_t tile = 1;
};

struct Product {
  int number = 0;  ///< from 1
  bool negative = false;
  Indices first = 0, second = 0;          ///< those of either operand
  std::array<int, 2> buffer = {};         ///< of them
  std::array<bool, 2> deep = {};          ///< whether neighbours lie along the depth
  std::array<int, 2> fastest = {-1, -1};  ///< else the index along which they do
  std::vector<int> depth;                 ///< the last is cut into chunks
};

/// Products that follow each other with the same indices along the lanes.
struct Map {
  int column = -1;  ///< number of the index along the columns' lanes
  std::vector<std::size_t> products;
};

constexpr Indices bit(int place) { return Indices{1} << place; }
int log2(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

/// A binary digit of an index's tile; of the rows' lanes all of its values.
struct Digit {
  int place = 0;  ///< of the index
  int level = 0;  ///< 0: the fastest
  bool operator==(const Digit&) const = default;
};

class GpuGroupEnumerator {
 public:
  GpuGroupEnumerator(const ir::Program& program, const kernel::Group& group, const GpuModel& device)
      : program_(program), group_(group), device_(device) {}

  std::vector<Candidate> run() {
    if (!suits() || !choose_lanes()) return {};
    choose_chunk();
    for (const auto& shape : atom_->shapes) {
      for (auto& free : free_) free.tile = 1;
      best_us_ = std::numeric_limits<double>::infinity();
      best_.clear();
      choose_tiles(shape, 0, shape.elements);
      if (best_.empty()) continue;
      for (std::size_t k = 0; k < free_.size(); ++k) free_[k].tile = best_[k];
      if (choose_warps(shape)) add(shape);
    }
    sort_by_time(list_);
    return std::move(list_);
  }

 private:
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }

  /// Products with an atom of this device, between tensors that are read as they are.
  bool suits() {
    const auto& statement = program_.statement();
    const auto& c = statement.offset.coefficient;
    const auto type = program_.buffers[static_cast<std::size_t>(statement.buffer)].type;
    const auto* atom = std::find_if(std::begin(kGroupAtoms), std::end(kGroupAtoms),
                                    [&](const GroupAtom& one) { return one.type == type; });
    if (atom == std::end(kGroupAtoms) || device_.sm < 90) return false;
    atom_ = atom;
    for (std::size_t q = 0; q < c.size(); ++q) {
      if (c[q] < 0) return false;
      if (c[q] > 0) free_.push_back({static_cast<int>(q), extent(static_cast<int>(q))});
    }
    // The fastest index first.
    std::stable_sort(free_.begin(), free_.end(), [&](const Free& x, const Free& y) {
      return c[static_cast<std::size_t>(x.index)] < c[static_cast<std::size_t>(y.index)];
    });
    if (free_.size() < 3 || free_.size() > 12) return false;
    for (const auto& contraction : group_.products) {
      Product product;
      product.number = static_cast<int>(products_.size()) + 1;
      product.negative = contraction.negative;
      const auto &first = load(contraction.first), &second = load(contraction.second);
      if (contraction.type != type || first.type != type || second.type != type) return false;
      if (first.source == second.source) return false;
      product.buffer = {first.source, second.source};
      for (std::size_t q = 0; q < contraction.role.size(); ++q) {
        const auto role = contraction.role[q];
        if (role == Role::depth) product.depth.push_back(static_cast<int>(q));
        if (role == Role::summed || role == Role::batch) return false;
      }
      if (product.depth.empty()) return false;
      std::stable_sort(product.depth.begin(), product.depth.end(), [&](int x, int y) {
        const auto contiguous = [&](int q) {
          const auto k = static_cast<std::size_t>(q);
          return (first.offset.coefficient[k] == 1) + (second.offset.coefficient[k] == 1);
        };
        return std::pair(contiguous(x), extent(x)) < std::pair(contiguous(y), extent(y));
      });
      const auto deep = static_cast<std::size_t>(product.depth.back());
      product.deep = {first.offset.coefficient[deep] == 1, second.offset.coefficient[deep] == 1};
      for (std::size_t k = 0; k < free_.size(); ++k) {
        const auto q = static_cast<std::size_t>(free_[k].index);
        const bool in_first = first.offset.coefficient[q] != 0, in_second = second.offset.coefficient[q] != 0;
        if (in_first == in_second) return false;
        (in_first ? product.first : product.second) |= bit(static_cast<int>(k));
        const std::size_t operand = in_first ? 0 : 1;
        if ((in_first ? first : second).offset.coefficient[q] == 1) product.fastest[operand] = static_cast<int>(k);
      }
      products_.push_back(std::move(product));
    }
    return true;
  }

  static bool opposite(const Product& product, int x, int y) {
    return ((product.first & bit(x)) != 0) != ((product.first & bit(y)) != 0);
  }
  /// The side of a product that the atom's rows are of.
  Indices rows_of(const Product& product) const {
    return (product.first & bit(row_)) != 0 ? product.first : product.second;
  }
  Indices columns_of(const Product& product) const {
    return (product.first & bit(row_)) != 0 ? product.second : product.first;
  }

  /// Few maps, the last one with the result's neighbours along the columns' lanes.
  bool choose_lanes() {
    const int count = static_cast<int>(free_.size());
    double best = std::numeric_limits<double>::infinity();
    std::vector<int> columns, chosen;
    const auto padded = [&](int place, std::int64_t unit) {
      const auto n = free_[static_cast<std::size_t>(place)].extent;
      const std::int64_t whole = (n + unit - 1) / unit * unit;
      return static_cast<double>(whole) / static_cast<double>(n);
    };
    for (int x = 0; x < count; ++x) {
      const auto search = [&](const auto& self, double cost) -> void {
        const auto left = std::count_if(products_.begin(), products_.end(), [&](const Product& product) {
          return std::none_of(columns.begin(), columns.end(), [&](int y) { return opposite(product, x, y); });
        });
        if (left == 0) {
          cost += columns.back() == 0 ? 0 : 0.5;  // results leave by single numbers
          if (cost < best) {
            best = cost;
            row_ = x;
            chosen = columns;
          }
          return;
        }
        if (columns.size() == 3) return;
        for (int y = 0; y < count; ++y) {
          if (y == x || std::find(columns.begin(), columns.end(), y) != columns.end()) continue;
          columns.push_back(y);
          self(self, cost + padded(y, kColumnLanes));
          columns.pop_back();
        }
      };
      search(search, padded(x, kRowLanes) * 2);
    }
    std::vector<bool> taken(products_.size());
    for (const auto y : chosen) {
      Map map{y, {}};
      for (std::size_t k = 0; k < products_.size(); ++k) {
        if (taken[k] || !opposite(products_[k], row_, y)) continue;
        taken[k] = true;
        map.products.push_back(k);
      }
      if (!map.products.empty()) maps_.push_back(std::move(map));
    }
    return !maps_.empty();
  }

  bool is_column(int place) const {
    return std::any_of(maps_.begin(), maps_.end(), [&](const Map& map) { return map.column == place; });
  }
  std::int64_t size_of_side(Indices side) const {
    std::int64_t n = 1;
    for (std::size_t k = 0; k < free_.size(); ++k) n *= (side & bit(static_cast<int>(k))) != 0 ? free_[k].tile : 1;
    return n;
  }
  std::int64_t depth_of(const Product& product, std::int64_t chunk) const {
    std::int64_t n = 1;
    for (const auto q : product.depth) {
      const std::int64_t unit = q == product.depth.back() ? chunk : 1;
      n *= (extent(q) + unit - 1) / unit * unit;
    }
    return n;
  }
  /// Of the rounds of all products: few elements that are not there, and few rounds.
  void choose_chunk() {
    constexpr std::int64_t kUnit = 8, kBarrier = 2;  // what a round takes besides, in elements of its depth
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t chunk = kUnit; chunk <= atom_->most_depth; chunk += kUnit) {
      double cost = 0;
      for (const auto& product : products_) {
        const auto rounds = depth_of(product, chunk) / chunk;
        cost += static_cast<double>(rounds * (chunk + kBarrier));
      }
      if (cost > least) continue;
      least = cost;
      chunk_ = chunk;
    }
  }
  double tasks() const {
    double n = 1;
    for (const auto& free : free_) n *= std::ceil(static_cast<double>(free.extent) / static_cast<double>(free.tile));
    return n;
  }

  struct Times {
    double products = 0, cache = 0, memory = 0, launch = 0;
    double total = 0;
  };
  Times times(const GroupShape& shape) const {
    constexpr double kCacheBytes = 40;  // of a multiprocessor's share of the second cache, in a cycle
    const auto bytes = static_cast<double>(size_of(atom_->type));
    double multiplied = 0, copied = 0, elements = 1;
    for (const auto& product : products_) {
      const auto deep = static_cast<double>(depth_of(product, chunk_));
      multiplied += deep * static_cast<double>(shape.elements) / rate_of(product);
      copied += deep * bytes * static_cast<double>(size_of_side(product.first) + size_of_side(product.second));
    }
    for (const auto& free : free_) elements *= static_cast<double>(free.extent);
    const double at_once = static_cast<double>(device_.multiprocessors) * shape.blocks;
    const double waves = tasks() / at_once;
    // Blocks of a last wave that is not full have a multiprocessor for fewer of them.
    const double turns = std::max(waves, std::ceil(waves * shape.blocks) / shape.blocks) * shape.blocks;
    Times all;
    const double cycle = 1 / device_.clock_MHz;  // microseconds
    all.products = turns * multiplied * atom_->busy * cycle;
    all.cache = turns * copied / kCacheBytes * cycle;
    all.memory = 2 * elements * bytes / device_.copy_rate_GBs() * 1e-3;
    all.launch = 3;
    all.total = side_by_side(all.products, all.cache) + all.memory + all.launch;
    return all;
  }

  /// Multiply-adds of a multiprocessor in a cycle.
  double rate_of(const Product& product) const {
    const auto* atom = kernel::find_atom(atom_->name);  // null: multiply-adds
    const auto rate = pipe_rate(device_.sm, atom, atom_->type, 1);
    return atom != nullptr ? rate : rate * multiply_add_rate(product.deep[0] + product.deep[1]);
  }

  /// Of a block's pipeline, and of what lanes exchange.
  std::int64_t shared_bytes(const GroupShape& shape) const {
    constexpr std::int64_t kExchanged = 20 * 1024, kLine = 16;  // bytes, elements
    std::int64_t most = 0;
    for (const auto& product : products_) {
      std::int64_t round = 0;
      for (const std::size_t operand : {0, 1}) {
        const auto side = size_of_side(operand == 0 ? product.first : product.second);
        const std::int64_t row = product.deep[operand] ? chunk_ : side, rows = product.deep[operand] ? side : chunk_;
        round += (rows * (row + padding(row, product.deep[operand], shape)) + kLine - 1) / kLine * kLine;
      }
      most = std::max(most, round);
    }
    return most * atom_->stages * size_of(atom_->type) + (maps_.size() > 1 ? kExchanged : 0);
  }
  std::int64_t most_shared(const GroupShape& shape) const {
    return std::min(device_.shared_bytes_per_block,
                    device_.shared_bytes_per_multiprocessor / shape.blocks - kReservedBytes);
  }

  /// Tiles of the indices from number `k` on, of so many elements together.
  void choose_tiles(const GroupShape& shape, std::size_t k, std::int64_t left) {
    if (k == free_.size()) {
      if (left != 1) return;
      const double us = times(shape).total;
      if (us >= best_us_ || shared_bytes(shape) > most_shared(shape) || !choose_warps(shape)) return;
      best_us_ = us;
      best_.clear();
      for (const auto& free : free_) best_.push_back(free.tile);
      return;
    }
    const int place = static_cast<int>(k);
    const std::int64_t least = place == row_ ? kRowLanes : is_column(place) ? kColumnLanes : 1;
    for (std::int64_t tile = least; tile <= std::min<std::int64_t>(left, 64); tile *= 2) {
      if (tile > least && tile >= 2 * free_[k].extent) break;
      if (left % tile != 0) break;
      free_[k].tile = tile;
      choose_tiles(shape, k + 1, left / tile);
      if (place == row_) break;
    }
    free_[k].tile = 1;
  }

  /// Digits that lanes hold in no map, of which each index's slowest may be the warps'.
  int spare(int place) const {
    if (place == row_) return 0;
    return log2(free_[static_cast<std::size_t>(place)].tile) - (is_column(place) ? log2(kColumnLanes) : 0);
  }
  bool choose_warps(const GroupShape& shape) {
    const int wanted = log2(shape.warps), count = static_cast<int>(free_.size());
    double least = std::numeric_limits<double>::infinity();
    for (Indices set = 0; set < bit(count); ++set) {
      if (std::popcount(set) != wanted) continue;
      double cost = 0;
      bool fits = true;
      for (int k = 0; k < count; ++k) fits = fits && ((set & bit(k)) == 0 || spare(k) > 0);
      for (const auto& product : products_) {
        if (!fits) break;
        const auto per_warp = [&](Indices side) { return size_of_side(side) >> std::popcount(side & set); };
        const auto rows = per_warp(rows_of(product)), columns = per_warp(columns_of(product));
        fits = rows >= std::int64_t{atom_->per_lane} * kRowLanes &&
               columns >= std::int64_t{atom_->per_lane} * kColumnLanes;
        cost += static_cast<double>(rows + columns);
      }
      if (!fits || cost >= least) continue;
      least = cost;
      warps_ = set;
    }
    return std::isfinite(least);
  }

  // ---- digits, and the order of sections

  std::string text(const Digit& digit) const {
    const auto& free = free_[static_cast<std::size_t>(digit.place)];
    const int levels = digit.place == row_ ? 1 : log2(free.tile);
    return digit.level == 0 ? name(free.index) : fmt::format("{}{}", name(free.index), levels - digit.level);
  }
  /// Those of a side that lanes do not hold, but for the warps', the slowest first.
  std::vector<Digit> registers(Indices side, int column) const {
    std::vector<Digit> digits;
    for (int k = static_cast<int>(free_.size()); k-- > 0;) {
      if ((side & bit(k)) == 0 || k == row_) continue;
      const int lanes = k == column ? log2(kColumnLanes) : 0;
      const int all = log2(free_[static_cast<std::size_t>(k)].tile) - ((warps_ & bit(k)) != 0 ? 1 : 0);
      for (int level = all; level-- > lanes;) digits.push_back({k, level});
    }
    return digits;
  }

  /// A product with the digits that a lane has two values of in each atom, where it has: others would be moved from
  /// register to register.
  struct Section {
    std::size_t product = 0;
    int column = -1;
    std::optional<Digit> row_pair = {}, column_pair = {};
    std::vector<Digit> row_run = {}, column_run = {};  ///< of neighbours that a lane reads at once, the slowest first
  };
  /// Up to four values of the index along which an operand has neighbours, where a lane holds them.
  std::vector<Digit> run_of(std::size_t number, int column, bool of_rows) const {
    constexpr int kMostLevels = 2;
    const auto& product = products_[number];
    const auto side = of_rows ? rows_of(product) : columns_of(product);
    const auto place = product.fastest[side == product.first ? 0 : 1];
    std::vector<Digit> run;
    if (place < 0 || place == column) return run;
    for (const auto& digit : registers(side, column)) {
      if (digit.place == place && digit.level < kMostLevels) run.push_back(digit);
    }
    return !run.empty() && run.back().level == 0 ? run : std::vector<Digit>{};
  }

  std::vector<Section> sections() const {
    std::vector<Section> order;
    bool negative = false;
    for (const auto& map : maps_) {
      auto left = map.products;
      std::optional<Digit> rows, columns;
      const auto has = [](const std::vector<Digit>& digits, const std::optional<Digit>& digit) {
        return digit && std::find(digits.begin(), digits.end(), *digit) != digits.end();
      };
      while (!left.empty()) {
        const auto keeps = [&](std::size_t k) {
          const auto& product = products_[k];
          return 4 * has(registers(rows_of(product), map.column), rows) +
                 4 * has(registers(columns_of(product), map.column), columns) + (product.negative == negative);
        };
        const auto next =
            std::max_element(left.begin(), left.end(), [&](auto x, auto y) { return keeps(x) < keeps(y); });
        // Of digits, that which most of the others have on the same side.
        const auto chosen = [&](const std::optional<Digit>& before, bool of_rows) {
          const auto side = [&](std::size_t k) {
            return registers(of_rows ? rows_of(products_[k]) : columns_of(products_[k]), map.column);
          };
          const auto all = side(*next);
          if (has(all, before)) return *before;
          const auto times = [&](const Digit& digit) {
            return std::count_if(left.begin(), left.end(), [&](auto k) { return has(side(k), digit); });
          };
          return *std::max_element(all.begin(), all.end(),
                                   [&](const Digit& x, const Digit& y) { return times(x) < times(y); });
        };
        Section section{*next, map.column};
        if (atom_->per_lane > 1) {
          section.row_pair = rows = chosen(rows, true);
          section.column_pair = columns = chosen(columns, false);
        } else {
          section.row_run = run_of(*next, map.column, true);
          section.column_run = run_of(*next, map.column, false);
        }
        negative = products_[*next].negative;
        order.push_back(std::move(section));
        left.erase(next);
      }
    }
    return order;
  }

  std::vector<std::string> side_text(const Section& section, bool of_rows) const {
    const auto& product = products_[section.product];
    const auto side = of_rows ? rows_of(product) : columns_of(product);
    std::vector<std::string> names;
    for (int k = static_cast<int>(free_.size()); k-- > 0;) {
      if ((side & warps_ & bit(k)) != 0) names.push_back(text({k, log2(free_[static_cast<std::size_t>(k)].tile) - 1}));
    }
    const auto& pair = of_rows ? section.row_pair : section.column_pair;
    const auto& run = of_rows ? section.row_run : section.column_run;
    for (const auto& digit : registers(side, section.column)) {
      const bool last = pair ? digit == *pair : std::find(run.begin(), run.end(), digit) != run.end();
      if (!last) names.push_back(text(digit));
    }
    if (of_rows) {
      if (pair) names.push_back(text(*pair));
      names.push_back(text({row_, 0}));
    } else {
      for (int level = log2(kColumnLanes); level-- > 0;) names.push_back(text({section.column, level}));
      if (pair) names.push_back(text(*pair));
    }
    for (const auto& digit : run) names.push_back(text(digit));
    return names;
  }

  // ---- directives

  static Directive directive(Directive::Kind kind, std::string subject = {}) {
    Directive made;
    made.kind = kind;
    made.subject = std::move(subject);
    return made;
  }
  Directive tile(int q, std::int64_t size, int levels) const {
    auto made = directive(Directive::Kind::tile, name(q));
    for (int level = 0; level < std::max(levels, 1); ++level) made.sizes.push_back(size >> level);
    return made;
  }

  void add(const GroupShape& shape) {
    Candidate candidate;
    auto& schedule = candidate.schedule;
    auto& all = schedule.directives;
    schedule.name = fmt::format("group of {} {} tile", products_.size(), atom_->name);
    for (std::size_t k = free_.size(); k-- > 0;) {
      if (free_[k].tile > 1) schedule.name += fmt::format(" {}{}", name(free_[k].index), free_[k].tile);
    }
    schedule.name += fmt::format(" by {} warps {} stages {}", chunk_, shape.warps, atom_->stages);
    std::vector<std::string> warps;
    for (int k = static_cast<int>(free_.size()); k-- > 0;) {
      if ((warps_ & bit(k)) != 0) warps.push_back(text({k, log2(free_[static_cast<std::size_t>(k)].tile) - 1}));
    }
    const auto order = sections();
    for (const auto& section : order) {
      const auto& product = products_[section.product];
      const auto deep = product.depth.back();
      auto head = directive(Directive::Kind::products);
      head.sizes = {product.number};
      all.push_back(std::move(head));
      std::vector<std::string> tasks, sums;
      for (std::size_t k = free_.size(); k-- > 0;) {
        const auto& free = free_[k];
        const int levels = static_cast<int>(k) == row_ ? 1 : log2(free.tile);
        all.push_back(tile(free.index, free.tile, levels));
        if (levels > 1 || free.tile != free.extent) tasks.push_back(name(free.index) + "0");
      }
      for (const auto q : product.depth) {
        // Of a whole index one size would make no loop.
        const std::int64_t size = q == deep ? chunk_ : 1;
        all.push_back(tile(q, size, 1));
        if (size == extent(q)) all.back().sizes.push_back(size);
        sums.push_back(name(q) + "0");
      }
      auto loops = directive(Directive::Kind::order);
      loops.loops = {{"task", std::move(tasks)}, {"sum", sums}};
      all.push_back(std::move(loops));
      const auto rows = side_text(section, true), columns = side_text(section, false);
      const bool swapped = (product.first & bit(row_)) == 0;
      for (const bool of_rows : {true, false}) {
        const std::size_t operand = of_rows == swapped ? 1 : 0;
        const auto& side = of_rows ? rows : columns;
        auto stage =
            directive(Directive::Kind::stage, program_.buffers[static_cast<std::size_t>(product.buffer[operand])].name);
        stage.at = sums.back();
        stage.space = "async";
        auto dimensions = side;
        dimensions.insert(product.deep[operand] ? dimensions.end() : dimensions.begin(), name(deep));
        const auto row =
            product.deep[operand] ? chunk_ : size_of_side(of_rows ? rows_of(product) : columns_of(product));
        stage.padding = static_cast<int>(padding(row, product.deep[operand], shape));
        stage.loops = {{"", std::move(dimensions)}};
        all.push_back(std::move(stage));
      }
      auto atom = directive(Directive::Kind::atom, atom_->name);
      atom.loops = {{"rows", rows}, {"columns", columns}, {"depth", {name(deep)}}, {"warp", warps}};
      atom.warps = {1 << std::popcount(rows_of(product) & warps_), 1 << std::popcount(columns_of(product) & warps_)};
      atom.runs = {1 << section.row_run.size(), 1 << section.column_run.size(), shape.run};
      atom.blocks = shape.blocks;
      all.push_back(std::move(atom));
      auto pipeline = directive(Directive::Kind::pipeline, sums.back());
      pipeline.sizes = {atom_->stages};
      all.push_back(std::move(pipeline));
      if (&section != &order.front()) all.push_back(directive(Directive::Kind::exchange));
    }
    const auto time = times(shape);
    candidate.predicted_us = time.total;
    candidate.parts = {
        {"products", time.products}, {"cache", time.cache}, {"memory", time.memory}, {"launch", time.launch}};
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = static_cast<std::int64_t>(tasks());
    list_.push_back(std::move(candidate));
  }

  /// Elements between rows of a staged operand, so that lanes of a warp meet in no bank. Of an atom of a tensor core
  /// there are 8 lanes along the side and 4 along the depth, each of one number or of two along the depth; else 8 or 4
  /// along the side, which read up to 16 bytes along the depth.
  std::int64_t padding(std::int64_t row, bool deep, const GroupShape& shape) const {
    if (atom_->per_lane == 1) return deep ? shape.run : 0;
    const std::int64_t wanted = deep ? (shape.run == 2 ? 8 : 4) : (shape.run == 2 ? 2 : 4),
                       unit = deep && shape.run == 1 ? 8 : 16;
    return ((wanted - row) % unit + unit) % unit;
  }

  const ir::Program& program_;
  const kernel::Group& group_;
  const GpuModel& device_;
  const GroupAtom* atom_ = nullptr;
  std::vector<Free> free_;  // indices of the result, the fastest first
  std::vector<Product> products_;
  int row_ = -1;  // number of the index along the rows' lanes
  std::vector<Map> maps_;
  std::int64_t chunk_ = 8;  // of a round along the depth
  Indices warps_ = 0;       // whose slowest digits are of a warp's number
  double best_us_ = 0;
  std::vector<std::int64_t> best_;  // tiles
  std::vector<Candidate> list_;
};

}  // namespace

std::vector<Candidate> group_candidates(const ir::Program& program, const GpuModel& device) {
  const auto group = kernel::group_of(program);
  if (!group) return {};
  return GpuGroupEnumerator(program, *group, device).run();
}

}  // namespace ricci::plan
