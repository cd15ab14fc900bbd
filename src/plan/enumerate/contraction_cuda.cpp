// Schedules of contractions for a GPU: tiles over groups of axes, operands staged in shared memory, warps on tensor
// cores or fused multiply-adds; and what each is predicted to take.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "kernel/kernel.hpp"
#include "kernel/warp_tile.hpp"
#include "plan/enumerate/block_room.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/cut_tiles.hpp"
#include "plan/enumerate/depth_shares.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/result_stores.hpp"
#include "plan/enumerate/round_copies.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {
namespace {

using tiles::Tile;
using tiles::up;

constexpr std::size_t kKept = 20;
constexpr int kAlike = 2;  ///< candidates of one tile, with other warps

class ContractionEnumerator {
 public:
  ContractionEnumerator(const ir::Program& program, const GpuContraction& contraction, const GpuModel& device)
      : contraction_(contraction),
        counts_(program, contraction, device),
        room_(contraction, device),
        device_(device),
        rows_(cut_tiles(contraction, CutSide::rows)),
        columns_(cut_tiles(contraction, CutSide::columns)),
        depths_(cut_tiles(contraction, CutSide::depth)),
        prefetches_(contraction.prefetches()) {
    shares_.reserve(depths_.size());
    for (const auto& chunk : depths_) shares_.emplace_back(contraction, chunk, device);
    for (const auto& shares : shares_) most_shares_ = std::max(most_shares_, shares.most());
    row_sides_.resize(rows_.size());
    column_sides_.resize(columns_.size());
    chunk_ = CutCounts::least_chunk(depths_);
  }

  /// Candidates, best first.
  ///   worth  of those that are listed, times the time of the best one at most
  ///   most   of them
  std::vector<Candidate> run(double worth, std::size_t most) {
    std::vector<Candidate> list;
    std::set<std::string> names;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, int> alike;
    for (const auto& cut : cuts(worth, std::numeric_limits<double>::infinity())) {
      if (list.size() == most || cut.seconds > worth_ * best_seconds_) break;
      if (++alike[{cut.rows->size, cut.columns->size, cut.depth->size, cut.prefetch}] > kAlike) continue;
      if (names.insert(contraction_.name(cut)).second) list.push_back(candidate(cut));
    }
    return list;
  }

  /// Finds the best way to cut it, and says what it takes in seconds; nothing where that is more than `bound` seconds.
  std::optional<double> find_best(double bound) {
    cuts(1, bound);
    return best_ ? std::optional(best_->seconds) : std::nullopt;
  }
  /// What it found.
  Candidate best() const { return candidate(*best_); }

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
  Candidate candidate(const Cut& cut) const {
    Candidate candidate;
    candidate.schedule = {contraction_.name(cut), contraction_.directives(cut)};
    candidate.predicted_us = 1e6 * cut.seconds;
    const auto counts = counts_of(cut, row_copies(cut), column_copies(cut));
    candidate.parts = parts_of(contraction_time(counts, device_));
    candidate.note = round_text(counts);
    candidate.counts = counts;
    return candidate;
  }

  static constexpr double kRounded = 1 - 1e-9;  ///< of a lower bound
  static constexpr int kStages[] = {2, 3, 4, 6};
  static constexpr int kMostWarps = 16;

  /// All ways to cut the contraction that may be worth listing, best first.
  std::vector<Cut> cuts(double worth, double bound) {
    worth_ = worth;
    best_seconds_ = bound;
    results_.reserve(rows_.size() * columns_.size());
    open_.reserve(4 * results_.capacity());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (!suits(contraction_, rows_[r], columns_[c])) continue;
        // Results lie as well as they can.
        constexpr ResultPlace kBest{1 << 20, 1 << 20, kSectorBytes};
        Result result{counts_.of_result(rows_[r], columns_[c], kBest), kBest, r, c};
        // Of warp groups there are few tiles, of which this knows nothing.
        double least = 0;
        if (!contraction_.groups) {
          result.position = counts_.least_position(rows_[r], columns_[c]);
          least = least_seconds(result, result.counts);
        }
        results_.push_back(std::move(result));
        put({least, results_.size() - 1, Open::Seen::tile});
      }
    }
    // What takes the least time at least comes first, so that much of the rest need not be looked at closer.
    std::vector<Priced> priced;
    while (!open_.empty() && open_.front().least_seconds <= worth_ * best_seconds_) {
      std::pop_heap(open_.begin(), open_.end());
      const auto next = open_.back();
      open_.pop_back();
      if (next.seen == Open::Seen::tile) place(next);
      if (next.seen == Open::Seen::placed) add_starts(next.number);
      if (next.seen == Open::Seen::start) add(priced, starts_[next.number]);
    }
    std::sort(priced.begin(), priced.end(), [](const Priced& x, const Priced& y) {
      return std::pair(x.cut.seconds, x.number) < std::pair(y.cut.seconds, y.number);
    });
    std::vector<Cut> all;
    for (const auto& one : priced) all.push_back(one.cut);
    if (!all.empty()) best_ = all.front();
    return all;
  }

  /// Warps that share a tile of the result: the rows and columns that they hold.
  struct Warps {
    kernel::Spread spread;
    std::int64_t rows, columns;
    RoundRates rates;
    double own_parts;  ///< of a multiprocessor, that they keep busy
    bool prefetches;   ///< whether they may read fragments ahead of a round
  };
  /// What is known of a tile of the result, whatever is copied for it.
  struct Result {
    ContractionCounts counts;
    ResultPlace place;
    std::size_t row, column;
    LeastPosition position = {};    ///< none of warp groups
    ContractionCounts alone = {};   ///< with what a block does for its results at least, once its place is known
    double store_cycles = 0;        ///< at least, of a block alone
    std::vector<Warps> warps = {};  ///< filled where it is needed
  };
  /// A tile of the result with a chunk of the depth, without the warps that share it.
  struct Start {
    std::size_t result, depth;
  };
  /// What is copied for one tile of a side: filled where it is needed.
  struct Side {
    std::vector<Copies> copies;  ///< by chunk of the depth
    CopiedSum sum;               ///< none of warp groups
  };
  /// What has not been looked at to its end, by a lower bound of its time: a tile as if its results lay as well as they
  /// can, a tile whose place is known, or one with a chunk of the depth.
  struct Open {
    enum class Seen : std::uint8_t { tile, placed, start };
    double least_seconds;
    std::size_t number;  ///< of the results, or of the starts
    Seen seen;
    bool operator<(const Open& other) const {  // the least first
      return std::tuple(least_seconds, seen, number) > std::tuple(other.least_seconds, other.seen, other.number);
    }
  };
  struct Priced {
    Cut cut;
    std::size_t number;
  };

  void put(const Open& one) {
    if (one.least_seconds > worth_ * best_seconds_) return;
    open_.push_back(one);
    std::push_heap(open_.begin(), open_.end());
  }

  /// A lower bound of what a tile takes, whatever chunk of the depth it has.
  ///   counts  of its results
  double least_seconds(const Result& result, const ContractionCounts& counts) {
    const auto& a = side(true, result.row).sum;
    const auto& b = side(false, result.column).sum;
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    const auto sum_of = [&](int blocks) {
      return counts_.least_sum(rows, columns, result.position, chunk_, a, b, blocks);
    };
    const auto whole = sum_of(1);
    double least = least_time_of_sum(whole, counts, 1, device_);
    for (int blocks = 2; blocks <= most_shares_ && shares_.front().has_room(blocks, rows, columns); blocks *= 2)
      least = std::min(least, least_time_of_sum(sum_of(blocks), counts, blocks, device_));
    const auto last = shares_.empty() ? DepthShares::Last{} : shares_.front().last_tiles(rows, columns);
    if (last.tiles > 0) {
      auto in_parts = counts;
      in_parts.cluster = last.blocks;
      in_parts.last = static_cast<double>(last.tiles);
      least = std::min(least, least_time_of_sum(whole, in_parts, 1, device_));
    }
    return kRounded * least;
  }

  /// Finds where the results of a tile lie.
  void place(const Open& one) {
    auto& result = results_[one.number];
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    result.place = result_place(contraction_, rows, columns);
    result.counts = counts_.of_result(rows, columns, result.place);
    result.alone = counts_.with_stores(result.counts, rows, columns, result.place, 1);
    result.store_cycles = result.alone.store_cycles();
    if (contraction_.groups) return add_starts(one.number);
    put({std::max(least_seconds(result, result.alone), one.least_seconds), one.number, Open::Seen::placed});
  }

  /// All chunks of the depth with a tile of the result.
  void add_starts(std::size_t number) {
    const auto& result = results_[number];
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    const auto& of_rows = side(true, result.row).copies;
    const auto& of_columns = side(false, result.column).copies;
    std::array<std::optional<ContractionCounts>, kernel::kMostCluster + 1> alone;  // by blocks of a cluster
    alone[1] = result.alone;
    const auto bound = [&](const DepthShare& share, std::size_t d) {
      const int cluster = share.of_all() ? share.blocks : 1;
      auto& counts = alone[static_cast<std::size_t>(cluster)];
      if (!counts) counts = counts_.with_stores(result.counts, rows, columns, result.place, cluster);
      return least_seconds({&rows, &columns, &depths_[d]}, share, result, *counts, of_rows[d], of_columns[d]);
    };
    for (std::size_t d = 0; d < depths_.size(); ++d) {
      if (contraction_.groups && !contraction_.takes(rows, columns, depths_[d])) continue;
      auto least = std::numeric_limits<double>::infinity();
      for (const auto& share : shares_[d].of(rows, columns)) least = std::min(least, bound(share, d));
      starts_.push_back({number, d});
      put({kRounded * least, starts_.size() - 1, Open::Seen::start});
    }
  }

  /// A lower bound of what a cut takes whose warps and stages are not known yet.
  ///   counts  with what a block does for its results at least
  double least_seconds(Cut cut, const DepthShare& share, const Result& result, ContractionCounts counts,
                       const Copies& a, const Copies& b) const {
    const auto stored_bytes = counts.cached_bytes;
    counts_.set_copies(counts, a, b, *cut.depth, share);
    if (!contraction_.groups) {
      if (share.blocks == 1 || share.of_all()) counts.cached_bytes = counts.copied_bytes + stored_bytes;
      counts_.bound_round(counts, result.position, *cut.rows, *cut.columns, *cut.depth, a, b);
      return least_time_of_tile(counts, device_, worth_ * best_seconds_ / kRounded);
    }
    cut.share = share;
    cut.relaid = share.of_all();
    cut.spread = contraction_.spread(cut.rows->size, cut.columns->size, group_warps(*cut.rows), 1);
    set_round(counts, cut, result.place, a, b);
    const auto stage = contraction_.stage_bytes(cut, true, 0) + contraction_.stage_bytes(cut, false, 0);
    constexpr double kBlockBytes = 1024;  // of a block, which a device keeps
    const double room = static_cast<double>(device_.shared_bytes_per_multiprocessor) /
                        (static_cast<double>(std::min<std::int64_t>(kStages[1], cut.rounds()) * stage) + kBlockBytes);
    return LaunchTimes(counts, device_).least(counted_stages(kStages[std::size(kStages) - 1]), std::max(room, 1.0));
  }

  void set_round(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a,
                 const Copies& b) const {
    const auto rows = counts_.held_rows(cut), columns = counts_.held_columns(cut);
    counts_.set_round(counts, cut, counts_.rates(cut.spread, rows, columns), place, a, b, rows, columns);
  }

  /// Warps along the rows of groups that have all of them.
  int group_warps(const Tile& rows) const {
    return static_cast<int>(up(rows.size, contraction_.row_unit) / contraction_.atom().m);
  }

  /// All ways to share a tile among warps that may be worth listing.
  void add(std::vector<Priced>& priced, const Start& start) {
    auto& result = results_[start.result];
    const auto& a = row_copies(result.row, start.depth);
    const auto& b = column_copies(result.column, start.depth);
    Cut cut{&rows_[result.row], &columns_[result.column], &depths_[start.depth]};
    if (result.warps.empty()) result.warps = warps_of(*cut.rows, *cut.columns);
    auto counts = result.counts;
    constexpr std::size_t kMostWays = 64;  // of a share
    auto number = (start.result * depths_.size() + start.depth) * DepthShares::kMost * kMostWays;
    for (const auto& share : shares_[start.depth].of(*cut.rows, *cut.columns)) {
      counts_.set_copies(counts, a, b, *cut.depth, share);
      cut.share = share;
      Block block{counts, LaunchTimes(counts, device_), result.place, a, b};
      block.copied_cycles = counts.shared_cycles();
      block.store_cycles = share.of_all() ? 0 : result.store_cycles;
      for (std::size_t k = 0; k < result.warps.size(); ++k)
        add_warps(priced, cut, result.warps[k], block, number + 2 * k);
      number += kMostWays;
    }
  }

  /// A tile of the result with all that is copied for it.
  struct Block {
    const ContractionCounts& counts;
    LaunchTimes times;
    const ResultPlace& place;
    const Copies &a, &b;
    double copied_cycles = 0, store_cycles = 0;  ///< of a round's copies, and of results at least
    struct Moved {
      double a = 0, b = 0;  ///< instructions of a thread
      double moving = 0;    ///< CutCounts::moving()
    };
    std::array<Moved, kMostWarps + 1> moved = {};  ///< by warps, where they were asked for
    const Moved& by(int warps) {
      auto& one = moved[static_cast<std::size_t>(warps)];
      if (one.moving == 0)
        one = {CutCounts::copies_of(a, warps), CutCounts::copies_of(b, warps), CutCounts::moving(a, b, warps)};
      return one;
    }
  };

  /// All numbers of warps that may share a tile of the result.
  std::vector<Warps> warps_of(const Tile& rows, const Tile& columns) const {
    const auto& c = contraction_;
    std::vector<Warps> list;
    list.reserve(16);
    const auto add = [&](int warp_rows, int warp_columns) {
      const int most_warps = c.groups ? kMostWarps : 12;
      if (!c.groups && warp_rows * warp_columns > most_warps) return;
      Cut cut{&rows, &columns};
      cut.spread = c.spread(rows.size, columns.size, warp_rows, warp_columns);
      const auto warps = cut.spread.warps();
      if (warps > most_warps) return;
      const auto held_rows = counts_.held_rows(cut), held_columns = counts_.held_columns(cut);
      if (held_rows * held_columns * c.products / (std::int64_t{32} * warps) < 8 && warps > 1) return;
      // Room to spare in whole warps: the same with fewer of them.
      if (held_rows - rows.size >= c.row_unit * warp_rows ||
          held_columns - columns.size >= 2 * c.column_unit * warp_columns)
        return;
      if (!c.groups && warp_rows > 1 && (warp_rows - 1) * held_rows / warp_rows >= rows.size) return;
      if (c.registers(held_rows / warp_rows, held_columns / warp_columns, cut.spread, 0, false) > kMostRegisters)
        return;
      const auto atoms = held_rows / c.atom().m * held_columns / c.atom().n;
      list.push_back({cut.spread, held_rows, held_columns, counts_.rates(cut.spread, held_rows, held_columns),
                      own_parts(warps),
                      prefetches_ && atoms >= std::int64_t{kernel::kLeastPrefetched} * warp_rows * warp_columns});
    };
    if (c.groups) {
      add(group_warps(rows), 1);
      return list;
    }
    for (const int warp_rows : {1, 2, 3, 4}) {
      for (const int warp_columns : {1, 2, 3, 4, 8}) add(warp_rows, warp_columns);
    }
    return list;
  }

  /// A cut by so many warps, without fragments that are read ahead and with them.
  ///   number  of the first way
  void add_warps(std::vector<Priced>& priced, Cut cut, const Warps& warps, Block& block, std::size_t number) {
    const auto& c = contraction_;
    cut.spread = warps.spread;
    const auto count = cut.spread.warps();
    const auto& moved = block.by(count);
    constexpr double kOfDepth = 12;
    double places = cut.depth->joined > 0 ? kOfDepth : 0;  // registers of what is worked out
    if (block.a.per_place > 0) places += moved.a / block.a.per_place;
    if (block.b.per_place > 0) places += moved.b / block.b.per_place;
    const auto registers = [&](bool prefetch) {
      return c.registers(warps.rows / cut.spread.warp_rows, warps.columns / cut.spread.warp_columns, cut.spread,
                         moved.a + moved.b, prefetch) +
             static_cast<int>(places);
    };
    Rounds rounds;
    const auto add = [&](bool prefetch, int held) {
      auto fitted = cut;
      fitted.prefetch = prefetch;
      if (fit(fitted, warps, block, rounds, held)) priced.push_back({fitted, number + (prefetch ? 1 : 0)});
    };
    const auto held = registers(false);
    if (held > kMostRegisters) return;
    const bool reads_ahead =
        warps.prefetches && cut.rounds() > 1 && counts_.may_prefetch(cut.share.of_all() ? cut.share.blocks : 1);
    if (!c.groups) {
      const auto depth = static_cast<double>(cut.depth->size);
      const double issue = (warps.rates.instructions * depth + moved.moving) / 4;
      const RoundCycles cycles{warps.rates.pipe_cycles * depth,
                               block.copied_cycles + fragment_cycles(warps.rates.fragment_wavefronts * depth),
                               issue,
                               exposed_cycles(block.copied_cycles),
                               block.store_cycles,
                               reads_ahead};
      const auto room = std::min<std::int64_t>(device_.threads_per_multiprocessor / (32 * count),
                                               4 * warps_of_part(held) / (count < 4 ? count : up(count, 4)));
      if (!block.times.may_take(cycles, count, warps.own_parts, static_cast<double>(room),
                                worth_ * best_seconds_ / kRounded))
        return;
    }
    if (reads_ahead) {
      const auto more = registers(true);
      const bool fits = more <= kMostRegisters;
      if (fits) add(true, more);
      // What is read ahead takes less time where it leaves room for as many blocks.
      if (fits && worth_ <= 1 && warps_of_part(more) == warps_of_part(held)) return;
    }
    add(false, held);
  }

  /// Counts of a block's round by the same warps: of results that are written at once, and through shared memory.
  using Rounds = std::array<std::optional<ContractionCounts>, 2>;

  /// Completes a cut by the number of stages that takes it the least time; false where it is not worth it.
  bool fit(Cut& cut, const Warps& warps, const Block& block, Rounds& rounds, int registers) {
    const auto& c = contraction_;
    const auto held_rows = warps.rows, held_columns = warps.columns;
    const int fewest = kStages[c.groups ? 1 : 0];
    auto least = cut;  // of shared memory
    least.stages = fewest;
    const auto times_of = [&](bool relaid) {
      least.relaid = relaid;
      auto& round = rounds[relaid ? 1 : 0];
      if (!round) {
        counts_.set_round(round.emplace(block.counts), least, warps.rates, block.place, block.a, block.b, held_rows,
                          held_columns);
      }
      round->prefetched = cut.prefetch;
      auto times = block.times;
      times.set_round(*round);
      return times;
    };
    const auto unpadded = c.stage_bytes(cut, true, 0) + c.stage_bytes(cut, false, 0);
    const auto may_take = [&](const LaunchTimes& times, bool relaid) {
      least.relaid = relaid;
      const auto result = c.result_bytes(least, held_rows * held_columns);
      const auto most = worth_ * best_seconds_ / kRounded;
      auto room = [&](int stages) {
        least.stages = stages;
        return static_cast<double>(room_.resident(least, unpadded, result, registers));
      };
      const auto blocks = room(fewest);
      if (blocks < 1 || !times.may_take(counted_stages(kStages[std::size(kStages) - 1]), blocks, most)) return false;
      for (const int stages : kStages) {
        if (stages < fewest) continue;
        const auto these = cut.takes(stages) ? room(stages) : 0;
        if (these < 1) return false;
        if (times.may_take(counted_stages(stages), these, most)) return true;
        if (stages > cut.rounds()) return false;
      }
      return false;
    };
    const bool shared = cut.share.of_all();  // by clusters, whose parts of sums all leave through shared memory
    const auto first = times_of(shared);
    const bool relays = cut.share.blocks == 1 && c.relays && rounds[0]->part_sectors > 0;
    std::optional<LaunchTimes> others;
    if (!may_take(first, shared) && !(relays && may_take(others.emplace(times_of(true)), true))) return false;
    const auto stage = room_.stage_bytes(cut);
    cut.seconds = std::numeric_limits<double>::infinity();
    double stores = 0;
    const auto complete = [&](const LaunchTimes& times, bool relaid) {
      auto tried = cut;
      tried.relaid = relaid;
      const auto result = room_.result_bytes(tried, held_rows, held_columns);
      for (const int stages : kStages) {
        if (stages < fewest) continue;
        tried.stages = stages;
        if (!cut.takes(stages)) break;
        tried.resident = static_cast<int>(room_.resident(tried, stage, result, registers));
        if (tried.resident < 1) break;
        tried.shared_bytes = static_cast<double>(BlockRoom::shared_bytes(tried, stage, result));
        const auto time = times.at(counted_stages(stages), tried.resident, tried.shared_bytes);
        tried.seconds = time.total;
        stores = time.stores;
        // Places that cost nothing make room for what memory takes longer at times.
        if (tried.seconds < cut.seconds || (c.groups && tried.seconds == cut.seconds)) cut = tried;
        if (stages > cut.rounds()) break;
      }
    };
    complete(first, shared);
    // Results leave through shared memory where stores of parts of sectors are much of the time.
    constexpr double kMuch = 0.25;
    if (relays && stores >= kMuch * cut.seconds) {
      if (!others) others.emplace(times_of(true));
      if (may_take(*others, true)) complete(*others, true);
    }
    if (!(cut.seconds <= worth_ * best_seconds_) || std::isinf(cut.seconds)) return false;
    best_seconds_ = std::min(best_seconds_, cut.seconds);
    return true;
  }

  /// What products of a warp group still read when the next ones begin is not copied ahead.
  int counted_stages(int stages) const { return contraction_.groups ? stages - 1 : stages; }

  const Side& side(bool of_rows, std::size_t number) {
    auto& side = (of_rows ? row_sides_ : column_sides_)[number];
    if (!side.copies.empty()) return side;
    const auto& tile = (of_rows ? rows_ : columns_)[number];
    side.copies.reserve(depths_.size());
    for (const auto& chunk : depths_) side.copies.push_back(round_copies(contraction_, of_rows, tile, chunk));
    if (!contraction_.groups) side.sum = CutCounts::copied_sum(side.copies.data(), depths_);
    return side;
  }
  const Copies& row_copies(std::size_t row, std::size_t depth) const { return row_sides_[row].copies[depth]; }
  const Copies& column_copies(std::size_t column, std::size_t depth) const {
    return column_sides_[column].copies[depth];
  }
  std::size_t chunk(const Cut& cut) const { return static_cast<std::size_t>(cut.depth - depths_.data()); }
  const Copies& row_copies(const Cut& cut) const {
    return row_copies(static_cast<std::size_t>(cut.rows - rows_.data()), chunk(cut));
  }
  const Copies& column_copies(const Cut& cut) const {
    return column_copies(static_cast<std::size_t>(cut.columns - columns_.data()), chunk(cut));
  }
  ContractionCounts counts_of(const Cut& cut, const Copies& a, const Copies& b) const {
    const auto place = result_place(contraction_, *cut.rows, *cut.columns);
    auto counts = counts_.of_result(*cut.rows, *cut.columns, place);
    counts_.set_copies(counts, a, b, *cut.depth, cut.share);
    set_round(counts, cut, place, a, b);
    counts.prefetched = cut.prefetch;
    counts.stages = counted_stages(cut.stages);
    counts.resident = cut.resident;
    counts.shared_bytes = cut.shared_bytes;
    return counts;
  }

  const GpuContraction& contraction_;
  CutCounts counts_;
  BlockRoom room_;
  const GpuModel& device_;
  std::vector<Tile> rows_, columns_, depths_;
  bool prefetches_;
  std::vector<Side> row_sides_, column_sides_;  ///< by tile of the side
  std::vector<DepthShares> shares_;             ///< by chunk of the depth
  LeastChunk chunk_;
  std::vector<Result> results_;  ///< tiles of them, in the order in which equals are listed
  std::vector<Start> starts_;
  std::vector<Open> open_;  ///< a heap
  int most_shares_ = 1;     ///< blocks of a cluster
  double worth_ = 1, best_seconds_ = 0;
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
  const auto ways = GpuContraction::ways(program, device);
  std::unique_ptr<ContractionEnumerator> best;
  double best_us = bound_us;
  std::optional<std::array<double, 2>> gathers;  // of the first way, by warps, and of warp groups: the more
  for (const auto& way : ways) {
    if (least_time_of_launch(way.product_cycles(), way.bytes, way.groups, device) > 1e-6 * best_us) continue;
    auto enumerator = std::make_unique<ContractionEnumerator>(program, way, device);
    const auto seconds = enumerator->find_best(1e-6 * best_us);
    const auto saved = enumerator->gathers();
    const bool leads = &way == &ways.front();
    if (seconds && (!best || 1e6 * *seconds < best_us)) {
      best = std::move(enumerator);
      best_us = std::min(1e6 * *seconds, bound_us);
    }
    if (leads) gathers = saved;
    if (leads || !way.read_by_groups(true) || !gathers || !saved) continue;
    for (std::size_t k = 0; k < saved->size(); ++k) (*gathers)[k] = std::max((*gathers)[k], (*saved)[k]);
  }
  if (!best) return std::nullopt;
  auto candidate = best->best();
  candidate.gathers = gathers;
  return candidate;
}

std::array<double, 2> gather_seconds(const ir::Program& program, const GpuContraction& contraction,
                                     const GpuModel& device) {
  ContractionEnumerator enumerator(program, contraction, device);
  enumerator.find_best(std::numeric_limits<double>::infinity());
  return enumerator.gathers().value_or(std::array<double, 2>{});
}

}  // namespace ricci::plan
