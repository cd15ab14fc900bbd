// Schedules for a GPU. Every family of cuTT is one point of one space: a tile that reaches far enough along the axes
// that are contiguous on either side, staged in shared memory (tiled, packed, packed-split, by how much of each axis
// the tile holds), in a warp's registers, or not at all (copy, tiled-copy, plain).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <queue>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "plan/enumerate/chain_cuda.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/cut_tiles.hpp"
#include "plan/enumerate/layouts.hpp"
#include "plan/enumerate/library_products.hpp"
#include "plan/enumerate/mapped_contractions.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/enumerate/tile_enumeration.hpp"
#include "plan/enumerate/tile_schedules.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/cost_cuda.hpp"
#include "plan/models/moves_candidate.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using kernel::Moves;
using Tile = std::vector<std::int64_t>;

// Lengths in bytes of the runs of tiles: of staged tiles, from a sector on; of direct ones, to join short rows.
constexpr std::int64_t kStagedRuns[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};
constexpr std::int64_t kJoinedRuns[] = {256, 512, 1024, 2048};
constexpr std::int64_t kLeastJoinedBytes = 2048, kMostJoinedBytes = 24576;

std::int64_t volume(const Tile& tile) {
  std::int64_t product = 1;
  for (const auto n : tile) product *= n;
  return product;
}

class CudaCopyEnumerator {
 public:
  CudaCopyEnumerator(const ir::Program& program, const GpuModel& device)
      : program_(program),
        device_(device),
        sides_(program),
        model_(program, sides_, device),
        schedules_(program, sides_),
        layouts_(sides_, device.shared_bytes_per_block) {}

  std::vector<Candidate> all(const std::string& wanted) {
    find_direct();
    find_tiles();
    for (std::size_t tile = 0; tile < direct_.size(); ++tile) {
      make_direct(direct_[tile]);
      for (std::size_t k = 0; k < direct_[tile].moves.size(); ++k) add({0, tile, k});
    }
    for (std::size_t tile = 0; tile < stagings_.size(); ++tile) {
      auto& staging = stagings_[tile];
      find_whole_digits(staging);
      for (std::size_t way = 0; way < kWays; ++way) {
        for (const auto how : kHows) {
          if (!has(staging, way, how)) continue;
          for (std::size_t form = 0; form < orders(how); ++form) add({tile + 1, way, first_form(how) + form});
        }
      }
    }
    auto order = refine_leaders(false);
    for (auto& listed : list_) {
      if (listed.candidate.name == wanted) refine(listed);
    }
    std::vector<MovesCandidate> sorted;
    sorted.reserve(list_.size() + 1);
    for (const auto number : order) sorted.push_back(std::move(list_[number].candidate));
    add_shuffled_origin(sorted);
    add_order_of_both(sorted);
    std::vector<Candidate> candidates;
    candidates.reserve(sorted.size() + 1);
    for (auto& one : sorted) candidates.push_back(candidate_of(std::move(one), program_));
    return candidates;
  }

  /// The first of all(), without evaluating candidates that cannot be among the leaders.
  ///   bound_us  of times that are of use: without a schedule where none can be below it
  Candidate best(double bound_us) {
    find_direct();
    find_tiles();
    for (std::size_t tile = 0; tile < direct_.size(); ++tile)
      pending_.push({CostModel::least_memory_us(direct_[tile].cost), {0, tile, 0}, Seen::tile});
    for (std::size_t tile = 0; tile < stagings_.size(); ++tile) {
      pending_.push({least_us(stagings_[tile]), {tile + 1, 0, 0}, Seen::tile});
    }
    while (!pending_.empty() && pending_.top().least_us < bound_us && is_direct(pending_.top())) look_closer(pop());
    if (!pending_.empty() && pending_.top().least_us >= bound_us) {
      Candidate none;
      none.predicted_us = std::numeric_limits<double>::infinity();
      return none;
    }
    const auto order = refine_leaders(true);
    if (order.empty()) throw InternalError("a problem without a single schedule; please report it");
    std::vector<MovesCandidate> sorted;
    sorted.push_back(std::move(list_[order.front()].candidate));
    add_shuffled_origin(sorted);
    add_order_of_both(sorted);
    return candidate_of(std::move(sorted.front()), program_);
  }

 private:
  static constexpr std::size_t kRefined = 4;
  static constexpr int kWarps = 0, kNone = -1;
  /// Thread counts of a tile: two that divide its digits evenly, three powers of two, or warps with tiles of their own.
  static constexpr std::size_t kPowers = 2, kByWarps = 5, kWays = 6;
  static constexpr TileTransfer kHows[] = {TileTransfer::straight, TileTransfer::register_transpose,
                                           TileTransfer::skewed, TileTransfer::in_warp};

  /// A candidate's number: tile (0: not staged), thread count, form, in the order of all().
  using Number = std::array<std::size_t, 3>;

  /// A form is a transfer of a tile and an order of tiles: along the output or along the input.
  static std::size_t first_form(TileTransfer how) { return 2 * static_cast<std::size_t>(how); }
  static TileTransfer how_of(std::size_t form) { return static_cast<TileTransfer>(form / 2); }
  static std::size_t orders(TileTransfer how) {
    return how == TileTransfer::straight || how == TileTransfer::register_transpose ? 2 : 1;
  }

  /// A tile without a stage, and its schedules, which lack a name and are made on demand.
  struct Direct {
    Tile tile;
    TileCost cost;
    std::vector<Moves> moves = {};
  };

  /// A tile staged in shared memory or in a warp's registers. Its schedules lack the order of tiles, the number of
  /// threads and a name, and are made on demand.
  struct Staging {
    Tile tile;
    TileForms forms;
    TileCost cost;
    std::array<int, kWays> ways;  ///< numbers of threads, kWarps or kNone
    std::array<std::unique_ptr<Moves>, kTileTransfers> moves;
  };

  /// How much of the model a lower bound includes: the tile; its neighbours; a thread count and transfer; one schedule
  /// without the cache lines of its accesses; those too.
  enum class Seen : std::uint8_t { tile, neighbours, way, accesses, all };

  /// A set of candidates that are not evaluated yet, by a lower bound of their time and the first one's number.
  struct Pending {
    double least_us;  ///< lower bound for all of them
    Number first;
    Seen seen;
    bool operator<(const Pending& other) const { return least_us > other.least_us; }  // the least first
  };

  struct Listed {
    MovesCandidate candidate;
    Number number;
    bool refined = false;
  };

  /// Searches a conflict-free layout for the leader, again until one leads that has been searched, and for those behind
  /// it. Returns the numbers of the list, best first.
  ///   first_alone  only the first one is wanted
  std::vector<std::size_t> refine_leaders(bool first_alone) {
    std::vector<std::size_t> order;
    const auto sort = [&](std::size_t leaders) {
      lead(leaders);
      while (order.size() < list_.size()) order.push_back(order.size());
      // Equals stand in the order in which all() makes them.
      std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
        return std::tie(list_[x].candidate.predicted_us, list_[x].number) <
               std::tie(list_[y].candidate.predicted_us, list_[y].number);
      });
    };
    for (sort(1); !order.empty() && !list_[order.front()].refined; sort(1)) refine(list_[order.front()]);
    if (first_alone || order.empty()) return order;
    // Others stay behind the first, so that best() need not search their layouts: they are predicted to save less than
    // 0.01 % of a copy's time.
    const double first_us = list_[order.front()].candidate.predicted_us;
    sort(kRefined);
    for (std::size_t k = 1; k < std::min(kRefined, order.size()); ++k) {
      auto& listed = list_[order[k]];
      refine(listed);
      auto& us = listed.candidate.predicted_us;
      us = std::max(us, std::nextafter(first_us, 2 * first_us));
    }
    sort(1);
    return order;
  }

  /// Adds candidates until the `leaders` fastest of the list are the fastest of all.
  void lead(std::size_t leaders) {
    std::vector<double> least;  // max-heap of the `leaders` least times
    const auto see = [&](const Listed& listed) {
      least.push_back(listed.candidate.predicted_us);
      std::push_heap(least.begin(), least.end());
      if (least.size() <= leaders) return;
      std::pop_heap(least.begin(), least.end());
      least.pop_back();
    };
    for (const auto& listed : list_) see(listed);
    while (!pending_.empty() && (least.size() < leaders || pending_.top().least_us <= least.front())) {
      const auto next = pop();
      if (next.seen < Seen::all) {
        look_closer(next);
      } else if (add(next.first)) {
        see(list_.back());
      }
    }
  }

  Pending pop() {
    const auto next = pending_.top();
    pending_.pop();
    return next;
  }
  static bool is_direct(const Pending& some) { return some.first[0] == 0 && some.seen == Seen::tile; }

  /// Lower bound for all schedules of a tile.
  double least_us(const Staging& staging) {
    auto least_us = std::numeric_limits<double>::infinity();
    const auto range = block_threads(staging);
    for (const auto how : kHows) {
      if (!staging.cost.has(how)) continue;
      const auto threads = how == TileTransfer::in_warp
                               ? ThreadRange{kWarpThreads, kWarpThreads}
                               : ThreadRange{range.least, std::min<std::int64_t>(range.most, 512)};
      least_us = std::min(least_us, model_.least_us(staging.cost, how, threads));
    }
    return least_us;
  }

  /// Replaces a set of candidates by smaller sets with tighter bounds.
  void look_closer(const Pending& some) {
    const auto [tile, way, form] = some.first;
    if (some.seen == Seen::accesses) {
      Traffic traffic;
      pending_.push({model_.predict(moves(some.first), cost(some.first), traffic), some.first, Seen::all});
      return;
    }
    if (is_direct(some)) {
      make_direct(direct_[way]);
      for (std::size_t k = 0; k < direct_[way].moves.size(); ++k) look_at({0, way, k});
      return;
    }
    auto& staging = stagings_[tile - 1];
    if (some.seen == Seen::tile) {
      model_.see_neighbours(staging.cost, staging.tile, static_cast<int>(block_threads(staging).least));
      pending_.push({least_us(staging), some.first, Seen::neighbours});
    } else if (some.seen == Seen::neighbours) {
      find_whole_digits(staging);
      for (std::size_t threads_way = 0; threads_way < kWays; ++threads_way) {
        for (const auto how : kHows) {
          if (!has(staging, threads_way, how)) continue;
          const auto number = how == TileTransfer::in_warp ? kWarpThreads : staging.ways[threads_way];
          pending_.push(
              {model_.least_us(staging.cost, how, {number, number}), {tile, threads_way, first_form(how)}, Seen::way});
        }
      }
    } else {
      if (orders(how_of(form)) == 1) return look_at(some.first);
      const auto least_us = model_.least_us_of_both_orders(moves(some.first), staging.cost);
      for (std::size_t k = 0; k < least_us.size(); ++k)
        pending_.push({least_us[k], {tile, way, form + k}, Seen::accesses});
    }
  }

  void look_at(const Number& one) { pending_.push({model_.least_us(moves(one), cost(one)), one, Seen::accesses}); }

  /// The fastest axis is the same on both sides, but its rows are so short that a tile should join several.
  bool short_first() const { return sides_.extent(sides_.read_first()) * sides_.read_bytes() < 128; }

  /// The order of tiles in the launch: along the output, so that L2 completes sectors shared by neighbouring tiles, or
  /// along the input, where that side has the shorter runs.
  const std::vector<int>& launch_order(bool read) const { return read ? sides_.read_order : sides_.write_order; }

  TileCost& cost(const Number& number) {
    return number[0] > 0 ? stagings_[number[0] - 1].cost : direct_[number[1]].cost;
  }

  /// Valid until the next call for the same tile.
  Moves& moves(const Number& number) {
    const auto [tile, way, form] = number;
    if (tile == 0) return direct_[way].moves[form];
    auto& staging = stagings_[tile - 1];
    const auto how = how_of(form);
    auto& made = staging.moves[static_cast<std::size_t>(how)];
    if (!made) made = std::make_unique<Moves>(schedules_.carried(staging.tile, staging.forms, how));
    if (how == TileTransfer::in_warp) return *made;
    made->order = launch_order(form != first_form(how));
    made->threads = made->mapping.workers = made->stage->mapping.workers = staging.ways[way];
    return *made;
  }

  /// Whether a thread count and a transfer go together.
  static bool has(const Staging& staging, std::size_t way, TileTransfer how) {
    const int threads = staging.ways[way];
    return threads != kNone && (threads == kWarps) == (how == TileTransfer::in_warp) && staging.cost.has(how);
  }

  bool add(const Number& number) {
    Listed listed;
    listed.number = number;
    auto& candidate = listed.candidate;
    candidate.moves = moves(number);
    if (candidate.moves.shared_bytes(program_) > device_.shared_bytes_per_block) return false;
    candidate.predicted_us = model_.predict(candidate.moves, cost(number), candidate.traffic);
    if (candidate.traffic.tiles > kernel::kMostBlocks) return false;
    candidate.name = name(candidate.moves, number[2]);
    list_.push_back(std::move(listed));
    return true;
  }

  /// Tiles without a stage, smallest first: along the output, and along both sides where both begin with the same axis.
  std::vector<Tile> direct_tiles() const {
    std::vector<Tile> tiles;
    const auto see = [&](Tile tile) {
      if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(std::move(tile));
    };
    for (const std::int64_t target : {256, 512, 1024, 2048, 4096}) {
      const auto wide = std::max<std::int64_t>(16 / sides_.write_bytes(), 1);
      Tile tile = sides_.run_extents(false, target, wide);
      // Fill up with whole outer axes while the tile is too small to feed a block.
      for (const auto q : sides_.write_order) {
        if (volume(tile) * 2 > target) break;
        auto& n = tile[static_cast<std::size_t>(q)];
        if (n == 1) n = std::min(sides_.extent(q), std::max<std::int64_t>(target / volume(tile), 1));
      }
      see(std::move(tile));
    }
    if (sides_.load >= 0 && sides_.same_first()) {
      for (auto& tile : enumerate_tiles(sides_, kJoinedRuns, kMostJoinedBytes)) {
        if (volume(tile) * sides_.write_bytes() >= kLeastJoinedBytes) see(std::move(tile));
      }
    }
    return tiles;
  }

  void find_direct() {
    for (auto& tile : program_.indices.empty() ? std::vector<Tile>(1) : direct_tiles()) {
      auto cost = model_.tile_cost(tile);
      direct_.push_back({std::move(tile), std::move(cost)});
    }
  }

  void make_direct(Direct& direct) {
    direct.moves = schedules_.direct(direct.tile, direct.cost.points, &direct == &direct_.front());
  }

  std::string tile_text(const Tile& tile) const {
    std::string text;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      if (tile[q] > 1) text.append(" ").append(program_.indices[q].name).append(std::to_string(tile[q]));
    }
    return text;
  }

  /// Staged tiles, without the thread counts that must be searched for.
  void find_tiles() {
    if (sides_.load < 0 || program_.indices.size() < 2) return;
    if (sides_.same_first() && !short_first()) return;
    auto tiles = enumerate_tiles(sides_, kStagedRuns, device_.shared_bytes_per_block / 2);
    stagings_.reserve(tiles.size());
    for (auto& tile : tiles) {
      Staging staging;
      staging.forms = schedules_.forms(tile);
      staging.cost = model_.tile_cost(tile, staging.forms);
      staging.tile = std::move(tile);
      staging.ways.fill(kNone);
      const auto range = block_threads(staging);
      for (auto way = kPowers; way < kByWarps; ++way) {
        const int threads = 128 << (way - kPowers);
        if (threads >= range.least && threads <= range.most) staging.ways[way] = threads;
      }
      if (staging.forms.in_warp) staging.ways[kByWarps] = kWarps;
      stagings_.push_back(std::move(staging));
    }
  }

  void find_whole_digits(Staging& staging) const {
    const auto threads = whole_digit_threads(mappings(staging), block_threads(staging));
    std::copy(threads.begin(), threads.end(), staging.ways.begin());
  }

  /// The mappings of both sides, without workers.
  std::array<kernel::ThreadMapping, 2> mappings(const Staging& staging) const {
    return {{{sides_.digits(true, staging.tile), staging.forms.read_vector, 1},
             {sides_.digits(false, staging.tile), staging.forms.write_vector, 1}}};
  }

  /// Enough threads to hold the tile in registers during the copy, and at most twice as many as there are accesses.
  ThreadRange block_threads(const Staging& staging) const {
    const auto points = staging.cost.points, per_thread = kStagedBytesPerThread / sides_.read_bytes();
    return {std::max<std::int64_t>((points + per_thread - 1) / per_thread, kFewestThreads + 1),
            points / std::max(staging.forms.read_vector, staging.forms.write_vector) * 2 + 1};
  }

  std::string name(const Moves& moves, std::size_t form) const {
    const auto text = tile_text(moves.tile);
    const int vector = moves.mapping.vector;
    if (!moves.stage) {
      const char* family = (sides_.load >= 0 && !sides_.same_first()) || moves.tile.empty() ? "plain"
                           : moves.tile.size() == 1                                         ? "copy"
                                                                                            : "tiled-copy";
      return fmt::format("{}{} v{} t{}", family, text, vector, moves.threads);
    }
    const auto& read = moves.stage->mapping;
    const auto vectors = fmt::format("{} v{}{}{}", text, read.vector, read.rows > 1 ? 'x' : '/', vector);
    if (moves.stage->memory == kernel::StageMemory::registers) return "warp" + vectors;
    const char* how = moves.skew.on() ? " skewed" : form % 2 == 1 ? " along A" : "";
    return fmt::format("{}{} t{}{}", family(moves.tile), vectors, moves.threads, how);
  }

  const char* family(const Tile& tile) const {
    int axes = 0, parts = 0;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      axes += tile[q] > 1;
      parts += tile[q] > 1 && tile[q] < program_.indices[q].extent;
    }
    return axes == 2 && !sides_.same_first() ? "tiled" : parts == 0 ? "packed" : "packed-split";
  }

  double predict(const Listed& listed, Traffic& traffic) {
    return model_.predict(listed.candidate.moves, cost(listed.number), traffic);
  }

  /// For a tile that is not in stagings_.
  double predict(const Moves& moves, Traffic& traffic) {
    auto cost = model_.tile_cost(moves.tile, schedules_.forms(moves.tile));
    return model_.predict(moves, cost, traffic);
  }

  /// Gives a staged candidate the layout with the fewest wavefronts.
  void refine(Listed& listed) {
    if (listed.refined) return;
    listed.refined = true;
    auto& moves = listed.candidate.moves;
    auto& traffic = listed.candidate.traffic;
    if (!moves.stage || moves.stage->memory != kernel::StageMemory::shared) return;
    const auto& found = layouts_.best(moves);
    moves.stage->layout = found.layout;
    traffic.bank_wavefronts = found.wavefronts;
    traffic.ideal_wavefronts = found.ideal;
    listed.candidate.predicted_us = predict(listed, traffic);
  }

  /// Algorithm 1 of the cuTT paper for the origin, as an alternative of the leader: literals need one division per
  /// outer axis and warp, the butterfly ten shuffles and a table look-up for any number of axes.
  void add_shuffled_origin(std::vector<MovesCandidate>& sorted) {
    if (sorted.empty()) return;
    auto shuffled = sorted.front();
    int outer = 0;
    for (std::size_t q = 0; q < shuffled.moves.tile.size(); ++q) {
      outer += shuffled.moves.tile[q] < program_.indices[q].extent;
    }
    if (outer < 2 || shuffled.moves.threads % 32 != 0) return;
    shuffled.moves.origin = kernel::Origin::shuffle;
    shuffled.name += " shuffled";
    shuffled.predicted_us = predict(shuffled.moves, shuffled.traffic);
    insert(sorted, std::move(shuffled));
  }

  /// The leaders with tiles ordered along both sides alternately. Only that of the first leader may become first, so
  /// that best() need not know the others.
  void add_order_of_both(std::vector<MovesCandidate>& sorted) {
    std::vector<int> order;
    for (std::size_t k = 0; k < sides_.write_order.size(); ++k) {
      for (const int q : {sides_.write_order[k], sides_.read_order[k]}) {
        if (std::find(order.begin(), order.end(), q) == order.end()) order.push_back(q);
      }
    }
    std::vector<MovesCandidate> more;
    std::set<std::string> names;
    bool first = true;
    for (std::size_t k = 0; k < std::min(kRefined, sorted.size()); ++k) {
      auto both = sorted[k];
      auto& moves = both.moves;
      if (moves.origin == kernel::Origin::shuffle) continue;
      const bool leads = std::exchange(first, false);
      if (!moves.stage || moves.order == order) continue;
      constexpr std::string_view kAlongRead = " along A";
      if (both.name.ends_with(kAlongRead)) both.name.resize(both.name.size() - kAlongRead.size());
      moves.order = order;
      both.name += " along both";
      if (!names.insert(both.name).second) continue;
      const double us = predict(moves, both.traffic);
      both.predicted_us = leads ? us : std::max(us, both.predicted_us);
      more.push_back(std::move(both));
    }
    for (auto& candidate : more) insert(sorted, std::move(candidate));
  }

  static void insert(std::vector<MovesCandidate>& sorted, MovesCandidate candidate) {
    const auto place = std::upper_bound(sorted.begin(), sorted.end(), candidate,
                                        [](const auto& x, const auto& y) { return x.predicted_us < y.predicted_us; });
    sorted.insert(place, std::move(candidate));
  }

  const ir::Program& program_;
  const GpuModel& device_;
  Sides sides_;
  CostModel model_;
  TileSchedules schedules_;
  std::deque<Listed> list_;
  std::vector<Direct> direct_;
  std::vector<Staging> stagings_;
  std::priority_queue<Pending> pending_;
  LayoutSearch layouts_;
};

/// Plain schedules, and those of contractions.
std::vector<Candidate> computing_candidates(const ir::Program& program, const GpuModel& device) {
  auto list = with_maps(program, device, contraction_candidates(program, device));
  if (list.empty()) list = group_candidates(program, device);
  if (list.empty()) list = chain_candidates(program, device);
  constexpr std::size_t kPlain = 4, kPlainAlone = 24;  // beside others, of those that are good for anything
  for (auto& candidate : plain_candidates(program, device, list.empty() ? kPlainAlone : kPlain))
    list.push_back(std::move(candidate));
  return fastest(std::move(list));
}

WeighedCandidate best_computing(const ir::Program& program, const GpuModel& device, double bound_us, CutTiles& known) {
  auto contraction = best_contraction(program, device, bound_us, &known);
  if (auto groups = contraction ? std::vector<Candidate>() : group_candidates(program, device); !groups.empty())
    contraction = WeighedCandidate{std::move(groups.front()), {}};
  if (auto chains = contraction ? std::vector<Candidate>() : chain_candidates(program, device); !chains.empty())
    contraction = WeighedCandidate{std::move(chains.front()), {}};
  const double bound = contraction ? std::min(contraction->predicted_us, bound_us) : bound_us;
  auto plain = plain_candidates(program, device, 1, bound);
  if (!contraction && plain.empty() && std::isfinite(bound_us)) {
    WeighedCandidate none;
    none.predicted_us = std::numeric_limits<double>::infinity();
    return none;
  }
  if (contraction && (plain.empty() || contraction->predicted_us <= plain.front().predicted_us))
    return std::move(*contraction);
  WeighedCandidate best{choose(plain, {}), {}};
  if (contraction) best.gathers = contraction->gathers;
  return best;
}

}  // namespace

std::vector<Candidate> candidates(const ir::Program& program, const GpuModel& device, const std::string& wanted) {
  if (!is_copy(program)) return merged(computing_candidates(program, device), library_candidates(program, device));
  return CudaCopyEnumerator(program, device).all(wanted);
}

WeighedCandidate weighed_candidate(const ir::Program& program, const GpuModel& device, double bound_us,
                                   CutTiles& known) {
  if (!is_copy(program)) {
    auto best = best_computing(program, device, bound_us, known);
    auto others = library_candidates(program, device);
    if (others.empty() || others.front().predicted_us >= best.predicted_us) return best;
    others.front().gathers = best.gathers;
    return {std::move(others.front()), {}};
  }
  return {CudaCopyEnumerator(program, device).best(bound_us), {}};
}

Candidate best_candidate(const ir::Program& program, const GpuModel& device, double bound_us) {
  CutTiles known;
  return weighed_candidate(program, device, bound_us, known).whole();
}

}  // namespace ricci::plan
