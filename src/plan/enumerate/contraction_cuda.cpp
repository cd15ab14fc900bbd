// Schedules of contractions for a GPU: tiles over groups of axes, operands staged in shared memory, warps on tensor
// cores or fused multiply-adds; and what each is predicted to take.
#include <algorithm>
#include <array>
#include <cmath>
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
#include "plan/enumerate/copied_sides.hpp"
#include "plan/enumerate/cut_block.hpp"
#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/cut_search.hpp"
#include "plan/enumerate/cut_tiles.hpp"
#include "plan/enumerate/depth_shares.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/mapped_contractions.hpp"
#include "plan/enumerate/tiles_in_turns.hpp"
#include "plan/enumerate/warp_shares.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {
namespace {

using tiles::Tile;

constexpr std::size_t kKept = 20;
constexpr int kAlike = 2;  ///< candidates of one tile, with other warps

class ContractionEnumerator {
 public:
  ///   known  tiles of other contractions
  ContractionEnumerator(const ir::Program& program, const GpuContraction& contraction, const GpuModel& device,
                        CutTiles& known)
      : contraction_(contraction),
        counts_(program, contraction, device),
        room_(contraction, device),
        known_warps_(known_warps(contraction, device)),
        warps_(contraction, counts_, room_, *known_warps_),
        places_(contraction),
        device_(device),
        search_(CutTiles::search()),
        known_rows_(known.of(contraction, CutSide::rows)),
        known_columns_(known.of(contraction, CutSide::columns)),
        known_depths_(known.of(contraction, CutSide::depth)),
        known_row_copies_(known.copies(contraction, true, rows_, depths_)),
        known_column_copies_(known.copies(contraction, false, columns_, depths_)),
        row_sides_(contraction, true, rows_, depths_, *known_row_copies_),
        column_sides_(contraction, false, columns_, depths_, *known_column_copies_) {
    chunk_ = CutCounts::least_chunk(depths_);
  }

  /// Candidates, best first.
  ///   worth  of those that are listed, times the time of the best one at most
  ///   most   of them
  std::vector<Candidate> run(double worth, std::size_t most) {
    std::vector<Candidate> list;
    std::set<std::string> names;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, int> alike;
    search(worth, std::numeric_limits<double>::infinity());
    for (const auto& [cut, number] : search_.priced) {
      if (list.size() == most || cut.seconds > worth_ * best_seconds_) break;
      if (++alike[{cut.rows->size, cut.columns->size, cut.depth->size, cut.prefetch}] > kAlike) continue;
      if (names.insert(contraction_.name(cut)).second) complete(list.emplace_back(weighed(cut)), cut);
    }
    return list;
  }

  /// Finds the best way to cut it, and says what it takes in seconds; nothing where that is more than `bound` seconds.
  std::optional<double> find_best(double bound) {
    search(1, bound);
    return best_ ? std::optional(best_->seconds) : std::nullopt;
  }
  /// What it found, and what is made of it where it is taken.
  Candidate best() const { return weighed(*best_); }
  void complete(Candidate& best) const { complete(best, *best_); }

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
  Candidate weighed(const Cut& cut) const {
    Candidate candidate;
    candidate.predicted_us = 1e6 * cut.seconds;
    candidate.counts = counts_of(cut, row_copies(cut), column_copies(cut));
    return candidate;
  }
  void complete(Candidate& candidate, const Cut& cut) const {
    const std::array padding = {room_.padding(cut, true), room_.padding(cut, false)};
    candidate.schedule = {contraction_.name(cut), contraction_.directives(cut, padding)};
    candidate.parts = parts_of(contraction_time(*candidate.counts, device_));
    candidate.note = round_text(*candidate.counts);
  }

  using Seen = OpenTile::Seen;
  static constexpr double kRounded = 1 - 1e-9;  ///< of a lower bound
  static constexpr int kStages[] = {2, 3, 4, 6};

  /// Prices all ways to cut the contraction that may be worth listing, best first.
  void search(double worth, double bound) {
    worth_ = worth;
    // Bounds of groups are of turns, too.
    of_best_ = (contraction_.may_take_turns() && !contraction_.groups ? kLessInTurns : 1) * worth;
    best_seconds_ = bound;
    search_.begin(rows_.size() * columns_.size());
    for (const auto& chunk : depths_)
      most_shares_ = std::max(most_shares_, search_.shares.emplace_back(contraction_, chunk, device_).most());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (!suits(contraction_, rows_[r], columns_[c])) continue;
        const bool shared = may_share(rows_[r], columns_[c]);
        put({kRounded * counts_.least_seconds(rows_[r], columns_[c], chunk_, shared), r * columns_.size() + c,
             Seen::size});
      }
    }
    // What takes the least time at least comes first, so that much of the rest need not be looked at closer.
    while (search_.open.any(most())) {
      const auto next = search_.open.take();
      if (next.seen == Seen::size) take_best_place(next);
      if (next.seen == Seen::tile) place(next);
      if (next.seen == Seen::placed) add_starts(next.number);
      if (next.seen == Seen::start) add(search_.starts[next.number]);
    }
    auto& priced = search_.priced;
    if (priced.empty()) return;
    std::sort(priced.begin(), priced.end(), [](const PricedCut& x, const PricedCut& y) {
      return std::pair(x.cut.seconds, x.number) < std::pair(y.cut.seconds, y.number);
    });
    const auto& first = priced.front().cut;
    const auto time_of = [&](const Cut& cut) {
      return contraction_time(counts_of(cut, row_copies(cut), column_copies(cut)), device_);
    };
    auto turned =
        in_few_turns(contraction_, counts_, room_, device_, first, [&](const Cut& cut) { return time_of(cut).total; });
    if (!turned) {
      const bool by_memory = contraction_.fma && time_of(first).by_memory();
      turned = in_equal_waves(contraction_, counts_, room_, device_, first, by_memory);
    }
    if (turned) priced.insert(priced.begin(), {*turned, 0});
    best_seconds_ = best_.emplace(priced.front().cut).seconds;
  }

  /// Whether blocks may share some of the sums of such tiles.
  bool may_share(const Tile& rows, const Tile& columns) const {
    return !search_.shares.empty() && search_.shares.front().may_share(rows, columns);
  }

  void put(const OpenTile& one) {
    if (one.least_seconds <= most()) search_.open.put(one);
  }

  /// Looks at all ways to share a tile's sums: at what a block does of each at least, whatever chunks they come in.
  template <class Look>
  void look_at_shares(const SeenTile& result, Look look) {
    const auto &a = row_sides_.of(result.row).sum, &b = column_sides_.of(result.column).sum;
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    const auto by = [&](const TileTimes& times, const DepthShare& share) {
      const auto sum = counts_.least_sum(rows, columns, chunk_, a, b, share.of_all() ? share.blocks : 1);
      look(SumTimes(times, sum, most_seconds()), DepthShares::way_of(share));
    };
    const TileTimes unshared(result.counts, device_);
    by(unshared, {});
    for (int blocks = 2; blocks <= most_shares_ && search_.shares.front().has_room(blocks, rows, columns); blocks *= 2)
      by(unshared.in_clusters(blocks), {.blocks = blocks});
    if (result.last.tiles == 0) return;
    auto in_parts = result.counts;
    in_parts.cluster = result.last.blocks;
    in_parts.last = static_cast<double>(result.last.tiles);
    by(TileTimes(in_parts, device_), {.blocks = result.last.blocks, .last = result.last.tiles});
  }
  /// A lower bound of what a tile takes, by any warps.
  double least_seconds(const SeenTile& result) {
    auto least = std::numeric_limits<double>::infinity();
    look_at_shares(result, [&](const SumTimes& times, std::size_t) {
      least = std::min(least, contraction_.groups ? times.longest(result.rates[0]) : by_any_warps(result, times));
    });
    return kRounded * least;
  }
  static double by_any_warps(const SeenTile& result, const SumTimes& times) {
    const auto& [many, few] = result.rates;
    return few.few > 1 ? std::min(times.least(many), times.least(few)) : times.least(many);
  }
  /// What bounds are compared with: those of tiles that blocks may make in turns are of the time without.
  double most() const { return of_best_ * best_seconds_; }
  double most_seconds() const { return most() / kRounded; }

  /// Bounds a tile as if its results lay as well as they can.
  void take_best_place(const OpenTile& one) {
    auto& result = search_.add(one.number);
    result.row = one.number / columns_.size();
    result.column = one.number % columns_.size();
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    result.rates = counts_.least_rates(rows, columns);
    result.place = kBestPlace;
    counts_.set_best_result(result.counts, rows, columns);
    if (!search_.shares.empty()) result.last = search_.shares.front().last_tiles(rows, columns);
    put({std::max(least_seconds(result), one.least_seconds), one.number, Seen::tile});
  }

  /// Finds where the results of a tile lie, and the warps that may share it.
  void place(const OpenTile& one) {
    auto& result = search_.of(one.number);
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    result.place = places_.of(rows, columns);
    result.counts = counts_.of_result(rows, columns, result.place);
    if (contraction_.groups) return add_starts(one.number);
    result.counts = counts_.with_stores(result.counts, rows, columns, result.place, 1);
    result.by_share.fill(std::numeric_limits<double>::infinity());
    auto& each = result.by_warps;
    look_at_shares(result, [&](const SumTimes& times, std::size_t way) {
      if (kRounded * by_any_warps(result, times) > most()) return;
      if (result.warps == nullptr) {
        result.warps = &warps_.of(rows.size, columns.size);
        for (std::size_t w = 0; w < result.warps->size(); ++w)
          each.emplace_back(std::numeric_limits<double>::infinity(), w);
      }
      for (auto& [bound, w] : each) {
        const double least = kRounded * times.least((*result.warps)[w].least);
        bound = std::min(bound, least);
        result.by_share[way] = std::min(result.by_share[way], least);
      }
    });
    std::sort(each.begin(), each.end());
    if (!each.empty()) put({each.front().first, one.number, Seen::placed});
  }

  /// All chunks of the depth with a tile of the result.
  void add_starts(std::size_t number) {
    const auto& result = search_.of(number);
    const auto& rows = rows_[result.row];
    const auto& columns = columns_[result.column];
    const auto& a = row_sides_.of(result.row);
    const auto& b = column_sides_.of(result.column);
    std::array<std::optional<TileTimes>, kernel::kMostCluster + 1> by_cluster;
    std::optional<TileTimes> by_last;
    const auto times_of = [&](const DepthShare& share) -> const TileTimes& {
      auto& times = share.last > 0 ? by_last : by_cluster[static_cast<std::size_t>(share.blocks)];
      if (!times) {
        auto counts = share.of_all() ? counts_.with_stores(result.counts, rows, columns, result.place, share.blocks)
                                     : result.counts;
        if (share.last > 0) counts.cached_bytes = counts.result_bytes;
        counts.cluster = share.blocks;
        counts.last = static_cast<double>(share.last);
        if (counts.shared()) counts.blocks *= counts.cluster;
        times.emplace(counts, device_);
      }
      return *times;
    };
    for (std::size_t d = 0; d < depths_.size(); ++d) {
      if (contraction_.groups && !contraction_.takes(rows, columns, depths_[d])) continue;
      CutStart start{number, d};
      auto least = std::numeric_limits<double>::infinity();
      std::size_t k = 0;
      const auto add = [&](double seconds) {
        start.least_seconds[k++] = kRounded * seconds;
        least = std::min(least, kRounded * seconds);
      };
      const auto shares = search_.shares[d].of(rows, columns, result.last);
      for (const auto& share : shares) {
        if (contraction_.groups) {
          add(least_seconds({&rows, &columns, &depths_[d]}, share, result, a.rounds[d].copies, b.rounds[d].copies));
        } else if (result.by_share[DepthShares::way_of(share)] > most()) {
          add(std::numeric_limits<double>::infinity());
        } else {
          const auto sum = counts_.sum_of(rows, columns, depths_[d], share, a.rounds[d].least, b.rounds[d].least);
          add(by_any_warps(result, SumTimes(times_of(share), sum, most_seconds())));
        }
      }
      if (least > most()) continue;
      search_.starts.push_back(start);
      put({least, search_.starts.size() - 1, Seen::start});
    }
  }

  /// A lower bound of what a cut by warp groups takes whose stages are not known yet.
  double least_seconds(Cut cut, const DepthShare& share, const SeenTile& result, const Copies& a,
                       const Copies& b) const {
    auto counts = result.counts;
    counts_.set_copies(counts, a, b, *cut.depth, share);
    cut.share = share;
    cut.relaid = share.of_all();
    cut.spread = contraction_.spread(cut.rows->size, cut.columns->size, group_warps(contraction_, cut.rows->size), 1);
    counts_.set_round(counts, cut, result.place, a, b);
    const auto stage = contraction_.stage_bytes(cut, true, 0) + contraction_.stage_bytes(cut, false, 0);
    constexpr double kBlockBytes = 1024;  // of a block, which a device keeps
    const double room = static_cast<double>(device_.shared_bytes_per_multiprocessor) /
                        (static_cast<double>(std::min<std::int64_t>(kStages[1], cut.rounds()) * stage) + kBlockBytes);
    return LaunchTimes(counts, device_)
        .least_of_groups(contraction_.counted_stages(kStages[std::size(kStages) - 1]), std::max(room, 1.0));
  }

  /// All ways to share a tile among warps that may be worth listing.
  void add(const CutStart& start) {
    auto& result = search_.of(start.result);
    const auto& a = row_sides_.of(result.row).rounds[start.depth].copies;
    const auto& b = column_sides_.of(result.column).rounds[start.depth].copies;
    Cut cut{&rows_[result.row], &columns_[result.column], &depths_[start.depth]};
    if (result.warps == nullptr) result.warps = &warps_.of(cut.rows->size, cut.columns->size);
    auto counts = result.counts;
    constexpr std::size_t kMostWays = 64;  // of a share
    const auto number = (start.result * depths_.size() + start.depth) * DepthShares::kMost * kMostWays;
    for (std::size_t n = 0; const auto& share : search_.shares[start.depth].of(*cut.rows, *cut.columns, result.last)) {
      const auto first = number + kMostWays * n;
      if (start.least_seconds[n++] > most()) continue;
      counts_.set_copies(counts, a, b, *cut.depth, share);
      cut.share = share;
      CutBlock block(counts, device_, result.place, a, b);
      block.store_cycles = share.of_all() ? 0 : result.counts.store_cycles();
      if (contraction_.groups) {
        for (std::size_t k = 0; k < result.warps->size(); ++k) add_warps(cut, (*result.warps)[k], block, first + 2 * k);
      }
      for (const auto& [least, k] : result.by_warps) {
        if (least > most()) break;
        const auto& warps = (*result.warps)[k];
        if (may_take(cut, warps, block)) add_warps(cut, warps, block, first + 2 * k);
      }
    }
  }

  /// Whether a cut by so many warps may be worth it, whatever its copies take of registers.
  bool may_take(const Cut& cut, const WarpShare& warps, const CutBlock& block) const {
    const auto moving = block.least_moving + CutCounts::kOfRound * warps.count;
    return block.times.may_take(cycles_of(cut, warps, block, moving, reads_ahead(cut, warps)), warps.count,
                                warps.least.own_parts, warps.least.resident, most_seconds());
  }
  /// The same of threads that take so many registers, and of stages of so many bytes at least.
  bool may_take(const Cut& cut, const WarpShare& warps, CutBlock& block, std::int64_t stage_bytes, bool ahead,
                int registers) const {
    auto least = cut;  // of shared memory
    least.stages = kStages[0];
    const auto room =
        static_cast<double>(room_.resident(least, stage_bytes, contraction_.result_bytes(least, 0), registers));
    return room >= 1 && block.times.may_take(cycles_of(cut, warps, block, block.by(warps.count).moving, ahead),
                                             warps.count, warps.least.own_parts, room, most_seconds());
  }
  /// Whether such a cut has fragments that are read ahead of a round.
  bool reads_ahead(const Cut& cut, const WarpShare& warps) const {
    return warps.least.prefetches && cut.rounds() > 1 && !contraction_.halves(*cut.depth) &&
           counts_.may_prefetch(cut.share.of_all() ? cut.share.blocks : 1);
  }
  ///   moving  instructions that copy operands, and of the round itself
  ///   ahead   whether fragments are read ahead of it
  RoundCycles cycles_of(const Cut& cut, const WarpShare& warps, const CutBlock& block, double moving,
                        bool ahead) const {
    const auto depth = static_cast<double>(cut.depth->size);
    const double quotients = cut.rows->joined + cut.columns->joined + cut.depth->joined > 0 ? warps.least.quotients : 1;
    return {warps.least.pipe_cycles * depth * quotients * counts_.waits_for_steps(*cut.depth),
            block.copied_cycles + warps.least.fragment_cycles * depth,
            (warps.rates.instructions * depth + moving) / 4,
            exposed_cycles(block.copied_cycles),
            block.store_cycles,
            ahead};
  }

  /// A cut by so many warps, without fragments that are read ahead and with them.
  ///   number  of the first way
  void add_warps(Cut cut, const WarpShare& warps, CutBlock& block, std::size_t number) {
    const auto& c = contraction_;
    cut.spread = warps.spread_of(c.reads_singly(*cut.depth));
    const auto& moved = block.by(warps.count);
    constexpr double kOfDepth = 12;
    double places = cut.depth->joined > 0 ? kOfDepth : 0;  // registers of what is worked out
    if (block.a.per_place > 0) places += moved.a / block.a.per_place;
    if (block.b.per_place > 0) places += moved.b / block.b.per_place;
    const auto registers = [&](const RegisterCount& count) {
      return count.with(moved.a + moved.b) + static_cast<int>(places);
    };
    const auto held = registers(warps.registers);
    if (held > kMostRegisters) return;
    const auto stage = c.stage_bytes(cut, true, 0) + c.stage_bytes(cut, false, 0);
    Rounds rounds;
    const auto add = [&](bool ahead, int taken) {
      if (!c.groups && !may_take(cut, warps, block, stage, ahead, taken)) return;
      auto fitted = cut;
      fitted.prefetch = ahead;
      if (fit(fitted, warps, block, rounds, taken)) search_.priced.push_back({fitted, number + (ahead ? 1 : 0)});
    };
    if (reads_ahead(cut, warps)) {
      const auto more = registers(warps.ahead);
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
  bool fit(Cut& cut, const WarpShare& warps, const CutBlock& block, Rounds& rounds, int registers) {
    const auto& c = contraction_;
    const auto held_rows = warps.rows, held_columns = warps.columns;
    const int fewest = kStages[c.groups ? 1 : 0];
    auto least = cut;  // of shared memory
    least.stages = fewest;
    const auto times_of = [&](bool relaid) {
      least.relaid = relaid;
      auto& round = rounds[relaid ? 1 : 0];
      if (!round) {
        counts_.set_round(round.emplace(block.counts), least, warps.rates_of(c.reads_singly(*cut.depth)), block.place,
                          block.a, block.b, held_rows, held_columns);
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
      const auto most = most_seconds();
      auto room = [&](int stages) {
        least.stages = stages;
        return static_cast<double>(room_.resident(least, unpadded, result, registers));
      };
      const auto blocks = room(fewest);
      if (blocks < 1 || !times.may_take(contraction_.counted_stages(kStages[std::size(kStages) - 1]), blocks, most))
        return false;
      for (const int stages : kStages) {
        if (stages < fewest) continue;
        const auto these = cut.takes(stages) ? room(stages) : 0;
        if (these < 1) return false;
        if (times.may_take(contraction_.counted_stages(stages), these, most)) return true;
        if (stages > cut.rounds()) return false;
      }
      return false;
    };
    const bool shared = cut.share.of_all();  // by clusters, whose parts of sums all leave through shared memory
    const auto first = times_of(shared);
    const bool relays = cut.share.blocks == 1 && c.relays;
    std::optional<LaunchTimes> others;
    if (!may_take(first, shared) && !(relays && may_take(others.emplace(times_of(true)), true))) return false;
    const auto stage = room_.stage_bytes(cut);
    cut.seconds = std::numeric_limits<double>::infinity();
    cut.registers = registers;
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
        const auto time = times.at(contraction_.counted_stages(stages), tried.resident, tried.shared_bytes);
        tried.seconds = time.total;
        stores = time.stores;
        // Places that cost nothing make room for what memory takes longer at times.
        if (tried.seconds < cut.seconds || (c.groups && tried.seconds == cut.seconds)) cut = tried;
        if (stages > cut.rounds()) break;
      }
    };
    complete(first, shared);
    // Results leave through shared memory where stores are much of the time.
    constexpr double kMuch = 0.25;
    if (relays && stores >= kMuch * cut.seconds) {
      if (!others) others.emplace(times_of(true));
      if (may_take(*others, true)) complete(*others, true);
    }
    const double of_turns = (c.groups ? kOfGroupsInTurns : 1) * cut.seconds;
    for (auto& tried : in_turns(c, room_, device_, cut, block.counts.blocks, warps, registers)) {
      tried.seconds = contraction_time(counts_.of(tried, block.place, block.a, block.b), device_).total;
      if (tried.seconds < std::min(of_turns, cut.seconds)) cut = tried;
    }
    if (!(cut.seconds <= worth_ * best_seconds_) || std::isinf(cut.seconds)) return false;
    best_seconds_ = std::min(best_seconds_, cut.seconds);
    return true;
  }

  const Copies& row_copies(const Cut& cut) const { return row_sides_.of(cut.rows, cut.depth); }
  const Copies& column_copies(const Cut& cut) const { return column_sides_.of(cut.columns, cut.depth); }
  ContractionCounts counts_of(const Cut& cut, const Copies& a, const Copies& b) const {
    return counts_.of(cut, places_.of(*cut.rows, *cut.columns), a, b);
  }

  const GpuContraction& contraction_;
  CutCounts counts_;
  BlockRoom room_;
  std::shared_ptr<KnownWarps> known_warps_;
  WarpShares warps_;
  ResultPlaces places_;
  const GpuModel& device_;
  CutSearch& search_;  ///< of the last one that was begun
  std::shared_ptr<const std::vector<Tile>> known_rows_, known_columns_, known_depths_;
  const std::vector<Tile>&rows_ = *known_rows_, &columns_ = *known_columns_, &depths_ = *known_depths_;
  std::shared_ptr<KnownCopies> known_row_copies_, known_column_copies_;
  CopiedSides row_sides_, column_sides_;
  LeastChunk chunk_;
  int most_shares_ = 1;  ///< blocks of a cluster
  double worth_ = 1, best_seconds_ = 0;
  double of_best_ = 1;  ///< of its time, what bounds are compared with
  std::optional<Cut> best_;
};

}  // namespace

std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device) {
  constexpr double kWorthListing = 1.5;  // times the best
  std::vector<Candidate> list;
  CutTiles known;
  for (const auto& way : GpuContraction::ways(program, device)) {
    auto more = ContractionEnumerator(program, way, device, known).run(kWorthListing, list.empty() ? kKept : kKept / 2);
    std::move(more.begin(), more.end(), std::back_inserter(list));
  }
  sort_by_time(list);
  return list;
}

std::optional<WeighedCandidate> best_contraction(const ir::Program& program, const GpuModel& device, double bound_us,
                                                 CutTiles* known) {
  CutTiles own;
  auto& tiles = known != nullptr ? *known : own;
  const auto ways = std::make_shared<const std::vector<GpuContraction>>(GpuContraction::ways(program, device));
  std::optional<WeighedCandidate> best;
  std::optional<std::array<double, 2>> gathers;  // of the first way, by warps, and of warp groups: the more
  for (const auto& way : *ways) {
    const double most_us = best ? std::min(best->predicted_us, bound_us) : bound_us;
    const double least_share = least_by_maps(program, device, way.atom_name), bound = 1e-6 * most_us / least_share;
    if (least_time_of_launch(way.product_cycles(), way.bytes, way.groups, device) > bound) continue;
    const auto enumerator = std::make_shared<ContractionEnumerator>(program, way, device, tiles);
    const auto found = enumerator->find_best(bound);
    const auto saved = enumerator->gathers();
    const bool leads = &way == &ways->front();
    if (found) {
      WeighedCandidate candidate{enumerator->best(), [ways, enumerator](Candidate& one) { enumerator->complete(one); }};
      if (least_share < 1 && may_gain_by_maps(*candidate.counts, device, way.atom_name))
        candidate = {by_maps(program, device, candidate.whole()), {}};
      if (!best || candidate.predicted_us < best->predicted_us) best = std::move(candidate);
    }
    if (leads) gathers = saved;
    if (leads || !way.read_by_groups(true) || !gathers || !saved) continue;
    for (std::size_t k = 0; k < saved->size(); ++k) (*gathers)[k] = std::max((*gathers)[k], (*saved)[k]);
  }
  if (best) best->gathers = gathers;
  return best;
}

std::array<double, 2> gather_seconds(const ir::Program& program, const GpuContraction& contraction,
                                     const GpuModel& device) {
  CutTiles known;
  ContractionEnumerator enumerator(program, contraction, device, known);
  enumerator.find_best(std::numeric_limits<double>::infinity());
  return enumerator.gathers().value_or(std::array<double, 2>{});
}

}  // namespace ricci::plan
