// Schedules of contractions for a CPU: register tiles over the axes that suit them, operands packed or read in place,
// blocks for the caches, tasks for the threads.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_sides.hpp"
#include "plan/models/cost_contraction_cpu.hpp"

namespace ricci::plan {
namespace {

using namespace gett;

/// Register tiles that were made before: fewer rows may come to the same.
class KnownTiles {
 public:
  /// Whether it is none of these, and one of them from now on.
  bool insert(const Blocking& b) {
    const auto from = sizes_.size();
    for (const std::int64_t one : {b.lanes, std::int64_t{b.pack_rows}, std::int64_t{b.pack_columns}})
      sizes_.push_back(one);
    for (const auto* axes : {&b.rows, &b.columns}) {
      for (const auto& axis : *axes) sizes_.push_back(axis.tile);
    }
    const auto length = static_cast<std::ptrdiff_t>(sizes_.size() - from);
    const auto added = sizes_.begin() + static_cast<std::ptrdiff_t>(from);
    for (auto one = sizes_.begin(); one != added; one += length) {
      if (!std::equal(one, one + length, added)) continue;
      sizes_.resize(from);
      return false;
    }
    return true;
  }

 private:
  std::vector<std::int64_t> sizes_;  // of all, one after the other
};

class ContractionEnumerator : public ContractionSides {
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
    for (const auto& tile : register_tiles()) {
      for (auto& each : blocked(tile)) found.push_back(std::move(each));
    }
    return found;
  }

  /// The first of those that take the least time, where that is less than `bound_us`: tiles that cannot take less than
  /// what was found have no blocks.
  std::optional<Found> best(std::int64_t depth, double bound_us) {
    make_ways(depth);
    const auto tiles = register_tiles();
    std::vector<std::pair<double, std::size_t>> by_least;
    for (const auto& tile : tiles) by_least.emplace_back(tile.least_us, by_least.size());
    std::sort(by_least.begin(), by_least.end());
    std::optional<Found> best;
    std::size_t first = 0;  // the tile of that
    for (const auto& [least, k] : by_least) {
      if (least > bound_us) break;
      for (auto& each : blocked(tiles[k])) {
        const bool before = best && k < first && each.predicted_us == best->predicted_us;
        if (each.predicted_us >= bound_us && !before) continue;
        bound_us = each.predicted_us;
        first = k;
        best = std::move(each);
      }
    }
    return best;
  }

  /// What any of them takes at least, however many terms are summed in one go.
  double least() {
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      const auto [pack_columns, pack_rows] = kPacks[k];
      if (!packs_joined(pack_columns, pack_rows)) continue;
      ways_[k] = Blocking{rows_, columns_, depth_, 1, pack_rows, pack_columns, Blocks::near};
      for (auto& axis : ways_[k]->depth) axis.tile = axis.extent;
    }
    double least = std::numeric_limits<double>::infinity();
    for (const auto& tile : register_tiles(true)) least = std::min(least, tile.least_us);
    return least;
  }

  Candidate candidate(const Found& found) const {
    const auto& b = found.blocking;
    Candidate candidate;
    candidate.predicted_us = found.predicted_us;
    candidate.schedule.name = name(found);
    candidate.schedule.directives = directives(b);
    candidate.products = {counts_of(b, problem_)};
    candidate.parts = time_parts(b, problem_, device_);
    candidate.note = round_text(b, problem_, device_);
    candidate.traffic.occupancy = 1;
    candidate.traffic.tiles = product(problem_.batch, extent_of) * b.row_tasks * b.column_tasks;
    return candidate;
  }

  std::string name(const Found& found) const { return ContractionSides::name(found.blocking); }

  /// How many terms are summed in one go, at most, where the model is one of a single thread (CpuModel::alone()), and
  /// what that is predicted to take.
  struct Depth {
    double us = std::numeric_limits<double>::infinity();
    std::int64_t terms = 320;
  };

  /// Better than `best`, or that. Columns that few rows multiply may be read in place.
  Depth summed_in_one_go(Depth best) const {
    constexpr std::int64_t kFewRows = 4;
    if (depth_.empty()) return best.us > 0 ? Depth{0, 1} : best;
    best = summed_in_one_go(best, true);
    const bool in_place = product(rows_, extent_of) <= kFewRows && !convert_columns_ && packs_joined(false, true);
    return in_place ? summed_in_one_go(best, false) : best;
  }

 private:
  Depth summed_in_one_go(Depth best, bool pack_columns) const {
    Blocking tile{rows_, columns_, depth_, 1, !rows_.empty(), pack_columns, Blocks::near};
    struct Sum {
      std::int64_t terms;
      Axes depth;
    };
    std::vector<Sum> sums;
    for (const std::int64_t terms : {8, 24, 48, 96, 192, 320}) {
      if (!make_depth(tile, terms) || !sums_as_packed(tile, terms)) continue;
      const bool known =
          std::any_of(sums.begin(), sums.end(), [&](const Sum& sum) { return same(sum.depth, tile.depth); });
      if (!known) sums.push_back({terms, tile.depth});
    }
    struct Tile {
      std::int64_t lanes, vectors, rows;
    };
    std::vector<Tile> tiles;
    std::vector<std::pair<double, std::size_t>> by_least;  // of a tile with each of the sums
    KnownTiles known;
    for_each_register_tile([&](std::int64_t lanes, std::int64_t vectors, std::int64_t rows) {
      tile.lanes = lanes;
      if (!make_tiles(tile, vectors, rows) || !known.insert(tile)) return;
      make_whole(tile);
      for (const auto& sum : sums) {
        tile.depth = sum.depth;
        by_least.emplace_back(least_us(tile, problem_, device_), by_least.size());
      }
      tiles.push_back({lanes, vectors, rows});
    });
    std::sort(by_least.begin(), by_least.end());
    auto first = by_least.size();  // none of these yet
    for (const auto& [least, k] : by_least) {
      if (least > best.us) break;
      const auto& [lanes, vectors, rows] = tiles[k / sums.size()];
      const auto& sum = sums[k % sums.size()];
      tile.lanes = lanes;
      make_tiles(tile, vectors, rows);
      tile.depth = sum.depth;
      make_blocks(tile, device_.l2_bytes / 2, kManyTasks);
      const auto us = predicted_us(tile, problem_, device_);
      if (us > best.us || (us == best.us && k > first) || (us == best.us && first == by_least.size())) continue;
      best = {us, sum.terms};
      first = k;
    }
    return best;
  }

  /// f(lanes, vectors, rows at most) of the register tiles that suit the columns' fastest index.
  template <class F>
  void for_each_register_tile(F f) const {
    // Of the longest numbers the shortest vectors have one: two of them are computed as one of two.
    const auto widest = std::max<std::int64_t>(device_.vector_bytes / problem_.size, 2);
    const auto halves = parts(widest * problem_.size, device_.vector_bytes);
    const auto registers = device_.vector_bytes >= 64 ? 31 : 15;  // but one, for an element of all lanes
    for (auto lanes = widest; lanes >= std::max<std::int64_t>(widest / 4, 2); lanes /= 2) {
      if (lanes < widest && lane_extent() >= 2 * lanes && !is_worth_narrow(lanes)) continue;
      if (across_) {
        // Vectors of several values of the result's fastest index: as many neighbours are written for each lane.
        for (const std::int64_t vectors : {1, 2, 3, 4, 6, 8}) {
          const auto most = (registers - vectors) / vectors;
          for (const auto rows : {most, most / 2}) {
            if (rows >= 1) f(lanes, vectors, std::min<std::int64_t>(rows, 16));
          }
        }
        continue;
      }
      for (const std::int64_t vectors : {1, 2, 3, 4, 5, 6}) {
        // More than the fastest index has are those of as many values of the one before it. Of lanes that both operands
        // have there is one vector, for as many values of the other columns, and a row takes one to read it.
        const auto along = lanes_of_both() ? 1 : parts(lane_extent(), lanes);
        if (vectors > along && (columns_.size() == 1 || vectors % along != 0)) continue;
        // A row of complex numbers has sums of its real and of its imaginary parts. Without AVX, and so without fused
        // multiply-adds, its products take registers.
        const auto held = vectors * halves;
        const bool apart = lanes_of_both() || (problem_.complex && device_.vector_bytes < 32);
        const auto most = (registers - held) / (held + (apart ? 1 : 0)) / (problem_.complex ? 2 : 1);
        for (const auto rows : {most, most * 2 / 3, most / 2}) {
          if (rows >= 1 && rows <= 16) f(lanes, vectors, rows);
        }
        if (depth_.empty()) f(lanes, vectors, 1);  // rows share nothing but the loads of columns
      }
    }
  }

  /// What a register tile packs: both operands, or one, or none.
  static constexpr std::array<std::pair<bool, bool>, 4> kPacks{
      {{true, true}, {true, false}, {false, true}, {false, false}}};  // columns, rows

  /// A register tile with both operands packed, or those ways in which some are read in place.
  struct RegisterTile {
    std::int64_t lanes, vectors, rows;
    std::array<bool, kPacks.size()> ways = {};
    double least_us = std::numeric_limits<double>::infinity();  ///< what each of these takes at least
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

  std::vector<RegisterTile> register_tiles(bool any_sum = false) {
    std::vector<RegisterTile> tiles;
    KnownTiles known;
    for_each_register_tile([&](std::int64_t lanes, std::int64_t vectors, std::int64_t rows) {
      for (const bool in_place : {false, true}) {
        RegisterTile tile{lanes, vectors, rows};
        for (std::size_t k = 0; k < kPacks.size(); ++k) {
          if (!ways_[k] || (k == 0) == in_place) continue;
          auto& way = *ways_[k];
          way.lanes = lanes;
          if (!make_tiles(way, vectors, rows)) continue;
          if (!known.insert(way)) continue;
          make_whole(way);
          tile.ways[k] = true;
          tile.least_us = std::min(tile.least_us, least_us(way, problem_, device_, any_sum));
        }
        if (tile.least_us < std::numeric_limits<double>::infinity()) tiles.push_back(tile);
      }
    });
    return tiles;
  }

  /// Every way to block a register tile; rows that are packed make no other blocks.
  std::vector<Found> blocked(const RegisterTile& tile) {
    std::vector<Found> found;
    std::array<std::array<std::optional<Blocking>, 3>, 2> known;
    for (std::size_t k = 0; k < kPacks.size(); ++k) {
      if (!tile.ways[k]) continue;
      auto& way = *ways_[k];
      way.lanes = tile.lanes;
      make_tiles(way, tile.vectors, tile.rows);
      for (const auto blocks : {Blocks::near, Blocks::rows_of_result, Blocks::wide}) {
        if (lanes_of_both() && blocks != Blocks::near) continue;  // one way to cut them
        if (across_ && blocks == Blocks::rows_of_result) continue;
        if (streams_rows(way)) {
          if (blocks != Blocks::near) continue;
          auto b = way;
          make_blocks(b, device_.l2_bytes / 2, kManyTasks);
          make_streams(b);
          const auto us = predicted_us(b, problem_, device_);
          found.push_back({us, std::move(b)});
          continue;
        }
        auto& same = known[way.pack_columns ? 1 : 0][static_cast<std::size_t>(blocks)];
        if (!same) {
          same = way;
          same->blocks = blocks;
          const auto share = device_.cache_bytes / 2 / std::max(device_.threads, 1);
          const auto room = blocks == Blocks::wide ? std::min<std::int64_t>(share, 8 << 20) : device_.l2_bytes / 2;
          make_blocks(*same, room, kManyTasks);
          if (points() >= kLongRun && !lanes_of_both() && !across_) make_fewer_tasks(*same, room);
        }
        auto b = *same;
        b.pack_rows = way.pack_rows;
        b.pack_columns = way.pack_columns;
        const auto us = predicted_us(b, problem_, device_);
        found.push_back({us, std::move(b)});
      }
    }
    return found;
  }

  static bool same(const Axes& x, const Axes& y) {
    return std::equal(x.begin(), x.end(), y.begin(), [](const Axis& a, const Axis& b) { return a.tile == b.tile; });
  }

  std::array<std::optional<Blocking>, kPacks.size()> ways_;  ///< register tiles and blocks are made in their places
};

}  // namespace

std::optional<std::int64_t> summed_in_one_go(const ir::Program& program, const CpuModel& device) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return std::nullopt;
  const auto alone = device.alone();
  ContractionEnumerator::Depth depth;
  for (const auto lanes : {Lanes::result, Lanes::first, Lanes::second}) {
    ContractionEnumerator way(program, *contraction, alone);
    const bool suits = way.suits(lanes);
    if (!suits && lanes == Lanes::result) return std::nullopt;
    if (suits) depth = way.summed_in_one_go(depth);
  }
  return depth.terms;
}

namespace {

/// f(enumerator) of all ways in which vectors lie, and of joined axes where those are worth it.
template <class F>
void each_way(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device, F f) {
  for (const auto lanes : {Lanes::result, Lanes::first, Lanes::second}) {
    ContractionEnumerator way(program, contraction, device);
    if (!way.suits(lanes)) continue;
    auto joined = way;
    f(std::move(way));
    if (lanes == Lanes::result && joined.join()) f(std::move(joined));
  }
}

/// f(enumerator, what it found) of the best of a contraction, where it takes less than `bound_us`.
template <class F>
void with_best(const ir::Program& program, const CpuModel& device, std::int64_t terms, double bound_us, F f) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return;
  std::optional<ContractionEnumerator> best_way;
  std::optional<ContractionEnumerator::Found> best;
  each_way(program, *contraction, device, [&](ContractionEnumerator way) {
    auto found = way.best(terms, bound_us);
    if (!found) return;
    bound_us = found->predicted_us;
    best = std::move(found);
    best_way.emplace(std::move(way));
  });
  if (best) f(*best_way, *best);
}

}  // namespace

std::optional<Candidate> best_contraction(const ir::Program& program, const CpuModel& device, std::int64_t terms,
                                          double bound_us) {
  std::optional<Candidate> best;
  with_best(program, device, terms, bound_us,
            [&](const ContractionEnumerator& way, const ContractionEnumerator::Found& found) {
              best = way.candidate(found);
            });
  return best;
}

double least_contraction_us(const ir::Program& program, const CpuModel& device) {
  const auto contraction = kernel::contraction_of(program);
  double least = std::numeric_limits<double>::infinity();
  if (!contraction) return least;
  each_way(program, *contraction, device, [&](ContractionEnumerator way) { least = std::min(least, way.least()); });
  return least;
}

std::optional<double> best_contraction_us(const ir::Program& program, const CpuModel& device, std::int64_t terms,
                                          double bound_us) {
  std::optional<double> us;
  with_best(program, device, terms, bound_us,
            [&](const ContractionEnumerator&, const ContractionEnumerator::Found& found) { us = found.predicted_us; });
  return us;
}

std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device, std::size_t most) {
  const auto terms = summed_in_one_go(program, device);
  if (!terms) return {};
  if (most == 1) {
    auto best = best_contraction(program, device, *terms);
    return best ? std::vector<Candidate>{std::move(*best)} : std::vector<Candidate>();
  }
  const auto contraction = kernel::contraction_of(program);
  std::vector<ContractionEnumerator> ways;
  std::vector<std::pair<ContractionEnumerator::Found, std::size_t>> found;
  each_way(program, *contraction, device, [&](ContractionEnumerator way) {
    for (auto& each : way.all(*terms)) found.emplace_back(std::move(each), ways.size());
    ways.push_back(std::move(way));
  });
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return found[x].first.predicted_us < found[y].first.predicted_us;
  });
  std::vector<Candidate> list;
  std::set<std::string> names;
  for (const auto k : order) {
    const auto& way = ways[found[k].second];
    if (!names.insert(way.name(found[k].first)).second) continue;
    list.push_back(way.candidate(found[k].first));
    if (list.size() == most) break;
  }
  return list;
}

}  // namespace ricci::plan
