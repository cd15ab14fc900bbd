#include "plan/enumerate/cut_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/models/traffic.hpp"

namespace ricci::plan {
using tiles::Tile;
using tiles::up;

namespace {
constexpr std::int64_t kWhole = 1 << 20;  ///< positions of sides of which lanes hold as many neighbours as they can
}  // namespace

CutCounts::CutCounts(const ir::Program& program, const GpuContraction& contraction, const GpuModel& device)
    : contraction_(contraction),
      device_(device),
      prefetches_(contraction.prefetches()),
      streams_(contraction.leaves_cache() && contraction.follows_result),
      widest_(contraction.spread(kWhole, kWhole, 1, 1)) {
  const auto& out = contraction.out(program);
  result_bytes_ =
      static_cast<double>((out.last - out.first + 1) * contraction.result_size) * (contraction.reads_result ? 2 : 1);
  operand_bytes_ = contraction.operand_bytes();
  const auto& c = contraction;
  const auto size = static_cast<double>(c.size);
  each_.rows = 1.0 / (c.fma ? c.atom().m : 32);
  each_.columns = 1.0 / (c.fma ? c.atom().n : 32);
  each_.fragment_cycles = fragment_cycles((c.in_pairs() ? 0.5 : 1) * 32 * size / kCacheLineBytes, c.in_pairs());
  each_.loads = 1 / (std::max(16 / size, 1.0) * c.per_register * (c.per_register > 1 ? 4 : 1));
  each_.instructions = c.fma ? c.real_products * c.operations / 32.0 : 0;
  best_result_ = of_result(kBestPlace);
  least_memory_ = memory_seconds(best_result_, device);
}

double CutCounts::blocks(const Tile& rows, const Tile& columns) const {
  const auto blocks = static_cast<double>(rows.blocks * columns.blocks * contraction_.batches);
  if (contraction_.products == 1) return blocks;
  const auto extent = contraction_.batch_axes[contraction_.products_axis].extent;
  return blocks * (static_cast<double>(tiles::parts(extent, contraction_.products)) / static_cast<double>(extent));
}

double CutCounts::least_seconds(const Tile& rows, const Tile& columns, const LeastChunk& chunk, bool shared) const {
  const auto& c = contraction_;
  const double count = blocks(rows, columns), positions = static_cast<double>(chunk.positions);
  const auto held_rows = static_cast<double>(up(rows.size, c.row_unit));
  const auto held_columns = static_cast<double>(up(columns.size, c.column_unit));
  const auto products = static_cast<double>(c.products), results = held_rows * held_columns * products;
  const auto bytes = count * positions * products *
                     static_cast<double>(rows.size * c.element_bytes(true) + columns.size * c.element_bytes(false));
  const double cached = cache_cycles(bytes + result_bytes_, bytes / kCacheLineBytes);
  if (c.groups) return least_time_of_launch(count * positions * results / c.rate, c.bytes, true, device_, cached);
  const double turns = count / device_.multiprocessors, of_turns = (shared ? turns : rounded_up(turns)) * positions;
  const double reads = each_.rows * held_rows + each_.columns * held_columns;
  RoundCycles cycles;
  cycles.pipe = of_turns * results / c.rate;
  cycles.shared = of_turns * each_.fragment_cycles * reads;
  cycles.issue = of_turns * (each_.loads * reads + each_.instructions * results) / 4;
  cycles.prefetched = may_prefetch(shared ? 2 : 1);
  return least_time_by_warps(cycles, cached, least_memory_, device_);
}

ContractionCounts CutCounts::of_result(const Tile& rows, const Tile& columns, const ResultPlace& place) const {
  auto counts = of_result(place);
  counts.blocks = blocks(rows, columns);
  return counts;
}

ContractionCounts CutCounts::of_result(const ResultPlace& place) const {
  ContractionCounts counts;
  counts.terms = contraction_.terms;
  const auto run_bytes = place.run * contraction_.result_size;
  counts.memory_bytes = contraction_.bytes + result_bytes_ * (moved_for_runs(run_bytes) - 1);
  counts.result_bytes = counts.cached_bytes = result_bytes_;
  counts.streams = streams_;
  counts.operand_bytes = operand_bytes_;
  counts.overlapped = contraction_.groups;
  counts.multiply_adds = contraction_.fma;
  counts.by_three = contraction_.by_three();
  counts.in_pairs = contraction_.in_pairs();
  counts.result_run_bytes = static_cast<double>(run_bytes);
  if (contraction_.is_outer())
    counts.cut_sectors = result_bytes_ / counts.result_run_bytes * partial_sectors(run_bytes, place.run_alignment);
  return counts;
}

ContractionCounts CutCounts::of(const Cut& cut, const ResultPlace& place, const Copies& a, const Copies& b) const {
  auto counts = of_result(*cut.rows, *cut.columns, place);
  const bool stays = cut.counted_turns() > 1 && !contraction_.groups;  // the operand that a block's turns do not move
  const auto tiles = static_cast<double>(cut.counted_turns());
  const auto& rows = stays && !cut.turns_rows ? in_share(a, tiles) : a;
  const auto& columns = stays && cut.turns_rows ? in_share(b, tiles) : b;
  set_copies(counts, rows, columns, *cut.depth, cut.share);
  set_round(counts, cut, place, rows, columns);
  counts.prefetched = cut.prefetch;
  counts.stages = contraction_.counted_stages(cut.stages);
  counts.turns = tiles;
  counts.resident = cut.resident;
  counts.shared_bytes = cut.shared_bytes;
  return counts;
}

void CutCounts::set_copies(ContractionCounts& counts, const Copies& a, const Copies& b, const Tile& depth,
                           const DepthShare& share) const {
  if (counts.shared()) counts.blocks /= counts.cluster;
  counts.cluster = share.blocks;
  counts.last = static_cast<double>(share.last);
  if (counts.shared()) counts.blocks *= counts.cluster;
  const auto rounds = share.last > 0 ? depth.blocks : depth.blocks / share.all * share.chunks;
  counts.rounds = static_cast<double>(rounds);
  counts.scattered = a.scattered + b.scattered;
  counts.copied_wavefronts = a.wavefronts + b.wavefronts;
  counts.lines = a.lines + b.lines;
  counts.split = a.split + b.split;
  counts.held_lines = a.held_lines + b.held_lines;
  counts.copied_bytes = counts.blocks * (a.bytes + b.bytes) * counts.rounds;
  counts.cached_bytes = counts.copied_bytes + result_bytes_;
  counts.reread_bytes = counts.blocks * counts.rounds *
                        ((contraction_.is_small(true) ? a.bytes : 0) + (contraction_.is_small(false) ? b.bytes : 0));
  const double times = std::min(1.0, operand_bytes_ / counts.copied_bytes) * counts.blocks * counts.rounds;
  const auto fetched = [&](const Copies& of) {
    return Fetched{times * of.fetched_bytes, of.rounds_apart * (a.bytes + b.bytes)};
  };
  counts.fetched = {fetched(a), fetched(b)};
}

RoundRates CutCounts::rates(const kernel::Spread& spread, std::int64_t rows, std::int64_t columns) const {
  const auto& c = contraction_;
  const double warps = spread.warps(), size = static_cast<double>(c.size);
  const auto results = static_cast<double>(rows * columns * c.products);
  RoundRates rates;
  rates.pipe_cycles = results / c.rate;
  if (c.groups) return rates;
  // Fragments: elements of a lane by the instructions that read them, and the wavefronts of each.
  const double lane_rows = static_cast<double>(rows) / spread.warp_rows / (c.fma ? c.atom().m : 32);
  const double lane_columns = static_cast<double>(columns) / spread.warp_columns / (c.fma ? c.atom().n : 32);
  // Bytes that no matrix load turns are read one by one and put together by three instructions a register.
  const auto by_bytes = [&](bool of_rows) {
    return c.per_register > 1 && !c.deep(of_rows) && !kernel::lies_either_way(c.atom().a.type);
  };
  const auto at_once = [&](bool of_rows) {
    if (by_bytes(of_rows)) return c.per_register / (2.0 * c.per_register - 1);
    if (c.per_register > 1) return 4.0 * c.per_register;
    const int run = c.deep(of_rows) ? spread.run_depth : of_rows ? spread.run_rows : spread.run_columns;
    return static_cast<double>(std::min<std::int64_t>(run, std::max<std::int64_t>(16 / c.size, 1)));
  };
  rates.instructions = warps * (lane_rows / at_once(true) + lane_columns / at_once(false));
  // Vectors along the depth meet in banks: of 1.75 times the wavefronts (`tests/unit/plan_wavefronts.cpp`). With this
  // factor 80 kernels in f32 of 16 cases of talsh300 on an H100 by three warps and less took as long beside their
  // predictions as others did; those of more warps did without. Short sums by four have half of it: their
  // wavefronts are as many (counted), what that takes was not timed, and of kernels that are alike the fewest are best.
  const double deep = warps < 4 ? 1.5 : warps < 5 && c.has_short_sums() ? 1.25 : 1;
  // Lanes of an instruction that reads bytes meet in banks by pairs: rows are padded by 16 bytes (4096^3 on an H200).
  const auto read = [&](double elements, bool of_rows) {
    if (by_bytes(of_rows)) return 2 * elements * kCacheLineBytes / (32 * size);
    return elements * (c.fma && c.deep(of_rows) && spread.run_depth > 1 ? deep : 1);
  };
  const double alike = c.in_pairs() ? 0.5 : 1;
  rates.fragment_wavefronts =
      alike * warps * (read(lane_rows, true) + read(lane_columns, false)) * 32 * size / kCacheLineBytes;
  if (c.fma) {
    rates.instructions += warps * lane_rows * lane_columns * c.real_products * c.operations;
    return rates;
  }
  const auto& atom = c.atom();
  const double products = results / (atom.m * atom.n) / atom.k;
  rates.instructions += products * c.real_products * (c.factor_parts == 2 ? 3 : 1);
  // Rounding to tf32 is a test for infinities and an addition; a second part takes a subtraction and the same.
  if (atom.a.type == kernel::AtomType::tf32) {
    rates.instructions +=
        warps * (lane_rows + lane_columns) * (c.factor_parts == 2 ? 5 : 2) * (is_complex(c.type) ? 2 : 1);
  }
  if (is_complex(c.type)) rates.instructions += warps * (lane_columns + (c.by_three() ? lane_rows : 0));
  // Sums of both parts take turns with products at one pipe: of an H200, whose m16n8k4 with an addition between each
  // two took 1.28 times as long as without.
  constexpr double kAddition = 1.1;
  if (c.by_three()) rates.pipe_cycles += kAddition * warps * (lane_rows + lane_columns);
  return rates;
}

double CutCounts::moving(const Copies& a, const Copies& b, int warps) {
  return warps * (a.instructions * copies_of(a, warps) + b.instructions * copies_of(b, warps) + kOfRound) +
         (a.converted + b.converted) / 32;
}

// Of 684 kernels in f64 on an H100 those of joined axes took 1.10 of what was predicted by four warps and fewer, 1.00
// by eight, 0.88 by twelve, others 1.00, 0.96 and 0.97. Multiply-adds leave room for that: of 288 kernels in f32 those
// of joined axes took 0.84 of what others did of their predictions with these factors (18 changed plans of talsh300
// took 0.96 of the time before).
//   each  whether places along the depth are quotients for elements that are copied one by one: six such kernels by
//         twelve warps took 1.19 times what was predicted (0.99 to 1.53), seven of vectors 1.05
//   deep  whether places along the depth are quotients. Where they are not, ten kernels in c128 on an H200 by three
//         products and eight warps took 0.98 to 1.08 times as long as with this, those of no joined axes 1.13 to 1.21
double CutCounts::waits_for_quotients(int warps, bool each, bool deep) const {
  if (contraction_.fma) return 1.06;
  if (contraction_.by_three() && warps >= 8 && !deep) return 1;
  return warps < 8 || each ? 1.2 : warps < 12 ? 1.07 : 1;
}

// 68 kernels of multiply-adds in f32 on an H100 took 1.01 times as long as those of fewer sums, of what is predicted,
// and 1.05 times by tensor maps.
double CutCounts::waits_for_registers(int warps, std::int64_t results) const {
  constexpr std::int64_t kMostSums = 100;
  return contraction_.fma && results > kMostSums * 32 * warps ? 1.03 : 1;
}

double CutCounts::waits_for_steps(const Tile& depth) const { return contraction_.halves(depth) ? 1.1 : 1; }

// Of 17 kernels of six cases of ccsd_t of tccg48_f32 on an H200 those of more than 48 sums a thread took 1.10 to 1.43
// times what was predicted, those of 48 with positions beside the tile 1.26 and 1.27, others of 48 sums 0.95 to 1.13.
double CutCounts::waits_in_step(const Cut& cut, std::int64_t rows, std::int64_t columns) const {
  const auto& c = contraction_;
  constexpr double kOfManySums = 1.45, kOfPositionsBeside = 1.3;
  constexpr std::int64_t kManySums = 48;
  if (!c.fma || c.is_outer() || c.products > 1 || !c.has_short_sums()) return 1;
  const bool many = rows * columns * c.sum_words() > kManySums * 32 * cut.spread.warps();
  const bool beside = !cut.relaid && (rows > cut.rows->size || columns > cut.columns->size);
  return (many ? kOfManySums : 1) * (beside ? kOfPositionsBeside : 1);
}

void CutCounts::set_round(ContractionCounts& counts, const Cut& cut, const ResultPlace& place, const Copies& a,
                          const Copies& b) const {
  const auto rows = contraction_.held_rows(cut.spread, cut.rows->size);
  const auto columns = contraction_.held_columns(cut.spread, cut.columns->size);
  set_round(counts, cut, rates(cut.spread, rows, columns), place, a, b, rows, columns);
}

void CutCounts::set_round(ContractionCounts& counts, const Cut& cut, const RoundRates& rates, const ResultPlace& place,
                          const Copies& a, const Copies& b, std::int64_t rows, std::int64_t columns) const {
  const auto depth = static_cast<double>(cut.depth->size);
  counts.warps = cut.spread.warps();
  const auto results = rows * columns * contraction_.products;
  const bool joined = cut.rows->joined + cut.columns->joined + cut.depth->joined > 0;
  const bool each = cut.depth->joined > 0 && std::min(a.at_once, b.at_once) == 1;
  counts.pipe_cycles =
      rates.pipe_cycles * depth * (joined ? waits_for_quotients(counts.warps, each, cut.depth->joined > 0) : 1) *
      waits_for_registers(counts.warps, results) * waits_for_steps(*cut.depth) * waits_in_step(cut, rows, columns);
  if (contraction_.groups) {
    set_group_round(counts, cut);
  } else {
    counts.instructions = rates.instructions * depth;
    counts.fragment_wavefronts = rates.fragment_wavefronts * depth;
  }
  counts.instructions += moving(a, b, counts.warps);
  for (const auto* copies : {&a, &b}) {
    if (!passes_registers(*copies)) continue;
    // Warp groups that convert were timed before loads of several elements were under way together: 640 cycles each.
    constexpr double kRegisters = 40, kConverted = 0.35;
    const double loads = copies_of(*copies, counts.warps);
    if (contraction_.groups && copies->converted > 0) {
      counts.waits += kConverted * loads;
      continue;
    }
    const auto bytes = copies->at_once * static_cast<double>(contraction_.element_bytes(copies == &a));
    counts.loads += loads;
    counts.waits += rounded_up(loads * rounded_up(bytes / 4) / kRegisters);
  }
  set_stores(counts, cut, place, results);
}

bool CutCounts::passes_registers(const Copies& copies) const {
  constexpr double kLeastAsync = 4;  // bytes
  return copies.converted > 0 || copies.at_once * static_cast<double>(contraction_.size) < kLeastAsync;
}

void CutCounts::set_stores(ContractionCounts& counts, const Cut& cut, const ResultPlace& place,
                           std::int64_t results) const {
  const auto& c = contraction_;
  const auto stores = stores_of(c, cut, results, place, result_bytes_);
  counts.store_lines = stores.lines;
  counts.part_sectors = stores.part_sectors;
  counts.stored_wavefronts = stores.wavefronts;
  counts.cached_bytes = counts.copied_bytes + stores.bytes;
  if (counts.shared()) {
    counts.store_lines /= counts.cluster;
    counts.part_sectors /= counts.cluster;
    counts.stored_wavefronts *= static_cast<double>(size_of(c.type)) / static_cast<double>(c.result_size);
  }
  if (c.groups) {
    counts.stores = 3 * static_cast<double>(results) / 32;
    // Lines that leave through shared memory are whole.
    if (counts.shared() || c.line_bytes(*cut.rows, *cut.columns) == 0 || c.reads_result ||
        place.neighbours * c.result_size < kCacheLineBytes)
      return;
    counts.store_lines = static_cast<double>(results * c.result_size) / kCacheLineBytes;
    counts.part_sectors = 0;
    return;
  }
  // Complex results are put together of two sums each.
  // Quotients of results that pass through shared memory are worked out twice, between barriers (58 kernels of three
  // cases of talsh300 on an H100 took 1.31 times as long as was predicted by 15 instructions).
  const double of_quotient = cut.relaid ? 50 : 15;
  const double of_element = (c.is_outer()         ? 1 + 2.0 / cut.spread.run_columns
                             : is_complex(c.type) ? c.by_three() ? 18 : 15
                                                  : 3) +
                            of_quotient * static_cast<double>(cut.rows->joined + cut.columns->joined);
  const double written = counts.shared() ? of_element / counts.cluster + 3 : of_element + (cut.relaid ? 2 : 0);
  counts.stores = written * static_cast<double>(results) / 32;
}

void CutCounts::set_group_round(ContractionCounts& counts, const Cut& cut) const {
  const auto& c = contraction_;
  const auto& atom = c.atom();
  const double warps = counts.warps, group_count = warps / atom.warps;
  const double steps = static_cast<double>(cut.depth->size) / atom.k;
  const auto read = static_cast<double>((c.row_unit + cut.columns->size) * atom.k * c.size) / kCacheLineBytes;
  // Of rows of 32 bytes an instruction reads a quarter of each bank's lines at a time (bench/problems/gemm.csv).
  const auto short_rows = [&](bool of_rows) {
    return c.group_row(of_rows, of_rows ? *cut.rows : *cut.columns, *cut.depth) * c.size <= kSectorBytes;
  };
  const bool is_short = (c.read_by_groups(true) && short_rows(true)) || short_rows(false);
  counts.fragment_wavefronts = group_count * steps * read * (is_short ? 2 : 1);
  // Fragments in registers: a matrix load, or four elements that are rounded by two instructions each; a fence and a
  // wait of their own.
  const double of_fragment = !atom.holds_a ? 0 : atom.a.per_register() > 1 ? 4 : 15;
  counts.instructions = warps * steps * (4 + of_fragment);
}

double CutCounts::copies_of(const Copies& of, int warps) {
  return rounded_up(of.elements / of.at_once / (32.0 * warps));
}

ContractionCounts CutCounts::with_stores(ContractionCounts counts, const Tile& rows, const Tile& columns,
                                         const ResultPlace& place, int cluster) const {
  counts.cluster = cluster;
  bound_stores(counts, rows, columns, place);
  counts.cluster = 1;
  return counts;
}

void CutCounts::bound_stores(ContractionCounts& counts, const Tile& rows, const Tile& columns,
                             const ResultPlace& place) const {
  const auto& c = contraction_;
  Cut cut{&rows, &columns};
  cut.spread = widest_;
  const auto results = up(rows.size, c.row_unit) * up(columns.size, c.column_unit) * c.products;
  cut.relaid = counts.cluster > 1;
  set_stores(counts, cut, place, results);
  if (counts.cluster > 1 || !c.relays) return;
  auto others = counts;
  cut.relaid = true;
  set_stores(others, cut, place, results);
  const auto bytes = std::min(counts.cached_bytes, others.cached_bytes);
  if (others.store_cycles() < counts.store_cycles()) counts = others;
  counts.cached_bytes = bytes;
}

std::array<WarpRates, 2> CutCounts::least_rates(const Tile& rows, const Tile& columns) const {
  const auto& c = contraction_;
  const auto size = static_cast<double>(c.size);
  const auto held_rows = static_cast<double>(up(rows.size, c.row_unit));
  const auto held_columns = static_cast<double>(up(columns.size, c.column_unit));
  const double results = held_rows * held_columns * static_cast<double>(c.products);
  const double words = results * static_cast<double>(c.sum_words());  // of sums, which registers hold
  constexpr double kBeside = 32;  // registers of a thread, besides sums and operands
  const double holding = std::max(rounded_up(words / (32 * (kMostRegisters - kBeside))), 1.0);  // warps
  const double lane_rows = each_.rows * held_rows, lane_columns = each_.columns * held_columns;
  const auto by = [&](double warps) {
    WarpRates rates;
    rates.any = rates.prefetches = true;
    rates.warps = static_cast<int>(warps);
    rates.few = few_warps(rates.warps);
    rates.quotients = c.fma ? waits_for_quotients(rates.warps) : 1;
    rates.pipe_cycles = results / c.rate;
    // Each row of warps reads all columns, each column of them all rows: the least of both where they are alike.
    const double reads = std::max(lane_rows + lane_columns, 2 * std::sqrt(warps * lane_rows * lane_columns));
    rates.fragment_cycles = each_.fragment_cycles * reads;
    rates.instructions = each_.loads * reads + each_.instructions * results;
    // Of what warps read for rows and columns as many as each other are the fewest.
    const double of_step = c.by_three() ? c.atom().k / 2.0 : 4;
    const double operands = c.fma ? 0 : of_step * size * std::sqrt(results * warps);
    rates.resident = rounded_down(std::min(device_.threads_per_multiprocessor / (32 * warps),
                                           4.0 * kRegistersPerPart / (words + operands + 32 * kBeside * warps)));
    return rates;
  };
  constexpr double kMany = 4;  // that keep all parts of a multiprocessor busy
  const auto many = by(std::max(holding, kMany));
  return {many, holding < kMany ? by(holding) : many};
}

WarpRates CutCounts::least_rates(const kernel::Spread& spread, const RoundRates& rates, std::int64_t rows,
                                 std::int64_t columns) const {
  WarpRates least;
  least.warps = spread.warps();
  least.own_parts = own_parts(least.warps);
  least.few = few_warps(least.warps);
  least.pipe_cycles = rates.pipe_cycles * waits_for_registers(least.warps, rows * columns * contraction_.products);
  least.instructions = rates.instructions;
  least.fragment_cycles = fragment_cycles(rates.fragment_wavefronts, contraction_.in_pairs());
  least.quotients = waits_for_quotients(least.warps);
  return least;
}

double CutCounts::most_resident(const Tile& rows, const Tile& columns, std::int64_t held) const {
  const auto bytes = static_cast<double>(held * (rows.size + columns.size) * contraction_.products * contraction_.size);
  return static_cast<double>(device_.shared_bytes_per_multiprocessor) / (bytes + kReservedBytes);
}

namespace {

constexpr std::int64_t kLeastStages = 2;
std::int64_t least_held(const Tile& chunk, std::int64_t rounds) { return std::min(kLeastStages, rounds) * chunk.size; }

double least_copying(const Copies& of) { return (of.instructions * of.elements / of.at_once + of.converted) / 32; }

}  // namespace

double CutCounts::least_moving(const Copies& a, const Copies& b) { return least_copying(a) + least_copying(b); }

SumCounts CutCounts::sum_of(const Tile& rows, const Tile& columns, const Tile& chunk, const DepthShare& share,
                            const CopiedSum& a, const CopiedSum& b) const {
  SumCounts sum;
  sum.rounds = static_cast<double>(share.last > 0 ? chunk.blocks : chunk.blocks / share.all * share.chunks);
  sum.positions = sum.rounds * static_cast<double>(chunk.size);
  sum.copying = sum.rounds * (a.instructions + b.instructions);
  sum.of_round = kOfRound * sum.rounds;
  sum.copied_cycles = sum.rounds * (a.cycles + b.cycles);
  sum.copied_bytes = sum.rounds * (a.bytes + b.bytes);
  sum.lines = sum.rounds * (a.lines + b.lines);
  sum.held_lines = sum.rounds * (a.held_lines + b.held_lines);
  sum.resident = most_resident(rows, columns, least_held(chunk, static_cast<std::int64_t>(sum.rounds)));
  sum.may_prefetch = may_prefetch(share.of_all() ? share.blocks : 1) && chunk.blocks > 1;
  sum.joined = rows.joined + columns.joined + chunk.joined > 0;
  return sum;
}

CopiedSum CutCounts::copied_round(const Copies& of) {
  const CopyCounts round{of.wavefronts, of.scattered, of.lines, of.split};
  return {round.copied_cycles(false), least_copying(of), of.bytes, round.requested_lines(), of.held_lines};
}

LeastChunk CutCounts::least_chunk(const std::vector<Tile>& chunks) {
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  LeastChunk least{kAny, kAny, kAny};
  for (const auto& chunk : chunks) {
    least.rounds = std::min(least.rounds, chunk.blocks);
    least.positions = std::min(least.positions, chunk.blocks * chunk.size);
    least.held = std::min(least.held, least_held(chunk, chunk.blocks));
  }
  return least;
}

SumCounts CutCounts::least_sum(const Tile& rows, const Tile& columns, const LeastChunk& chunk, const CopiedSum& a,
                               const CopiedSum& b, int cluster) const {
  const double part = 1.0 / cluster;
  SumCounts sum;
  sum.rounds = part * static_cast<double>(chunk.rounds);
  sum.positions = part * static_cast<double>(chunk.positions);
  sum.copying = part * (a.instructions + b.instructions);
  sum.of_round = kOfRound * sum.rounds;
  sum.copied_cycles = part * (a.cycles + b.cycles);
  sum.copied_bytes = part * (a.bytes + b.bytes);
  sum.lines = part * (a.lines + b.lines);
  sum.held_lines = part * (a.held_lines + b.held_lines);
  // Blocks of clusters may have one round each.
  sum.resident = most_resident(rows, columns, cluster > 1 ? chunk.held / kLeastStages : chunk.held);
  sum.may_prefetch = may_prefetch(cluster);
  sum.joined = rows.joined + columns.joined > 0;
  return sum;
}

}  // namespace ricci::plan
