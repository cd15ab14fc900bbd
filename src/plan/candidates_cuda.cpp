// Schedules for a GPU. Every family of cuTT is one point of one space: a tile that reaches far enough along the axes
// that are contiguous on either side, staged in shared memory (tiled, packed, packed-split, by how much of each axis
// the tile holds), in a warp's registers, or not at all (copy, tiled-copy, plain).
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
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
    for (auto& tile : stagings()) {
      for (const int threads : tile.threads) add_staged(tile, threads);
    }
    auto order = refine_leaders(std::numeric_limits<double>::infinity(), [] {});
    for (std::size_t k = 0; k < list_.size(); ++k) {
      if (list_[k].schedule.name == wanted && !refined_[k]) refine(list_[k]);
    }
    std::vector<Candidate> sorted;
    sorted.reserve(list_.size() + 1);
    for (const auto number : order) sorted.push_back(std::move(list_[number]));
    add_shuffled_origin(sorted);
    add_order_of_both(sorted);
    return sorted;
  }

  /// The first of all(). Tiles that cannot give one of the leaders are left out until it turns out that they may.
  Candidate best() {
    add_direct();
    auto tiles = stagings();
    struct Rank {
      double least_us;
      std::size_t number;  // of tile and threads, as all() goes through them
      Staging* tile;
      int threads;
    };
    std::vector<Rank> ranks;
    for (auto& tile : tiles) {
      for (const int threads : tile.threads) {
        ranks.push_back({least_us(tile.tile, threads), ranks.size(), &tile, threads});
      }
    }
    std::sort(ranks.begin(), ranks.end(), [](const Rank& x, const Rank& y) {
      return std::tie(x.least_us, x.number) < std::tie(y.least_us, y.number);
    });
    std::size_t next = 0;
    const auto add_next = [&] {
      const auto& rank = ranks[next++];
      made_number_ = rank.number + 1;  // after those without a stage
      add_staged(*rank.tile, rank.threads);
    };
    std::vector<double> leaders;  // of the least times
    while (next < ranks.size()) {
      leaders.clear();
      for (const auto& candidate : list_) leaders.push_back(candidate.predicted_us);
      if (leaders.size() >= kRefined) {
        std::nth_element(leaders.begin(), leaders.begin() + kRefined - 1, leaders.end());
        if (ranks[next].least_us > leaders[kRefined - 1]) break;
      }
      add_next();
    }
    const double left_out_us = next < ranks.size() ? ranks[next].least_us : std::numeric_limits<double>::infinity();
    const auto order = refine_leaders(left_out_us, [&] {
      while (next < ranks.size()) add_next();
    });
    if (order.empty()) throw InternalError("a problem without a single schedule; please report it");
    std::vector<Candidate> sorted;
    sorted.push_back(std::move(list_[order.front()]));
    add_shuffled_origin(sorted);
    return std::move(sorted.front());
  }

 private:
  static constexpr std::size_t kRefined = 4;
  static constexpr int kWarps = 0, kWarpThreads = 256;

  /// A tile that waits in shared memory or in a warp, and its schedules without threads, made when they are needed.
  struct Staging {
    Tile tile;
    int read_vector, write_vector;
    std::vector<int> threads;  ///< or kWarps
    std::optional<Schedule> plain;
    std::vector<Schedule> skewed;
  };

  /// Only the leaders deserve the search for a layout without conflicts; who leads after it has been searched too.
  /// Returns the numbers of the list, best first.
  ///   left_out_us  no candidate that is not in the list yet takes less
  ///   add_others   adds those
  template <class AddOthers>
  std::vector<std::size_t> refine_leaders(double left_out_us, const AddOthers& add_others) {
    std::vector<std::size_t> order;
    const auto fill = [&] {
      refined_.resize(list_.size(), false);
      while (order.size() < list_.size()) order.push_back(order.size());
      // Equals stand in the order in which all() makes them.
      std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return made_[x] < made_[y]; });
    };
    const auto sort = [&] {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t x, std::size_t y) { return list_[x].predicted_us < list_[y].predicted_us; });
    };
    fill();
    while (!order.empty()) {
      sort();
      for (std::size_t k = 0; k < std::min(kRefined, order.size()); ++k) {
        if (!refined_[order[k]]) refine(list_[order[k]]);
        refined_[order[k]] = true;
      }
      sort();
      if (list_[order.front()].predicted_us >= left_out_us) {
        add_others();
        left_out_us = std::numeric_limits<double>::infinity();
        fill();
        sort();
      }
      if (refined_[order.front()]) break;
    }
    return order;
  }

  double least_us(const Tile& tile, int threads) {
    return model_.least_us(tile, threads == kWarps ? kWarpThreads : threads, threads == kWarps);
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

  void add(Schedule schedule) {
    if (schedule.shared_bytes(program_) > figures_.shared_bytes_per_block) return;
    if (!names_.insert(schedule.name).second) return;
    Candidate candidate;
    candidate.schedule = std::move(schedule);
    assess(candidate);
    if (candidate.traffic.tiles >= kLaunchLimit) return;
    list_.push_back(std::move(candidate));
    made_.emplace_back(made_number_, list_.size());
  }

  void add_direct() {
    const auto first = sides_.write_first();
    const bool same = sides_.load < 0 || first == sides_.read_first();
    Tile whole(program_.indices.size(), 1);
    if (program_.indices.empty()) {
      add(direct("plain", whole, 1, 32));
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
      const auto positions = volume(tile) / vector;
      auto counts = whole_digit_threads({{sides_.digits(false, tile), vector, 1}});
      counts.insert(counts.end(), {128, 256});
      for (const int threads : counts) {
        if (positions < threads && target != 256) continue;
        const char* family = !same ? "plain" : program_.indices.size() == 1 ? "copy" : "tiled-copy";
        add(direct(family, tile, vector, threads));
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

  /// Tiles that wait, and the numbers of threads that may visit them.
  std::vector<Staging> stagings() const {
    std::vector<Staging> stagings;
    if (sides_.load < 0 || program_.indices.size() < 2) return stagings;
    if (sides_.read_first() == sides_.write_first() && !short_first()) return stagings;
    for (auto& tile : staged_tiles(sides_, figures_.shared_bytes_per_block / 2)) {
      const int read_vector = widest(true, tile), write_vector = widest(false, tile);
      auto threads = whole_digit_threads(
          {{sides_.digits(true, tile), read_vector, 1}, {sides_.digits(false, tile), write_vector, 1}});
      threads.insert(threads.end(), {128, 256, 512, kWarps});
      stagings.push_back({std::move(tile), read_vector, write_vector, std::move(threads), {}, {}});
    }
    return stagings;
  }

  /// With so many threads, or by warps; a warp's tile is small.
  void add_staged(Staging& staging, int threads) {
    const auto& tile = staging.tile;
    const auto points = volume(tile);
    if (threads == kWarps) {
      if (points * sides_.read_bytes() > 32 * 32 || points < 16) return;
    } else {
      const auto per_thread = (points + threads - 1) / threads * sides_.read_bytes();
      const auto widest_vector = std::max(staging.read_vector, staging.write_vector);
      if (per_thread > kStagedBytesPerThread || points / widest_vector < threads / 2) return;
    }
    if (!staging.plain) {
      staging.plain = staged(tile, staging.read_vector, staging.write_vector);
      if (can_skew(tile)) {
        for (const auto vector : {std::int64_t{1}, write_wide()}) {
          staging.skewed.push_back(skewed(tile, staging.read_vector, static_cast<int>(vector)));
        }
      }
    }
    if (threads == kWarps) {
      add(in_warp(*staging.plain));
      return;
    }
    add(launched(*staging.plain, threads, false, ""));
    add(launched(*staging.plain, threads, true, " along A"));
    for (const auto& schedule : staging.skewed) add(launched(schedule, threads, false, " skewed"));
  }

  const char* family(const Tile& tile) const {
    int axes = 0, parts = 0;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      axes += tile[q] > 1;
      parts += tile[q] > 1 && tile[q] < program_.indices[q].extent;
    }
    return axes == 2 && sides_.read_first() != sides_.write_first() ? "tiled" : parts == 0 ? "packed" : "packed-split";
  }

  /// Without the threads that visit it, which end its name.
  Schedule staged(const Tile& tile, int read_vector, int write_vector) const {
    Schedule schedule;
    schedule.tile = tile;
    schedule.walk = {sides_.digits(false, tile), write_vector, 1};
    ir::Stage stage;
    stage.load = sides_.load;
    stage.walk = {sides_.digits(true, tile), read_vector, 1};
    stage.layout = linear_layout(sides_, tile, true, 0);
    schedule.stage = std::move(stage);
    schedule.name = fmt::format("{}{} v{}/{}", family(tile), tile_text(tile), read_vector, write_vector);
    return schedule;
  }

  Schedule launched(Schedule schedule, int threads, bool read_first, const char* how) const {
    schedule.order = launch_order(read_first);
    schedule.threads = schedule.walk.workers = schedule.stage->walk.workers = threads;
    schedule.name.append(" t").append(std::to_string(threads)).append(how);
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

  /// Elements of a 16-byte store, where the output's base allows it.
  std::int64_t write_wide() const {
    const auto alignment = program_.buffers[static_cast<std::size_t>(program_.statement().buffer)].alignment;
    return alignment % 16 == 0 ? std::max<std::int64_t>(16 / sides_.write_bytes(), 1) : 1;
  }

  /// The same tile, cut where the output's sectors begin, so that every store is whole.
  Schedule skewed(const Tile& tile, int read_vector, int vector) const {
    const int first = sides_.write_first();
    const int elements = sector_elements();
    auto schedule = staged(tile, read_vector, vector);
    schedule.skew = {first, elements};
    auto longer = tile;
    longer[static_cast<std::size_t>(first)] += elements - 1;
    schedule.stage->walk.digits = sides_.digits(true, longer);
    schedule.stage->layout = linear_layout(sides_, longer, true, 0);
    return schedule;
  }

  Schedule in_warp(const Schedule& plain) const {
    auto schedule = launched(plain, kWarpThreads, false, "");
    schedule.walk.workers = 32;
    schedule.stage->walk.workers = 32;
    schedule.stage->place = ir::Place::warp;
    schedule.stage->layout = {};
    schedule.name = fmt::format("warp{} v{}/{}", tile_text(plain.tile), plain.stage->walk.vector, plain.walk.vector);
    return schedule;
  }

  /// Gives a staged candidate the layout with the fewest wavefronts.
  void refine(Candidate& candidate) {
    auto& schedule = candidate.schedule;
    if (!schedule.stage || schedule.stage->place != ir::Place::shared) return;
    const auto& found = layouts_.best(schedule);
    schedule.stage->layout = found.layout;
    candidate.traffic.bank_wavefronts = found.wavefronts;
    candidate.traffic.ideal_wavefronts = found.ideal;
    assess(candidate);
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
    assess(shuffled);
    insert(sorted, std::move(shuffled));
  }

  /// Tiles of the leaders that follow each other in the launch complete the rows of either side by turns: the model
  /// sees no difference, pages of memory sometimes do.
  void add_order_of_both(std::vector<Candidate>& sorted) const {
    std::vector<int> order;
    for (std::size_t k = 0; k < sides_.write_order.size(); ++k) {
      for (const int q : {sides_.write_order[k], sides_.read_order[k]}) {
        if (std::find(order.begin(), order.end(), q) == order.end()) order.push_back(q);
      }
    }
    std::vector<Candidate> more;
    std::set<std::string> names;
    for (std::size_t k = 0; k < std::min(kRefined, sorted.size()); ++k) {
      auto both = sorted[k];
      auto& schedule = both.schedule;
      if (!schedule.stage || schedule.origin == ir::Origin::shuffle || schedule.order == order) continue;
      constexpr std::string_view kAlongRead = " along A";
      if (schedule.name.ends_with(kAlongRead)) schedule.name.resize(schedule.name.size() - kAlongRead.size());
      schedule.order = order;
      schedule.name += " along both";
      if (names.insert(schedule.name).second) more.push_back(std::move(both));
    }
    for (auto& candidate : more) insert(sorted, std::move(candidate));
  }

  static void insert(std::vector<Candidate>& sorted, Candidate candidate) {
    const auto place =
        std::upper_bound(sorted.begin(), sorted.end(), candidate,
                         [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    sorted.insert(place, std::move(candidate));
  }

  void assess(Candidate& candidate) { model_.predict(candidate); }

  const ir::Program& program_;
  const GpuFigures& figures_;
  Sides sides_;
  CostModel model_;
  std::deque<Candidate> list_;
  std::vector<bool> refined_;                              // of the list
  std::vector<std::pair<std::size_t, std::size_t>> made_;  // of the list: in the order in which all() makes them
  std::size_t made_number_ = 0;
  std::unordered_set<std::string> names_;
  LayoutSearch layouts_;
};

}  // namespace

GpuFigures GpuFigures::of_capability(int sm) {
  GpuFigures figures;
  figures.sm = sm;
  // Shared memory limits by compute capability (CUDA C++ Programming Guide, technical specifications).
  const std::int64_t kilobytes = sm >= 100              ? 227
                                 : sm >= 90             ? 227
                                 : sm == 80 || sm == 87 ? 163
                                 : sm >= 86             ? 99
                                 : sm >= 75             ? 64
                                                        : 96;
  figures.shared_bytes_per_block = kilobytes * 1024;
  figures.shared_bytes_per_multiprocessor = (kilobytes + 1) * 1024;
  if (sm == 75) figures.threads_per_multiprocessor = 1024;
  if (sm == 86 || sm == 89 || sm >= 120) figures.threads_per_multiprocessor = 1536;
  return figures;
}

std::vector<Candidate> candidates(const ir::Program& program, const GpuFigures& figures, const std::string& wanted) {
  if (!moves(program)) return plain_candidates(program, figures);
  return Generator(program, figures).all(wanted);
}

Candidate best_candidate(const ir::Program& program, const GpuFigures& figures) {
  if (!moves(program)) return std::move(plain_candidates(program, figures).front());
  return Generator(program, figures).best();
}

}  // namespace ricci::plan
