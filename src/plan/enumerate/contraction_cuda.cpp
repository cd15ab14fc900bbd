// Schedules of contractions for a GPU: tiles over groups of axes, operands staged in shared memory, warps on tensor
// cores or fused multiply-adds; and what each is predicted to take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "kernel/atom_types.hpp"
#include "kernel/contraction.hpp"
#include "kernel/warp_tile.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_tiles.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/pipe_rates.hpp"

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
  kernel::Spread spread = {};
  int stages = 1;
  int resident = 1;  ///< blocks of a multiprocessor at once
  ContractionCounts counts = {};
  double seconds = 0;
};

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const kernel::Contraction& contraction, const GpuModel& device)
      : program_(program), contraction_(contraction), device_(device) {}

  std::vector<Candidate> run() {
    if (!suits()) return {};
    choose_atom();
    const auto rows = tiles::side_tiles(rows_, row_unit_), columns = tiles::side_tiles(columns_, column_unit_),
               depths = tiles::depth_tiles(depth_, depth_unit_);
    std::vector<Cut> cuts;
    for (const auto& r : rows) {
      for (const auto& c : columns) {
        if (r.size * c.size < kLeastTile && (r.blocks > 1 || c.blocks > 1)) continue;
        if (r.size * c.size > kMostTile) continue;
        if (least_seconds(r, c) > kWorthListing * best_seconds_) continue;
        for (const auto& d : depths) add(cuts, {&r, &c, &d});
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
      candidate.parts = parts_of(contraction_time(cut.counts, device_));
      candidate.note = round_text(cut.counts);
      list.push_back(std::move(candidate));
    }
    return list;
  }

 private:
  static constexpr std::int64_t kLeastTile = 16 * 16, kMostTile = 192 * 192;
  static constexpr double kWorthListing = 1.3;  ///< times the best

  /// What the products of these tiles take at least.
  double least_seconds(const Tile& rows, const Tile& columns) const {
    const auto blocks = static_cast<double>(rows.blocks * columns.blocks * batches_);
    return std::ceil(blocks / device_.multiprocessors) * static_cast<double>(rows.size * columns.size) * terms_ /
           rate_ / (device_.clock_MHz * 1e6);
  }

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
      if (role == Role::depth) terms_ *= static_cast<double>(index.extent);
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
    shared_ = atom.a.per_register();
    operand_type_ = kernel::operand_type(fma_ ? nullptr : &atom, contraction_);
    converted_rows_ = rows_type_ != operand_type_;
    converted_columns_ = columns_type_ != operand_type_;
    size_ = size_of(operand_type_);
    const int run = fma_ ? static_cast<int>(std::max<std::int64_t>(16 / size_, 1)) : 1;
    row_unit_ = std::int64_t{atom.m} * (fma_ && !along_depth(true) ? run : 1);
    column_unit_ = std::int64_t{atom.n} * (fma_ ? run : 1);
    const bool deep = along_depth(true) || along_depth(false);
    depth_unit_ = !fma_ ? std::max(atom.k, 8) : deep ? run : 1;
    rate_ = pipe_rate(device_.sm, fma_ ? nullptr : &atom, type_, parts_);
  }

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
  /// tf32, in as many parts as the program's products need, where it is faster than fused multiply-adds.
  void choose_tf32() {
    const int parts = program_.precision == Precision::tf32x3 ? 2 : 1;
    const auto* tf32 = kernel::find_atom("m16n8k8_tf32");
    if (pipe_rate(device_.sm, tf32, DType::f32, parts) <= pipe_rate(device_.sm, nullptr, DType::f32, 1)) return;
    atom_ = tf32->name;
    parts_ = parts;
  }

  /// Whether an operand's neighbours lie along the depth.
  bool along_depth(bool of_rows) const {
    return std::any_of(depth_.begin(), depth_.end(),
                       [&](const Axis& axis) { return (of_rows ? axis.in_operand : axis.in_other) == 1; });
  }
  /// How a block's part of an operand lies in memory.
  tiles::Lie lie_of(const Cut& cut, bool of_rows) const {
    std::vector<tiles::Reach> all;
    const auto& tile = of_rows ? *cut.rows : *cut.columns;
    const bool deep = along_depth(of_rows);
    // Rows of shared memory are a side's or the depth's, with some padding.
    const auto row = (deep ? cut.depth->size : tile.size) + std::max<std::int64_t>(16 / size_, 1);
    tiles::reach(all, of_rows ? rows_ : columns_, tile, false, deep ? row : 1);
    tiles::reach(all, depth_, *cut.depth, !of_rows, deep ? 1 : row);
    return tiles::lie_of(std::move(all));
  }
  /// Neighbours of the result that a block makes, in elements.
  std::int64_t result_run(const Cut& cut) const {
    std::vector<tiles::Reach> all;
    tiles::reach(all, rows_, *cut.rows, true, 1);
    tiles::reach(all, columns_, *cut.columns, true, 1);
    return tiles::lie_of(std::move(all)).run;
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

  void add(std::vector<Cut>& cuts, Cut cut) {
    for (const int warp_rows : {1, 2, 3, 4}) {
      for (const int warp_columns : {1, 2, 3, 4, 8}) {
        if (warp_rows * warp_columns > 12) continue;
        cut.spread = spread(cut, warp_rows, warp_columns);
        const auto rows = up(cut.rows->size, warp_rows * row_unit_),
                   columns = up(cut.columns->size, warp_columns * column_unit_ * (fma_ ? 1 : cut.spread.run_columns));
        const auto register_tile = rows * columns / (std::int64_t{32} * warp_rows * warp_columns);
        const auto registers = this->registers(rows / warp_rows, columns / warp_columns, cut.spread);
        if (registers > kMostRegisters || (register_tile < 8 && warp_rows * warp_columns > 1)) continue;
        // Room to spare in whole warps: the same with fewer of them.
        if (rows - cut.rows->size >= row_unit_ * warp_rows ||
            columns - cut.columns->size >= 2 * column_unit_ * warp_columns)
          continue;
        if (warp_rows > 1 && (warp_rows - 1) * rows / warp_rows >= cut.rows->size) continue;
        Cut best;
        cut.counts = counts(cut, rows, columns);
        for (const int stages : {2, 3, 4, 6}) {
          cut.stages = cut.counts.stages = stages;
          cut.resident = static_cast<int>(resident(cut, rows, columns, registers));
          if (cut.resident < 1) break;
          cut.counts.resident = cut.resident;
          cut.seconds = contraction_time(cut.counts, device_).total;
          if (best.rows == nullptr || cut.seconds < best.seconds) best = cut;
          if (stages > cut.depth->blocks) break;
        }
        if (best.rows == nullptr || best.seconds > kWorthListing * best_seconds_) continue;
        best_seconds_ = std::min(best_seconds_, best.seconds);
        cuts.push_back(best);
      }
    }
  }

  kernel::Spread spread(const Cut& cut, int warp_rows, int warp_columns) const {
    kernel::Spread spread;
    spread.warp_rows = warp_rows;
    spread.warp_columns = warp_columns;
    if (fma_) {
      const auto run = static_cast<int>(std::max<std::int64_t>(16 / size_, 1));
      spread.run_rows = along_depth(true) ? 1 : run;
      spread.run_columns = run;
      if (!along_depth(true) && !along_depth(false)) return spread;
      // Neighbours along the depth are in registers for all of them at once: as many as there is room for.
      constexpr std::int64_t kMostSums = 64;
      const auto sums = up(cut.rows->size, row_unit_ * warp_rows) * up(cut.columns->size, column_unit_ * warp_columns) /
                        (std::int64_t{32} * warp_rows * warp_columns) * (size_of(type_) / 4);
      spread.run_depth = sums > kMostSums ? std::max(run / 2, 1) : run;
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
    return spread;
  }

  int registers(std::int64_t rows, std::int64_t columns, const kernel::Spread& spread) const {
    const auto words = std::max<std::int64_t>(size_ / 4, 1);
    const auto sums = rows * columns / 32 * (size_of(type_) / 4);
    const auto parts =
        fma_ ? (rows / 8 + columns / 4) * words * spread.run_depth : (rows / 8 + columns / 8) * 2 * words;
    const auto minus = !fma_ && is_complex(type_) ? columns / 8 * words : 0;
    // What is rounded is read a step ahead.
    const auto ahead = !fma_ && kernel::find_atom(atom_)->a.type == kernel::AtomType::tf32 ? parts : 0;
    return static_cast<int>(sums + parts * parts_ + minus + ahead) + (fma_ ? 64 : 40);
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

  /// Room for blocks of a multiprocessor; 0 where one does not fit.
  std::int64_t resident(const Cut& cut, std::int64_t rows, std::int64_t columns, int registers) const {
    const auto shared = cut.stages * cut.depth->size * (rows + columns + 16) * size_;
    if (shared > device_.shared_bytes_per_block - 1024) return 0;
    const auto warps = cut.spread.warps();
    // Each of a multiprocessor's four parts has its own registers.
    const auto warps_of_part = kRegistersPerPart / (32 * up(registers, 8));
    return std::min({device_.shared_bytes_per_multiprocessor / (shared + 1024),
                     static_cast<std::int64_t>(device_.threads_per_multiprocessor / (32 * warps)),
                     4 * warps_of_part / (warps < 4 ? warps : static_cast<int>(up(warps, 4)))});
  }

  /// Elements that one instruction copies of an operand: neighbours along its fastest axis, which rows in shared memory
  /// run along, too, at multiples of as many.
  std::int64_t copied_at_once(const Cut& cut, bool of_rows) const {
    if (of_rows ? converted_rows_ : converted_columns_) return 1;
    const bool deep = along_depth(of_rows);
    const auto& axes = deep ? depth_ : of_rows ? rows_ : columns_;
    const auto& tile = deep ? *cut.depth : of_rows ? *cut.rows : *cut.columns;
    const auto step = [&](const Axis& axis) { return of_rows || !deep ? axis.in_operand : axis.in_other; };
    if (tile.order.empty() || step(axes[tile.order.back()]) != 1) return 1;
    const auto& fastest = axes[tile.order.back()];
    for (auto n = std::max<std::int64_t>(16 / size_, 1); n > 1; n /= 2) {
      if (tile.sizes[tile.order.back()] % n != 0 || fastest.extent % n != 0) continue;
      const auto fits = [&](const Axes& list, bool other) {
        return std::all_of(list.begin(), list.end(), [&](const Axis& axis) {
          return &axis == &fastest || (other ? axis.in_other : axis.in_operand) % n == 0;
        });
      };
      if (fits(of_rows ? rows_ : columns_, false) && fits(depth_, !of_rows) && fits(batch_, !of_rows)) return n;
    }
    return 1;
  }

  /// What a block does, by its tile and its warps; `rows` and `columns` as its warps hold them.
  ContractionCounts counts(const Cut& cut, std::int64_t rows, std::int64_t columns) const {
    ContractionCounts counts;
    const auto depth = static_cast<double>(cut.depth->size);
    counts.blocks = static_cast<double>(cut.rows->blocks * cut.columns->blocks * batches_);
    counts.rounds = static_cast<double>(cut.depth->blocks);
    counts.warps = cut.spread.warps();
    const double threads = 32.0 * counts.warps;
    counts.pipe_cycles = static_cast<double>(rows * columns) * depth / rate_;

    // Fragments: elements of a lane by the instructions that read them, and the wavefronts of each.
    const double lane_rows = static_cast<double>(rows) / cut.spread.warp_rows / (fma_ ? 8 : 32);
    const double lane_columns = static_cast<double>(columns) / cut.spread.warp_columns / (fma_ ? 4 : 32);
    const auto at_once = [&](bool of_rows) {
      if (shared_ > 1) return 4.0 * shared_;
      const int run = along_depth(of_rows) ? cut.spread.run_depth
                      : of_rows            ? cut.spread.run_rows
                                           : cut.spread.run_columns;
      return static_cast<double>(std::min<std::int64_t>(run, std::max<std::int64_t>(16 / size_, 1)));
    };
    const double warps = counts.warps, size = static_cast<double>(size_);
    counts.instructions = warps * depth * (lane_rows / at_once(true) + lane_columns / at_once(false));
    counts.fragment_wavefronts = warps * depth * (lane_rows + lane_columns) * 32 * size / 128;
    if (fma_) {
      counts.instructions += warps * depth * lane_rows * lane_columns * (is_complex(type_) ? 4 : 1);
    } else {
      const auto& atom = *kernel::find_atom(atom_);
      const double products = static_cast<double>(rows * columns) / (atom.m * atom.n) * depth / atom.k;
      counts.instructions += products * (is_complex(type_) ? 4 : parts_ == 2 ? 3 : 1);
      // Rounding to tf32 is a test for infinities and an addition; a second part takes a subtraction and the same.
      if (atom.a.type == kernel::AtomType::tf32)
        counts.instructions += warps * depth * (lane_rows + lane_columns) * (parts_ == 2 ? 5 : 2);
      if (is_complex(type_)) counts.instructions += warps * depth * lane_columns;
    }
    // Copies: an instruction and its addresses. Lanes that write across rows of shared memory meet in banks.
    double moved = 0;
    for (const bool of_rows : {true, false}) {
      const auto lie = lie_of(cut, of_rows);
      const auto n = copied_at_once(cut, of_rows);
      const double elements = static_cast<double>((of_rows ? cut.rows : cut.columns)->size) * depth;
      constexpr double kOfCopy = 3;
      counts.instructions += warps * kOfCopy * std::ceil(elements / static_cast<double>(n) / threads);
      if (n == 1 && lie.fastest > 1 && lie.step != 1) {
        counts.scattered += elements;
      } else {
        counts.copied_wavefronts += elements * size / 128;
      }
      counts.lines +=
          elements / static_cast<double>(std::min({lie.run, std::max<std::int64_t>(kLine / size_, 1), 32 * n}));
      moved += elements * size * sectors(lie.run * size_);
    }
    constexpr double kOfRound = 24;
    counts.instructions += warps * kOfRound;
    // Complex results are put together of two sums each.
    counts.stores = warps * (is_complex(type_) ? 15 : 3) * static_cast<double>(rows * columns) / threads;

    const auto& out = buffer(program_.statement().buffer);
    const double result = static_cast<double>((out.last - out.first + 1) * result_size_) * (reads_result_ ? 2 : 1);
    // Elements that do not lie side by side in a lane are sectors of their own on their way.
    const double stored =
        result * (neighbours(cut) ? 1 : static_cast<double>(kSector) / static_cast<double>(result_size_));
    counts.cached_bytes = counts.blocks * moved * counts.rounds + stored;
    counts.memory_bytes = bytes_ + result * (sectors(result_run(cut) * result_size_) - 1);
    counts.result_bytes = result;
    counts.result_run_bytes = static_cast<double>(result_run(cut) * result_size_);
    return counts;
  }

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
  double rate_ = 1, bytes_ = 0, terms_ = 1;
  double best_seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return {};
  return ContractionEnumerator(program, *contraction, device).run();
}

}  // namespace ricci::plan
