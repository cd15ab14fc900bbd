// Schedules for a GPU. Every family of cuTT is one point of one space: a tile that reaches far enough along the axes
// that are contiguous on either side, staged in shared memory (tiled, packed, packed-split, by how much of each axis
// the tile holds), in a warp's registers, or not at all (copy, tiled-copy, plain).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "plan/axes.hpp"
#include "plan/cost_cuda.hpp"
#include "plan/layouts.hpp"
#include "plan/plain.hpp"
#include "plan/plan.hpp"
#include "plan/staged_tiles.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using ir::Schedule;
using Tile = std::vector<std::int64_t>;

constexpr std::int64_t kLaunchLimit = std::int64_t{1} << 31;
constexpr std::int64_t kStagedBytesPerThread = 128;  // registers that hold what is on its way to shared memory

std::int64_t volume(const Tile& tile) {
  std::int64_t product = 1;
  for (const auto n : tile) product *= n;
  return product;
}

class Generator {
 public:
  Generator(const ir::Program& program, const GpuFigures& figures)
      : program_(program),
        figures_(figures),
        sides_(program),
        model_(program, sides_, figures),
        layouts_(sides_, figures.shared_bytes_per_block) {}

  std::vector<Candidate> all(const std::string& wanted) {
    add_direct();
    find_tiles();
    for (std::size_t tile = 0; tile < stagings_.size(); ++tile) {
      auto& staging = stagings_[tile];
      find_whole_digits(staging);
      for (std::size_t way = 0; way < kWays; ++way) {
        if (staging.ways[way] == kNone) continue;
        for (int form = 0; form < forms(staging, way); ++form) add_staged(tile, way, form);
      }
    }
    auto order = refine_leaders(false);
    for (auto& listed : list_) {
      if (listed.candidate.schedule.name == wanted) refine(listed);
    }
    std::vector<Candidate> sorted;
    sorted.reserve(list_.size() + 1);
    for (const auto number : order) sorted.push_back(std::move(list_[number].candidate));
    add_shuffled_origin(sorted);
    add_order_of_both(sorted);
    return sorted;
  }

  /// The first of all(). What cannot be one of the leaders is not told apart.
  Candidate best() {
    add_direct();
    find_tiles();
    for (std::size_t tile = 0; tile < stagings_.size(); ++tile) {
      const auto& staging = stagings_[tile];
      const auto range = block_threads(staging);
      auto least_us = std::numeric_limits<double>::infinity();
      if (range.least <= std::min<std::int64_t>(range.most, 512)) {
        least_us = least_of_either_us(staging, static_cast<int>(range.least));
      }
      if (staging.ways[kByWarps] == kWarps)
        least_us = std::min(least_us, model_.least_us(staging.cost, kWarpThreads, true));
      if (std::isfinite(least_us)) ahead_.push({least_us, tile});
    }
    const auto order = refine_leaders(true);
    if (order.empty()) throw InternalError("a problem without a single schedule; please report it");
    std::vector<Candidate> sorted;
    sorted.push_back(std::move(list_[order.front()].candidate));
    add_shuffled_origin(sorted);
    add_order_of_both(sorted);
    return std::move(sorted.front());
  }

 private:
  static constexpr std::size_t kRefined = 4;
  static constexpr int kWarps = 0, kNone = -1, kWarpThreads = 256;
  /// Ways to visit a tile: by a number of threads that ends at whole digits (two), by powers of two, by warps.
  static constexpr std::size_t kPowers = 2, kByWarps = 5, kWays = 6;
  static constexpr std::size_t kWholeDigits = kWays, kAny = kWays + 1;  // several: the first two, all
  static constexpr int kEither = -1, kSkewed = -2;  // several forms: those along either side, the others

  /// A tile that waits in shared memory or in a warp. Its schedules have everything but the order of tiles, the number
  /// of threads and a name; they are made when they are needed.
  struct Staging {
    Tile tile;
    TileCost cost;
    int read_vector = 1, write_vector = 1;
    std::array<int, kWays> ways;      ///< numbers of threads, kWarps or kNone
    std::vector<Schedule> schedules;  ///< those that may be along either side, then skewed ones
    int either = 0;                   ///< how many the former are
    std::optional<Schedule> in_warp;
  };

  /// Candidates that are not in the list yet: all of a tile, of one way to visit it those along either side
  /// or those that are skewed, or one.
  struct Ahead {
    double least_us;  ///< none of them takes less
    std::size_t tile;
    std::size_t way = kAny;
    int form = kEither;      ///< or kSkewed: several
    bool predicted = false;  ///< least_us is what the one is predicted to take
    bool operator<(const Ahead& other) const { return least_us > other.least_us; }  // the least first
  };

  struct Listed {
    Candidate candidate;
    std::array<std::size_t, 3> made;  ///< tile (0: none waits), way, form: the order in which all() makes them
    bool refined = false;
  };

  /// Only the leaders deserve the search for a layout without conflicts; who leads after it has been searched too.
  /// Returns the numbers of the list, best first.
  ///   first_alone  the others' predictions are of no use, but for finding the first
  std::vector<std::size_t> refine_leaders(bool first_alone) {
    std::vector<std::size_t> order;
    const auto sort = [&](std::size_t leaders) {
      lead(leaders);
      while (order.size() < list_.size()) order.push_back(order.size());
      // Equals stand in the order in which all() makes them.
      std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
        return std::tie(list_[x].candidate.predicted_us, list_[x].made) <
               std::tie(list_[y].candidate.predicted_us, list_[y].made);
      });
    };
    do {
      sort(kRefined);
      double least_us = std::numeric_limits<double>::infinity();
      std::vector<Listed*> put_off;
      for (std::size_t k = 0; k < std::min(kRefined, order.size()); ++k) {
        auto& listed = list_[order[k]];
        if (first_alone && without_conflicts_us(listed) > least_us) {
          put_off.push_back(&listed);
          continue;
        }
        refine(listed);
        least_us = std::min(least_us, listed.candidate.predicted_us);
      }
      sort(1);
      if (!put_off.empty() && !list_[order.front()].refined) {
        for (auto* listed : put_off) refine(*listed);
        sort(1);
      }
    } while (!order.empty() && !list_[order.front()].refined);
    return order;
  }

  /// Adds candidates until those of the list with the least times, so many, are those of all.
  void lead(std::size_t leaders) {
    std::vector<double> least;  // that many times at most, the longest first
    const auto see = [&](const Listed& listed) {
      least.push_back(listed.candidate.predicted_us);
      std::push_heap(least.begin(), least.end());
      if (least.size() <= leaders) return;
      std::pop_heap(least.begin(), least.end());
      least.pop_back();
    };
    for (const auto& listed : list_) see(listed);
    while (!ahead_.empty() && (least.size() < leaders || ahead_.top().least_us <= least.front())) {
      const auto next = ahead_.top();
      ahead_.pop();
      if (next.predicted) {
        if (add_staged(next.tile, next.way, next.form)) see(list_.back());
      } else {
        tell_apart(next);
      }
    }
  }

  /// Of all that are visited by so many threads.
  double least_of_either_us(const Staging& staging, int threads) {
    return std::min(model_.least_us(staging.cost, threads, false), model_.least_skewed_us(staging.cost, threads));
  }

  /// Puts what several candidates stand for in their place.
  void tell_apart(const Ahead& several) {
    auto& staging = stagings_[several.tile];
    const auto add_way = [&](std::size_t way) {
      const int threads = staging.ways[way];
      if (threads == kNone) return;
      if (threads == kWarps) {
        ahead_.push({model_.least_us(staging.cost, kWarpThreads, true), several.tile, way, kEither});
        return;
      }
      const double either = model_.least_waiting(staging.cost, threads, has_rectangles(staging));
      ahead_.push({model_.least_us(staging.cost, threads, false) * either, several.tile, way, kEither});
      if (std::isinf(staging.cost.least_skewed)) return;
      const double skewed = model_.least_waiting(staging.cost, threads, false);
      ahead_.push({model_.least_skewed_us(staging.cost, threads) * skewed, several.tile, way, kSkewed});
    };
    if (several.way == kAny) {
      for (auto way = kPowers; way < kWays; ++way) add_way(way);
      const auto range = block_threads(staging);
      if (range.least <= std::min<std::int64_t>(range.most, 512)) {
        const auto fewest = static_cast<int>(range.least);
        ahead_.push({least_of_either_us(staging, fewest), several.tile, kWholeDigits, kEither});
      }
      return;
    }
    if (several.way == kWholeDigits) {
      find_whole_digits(staging);
      for (std::size_t way = 0; way < kPowers; ++way) add_way(way);
      return;
    }
    if (several.form < 0) {
      const int all = forms(staging, several.way), skewed = std::min(2 * staging.either, all);
      const bool skews = several.form == kSkewed;
      for (int form = skews ? skewed : 0; form < (skews ? all : skewed); ++form) {
        const auto& schedule = formed(staging, several.way, form);
        ahead_.push({model_.least_us(schedule, staging.cost), several.tile, several.way, form});
      }
      return;
    }
    Traffic traffic;
    const double us = model_.predict(formed(staging, several.way, several.form), staging.cost, traffic);
    ahead_.push({us, several.tile, several.way, several.form, true});
  }

  const ir::Affine& load_offset() const { return program_.nodes[static_cast<std::size_t>(sides_.load)].offset; }
  int load_buffer() const { return program_.nodes[static_cast<std::size_t>(sides_.load)].source; }

  /// The fastest axis is the same on both sides, but its rows are so short that a tile should join several.
  bool short_first() const { return sides_.extent(sides_.read_first()) * sides_.read_bytes() < 128; }

  int widest(bool read, const Tile& tile) const {
    const int q = read ? sides_.read_first() : sides_.write_first();
    const auto bytes = read ? sides_.read_bytes() : sides_.write_bytes();
    for (auto vector = static_cast<int>(16 / bytes); vector > 1; vector /= 2) {
      if (tile[static_cast<std::size_t>(q)] % vector != 0) continue;
      const bool fits =
          read ? ir::vector_access(program_, load_buffer(), load_offset(), q, vector)
               : ir::vector_access(program_, program_.statement().buffer, program_.statement().offset, q, vector);
      if (fits) return vector;
    }
    return 1;
  }

  /// Tiles that follow each other in the launch are neighbours on one side: the output, so that a sector shared by two
  /// of them is completed in L2, or the input, where that side has the shorter runs.
  const std::vector<int>& launch_order(bool read) const { return read ? sides_.read_order : sides_.write_order; }

  bool add(Schedule schedule, const std::array<std::size_t, 3>& made, TileCost& cost) {
    if (schedule.shared_bytes(program_) > figures_.shared_bytes_per_block) return false;
    Listed listed;
    listed.made = made;
    auto& candidate = listed.candidate;
    candidate.schedule = std::move(schedule);
    candidate.predicted_us = model_.predict(candidate.schedule, cost, candidate.traffic);
    if (candidate.traffic.tiles >= kLaunchLimit) return false;
    list_.push_back(std::move(listed));
    return true;
  }

  void add_direct() {
    const auto first = sides_.write_first();
    const bool same = sides_.load < 0 || first == sides_.read_first();
    Tile whole(program_.indices.size(), 1);
    if (program_.indices.empty()) {
      auto cost = model_.tile_cost(whole);
      add(direct("plain", whole, 1, 32), {}, cost);
      return;
    }
    for (const std::int64_t target : {256, 512, 1024, 2048, 4096}) {
      const auto wide = std::max<std::int64_t>(16 / sides_.write_bytes(), 1);
      Tile tile = sides_.prefix(false, target, wide);
      // Fill up with whole outer axes while the tile is too small to feed a block.
      for (const auto q : sides_.write_order) {
        if (volume(tile) * 2 > target) break;
        auto& n = tile[static_cast<std::size_t>(q)];
        if (n == 1) n = std::min(sides_.extent(q), std::max<std::int64_t>(target / volume(tile), 1));
      }
      int vector = widest(false, tile);
      if (same && sides_.load >= 0) {
        vector = std::min(vector, widest(true, tile));
      } else if (!same) {
        vector = 1;
      }
      auto cost = model_.tile_cost(tile);
      const auto positions = cost.points / vector;
      auto counts = whole_digit_threads({{ir::Walk{sides_.digits(false, tile), vector, 1}}});
      counts.insert(counts.end(), {128, 256});
      // One access each: a thread writes as soon as it has read, and memory is asked for no more than it can take.
      if (positions > kFewestThreads && positions <= 512 && positions * 8 >= (positions + 31) / 32 * 32 * 7)
        counts.push_back(static_cast<int>(positions));
      for (const int threads : counts) {
        if (positions < threads && target != 256) continue;
        const bool known = std::any_of(list_.begin(), list_.end(), [&](const Listed& listed) {
          return listed.candidate.schedule.tile == tile && listed.candidate.schedule.threads == threads;
        });
        if (known) continue;
        const char* family = !same ? "plain" : program_.indices.size() == 1 ? "copy" : "tiled-copy";
        add(direct(family, tile, vector, threads), {0, 0, list_.size()}, cost);
      }
    }
  }

  Schedule direct(const char* family, const Tile& tile, int vector, int threads) {
    Schedule schedule;
    schedule.tile = tile;
    schedule.order = launch_order(false);
    schedule.walk = {sides_.digits(false, tile), vector, threads};
    schedule.threads = threads;
    schedule.name = fmt::format("{}{} v{} t{}", family, tile_text(tile), vector, threads);
    return schedule;
  }

  std::string tile_text(const Tile& tile) const {
    std::string text;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      if (tile[q] > 1) text.append(" ").append(program_.indices[q].name).append(std::to_string(tile[q]));
    }
    return text;
  }

  /// Tiles that wait, without those ways to visit them that take looking for.
  void find_tiles() {
    if (sides_.load < 0 || program_.indices.size() < 2) return;
    if (sides_.read_first() == sides_.write_first() && !short_first()) return;
    auto tiles = staged_tiles(sides_, figures_.shared_bytes_per_block / 2);
    stagings_.reserve(tiles.size());
    for (auto& tile : tiles) {
      Staging staging;
      staging.read_vector = widest(true, tile);
      staging.write_vector = widest(false, tile);
      staging.cost = model_.tile_cost(tile, has_rectangles(staging), can_skew(tile));
      staging.tile = std::move(tile);
      staging.ways.fill(kNone);
      const auto range = block_threads(staging);
      for (auto way = kPowers; way < kByWarps; ++way) {
        const int threads = 128 << (way - kPowers);
        if (threads >= range.least && threads <= range.most) staging.ways[way] = threads;
      }
      // A warp's tile is small.
      const auto points = staging.cost.points;
      if (points * sides_.read_bytes() <= 32 * 32 && points >= 16) staging.ways[kByWarps] = kWarps;
      stagings_.push_back(std::move(staging));
    }
  }

  void find_whole_digits(Staging& staging) const {
    const auto threads = whole_digit_threads(walks(staging), block_threads(staging));
    std::copy(threads.begin(), threads.end(), staging.ways.begin());
  }

  /// Without workers.
  std::array<ir::Walk, 2> walks(const Staging& staging) const {
    return {{{sides_.digits(true, staging.tile), staging.read_vector, 1},
             {sides_.digits(false, staging.tile), staging.write_vector, 1}}};
  }

  /// So many that they keep the tile in their registers on its way, and that half of them have something to do.
  ThreadRange block_threads(const Staging& staging) const {
    const auto points = staging.cost.points, each = kStagedBytesPerThread / sides_.read_bytes();
    return {std::max<std::int64_t>((points + each - 1) / each, kFewestThreads + 1),
            points / std::max(staging.read_vector, staging.write_vector) * 2 + 1};
  }

  /// How many schedules a tile has with so many threads: along either side, and skewed ones.
  int forms(Staging& staging, std::size_t way) const {
    if (staging.schedules.empty()) {
      staging.schedules.push_back(staged(staging.tile, staging.read_vector, staging.write_vector));
      if (has_rectangles(staging)) staging.schedules.push_back(in_rectangles(staging.schedules.front()));
      staging.either = static_cast<int>(staging.schedules.size());
      if (can_skew(staging.tile)) {
        staging.schedules.push_back(skewed(staging.tile, staging.read_vector));
      }
    }
    return staging.ways[way] == kWarps ? 1 : staging.either + static_cast<int>(staging.schedules.size());
  }

  /// One of them, without a name, in place of the one before.
  const Schedule& formed(Staging& staging, std::size_t way, int form) const {
    const int threads = staging.ways[way];
    if (threads == kWarps) {
      if (!staging.in_warp) staging.in_warp = in_warp(staging.schedules.front());
      return *staging.in_warp;
    }
    const bool either = form < 2 * staging.either;
    auto& schedule = staging.schedules[static_cast<std::size_t>(either ? form / 2 : form - staging.either)];
    schedule.order = launch_order(either && form % 2 == 1);
    schedule.threads = schedule.walk.workers = schedule.stage->walk.workers = threads;
    return schedule;
  }

  bool add_staged(std::size_t tile, std::size_t way, int form) {
    auto& staging = stagings_[tile];
    auto schedule = formed(staging, way, form);
    const auto vectors = fmt::format("{} v{}{}{}", tile_text(staging.tile), schedule.stage->walk.vector,
                                     schedule.stage->walk.rows > 1 ? 'x' : '/', schedule.walk.vector);
    if (staging.ways[way] == kWarps) {
      schedule.name = "warp" + vectors;
    } else {
      const char* how = schedule.skew.on() ? " skewed" : form % 2 == 1 ? " along A" : "";
      schedule.name = fmt::format("{}{} t{}{}", family(staging.tile), vectors, schedule.threads, how);
    }
    return add(std::move(schedule), {tile + 1, way, static_cast<std::size_t>(form)}, staging.cost);
  }

  const char* family(const Tile& tile) const {
    int axes = 0, parts = 0;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      axes += tile[q] > 1;
      parts += tile[q] > 1 && tile[q] < program_.indices[q].extent;
    }
    return axes == 2 && sides_.read_first() != sides_.write_first() ? "tiled" : parts == 0 ? "packed" : "packed-split";
  }

  Schedule staged(const Tile& tile, int read_vector, int write_vector) const {
    Schedule schedule;
    schedule.tile = tile;
    schedule.walk = {sides_.digits(false, tile), write_vector, 1};
    ir::Stage stage;
    stage.load = sides_.load;
    stage.walk = {sides_.digits(true, tile), read_vector, 1};
    stage.layout = linear_layout(sides_, tile, true, 0);
    schedule.stage = std::move(stage);
    return schedule;
  }

  /// Vectors of either side cross in a thread's registers; what is read becomes whole accesses of shared memory.
  bool has_rectangles(const Staging& staging) const {
    constexpr std::int64_t kWidest = 16;
    const auto column = staging.write_vector * sides_.read_bytes();
    return staging.read_vector > 1 && staging.write_vector > 1 && sides_.read_first() != sides_.write_first() &&
           column <= kWidest && staging.read_vector * column <= kStagedBytesPerThread;
  }

  /// The same tile, read in rectangles that are turned in registers: shared memory is written and read by vectors.
  Schedule in_rectangles(Schedule schedule) const {
    auto& walk = schedule.stage->walk;
    const int across = sides_.write_first(), rows = schedule.walk.vector;
    std::vector<ir::Digit> digits{walk.digits.front(), {across, rows, 1}};
    for (std::size_t k = 1; k < walk.digits.size(); ++k) {
      auto digit = walk.digits[k];
      if (digit.index == across) digit = {across, digit.count / rows, rows};
      if (digit.count > 1) digits.push_back(digit);
    }
    walk.digits = std::move(digits);
    walk.rows = rows;
    schedule.stage->layout = linear_layout(sides_, schedule.tile, false, 0);
    return schedule;
  }

  /// Elements of a sector of the output.
  int sector_elements() const { return static_cast<int>(kSectorBytes / sides_.write_bytes()); }

  /// Rows that begin anywhere in a sector, long enough that tiles cut them.
  bool can_skew(const Tile& tile) const {
    const auto first = static_cast<std::size_t>(sides_.write_first());
    if (program_.nodes.size() > 1 || sector_elements() < 2 || sides_.read_first() == sides_.write_first()) return false;
    if (tile[first] == program_.indices[first].extent || tile[first] % sector_elements() != 0) return false;
    const auto& offset = program_.statement().offset;
    bool ragged = false;
    for (std::size_t q = 0; q < tile.size(); ++q)
      ragged = ragged || (q != first && offset.coefficient[q] % sector_elements() != 0);
    return ragged && offset.coefficient[first] == 1;
  }

  /// The same tile, cut where the output's sectors begin, so that those are whole. Single elements are written: to cut
  /// vectors at the ends of rows costs more than they save.
  Schedule skewed(const Tile& tile, int read_vector) const {
    const int first = sides_.write_first();
    const int elements = sector_elements();
    auto schedule = staged(tile, read_vector, 1);
    schedule.skew = {first, elements};
    auto longer = tile;
    longer[static_cast<std::size_t>(first)] += elements - 1;
    schedule.stage->walk.digits = sides_.digits(true, longer);
    schedule.stage->layout = linear_layout(sides_, longer, true, 0);
    return schedule;
  }

  Schedule in_warp(Schedule schedule) const {
    schedule.order = launch_order(false);
    schedule.threads = kWarpThreads;
    schedule.walk.workers = 32;
    schedule.stage->walk.workers = 32;
    schedule.stage->place = ir::Place::warp;
    schedule.stage->layout = {};
    return schedule;
  }

  double predict(const Listed& listed, Traffic& traffic) {
    const auto& schedule = listed.candidate.schedule;
    if (listed.made[0] > 0) return model_.predict(schedule, stagings_[listed.made[0] - 1].cost, traffic);
    return predict(schedule, traffic);
  }

  /// Of a schedule whose tile is not among those that wait here.
  double predict(const Schedule& schedule, Traffic& traffic) {
    auto cost = model_.tile_cost(schedule.tile, false, schedule.skew.on());
    return model_.predict(schedule, cost, traffic);
  }

  /// No layout makes its prediction less.
  double without_conflicts_us(const Listed& listed) {
    const auto& schedule = listed.candidate.schedule;
    if (listed.refined || !schedule.stage) return listed.candidate.predicted_us;
    Traffic traffic;
    traffic.ideal_wavefronts = 1;  // as if it were searched, and shared memory took no time
    return predict(listed, traffic);
  }

  /// Gives a staged candidate the layout with the fewest wavefronts.
  void refine(Listed& listed) {
    if (listed.refined) return;
    listed.refined = true;
    auto& [schedule, traffic, predicted_us, baseline] = listed.candidate;
    if (!schedule.stage || schedule.stage->place != ir::Place::shared) return;
    const auto& found = layouts_.best(schedule);
    schedule.stage->layout = found.layout;
    traffic.bank_wavefronts = found.wavefronts;
    traffic.ideal_wavefronts = found.ideal;
    predicted_us = predict(listed, traffic);
  }

  /// Algorithm 1 of the cuTT paper for the origin, as an alternative of the leader: literals need one division per
  /// outer axis and warp, the butterfly ten shuffles and a table look-up for any number of axes.
  void add_shuffled_origin(std::vector<Candidate>& sorted) {
    if (sorted.empty()) return;
    auto shuffled = sorted.front();
    int outer = 0;
    for (std::size_t q = 0; q < shuffled.schedule.tile.size(); ++q) {
      outer += shuffled.schedule.tile[q] < program_.indices[q].extent;
    }
    if (outer < 2 || shuffled.schedule.threads % 32 != 0) return;
    shuffled.schedule.origin = ir::Origin::shuffle;
    shuffled.schedule.name += " shuffled";
    shuffled.predicted_us = predict(shuffled.schedule, shuffled.traffic);
    insert(sorted, std::move(shuffled));
  }

  /// Tiles of the leaders that follow each other in the launch complete the rows of either side by turns. The first
  /// leader's alone may lead in its place, so that best() need not know the others.
  void add_order_of_both(std::vector<Candidate>& sorted) {
    std::vector<int> order;
    for (std::size_t k = 0; k < sides_.write_order.size(); ++k) {
      for (const int q : {sides_.write_order[k], sides_.read_order[k]}) {
        if (std::find(order.begin(), order.end(), q) == order.end()) order.push_back(q);
      }
    }
    std::vector<Candidate> more;
    std::set<std::string> names;
    bool first = true;
    for (std::size_t k = 0; k < std::min(kRefined, sorted.size()); ++k) {
      auto both = sorted[k];
      auto& schedule = both.schedule;
      if (schedule.origin == ir::Origin::shuffle) continue;
      const bool leads = std::exchange(first, false);
      if (!schedule.stage || schedule.order == order) continue;
      constexpr std::string_view kAlongRead = " along A";
      if (schedule.name.ends_with(kAlongRead)) schedule.name.resize(schedule.name.size() - kAlongRead.size());
      schedule.order = order;
      schedule.name += " along both";
      if (!names.insert(schedule.name).second) continue;
      const double us = predict(schedule, both.traffic);
      both.predicted_us = leads ? us : std::max(us, both.predicted_us);
      more.push_back(std::move(both));
    }
    for (auto& candidate : more) insert(sorted, std::move(candidate));
  }

  static void insert(std::vector<Candidate>& sorted, Candidate candidate) {
    const auto place =
        std::upper_bound(sorted.begin(), sorted.end(), candidate,
                         [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    sorted.insert(place, std::move(candidate));
  }

  const ir::Program& program_;
  const GpuFigures& figures_;
  Sides sides_;
  CostModel model_;
  std::deque<Listed> list_;
  std::vector<Staging> stagings_;
  std::priority_queue<Ahead> ahead_;
  LayoutSearch layouts_;
};

}  // namespace

std::vector<Candidate> candidates(const ir::Program& program, const GpuFigures& figures, const std::string& wanted) {
  if (!moves(program)) return plain_candidates(program, figures);
  return Generator(program, figures).all(wanted);
}

Candidate best_candidate(const ir::Program& program, const GpuFigures& figures) {
  if (!moves(program)) return std::move(plain_candidates(program, figures).front());
  return Generator(program, figures).best();
}

}  // namespace ricci::plan
