// Schedules of contractions for a GPU: tiles over groups of axes, operands staged in shared memory, warps on tensor
// cores or fused multiply-adds; and what each is predicted to take.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/result_stores.hpp"
#include "plan/enumerate/round_copies.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {
namespace {

using tiles::Axes;
using tiles::Tile;
using tiles::up;

constexpr std::size_t kKept = 20;
constexpr int kAlike = 2;                          ///< candidates of one tile, with other warps
constexpr int kMostRegisters = 232;                ///< by the estimate, which leaves out what places of results take
constexpr std::int64_t kRegistersPerPart = 16384;  ///< of a multiprocessor, of four
constexpr double kOfCopy = 3, kOfRound = 24;       ///< instructions: of a copy and its addresses, of a warp in a round

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const GpuContraction& contraction, const GpuModel& device)
      : contraction_(contraction),
        device_(device),
        rows_(tiles::side_tiles(contraction.row_axes, contraction.row_unit, run_of(contraction))),
        columns_(tiles::side_tiles(contraction.column_axes, contraction.column_unit, run_of(contraction))),
        depths_(tiles::depth_tiles(contraction.depth_axes, contraction.depth_unit)) {
    if (contraction.groups) {
      keep_full(rows_, contraction.row_unit, contraction.deep_rows);
      keep_full(columns_, contraction.column_unit, contraction.deep_columns);
      keep_full(depths_, contraction.depth_unit, false);
      std::erase_if(columns_, [](const Tile& tile) { return tile.size > kernel::kMostGroupColumns; });
    }
    const auto& out = contraction.out(program);
    result_bytes_ =
        static_cast<double>((out.last - out.first + 1) * contraction.result_size) * (contraction.reads_result ? 2 : 1);
    operand_bytes_ = (contraction.elements(true) + contraction.elements(false)) * static_cast<double>(contraction.size);
    for (const bool of_rows : {true, false}) {
      for (const auto& side : of_rows ? rows_ : columns_) {
        for (const auto& chunk : depths_)
          (of_rows ? row_copies_ : column_copies_).push_back(round_copies(contraction, of_rows, side, chunk));
      }
    }
  }

  /// Candidates, best first.
  ///   worth  of those that are listed, times the time of the best one at most
  ///   most   of them
  ///   bound  seconds, of a candidate that there is already: as if it were one of these
  std::vector<Candidate> run(double worth, std::size_t most, double bound = std::numeric_limits<double>::infinity()) {
    std::vector<Candidate> list;
    std::set<std::string> names;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, int> alike;
    for (const auto& cut : cuts(worth, bound)) {
      if (list.size() == most || cut.seconds > worth_ * best_seconds_) break;
      if (++alike[{cut.rows->size, cut.columns->size, cut.depth->size, cut.prefetch}] > kAlike) continue;
      Candidate candidate;
      candidate.schedule.name = contraction_.name(cut);
      if (!names.insert(candidate.schedule.name).second) continue;
      candidate.schedule.directives = contraction_.directives(cut);
      candidate.predicted_us = 1e6 * cut.seconds;
      const auto counts = counts_of(cut, row_copies(cut), column_copies(cut));
      candidate.parts = parts_of(contraction_time(counts, device_));
      candidate.note = round_text(counts);
      candidate.counts = counts;
      list.push_back(std::move(candidate));
    }
    return list;
  }

  /// What the best one that was priced would save if the rows' operand, or the columns', were copied by whole vectors
  /// and sectors; nothing where none was below the bound.
  std::optional<std::array<double, 2>> gathers() const {
    if (!best_) return std::nullopt;
    const auto& cut = *best_;
    const auto a = row_copies(cut), b = column_copies(cut);
    const auto saved = [&](const ContractionCounts& counts) {
      return cut.seconds - contraction_time(counts, device_).total;
    };
    return std::array{saved(counts_of(cut, by_whole_vectors(contraction_, true, a), b)),
                      saved(counts_of(cut, a, by_whole_vectors(contraction_, false, b)))};
  }

 private:
  static constexpr std::int64_t kLeastSide = 16, kMostTile = 192 * 192;
  static constexpr double kRounded = 1 - 1e-9;  ///< of a lower bound

  /// Elements that are worth being neighbours in memory: two sectors, which it reads together.
  static std::int64_t run_of(const GpuContraction& contraction) { return 2 * kSectorBytes / contraction.size; }

  /// Of tiles for warp groups, multiples of their units; along the depth also what leaves little of them unused.
  static void keep_full(std::vector<Tile>& tiles, std::int64_t unit, bool deep) {
    constexpr std::int64_t kUnused = 8;  // of the tile: one part in as many at most
    std::erase_if(tiles, [&](const Tile& tile) {
      return tile.size % unit != 0 && (!deep || (up(tile.size, unit) - tile.size) * kUnused > tile.size);
    });
  }

  /// All ways to cut the contraction that may be worth listing, best first.
  std::vector<Cut> cuts(double worth, double bound) {
    worth_ = worth;
    best_seconds_ = bound;
    std::vector<Start> starts;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < columns_.size(); ++c) add_starts(starts, r, c);
    }
    // What takes the least time at least comes first, so that much of the rest need not be priced.
    std::sort(starts.begin(), starts.end(), [](const Start& x, const Start& y) {
      return std::pair(x.least_seconds, x.number) < std::pair(y.least_seconds, y.number);
    });
    std::vector<Priced> priced;
    for (const auto& start : starts) {
      if (start.least_seconds > worth_ * best_seconds_) break;
      add(priced, start);
    }
    std::sort(priced.begin(), priced.end(), [](const Priced& x, const Priced& y) {
      return std::pair(x.cut.seconds, x.number) < std::pair(y.cut.seconds, y.number);
    });
    std::vector<Cut> all;
    for (const auto& one : priced) all.push_back(one.cut);
    if (!all.empty()) best_ = all.front();
    return all;
  }

  /// A tile of the result with a chunk of the depth, without the warps that share it.
  struct Start {
    std::size_t row, column, depth;
    std::size_t number;  ///< of all, in the order in which they are listed where they are alike
    double least_seconds;
  };
  struct Priced {
    Cut cut;
    std::size_t number;
  };

  /// All ways to cut a tile of the result.
  void add_starts(std::vector<Start>& starts, std::size_t row, std::size_t column) {
    const auto& rows = rows_[row];
    const auto& columns = columns_[column];
    const auto results = rows.size * columns.size * contraction_.products;
    // Of a side that a tile has whole, fewer positions than atoms have leave fewer results.
    const auto thin = [](const Tile& side) { return side.blocks == 1 ? std::min(side.size, kLeastSide) : kLeastSide; };
    if (results < thin(rows) * thin(columns) && (rows.blocks > 1 || columns.blocks > 1)) return;
    if (results > kMostTile) return;
    auto counts = of_result(rows, columns);
    for (std::size_t d = 0; d < depths_.size(); ++d) {
      if (!contraction_.takes(rows, columns, depths_[d])) continue;
      const auto& a = row_copies(row, d);
      const auto& b = column_copies(column, d);
      auto least = std::numeric_limits<double>::infinity();
      for (const auto& share : shares(rows, columns, depths_[d])) {
        auto tried = counts;
        set_copies(tried, a, b, depths_[d], share);
        bound_round(tried, rows, columns, depths_[d], a, b);
        least = std::min(least, least_time_of_tile(tried, device_));
      }
      starts.push_back({row, column, d, starts.size(), kRounded * least});
    }
  }

  /// How blocks may share the sums of a tile: not at all, or in clusters where tiles are fewer than multiprocessors
  /// have room for.
  std::vector<DepthShare> shares(const Tile& rows, const Tile& columns, const Tile& depth) const {
    std::vector<DepthShare> all = {{}};
    constexpr int kLeastClusterSm = 90;
    if (contraction_.products > 1 || contraction_.is_outer() || device_.sm < kLeastClusterSm) return all;
    const auto tiles = rows.blocks * columns.blocks * contraction_.batches;
    for (int blocks = 2; blocks <= kernel::kMostCluster; blocks *= 2) {
      constexpr std::int64_t kMostAtOnce = 2;  // blocks of a multiprocessor that fewer of a cluster leave room for
      if (tiles * blocks / 2 >= kMostAtOnce * device_.multiprocessors) break;
      const auto share = contraction_.share_of(depth, blocks);
      if (share.blocks > all.back().blocks) all.push_back(share);
    }
    return all;
  }

  /// What a block does in a round and for its results at least, however warps share it.
  void bound_round(ContractionCounts& counts, const Tile& rows, const Tile& columns, const Tile& chunk, const Copies& a,
                   const Copies& b) const {
    const auto& c = contraction_;
    const auto depth = static_cast<double>(chunk.size), size = static_cast<double>(c.size);
    const auto held_rows = static_cast<double>(up(rows.size, c.row_unit));
    const auto held_columns = static_cast<double>(up(columns.size, c.column_unit));
    const double results = held_rows * held_columns * static_cast<double>(c.products);
    counts.pipe_cycles = results * depth / c.rate;
    counts.prefetched = c.prefetches() && chunk.blocks > 1;
    counts.instructions =
        (kOfCopy * (a.elements / a.at_once + b.elements / b.at_once) + a.converted + b.converted) / 32 + kOfRound;
    if (c.fma) counts.instructions += results * depth / 32 * (is_complex(c.type) ? 4 : 1);
    const double words = results * static_cast<double>(size_of(c.type)) / 4;  // of sums, which registers hold
    if (!c.groups) {
      // Each row of warps reads all columns, each column of them all rows: the least of both where they are alike.
      const double warps = std::max(words / (32.0 * kMostRegisters), 1.0);
      const double lane_rows = held_rows / (c.fma ? c.atom().m : 32);
      const double lane_columns = held_columns / (c.fma ? c.atom().n : 32);
      const double reads = std::max(lane_rows + lane_columns, 2 * std::sqrt(warps * lane_rows * lane_columns));
      counts.fragment_wavefronts = depth * reads * 32 * size / kCacheLineBytes;
      const double at_once = std::max(16 / size, 1.0) * c.per_register * (c.per_register > 1 ? 4 : 1);
      counts.instructions += depth * reads / at_once;
    }
    counts.stores = results / 32;
    const double stage = depth * static_cast<double>(rows.size + columns.size) * static_cast<double>(c.products) * size;
    const double stages = static_cast<double>(std::min<std::int64_t>(2, chunk.blocks));
    counts.resident =
        std::max(1.0, std::min({static_cast<double>(device_.shared_bytes_per_multiprocessor) / (stages * stage),
                                static_cast<double>(device_.threads_per_multiprocessor) / 32,
                                4.0 * kRegistersPerPart / std::max(words, 1.0)}));
  }

  /// All ways to share a tile among warps that may be worth listing.
  void add(std::vector<Priced>& priced, const Start& start) {
    const auto& rows = rows_[start.row];
    const auto& columns = columns_[start.column];
    const auto& depth = depths_[start.depth];
    const auto& a = row_copies(start.row, start.depth);
    const auto& b = column_copies(start.column, start.depth);
    auto counts = of_result(rows, columns);
    const auto place = result_place(contraction_, rows, columns);
    constexpr std::size_t kMostSpreads = 256;
    auto number = start.number * kMostSpreads;
    const auto price = [&](const DepthShare& share, int warp_rows, int warp_columns) {
      for (const bool prefetch : {false, true}) {
        Cut cut{&rows, &columns, &depth};
        cut.share = share;
        if (prefetch && !(contraction_.prefetches() && cut.rounds() > 1)) break;
        cut.prefetch = prefetch;
        if (fit(cut, counts, place, a, b, warp_rows, warp_columns)) priced.push_back({cut, number});
        ++number;
      }
    };
    for (const auto& share : shares(rows, columns, depth)) {
      set_copies(counts, a, b, depth, share);
      auto bound = counts;
      bound_round(bound, rows, columns, depth, a, b);
      if (least_time_of_tile(bound, device_) * kRounded > worth_ * best_seconds_) continue;
      if (contraction_.groups) {
        price(share, static_cast<int>(up(rows.size, contraction_.row_unit) / contraction_.atom().m), 1);
        continue;
      }
      for (const int warp_rows : {1, 2, 3, 4}) {
        for (const int warp_columns : {1, 2, 3, 4, 8}) price(share, warp_rows, warp_columns);
      }
    }
  }

  /// Completes a cut by the number of stages that takes it the least time; false where it is not worth it.
  bool fit(Cut& cut, ContractionCounts& counts, const ResultPlace& place, const Copies& a, const Copies& b,
           int warp_rows, int warp_columns) {
    const auto& c = contraction_;
    const int most_warps = c.groups ? 16 : 12;
    if (!c.groups && warp_rows * warp_columns > most_warps) return false;
    cut.spread = c.spread(cut.rows->size, cut.columns->size, warp_rows, warp_columns);
    const auto warps = cut.spread.warps();
    if (warps > most_warps) return false;
    const auto rows = held_rows(cut), columns = held_columns(cut);
    const auto registers = c.registers(rows / warp_rows, columns / warp_columns, cut.spread,
                                       copies_of(a, warps) + copies_of(b, warps), cut.prefetch);
    if (registers > kMostRegisters || (rows * columns * c.products / (std::int64_t{32} * warps) < 8 && warps > 1))
      return false;
    // Room to spare in whole warps: the same with fewer of them.
    if (rows - cut.rows->size >= c.row_unit * warp_rows ||
        columns - cut.columns->size >= 2 * c.column_unit * warp_columns)
      return false;
    if (!c.groups && warp_rows > 1 && (warp_rows - 1) * rows / warp_rows >= cut.rows->size) return false;
    const auto atoms = rows / c.atom().m * columns / c.atom().n;
    if (cut.prefetch && atoms < std::int64_t{kernel::kLeastPrefetched} * warp_rows * warp_columns) return false;
    cut.seconds = std::numeric_limits<double>::infinity();
    Cut tried = cut;
    constexpr int kStages[] = {2, 3, 4, 6};
    const int fewest = kStages[c.groups ? 1 : 0];
    counts.prefetched = cut.prefetch;
    std::int64_t stage = 0;  // bytes, asked for where there would be time enough without padding
    double stores = 0;
    for (const bool relaid : {false, true}) {
      // Results leave through shared memory where stores of parts of sectors are much of the time.
      constexpr double kMuch = 0.25;
      const bool alone = cut.share.blocks == 1;
      if (!alone && !relaid) continue;
      if (alone && relaid && (!c.relays || counts.part_sectors == 0 || stores < kMuch * cut.seconds)) break;
      tried.relaid = relaid;
      set_round(counts, tried, place, a, b, rows, columns);
      tried.stages = fewest;
      counts.stages = counted_stages(kStages[3]);
      auto bound = counts;
      if (alone && c.relays && !relaid) {
        bound.stores = bound.store_lines = bound.part_sectors = bound.stored_wavefronts = 0;
        bound.cached_bytes = counts.copied_bytes + result_bytes_;
      }
      const auto is_worth = [&](std::int64_t blocks) {
        bound.resident = static_cast<double>(blocks);
        return blocks >= 1 && least_time_of_blocks(bound, device_) * kRounded <= worth_ * best_seconds_;
      };
      const auto most_blocks =
          resident(tried, contraction_.stage_bytes(cut, true, 0) + contraction_.stage_bytes(cut, false, 0),
                   contraction_.result_bytes(tried, rows * columns), registers);
      if (!is_worth(most_blocks)) break;
      if (stage == 0) stage = stage_bytes(cut);
      const auto result = result_bytes(tried, rows, columns);
      const auto blocks = resident(tried, stage, result, registers);
      if (blocks != most_blocks && !is_worth(blocks)) break;
      for (const int stages : kStages) {
        if (stages < fewest) continue;
        tried.stages = stages;
        counts.stages = counted_stages(stages);
        tried.resident = static_cast<int>(resident(tried, stage, result, registers));
        if (tried.resident < 1) break;
        counts.resident = tried.resident;
        counts.shared_bytes = static_cast<double>(shared_bytes(tried, stage, result));
        const auto time = contraction_time(counts, device_);
        tried.seconds = time.total;
        stores = time.stores;
        // Places that cost nothing make room for what memory takes longer at times.
        tried.shared_bytes = counts.shared_bytes;
        if (tried.seconds < cut.seconds || (c.groups && tried.seconds == cut.seconds)) cut = tried;
        if (stages > cut.rounds()) break;
      }
    }
    if (!(cut.seconds <= worth_ * best_seconds_) || std::isinf(cut.seconds)) return false;
    best_seconds_ = std::min(best_seconds_, cut.seconds);
    return true;
  }

  /// What products of a warp group still read when the next ones begin is not copied ahead.
  int counted_stages(int stages) const { return contraction_.groups ? stages - 1 : stages; }

  /// Rows and columns as the warps hold them.
  std::int64_t held_rows(const Cut& cut) const {
    return up(cut.rows->size,
              contraction_.groups ? contraction_.row_unit : cut.spread.warp_rows * contraction_.row_unit);
  }
  std::int64_t held_columns(const Cut& cut) const {
    return up(cut.columns->size,
              cut.spread.warp_columns * contraction_.column_unit * (contraction_.fma ? 1 : cut.spread.run_columns));
  }

  /// Padding of an operand's rows of shared memory, as its layout will have it: worked out once for all tiles that are
  /// alike in it, since the layout asks for the banks of all lanes.
  int padding(const Cut& cut, bool of_rows) {
    if (contraction_.groups) return 0;
    const auto& spread = cut.spread;
    const auto row = contraction_.deep(of_rows) ? cut.depth->size : (of_rows ? cut.rows : cut.columns)->size;
    const auto run = static_cast<std::uint64_t>(of_rows ? spread.run_rows : spread.run_columns);
    const auto key = static_cast<std::uint64_t>(row) << 32 | run << 16 |
                     static_cast<std::uint64_t>(spread.run_depth) << 1 | (of_rows ? 1U : 0U);
    for (const auto& [other, padding] : paddings_) {
      if (other == key) return padding;
    }
    return paddings_.emplace_back(key, contraction_.padding(cut, of_rows)).second;
  }

  /// Bytes of shared memory that results take on their way to memory. Where they lie in it is worked out once for tiles
  /// that warps hold and write alike, since that asks for the banks of all lanes, too.
  ///   rows, columns  as the warps hold them
  std::int64_t result_bytes(const Cut& cut, std::int64_t rows, std::int64_t columns) {
    if (!cut.relaid) return contraction_.result_bytes(cut, 0);
    const auto digits = contraction_.result_digits(*cut.rows, *cut.columns);
    std::vector<std::int64_t> key = {rows, columns, cut.spread.run_rows, cut.spread.run_columns,
                                     cut.share.blocks > 1 ? 1 : 0};  // of sums, or of results
    for (const auto& digit : digits) {
      for (const auto number : {std::int64_t{digit.of_rows}, digit.extent, digit.step, digit.stride})
        key.push_back(number);
    }
    const auto [place, fresh] = relaid_.try_emplace(std::move(key), 0);
    if (fresh) place->second = contraction_.relaid_elements(cut, digits);
    return contraction_.result_bytes(cut, place->second);
  }

  /// Bytes of shared memory of one stage of both operands.
  std::int64_t stage_bytes(const Cut& cut) {
    return contraction_.stage_bytes(cut, true, padding(cut, true)) +
           contraction_.stage_bytes(cut, false, padding(cut, false));
  }

  /// What a block takes of shared memory: `stage_bytes` of one stage of both operands, `result_bytes` of results on
  /// their way.
  static std::int64_t shared_bytes(const Cut& cut, std::int64_t stage_bytes, std::int64_t result_bytes) {
    return std::min<std::int64_t>(cut.stages, cut.rounds()) * stage_bytes + result_bytes;
  }

  /// Room for blocks of a multiprocessor; 0 where one does not fit.
  std::int64_t resident(const Cut& cut, std::int64_t stage_bytes, std::int64_t result_bytes, int registers) const {
    const auto shared = shared_bytes(cut, stage_bytes, result_bytes);
    if (shared > device_.shared_bytes_per_block) return 0;
    const auto warps = cut.spread.warps();
    // Each of a multiprocessor's four parts has its own registers.
    const auto warps_of_part = kRegistersPerPart / (32 * up(registers, 8));
    return std::min({device_.shared_bytes_per_multiprocessor / (shared + 1024),
                     static_cast<std::int64_t>(device_.threads_per_multiprocessor / (32 * warps)),
                     4 * warps_of_part / (warps < 4 ? warps : static_cast<int>(up(warps, 4)))});
  }

  // ---- counts

  /// What depends on the tile of the result alone.
  ContractionCounts of_result(const Tile& rows, const Tile& columns) const {
    ContractionCounts counts;
    counts.terms = contraction_.terms;
    counts.blocks = static_cast<double>(rows.blocks * columns.blocks * contraction_.batches);
    if (contraction_.products > 1) {
      const auto extent = contraction_.batch_axes[contraction_.products_axis].extent;
      counts.blocks *= static_cast<double>(tiles::parts(extent, contraction_.products)) / static_cast<double>(extent);
    }
    const auto run_bytes = result_run(contraction_, rows, columns) * contraction_.result_size;
    counts.memory_bytes = contraction_.bytes + result_bytes_ * (moved_for_runs(run_bytes) - 1);
    counts.result_bytes = result_bytes_;
    counts.operand_bytes = operand_bytes_;
    counts.overlapped = contraction_.groups;
    counts.result_run_bytes = static_cast<double>(run_bytes);
    return counts;
  }

  /// What is copied, chunk by chunk of the depth.
  void set_copies(ContractionCounts& counts, const Copies& a, const Copies& b, const Tile& depth,
                  const DepthShare& share) const {
    counts.blocks = counts.blocks / counts.cluster * share.blocks;
    counts.cluster = share.blocks;
    const auto rounds = depth.blocks / share.all * share.chunks;
    counts.rounds = static_cast<double>(rounds);
    counts.scattered = a.scattered + b.scattered;
    counts.copied_wavefronts = a.wavefronts + b.wavefronts;
    counts.lines = a.lines + b.lines;
    counts.held_lines = a.held_lines + b.held_lines;
    counts.copied_bytes = counts.blocks * (a.bytes + b.bytes) * counts.rounds;
    counts.cached_bytes = counts.copied_bytes + result_bytes_;
  }

  /// What a block does in a round, by its warps, which hold so many rows and columns.
  void set_round(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a, const Copies& b,
                 std::int64_t rows, std::int64_t columns) const {
    const auto& c = contraction_;
    const auto depth = static_cast<double>(cut.depth->size);
    counts.warps = cut.spread.warps();
    const double warps = counts.warps, threads = 32 * warps, size = static_cast<double>(c.size);
    counts.pipe_cycles = static_cast<double>(rows * columns * c.products) * depth / c.rate;

    if (c.groups) return set_group_round(counts, cut, place, a, b);
    // Fragments: elements of a lane by the instructions that read them, and the wavefronts of each.
    const double lane_rows = static_cast<double>(rows) / cut.spread.warp_rows / (c.fma ? c.atom().m : 32);
    const double lane_columns = static_cast<double>(columns) / cut.spread.warp_columns / (c.fma ? c.atom().n : 32);
    const auto at_once = [&](bool of_rows) {
      if (c.per_register > 1) return 4.0 * c.per_register;
      const int run = c.deep(of_rows) ? cut.spread.run_depth : of_rows ? cut.spread.run_rows : cut.spread.run_columns;
      return static_cast<double>(std::min<std::int64_t>(run, std::max<std::int64_t>(16 / c.size, 1)));
    };
    counts.instructions = warps * depth * (lane_rows / at_once(true) + lane_columns / at_once(false));
    counts.fragment_wavefronts = warps * depth * (lane_rows + lane_columns) * 32 * size / kCacheLineBytes;
    if (c.fma) {
      counts.instructions += warps * depth * lane_rows * lane_columns * (is_complex(c.type) ? 4 : 1);
    } else {
      const auto& atom = c.atom();
      const double products = static_cast<double>(rows * columns * c.products) / (atom.m * atom.n) * depth / atom.k;
      counts.instructions += products * (is_complex(c.type) ? 4 : 1) * (c.factor_parts == 2 ? 3 : 1);
      // Rounding to tf32 is a test for infinities and an addition; a second part takes a subtraction and the same.
      if (atom.a.type == kernel::AtomType::tf32)
        counts.instructions +=
            warps * depth * (lane_rows + lane_columns) * (c.factor_parts == 2 ? 5 : 2) * (is_complex(c.type) ? 2 : 1);
      if (is_complex(c.type)) counts.instructions += warps * depth * lane_columns;
    }
    set_moved(counts, cut, place, a, b, rows * columns * c.products);
    // Complex results are put together of two sums each.
    const double of_element = c.is_outer() ? 1 + 2.0 / cut.spread.run_columns : is_complex(c.type) ? 15 : 3;
    const double written = counts.cluster > 1 ? of_element / counts.cluster + 3 : of_element + (cut.relaid ? 2 : 0);
    counts.stores = warps * written * static_cast<double>(rows * columns * c.products) / threads;
  }

  /// The same by warp groups, which read operands themselves: each group all columns.
  void set_group_round(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a,
                       const Copies& b) const {
    const auto& c = contraction_;
    const auto& atom = c.atom();
    const double warps = counts.warps, group_count = warps / atom.warps;
    const double steps = static_cast<double>(cut.depth->size) / atom.k;
    const auto read = static_cast<double>((c.row_unit + cut.columns->size) * atom.k * c.size) / kCacheLineBytes;
    // Of rows of 32 bytes an instruction reads a quarter of each bank's lines at a time (bench/problems/gemm.csv).
    const auto short_rows = [&](bool of_rows) {
      return c.group_row(of_rows, of_rows ? *cut.rows : *cut.columns, *cut.depth) * c.size <= kSectorBytes;
    };
    counts.fragment_wavefronts = group_count * steps * read * (short_rows(true) || short_rows(false) ? 2 : 1);
    counts.instructions = warps * steps * 4;
    const auto results = held_rows(cut) * held_columns(cut);
    set_moved(counts, cut, place, a, b, results);
    counts.stores = 3 * static_cast<double>(results) / 32;
    // Lines that leave through shared memory are whole.
    if (counts.cluster == 1 && c.line_bytes(*cut.columns) > 0 && place.neighbours * c.result_size >= kCacheLineBytes &&
        !c.reads_result) {
      counts.store_lines = static_cast<double>(results * c.result_size) / kCacheLineBytes;
      counts.part_sectors = 0;
    }
  }

  /// Instructions of a thread that copy one operand's part of a round.
  static double copies_of(const Copies& of, int warps) { return std::ceil(of.elements / of.at_once / (32.0 * warps)); }

  /// Copies, and what goes through the cache.
  ///   results  positions of the tile that warps hold
  void set_moved(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a, const Copies& b,
                 std::int64_t results) const {
    const auto& c = contraction_;
    const double warps = counts.warps;
    counts.instructions += warps * kOfCopy * (copies_of(a, counts.warps) + copies_of(b, counts.warps));
    counts.instructions += (a.converted + b.converted) / 32 + warps * kOfRound;
    const auto stores = stores_of(c, cut, results, place, result_bytes_);
    counts.store_lines = stores.lines;
    counts.part_sectors = stores.part_sectors;
    counts.stored_wavefronts = stores.wavefronts;
    if (counts.cluster > 1) {
      counts.store_lines /= counts.cluster;
      counts.part_sectors /= counts.cluster;
      counts.stored_wavefronts *= static_cast<double>(size_of(c.type)) / static_cast<double>(c.result_size);
    }
    counts.cached_bytes = counts.copied_bytes + stores.bytes;
  }

  const Copies& row_copies(std::size_t row, std::size_t depth) const {
    return row_copies_[row * depths_.size() + depth];
  }
  const Copies& column_copies(std::size_t column, std::size_t depth) const {
    return column_copies_[column * depths_.size() + depth];
  }
  std::size_t chunk(const Cut& cut) const { return static_cast<std::size_t>(cut.depth - depths_.data()); }
  const Copies& row_copies(const Cut& cut) const {
    return row_copies(static_cast<std::size_t>(cut.rows - rows_.data()), chunk(cut));
  }
  const Copies& column_copies(const Cut& cut) const {
    return column_copies(static_cast<std::size_t>(cut.columns - columns_.data()), chunk(cut));
  }
  ContractionCounts counts_of(const Cut& cut, const Copies& a, const Copies& b) const {
    auto counts = of_result(*cut.rows, *cut.columns);
    set_copies(counts, a, b, *cut.depth, cut.share);
    set_round(counts, cut, result_place(contraction_, *cut.rows, *cut.columns), a, b, held_rows(cut),
              held_columns(cut));
    counts.prefetched = cut.prefetch;
    counts.stages = counted_stages(cut.stages);
    counts.resident = cut.resident;
    counts.shared_bytes = cut.shared_bytes;
    return counts;
  }

  const GpuContraction& contraction_;
  const GpuModel& device_;
  std::vector<Tile> rows_, columns_, depths_;
  std::vector<Copies> row_copies_, column_copies_;  ///< by tile of the side and chunk of the depth
  std::vector<std::pair<std::uint64_t, int>> paddings_;
  std::map<std::vector<std::int64_t>, std::int64_t> relaid_;  ///< elements of results on their way
  double result_bytes_ = 0, operand_bytes_ = 0, worth_ = 1, best_seconds_ = 0;
  std::optional<Cut> best_;
};

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device) {
  constexpr double kWorthListing = 1.5;  // times the best
  std::vector<Candidate> list;
  for (const auto& way : GpuContraction::ways(program, device)) {
    auto more = ContractionEnumerator(program, way, device).run(kWorthListing, list.empty() ? kKept : kKept / 2);
    std::move(more.begin(), more.end(), std::back_inserter(list));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  return list;
}

std::optional<Candidate> best_contraction(const ir::Program& program, const GpuModel& device, double bound_us) {
  std::optional<Candidate> best;
  std::optional<std::array<double, 2>> gathers;  // of the first way, by warps
  bool first = true;
  for (const auto& way : GpuContraction::ways(program, device)) {
    ContractionEnumerator enumerator(program, way, device);
    const double bound = 1e-6 * (best ? std::min(best->predicted_us, bound_us) : bound_us);
    auto list = enumerator.run(1, 1, bound);
    if (!list.empty() && (!best || list.front().predicted_us < best->predicted_us)) best = std::move(list.front());
    if (std::exchange(first, false)) gathers = enumerator.gathers();
  }
  if (best) best->gathers = gathers;
  return best;
}

std::array<double, 2> gather_seconds(const ir::Program& program, const GpuContraction& contraction,
                                     const GpuModel& device) {
  ContractionEnumerator enumerator(program, contraction, device);
  enumerator.run(1, 1);
  return enumerator.gathers().value_or(std::array<double, 2>{});
}

}  // namespace ricci::plan
