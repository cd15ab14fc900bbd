// Schedules of contractions for a GPU: tiles over groups of axes, operands staged in shared memory, warps on tensor
// cores or fused multiply-adds; and what each is predicted to take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "kernel/atom_types.hpp"
#include "kernel/contraction.hpp"
#include "kernel/warp_tile.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_tiles.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;
using tiles::Axes;
using tiles::Axis;
using tiles::parts;
using tiles::Tile;
using tiles::Tiles;
using tiles::up;

constexpr std::int64_t kSector = 32;
constexpr std::size_t kKept = 20;
constexpr int kAlike = 2;                          ///< candidates of one tile, with other warps
constexpr int kMostRegisters = 232;                ///< by the estimate, which leaves out what places of results take
constexpr std::int64_t kRegistersPerPart = 16384;  ///< of a multiprocessor, of four

/// How a contraction may be cut: what a candidate is made of.
struct Cut {
  const Tile* rows = nullptr;
  const Tile* columns = nullptr;
  const Tile* depth = nullptr;
  kernel::Spread spread;
  int stages = 1;
  int resident = 1;  ///< blocks of a multiprocessor at once
  double seconds = 0;
};

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const kernel::Contraction& contraction, const GpuModel& device)
      : program_(program), contraction_(contraction), device_(device) {}

  std::vector<Candidate> run() {
    if (!suits()) return {};
    choose_atom();
    const auto rows = side_tiles(rows_, row_unit_), columns = side_tiles(columns_, column_unit_),
               depths = depth_tiles();
    std::vector<Cut> cuts;
    for (const auto& r : rows) {
      for (const auto& c : columns) {
        if (r.size * c.size < kLeastTile && (r.blocks > 1 || c.blocks > 1)) continue;
        if (r.size * c.size > kMostTile) continue;
        for (const auto& d : depths) add(cuts, {&r, &c, &d, {}, 1, 1, 0});
      }
    }
    std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& x, const Cut& y) { return x.seconds < y.seconds; });
    std::vector<Candidate> list;
    std::set<std::string> names;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> alike;
    for (const auto& cut : cuts) {
      if (list.size() == kKept) break;
      if (++alike[{cut.rows->size, cut.columns->size, cut.depth->size}] > kAlike) continue;
      if (shared_bytes(cut) > device_.shared_bytes_per_block) continue;
      Candidate candidate;
      candidate.schedule.name = name(cut);
      if (!names.insert(candidate.schedule.name).second) continue;
      candidate.schedule.directives = directives(cut);
      candidate.schedule.threads = 32 * cut.spread.warps();
      candidate.predicted_us = 1e6 * cut.seconds;
      list.push_back(std::move(candidate));
    }
    return list;
  }

 private:
  static constexpr std::int64_t kLeastTile = 16 * 16, kMostTile = 192 * 192;

  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }
  const ir::Buffer& buffer(int number) const { return program_.buffers[static_cast<std::size_t>(number)]; }

  /// Sorts the axes by role, columns being the side that has the result's neighbours.
  bool suits() {
    const auto& statement = program_.statement();
    type_ = contraction_.type;
    if (is_half(type_)) return false;
    const auto& c = statement.offset.coefficient;
    bool swapped = false;
    for (std::size_t q = 0; q < c.size(); ++q) {
      const auto role = contraction_.role[q];
      if (role == Role::summed || role == Role::other || role == Role::broadcast) return false;
      if (role == Role::rows && c[q] == 1 && program_.indices[q].extent > 1) swapped = true;
    }
    const auto& first = load(swapped ? contraction_.second : contraction_.first);
    const auto& second = load(swapped ? contraction_.first : contraction_.second);
    if (first.source == second.source) return false;  // one tensor twice: an operand's name says which
    rows_type_ = buffer(first.source).type;
    columns_type_ = buffer(second.source).type;
    rows_name_ = buffer(first.source).name;
    columns_name_ = buffer(second.source).name;
    for (std::size_t q = 0; q < c.size(); ++q) {
      const auto a = first.offset.coefficient[q], b = second.offset.coefficient[q];
      auto role = contraction_.role[q];
      if (swapped && (role == Role::rows || role == Role::columns))
        role = role == Role::rows ? Role::columns : Role::rows;
      const auto& index = program_.indices[q];
      if (role == Role::rows) rows_.push_back({index.name, index.extent, a, c[q]});
      if (role == Role::columns) columns_.push_back({index.name, index.extent, b, c[q]});
      if (role == Role::depth) depth_.push_back({index.name, index.extent, a, b});
      if (role == Role::batch) batch_.push_back({index.name, index.extent, a, b});
      if (role == Role::batch) batches_ *= index.extent;
    }
    if (depth_.empty()) return false;
    atom_ = narrow_atom();
    if (is_integer(type_) && atom_.empty()) return false;
    for (const auto& node : program_.nodes)
      reads_result_ = reads_result_ || (node.kind == ir::NodeKind::load && node.source == statement.buffer);
    result_size_ = size_of(buffer(statement.buffer).type);
    for (const auto& b : program_.buffers) bytes_ += static_cast<double>((b.last - b.first + 1) * size_of(b.type));
    if (reads_result_) {
      const auto& out = buffer(statement.buffer);
      bytes_ += static_cast<double>((out.last - out.first + 1) * size_of(out.type));
    }
    return true;
  }

  void choose_atom() {
    if (atom_.empty() && (type_ == DType::f64 || type_ == DType::c128) && device_.sm >= 80)
      atom_ = device_.sm >= 90 && device_.sm < 100 ? "m16n8k8_f64" : "m8n8k4_f64";
    if (atom_.empty() && program_.precision != Precision::f32) choose_tf32();
    fma_ = atom_.empty();
    if (fma_) atom_ = "fma";
    const auto& atom = fma_ ? kernel::fma_atom() : *kernel::find_atom(atom_);
    const bool is_tf32 = atom.a.type == kernel::AtomType::tf32;
    shared_ = atom.a.per_register();
    operand_type_ = kernel::operand_type(fma_ ? nullptr : &atom, contraction_);
    converted_rows_ = rows_type_ != operand_type_;
    converted_columns_ = columns_type_ != operand_type_;
    size_ = size_of(operand_type_);
    const int run = fma_ ? static_cast<int>(std::max<std::int64_t>(16 / size_, 1)) : 1;
    row_unit_ = std::int64_t{atom.m} * (fma_ ? run : 1);
    column_unit_ = std::int64_t{atom.n} * (fma_ ? run : 1);
    depth_unit_ = fma_ ? 1 : std::max(atom.k, 8);
    // Multiply-adds of a multiprocessor in a cycle.
    const bool large = device_.sm == 80 || (device_.sm >= 90 && device_.sm < 110);  // with full double precision
    const double narrow = device_.sm == 80 ? 64 : 128;
    rate_ = shared_ > 1        ? f16_rate() * 2 / static_cast<double>(size_)
            : is_tf32          ? tf32_rate()
            : !fma_            ? (device_.sm >= 90 ? 128 : 64)
            : part_size() == 8 ? (large ? narrow / 2 : 2)
                               : narrow;
    if (is_complex(type_)) rate_ /= 4;
  }
  std::int64_t part_size() const { return is_complex(type_) ? size_of(type_) / 2 : size_of(type_); }

  /// The deepest product of elements that share registers whose sums are those of the program.
  std::string narrow_atom() const {
    const kernel::Atom* best = nullptr;
    for (const auto& atom : kernel::kAtoms) {
      if (atom.a.per_register() == 1 || device_.sm < atom.sm) continue;
      if (!kernel::mismatch(atom, 1, program_, contraction_).empty()) continue;
      if (best == nullptr || atom.k > best->k) best = &atom;
    }
    return best == nullptr ? std::string() : std::string(best->name);
  }
  /// Multiply-adds of elements of 16 or 8 bits by mma.sync. sm_80: NVIDIA's A100 white paper (1024 of f16 a cycle).
  /// sm_90: 0.62 of the 2048 of its white paper, which take wgmma (Luo et al., arXiv:2402.13499). Others: as sm_86.
  double f16_rate() const { return device_.sm == 80 ? 1024 : device_.sm >= 90 && device_.sm < 120 ? 1270 : 512; }
  /// Half of that; three products of factors in two parts.
  double tf32_rate() const { return f16_rate() / 2 / (parts_ == 2 ? 3 : 1); }
  /// tf32, in as many parts as the program's products need, where it is faster than fused multiply-adds.
  void choose_tf32() {
    constexpr double kFmaRate = 128;  // of f32, from sm_86 on
    parts_ = program_.precision == Precision::tf32x3 ? 2 : 1;
    if (tf32_rate() > kFmaRate) {
      atom_ = "m16n8k8_tf32";
    } else {
      parts_ = 1;
    }
  }

  std::vector<Tile> side_tiles(const Axes& axes, std::int64_t unit) const {
    std::vector<Tile> list;
    if (axes.empty()) return {Tile{}};
    std::vector<std::size_t> fastest;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (std::abs(axes[k].in_operand) == 1 || std::abs(axes[k].in_other) == 1) fastest.push_back(k);
    }
    if (fastest.empty()) {
      fastest.push_back(0);
      for (std::size_t k = 1; k < axes.size(); ++k) {
        if (std::abs(axes[k].in_operand) < std::abs(axes[fastest[0]].in_operand)) fastest[0] = k;
      }
    }
    Tiles search(axes, unit);
    for (const auto f : fastest) {
      for (const std::int64_t most : {256, 192, 144, 128, 96, 64, 48, 32, 16}) {
        auto tile = search.of(f, most);
        const bool known = std::any_of(list.begin(), list.end(),
                                       [&](const Tile& t) { return t.sizes == tile.sizes && t.order == tile.order; });
        if (!known) list.push_back(std::move(tile));
      }
    }
    return list;
  }

  /// Depths that atoms divide; where no extents do, the fastest axis is longer than it is.
  std::vector<Tile> depth_tiles() const {
    std::vector<Tile> list;
    std::vector<std::size_t> fastest;
    for (std::size_t k = 0; k < depth_.size(); ++k) {
      if (std::abs(depth_[k].in_operand) == 1 || std::abs(depth_[k].in_other) == 1) fastest.push_back(k);
    }
    if (fastest.empty()) fastest.push_back(depth_.size() - 1);
    for (const auto f : fastest) {
      for (const std::int64_t steps : {1, 2, 3, 4, 6}) {
        const auto most = steps * std::max<std::int64_t>(depth_unit_, 8);
        Tile tile;
        for (std::size_t k = 0; k < depth_.size(); ++k) {
          if (k != f) tile.order.push_back(k);
        }
        tile.order.push_back(f);
        tile.sizes.assign(depth_.size(), 1);
        auto room = most;
        for (std::size_t k = tile.order.size(); k-- > 0;) {
          auto& n = tile.sizes[tile.order[k]];
          const auto extent = depth_[tile.order[k]].extent;
          n = std::min(room, extent);
          if (k + 1 < tile.order.size() || n % depth_unit_ == 0) {
            while (extent % n != 0) --n;  // of the others, what leaves no rest
          }
          room /= n;
        }
        const auto whole = [&] {
          return std::accumulate(tile.sizes.begin(), tile.sizes.end(), std::int64_t{1}, std::multiplies<>());
        };
        while (whole() % depth_unit_ != 0) ++tile.sizes[f];
        tile.size = whole();
        for (std::size_t k = 0; k < depth_.size(); ++k) tile.blocks *= parts(depth_[k].extent, tile.sizes[k]);
        const bool known = std::any_of(list.begin(), list.end(),
                                       [&](const Tile& t) { return t.sizes == tile.sizes && t.order == tile.order; });
        if (!known && tile.size <= 2 * most) list.push_back(std::move(tile));
      }
    }
    // Each operand has neighbours of its own along the depth: whole sectors of both.
    if (fastest.size() == 2) {
      for (const auto& [f, g] : {std::pair{fastest[0], fastest[1]}, std::pair{fastest[1], fastest[0]}}) {
        for (const auto& [m, n] : {std::pair{4, 4}, std::pair{8, 4}, std::pair{4, 8}, std::pair{8, 8}}) {
          Tile tile;
          for (std::size_t k = 0; k < depth_.size(); ++k) {
            if (k != f && k != g) tile.order.push_back(k);
          }
          tile.order.push_back(g);
          tile.order.push_back(f);
          tile.sizes.assign(depth_.size(), 1);
          tile.sizes[f] = m;
          tile.sizes[g] = n;
          if (depth_[f].extent < m || depth_[g].extent < n || std::int64_t{m} * n % depth_unit_ != 0) continue;
          tile.size = std::int64_t{m} * n;
          for (std::size_t k = 0; k < depth_.size(); ++k) tile.blocks *= parts(depth_[k].extent, tile.sizes[k]);
          list.push_back(std::move(tile));
        }
      }
    }
    return list;
  }

  /// Whether an operand's neighbours lie along the depth.
  bool along_depth(bool of_rows) const {
    if (fma_) return false;  // its lanes read along their own side
    return std::any_of(depth_.begin(), depth_.end(),
                       [&](const Axis& axis) { return (of_rows ? axis.in_operand : axis.in_other) == 1; });
  }
  /// Neighbours in an operand that a tile holds, in elements.
  std::int64_t run(const Axes& axes, const Tile& tile, const Tile& depth, bool of_rows) const {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (axes[k].in_operand == 1) return std::min(tile.sizes[k], axes[k].extent);
    }
    for (std::size_t k = 0; k < depth_.size(); ++k) {
      if ((of_rows ? depth_[k].in_operand : depth_[k].in_other) == 1) return std::min(depth.sizes[k], depth_[k].extent);
    }
    return 1;
  }
  std::int64_t result_run(const Cut& cut) const {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (columns_[k].in_other == 1) return std::min(cut.columns->sizes[k], columns_[k].extent);
    }
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (rows_[k].in_other == 1) return std::min(cut.rows->sizes[k], rows_[k].extent);
    }
    return 1;
  }
  /// Whether the fastest digit of a side is the result's.
  bool neighbours(const Cut& cut) const {
    const auto is = [](const Axes& axes, const Tile& tile) {
      return !tile.order.empty() && axes[tile.order.back()].in_other == 1;
    };
    return is(columns_, *cut.columns) || is(rows_, *cut.rows);
  }
  /// Bytes that move for each byte of runs.
  static double sectors(std::int64_t run_bytes) {
    const auto whole = static_cast<double>(up(run_bytes, kSector));
    return (run_bytes % kSector == 0 ? whole : whole + 0.5 * kSector) / static_cast<double>(run_bytes);
  }

  void add(std::vector<Cut>& cuts, Cut cut) const {
    for (const int warp_rows : {1, 2, 3, 4}) {
      for (const int warp_columns : {1, 2, 3, 4, 8}) {
        if (warp_rows * warp_columns > 12) continue;
        cut.spread = spread(cut, warp_rows, warp_columns);
        const auto rows = up(cut.rows->size, warp_rows * row_unit_),
                   columns = up(cut.columns->size, warp_columns * column_unit_ * (fma_ ? 1 : cut.spread.run_columns));
        const auto register_tile = rows * columns / (std::int64_t{32} * warp_rows * warp_columns);
        const auto registers = this->registers(rows / warp_rows, columns / warp_columns);
        if (registers > kMostRegisters || (register_tile < 8 && warp_rows * warp_columns > 1)) continue;
        // Room to spare in whole warps: the same with fewer of them.
        if (rows - cut.rows->size >= row_unit_ * warp_rows ||
            columns - cut.columns->size >= 2 * column_unit_ * warp_columns)
          continue;
        if (warp_rows > 1 && (warp_rows - 1) * rows / warp_rows >= cut.rows->size) continue;
        Cut best;
        for (const int stages : {2, 3, 4, 6}) {
          cut.stages = stages;
          cut.seconds = seconds(cut, rows, columns, registers);
          if (cut.seconds > 0 && (best.rows == nullptr || cut.seconds < best.seconds)) best = cut;
          if (stages > cut.depth->blocks) break;
        }
        if (best.rows != nullptr) cuts.push_back(best);
      }
    }
  }

  kernel::Spread spread(const Cut& cut, int warp_rows, int warp_columns) const {
    kernel::Spread spread;
    spread.warp_rows = warp_rows;
    spread.warp_columns = warp_columns;
    if (fma_) {
      spread.run_rows = spread.run_columns = static_cast<int>(std::max<std::int64_t>(16 / size_, 1));
      return spread;
    }
    if (shared_ > 1) {
      // Neighbours of the result to a lane, where the columns are not read across their rows.
      spread.run_depth = shared_;
      spread.run_columns = along_depth(false) && result_size_ == 2 ? 2 : 1;
      return spread;
    }
    if (is_complex(type_)) return spread;  // of 16 bytes: lanes that are neighbours read neighbours
    const bool deep = along_depth(true) || along_depth(false);
    spread.run_depth = deep && atom_ != "m8n8k4_f64" ? 2 : 1;
    spread.run_rows = along_depth(true) || atom_ == "m8n8k4_f64" ? 1 : 2;
    (void)cut;
    return spread;
  }

  int registers(std::int64_t rows, std::int64_t columns) const {
    const auto words = std::max<std::int64_t>(size_ / 4, 1);
    const auto sums = rows * columns / 32 * (size_of(type_) / 4);
    const auto parts = fma_ ? (rows / 8 + columns / 4) * words : (rows / 8 + columns / 8) * 2 * words;
    const auto minus = !fma_ && is_complex(type_) ? columns / 8 * words : 0;
    return static_cast<int>(sums + parts * parts_ + minus) + (fma_ ? 64 : 40);
  }

  kernel::WarpTile warp_tile(const Cut& cut) const {
    return kernel::warp_tile(atom_, cut.spread, digits(*cut.rows), digits(*cut.columns), digits(*cut.depth), type_);
  }
  /// What the operands' places take in shared memory, with their padding.
  std::int64_t shared_bytes(const Cut& cut) const {
    const auto tile = warp_tile(cut);
    std::int64_t bytes = 0;
    for (const bool of_rows : {true, false}) {
      const bool deep = along_depth(of_rows);
      const auto padding = kernel::best_padding(tile, of_rows, deep, operand_type_);
      const auto& side = of_rows ? tile.rows : tile.columns;
      const auto elements = deep ? side.padded * (tile.depth.extent + padding)
                                 : tile.depth.extent * (side.extent + padding) + side.padded - side.extent;
      bytes += std::min<std::int64_t>(cut.stages, cut.depth->blocks) * up(elements * size_, kLine);
    }
    return bytes;
  }
  static constexpr std::int64_t kLine = 128;

  /// 0 where it does not fit.
  double seconds(Cut& cut, std::int64_t rows, std::int64_t columns, int registers) const {
    const auto depth = cut.depth->size;
    const auto shared = cut.stages * depth * (rows + columns + 16) * size_;
    if (shared > device_.shared_bytes_per_block - 1024) return 0;
    const auto warps = cut.spread.warps();
    // Each of a multiprocessor's four parts has its own registers.
    const auto warps_of_part = kRegistersPerPart / (32 * up(registers, 8));
    const auto resident = std::min({device_.shared_bytes_per_multiprocessor / (shared + 1024),
                                    static_cast<std::int64_t>(device_.threads_per_multiprocessor / (32 * warps)),
                                    4 * warps_of_part / (warps < 4 ? warps : static_cast<int>(up(warps, 4)))});
    if (resident < 1) return 0;
    cut.resident = static_cast<int>(resident);
    const double blocks = static_cast<double>(cut.rows->blocks * cut.columns->blocks * batches_);
    const double multiprocessors = device_.multiprocessors;
    const double blocks_of_multiprocessor = std::ceil(blocks / multiprocessors);
    const double resident_blocks = std::min(static_cast<double>(resident), blocks_of_multiprocessor);
    const double k = static_cast<double>(depth * cut.depth->blocks), clock = device_.clock_MHz * 1e6;
    const double compute = static_cast<double>(rows * columns) * k / rate_;
    const double warp_rows = static_cast<double>(rows) / cut.spread.warp_rows;
    const double warp_columns = static_cast<double>(columns) / cut.spread.warp_columns;
    // Fused multiply-adds read for each lane, fragments for each warp.
    const double lanes_read = 32 * (warp_rows / 8 + warp_columns / 4);
    const double read = warps * (fma_ ? lanes_read : warp_rows + warp_columns);
    const double written = static_cast<double>(cut.rows->size + cut.columns->size);
    const double banks = (read + written) * k * static_cast<double>(size_) / 128;
    // A multiprocessor has four parts, with a tensor core each.
    const double busy = warps * resident_blocks, shares = std::ceil(busy / 4);
    const double steady = busy / (4 * shares) * (shares >= 2 ? 0.96 : 0.88);
    const double chunks = static_cast<double>(cut.depth->blocks);
    // Every chunk has a barrier; what is copied ahead must cover the time that memory takes.
    const double prefetched_cycles = (cut.stages - 1) * resident_blocks * std::max(compute, banks) / chunks;
    const double stalled = std::max(0.0, kLatencyCycles - prefetched_cycles) / (cut.stages - 1) + kBarrierCycles;
    const double pipes =
        blocks_of_multiprocessor * (std::max(compute, banks) / steady + chunks * stalled / resident_blocks) / clock;
    const double a_bytes =
        static_cast<double>(cut.rows->size * size_) * sectors(run(rows_, *cut.rows, *cut.depth, true) * size_);
    const double b_bytes = static_cast<double>(cut.columns->size * size_) *
                           sectors(run(columns_, *cut.columns, *cut.depth, false) * size_);
    const auto& out = buffer(program_.statement().buffer);
    const double result = static_cast<double>((out.last - out.first + 1) * result_size_) * (reads_result_ ? 2 : 1);
    // Elements that do not lie side by side in a lane are sectors of their own on their way.
    const double stored =
        result * (neighbours(cut) ? 1 : static_cast<double>(kSector) / static_cast<double>(result_size_));
    const double cached = (blocks * (a_bytes + b_bytes) * k + stored) / (kCacheBytesPerCycle * multiprocessors * clock);
    const double memory =
        (bytes_ + result * (sectors(result_run(cut) * result_size_) - 1)) / (device_.copy_rate_GBs() * 1e9);
    const double waits =
        std::ceil(blocks_of_multiprocessor / resident_blocks) * kBlockCycles / clock / (resident_blocks > 1 ? 2 : 1);
    const double longest = std::max({pipes, cached, memory});
    return longest + 0.1 * (pipes + cached + memory - longest) + waits + kLaunchSeconds;
  }
  static constexpr double kCacheBytesPerCycle = 21;  ///< of a multiprocessor, from the second cache (H200: 5.5 TB/s)
  static constexpr double kBlockCycles = 2500;       ///< before the first product and after the last one
  static constexpr double kLaunchSeconds = 2e-6;
  static constexpr double kLatencyCycles = 1000;  ///< of memory
  static constexpr double kBarrierCycles = 60;

  // ---- text

  std::string name(const Cut& cut) const {
    const auto list = [](const Axes& axes, const Tile& tile) {
      std::string text;
      for (const auto k : tile.order) {
        if (tile.sizes[k] > 1) text += fmt::format("{}{}", axes[k].name, tile.sizes[k]);
      }
      return text.empty() ? std::string("1") : text;
    };
    return fmt::format("{}{} {} x {} x {} warps {}x{} stages {}", atom_, parts_ > 1 ? "x3" : "", list(rows_, *cut.rows),
                       list(columns_, *cut.columns), list(depth_, *cut.depth), cut.spread.warp_rows,
                       cut.spread.warp_columns, cut.stages);
  }

  kernel::Directives directives(const Cut& cut) const {
    kernel::Directives list;
    std::vector<std::string> row_blocks, column_blocks, chunks, task, near;
    // Of many blocks either way, eight rows of them go together: what they read stays in the cache.
    constexpr std::int64_t kGrouped = 8;
    std::size_t grouped = rows_.size();
    if (cut.rows->blocks >= 2 * kGrouped && cut.columns->blocks >= kGrouped) {
      for (const auto k : cut.rows->order) {
        if (parts(rows_[k].extent, cut.rows->sizes[k]) >= 2 * kGrouped) grouped = k;
      }
    }
    const auto tile = [&](const Axes& axes, const Tile& t, std::vector<std::string>& blocks, std::size_t group) {
      for (const auto k : t.order) {
        const auto n = t.sizes[k];
        Directive d;
        d.kind = Directive::Kind::tile;
        d.subject = axes[k].name;
        d.sizes = {n};
        if (k == group) {
          d.sizes = {kGrouped * n, n};
          near = {axes[k].name + "1"};
        }
        if (n == axes[k].extent) continue;
        list.push_back(std::move(d));
        blocks.push_back(axes[k].name + "0");
      }
    };
    tile(rows_, *cut.rows, row_blocks, grouped);
    tile(columns_, *cut.columns, column_blocks, columns_.size());
    tile(depth_, *cut.depth, chunks, depth_.size());
    for (const auto& axis : batch_) task.push_back(axis.name);
    const bool columns_last = !near.empty() || cut.columns->blocks <= cut.rows->blocks;
    for (const auto& n : columns_last ? row_blocks : column_blocks) task.push_back(n);
    for (const auto& n : columns_last ? column_blocks : row_blocks) task.push_back(n);
    for (const auto& n : near) task.push_back(n);
    if (chunks.empty() && task.empty()) {
      // All of it is one tile: a loop of one round to stage at.
      const auto k = cut.depth->order.back();
      Directive d;
      d.kind = Directive::Kind::tile;
      d.subject = depth_[k].name;
      d.sizes = {depth_[k].extent, depth_[k].extent};
      list.push_back(std::move(d));
      chunks = {depth_[k].name + "0", depth_[k].name + "1"};
    }
    // Loops of one round outside: the innermost one is the pipeline.
    std::stable_sort(chunks.begin(), chunks.end(), [&](const std::string& x, const std::string& y) {
      const auto rounds = [&](const std::string& name) {
        for (std::size_t k = 0; k < depth_.size(); ++k) {
          if (depth_[k].name + "0" == name) return parts(depth_[k].extent, cut.depth->sizes[k]) > 1;
        }
        return false;
      };
      return !rounds(x) && rounds(y);
    });
    Directive order;
    order.kind = Directive::Kind::order;
    if (!task.empty()) order.loops.emplace_back("task", task);
    if (!chunks.empty()) order.loops.emplace_back("sum", chunks);
    list.push_back(order);
    const auto at = chunks.empty() ? task.back() : chunks.back();
    const auto names = [](const Axes& axes, const Tile& t) {
      std::vector<std::string> all;
      for (const auto k : t.order) all.push_back(axes[k].name);
      return all;
    };
    const auto rows = names(rows_, *cut.rows), columns = names(columns_, *cut.columns),
               depth = names(depth_, *cut.depth);
    const auto spread = warp_tile(cut);
    const auto stage = [&](bool of_rows) {
      Directive d;
      d.kind = Directive::Kind::stage;
      d.subject = of_rows ? rows_name_ : columns_name_;
      d.at = at;
      d.space = (of_rows ? converted_rows_ : converted_columns_) ? "shared" : "async";
      const bool deep = along_depth(of_rows);
      auto dimensions = deep ? (of_rows ? rows : columns) : depth;
      for (const auto& n : deep ? depth : (of_rows ? rows : columns)) dimensions.push_back(n);
      d.loops.emplace_back("", std::move(dimensions));
      d.padding = kernel::best_padding(spread, of_rows, deep, operand_type_);
      list.push_back(std::move(d));
    };
    stage(true);
    stage(false);
    Directive atom;
    atom.kind = Directive::Kind::atom;
    atom.subject = atom_;
    atom.loops = {{"rows", rows}, {"columns", columns}, {"depth", depth}};
    atom.warps = {cut.spread.warp_rows, cut.spread.warp_columns};
    atom.blocks = cut.resident;
    atom.parts = parts_;
    atom.runs = {cut.spread.run_rows, cut.spread.run_columns, cut.spread.run_depth};
    list.push_back(std::move(atom));
    if (cut.depth->blocks > 1 && cut.stages > 1) {
      Directive pipeline;
      pipeline.kind = Directive::Kind::pipeline;
      pipeline.subject = at;
      pipeline.sizes = {cut.stages};
      list.push_back(std::move(pipeline));
    }
    return list;
  }
  static std::vector<kernel::Digit> digits(const Tile& tile) { return {{0, tile.size}}; }

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const GpuModel& device_;
  Axes rows_, columns_, depth_, batch_;
  std::string rows_name_, columns_name_, atom_;
  bool converted_rows_ = false, converted_columns_ = false, reads_result_ = false, fma_ = false;
  DType type_ = DType::f64;          ///< of the sum
  DType operand_type_ = DType::f64;  ///< of what is staged
  DType rows_type_ = DType::f64, columns_type_ = DType::f64;
  int parts_ = 1;   ///< of each factor, of tf32
  int shared_ = 1;  ///< elements of an operand in one register
  std::int64_t size_ = 8, result_size_ = 8, row_unit_ = 16, column_unit_ = 8, depth_unit_ = 8, batches_ = 1;
  double rate_ = 1, bytes_ = 0;
};

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return {};
  return ContractionEnumerator(program, *contraction, device).run();
}

}  // namespace ricci::plan
