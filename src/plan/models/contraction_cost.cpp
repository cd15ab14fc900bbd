// Constants are fitted to 1,820 timings of kernels on an NVIDIA H200 (`ricci-bench contract --top 10` and `--top 16` of
// tccg48 in f64, f32 and bf16, and of parts of talsh300): times off by 13 % in the mean of squares in f64, 12 % in f32
// and 21 % in bf16, and of 60 cases in f64 whose best candidates were all timed the chosen one takes 1.10 times the
// fastest one's time, of 31 in f32 1.07. They are in cycles and bytes, so that another device comes in by its model.
#include "plan/models/contraction_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernel/kernel.hpp"

namespace ricci::plan {
namespace {

constexpr double kCacheBytes = 63;   // of a multiprocessor in a cycle, from the second cache
constexpr double kCacheLine = 1.87;  // cycles of a multiprocessor's share of that cache for a line that is asked for
/// Lines of the first cache are taken from when a copy asks for them until they are there: cycles, from memory and from
/// the second cache (of 67 kernels of talsh300 in f64, whose extents are odd: off by 30 % without, 15 % with it).
constexpr double kFromMemory = 1500, kFromCache = 800;
constexpr double kBlock = 200;           // cycles before a block's first product and after its last one
constexpr double kLatency = 2580;        // of memory under load, from a copy's issue to its barrier
constexpr double kBarrier = 67;          // of a round
constexpr double kRound = 188;           // of a round too, which products of another block do not hide
constexpr double kPrefetchedRound = 45;  // of such a round whose first fragments were read in the round before
constexpr double kExposed = 0.11;        // share of copies that a block's products do not hide
constexpr double kFragment = 0.73;       // cycles of a wavefront that is read
constexpr double kCopied = 1.48;         // of one that is written
constexpr double kScattered = 0.86;      // of an element that is written on its own
constexpr double kLine = 0.52;           // of a line
/// Lines that a piece counts for whose copy splits sectors, more than those that it has (fitted to 402 kernels in f64
/// on an H100 and an H200: off by 11.8 % and 9.9 % with it, by 15.7 % and 12.8 % without; rows of 80 bytes took 1.25
/// times as long as was predicted. The plans that follow took 0.97 of the time of those before on an H100, talsh300 in
/// f64).
constexpr double kSplit = 1.5;
constexpr double kStore = 0.11;       // of an instruction that stores results
constexpr double kStoreLine = 2.96;   // of a line that it asks for
constexpr double kPartSector = 3.4;   // of a sector of which it writes a part: the cache reads it first
constexpr double kCompulsory = 1.06;  // of the time that a copy of as many bytes takes
constexpr double kShortRun = 0.034;   // more for results in short runs
constexpr double kWholeRun = 1152;    // bytes (cost_cuda.cpp)
constexpr double kPartLine = 0.095;   // more for results whose runs cut lines in two, a cut for each line
constexpr double kCutRows = 1.75;     // of outer products in short runs, which are all of their bytes (6 of talsh300)
constexpr double kFewWarps = 1.42;    // of products by blocks of fewer than four warps, which leave pipes idle
/// Products of warp groups go on from round to round: of 22 kernels of bench/problems/gemm.csv in bf16 (off by 18 %).
constexpr double kGroupRound = 830;  // cycles of a round at least, whose fence waits for copies
/// Cycles that a thread waits for each load of a round whose elements it converts for warp groups: one after the other
/// (tccg_ccsd13 of f32 in bf16 on an H100: 8000 cycles a round with 12.5 of them).
constexpr double kWaited = 640;
constexpr double kShortSum = 512;  // terms, of whose rounds the first and the last ones are not hidden (tccg48_f32)
/// Cycles that blocks of a cluster wait for each other: to begin together, for the parts of their sums, and to end.
constexpr double kMeet = 2000;
/// Of the time of a block on its own, what the last blocks take, which are too few to ask for all that memory can do
/// (of 70 kernels of talsh300 in f64 with one to three times the blocks that there is room for at once).
constexpr double kLastBlocks = 0.8;
constexpr double kLaunchSeconds = 2e-6;

/// Multiprocessors that clusters of so many blocks have room on: those of a cluster are of one GPC, of which an H100
/// has some with fewer (its cudaOccupancyMaxActiveClusters, of 132 for blocks of 200 KB of shared memory).
double multiprocessors_of(const ContractionCounts& counts, const GpuModel& device) {
  constexpr std::array<double, kernel::kMostCluster> kRoom = {132, 132, 117, 120, 110, 102, 105, 120};
  return std::floor(device.multiprocessors * kRoom[static_cast<std::size_t>(counts.cluster - 1)] / kRoom[0]);
}

/// As side_by_side() inside of a round, where more is hidden: the norm of their eighth powers.
template <class... Times>
double hidden(Times... times) {
  const auto eighth = [](double x) { return x * x * x * x * x * x * x * x; };
  return std::sqrt(std::sqrt(std::sqrt((eighth(times) + ...))));
}

/// What a block takes for its products, shared memory and issue: one after the other where each part of the
/// multiprocessor has one warp, which waits for each of them in turn, and the more hidden the more warps there are (of
/// 6 kernels of talsh300 in f64 on an H200: off by 12 %).
template <class... Times>
double by_warps(double warps, Times... times) {
  if (warps < 8) return (times + ...);
  return warps < 12 ? std::sqrt(((times * times) + ...)) : side_by_side(times...);
}

/// Cache lines that runs of so many bytes cut in two, over those that they fill: two blocks write such a line.
double cut_lines(double run_bytes) {
  const auto run = static_cast<std::int64_t>(run_bytes);
  static_assert(std::has_single_bit(std::uint64_t{kCacheLineBytes}));
  const auto whole = std::min<std::int64_t>(run & -run, kCacheLineBytes);  // their greatest common divisor
  return run < 1 ? 0 : static_cast<double>(kCacheLineBytes - whole) / static_cast<double>(run);
}

/// Of the second cache, which takes requests and the bytes that they are for.
double cache_seconds(const ContractionCounts& counts, const GpuModel& device) {
  const double lines = (counts.lines + kSplit * counts.split) * counts.rounds * counts.blocks;
  const double cycles = cache_cycles(counts.cached_bytes, lines);
  const double busy = counts.blocks / std::ceil(counts.blocks / device.multiprocessors);  // multiprocessors, on average
  return cycles / (busy * device.clock_MHz * 1e6);
}

/// Bytes of a multiprocessor's first cache, which shares its memory with what is shared: of the sizes that a driver may
/// give to that (CUDA C++ Programming Guide, compute capabilities), the least with room for the blocks.
double first_cache_bytes(double shared_bytes, const GpuModel& device) {
  constexpr double kAlways = 28;  // KB that are left beside the most
  const double most = static_cast<double>(device.shared_bytes_per_multiprocessor) / 1024;
  for (const double size : {0, 8, 16, 32, 64, 100, 132, 164, 196}) {
    if (shared_bytes <= size * 1024 && size < most) return (most + kAlways - size) * 1024;
  }
  return kAlways * 1024;
}

/// Of the first cache: what has room there is all that can be on its way.
///   resident  blocks of a multiprocessor
double first_cache_seconds(const ContractionCounts& counts, const GpuModel& device, double resident) {
  if (counts.held_lines == 0) return 0;
  constexpr double kReserved = 1024;  // bytes of shared memory, of a block
  const double room = first_cache_bytes(resident * (counts.shared_bytes + kReserved), device) / kCacheLineBytes;
  const double share = std::min(1.0, counts.operand_bytes / counts.copied_bytes);
  const double latency = kFromCache + (kFromMemory - kFromCache) * share;
  return counts.held_lines * counts.rounds * counts.blocks / device.multiprocessors * latency /
         (room * device.clock_MHz * 1e6);
}

/// Of memory, which a result in short runs and in parts of lines takes longer to write.
double memory_seconds(const ContractionCounts& counts, const GpuModel& device) {
  const bool cut = counts.terms <= 1 && counts.result_run_bytes < kWholeRun;
  return (cut ? kCutRows : 1) *
         (kCompulsory * counts.memory_bytes + short_run(counts.result_run_bytes) * counts.result_bytes) /
         (device.copy_rate_GBs() * 1e9);
}

/// What a launch takes whose parts take so long.
template <class... Times>
double launched(const ContractionCounts& counts, Times... times) {
  if (!counts.overlapped) return kLaunchSeconds + side_by_side(times...);
  return kLaunchSeconds + (counts.terms <= kShortSum ? std::sqrt(((times * times) + ...)) : hidden(times...));
}

/// What a launch takes whose blocks there is room for more than once, but not a whole number of times.
///   seconds  of all of them
///   alone    of one block
double with_last_blocks(const ContractionCounts& counts, const GpuModel& device, double seconds, double alone) {
  const double at_once = multiprocessors_of(counts, device) * counts.resident;
  const double whole = std::floor(counts.blocks / at_once) * at_once;
  constexpr double kMany = 3;  // times: other parts of the time hide it
  if (whole == 0 || counts.blocks == whole || counts.blocks >= kMany * at_once) return seconds;
  const double before = (seconds - kLaunchSeconds) * whole / counts.blocks;
  return std::max(seconds, kLaunchSeconds + before + kLastBlocks * alone);
}

/// Of a block's round, in cycles: its products by the multiprocessor's parts that it keeps busy on its own.
struct RoundTime {
  double products, shared, issue;

  RoundTime(const ContractionCounts& counts, double own)
      : products(counts.pipe_cycles / own), shared(counts.shared_cycles()), issue(counts.issue_cycles() / own) {}
  double of_all() const { return hidden(products, shared, issue); }
  double longest() const { return std::max({products, shared, issue}); }
};

/// A multiprocessor has four parts with pipes and issue of their own: of these, what a block alone keeps busy.
double own_parts(const ContractionCounts& counts) {
  const double parts = counts.warps / 4.0;
  return std::min(parts, parts / std::ceil(parts));
}

double stores_of(const ContractionCounts& counts) {
  return kStore * counts.stores + kStoreLine * counts.store_lines + kPartSector * counts.part_sectors +
         kCopied * counts.stored_wavefronts;
}

/// What runs beside blocks' waits, without all of a launch's parts.
///   least  a lower bound for as many stages and blocks at once as the counts have, and for fewer
ContractionTime beside_waits(const ContractionCounts& counts, const GpuModel& device, bool least) {
  const double in_turns = std::ceil(counts.blocks / multiprocessors_of(counts, device));  // of one multiprocessor
  const double resident = std::min(counts.resident, in_turns);
  // Three warps leave one of a multiprocessor's four parts to the next block's.
  const double parts = counts.warps / 4.0, whole_parts = counts.warps == 3 ? 1 : parts;
  const double balance = least ? parts / whole_parts : resident * parts / std::ceil(resident * whole_parts);
  ContractionTime time;
  const double turns = in_turns / (device.clock_MHz * 1e6);
  const double begin = counts.overlapped ? 0 : counts.prefetched ? kPrefetchedRound : kRound;
  time.products = turns * counts.rounds * (counts.pipe_cycles / balance + begin) * (counts.warps < 4 ? kFewWarps : 1);
  time.shared = turns * counts.rounds * counts.shared_cycles();
  time.issue = turns * counts.rounds * counts.issue_cycles() / balance;
  time.stores = turns * stores_of(counts);
  time.cache = cache_seconds(counts, device);
  time.first_cache = first_cache_seconds(counts, device, least ? 0 : resident);
  time.memory = memory_seconds(counts, device);
  time.launch = kLaunchSeconds;
  return time;
}

/// Blocks of one multiprocessor, each as if nothing ran beside it, over those that do.
///   own_round  cycles of a round that its block's warps wait for
///   round      of what a round takes where all is hidden
double alone_seconds(const ContractionCounts& counts, const GpuModel& device, const RoundTime& of, double own_round,
                     double round) {
  const double in_turns = std::ceil(counts.blocks / multiprocessors_of(counts, device));
  const double resident = std::min(counts.resident, in_turns);
  // What is copied ahead must cover the time that memory takes.
  const double covered = (counts.stages - 1) * (counts.overlapped ? 1 : resident) * round;
  const double late = std::max(0.0, kLatency - covered) / (counts.stages - 1);
  const double waited =
      counts.overlapped ? late : kBarrier + kExposed * (of.shared - kFragment * counts.fragment_wavefronts) + late;
  const double alone = kBlock + (counts.cluster > 1 ? kMeet : 0) +
                       counts.rounds * std::max(own_round + waited, counts.overlapped ? kGroupRound : 0.0) +
                       stores_of(counts);
  return in_turns / (device.clock_MHz * 1e6) * alone / resident;
}

}  // namespace

double cache_cycles(double bytes, double lines) { return bytes / kCacheBytes + kCacheLine * lines; }

double short_run(double run_bytes) {
  return kShortRun * std::max(0.0, 1 - run_bytes / kWholeRun) + kPartLine * cut_lines(run_bytes);
}

double ContractionCounts::shared_cycles() const {
  return kFragment * fragment_wavefronts + kCopied * copied_wavefronts + kScattered * scattered +
         kLine * (lines + kSplit * split);
}

ContractionTime contraction_time(const ContractionCounts& counts, const GpuModel& device) {
  auto time = beside_waits(counts, device, false);
  const double in_turns = std::ceil(counts.blocks / multiprocessors_of(counts, device));
  const double resident = std::min(counts.resident, in_turns);
  const RoundTime of(counts, own_parts(counts));
  const double round = of.of_all();
  const auto round_beside = [&](double blocks) {
    return by_warps(counts.warps * blocks, of.products, of.shared, of.issue);
  };
  const double own_round = counts.overlapped ? std::max(round, kWaited * counts.waited) : round_beside(resident);
  time.alone = alone_seconds(counts, device, of, own_round, round);
  time.total = launched(counts, time.products, time.shared, time.issue, time.stores, time.alone, time.cache,
                        time.first_cache, time.memory);
  if (counts.overlapped) return time;
  const double uncovered = std::max(0.0, kLatency - (counts.stages - 1) * round) / (counts.stages - 1);
  const double one = kBlock + counts.rounds * (round_beside(1) + kBarrier + uncovered) + stores_of(counts);
  time.total = with_last_blocks(counts, device, time.total, one / (device.clock_MHz * 1e6));
  return time;
}

bool blocks_may_take(const ContractionCounts& counts, const GpuModel& device, double seconds) {
  if (std::isinf(seconds)) return true;
  auto time = beside_waits(counts, device, true);
  const auto cube = [](double x) { return x * x * x; };
  const double most = cube(std::max(seconds - kLaunchSeconds, 0.0));
  const auto cubes = [&] {
    return cube(time.products) + cube(time.shared) + cube(time.issue) + cube(time.stores) + cube(time.alone) +
           cube(time.cache) + cube(time.first_cache) + cube(time.memory);
  };
  if (!counts.overlapped && cubes() > most) return false;
  const RoundTime of(counts, own_parts(counts));
  const double round = of.of_all();
  time.alone = alone_seconds(counts, device, of, counts.overlapped ? round : of.longest(), round);
  if (!counts.overlapped) return cubes() <= most;
  return launched(counts, time.products, time.shared, time.issue, time.stores, time.alone, time.cache, time.first_cache,
                  time.memory) <= seconds;
}

double least_time_of_tile(const ContractionCounts& counts, const GpuModel& device) {
  const double in_turns = std::ceil(counts.blocks / multiprocessors_of(counts, device));
  const double turns = in_turns / (device.clock_MHz * 1e6);
  const double shared = counts.shared_cycles(), issue = counts.issue_cycles(), stores = kStore * counts.stores;
  const double begin = counts.overlapped ? 0 : counts.prefetched ? std::min(kRound, kPrefetchedRound) : kRound;
  const double barrier = counts.overlapped ? 0 : kBarrier;
  const double alone = kBlock + counts.rounds * (std::max({counts.pipe_cycles, shared, issue}) + barrier) + stores;
  const double rounds = turns * counts.rounds;
  return launched(counts, rounds * (counts.pipe_cycles + begin), rounds * shared, rounds * issue, turns * stores,
                  turns * alone / std::min(counts.resident, in_turns), cache_seconds(counts, device),
                  first_cache_seconds(counts, device, 0), memory_seconds(counts, device));
}

double least_time_of_launch(double cycles, double bytes, bool overlapped, const GpuModel& device) {
  const double products = cycles / (device.multiprocessors * device.clock_MHz * 1e6);
  const double memory = kCompulsory * bytes / (device.copy_rate_GBs() * 1e9);
  return kLaunchSeconds + (overlapped ? std::max(products, memory) : side_by_side(products, memory));
}

std::vector<TimePart> parts_of(const ContractionTime& time) {
  return {{"memory", 1e6 * time.memory},     {"L2", 1e6 * time.cache},      {"L1", 1e6 * time.first_cache},
          {"products", 1e6 * time.products}, {"shared", 1e6 * time.shared}, {"issue", 1e6 * time.issue},
          {"stores", 1e6 * time.stores},     {"alone", 1e6 * time.alone},   {"launch", 1e6 * time.launch}};
}

std::string round_text(const ContractionCounts& counts) {
  const double shared = counts.shared_cycles(), issue = counts.issue_cycles();
  return fmt::format(
      "a block's round takes {:.0f} cycles of products, {:.0f} of shared memory and {:.0f} of issue: products are "
      "{:.2f} "
      "of the most",
      counts.pipe_cycles, shared, issue, counts.pipe_cycles / std::max({counts.pipe_cycles, shared, issue}));
}

}  // namespace ricci::plan
