// Plain schedules for a CPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/operation_types.hpp"
#include "kernel/program/loops.hpp"
#include "plan/enumerate/parts.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/enumerate/plain_directives.hpp"
#include "plan/enumerate/plain_staged.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/enumerate/rows_cpu.hpp"
#include "plan/models/operation_counts.hpp"
#include "plan/models/plain_counts_cpu.hpp"
#include "plan/models/plain_lines_cpu.hpp"

namespace ricci::plan {
namespace {

using ir::NodeKind;
using ir::OpCode;
using Kind = kernel::Directive::Kind;

constexpr std::int64_t kStrip = 128;      // 1 KB of each f64 tensor at a time
constexpr std::int64_t kPartStrip = 256;  // shared operands of parts stay in L2
constexpr std::size_t kStreams = 24;      // streams that prefetchers and the TLB follow at a time

using Parts = std::vector<std::vector<int>>;

class PlainCpuEnumerator {
 public:
  PlainCpuEnumerator(const ir::Program& program, const CpuModel& device)
      : program_(program),
        device_(device),
        counts_(count_operations(program)),
        lines_(program, counts_, device),
        staged_(staged_tiles(program, counts_)),
        lane_type_(kernel::lane_type(program)) {
    for (const auto& node : program.nodes) sums_ = sums_ || !node.over.empty();
    find_least();
    if (sums_) least_of_lines_ = cycles_of(lines_.least());
    if (!sums_ && !counts_.order.empty()) find_across();
  }

  std::vector<Candidate> run(std::size_t most, double bound_us) {
    most_ = most;
    bound_us_ = bound_us;
    const auto widest = device_.vector_bytes / bytes();
    if (least_us(widest) > bound_us_) return {};
    add(-1, 1, {});
    add_staged(-1, 1);
    const auto parts = sums_ || !lane_type_ ? Parts() : parts_of(program_, kStreams);
    if (parts.size() > 1) parted_ = count_operations(program_, parts);
    for (const auto lane : counts_.order) {
      std::vector<std::int64_t> widths;
      for (auto lanes = widest; lanes >= 2 && lane_type_; lanes /= 2) {
        if (lanes <= extent(lane)) widths.push_back(lanes);
      }
      for (const auto lanes : widths) {
        if (least_us(lanes) > bound_us_) break;
        add(lane, lanes, {});
        if (!sums_) add(lane, lanes, {}, kStrip);
        if (!sums_) add_staged(lane, lanes);
        if (!sums_ && parts.size() > 1) add(lane, lanes, {}, kPartStrip, &parts);
        if (sums_ && !counts_.sequential) add_register_tiles(lane, lanes);
      }
      if (!sums_) break;  // only along the output: stores limit these programs
    }
    if (sums_ && !counts_.sequential && !lane_type_) add_register_tiles(-1, 1);
    // Of sums that memory bounds alike, those of which less is left to compute come first.
    const auto order = [this](const Priced& p) { return std::pair(p.predicted_us, sums_ ? p.cycles_per_point : 0.0); };
    std::vector<const Priced*> sorted;
    for (const auto& priced : priced_) sorted.push_back(&priced);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Priced* x, const Priced* y) { return order(*x) < order(*y); });
    if (sorted.size() > most) sorted.resize(most);
    std::vector<Candidate> list;
    for (const auto* priced : sorted) list.push_back(built(*priced));
    return list;
  }

 private:
  struct Priced {
    int lane;
    std::int64_t lanes;
    RegisterTile tile;
    std::int64_t strip;
    const Parts* parts;
    const StagedTiles* staged;
    bool nontemporal;
    double cycles_per_point, memory_us, predicted_us;
    PlainCpuCounts counts;
    PlainCpuLines lines;
    /// Values of an index that a round over a tile computes.
    std::int64_t block(std::size_t q) const { return tile.count(q) * (static_cast<int>(q) == lane ? lanes : 1); }
  };

  /// What all points take of a load or an operation at least, one after the other and each by itself.
  struct Least {
    const CountedNode* counted;
    double cycles;
  };
  void find_least() {
    const auto points = static_cast<double>(free_points());
    for (const auto& load : counts_.loads) least_.push_back({&load, points * load.times * kLoad});
    for (const auto& counted : counts_.operations) {
      // Rows of a scan take fewer operations than they have elements.
      if (counted.summed || program_.nodes[static_cast<std::size_t>(counted.node)].kind == NodeKind::scan) continue;
      least_.push_back({&counted, points * counted.times * cycles_of(counted)});
    }
  }
  /// A lower bound: of each as many as the values of a tile do not share, by whole vectors and tiles.
  double least_us(int lane, std::int64_t lanes, const RegisterTile& tile) const {
    const auto shared_by = [&](const CountedNode* counted) {
      std::int64_t values = 1;
      for (const auto& [q, count] :
           {std::pair(tile.first, tile.first_count), std::pair(tile.second, tile.second_count)})
        values *= q >= 0 && (counted == nullptr || !counted->depends[static_cast<std::size_t>(q)]) ? count : 1;
      return static_cast<double>(values);
    };
    double cycles = kRound * static_cast<double>(free_points()) / shared_by(nullptr);
    for (const auto& [counted, of_all] : least_) {
      const auto loads = lanes > 1 && is_gathered(*counted, lane) ? lanes : 1;  // of a vector
      cycles += of_all * static_cast<double>(loads) / shared_by(counted);
    }
    return us_at_least(cycles, lanes) + us_at_least(least_of_lines_, 1);
  }
  /// Whether a vector's elements are loaded one by one, as they are no neighbours.
  bool is_gathered(const CountedNode& counted, int lane) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(counted.node)];
    const auto q = static_cast<std::size_t>(lane);
    return node.kind == NodeKind::load && counted.depends[q] && node.offset.coefficient[q] != 1;
  }
  /// The same of any tile: what depends on all free indices no two points share, all else no more than a tile has.
  double least_us(std::int64_t lanes) const {
    double cycles = kRound * static_cast<double>(free_points()) / kMostValues;
    for (const auto& [counted, of_all] : least_) {
      bool own = true;
      for (std::size_t q = 0; q < program_.indices.size(); ++q) own = own && (counted->depends[q] || !counts_.free[q]);
      cycles += own ? of_all : of_all / kMostValues;
    }
    return us_at_least(cycles, lanes) + us_at_least(least_of_lines_, 1);
  }
  double us_at_least(double cycles, std::int64_t lanes) const {
    constexpr double kRounded = 1 - 1e-9;
    const auto vectors = static_cast<double>(std::max<std::int64_t>(lanes, 1));
    return kRounded * cycles / vectors / device_.cycles_per_us() / device_.threads;
  }

  std::int64_t bytes() const {
    if (lane_type_) return size_of(*lane_type_);
    return program_.buffers.empty() ? 8 : size_of(program_.buffers.front().type);
  }
  /// Of a round, and of a load and an operation, for one value or one vector of them.
  static constexpr double kRound = 4, kLoad = 0.5, kOperation = 0.5, kComplex = 2;
  double cycles_of(const CountedNode& counted) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(counted.node)];
    // Conjugations and the like are one operation each, as counts_of() has it.
    const bool counts = node.kind != NodeKind::guard && (node.kind != NodeKind::op || ir::is_counted(node.op));
    return counts && is_complex(node.type) ? kComplex : kOperation;
  }
  /// Of all rounds, in cycles of one thread.
  struct Cycles {
    double rounds, reading, operations, waits, caches, copies;
    double all() const { return rounds + reading + operations + waits + caches + copies; }
  };
  Cycles cycles_of(const Priced& priced) const {
    // Of an element that is copied into an array by transposed vectors, and one by one.
    constexpr double kTurned = 0.5, kMoved = 2;
    // A load and an insert; of up to four neighbours compilers transpose rows that they load by vectors instead.
    constexpr double kGathered = 1, kGatheredWide = 0.5;
    // No row of two bytes each is loaded by vectors. Conversions are several instructions each.
    constexpr double kGatheredHalf = 2, kWidened = 1.5, kNarrowed = 4.5;
    const auto& counts = priced.counts;
    const double operations = counts.arithmetic.instructions - counts.summed + counts.others.instructions;
    return {
        kRound * counts.rounds,
        kLoad * counts.loads.instructions + kGathered * counts.gathered + kGatheredWide * counts.gathered_wide +
            kGatheredHalf * counts.gathered_half,
        kOperation * operations + kComplex * counts.complex + kWidened * counts.widened + kNarrowed * counts.narrowed,
        counts.waits + (priced.staged ? 0 : waits_across_),
        cycles_of(priced.lines),
        priced.staged ? (priced.lanes > 1 ? kTurned : kMoved) * priced.staged->elements +
                            kLoad * priced.staged->reads / static_cast<double>(priced.lanes)
                      : 0};
  }
  /// The counts where what is read across is read from arrays of the tile, which are filled by whole vectors.
  static PlainCpuCounts by_arrays(PlainCpuCounts counts, const StagedTiles& staged, std::int64_t lanes) {
    if (lanes > 1) {
      counts.gathered -= staged.reads;
      counts.gathered_wide -= lanes > 4 ? staged.reads : 0;
    } else {
      counts.loads += {-staged.reads, -staged.reads};
    }
    counts.loads += {staged.elements / static_cast<double>(lanes), staged.elements};
    return counts;
  }
  void add_staged(int lane, std::int64_t lanes) {
    for (const auto& tiles : staged_) add(lane, lanes, {}, 0, nullptr, &tiles);
  }

  /// Cycles of an element in which loads wait, on an AMD EPYC: 7 to 100, the most where rows are a power of two apart.
  static constexpr double kAcross = 25;
  /// Cycles in which loads wait that read across more than the second cache holds: each is of another line and page,
  /// which are gone when the next results want their neighbours.
  void find_across() {
    for (const auto& counted : counts_.loads) {
      const auto& load = program_.nodes[static_cast<std::size_t>(counted.node)];
      const auto bytes = ir::reached(load.offset, program_.indices) * size_of(load.type);
      if (bytes > device_.l2_bytes && is_across(load.offset, program_, counts_.order.front()))
        waits_across_ += kAcross * static_cast<double>(free_points());
    }
  }
  double cycles_of(const PlainCpuLines& lines) const {
    // Of lines that come from the second cache, and of those from beyond it; results are read and written. Set by
    // schedules of 44 contractions timed on an Intel Xeon, which take 1.04 times as long; register tiles take 1.8
    // times.
    constexpr double kFirst = 1.25, kStart = 20, kRead = 6, kNearRun = 10, kFarRun = 30, kWritten = 12,
                     kWrittenRun = 45;
    const double read_run = device_.beyond_caches(counts_.compulsory_bytes) ? kFarRun : kNearRun;
    const double far = kRead * lines.operands.lines + read_run * lines.operands.runs + kWritten * lines.results.lines +
                       kWrittenRun * lines.results.runs;
    return kFirst * lines.first + kStart * lines.starts + device_.far_cycles() * far;
  }
  double us_of(const Cycles& cycles) const { return cycles.all() / device_.cycles_per_us() / device_.threads; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  static constexpr std::array<Counts, 10> kCounts{
      {{2, 1}, {3, 1}, {4, 1}, {6, 1}, {8, 1}, {2, 2}, {4, 2}, {2, 4}, {3, 4}, {4, 3}}};
  static constexpr double kMostValues = 12;  ///< of a register tile
  static_assert(std::all_of(kCounts.begin(), kCounts.end(), [](const Counts& counts) {
    return static_cast<double>(counts.first * counts.second) <= kMostValues;
  }));
  void add_register_tiles(int lane, std::int64_t lanes) {
    for_each_register_tile(
        counts_.order, kCounts, [&](int q, std::int64_t count) { return count * (q == lane ? lanes : 1) <= extent(q); },
        [&](const RegisterTile& tile) { add(lane, lanes, tile); });
  }

  void add(int lane, std::int64_t lanes, const RegisterTile& tile, std::int64_t strip = 0, const Parts* parts = nullptr,
           const StagedTiles* staged = nullptr) {
    if (strip > 0 && (strip > extent(lane) || lane != counts_.order.front() || !kernel::has_strips(program_))) return;
    if (parts == nullptr && staged == nullptr && least_us(lane, lanes, tile) > bound_us_) return;
    const auto count = program_.indices.size();
    Priced priced{lane, lanes, tile, strip, parts, staged, false, 0, 0, 0, {}, {}};
    // Vector registers for sums and operands.
    const auto registers = device_.vector_bytes >= 64 ? 26 : 13;
    double held = 0, sums = 0;
    const auto values = [&](const CountedNode& counted) {
      double n = 1;
      for (std::size_t q = 0; q < count; ++q) n *= counted.depends[q] ? static_cast<double>(tile.count(q)) : 1;
      return n;
    };
    if (sums_) {
      for (const auto& counted : counts_.loads) held = std::max(held, values(counted));
      for (const auto& counted : counts_.operations) {
        if (program_.nodes[static_cast<std::size_t>(counted.node)].kind == NodeKind::reduce)
          sums = std::max(sums, values(counted));
      }
      if (held + sums > registers) return;
    }
    std::vector<std::int64_t> counts(count);
    for (std::size_t q = 0; q < count; ++q) counts[q] = tile.count(q);
    const auto along = lane < 0 ? 1 : extent(lane), in_parts = parts ? along / strip * strip : 0;
    priced.counts = counts_of(program_, counts_, counts, lane, lanes, along - in_parts);
    if (parts) priced.counts += counts_of(program_, *parted_, counts, lane, lanes, in_parts);
    if (staged) priced.counts = by_arrays(priced.counts, *staged, lanes);
    if (us_of(cycles_of(priced)) + us_at_least(least_of_lines_, 1) > bound_us_) return;
    if (sums_) {
      for (std::size_t q = 0; q < count; ++q) counts[q] = counts_.free[q] ? priced.block(q) : 1;
      priced.lines = lines_.count(counts, order_of(priced));
    }
    const auto cycles = cycles_of(priced);

    double rate_GBs = 20;  // of one thread
    double bytes = counts_.compulsory_bytes;
    if (!sums_) {
      // Larger than the caches: nontemporal stores, so that no line is read before it is written.
      const bool beyond = device_.beyond_caches(counts_.compulsory_bytes);
      priced.nontemporal = lanes > 1 && beyond;
      if (priced.nontemporal) rate_GBs *= 1.2;
      // A vector that begins within another one is stored as usual: its lines are read first, and written in parts.
      if (priced.nontemporal && !stores_whole_vectors(priced)) bytes += 2 * counts_.written_bytes;
      if (beyond) rate_GBs = device_.thread_GBs(priced.nontemporal, rate_GBs);
      // More streams than prefetchers and the TLB follow cost bandwidth.
      const auto streams = static_cast<double>(counts_.loads.size() + program_.statements.size());
      rate_GBs *= parts ? 0.9 : strip > 0 ? 0.5 : std::min(1.0, static_cast<double>(kStreams) / streams);
    } else if (device_.beyond_caches(counts_.compulsory_bytes)) {
      rate_GBs = device_.thread_read_GBs(rate_GBs) * share_of_rows(priced);
    }
    priced.memory_us = bytes / rate_GBs * 1e-3 / device_.threads;
    priced.predicted_us = std::max(us_of(cycles), priced.memory_us);
    priced.cycles_per_point = cycles.all() / static_cast<double>(free_points());
    if (priced.predicted_us > bound_us_) return;
    if (most_ == 1) bound_us_ = priced.predicted_us;
    priced_.push_back(priced);
  }

  Candidate built(const Priced& priced) const {
    const auto count = program_.indices.size();
    Candidate candidate;
    candidate.predicted_us = priced.predicted_us;
    candidate.plain = priced.counts;
    const auto cycles = cycles_of(priced);
    const double even = 1 / device_.cycles_per_us() / device_.threads;  // us of a cycle that all threads share
    candidate.parts = {{"memory", priced.memory_us},       {"products", even * cycles.operations},
                       {"reading", even * cycles.reading}, {"rounds", even * cycles.rounds},
                       {"waits", even * cycles.waits},     {"caches", even * cycles.caches}};
    if (priced.staged) candidate.parts.emplace_back("copies", even * cycles.copies);
    auto& schedule = candidate.schedule;
    std::vector<PlainIndex> indices(count);
    std::int64_t tile_points = 1;
    for (std::size_t q = 0; q < count; ++q) {
      if (!counts_.free[q]) continue;
      indices[q] = {priced.block(q), priced.block(q)};
      tile_points *= priced.block(q);
    }
    // Tiles large enough to amortise finding them, small enough to balance threads.
    auto wanted = std::clamp<std::int64_t>(static_cast<std::int64_t>(60e3 / priced.cycles_per_point), 1, 8192);
    const auto order = order_of(priced);
    if (reuses_in_cache(priced)) wanted = std::max(wanted, free_points() / extent(priced.lane) * priced.lanes);
    for (const auto q : order) {
      auto& n = indices[static_cast<std::size_t>(q)].tile;
      if (priced.staged) n = priced.staged->tile[static_cast<std::size_t>(q)];
      if (priced.staged) continue;
      // Whole strips: the remainder would read all tensors at once.
      const bool strips = priced.strip > 0 && q == priced.lane;
      const auto unit = strips ? priced.strip : priced.block(static_cast<std::size_t>(q));
      if (strips) wanted = std::max(wanted, 8 * priced.strip);
      const auto grown = std::min(wanted * n / std::max<std::int64_t>(tile_points, 1), extent(q)) / unit * unit;
      if (grown > n) {
        tile_points = tile_points / n * grown;
        n = grown;
      }
    }
    candidate.traffic.tiles = 1;
    std::vector<int> looped;
    for (const auto q : order) {
      const auto n = indices[static_cast<std::size_t>(q)].tile;
      if (n > 1) looped.push_back(q);
      candidate.traffic.tiles *= (extent(q) + n - 1) / n;
    }
    schedule.directives = plain_loops(program_, counts_.order, looped, indices, kernel::Target::cpu);
    schedule.name = "plain";
    if (priced.lanes > 1) {
      const auto& name = program_.indices[static_cast<std::size_t>(priced.lane)].name;
      schedule.directives.push_back(directive(Kind::lanes, {priced.lanes}));
      schedule.directives.back().subject = name;
      schedule.name += fmt::format(" {} v{}", name, priced.lanes);
    }
    schedule.name += priced.tile.text(program_);
    if (priced.staged) {
      schedule.name += " staged" + priced.staged->text;
      const auto loops = std::find_if(schedule.directives.begin(), schedule.directives.end(),
                                      [](const auto& one) { return one.kind == Kind::order; });
      const auto around = loops->loops.front().second.back();  // the innermost task
      for (auto stage : priced.staged->stages) {
        stage.at = around;
        schedule.directives.push_back(std::move(stage));
      }
    }
    if (priced.strip > 0) {
      schedule.directives.push_back(directive(Kind::strip, {priced.strip}));
      schedule.name += fmt::format(" strip {}", priced.strip);
    }
    if (priced.parts) {
      for (const auto& part : *priced.parts) {
        auto& statements = schedule.directives.emplace_back(directive(Kind::part)).sizes;
        for (const auto k : part) statements.push_back(k + 1);
      }
      schedule.name += fmt::format(" parts {}", priced.parts->size());
    }
    if (priced.nontemporal) schedule.directives.push_back(directive(Kind::nontemporal));
    return candidate;
  }

  /// Whether each vector of results begins a multiple of its length from the first element.
  bool stores_whole_vectors(const Priced& priced) const {
    for (const auto& statement : program_.statements) {
      const auto& to = statement.offset;
      bool whole = to.constant % priced.lanes == 0;
      for (std::size_t q = 0; q < to.coefficient.size(); ++q)
        whole = whole && (static_cast<int>(q) == priced.lane || to.coefficient[q] % priced.lanes == 0);
      if (!whole) return false;
    }
    return true;
  }

  /// Loops over rounds, innermost first.
  std::vector<int> order_of(const Priced& priced) const {
    auto order = counts_.order;
    if (reuses_in_cache(priced)) {
      // Products side by side: all of a few, whose operands the cache keeps, before the next ones.
      order.erase(std::find(order.begin(), order.end(), priced.lane));
      order.push_back(priced.lane);
    }
    return order;
  }

  /// Whether lanes are neighbours along an index of all tensors, each operand is read for many values of an index that
  /// does not move it, and the second cache holds what one vector of lanes reads.
  bool reuses_in_cache(const Priced& priced) const {
    if (!sums_ || priced.lanes == 1) return false;
    constexpr std::int64_t kLine = 64, kWays = 16;
    const auto lane = static_cast<std::size_t>(priced.lane);
    for (const auto& counted : counts_.loads) {
      const auto& step = program_.nodes[static_cast<std::size_t>(counted.node)].offset.coefficient;
      if (step[lane] == 0) return false;
      bool again = false;
      std::int64_t lines = 1, least = 0;
      for (std::size_t q = 0; q < program_.indices.size(); ++q) {
        const auto n = extent(static_cast<int>(q));
        again = again || (counts_.free[q] && step[q] == 0 && n > 1);
        if (q == lane || step[q] == 0) continue;
        lines *= n;
        if (least == 0 || std::abs(step[q]) < least) least = std::abs(step[q]);
      }
      // Lines a multiple of a large power of two apart meet in few sets of the cache.
      const auto type = program_.nodes[static_cast<std::size_t>(counted.node)].type;
      const auto sets = device_.l2_bytes / kLine / kWays;
      const auto apart = std::gcd(std::max<std::int64_t>(least * size_of(type) / kLine, 1), sets);
      if (!again || lines > sets / apart * kWays / 4) return false;
    }
    return !counts_.loads.empty();
  }

  /// What is left of memory's rate where a register tile reads rows side by side: each is a stream of its own, which
  /// prefetchers find anew. Of 1, 4 and 8 KB an AMD EPYC reads 0.42, 0.84 and 0.84 of what it does row by row.
  double share_of_rows(const Priced& priced) const {
    constexpr double kFound = 1024;  // bytes in the time in which a stream is found
    constexpr double kLong = 16;     // times that, beside which it is nothing
    constexpr double kShort = 256;   // bytes of rows that follow each other closely enough for one stream
    double share = 1;
    for (const auto& counted : counts_.loads) {
      const auto& load = program_.nodes[static_cast<std::size_t>(counted.node)];
      const auto& step = load.offset.coefficient;
      const auto is_lane = [&](std::size_t q) { return static_cast<int>(q) == priced.lane; };
      bool apart = false, by_lanes = false;  // rows of a tile, or of the lanes of a vector
      for (std::size_t q = 0; q < step.size(); ++q) {
        const bool neighbours = priced.lane < 0 && std::abs(step[q]) == 1;  // of one row, one by one
        apart = apart || (step[q] != 0 && priced.tile.count(q) > 1 && !is_lane(q) && !neighbours);
        by_lanes = by_lanes || (is_lane(q) && std::abs(step[q]) > 1);
      }
      if (!(apart || by_lanes) || reached(load.offset, program_.indices) * size_of(load.type) <= device_.l2_bytes)
        continue;
      // Neighbours that one row of the tile goes through: by lanes, then by the sum. Beside lanes that are apart, by
      // whatever loops are left.
      std::int64_t row = 1;
      for (bool more = true; more;) {
        more = false;
        for (std::size_t q = 0; q < step.size() && !more; ++q) {
          if (std::abs(step[q]) != row || extent(static_cast<int>(q)) < 2) continue;
          if (apart ? counts_.free[q] && !is_lane(q) : is_lane(q)) continue;
          row *= extent(static_cast<int>(q));
          more = true;
        }
      }
      const auto bytes = static_cast<double>(row * size_of(load.type));
      if (!apart && bytes < kShort) continue;
      if (bytes < kLong * kFound) share = std::min(share, bytes / (bytes + kFound));
    }
    return share;
  }

  std::int64_t free_points() const {
    std::int64_t n = 1;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) n *= counts_.free[q] ? program_.indices[q].extent : 1;
    return n;
  }

  const ir::Program& program_;
  const CpuModel& device_;
  OperationCounts counts_;
  PlainLineCounter lines_;
  std::vector<StagedTiles> staged_;
  std::vector<Least> least_;
  double least_of_lines_ = 0;              ///< cycles
  double waits_across_ = 0;                ///< cycles of all points, of operands that are not staged
  std::optional<OperationCounts> parted_;  ///< of the statements in parts
  std::optional<DType> lane_type_;         ///< none: values are computed one by one
  bool sums_ = false;
  std::size_t most_ = 1;  ///< of candidates
  double bound_us_ = 0;   ///< of times that are of use
  std::vector<Priced> priced_;
};

}  // namespace

bool is_copy(const ir::Program& program) {
  if (program.statements.size() != 1 || program.indices.empty()) return false;
  const auto& statement = program.statement();
  // The families write the value as one expression: it is short, and no operation stands in it twice.
  constexpr int kMostOperations = 16;
  std::vector<bool> used(program.nodes.size());
  int loads = 0, operations = 0;
  for (const auto& node : program.nodes) {
    switch (node.kind) {
      case NodeKind::load:
        if (node.source != statement.buffer) ++loads;
        break;
      case NodeKind::param:
        break;
      case NodeKind::op:
        if (node.op != OpCode::add && node.op != OpCode::mul && node.op != OpCode::scale && node.op != OpCode::conj &&
            node.op != OpCode::cast && node.op != OpCode::tf32 && node.op != OpCode::tf32_rest) {
          return false;
        }
        if (++operations > kMostOperations) return false;
        for (int k = 0; k < ir::operand_count(node); ++k) {
          const auto operand = static_cast<std::size_t>(node.operand[k]);
          if (used[operand] && program.nodes[operand].kind == NodeKind::op) return false;
          used[operand] = true;
        }
        if (node.op == OpCode::cast && is_integer(program.nodes[static_cast<std::size_t>(node.operand[0])].type)) {
          return false;
        }
        break;
      default:
        return false;
    }
  }
  if (loads != 1) return false;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (statement.offset.coefficient[q] == 0 && program.indices[q].extent > 1) return false;
  }
  return true;
}

std::vector<Candidate> plain_candidates(const ir::Program& program, const CpuModel& device, std::size_t most,
                                        double bound_us) {
  return with_rows(PlainCpuEnumerator(program, device).run(most, bound_us), program, device, most, bound_us);
}

}  // namespace ricci::plan
