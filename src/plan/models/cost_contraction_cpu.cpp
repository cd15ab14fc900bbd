#include "plan/models/cost_contraction_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "plan/models/columns_ahead_cpu.hpp"
#include "plan/models/result_runs.hpp"

namespace ricci::plan::gett {
namespace {

// Cycles, fitted to schedules of contractions timed on an AMD EPYC with AVX-512, so that those that an Intel Xeon took
// are predicted no worse. Those that wait for memory are of the usual clock (CpuModel::far_cycles).
constexpr double kFarRun = 30, kNearRun = 8;  // for each run of neighbours that is read from memory, from a cache
constexpr double kFarStream = 260;     // for each run of a row that is read in place from memory, beside other rows
constexpr double kPage = 4096;         // bytes
constexpr double kCrowdedLine = 10;    // for each line from memory while the second cache is full of blocks
constexpr double kUnfetchedLine = 12;  // for each line of packed rows from memory, at least: nothing is multiplied then
constexpr double kAheadLine = 5;       // for each that is asked for before it is read, beside multiply-adds
constexpr double kLongLine = 7;        // cycles of multiply-adds that hide such a line of packed columns
constexpr double kShorterLine = 1.5;   // for each cycle that they are short of it
constexpr double kManyUses = 16;       // columns by which such rows are multiplied
constexpr double kStoredRun = 9;       // for each run that nontemporal stores write, alone
constexpr double kStoredLine = 18;     // the same of a line by itself, of sums that were transposed (an Intel Xeon)
constexpr double kPartLine = 30;       // for each line that they leave in part, which memory reads for that
constexpr double kCarriedRun = 8;      // the same where the next tile writes on
constexpr double kFollowedRun = 1;     // the same of a short sum where tiles write a page and more one after the other
constexpr double kCachedRun = 4;       // for each run that is written into a cache
constexpr double kScattered = 1.5;     // for each result that is written alone
constexpr double kTransposed = 4;      // for each vector of results that were transposed in registers
constexpr double kMasked = 3;          // accesses, for each further run of joined indices that a vector lies in
constexpr double kQuotient = 3;        // for each vector, or row, of joined indices whose place is worked out
constexpr double kJoined = 1.03, kJoinedSeldomUsed = 1.1;  // times all of it where indices are joined
constexpr double kInterleaved = 0.2,
                 kInterleavedPart = 1.5;  // for each group that vectors are interleaved for, or parts
constexpr double kMetLine = 3.5;          // for each that was driven out, as lines of columns meet in few sets
constexpr double kLineLoad = 0.97;  // of a line beside multiply-adds (an Intel Xeon: 8x16 of f64 at 0.82, 4x48 at 0.94)
constexpr double kLaunchUs = 1;
constexpr double kStrewnLine = 4;    // the same of columns that are read in place: sets of the cache overflow
constexpr double kManyPasses = 8;    // over columns in place, of which the first one waits for memory
constexpr double kManyColumns = 48;  // by which rows in place are multiplied while the next ones come

double n(std::int64_t value) { return static_cast<double>(value); }

enum class Tensor : std::uint8_t { rows, columns, result };
std::int64_t Axis::* step_in(Tensor tensor) {
  return tensor == Tensor::rows ? &Axis::in_rows : tensor == Tensor::columns ? &Axis::in_columns : &Axis::in_result;
}
/// On average, pieces of runs of a length that there are in so many positions, which begin at multiples of their
/// number.
double pieces(std::int64_t positions, std::int64_t run) {
  if (run == 0) return 1;
  return n(positions + run - std::gcd(positions, run)) / n(run);
}

/// Elements side by side in memory, over axes of two kinds of which a part is held. Of joined indices as far as the
/// fastest goes.
template <class Reach>
double run(const Axes& first, const Axes& second, Tensor tensor, Reach reach_of) {
  const auto step = step_in(tensor);
  double length = 1;
  for (bool longer = true; longer;) {
    longer = false;
    for (const auto* axes : {&first, &second}) {
      for (const auto& axis : *axes) {
        if (n(axis.*step) != length) continue;
        const auto reach = std::min(reach_of(axis), axis.extent);
        if (reach == 1) continue;
        const auto evenly =
            tensor == Tensor::result ? axis.run_in_result : axis.run_in_operand;  // 0: as far as it goes
        length *= evenly > 0 ? n(reach) / pieces(reach, evenly) : n(reach);
        longer = reach == axis.extent && evenly == 0;
      }
    }
  }
  return length;
}
constexpr auto held = [](const Axis& axis) { return std::max(axis.block, axis.tile); };

/// One operand as it is packed.
struct Packed {
  const Axes& side;  ///< rows or columns
  const Axes& depth;
  bool rows;
  double bytes;  ///< of the operand
  double crowd;  ///< share of the second cache that blocks take while it is read
};

class Model {
 public:
  /// Whether what a tile takes is that of its blocks, or what any blocks take at least (`b` has one task, of one
  /// block), or what any sums in one go take, too (`b` has all terms).
  enum class Bound : std::uint8_t { none, blocks, sums };

  Model(const Blocking& b, const Problem& problem, const CpuModel& device, Bound bound = Bound::none,
        WholeRuns* whole_runs = nullptr)
      : b_(b),
        problem_(problem),
        device_(device),
        does_(counts_of(b, problem)),
        least_(bound != Bound::none),
        any_sum_(bound == Bound::sums),
        whole_runs_(whole_runs) {
    size_ = n(problem.size);
    line_ = 64 / size_;
    if (b.lanes_of_both()) {
      rows_and_lanes_ = b.rows;
      rows_and_lanes_.push_back(b.columns.back());
    }
    far_ = device.far_cycles();
    gathers_ = least_ ? problem.shares_lines : gathered_runs(b, problem, device).has_value();
    packs_ahead_ = least_ ? may_pack_ahead(b, problem, device) : packs_ahead(b, problem, device);
    if (least_) return;
    const double block = n(product(b.columns, block_of)), chunk = does_.rounds;
    const double passing = packs_from_memory(b, problem, device) ? 2 : 1;  // lines beside what is packed of them
    blocks_bytes_ =
        size_ * chunk * ((b.pack_columns ? passing * block : 0) + (b.pack_rows ? n(product(row_side(), block_of)) : 0));
    result_bytes_ = size_ * block * n(product(b.rows, task_of));
    if (does_.parts > 1) blocks_bytes_ += std::min(result_bytes_, n(device.l2_bytes));
  }

  double us() const { return time_of(cycles().all() * of_joined(), longest_share(), memory_us(), device_); }
  /// Of a bound; where that is more than `most_us`, any time above it that is a bound, too.
  double least_us(double most_us) const {
    const double times = of_joined(), share = 1.0 / device_.threads;
    double cycles = 0, us = 0;
    const auto more = [&](double of_part) {
      cycles += of_part;
      us = time_of(cycles * times, share, 0, device_);
      return us > most_us;
    };
    if (more(products().all()) || more(columns()) || more(rows())) return us;
    return time_of(cycles * times, share, memory_us(), device_);
  }
  std::vector<TimePart> time() const {
    auto each = cycles();
    for (auto* part : {&each.products, &each.stores, &each.cache, &each.packing, &each.reading}) *part *= of_joined();
    return time_parts(each, longest_share(), memory_us(), device_);
  }

  double memory_us() const {
    // Lines are read before a part of them is written, those of sums in parts again where a task's stay in no cache.
    const bool again = does_.parts > 1 && is_far(result_bytes_) && !least_;
    const double results = again ? 2 * does_.parts : streams() ? 1 : 2;
    const double read = size_ * does_.batch * (does_.rows.elements + does_.columns.elements);
    const double written = size_ * does_.batch * does_.results, bytes = read + written * results;
    const double rate = device_.thread_GBs(false, 20) * device_.threads;
    const double one_way = device_.one_way_us(read, streams() ? written : 0);
    return device_.beyond_caches(bytes) ? std::max(bytes / rate * 1e-3, one_way) : 0;
  }

  /// What joined axes take beside what is counted: more where what is packed across them is used a few times alone.
  double of_joined() const {
    constexpr double kFewUses = 64;
    double most = 1;
    if (b_.columns.back().joined) most = n(product(b_.rows, extent_of)) < kFewUses ? kJoinedSeldomUsed : kJoined;
    if (!b_.rows.empty() && b_.rows.back().joined)
      most = std::max(most, n(product(b_.columns, extent_of)) < kFewUses ? kJoinedSeldomUsed : kJoined);
    return most;
  }
  /// Without the memory's.
  CpuContractionCycles cycles() const {
    auto each = products();
    (b_.pack_columns ? each.packing : each.reading) += columns();
    (b_.pack_rows ? each.packing : each.reading) += rows();
    return each;
  }
  /// Of a register tile's round: in which its multiply-adds fill their units.
  double busy_cycles() const { return turns() * does_.sums * does_.vectors * n(problem_.operations) / 2; }
  double round_cycles() const { return products().products / (does_.batch * does_.tiles * does_.rounds); }

 private:
  static constexpr auto task_of = [](const Axis& axis) { return std::max(axis.task, axis.tile); };
  /// Share of all register tiles that falls to the thread which ends last: each takes the next task when it is done
  /// with one, and the last task along an index has what the others leave.
  double longest_share() const {
    constexpr double kMany = 64;  // tasks, of which the last one is a small part
    const double tasks = n(b_.row_tasks * b_.column_tasks) * does_.batch, threads = device_.threads;
    if (threads == 1 || tasks > kMany) return std::ceil(tasks / threads) / tasks;
    std::vector<double> shares(static_cast<std::size_t>(does_.batch), 1 / does_.batch), cut;
    shares.reserve(static_cast<std::size_t>(tasks));
    cut.reserve(static_cast<std::size_t>(tasks));
    for (const auto* axes : {&b_.columns, &b_.rows}) {
      for (const auto& axis : *axes) {
        const auto task = task_of(axis);
        if (task >= axis.extent) continue;
        const double tiles = n(parts(axis.extent, axis.tile));
        cut.clear();
        for (const auto share : shares) {
          for (std::int64_t at = 0; at < axis.extent; at += task)
            cut.push_back(share * n(parts(std::min(task, axis.extent - at), axis.tile)) / tiles);
        }
        std::swap(shares, cut);
      }
    }
    std::vector<double> busy(static_cast<std::size_t>(device_.threads), 0.0);
    for (const auto share : shares) *std::min_element(busy.begin(), busy.end()) += share;
    return *std::max_element(busy.begin(), busy.end());
  }
  /// What moves the rows' operand beside the depth: the rows, and lanes of both operands.
  const Axes& row_side() const { return b_.lanes_of_both() ? rows_and_lanes_ : b_.rows; }
  bool is_nontemporal() const { return problem_.nontemporal && does_.parts == 1 && b_.writes_vectors(); }
  /// Whether results leave by whole lines that are not read before; of bounds, whether they may.
  bool streams() const { return is_nontemporal() || gathers_; }
  /// Whether columns in place are asked for a round before they are read; of bounds, whether they may be.
  bool ahead() const { return least_ ? may_read_ahead(b_, problem_, device_) : reads_ahead(b_, problem_, device_); }
  bool is_far(double bytes) const { return bytes > 2 * n(device_.l2_bytes); }
  /// Of a line that comes beside multiply-adds: less where these take longer, as units compute vectors by halves.
  double ahead_line() const { return kAheadLine * std::min(1.0, n(device_.datapath_bytes) / device_.vector_bytes); }

  /// Cycles of a load: there are two in one. Of a line whose lanes are computed at once, or of an element for all of
  /// these, one comes in nearly each cycle that multiply-adds are busy.
  double load_cycles() const { return size_ * n(b_.lanes) >= 64 && !device_.by_halves() ? kLineLoad : 0.5; }
  /// Cycles of a vector in a unit.
  double turns() const { return std::max(1.0, size_ * n(b_.lanes) / n(device_.datapath_bytes)); }

  /// Register tiles, and the writing of their sums.
  CpuContractionCycles products() const {
    const auto& lane = b_.columns.back();
    const double tile_rows = does_.tile_rows, tile_columns = does_.tile_columns, sums = does_.sums,
                 vectors = does_.vectors;
    // Two fused multiply-adds a cycle, each of which waits four cycles for the one before it.
    double round = std::max({busy_cycles(), load_cycles() * (sums + turns() * vectors), 4.0});
    if (!b_.pack_rows) round += 0.1 * tile_rows;
    if (!b_.pack_columns) round += 0.25 * vectors + reads_in_pieces(lane) * vectors / n(parts(lane.tile, b_.lanes));
    // All row tiles read the columns' panel again.
    const double panel = size_ * tile_columns * does_.rounds, lines = tile_columns / line_, l1 = n(device_.l1_bytes);
    const bool passes = does_.columns.passes > 1 && !any_sum_;
    // Where each step of the depth goes on with the last one's columns they lie as packed ones do, for tiles of rows
    // that find them in a cache.
    const bool one_behind_another = run(b_.columns, b_.depth, Tensor::columns, tile_of) > tile_columns;
    const bool strewn = passes && !b_.pack_columns && (!one_behind_another || does_.columns.passes < kManyPasses);
    if (strewn && panel > l1 / 4) round = std::max(round, kStrewnLine * lines);
    // Lines that come ahead are on their way from the second cache while others are multiplied.
    if (strewn && does_.rounds * lines > lines_of_sets())
      round = ahead() ? std::max(round, kMetLine * lines) : round + kMetLine * lines;
    if (passes && panel > l1 * 3 / 4) round = std::max(round, kPanelLine * lines);
    if (b_.lanes_of_both() && !least_) round = std::max(round, kPanelLine * lines_of_both());
    const bool outer = b_.depth.empty();
    const bool again = does_.parts > 1 || problem_.group;  // results are read, added to and written
    const bool far = is_far(size_ * does_.batch * does_.results) && (!again || is_far(result_bytes_));
    const double length = run(b_.columns, b_.rows, Tensor::result, tile_of);
    const double each = least_ ? least_written_run() : written_run(length, far);
    double begin = outer ? 4 : 20;
    if (outer && !least_ && size_ * n(product(b_.columns, block_of)) > l1 * 3 / 4) begin += kPanelLine * lines;
    const double gathered = gathers_ && !least_ ? 2 : 1;  // from registers, and again where they leave
    const double stores = gathered * does_.stores *
                          (!b_.across()          ? accesses(does_.pieces)
                           : b_.writes_vectors() ? kTransposed
                                                 : kScattered);
    begin += kQuotient * ((lane.run_in_result > 0 ? vectors : 0) +
                          (!b_.rows.empty() && b_.rows.back().run_in_result > 0 ? tile_rows : 0));
    const double pages = far || streams() ? pages_of(b_.columns, b_.rows, Tensor::result) : 0;
    const double results =
        b_.joined ? 0 : stores * (again ? 3 : 1) + begin + tile_rows * tile_columns * (each / length + pages);
    const double tiles = does_.batch * does_.tiles;
    CpuContractionCycles cycles;
    cycles.products = tiles * does_.rounds * round;
    cycles.stores = tiles * results;
    // Elements on their way from the second or the last cache into the first one, once for each block of rows.
    cycles.cache = does_.batch * does_.columns.elements * n(parts_of(b_.rows, block_of)) * from_cache();
    return cycles;
  }
  /// What a run of neighbours in the result takes at least that a register tile writes.
  double least_written_run() const {
    return b_.depth.empty() || !writes_much(b_, problem_) ? std::min(kCachedRun, far_ * kCarriedRun) : kFollowedRun;
  }
  /// What one of that length takes.
  ///   far  results go to memory
  double written_run(double length, bool far) const {
    const double written_on = run(b_.columns, b_.rows, Tensor::result, held);
    const bool stored = is_nontemporal();
    // Without sums a tile is followed by the one beside it; several rows of it are as many places to write to in turns.
    const bool outer = b_.depth.empty();
    const bool carried =
        outer ? does_.tile_rows == 1 && written_on > length : !b_.rows.empty() && n(b_.rows.back().in_result) == length;
    if (gathers_) return far_ * kStoredRun + kCachedRun;
    // A line that a tile leaves in part waits for the block's next tile, or, at the end of what the block writes on
    // with, is read and written again.
    const bool whole = begins_with_lines() && std::fmod(written_on, line_) == 0;
    const double left = whole ? 0 : length / written_on;
    return !outer && writes_on(length, written_on) ? followed_run(left)
           : carried && (stored || (outer && far)) ? far_ * kCarriedRun
           : stored && b_.across()                 ? far_ * kStoredLine
           : stored                                ? far_ * (kStoredRun + kPartLine * lines_in_part(length))
           : far                                   ? far_ * (kStoredRun + left * kFarRun)
                                                   : kCachedRun;
  }
  /// What a vector of neighbours takes that may lie in several runs, of whole ones.
  double accesses(double pieces) const {
    return 1 + (pieces - 1) * (device_.vector_bytes < 64 ? n(b_.lanes) : kMasked);
  }
  /// Cycles for the last vector along the lanes where a part of it is read: by one load for each power of two in it.
  double reads_in_pieces(const Axis& lane) const {
    const auto rest = static_cast<std::uint64_t>(lane.tile % b_.lanes);
    return 0.5 * std::popcount(rest);
  }
  /// Lines of both operands that a step of the depth takes from the second cache, where both have lanes: those of a
  /// block of rows stay in the first one for all columns, or come again for each tile of these.
  double lines_of_both() const {
    const double lane_lines = n(b_.columns.back().tile) / line_;
    const double tile_rows = does_.tile_rows * lane_lines, tile_columns = does_.tile_columns / line_;
    const double block_rows = n(product(b_.rows, block_of)) * lane_lines;
    const double column_tiles =
        n(product(b_.columns, block_of)) / n(b_.columns.back().block) * lane_lines / tile_columns;
    const bool stays = 64 * does_.rounds * (block_rows + tile_columns) <= n(device_.l1_bytes) * 3 / 4;
    return tile_columns * tile_rows / block_rows + (stays ? tile_rows / std::max(1.0, column_tiles) : tile_rows);
  }
  /// Whether runs of the result begin with a line, wherever a tile is.
  bool begins_with_lines() const {
    const auto whole = [&](const Axis& axis) {
      return axis.in_result == 1 || axis.in_result * problem_.size % 64 == 0;
    };
    return std::all_of(b_.columns.begin(), b_.columns.end(), whole) &&
           std::all_of(b_.rows.begin(), b_.rows.end(), whole);
  }
  /// Whether tiles go on one after the other where the last one ended in the result, in runs of a page and more, as far
  /// as a processor fetches ahead by itself: along columns, or along rows that are neighbours there.
  bool writes_on(double length, double written_on) const {
    if (!writes_much(b_, problem_) || b_.across() || size_ * written_on < kPage) return false;
    if (b_.columns.back().run_in_result > 0 || (!b_.rows.empty() && b_.rows.back().run_in_result > 0)) return false;
    if (followed_in_result(b_, problem_, device_) != nullptr) return true;
    return !b_.rows.empty() && n(b_.rows.back().in_result) <= length && written_on > length;
  }
  /// What such a run costs: as much as one alone beyond the number of streams that come side by side.
  double followed_run(double left) const {
    const double more = std::max(0.0, does_.tile_rows - n(kStreams)) / does_.tile_rows;
    return kFollowedRun + far_ * (more * kStoredRun + left * kFarRun);
  }
  /// Lines at the ends of a run, which begins at a multiple of its length, that no tile goes on with at once.
  double lines_in_part(double length) const {
    const auto lines = static_cast<std::int64_t>(line_), elements = static_cast<std::int64_t>(length);
    if (elements % lines == 0 || followed_in_result(b_, problem_, device_) != nullptr) return 0;
    return 2 * (1 - n(std::gcd(elements, lines)) / line_);
  }
  /// Lines of columns, read in place, that the first cache holds: one step of the depth after the other goes to the
  /// next of few sets where steps are multiples of a large power of two.
  double lines_of_sets() const {
    constexpr std::int64_t kSets = 64;
    std::int64_t step = 0;
    for (const auto& axis : b_.depth) {
      if (axis.tile > 1 && (step == 0 || axis.in_columns < step)) step = axis.in_columns;
    }
    const auto bytes = step * problem_.size;
    const auto sets = bytes % 64 != 0 || bytes == 0 ? kSets : kSets / std::gcd(bytes / 64, kSets);
    return n(sets) * n(device_.l1_bytes) / n(64 * kSets);
  }
  double from_cache() const { return (b_.blocks == Blocks::wide ? 0.1 : 0.03) * size_; }

  /// Cycles that an element costs that is packed: more where runs are short, and where it comes from memory.
  double packing(const Packed& operand) const {
    const auto tensor = operand.rows ? Tensor::rows : Tensor::columns;
    double along = 1, vector = 0.35, runs = 1;  // runs that come to one of groups
    bool transposed = true;
    for (const auto* axes : {&operand.side, &operand.depth}) {
      for (const auto& axis : *axes) {
        if (axis.*step_in(tensor) != 1) continue;
        along = n(std::min(axis.extent, held(axis)));
        transposed = axes == &operand.depth || axis.tile < b_.lanes;
        vector *= accesses(pieces(b_.lanes, axis.run_in_operand));
        if (problem_.terms > 1 && axes == &operand.side && axis.tile > 1) {
          const bool whole = axis.tile % (device_.vector_bytes / problem_.size) == 0;
          vector = whole ? kInterleaved : kInterleavedPart;
          runs = n(problem_.terms);
          transposed = false;
        }
      }
    }
    const double moved = transposed ? (along >= n(b_.lanes) ? 0.7 : 2.0) : vector;
    const double length = held_run(operand.side, tensor) / runs;
    const double near = from_cache() + kNearRun / length;
    if (!is_far(operand.bytes)) return moved + near;
    // Short rows that blocks hold whole share a line with the next ones where these go on.
    const bool short_rows = operand.rows && along >= n(b_.lanes) && along == n(product(b_.depth, extent_of));
    const double whole = short_rows ? std::max(along, length) : along;
    const double lines =
        kCrowdedLine * operand.crowd / line_ + kFarRun / length + 6 * std::max(0.0, 1 - whole / runs / line_);
    const double far = std::max(far_ * lines + pages_of(operand.side, operand.depth, tensor), read_cycles(operand));
    const double shorter = kShorterLine * std::max(0.0, kLongLine - line_cycles(b_, problem_, device_));
    // Runs that were asked for are read from a cache.
    const double comes = far_ * (ahead_line() + shorter) / line_;
    if (!operand.rows) return moved + (packs_ahead_ ? std::min(near + comes, far) : far);
    const bool alone = device_.beyond_caches(operand.bytes) && !is_far(size_ * does_.batch * does_.columns.elements);
    const bool waits = alone && n(product(b_.columns, extent_of)) >= kManyUses;
    return std::max(moved + far, waits ? far_ * kUnfetchedLine / line_ : 0);
  }
  /// Cycles of an element of columns at memory's measured rate, where all threads wait for it much of the time. Not
  /// timed where units compute whole vectors.
  double read_cycles(const Packed& operand) const {
    const bool much = !operand.rows && device_.by_halves() && product(b_.rows, extent_of) <= kSomeUses;
    if (least_ || !much || device_.read_GBs == 0 || !device_.beyond_caches(operand.bytes)) return 0;
    return size_ * device_.threads / device_.read_GBs * 1e-3 * device_.cycles_per_us();
  }
  double run_cycles(const Packed& operand) const { return is_far(operand.bytes) ? far_ * kFarRun : kNearRun; }
  /// Cycles that an element costs as its page's translation is not at hand: a block's pages are found once each, or for
  /// each run where the block has more of them than are kept.
  double pages_of(const Axes& first, const Axes& second, Tensor tensor) const {
    constexpr double kKept = 1024;  // that the second-level tables of processors hold at least
    if (least_ || device_.page_ns == 0) return 0;
    double elements = 1, apart = 1, within = 0;
    for (const auto* axes : {&first, &second}) {
      for (const auto& axis : *axes) {
        const double reach = n(std::min(held(axis), axis.extent)), step = size_ * n(std::abs(axis.*step_in(tensor)));
        elements *= reach;
        if (step >= kPage) {
          apart *= reach;
        } else {
          within += (reach - 1) * step;
        }
      }
    }
    const double pages = apart * std::max(1.0, within / kPage);
    const double found = pages <= kKept ? pages : std::max(pages, elements / run(first, second, tensor, held));
    return device_.page_cycles() * std::min(found / elements, 1.0);
  }
  /// run() of what an operand's blocks hold.
  double held_run(const Axes& side, Tensor tensor) const {
    if (whole_runs_ == nullptr) return run(side, b_.depth, tensor, held);
    auto& known = tensor == Tensor::rows ? whole_runs_->rows : whole_runs_->columns;
    if (known == 0) known = run(side, b_.depth, tensor, held);
    return known;
  }
  double crowd() const { return least_ ? 0 : blocks_bytes_ / n(device_.l2_bytes); }

  double columns() const {
    const auto& counted = does_.columns;
    const double elements = does_.batch * counted.elements;
    const Packed operand{b_.columns, b_.depth, false, size_ * elements, crowd()};
    if (b_.pack_columns) return elements * counted.packed * packing(operand);
    // Few runs that each tile goes on with where the one before it ended are streams that come ahead.
    auto length = run(b_.columns, b_.depth, Tensor::columns, tile_of);
    const double runs = does_.tile_columns * does_.rounds / length;
    if (any_sum_ || (counted.passes == 1 && runs <= n(kStreams))) length = held_run(b_.columns, Tensor::columns);
    // Long runs come before they are asked for. A load has more of short elements.
    const double loads = std::min(size_, 8.0) / 8;
    const double asked = loads * (length >= kPage / size_ ? 0.1 + counted.passes * 0.025 : 0.3 + counted.passes * 0.05);
    const double pages = is_far(operand.bytes) ? pages_of(b_.columns, b_.depth, Tensor::columns) : 0;
    const double waits = asked + run_cycles(operand) / length;
    if (!ahead()) return elements * (waits + pages);
    const double comes = far_ * (ahead_line() / line_ + kFarRun / held_run(b_.columns, Tensor::columns));
    return elements * ((least_ ? std::min(waits, comes) : comes) + pages);
  }

  double rows() const {
    const auto& counted = does_.rows;
    const double elements = does_.batch * counted.elements;
    const Packed operand{row_side(), b_.depth, true, size_ * elements, crowd()};
    if (b_.pack_rows) return elements * counted.packed * packing(operand);
    if (b_.lanes_of_both()) {
      const double length = run(row_side(), b_.depth, Tensor::rows, tile_of);
      return elements * (0.3 + counted.passes * 0.05 + run_cycles(operand) / length);
    }
    double along = 1;
    for (const auto* axes : {&b_.depth, &b_.rows}) {
      for (const auto& axis : *axes) along = axis.in_rows == 1 ? n(axis.tile) : along;
    }
    // Rows whose neighbours are the next terms are a stream each, which ends where neither the next index of the depth
    // nor the block's next tile goes on. Other steps of the sum find lines that nobody asked for.
    const auto next = std::find_if(b_.depth.rbegin(), b_.depth.rend(),
                                   [&](const Axis& axis) { return least_ ? axis.in_rows == 1 : axis.tile > 1; });
    const bool streams = next != b_.depth.rend() && next->in_rows == 1;
    const bool go_on = does_.tile_rows <= n(kStreams), many = n(product(b_.columns, extent_of)) >= kManyColumns;
    const auto goes_on = [&](const Axis& axis) {
      const bool of_depth = axis.in_result == 0;
      const bool one_stream = axis.tile == 1 || (many && size_ * n(axis.tile * axis.in_rows) <= kPage);
      return of_depth ? axis.extent : go_on && one_stream ? axis.block : 1;
    };
    double first = is_far(operand.bytes) ? pages_of(b_.rows, b_.depth, Tensor::rows) : 0;
    if (is_far(operand.bytes)) {
      const double apart = far_ * kFarRun / run(b_.rows, b_.depth, Tensor::rows, tile_of);
      const double stream = far_ * kFarStream / run(b_.rows, b_.depth, Tensor::rows, goes_on);
      first += !streams ? apart : least_ ? std::min(apart, stream) : stream;
    }
    const double loads = streams && go_on ? 0 : 0.3 * std::max(1.0, line_ / along);  // beside what products wait for
    return elements * (first + counted.passes * 0.1 + loads + counted.passes / held_run(b_.rows, Tensor::rows));
  }

  const Blocking& b_;
  const Problem& problem_;
  const CpuModel& device_;
  CpuContractionCounts does_;
  bool least_, any_sum_, gathers_ = false, packs_ahead_ = false;
  double size_, line_;
  double far_;               ///< cycles of what waits for memory
  Axes rows_and_lanes_;      ///< where lanes are of both operands
  WholeRuns* whole_runs_;    ///< of a bound
  double blocks_bytes_ = 0;  ///< of what a task keeps in the second cache; of bounds nothing
  double result_bytes_ = 0;  ///< of a task
};

}  // namespace

double run_of_columns(const Blocking& b) { return run(b.columns, b.depth, Tensor::columns, held); }

CpuContractionCounts counts_of(const Blocking& b, const Problem& problem) {
  CpuContractionCounts does;
  const auto& lane = b.columns.back();
  const double depth = n(product(b.depth, extent_of));
  const double rows = n(product(b.rows, extent_of)), columns = n(product(b.columns, extent_of));
  does.batch = n(product(problem.batch, extent_of));
  does.results = rows * columns;
  does.parts = n(parts_of(b.depth, tile_of));
  const double row_tiles = n(parts_of(b.rows, tile_of)), column_tiles = n(parts_of(b.columns, tile_of));
  // Rows that move with the lanes, too, are others for each of these.
  const bool of_both = b.lanes_of_both();
  const double others = of_both ? n(parts(lane.extent, lane.tile)) : 1;
  does.rows = {(of_both ? rows * n(lane.extent) : rows) * depth, 0, column_tiles / others};
  if (b.pack_rows) does.rows.packed = n(b.column_tasks) / (of_both ? n(parts(lane.extent, lane.task)) : 1);
  does.columns = {columns * depth, b.pack_columns ? n(b.row_tasks) : 0, row_tiles};
  does.tile_rows = n(product(b.rows, tile_of));
  does.tile_columns = n(product(b.columns, tile_of));
  does.tiles = row_tiles * column_tiles * does.parts;
  does.rounds = n(product(b.depth, tile_of));
  does.sums = does.tile_rows * (problem.complex ? 2 : 1) + (problem.flipped ? 1 : 0);
  does.vectors = does.tile_columns / n(b.along_lanes()) * n(parts(b.along_lanes(), b.lanes));
  does.stores = !b.across()          ? does.tile_rows * does.vectors
                : b.writes_vectors() ? does.tile_rows * does.tile_columns / n(b.lanes)
                                     : does.tile_rows * does.tile_columns;
  does.pieces = pieces(b.lanes, b.lane_columns() > 1 ? lane.extent : lane.run_in_result);
  return does;
}

double predicted_us(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  return Model(blocking, problem, device).us();
}

std::vector<TimePart> time_parts(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  return Model(blocking, problem, device).time();
}

std::string round_text(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  const Model model(blocking, problem, device);
  const double round = model.round_cycles(), busy = model.busy_cycles();
  return fmt::format("a register tile's round takes {:.1f} cycles, its multiply-adds {:.1f} of these", round, busy);
}

CpuContractionCycles& CpuContractionCycles::operator+=(const CpuContractionCycles& more) {
  products += more.products;
  stores += more.stores;
  cache += more.cache;
  packing += more.packing;
  reading += more.reading;
  return *this;
}

double time_of(double cycles, double longest_share, double memory_us, const CpuModel& device) {
  const double compute = cycles * longest_share / device.cycles_per_us();
  const double beside = compute * compute * compute + memory_us * memory_us * memory_us;
  return (memory_us > 0 ? std::cbrt(beside) : compute) + kLaunchUs;
}

std::vector<TimePart> time_parts(const CpuContractionCycles& cycles, double longest_share, double memory_us,
                                 const CpuModel& device) {
  const double even = 1 / device.cycles_per_us() / device.threads;  // of a cycle that all threads share
  const double idle = std::max(0.0, longest_share * device.threads - 1);
  return {{"memory", memory_us},
          {"products", even * cycles.products},
          {"stores", even * cycles.stores},
          {"caches", even * cycles.cache},
          {"packing", even * cycles.packing},
          {"reading", even * cycles.reading},
          {"idle", even * idle * cycles.all()},
          {"launch", kLaunchUs}};
}

void make_whole(Blocking& blocking) {
  for (auto* axes : {&blocking.columns, &blocking.rows}) {
    for (auto& axis : *axes) axis.block = axis.task = up(axis.extent, axis.tile);
  }
  blocking.row_tasks = blocking.column_tasks = 1;
  blocking.blocks = Blocks::near;
}

double least_us(const Blocking& blocking, const Problem& problem, const CpuModel& device, WholeRuns& known,
                double most_us, bool any_sum) {
  constexpr double kRounding = 1 - 1e-9;
  const auto bound = any_sum ? Model::Bound::sums : Model::Bound::blocks;
  return kRounding * Model(blocking, problem, device, bound, &known).least_us(most_us / kRounding);
}

CpuContractionCycles cycles_in_group(const Blocking& blocking, const Problem& problem, const CpuModel& device) {
  return Model(blocking, problem, device).cycles();
}

}  // namespace ricci::plan::gett
