// Constants are fitted to 2,850 timings of kernels by warps on an NVIDIA H100 (bench/results/fit/contract-*-h100.json,
// the published ones of tccg48, talsh300, tcl200 and gemm.csv, and `ricci-bench contract --top 16` and `--top 40` of
// ccsd_t of tccg48_f32): of those near each case's fastest the times are off by 8 % in f64 and f32 of tccg48, and by
// 11 % in f64 of talsh300. Those of warp groups are fitted to an H200: off by 21 % in bf16. They are in cycles and
// bytes, so that another device comes in by its model.
#include "plan/models/contraction_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernel/kernel.hpp"

namespace ricci::plan {
namespace {

constexpr double kCacheBytes = 63;  // of a multiprocessor in a cycle, from the second cache
/// Of the whole device in a cycle, of a small operand that all blocks copy: few of that cache's slices have its lines
/// (eight kernels of ao2mo00 and ao2mo02 of tccg48_f32 in bf16 on an H200, of 16 and 18 KB, took 1.2 to 1.8 times as
/// long as was predicted without, 0.97 to 1.09 with it).
constexpr double kRereadBytes = 880;
constexpr double kCacheLine = 1.87;  // cycles of a multiprocessor's share of that cache for a line that is asked for
/// Lines of the first cache are taken from when a copy asks for them until they are there: cycles, from memory and from
/// the second cache (of 67 kernels of talsh300 in f64, whose extents are odd: off by 30 % without, 15 % with it).
constexpr double kFromMemory = 1500, kFromCache = 800;
/// Constants that differ where warp groups multiply, which copy and wait beside their products.
struct Units {
  double block;         ///< cycles before a block's first product and after its last one: nothing of its own hides them
  double latency;       ///< of memory under load, from a copy's issue to its barrier
  double fragment;      ///< of a wavefront that is read
  double copied;        ///< of one that is written
  double store_line;    ///< of a line that an instruction asks for which stores results
  double part_sector;   ///< of a sector of which it writes a part: the cache reads it first
  double read, result;  ///< bytes' time of operands and of results, of what a copy of as many takes
};
/// What operands' bytes take is fitted to 285 plans of talsh300 in f64 and f32 on an H100: 174 of them that memory
/// bounds took 1.07 times as long as they were to with 0.956, as results', 1.0 with this.
constexpr Units kOfWarps{1900, 1420, 0.9, 0.55, 2, 4.3, 1.06, 0.956};
constexpr Units kOfGroups{200, 2580, 0.73, 1.48, 2.96, 3.4, 1.06, 1.06};
const Units& units(bool overlapped) { return overlapped ? kOfGroups : kOfWarps; }
/// Of a wavefront of fragments that lanes read alike in pairs: what multiply-adds took that these constants are fitted
/// to, whose rows were alike so and whose columns were not. Six of their wavefronts counted as eight of 0.75 cycles.
constexpr double kPairedFragment = 1;
constexpr double kRelaid = 380;  // of a block whose results pass through shared memory, at a barrier
/// The same where fragments are read ahead of a round (eleven kernels of talsh300 in f64 on an H100 took 1.15 times as
/// long as was predicted with kRelaid, off by 16 %; 1.07 and 10 % with this).
constexpr double kRelaidAhead = 2500;
/// The same of multiply-adds, for each wavefront that passes (77 kernels of ccsd_t of tccg48_f32 on an H200 took 1.23
/// times as long as was predicted by kRelaid alone, 1.05 with this and kInStep).
constexpr double kRelaidWavefront = 5;
constexpr double kBarrier = 67;          // of a round
constexpr double kRound = 225;           // of a round too, which products of another block do not hide
constexpr double kPrefetchedRound = 33;  // of such a round whose first fragments were read in the round before
/// Of a round of multiply-adds, whose loop is unrolled: ptxas mixes its loads with products (of 284 kernels of
/// tccg48_f32 on an H100 near each case's fastest: 1.035 times what they took with kRound, 1.01 with this).
constexpr double kMultiplyAddRound = 65;
/// Of each round behind the first one, where all of a sum's multiply-adds take two or three rounds: what they copy is
/// waited for, since blocks have few rounds to get out of step (157 of these kernels took 1.04 and 1.08 times as long).
constexpr double kLaterRound = 305;
constexpr double kExposed = 0.09;    // share of copies that a block's products do not hide
constexpr double kScattered = 0.86;  // of an element that is written on its own
constexpr double kLine = 0.52;       // of a line
/// Lines that a piece counts for whose copy splits sectors, more than those that it has (fitted to 402 kernels in f64
/// on an H100 and an H200: off by 11.8 % and 9.9 % with it, by 15.7 % and 12.8 % without; rows of 80 bytes took 1.25
/// times as long as was predicted. The plans that follow took 0.97 of the time of those before on an H100, talsh300 in
/// f64).
constexpr double kSplit = 1.5;
/// Less for results by nontemporal stores, which leave the second cache to operands that it holds (six ccsd_t cases of
/// tccg48 in f64 on an H100 took 0.85 to 0.92 of what was predicted without it, three of other kinds 1.04 to 1.14).
constexpr double kStreams = 0.15;
constexpr double kStore = 0.11;  // of an instruction that stores results
/// Bytes that all blocks copy after which the second cache still has what was fetched, and no longer has it (five cases
/// of talsh300 in f64 on an H100, 64 x 64 results of 8 * 18^4 products, by rows of 32 bytes: 1.6 GB were read of 0.86).
constexpr double kKept = 12e6, kLost = 32e6;
constexpr double kShortRun = 0.034;  // more for results in short runs
constexpr double kWholeRun = 1152;   // bytes (cost_cuda.cpp)
constexpr double kPartLine = 0.095;  // more for results whose runs cut lines in two, a cut for each line
/// Outer products, whose results are most of their bytes. Where runs that blocks write begin or end inside of sectors,
/// memory takes kInside longer, as accesses cut sectors that their block completes, and as long as for so many sectors
/// for each that another block completes later (of 98 kernels by rows of talsh300 on an H100 those with such runs of 72
/// to 256 bytes wrote at 0.20 to 0.57 of a copy's rate, those in whole sectors at 0.72 to 1.03).
constexpr double kInside = 0.1, kCutSector = 4;
constexpr double kOuterPart = 1;     // as Units::part_sector: what memory takes for it is counted there
constexpr double kOuterBlock = 500;  // as Units::block
constexpr double kFewWarps = 1.55;   // of products by blocks of fewer than four warps, which leave pipes idle
/// Multiply-adds by fewer than twelve warps of a multiprocessor wait for shared memory and for each other: of
/// eight 1.11 times (214 kernels on an H100, where products take the longest, took that much more beside 117 by
/// twelve).
constexpr double kFewResident = 0.22;
/// The same of sums of so many terms and fewer, by less than sixteen warps: their blocks are in step, so that all of
/// them copy, multiply or store at a time (100 kernels of ccsd_t of tccg48_f32 on an H200: those by twelve warps
/// took 1.2 times as long as those by sixteen, of what was predicted). Longer sums are so in part.
constexpr double kInStep = 1.25, kInStepTerms = 32;
/// Complex products of three real ones, of 84 kernels of 14 cases of tccg48 in c128 on an H200. Of sums of one round,
/// in step as above, those by two blocks of four warps each took 1.09 times what was predicted, those by three 1.0.
constexpr double kThreeInStep = 1.5;
/// Of their rounds, of which a sum has several: the share of products' time that waits for fragments, where these are
/// read ahead and where they are not, and where three warps each share a part of a multiprocessor (1.11 to 1.18 times
/// what was predicted, 1.06 by two); cycles of each where a multiprocessor has one block.
constexpr double kThreeAhead = 1.04, kThreeRead = 1.14, kThreeTwelve = 1.07, kThreeRound = 120;
/// Products of warp groups go on from round to round: of 22 kernels of bench/problems/gemm.csv in bf16 (off by 18 %).
constexpr double kGroupRound = 830;  // cycles of a round at least, whose fence waits for copies
/// Cycles of a round whose elements pass through registers: each time that a thread waits for as many as it has room
/// for, and of each warp for each of its loads (three kernels of warp groups of talsh300 in bf16 on an H200, of
/// elements of two bytes one by one: 2524 to 4670 cycles a round, within 4 %, or 1.37 times as many; by warps two took
/// 3215 and 3894 where this and products are 3200 and 3500).
constexpr double kWaited = 1835, kWaitedLoad = 5.4;
constexpr double kShortSum = 512;  // terms, of whose rounds the first and the last ones are not hidden (tccg48_f32)
/// Cycles that blocks of a cluster wait for each other: to begin together, for the parts of their sums, and to end.
constexpr double kMeet = 2000;
/// Of the time of a block on its own, what the last blocks take, which are too few to ask for all that memory can do
/// (of 70 kernels of talsh300 in f64 with one to three times the blocks that there is room for at once).
constexpr double kLastBlocks = 0.8;
constexpr double kLaunchSeconds = 2e-6;
/// Blocks of a cluster, beyond kMeet: to begin and to end at once, and their parts of sums, which pass from one
/// multiprocessor to the next (of 490 kernels of bench/problems/small_products.csv on an H100: 1.1 us off, 3.0
/// without).
constexpr double kClusterSeconds = 1.6e-6;
constexpr double kPartBytes = 9.6;  // a cycle, of each multiprocessor
/// Of kernels whose last tiles alone have their sums in parts: they are to save 3 %. The only one that was timed took
/// 1.09 times as long as the same tiles without (1408 x 1152 x 4096 in f64 on an H100), as room for the parts halves
/// the blocks that a multiprocessor has at once.
constexpr double kLastInParts = 1.03;
/// Of tiles that blocks make in turns, whose lanes write results themselves while copies are under way (seven kernels
/// of ao2mo00 of tccg48_f32 in bf16 on an H200 took 1.08 to 1.19 times as long as is predicted without; eight of
/// ao2mo01 and ao2mo02, whose results pass through shared memory, 0.97 to 1.1 times). Multiply-adds hide it (250
/// kernels of five ccsd_t cases in f32: 0.98).
constexpr double kInTurns = 1.1;
/// The same of warp groups, whose copies stop while results are written (sixteen plans of tccg48_f32 in bf16 and tf32
/// and of other products on an H200 took 1.12 to 1.29 times what is predicted without).
constexpr double kGroupsInTurns = 1.18;
double last_in_parts_of(const ContractionCounts& counts) { return counts.last > 0 ? kLastInParts : 1; }

/// Blocks that each of so many multiprocessors takes in turn. Those of the last tiles take a part of one's time each.
double turns_of(const ContractionCounts& counts, double multiprocessors) {
  const double parts = counts.last * counts.cluster;
  return counts.turns * rounded_up((counts.blocks - counts.last) / counts.turns / multiprocessors) +
         rounded_up(parts / multiprocessors) / counts.cluster;
}

/// Cache lines that runs of so many bytes cut in two, over those that they fill: two blocks write such a line.
double cut_lines(double run_bytes) {
  const auto run = static_cast<std::int64_t>(run_bytes);
  static_assert(std::has_single_bit(std::uint64_t{kCacheLineBytes}));
  const auto whole = std::min<std::int64_t>(run & -run, kCacheLineBytes);  // their greatest common divisor
  return run < 1 ? 0 : static_cast<double>(kCacheLineBytes - whole) / static_cast<double>(run);
}

/// Cycles of all multiprocessors that are busy, on average, in a second.
///   in_turns  blocks of one of those that clusters have room on
double busy_cycles(const ContractionCounts& counts, double in_turns, const GpuModel& device) {
  const double turns = counts.cluster == 1 ? in_turns : turns_of(counts, device.multiprocessors);
  return counts.blocks / turns * device.clock_MHz * 1e6;
}

/// Bytes of a multiprocessor's first cache, which shares its memory with what is shared: of the sizes that a driver may
/// give to that (CUDA C++ Programming Guide, compute capabilities), the least with room for the blocks.
double first_cache_bytes(double shared_bytes, const GpuModel& device) {
  constexpr double kAlways = 28;  // KB that are left beside the most
  const double most = static_cast<double>(device.shared_bytes_per_multiprocessor) / 1024;
  if (shared_bytes == 0) return (most + kAlways) * 1024;  // of lower bounds
  for (const double size : {0, 8, 16, 32, 64, 100, 132, 164, 196}) {
    if (shared_bytes <= size * 1024 && size < most) return (most + kAlways - size) * 1024;
  }
  return kAlways * 1024;
}

/// Of the first cache, whose room is all that can be on its way: seconds, times the bytes of that room.
///   lines  of the launch
///   share  of them that memory has been asked for
double held_byte_seconds(double lines, double share, const GpuModel& device) {
  const double latency = kFromCache + (kFromMemory - kFromCache) * std::min(1.0, share);
  return lines / device.multiprocessors * latency * kCacheLineBytes / (device.clock_MHz * 1e6);
}
double first_cache_byte_seconds(const ContractionCounts& counts, const GpuModel& device) {
  if (counts.held_lines == 0) return 0;
  return held_byte_seconds(counts.held_lines * counts.rounds * counts.blocks,
                           counts.operand_bytes / counts.copied_bytes, device);
}

/// What a result whose blocks write runs of so many bytes takes longer than its bytes alone, as a share of them.
double short_run(double run_bytes) {
  return kShortRun * std::max(0.0, 1 - run_bytes / kWholeRun) + kPartLine * cut_lines(run_bytes);
}

/// Of a block besides its rounds and its results.
double block_cycles(const ContractionCounts& counts) {
  return counts.terms <= 1 ? kOuterBlock : units(counts.overlapped).block;
}

double squared(double x) { return x * x; }
double fourth(double x) { return squared(squared(x)); }

/// Of what memory and the first cache take.
double squares_of(const ContractionTime& time) { return squared(time.memory) + squared(time.first_cache); }
/// Of what rounds take, a fourth power: those whose first fragments were read in the round before hide more (61 kernels
/// in f64 on an H100 were to take 1.02 times as long as they did, 1.00 with this).
double fourth_of_rounds(bool prefetched, double products, double shared, double issue) {
  return prefetched ? fourth(hidden(products, shared, issue)) : fourth(products) + fourth(shared) + fourth(issue);
}
/// The same but for how it is rounded, as bounds may be: by one root in place of three.
double about_fourth_of_rounds(bool prefetched, double products, double shared, double issue) {
  if (!prefetched) return fourth_of_rounds(false, products, shared, issue);
  return std::sqrt(fourth(squared(products)) + fourth(squared(shared)) + fourth(squared(issue)));
}
/// Of what multiprocessors do, fourth powers.
double fourths_of(const ContractionTime& time, bool prefetched) {
  return fourth_of_rounds(prefetched, time.products, time.shared, time.issue) + fourth(time.stores) +
         fourth(time.alone) + fourth(time.cache);
}
/// The same where a multiprocessor has one block at a time: what that takes on its own is all that it does (33 kernels
/// of talsh300 in f64 on an H100 were to take 1.08 times as long as they did, within 13 %, beside parts that run at
/// once; 1.00 with this, within 10 %).
double fourths_of_one(const ContractionTime& time) { return fourth(time.alone) + fourth(time.cache); }
/// What all parts take of each other's time where warp groups multiply.
double hidden_by_groups(const ContractionTime& time) {
  return hidden(time.products, time.shared, time.issue, time.stores, time.alone, time.cache, time.first_cache,
                time.memory);
}

/// What nothing hides.
double launch_seconds(const ContractionCounts& counts, const GpuModel& device) {
  if (counts.cluster == 1) return kLaunchSeconds;
  const double shared = counts.shared() ? 1 : counts.last / counts.blocks, meets = counts.shared() ? 0 : kMeet;
  const double cycles = meets + shared * counts.result_bytes * counts.cluster / (kPartBytes * device.multiprocessors);
  return kLaunchSeconds + kClusterSeconds + cycles / (device.clock_MHz * 1e6);
}

/// What a launch takes beside that by warps.
///   squares  the sum of those of what memory takes, and the first cache
///   fourths  the sum of fourth powers of what multiprocessors do, which hide more of each other
double launched(double squares, double fourths) { return std::sqrt(squares + std::sqrt(fourths)); }
/// Whether it is no more than so many seconds.
bool within(double squares, double fourths, double seconds) {
  const double rest = squared(std::max(seconds, 0.0)) - squares;
  return rest >= 0 && fourths <= squared(rest);
}

/// Cycles of a round that products of another block do not hide: blocks of one warp have a quarter of them, as those of
/// four run beside each other, each on a part of a multiprocessor (of 49 kernels in f64 on an H100, sums of 64 million
/// products for 64 results and the like: off by 34 % without, 28 % with it).
double begin_cycles(bool prefetched, bool multiply_adds, double warps) {
  const double cycles = prefetched ? kPrefetchedRound : multiply_adds ? kMultiplyAddRound : kRound;
  return cycles * std::min(1.0, warps / 4.0);
}

}  // namespace

// Blocks of a cluster are of one GPC, of which an H100 has some with fewer multiprocessors (its
// cudaOccupancyMaxActiveClusters, of 132 for blocks of 200 KB of shared memory).
double multiprocessors_of(int cluster, const GpuModel& device) {
  constexpr std::array<double, kernel::kMostCluster> kRoom = {132, 132, 117, 120, 110, 102, 105, 120};
  return rounded_down(device.multiprocessors * kRoom[static_cast<std::size_t>(cluster - 1)] / kRoom[0]);
}

double memory_seconds(const ContractionCounts& counts, const GpuModel& device) {
  const auto& of = units(counts.overlapped);
  return (of.read * (counts.memory_bytes - counts.result_bytes) +
          of.result * (1 - (counts.streams ? kStreams : 0)) * counts.result_bytes +
          short_run(counts.result_run_bytes) * counts.result_bytes +
          (counts.cut_sectors > 0 ? kInside : 0) * counts.result_bytes +
          kCutSector * static_cast<double>(kSectorBytes) * counts.cut_sectors) /
         (device.copy_rate_GBs() * 1e9);
}

double cache_cycles(double bytes, double lines) { return bytes / kCacheBytes + kCacheLine * lines; }

double ContractionCounts::shared_cycles() const {
  return (in_pairs ? kPairedFragment : units(overlapped).fragment) * fragment_wavefronts + copied_cycles();
}

double CopyCounts::copied_cycles(bool overlapped) const {
  return units(overlapped).copied * copied_wavefronts + kScattered * scattered + kLine * requested_lines();
}

double CopyCounts::requested_lines() const { return lines + kSplit * split; }

double ContractionCounts::store_cycles() const {
  const auto& of = units(overlapped);
  return kStore * stores + of.store_line * store_lines + (terms <= 1 ? kOuterPart : of.part_sector) * part_sectors +
         of.copied * stored_wavefronts;
}

LaunchTimes::LaunchTimes(const ContractionCounts& counts, const GpuModel& device)
    : device_(&device),
      blocks_(counts.blocks),
      rounds_(counts.rounds),
      turns_(counts.turns),
      reread_(counts.reread_bytes / (kRereadBytes * device.clock_MHz * 1e6)),
      at_once_(multiprocessors_of(counts.cluster, device)),
      in_turns_(turns_of(counts, at_once_)),
      seconds_(in_turns_ / (device.clock_MHz * 1e6)),
      overlapped_(counts.overlapped),
      short_sum_(counts.terms <= kShortSum && counts.turns == 1),
      multiply_adds_(counts.multiply_adds),
      by_three_(counts.by_three),
      in_step_(std::min(1.0, kInStepTerms / counts.terms)),
      around_((block_cycles(counts) + (counts.shared() ? kMeet : 0)) / counts.turns),
      last_part_(counts.last > 0 ? 1.0 / counts.cluster : 1),
      last_in_parts_(last_in_parts_of(counts)),
      launch_(launch_seconds(counts, device)),
      lines_(counts.requested_lines() * counts.rounds * counts.blocks),
      busy_cycles_(busy_cycles(counts, in_turns_, device)),
      first_cache_(first_cache_byte_seconds(counts, device)),
      memory_(memory_seconds(counts, device)),
      fetched_(counts.fetched) {
  set_round(counts);
  squares_ = squared(memory_) + squared(first_cache_seconds(0, 0));
  cache_fourth_ = fourth(cache_);
}

void LaunchTimes::set_round(const ContractionCounts& counts) {
  warps_ = counts.warps;
  pipe_ = counts.pipe_cycles;
  ahead_ = counts.prefetched;
  begin_ = counts.overlapped ? 0 : begin_cycles(counts.prefetched, counts.multiply_adds, counts.warps);
  if (by_three_ && rounds_ > 1) pipe_ *= (ahead_ ? kThreeAhead : kThreeRead) * (warps_ < 12 ? 1 : kThreeTwelve);
  issue_ = counts.issue_cycles();
  shared_ = counts.shared_cycles();
  stores_ = counts.store_cycles();
  relaid_ = counts.stored_wavefronts == 0 || counts.overlapped ? 0
            : multiply_adds_                                   ? kRelaid + kRelaidWavefront * counts.stored_wavefronts
            : ahead_                                           ? kRelaidAhead
                                                               : kRelaid;
  const double own = own_parts(counts.warps);
  own_products_ = pipe_ / own;
  own_issue_ = issue_ / own;
  round_ = hidden(own_products_, shared_, own_issue_);
  waited_ = kWaited * counts.waits + kWaitedLoad * counts.loads * counts.warps;
  exposed_ = exposed_cycles(counts.copied_cycles());
  cache_ = cache_cycles(counts.cached_bytes, lines_) / busy_cycles_;
}

double LaunchTimes::round_beside(double blocks) const {
  return ahead_ ? round_ : by_warps(warps_ * blocks, own_products_, shared_, own_issue_);
}

double LaunchTimes::own_round(double resident) const {
  return overlapped_ ? std::max(round_, waited_) : round_beside(resident) + waited_;
}

/// Blocks of one multiprocessor, each as if nothing ran beside it, over those that do.
double LaunchTimes::alone_seconds(double stages, double room) const {
  const double resident = std::min(room, in_turns_ / turns_);
  // What is copied ahead must cover the time that memory takes, while blocks have each part in turns.
  const double in_turns = overlapped_ ? 1 : std::max(1.0, resident * std::min(1.0, warps_ / 4.0));
  // Where a round ends with the next one's fragments, their copies have a round less.
  const double covered = ((stages - 1) * in_turns - (ahead_ ? 1 : 0)) * (round_ + (turns_ > 1 ? stores_ / rounds_ : 0));
  const double late = std::max(0.0, units(overlapped_).latency - covered) / (stages - 1);
  const double begin = room < 2 ? begin_ + (by_three_ ? kThreeRound : 0) : 0;
  const double of_round = own_round(resident) + (overlapped_ ? late : exposed_ + late + begin);
  const double later = (multiply_adds_ || by_three_) && rounds_ <= 3 ? kLaterRound * (rounds_ - 1) : 0;
  const double alone =
      around_ + rounds_ * std::max(of_round, overlapped_ ? kGroupRound : 0.0) + later + stores_ + relaid_;
  return seconds_ * alone / resident;
}

double fragment_cycles(double wavefronts, bool in_pairs) {
  return (in_pairs ? kPairedFragment : kOfWarps.fragment) * wavefronts;
}

double exposed_cycles(double copied_cycles) { return kBarrier + kExposed * copied_cycles; }

double own_parts(int warps) {
  const double parts = warps / 4.0;
  return std::min(parts, parts / rounded_up(parts));
}

ContractionTime LaunchTimes::beside_waits(double balance) const {
  ContractionTime time;
  time.products = seconds_ * rounds_ * (pipe_ / balance + begin_) * few_warps(warps_);
  time.shared = seconds_ * rounds_ * shared_;
  time.issue = seconds_ * rounds_ * issue_ / balance;
  time.stores = seconds_ * stores_;
  time.cache = cache_;
  time.memory = memory_;
  time.launch = launch_;
  return time;
}

double LaunchTimes::first_cache_seconds(double resident, double shared_bytes) const {
  return first_cache_ == 0 ? 0 : first_cache_ / first_cache_bytes(resident * (shared_bytes + kReservedBytes), *device_);
}

/// Of memory, for what blocks fetch beside their rounds and the second cache does not keep until they copy it.
double LaunchTimes::fetched_seconds(double resident) const {
  const double blocks = std::min(blocks_, at_once_ * resident);
  double bytes = 0;
  for (const auto& fetched : fetched_)
    bytes += fetched.bytes * std::clamp((blocks * fetched.between - kKept) / (kLost - kKept), 0.0, 1.0);
  return units(overlapped_).read * bytes / (device_->copy_rate_GBs() * 1e9);
}

/// What a launch takes whose blocks there is room for more than once, but not a whole number of times.
///   seconds  of all of them
double LaunchTimes::with_last_blocks(double seconds, int stages, double room) const {
  const double at_once = at_once_ * room * turns_;
  const double whole = rounded_down(blocks_ / at_once) * at_once;
  constexpr double kMany = 3;  // times: other parts of the time hide it
  if (whole == 0 || blocks_ == whole || blocks_ >= kMany * at_once) return seconds;
  const double uncovered = std::max(0.0, kOfWarps.latency - (stages - 1) * round_) / (stages - 1);
  const double one =
      kOfWarps.block + turns_ * (last_part_ * rounds_ * (round_beside(1) + kBarrier + uncovered) + stores_);
  const double before = (seconds - launch_) * whole / blocks_;
  return std::max(seconds, launch_ + before + kLastBlocks * (one / (device_->clock_MHz * 1e6)));
}

ContractionTime LaunchTimes::at(int stages, double room, double shared_bytes) const {
  const double resident = std::min(room, rounded_up(in_turns_ / turns_));
  // Three warps leave one of a multiprocessor's four parts to the next block's.
  const double parts = warps_ / 4.0, whole_parts = warps_ == 3 ? 1 : parts;
  auto time = beside_waits(resident * parts / rounded_up(resident * whole_parts));
  if (multiply_adds_) {
    const double factor = std::lerp(kFewResident, kInStep, in_step_), enough = std::lerp(12, 16, in_step_);
    time.products *= 1 + factor * std::max(0.0, enough / (resident * warps_) - 1);
  }
  if (by_three_ && room >= 2)
    time.products *= 1 + kThreeInStep * in_step_ * std::max(0.0, 12 / (resident * warps_) - 1);
  time.first_cache = first_cache_seconds(resident, shared_bytes);
  time.memory += fetched_seconds(resident);
  time.alone = alone_seconds(stages, room);
  time.total = launch_ + joined(time, room < 2);
  if (!overlapped_) time.total = with_last_blocks(time.total, stages, room);
  time.total *= last_in_parts_;
  if (turns_ > 1) time.total *= overlapped_ ? kGroupsInTurns : relaid_ == 0 && !multiply_adds_ ? kInTurns : 1;
  if (reread_ > 0) time.total = std::sqrt(squared(time.total) + squared(reread_));
  return time;
}

double LaunchTimes::least_of_groups(int stages, double room) const {
  auto time = beside_waits(1);
  time.first_cache = first_cache_seconds(0, 0);
  time.alone = short_sum_ ? seconds_ * (rounds_ * std::max(own_round(room), kGroupRound) + stores_) /
                                std::min(room, in_turns_ / turns_)
                          : alone_seconds(stages, room);
  return launch_ + hidden_by_groups(time);  // tiles in turns hide all
}

double LaunchTimes::joined(const ContractionTime& time, bool one) const {
  if (!overlapped_) return launched(squares_of(time), one ? fourths_of_one(time) : fourths_of(time, ahead_));
  if (!short_sum_) return hidden_by_groups(time);
  return std::sqrt(squared(time.products) + squared(time.shared) + squared(time.issue) + squared(time.stores) +
                   squared(time.alone) + squared(time.cache) + squares_of(time));
}

bool LaunchTimes::may_take(const RoundCycles& cycles, int warps, double own, double room, double seconds) const {
  seconds /= last_in_parts_;
  const double resident = std::min(room, in_turns_), products = cycles.pipe / own, issue = cycles.issue / own;
  const double round = cycles.prefetched ? std::max({products, cycles.shared, issue})
                                         : least_by_warps(warps * resident, products, cycles.shared, issue);
  const double alone = around_ + rounds_ * (round + cycles.exposed) + cycles.stores;
  const double few = few_warps(warps);
  const double begin = begin_cycles(cycles.prefetched, multiply_adds_, warps);
  const double beside = fourth(rounds_) * about_fourth_of_rounds(cycles.prefetched, (cycles.pipe + begin) * few,
                                                                 cycles.shared, cycles.issue) +
                        fourth(cycles.stores) + fourth(alone / resident);
  const double one = fourth(alone + rounds_ * begin);
  return within(squares_, fourth(seconds_) * (room < 2 ? one : std::min(beside, one)) + cache_fourth_,
                seconds - launch_);
}

bool LaunchTimes::may_take(int stages, double room, double seconds) const {
  if (std::isinf(seconds)) return true;
  seconds /= last_in_parts_;
  if (overlapped_) return least_of_groups(stages, room) <= seconds;
  double fourths = fourth(alone_seconds(stages, 1));  // as if a multiprocessor had one block at a time
  if (room >= 2) {
    const auto time = beside_waits(warps_ == 3 ? 0.75 : 1);
    const double beside = about_fourth_of_rounds(ahead_, time.products, time.shared, time.issue) + fourth(time.stores);
    fourths = std::min(fourths, beside + fourth(alone_seconds(stages, room)));
  }
  return within(squares_, fourths + fourth(cache_), seconds - launch_);
}

ContractionTime contraction_time(const ContractionCounts& counts, const GpuModel& device) {
  return LaunchTimes(counts, device).at(counts.stages, counts.resident, counts.shared_bytes);
}

TileTimes::TileTimes(const ContractionCounts& counts, const GpuModel& device)
    : device_(&device),
      blocks_(counts.blocks),
      in_turns_(turns_of(counts, multiprocessors_of(counts.cluster, device))),
      turns_(in_turns_ / (device.clock_MHz * 1e6)),
      busy_cycles_(busy_cycles(counts, in_turns_, device)),
      multiply_adds_(counts.multiply_adds),
      operand_bytes_(counts.operand_bytes),
      result_bytes_(counts.cached_bytes),
      around_(block_cycles(counts) + (counts.shared() ? kMeet : 0) + counts.store_cycles()),
      launch_(launch_seconds(counts, device)),
      last_in_parts_(last_in_parts_of(counts)),
      memory_(memory_seconds(counts, device)),
      squares_(squared(memory_)),
      fourths_(fourth(turns_ * counts.store_cycles())) {}

TileTimes TileTimes::in_clusters(int cluster) const {
  auto times = *this;
  times.blocks_ = blocks_ * cluster;
  const int more_than_half = cluster / 2 + 1;
  times.in_turns_ = rounded_up(blocks_ * more_than_half / device_->multiprocessors);
  times.turns_ = times.in_turns_ / (device_->clock_MHz * 1e6);
  times.busy_cycles_ = device_->multiprocessors * device_->clock_MHz * 1e6;
  times.around_ = kOfWarps.block;
  times.launch_ = kLaunchSeconds + kClusterSeconds;
  times.fourths_ = 0;
  return times;
}

SumTimes::SumTimes(const TileTimes& tile, const SumCounts& sum, double seconds)
    : tile_(tile),
      sum_(sum),
      resident_(std::max(1.0, rounded_down(sum.resident))),
      waits_(tile.around_ + sum.rounds * kBarrier + kExposed * sum.copied_cycles),
      squares_(tile.squares_) {
  const double copied_bytes = tile.blocks_ * sum.copied_bytes;
  cache_ = cache_cycles(copied_bytes + tile.result_bytes_, tile.blocks_ * sum.lines) / tile.busy_cycles_;
  cache_fourth_ = fourth(cache_);
  turns_fourth_ = fourth(tile.turns_);
  fourths_ = tile.fourths_ + cache_fourth_;
  if (sum.held_lines > 0) {
    squares_ +=
        squared(held_byte_seconds(tile.blocks_ * sum.held_lines, tile.operand_bytes_ / copied_bytes, *tile.device_) /
                first_cache_bytes(0, *tile.device_));
  }
  const double rest = squared(std::max(seconds / tile.last_in_parts_ - tile.launch_, 0.0)) / (1 - 1e-9) - squares_;
  most_ = rest < 0 ? -1 : squared(rest) / (1 - 1e-9);
}

double SumTimes::least(const WarpRates& warps) const {
  constexpr auto kAny = std::numeric_limits<double>::infinity();
  const double pipe = warps.pipe_cycles * sum_.positions * (sum_.joined ? warps.quotients : 1);
  const double shared = sum_.copied_cycles + warps.fragment_cycles * sum_.positions;
  const double issue = (sum_.copying + warps.warps * sum_.of_round + warps.instructions * sum_.positions) / 4;
  const bool ahead = sum_.may_prefetch && warps.prefetches;
  const double begin = begin_cycles(ahead, tile_.multiply_adds_, warps.warps);
  const double room = std::min(resident_, warps.resident), resident = std::min(room, tile_.in_turns_);
  const double of_part = 1 / warps.own_parts, products = of_part * pipe, issued = of_part * issue;
  // A block by itself, and beside a multiprocessor's other ones.
  const auto one = [&](double rounds) {
    return cache_fourth_ + turns_fourth_ * fourth(waits_ + rounds + sum_.rounds * begin);
  };
  const double share = turns_fourth_ / fourth(resident);
  const auto beside = [&](double rounds) { return fourths_ + share * fourth(waits_ + rounds); };
  const double longest = std::max({products, shared, issued}), all = warps.few * (pipe + sum_.rounds * begin);
  const bool may_be_one = one(longest) <= most_;
  // The longest part alone tells in most cases.
  if (!may_be_one && (room < 2 || beside(longest) + turns_fourth_ * fourth(std::max({all, shared, issue})) > most_))
    return kAny;
  const double parts = room < 2 ? 0 : turns_fourth_ * about_fourth_of_rounds(ahead, all, shared, issue);
  if (!may_be_one && beside(longest) + parts > most_) return kAny;
  const double many = warps.any ? std::numeric_limits<double>::infinity() : warps.warps * resident;
  const double rounds = ahead ? hidden(products, shared, issued) : least_by_warps(many, products, shared, issued);
  const double fourths = room < 2 ? one(rounds) : std::min(one(rounds), beside(rounds) + parts);
  return tile_.last_in_parts_ * (tile_.launch_ + launched(squares_, fourths));
}

double SumTimes::longest(const WarpRates& warps) const {
  const double waits = sum_.rounds * kGroupRound / std::min(resident_, tile_.in_turns_);
  return tile_.last_in_parts_ *
         (tile_.launch_ +
          std::max({tile_.turns_ * std::max({warps.pipe_cycles * sum_.positions, sum_.copied_cycles, waits}), cache_,
                    tile_.memory_}));
}

double few_warps(int warps) { return warps < 4 ? kFewWarps : 1; }

double least_time_of_launch(double cycles, double bytes, bool overlapped, const GpuModel& device, double cached) {
  const double clock = device.multiprocessors * device.clock_MHz * 1e6;
  const double products = cycles / clock, cache = cached / clock;
  const double memory = units(overlapped).result * (1 - kStreams) * bytes / (device.copy_rate_GBs() * 1e9);
  return kLaunchSeconds + (overlapped ? std::max({products, cache, memory})
                                      : launched(squared(memory), fourth(products) + fourth(cache)));
}

double least_time_by_warps(const RoundCycles& cycles, double cached, double memory, const GpuModel& device) {
  const double clock = device.clock_MHz * 1e6, cache = cached / (device.multiprocessors * clock);
  const double rounds = about_fourth_of_rounds(cycles.prefetched, cycles.pipe, cycles.shared, cycles.issue);
  return kLaunchSeconds + launched(squared(memory), rounds / fourth(clock) + fourth(cache));
}

std::vector<TimePart> parts_of(const ContractionTime& time) {
  return {{"memory", 1e6 * time.memory},     {"L2", 1e6 * time.cache},      {"L1", 1e6 * time.first_cache},
          {"products", 1e6 * time.products}, {"shared", 1e6 * time.shared}, {"issue", 1e6 * time.issue},
          {"stores", 1e6 * time.stores},     {"alone", 1e6 * time.alone},   {"launch", 1e6 * time.launch}};
}

std::string round_text(const ContractionCounts& counts) {
  const double shared = counts.shared_cycles(), issue = counts.issue_cycles();
  return fmt::format(
      "a block's round takes {:.0f} cycles of products, {:.0f} of shared memory and {:.0f} of issue: "
      "products are {:.2f} of the most",
      counts.pipe_cycles, shared, issue, counts.pipe_cycles / std::max({counts.pipe_cycles, shared, issue}));
}

}  // namespace ricci::plan
