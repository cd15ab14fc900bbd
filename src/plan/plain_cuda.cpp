// Plain schedules for a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "plan/plain.hpp"
#include "plan/together.hpp"
#include "plan/work.hpp"

namespace ricci::plan {
namespace {

using ir::Schedule;

constexpr std::int64_t kLaunchLimit = std::int64_t{1} << 31;

/// How threads of a block lie along the free indices.
struct Mapping {
  std::vector<std::int64_t> positions;  ///< per index
  std::vector<int> digits;              ///< indices, fastest first
  int threads = 256;
  int team = 1, items = 1;
};

class Generator {
 public:
  Generator(const ir::Program& program, const GpuFigures& figures)
      : program_(program), figures_(figures), work_(work_per_point(program)) {
    for (const auto& job : work_.operations)
      sums_ = sums_ || program.nodes[static_cast<std::size_t>(job.node)].kind == ir::NodeKind::reduce;
    // Threads of a block share a multiprocessor's registers: long straight code gets fewer of them.
    heavy_ = program.nodes.size() > 400;
    // A team combines what its threads hold in an order of its own.
    for (const auto& node : program.nodes) {
      const bool combines = node.kind == ir::NodeKind::reduce || node.kind == ir::NodeKind::scan;
      if (combines && program.exact && !ir::exactly_associates(node.op, node.type)) teams_ = false;
    }
  }

  std::vector<Candidate> run() {
    for (const auto& mapping : mappings()) add_mapping(mapping);
    return fastest(std::move(list_));
  }

 private:
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  std::vector<Mapping> mappings() const {
    std::vector<Mapping> list;
    const auto fill = [&](const std::vector<int>& order, std::vector<std::int64_t> most, int threads) {
      Mapping mapping;
      mapping.threads = threads;
      mapping.positions.assign(program_.indices.size(), 1);
      std::int64_t left = threads;
      for (std::size_t k = 0; k < order.size() && left > 1; ++k) {
        auto n = std::min({extent(order[k]), left, k < most.size() ? most[k] : left});
        if (n <= 1) continue;
        mapping.positions[static_cast<std::size_t>(order[k])] = n;
        mapping.digits.push_back(order[k]);
        left /= n;
      }
      std::int64_t used = 1;
      for (const auto n : mapping.positions) used *= n;
      mapping.threads = static_cast<int>((used + 31) / 32 * 32);
      list.push_back(std::move(mapping));
    };
    const auto& order = work_.order;
    for (const int threads : heavy_ ? std::vector<int>{64, 128} : std::vector<int>{128, 256}) fill(order, {}, threads);
    if (work_.sequential) {
      add_sequential_teams(list);
      return list;
    }
    if (!sums_) return list;
    for (std::size_t k = 1; k < order.size(); ++k) {
      auto turned = order;
      std::rotate(turned.begin() + 1, turned.begin() + static_cast<std::ptrdiff_t>(k),
                  turned.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      for (const std::int64_t side : {8, 16, 32}) {
        if (extent(order[0]) < side / 2) continue;
        fill(turned, {side}, 256);
        fill(turned, {side, 128 / side}, 128);
      }
    }
    for (const int team : {32, 256}) {
      if (teams_ && reduced_points() >= team) list.push_back(team_mapping(team));
    }
    return list;
  }

  /// One point per team: a block, or some warps of one.
  Mapping team_mapping(int team) const {
    Mapping mapping;
    mapping.positions.assign(program_.indices.size(), 1);
    mapping.threads = team;
    mapping.team = team;
    if (team == 32 && !work_.order.empty() && extent(work_.order[0]) >= 2) {
      const auto n = std::min<std::int64_t>(extent(work_.order[0]), 8);
      mapping.positions[static_cast<std::size_t>(work_.order[0])] = n;
      mapping.digits.push_back(work_.order[0]);
      mapping.threads = static_cast<int>(32 * n);
    }
    return mapping;
  }

  /// Scans and compactions by teams. Threads take several values at a time where those are cheap to come by: so much is
  /// under way at once.
  void add_sequential_teams(std::vector<Mapping>& list) const {
    if (!teams_) return;
    constexpr std::int64_t kBytes = 64;  // of one thread's values
    constexpr std::size_t kLight = 40;
    std::int64_t most = program_.nodes.size() > kLight || sums_ ? 1 : 16;
    for (const auto& statement : program_.statements) {
      most = std::min(most, kBytes / size_of(program_.nodes[static_cast<std::size_t>(statement.value)].type));
    }
    for (const int team : {32, 256, 1024}) {
      for (const std::int64_t items : std::set<std::int64_t>{1, std::min<std::int64_t>(most, 4), most}) {
        if (team * items >= 2 * std::max<std::int64_t>(longest_run(), 32)) continue;
        auto mapping = team_mapping(team);
        mapping.items = static_cast<int>(items);
        list.push_back(std::move(mapping));
      }
    }
  }

  /// Whether neighbouring threads, each with a point of its own, write far apart.
  bool scattered(const Mapping& mapping) const {
    if (mapping.digits.empty()) return false;
    const auto& statement = program_.statement();
    const auto stride = std::abs(statement.offset.coefficient[static_cast<std::size_t>(mapping.digits.front())]);
    const auto type = program_.buffers[static_cast<std::size_t>(statement.buffer)].type;
    const bool compacts = program_.nodes[static_cast<std::size_t>(statement.value)].kind == ir::NodeKind::compact;
    constexpr std::int64_t kSectorBytes = 32;
    return compacts || stride * size_of(type) >= kSectorBytes;
  }

  /// Extent of the longest scan or compaction.
  std::int64_t longest_run() const {
    std::int64_t longest = 0;
    for (const auto& node : program_.nodes) {
      if (node.kind == ir::NodeKind::scan || node.kind == ir::NodeKind::compact)
        longest = std::max(longest, extent(node.over[0]));
    }
    return longest;
  }

  double reduced_points() const {
    double most = 1;
    for (const auto& job : work_.operations) most = std::max(most, job.times);
    return most;
  }

  /// Sectors that a warp's first lanes touch with one load.
  double sectors(const Mapping& mapping, const Job& job) const {
    const auto& load = program_.nodes[static_cast<std::size_t>(job.node)];
    std::set<std::int64_t> touched;
    for (int lane = 0; lane < 32; ++lane) {
      std::int64_t element = 0;
      if (mapping.team > 1) {
        // Members step along the last index of the outermost reduction; its stride decides.
        for (std::size_t q = program_.indices.size(); q-- > 0;) {
          if (work_.free[q] || !job.around[q]) continue;
          element = lane * load.offset.coefficient[q];
          break;
        }
      } else {
        std::int64_t rest = lane;
        for (const auto q : mapping.digits) {
          const auto n = mapping.positions[static_cast<std::size_t>(q)];
          element += rest % n * load.offset.coefficient[static_cast<std::size_t>(q)];
          rest /= n;
        }
      }
      touched.insert(element * size_of(load.type) >> 5);
    }
    return static_cast<double>(touched.size());
  }

  void add_mapping(const Mapping& mapping) {
    if (mapping.threads > 1024) return;
    std::vector<double> cost;  // cycles of the load unit per warp and load
    for (const auto& job : work_.loads) cost.push_back(std::max(1.0, sectors(mapping, job) / 4));
    add(mapping, {}, cost);
    if (!sums_ || mapping.team > 1 || work_.sequential) return;
    static constexpr std::array<Counts, 8> kCounts{{{2, 1}, {4, 1}, {8, 1}, {2, 2}, {4, 2}, {2, 4}, {4, 4}, {3, 3}}};
    for_each_together(
        work_.order, kCounts,
        [&](int q, std::int64_t count) { return mapping.positions[static_cast<std::size_t>(q)] * count <= extent(q); },
        [&](const Together& together) { add(mapping, together, cost); });
  }

  void add(const Mapping& mapping, const Together& together, const std::vector<double>& cost) {
    const auto count = program_.indices.size();
    const auto each = [&](std::size_t q) { return together.each(q); };
    double tiles = 1;
    for (std::size_t q = 0; q < count; ++q) {
      if (!work_.free[q]) continue;
      const auto tile = mapping.positions[q] * each(q);
      tiles *= std::ceil(static_cast<double>(program_.indices[q].extent) / static_cast<double>(tile));
    }
    if (tiles >= static_cast<double>(kLaunchLimit)) return;
    const auto values = [&](const Job& job) {
      double n = job.times;
      for (std::size_t q = 0; q < count; ++q) n *= job.depends[q] ? static_cast<double>(each(q)) : 1;
      return n;
    };
    double load_cycles = 0, math_cycles = 0;
    for (std::size_t k = 0; k < work_.loads.size(); ++k) load_cycles += values(work_.loads[k]) * cost[k];
    for (const auto& job : work_.operations) {
      const auto type = program_.nodes[static_cast<std::size_t>(job.node)].type;
      const bool wide = size_of(type) == 8 || is_complex(type);
      math_cycles += values(job) * (wide ? 0.5 : 0.25) * (is_complex(type) ? 4 : 1);
    }
    const double warps = std::ceil(mapping.threads / 32.0);
    double cycles = std::max(load_cycles, math_cycles) + 0.25 * std::min(load_cycles, math_cycles) + 40;
    if (mapping.team > 1) cycles = cycles / mapping.team + 60.0 * static_cast<double>(together.first_count);
    // Few warps leave units idle: about 16 a multiprocessor hide what they wait for.
    const double filled = std::min(1.0, tiles * warps / (16.0 * figures_.multiprocessors));
    double busy_us = tiles * warps * cycles / (figures_.multiprocessors * figures_.clock_MHz * filled);
    if (work_.sequential) {
      // A step waits for the one before it: a piece's loads, shuffles and barrier, or one value's turn.
      const auto length = static_cast<double>(longest_run());
      const double pieces = std::ceil(length / (static_cast<double>(mapping.team) * mapping.items));
      const double step = scattered(mapping) ? 80 : 25;
      const double waits = mapping.team > 1 ? pieces * (900 + 20.0 * mapping.items) : length * step + 500;
      const double issued = tiles * warps * (cycles + (mapping.team > 1 ? 4 * pieces * mapping.items : 2 * length));
      constexpr double kResidentWarps = 48;
      const double waves = std::ceil(tiles * warps / (kResidentWarps * figures_.multiprocessors));
      busy_us = std::max(issued / figures_.multiprocessors, waves * waits) / figures_.clock_MHz;
    }
    const double rate = figures_.copy_GBs > 0 ? figures_.copy_GBs : 3000;
    double memory_us = work_.compulsory_bytes / rate * 1e-3;
    // A thread has few loads under way: memory is kept busy by many of them.
    constexpr double kBusyWarps = 48;
    if (!work_.sequential && mapping.team > 1) {
      memory_us /= std::clamp(tiles * warps / (kBusyWarps * figures_.multiprocessors), 0.1, 1.0);
    }
    // Sectors that wait for their next use are lost now and then.
    if (work_.sequential && mapping.team == 1 && scattered(mapping)) memory_us *= 2;

    Candidate candidate;
    candidate.predicted_us = std::max(busy_us, memory_us) + 2;
    // Between two pieces a team does not read: only others' reads fill that time.
    if (work_.sequential) candidate.predicted_us += 0.3 * std::min(busy_us, memory_us);
    auto& schedule = candidate.schedule;
    schedule.tile.assign(count, 1);
    schedule.each.assign(count, 1);
    std::string shape;
    for (std::size_t q = 0; q < count; ++q) {
      if (!work_.free[q]) continue;
      schedule.each[q] = each(q);
      schedule.tile[q] = mapping.positions[q] * each(q);
    }
    for (const auto q : mapping.digits) {
      const auto n = mapping.positions[static_cast<std::size_t>(q)];
      schedule.walk.digits.push_back({q, n, 1});
      shape += fmt::format(" {}{}", program_.indices[static_cast<std::size_t>(q)].name, n);
    }
    schedule.order = work_.order;
    for (std::size_t q = 0; q < count; ++q) {
      if (!work_.free[q]) schedule.order.push_back(static_cast<int>(q));
    }
    schedule.threads = mapping.threads;
    schedule.team = mapping.team;
    schedule.items = mapping.items;
    schedule.walk.workers = mapping.threads / mapping.team;
    schedule.name = fmt::format("plain{}{}{}{}", shape, together.text(program_),
                                mapping.team > 1 ? fmt::format(" team {}", mapping.team) : "",
                                mapping.items > 1 ? fmt::format(" items {}", mapping.items) : "");
    if (!names_.insert(schedule.name).second) return;
    candidate.traffic.tiles = schedule.tiles(program_);
    list_.push_back(std::move(candidate));
  }

  const ir::Program& program_;
  const GpuFigures& figures_;
  WorkPerPoint work_;
  bool sums_ = false, heavy_ = false, teams_ = true;
  std::vector<Candidate> list_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Candidate> plain_candidates(const ir::Program& program, const GpuFigures& figures) {
  return Generator(program, figures).run();
}

}  // namespace ricci::plan
