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
#include "plan/models/norms.hpp"
#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;
using Indices = std::uint32_t;  ///< a set of the result's indices, by their places in a list

constexpr int kRowLanes = 8, kColumnLanes = 4;  // of m16n8k8_f64; a lane has two rows and two columns of each atom
constexpr std::int64_t kChunk = 8;              // of a product's depth
constexpr int kStages = 3;

/// An index of the result.
struct Free {
  int index = -1;
  std::int64_t extent = 1;
  std::int64_t tile = 1;
};

struct Product {
  int number = 0;  ///< from 1
  bool negative = false;
  Indices first = 0, second = 0;   ///< those of either operand
  std::array<int, 2> buffer = {};  ///< of them
  std::array<bool, 2> deep = {};   ///< whether neighbours lie along the depth
  std::vector<int> depth;          ///< the last is cut into chunks
};

/// Products that follow each other with the same indices along the lanes.
struct Map {
  int column = -1;  ///< number of the index along the columns' lanes
  std::vector<std::size_t> products;
};

/// How a block's tile is spread.
struct Shape {
  std::int64_t elements;
  int warps;   ///< a power of two
  int blocks;  ///< of a multiprocessor, for whose registers there is room
  int run;     ///< neighbours along the depth that a lane reads at once
};
// As timed on an H200 with the 18 products of CCSD(T)'s triples: 5.2, 5.2 and 6.0 ms. Lanes that hold 64 numbers have
// registers for one chunk's fragments alone, which are read one by one without being moved.
constexpr Shape kShapes[] = {{8192, 8, 2, 2}, {8192, 4, 2, 1}, {4096, 4, 3, 1}, {2048, 4, 4, 1}, {1024, 4, 4, 1}};

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
    for (const auto& shape : kShapes) {
      for (auto& free : free_) free.tile = 1;
      best_us_ = std::numeric_limits<double>::infinity();
      best_.clear();
      choose_tiles(shape, 0, shape.elements);
      if (best_.empty()) continue;
      for (std::size_t k = 0; k < free_.size(); ++k) free_[k].tile = best_[k];
      if (choose_warps(shape)) add(shape);
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    return std::move(list_);
  }

 private:
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }

  /// Products of f64 with an atom of this device, between tensors that are read as they are.
  bool suits() {
    const auto& statement = program_.statement();
    const auto& c = statement.offset.coefficient;
    if (program_.buffers[static_cast<std::size_t>(statement.buffer)].type != DType::f64 || device_.sm < 90)
      return false;
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
      if (contraction.type != DType::f64 || first.type != DType::f64 || second.type != DType::f64) return false;
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
  std::int64_t depth_of(const Product& product) const {
    std::int64_t n = 1;
    for (const auto q : product.depth) {
      const auto unit = q == product.depth.back() ? kChunk : 1;
      n *= (extent(q) + unit - 1) / unit * unit;
    }
    return n;
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
  Times times(const Shape& shape) const {
    // Of what products take at the pipes' rate: fragments, barriers, copies' places, and sums that change registers.
    // The 18 products of CCSD(T)'s triples on an H200, all indices of 24.
    constexpr double kBusy = 1.75;
    constexpr double kCacheBytes = 40;  // of a multiprocessor's share of the second cache, in a cycle
    double multiplied = 0, copied = 0, elements = 1;
    for (const auto& product : products_) {
      const auto deep = static_cast<double>(depth_of(product));
      multiplied += deep * static_cast<double>(shape.elements);
      copied += deep * 8 * static_cast<double>(size_of_side(product.first) + size_of_side(product.second));
    }
    for (const auto& free : free_) elements *= static_cast<double>(free.extent);
    const double at_once = static_cast<double>(device_.multiprocessors) * shape.blocks;
    const double waves = tasks() / at_once;
    // Blocks of a last wave that is not full have a multiprocessor for fewer of them.
    const double turns = std::max(waves, std::ceil(waves * shape.blocks) / shape.blocks) * shape.blocks;
    Times all;
    const double cycle = 1 / device_.clock_MHz;  // microseconds
    all.products = turns * multiplied / pipe_rate(device_.sm, find_atom(), DType::f64, 1) * kBusy * cycle;
    all.cache = turns * copied / kCacheBytes * cycle;
    all.memory = 2 * elements * 8 / device_.copy_rate_GBs() * 1e-3;
    all.launch = 3;
    all.total = side_by_side(all.products, all.cache) + all.memory + all.launch;
    return all;
  }

  /// Of a block's pipeline, and of what lanes exchange.
  std::int64_t shared_bytes(const Shape& shape) const {
    constexpr std::int64_t kExchanged = 20 * 1024, kLine = 16;  // elements
    std::int64_t most = 0;
    for (const auto& product : products_) {
      std::int64_t round = 0;
      for (const std::size_t operand : {0, 1}) {
        const auto side = size_of_side(operand == 0 ? product.first : product.second);
        const auto row = product.deep[operand] ? kChunk : side, rows = product.deep[operand] ? side : kChunk;
        round += (rows * (row + padding(row, product.deep[operand], shape)) + kLine - 1) / kLine * kLine;
      }
      most = std::max(most, round);
    }
    return most * kStages * 8 + (maps_.size() > 1 ? kExchanged : 0);
  }
  std::int64_t most_shared(const Shape& shape) const {
    return std::min(device_.shared_bytes_per_block,
                    device_.shared_bytes_per_multiprocessor / shape.blocks - kReservedBytes);
  }

  /// Tiles of the indices from number `k` on, of so many elements together.
  void choose_tiles(const Shape& shape, std::size_t k, std::int64_t left) {
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
  bool choose_warps(const Shape& shape) {
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
        fits = rows >= 2 * kRowLanes && columns >= 2 * kColumnLanes;
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

  /// A product with the digits that a lane has two values of in each atom: others would be moved from register to
  /// register.
  struct Section {
    std::size_t product = 0;
    int column = -1;
    Digit row_pair = {}, column_pair = {};
  };
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
        const auto pair = chosen(rows, true), across = chosen(columns, false);
        rows = pair;
        columns = across;
        negative = products_[*next].negative;
        order.push_back({*next, map.column, pair, across});
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
    for (const auto& digit : registers(side, section.column)) {
      if (digit != pair) names.push_back(text(digit));
    }
    if (of_rows) {
      names.push_back(text(pair));
      names.push_back(text({row_, 0}));
    } else {
      for (int level = log2(kColumnLanes); level-- > 0;) names.push_back(text({section.column, level}));
      names.push_back(text(pair));
    }
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

  void add(const Shape& shape) {
    Candidate candidate;
    auto& schedule = candidate.schedule;
    auto& all = schedule.directives;
    schedule.name = fmt::format("group of {} m16n8k8_f64 tile", products_.size());
    for (std::size_t k = free_.size(); k-- > 0;) {
      if (free_[k].tile > 1) schedule.name += fmt::format(" {}{}", name(free_[k].index), free_[k].tile);
    }
    schedule.name += fmt::format(" warps {} stages {}", shape.warps, kStages);
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
        const auto size = q == deep ? kChunk : 1;
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
        stage.padding =
            padding(product.deep[operand] ? kChunk : size_of_side(of_rows ? rows_of(product) : columns_of(product)),
                    product.deep[operand], shape);
        stage.loops = {{"", std::move(dimensions)}};
        all.push_back(std::move(stage));
      }
      auto atom = directive(Directive::Kind::atom, "m16n8k8_f64");
      atom.loops = {{"rows", rows}, {"columns", columns}, {"depth", {name(deep)}}, {"warp", warps}};
      atom.warps = {1 << std::popcount(rows_of(product) & warps_), 1 << std::popcount(columns_of(product) & warps_)};
      atom.runs = {1, 1, shape.run};
      atom.blocks = shape.blocks;
      all.push_back(std::move(atom));
      auto pipeline = directive(Directive::Kind::pipeline, sums.back());
      pipeline.sizes = {kStages};
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

  /// Elements between rows of a staged operand, so that lanes of a warp meet in no bank: 8 lanes along the side and 4
  /// along the depth, each of one number or of two along the depth.
  static int padding(std::int64_t row, bool deep, const Shape& shape) {
    const std::int64_t wanted = deep ? (shape.run == 2 ? 8 : 4) : (shape.run == 2 ? 2 : 4),
                       unit = deep && shape.run == 1 ? 8 : 16;
    return static_cast<int>(((wanted - row) % unit + unit) % unit);
  }

  static const kernel::Atom* find_atom() { return kernel::find_atom("m16n8k8_f64"); }

  const ir::Program& program_;
  const kernel::Group& group_;
  const GpuModel& device_;
  std::vector<Free> free_;  // indices of the result, the fastest first
  std::vector<Product> products_;
  int row_ = -1;  // number of the index along the rows' lanes
  std::vector<Map> maps_;
  Indices warps_ = 0;  // whose slowest digits are of a warp's number
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
