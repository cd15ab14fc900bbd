// Schedules of contractions for a CPU: register tiles over the axes that suit them, operands packed or read in place,
// blocks for the caches, tasks for the threads.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_sides.hpp"
#include "plan/models/cost_contraction_cpu.hpp"

namespace ricci::plan {
namespace gett {

/// The sizes of register tiles that pack the same, each once: fewer rows may come to the same.
class TileSizes {
 public:
  /// The number of these sizes; nothing where they have one.
  std::optional<std::size_t> add(const Blocking& tile) {
    const auto from = sizes_.size();
    sizes_.push_back(tile.lanes);
    for (const auto* axes : {&tile.rows, &tile.columns}) {
      for (const auto& axis : *axes) sizes_.push_back(axis.tile);
    }
    const auto added = sizes_.begin() + static_cast<std::ptrdiff_t>(from);
    length_ = sizes_.end() - added;
    for (auto one = sizes_.begin(); one != added; one += length_) {
      if (!std::equal(one, one + length_, added)) continue;
      sizes_.resize(from);
      return std::nullopt;
    }
    return from / static_cast<std::size_t>(length_);
  }
  std::size_t count() const { return sizes_.empty() ? 0 : sizes_.size() / static_cast<std::size_t>(length_); }
  /// Gives a tile the sizes of that number.
  void take(std::size_t number, Blocking& tile) const {
    auto size = sizes_.begin() + static_cast<std::ptrdiff_t>(number) * length_;
    tile.lanes = *size++;
    for (auto* axes : {&tile.rows, &tile.columns}) {
      for (auto& axis : *axes) axis.tile = *size++;
    }
  }

 private:
  std::vector<std::int64_t> sizes_;  // of all, one after the other
  std::ptrdiff_t length_ = 0;
};

constexpr double kAny = std::numeric_limits<double>::infinity();  ///< us

class CpuContractionEnumerator : public ContractionSides {
 public:
  using ContractionSides::ContractionSides;

  struct Found {
    double predicted_us = 0;
    Blocking blocking;
  };

  /// Every way to cut the axes.
  std::vector<Found> all(std::int64_t depth) {
    make_ways(depth);
    std::vector<Found> found;
    for (const auto& tile : register_tiles(kAny)) {
      for_each_blocking(tile, kAny, [&](double us, const Blocking& b) { found.push_back({us, b}); });
    }
    return found;
  }

  /// The first of those that take the least time, where that is less than `bound_us`: tiles that cannot take less than
  /// what was found have no blocks.
  ///   any  one that takes less will do
  std::optional<Found> best(std::int64_t depth, double bound_us, bool any) {
    make_ways(depth);
    const auto tiles = register_tiles(bound_us);
    std::vector<std::pair<double, std::size_t>> by_least;
    for (const auto& tile : tiles) by_least.emplace_back(tile.least_us(), by_least.size());
    std::sort(by_least.begin(), by_least.end());
    std::optional<Found> best;
    std::size_t first = 0;  // the tile of that
    for (const auto& [least, number] : by_least) {
      if (least > bound_us || (any && best)) break;
      for_each_blocking(tiles[number], bound_us, [&, k = number](double us, const Blocking& b) {
        const bool before = best && k < first && us == best->predicted_us;
        if (us >= bound_us && !before) return;
        bound_us = us;
        first = k;
        best = {us, b};
      });
    }
    return best;
  }

  /// What any of them takes at least, however many terms are summed in one go, or `least` where that is no more.
  double least_us(double least) {
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      const auto [pack_columns, pack_rows] = kPacks[k];
      if (!packs_joined(pack_columns, pack_rows)) continue;
      Blocking way{rows_, columns_, depth_, 1, pack_rows, pack_columns, Blocks::near};
      for (auto& axis : way.depth) axis.tile = axis.extent;
      WholeRuns runs;
      const auto& sizes = tiles_of(k).sizes;
      for (std::size_t number = 0; number < sizes.count(); ++number) {
        sizes.take(number, way);
        make_whole(way);
        least = std::min(least, gett::least_us(way, problem_, *device_, runs, least, true));
      }
    }
    return least;
  }

  Candidate candidate(const Found& found) const {
    const auto& b = found.blocking;
    Candidate candidate;
    candidate.predicted_us = found.predicted_us;
    candidate.schedule.name = name(found);
    candidate.schedule.directives = directives(b);
    candidate.products = {counts_of(b, problem_)};
    candidate.parts = time_parts(b, problem_, *device_);
    candidate.note = round_text(b, problem_, *device_);
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = product(problem_.batch, extent_of) * b.row_tasks * b.column_tasks;
    return candidate;
  }

  std::string name(const Found& found) const { return ContractionSides::name(found.blocking); }

  /// How many terms are summed in one go, at most, where the model is one of a single thread (CpuModel::alone()), and
  /// what that is predicted to take.
  struct Depth {
    double us = kAny;
    std::int64_t terms = 320;
  };

  /// Better than `best`, or that. Columns that few rows multiply may be read in place.
  Depth summed_in_one_go(Depth best) {
    constexpr std::int64_t kFewRows = 4;
    if (depth_.empty()) return best.us > 0 ? Depth{0, 1} : best;
    best = summed_in_one_go(best, true);
    const bool in_place = product(rows_, extent_of) <= kFewRows && !convert_columns_ && packs_joined(false, true);
    return in_place ? summed_in_one_go(best, false) : best;
  }

 private:
  Depth summed_in_one_go(Depth best, bool pack_columns) {
    Blocking tile{rows_, columns_, depth_, 1, !rows_.empty() || convert_rows_, pack_columns, Blocks::near};
    struct Sum {
      std::int64_t terms;
      Axes depth;
      WholeRuns runs = {};
    };
    std::vector<Sum> sums;
    // Of 128 terms panels of both operands stay in a first cache of 48 KB: those of 248 of 31^6 took 1.1 times as long.
    for (const std::int64_t terms : {8, 24, 48, 96, 128, 192, 320}) {
      if (!make_depth(tile, terms) || !sums_as_packed(tile, terms)) continue;
      const bool known =
          std::any_of(sums.begin(), sums.end(), [&](const Sum& sum) { return same(sum.depth, tile.depth); });
      if (!known) sums.push_back({terms, tile.depth});
    }
    const auto& sizes = tiles_of(pack_of(tile)).sizes;
    std::vector<std::pair<double, std::size_t>> by_least;  // of a tile with each of the sums
    const auto none = sizes.count() * sums.size();
    auto first = none;
    const auto look = [&](std::size_t k) {
      const auto& sum = sums[k % sums.size()];
      sizes.take(k / sums.size(), tile);
      tile.depth = sum.depth;
      make_blocks(tile, device_->l2_bytes / 2, kManyTasks);
      const auto us = predicted_us(tile, problem_, *device_);
      if (us > best.us || (us == best.us && (k > first || first == none))) return;
      best = {us, sum.terms};
      first = k;
    };
    // Of as many terms as there may be first: what these take bounds others.
    for (auto q = sums.size(); q-- > 0;) {
      for (std::size_t number = 0; number < sizes.count(); ++number) {
        sizes.take(number, tile);
        make_whole(tile);
        tile.depth = sums[q].depth;
        const auto us = gett::least_us(tile, problem_, *device_, sums[q].runs, best.us);
        if (us <= best.us) by_least.emplace_back(us, number * sums.size() + q);
      }
      if (q + 1 == sums.size() && !by_least.empty()) look(std::min_element(by_least.begin(), by_least.end())->second);
    }
    std::sort(by_least.begin(), by_least.end());
    for (const auto& [least, k] : by_least) {
      if (least > best.us) break;
      look(k);
    }
    return best;
  }

  static constexpr std::int64_t kMostOfFlipped = 28;  ///< rows, which share the one that is summed beside them

  /// f(lanes, vectors, rows at most) of the register tiles that suit the columns' fastest index.
  template <class F>
  void for_each_register_tile(F f) const {
    // Of the longest numbers the shortest vectors have one: two of them are computed as one of two.
    const auto widest = std::max<std::int64_t>(device_->vector_bytes / problem_.size, 2);
    const auto halves = parts(widest * problem_.size, device_->vector_bytes);
    const auto all = device_->vector_bytes >= 64 ? 31 : 15;  // but one, for an element of all lanes
    for (auto lanes = widest; lanes >= std::max<std::int64_t>(widest / 4, 2); lanes /= 2) {
      if (lanes < widest && lane_extent() >= 2 * lanes && !is_worth_narrow(lanes)) continue;
      if (across_) {
        // Vectors of several values of the result's fastest index: as many neighbours are written for each lane.
        for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8}) {
          const auto registers = all - (problem_.flipped ? vectors + 1 : 0);
          const auto most = (registers - vectors) / vectors;
          for (const auto rows : {most, most / 2}) {
            if (rows >= 1) f(lanes, vectors, std::min<std::int64_t>(rows, 16));
          }
        }
        continue;
      }
      for (const std::int64_t vectors : {1, 2, 3, 4, 5, 6, 8}) {
        const auto registers = all - (problem_.flipped ? vectors + 1 : 0);
        // More than the fastest index has are those of as many values of the one before it, or go on in that. Of lanes
        // that both operands have there is one vector, for as many values of the other columns, and a row takes one to
        // read it.
        const auto along = lanes_of_both() ? 1 : parts(lane_extent(), lanes);
        const bool even = vectors % along == 0 || lane_extent() % lanes != 0;
        if (vectors > along && (columns_.size() == 1 || !even)) continue;
        // A row of complex numbers has sums of its real and of its imaginary parts. Without AVX, and so without fused
        // multiply-adds, its products take registers.
        const auto held = vectors * halves;
        const bool apart = lanes_of_both() || (problem_.complex && device_->vector_bytes < 32);
        auto most = (registers - held) / (held + (apart ? 1 : 0)) / (problem_.complex ? 2 : 1);
        if (vectors > 6) {
          // All of the fastest index, by one vector of it after the other: elements of rows have registers then.
          if (along < 7 || along > vectors || apart || problem_.complex) continue;
          most = registers / (held + 1);
        }
        for (const auto rows : {most, most * 2 / 3, most / 2}) {
          if (rows >= 1 && rows <= (problem_.flipped ? kMostOfFlipped : 16)) f(lanes, vectors, rows);
        }
        if (depth_.empty()) f(lanes, vectors, 1);  // rows share nothing but the loads of columns
      }
    }
  }

  /// What a register tile packs: both operands, or one, or none.
  static constexpr std::array<std::pair<bool, bool>, 4> kPacks{
      {{true, true}, {true, false}, {false, true}, {false, false}}};  // columns, rows

  static std::size_t pack_of(const Blocking& b) {
    const auto place = std::find(kPacks.begin(), kPacks.end(), std::pair(b.pack_columns, b.pack_rows));
    return static_cast<std::size_t>(place - kPacks.begin());
  }

  /// The register tiles that pack the same; `numbers` are their sizes', of each that for_each_register_tile() names.
  struct Tiles {
    TileSizes sizes;
    std::vector<std::optional<std::size_t>> numbers;
  };
  const Tiles& tiles_of(std::size_t pack) {
    auto& tiles = tiles_[pack];
    if (tiles) return *tiles;
    tiles.emplace();
    Blocking tile{rows_, columns_, depth_, 1, kPacks[pack].second, kPacks[pack].first, Blocks::near};
    for_each_register_tile([&](std::int64_t lanes, std::int64_t vectors, std::int64_t rows) {
      tile.lanes = lanes;
      tiles->numbers.push_back(make_tiles(tile, vectors, rows) ? tiles->sizes.add(tile) : std::nullopt);
    });
    return *tiles;
  }

  /// A register tile with both operands packed, or those ways in which some are read in place.
  struct RegisterTile {
    struct Way {
      std::size_t sizes;  ///< the number of its sizes
      double least_us;    ///< what it takes at least
    };
    std::array<std::optional<Way>, kPacks.size()> ways = {};
    double least_us() const {
      double least = kAny;
      for (const auto& way : ways) least = way ? std::min(least, way->least_us) : least;
      return least;
    }
  };

  /// Whether what is joined is packed.
  bool packs_joined(bool columns, bool rows) const {
    return (columns || !columns_.back().joined) && (rows || rows_.empty() || !rows_.back().joined);
  }

  /// Ways to pack, with their sums cut into such of at most so many terms.
  void make_ways(std::int64_t most_depth) {
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      ways_[k].reset();
      const auto [pack_columns, pack_rows] = kPacks[k];
      // Operands of another type than the sum's are converted, and rounded, once, as they are packed.
      if ((convert_columns_ && !pack_columns) || (convert_rows_ && !pack_rows)) continue;
      if (!packs_joined(pack_columns, pack_rows)) continue;
      Blocking way{rows_, columns_, depth_, 1, pack_rows, pack_columns, Blocks::near};
      if (make_depth(way, most_depth) && sums_as_packed(way, most_depth)) ways_[k] = std::move(way);
    }
  }

  /// Whether as many terms are summed in one go as where both operands are packed: which ways are taken may depend on
  /// the number of threads, sums do not.
  bool sums_as_packed(const Blocking& way, std::int64_t most_depth) const {
    if (way.pack_columns && way.pack_rows) return true;
    Blocking packed{rows_, columns_, depth_};
    make_depth(packed, most_depth);
    return same(packed.depth, way.depth);
  }

  /// Those that may take no longer than `most_us`.
  std::vector<RegisterTile> register_tiles(double most_us) {
    std::array<std::vector<RegisterTile>, 2> tiles;  // with both operands packed, and others
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      if (!ways_[k]) continue;
      auto& way = *ways_[k];
      const auto& [sizes, numbers] = tiles_of(k);
      WholeRuns runs;
      auto& list = tiles[k == 0 ? 0 : 1];
      list.resize(numbers.size());
      for (std::size_t t = 0; t < numbers.size(); ++t) {
        if (!numbers[t]) continue;
        sizes.take(*numbers[t], way);
        make_whole(way);
        list[t].ways[k] = {*numbers[t], gett::least_us(way, problem_, *device_, runs, most_us)};
      }
    }
    std::vector<RegisterTile> found;
    for (std::size_t t = 0; t < std::max(tiles[0].size(), tiles[1].size()); ++t) {
      for (const auto& list : tiles) {
        const double least = t < list.size() ? list[t].least_us() : kAny;
        if (least < kAny && least <= most_us) found.push_back(list[t]);
      }
    }
    return found;
  }

  /// f(us, blocking) of every way to block a register tile that may take no longer than `most_us`; rows that are packed
  /// make no other blocks than as many that are not.
  template <class F>
  void for_each_blocking(const RegisterTile& tile, const double& most_us, F f) {
    std::array<std::array<bool, 3>, 2> known = {};
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      if (!tile.ways[k] || tile.ways[k]->least_us > most_us) continue;
      auto& way = *ways_[k];
      tiles_of(k).sizes.take(tile.ways[k]->sizes, way);
      double near_us = 0;  // of the nearest blocks
      for (const auto blocks : {Blocks::near, Blocks::rows_of_result, Blocks::wide}) {
        if (lanes_of_both() && blocks != Blocks::near) continue;  // one way to cut them
        if (across_ && blocks == Blocks::rows_of_result) continue;
        if (streams_rows(way)) {
          if (blocks != Blocks::near) continue;
          auto b = way;
          make_blocks(b, device_->l2_bytes / 2, kManyTasks);
          make_streams(b);
          f(predicted_us(b, problem_, *device_), b);
          continue;
        }
        const std::size_t columns = way.pack_columns ? 1 : 0, number = static_cast<std::size_t>(blocks);
        auto& b = blocked_[columns][number];
        std::optional<double> us;
        if (!std::exchange(known[columns][number], true) || !same(b.rows, way.rows)) {
          b = way;
          b.blocks = blocks;
          b.pack_rows = pack_rows_first(tile, way.pack_columns);
          const auto share = device_->cache_bytes / 2 / std::max(device_->threads, 1);
          const auto room = blocks == Blocks::wide ? std::min<std::int64_t>(share, 8 << 20) : device_->l2_bytes / 2;
          make_blocks(b, room, kManyTasks);
          if (points() >= kLongRun && !lanes_of_both() && !across_) us = make_fewer_tasks(b, room);
        }
        if (std::exchange(b.pack_rows, way.pack_rows) != way.pack_rows) us.reset();
        // The same blocks by another name take no less.
        if (blocks != Blocks::near && near_us >= most_us && same_blocks(b, blocked_[columns][0])) continue;
        if (!us) us = predicted_us(b, problem_, *device_);
        if (blocks == Blocks::near) near_us = *us;
        f(*us, b);
      }
    }
  }

  /// Whether the first of the ways of a tile that pack columns, or not, packs rows, too: numbers of tasks are its.
  bool pack_rows_first(const RegisterTile& tile, bool pack_columns) const {
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      if (tile.ways[k] && kPacks[k].first == pack_columns) return kPacks[k].second;
    }
    return true;
  }

  static bool same(const Axes& x, const Axes& y) {
    return std::equal(x.begin(), x.end(), y.begin(), [](const Axis& a, const Axis& b) { return a.tile == b.tile; });
  }

  std::array<std::optional<Tiles>, kPacks.size()> tiles_;    ///< as far as they were asked for
  std::array<std::optional<Blocking>, kPacks.size()> ways_;  ///< register tiles are made in their places,
  std::array<std::array<Blocking, 3>, 2> blocked_;           ///< and their blocks in these
};

}  // namespace gett

/// All ways in which vectors lie, and of joined axes where those are worth it; what they share is worked out once.
class CpuContraction::Ways {
 public:
  Ways(ir::Program program, const CpuModel& device)
      : program_(std::move(program)),
        contraction_(kernel::contraction_of(program_)),
        device_(device),
        alone_(device.alone()) {
    if (!contraction_) return;
    constexpr std::size_t kMostWays = 4;
    all_.reserve(kMostWays);
    for (const auto lanes : {gett::Lanes::result, gett::Lanes::first, gett::Lanes::second}) {
      gett::CpuContractionEnumerator way(program_, *contraction_, alone_);
      const bool suits = way.suits(lanes);
      if (lanes == gett::Lanes::result) sums_ = suits;
      if (!suits) continue;
      auto joined = way;
      all_.push_back({std::move(way), false});
      if (lanes == gett::Lanes::result && joined.join()) all_.push_back({std::move(joined), true});
    }
  }

  std::optional<std::int64_t> terms() {
    if (!sums_) return std::nullopt;
    if (terms_) return terms_;
    gett::CpuContractionEnumerator::Depth depth;
    for (auto& [way, joined] : all_) {
      way.set_threads_of(alone_);
      if (!joined) depth = way.summed_in_one_go(depth);
    }
    terms_ = depth.terms;
    return terms_;
  }

  double least_us() {
    if (least_us_) return *least_us_;
    double least = gett::kAny;
    for (auto& [way, joined] : all_) {
      way.set_threads_of(device_);
      least = way.least_us(least);
    }
    least_us_ = least;
    return least;
  }

  /// f(enumerator, what it found) of the best, or of any, where it takes less than `bound_us`.
  template <class F>
  void with_best(bool alone, double bound_us, bool any, F f) {
    const auto terms = this->terms();
    if (!terms) return;
    const gett::CpuContractionEnumerator* best_way = nullptr;
    std::optional<gett::CpuContractionEnumerator::Found> best;
    for (auto& [way, joined] : all_) {
      if (any && best) break;
      way.set_threads_of(alone ? alone_ : device_);
      auto found = way.best(*terms, bound_us, any);
      if (!found) continue;
      bound_us = found->predicted_us;
      best = std::move(found);
      best_way = &way;
    }
    if (best) f(*best_way, *best);
  }

  std::vector<Candidate> list(std::size_t most) {
    const auto terms = this->terms();
    if (!terms) return {};
    std::vector<std::pair<gett::CpuContractionEnumerator::Found, const gett::CpuContractionEnumerator*>> found;
    for (auto& [way, joined] : all_) {
      way.set_threads_of(device_);
      for (auto& each : way.all(*terms)) found.emplace_back(std::move(each), &way);
    }
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
      return found[x].first.predicted_us < found[y].first.predicted_us;
    });
    std::vector<Candidate> list;
    std::set<std::string> names;
    for (const auto k : order) {
      const auto& [each, way] = found[k];
      if (!names.insert(way->name(each)).second) continue;
      list.push_back(way->candidate(each));
      if (list.size() == most) break;
    }
    return list;
  }

 private:
  struct Way {
    gett::CpuContractionEnumerator tiles;
    bool joined;
  };
  const ir::Program program_;
  const std::optional<kernel::Contraction> contraction_;
  const CpuModel& device_;
  CpuModel alone_;
  bool sums_ = false;  ///< whether vectors may run along the result's fastest index
  std::optional<std::int64_t> terms_;
  std::optional<double> least_us_;
  std::vector<Way> all_;
};

CpuContraction::CpuContraction(ir::Program program, const CpuModel& device)
    : ways_(std::make_unique<Ways>(std::move(program), device)) {}
CpuContraction::~CpuContraction() = default;
CpuContraction::CpuContraction(CpuContraction&&) noexcept = default;
CpuContraction& CpuContraction::operator=(CpuContraction&&) noexcept = default;

double CpuContraction::least_us() { return ways_->least_us(); }

std::optional<double> CpuContraction::best_us(double bound_us) {
  std::optional<double> us;
  if (ways_->least_us() >= bound_us) return us;
  ways_->with_best(false, bound_us, false, [&](const auto&, const auto& found) { us = found.predicted_us; });
  return us;
}

bool CpuContraction::takes_less(double us) {
  bool found = false;
  if (ways_->least_us() < us) ways_->with_best(false, us, true, [&](const auto&...) { found = true; });
  return found;
}

std::optional<double> CpuContraction::best_us_alone() {
  std::optional<double> us;
  ways_->with_best(true, gett::kAny, false, [&](const auto&, const auto& found) { us = found.predicted_us; });
  return us;
}

std::optional<Candidate> CpuContraction::best() {
  std::optional<Candidate> best;
  ways_->with_best(false, gett::kAny, false, [&](const auto& way, const auto& found) { best = way.candidate(found); });
  return best;
}

std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device, std::size_t most) {
  CpuContraction contraction(program, device);
  if (most > 1) return contraction.list(most);
  auto best = contraction.best();
  return best ? std::vector<Candidate>{std::move(*best)} : std::vector<Candidate>();
}

std::vector<Candidate> CpuContraction::list(std::size_t most) { return ways_->list(most); }

}  // namespace ricci::plan
