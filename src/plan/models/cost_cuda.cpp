// The cost model of GPU permutations: the slowest of memory, load/store units, instruction issue and latency, with a
// little of the others. Its constants were fitted to 40,584 timed schedules of 1,019 permutations (ttc57 in half,
// single and double precision, lyakh504 and cutt_set1_sub360 in single and double, cutt_set2_sub120 in double, the
// cases of hard.csv in single) on NVIDIA H200s: bench/results/fit. They are in sectors, cycles and bytes, so that
// another device comes in by its device model.
#include "plan/models/cost_cuda.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::plan {

namespace {

// Memory.
constexpr double kBase = 0.9361;         // of the time of a plain copy
constexpr double kUnmerged = 0.05611;    // share of what tiles that run together share, fetched by each nevertheless
constexpr double kPartialFar = 7.787;    // sectors' worth of a sector written in part that nobody completes in time
constexpr double kPartialNear = 1.572;   // ... that tiles of the same time complete in L2
constexpr double kReadRunFar = 0.1383;   // runs that stay short even with the neighbouring tiles, (64 B / run)^2
constexpr double kReadRun = 0.006467;    // short runs of one tile
constexpr double kWriteRun = 0.01212;    // the same, written
constexpr double kWriteRunFar = 0.1163;  // written runs that stay below kWriteFull, by the missing share
constexpr double kWriteFull = 1152;      // bytes
constexpr double kReadBlock = 19.98;   // bytes' worth of a block read in part by a tile, whichever tile reads the rest
constexpr double kWriteBlock = 16.09;  // the same, written
constexpr int kMergeWindow = 4;        // times the tiles that run at once: how long L2 waits for a sector's rest
// Bytes asked for by a multiprocessor, beyond which requests queue up, and what each as many more cost.
struct Queue {
  double bytes, cost;
};
constexpr Queue kQueue{53960, 0.07945}, kQueueTransposed{77750, 0.04515};
// Of the whole time, shared by the blocks of a multiprocessor: few of them wait for memory all at once.
constexpr double kFew = 0.05642, kFewTransposed = 0.0146;
// The same, for each time over that its threads would fit.
constexpr double kThin = 0.04405, kThinTransposed = 0.01907;
constexpr double kByTurns = 0.01909;  // of the whole time, where tiles complete rows of either side by turns
// Load/store units and issue, in cycles.
constexpr double kLineIssue = 0.8194;   // of a 128-byte line or a wavefront of shared memory
constexpr double kIssue = 0.2548;       // of a warp's instruction
constexpr double kThreadFixed = 34.11;  // instructions of a thread, whatever it moves
constexpr double kAxis = 3.954;         // of a digit or an axis of the origin
constexpr double kAccess = 1.332;       // of an access
constexpr double kDivision = 1.775;     // of one instruction's worth of digit arithmetic: multiplications are slow
constexpr double kElement = 3.695;      // of an element in a vector
constexpr double kTransposed = 0.1611;  // the same, where rectangles are transposed in registers and vectors stay whole
constexpr double kEdge = 4.977;         // of a comparison with a ragged edge
constexpr double kPhase = 4.935;        // of finding where a skewed row begins
constexpr double kLongCode = 1998;      // unrolled instructions at which fetching them costs as much again
// Registers of a thread as NVRTC takes them on average, eight at a time: for places, for each word of what is on its
// way, and for each element's place.
struct Registers {
  double places, word, element;
};
constexpr Registers kRegisters{23, 1, 0.3}, kRegistersTransposed{16, 1.2, 0}, kRegistersDirect{24, 1, 0};
constexpr int kMostRegisters = 255, kAllRegisters = 65536;
// Latency of a block, in microseconds.
constexpr double kBlockLatency = 0.3152;
constexpr double kThreadLatency = 0.002003;  // per thread
constexpr double kSharpness = 4.121;         // exponent of the norm that joins the four
constexpr double kRounding = 1 - 1e-9;       // of a bound
constexpr double kRoughly = 1 - 1e-6;        // of a bound in single precision
constexpr double kUsualConflicts = 1.3;      // wavefronts of a layout not searched yet, of the least possible

bool power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

double square(double x) { return x * x; }

/// No more than the norm of three times, and little less: that of the longer two, in single precision.
double rough_norm(double x, double y, double z) {
  constexpr auto kExponent = static_cast<float>(kSharpness);
  const double longest = std::max({x, y, z}), next = std::max(std::min(x, y), std::min(std::max(x, y), z));
  const auto share = std::pow(static_cast<float>(next / longest), kExponent);
  return kRoughly * longest * static_cast<double>(std::pow(1 + share, 1 / kExponent));
}

/// Of the warps of `threads` threads.
int lanes_of(int threads) { return (threads + 31) / 32 * 32; }

int tiles_of_block(TileTransfer how, int threads) { return how == TileTransfer::in_warp ? threads / 32 : 1; }

double run_bytes(const SideTraffic& side) { return std::max(static_cast<double>(side.run_bytes), 8.0); }

}  // namespace

DigitCost::DigitCost(const kernel::ThreadMapping& mapping) {
  std::int64_t below = 1;
  for (std::size_t k = 0; k < std::min(mapping.digits.size(), digits_.size()); ++k) {
    const auto count = mapping.count(k);
    const bool last = k + 1 == mapping.digits.size();
    const int quotient = below == 1 ? 0 : power_of_two(below) ? 1 : 2;
    const int remainder = last ? 0 : power_of_two(count) ? 1 : 3;
    digits_[size_++] = {below, below * count, static_cast<double>(quotient + remainder + 1)};
    below *= count;
  }
  positions_ = below;
}

double DigitCost::instructions(int workers) const {
  if (positions_ <= workers) return 0;
  // Numbers of threads and places below a digit that fits among them are small.
  const auto divides = [&](std::int64_t n) {
    return n <= workers && static_cast<std::uint32_t>(workers) % static_cast<std::uint32_t>(n) == 0;
  };
  double sum = 0;
  for (std::size_t k = 0; k < size_; ++k) {
    const auto& digit = digits_[k];
    const bool by_thread = divides(digit.with);
    const bool by_round = digit.below >= workers && digit.below % workers == 0;
    const bool adds = divides(digit.below) && (k + 1 == size_ || digit.with % workers == 0);
    if (!by_thread && !by_round && !adds) sum += digit.instructions;
  }
  return sum;
}

CostModel::CostModel(const ir::Program& program, const Sides& sides, const GpuModel& device)
    : program_(program),
      sides_(sides),
      device_(device),
      write_side_(program, program.statement().buffer, program.statement().offset),
      read_side_(sides.load < 0 ? write_side_
                                : SideCounter(program, program.nodes[static_cast<std::size_t>(sides.load)].source,
                                              program.nodes[static_cast<std::size_t>(sides.load)].offset)) {
  if (sides.write_first() < 0) return;
  std::vector<std::int64_t> row(program.indices.size(), 1);
  row[static_cast<std::size_t>(sides.write_first())] = sides.extent(sides.write_first());
  rows_ = write_side_.in_boxes(row);
}

TileCost CostModel::tile_cost(const std::vector<std::int64_t>& tile, const TileForms& forms) const {
  TileCost cost;
  cost.straight.write = write_side_.in_boxes(tile);
  if (sides_.load >= 0) cost.straight.read = read_side_.in_boxes(tile);
  const auto touched_once = [&](TileCost::Moved& moved) {
    Neighbours near{moved.write, moved.read};
    for (auto* side : {&near.write, &near.read}) {
      side->sectors = static_cast<double>(side->bytes) / static_cast<double>(kSectorBytes);
      side->run_bytes = std::numeric_limits<std::int64_t>::max();
    }
    moved.least_memory_us = memory_us(moved, near);
  };
  touched_once(cost.straight);
  if (forms.skews) {
    cost.skewed = cost.straight;
    cost.skewed.write.sectors = rows_.sectors;
    cost.skewed.write.partial_sectors = rows_.partial_sectors;
    const auto along = static_cast<double>(tile[static_cast<std::size_t>(sides_.write_first())]);
    const auto elements = kSectorBytes / sides_.write_bytes();
    cost.skewed.read.sectors *= (along + static_cast<double>(elements) - 1) / along;
    touched_once(cost.skewed);
  }
  for (std::size_t q = 0; q < tile.size(); ++q) {
    const auto extent = program_.indices[q].extent;
    if (tile[q] == extent) {
      cost.points *= extent;
      continue;
    }
    ++cost.outer;
    if (tile[q] == 1) {
      cost.tiles *= extent;
      continue;
    }
    const auto along = (extent + tile[q] - 1) / tile[q];
    cost.points *= tile[q];
    cost.tiles *= along;
    cost.waste *= static_cast<double>(along * tile[q]) / static_cast<double>(extent);
    cost.edges += along * tile[q] != extent;
  }
  // Both mappings have a digit for each index of more than one value, and may have vectors.
  const auto axes = static_cast<double>(
      2 * std::count_if(tile.begin(), tile.end(), [](std::int64_t n) { return n > 1; }) + cost.outer);
  cost.thread_instructions = kThreadFixed + kAxis * axes;
  const double access = kAccess + kEdge * cost.edges, read = forms.read_vector, write = forms.write_vector;
  const double straight = 2 * kElement + access / read + access / write;
  const double transposed =
      2 * kTransposed + (kAccess * (read + write) + kEdge * cost.edges) / (read * write) + access / write;
  const double skewed = 2 * kElement + access / read + access + kPhase;
  const auto carry = [&](TileTransfer how, double instructions, const Registers& registers, double vector) {
    const auto words = static_cast<double>(sides_.read_bytes()) / 4;
    cost.carried[static_cast<std::size_t>(how)] = {
        instructions, static_cast<double>(cost.points) * (registers.word * words + registers.element / vector)};
  };
  carry(TileTransfer::straight, straight, kRegisters, write);
  if (forms.transposes) carry(TileTransfer::register_transpose, transposed, kRegistersTransposed, write);
  if (forms.skews) carry(TileTransfer::skewed, skewed, kRegisters, 1);
  if (forms.in_warp) carry(TileTransfer::in_warp, straight, kRegisters, write);
  return cost;
}

double CostModel::Power::of(double us) {
  if (us != us_) {
    us_ = us;
    power_ = std::pow(us, kSharpness);
  }
  return power_;
}

double CostModel::rate() const { return device_.copy_rate_GBs() * 1e3; }

double CostModel::lines(bool read, const kernel::Moves& moves, TileCost& tile, bool counted) const {
  const bool staged = moves.stage.has_value();
  const auto& mapping = read && staged ? moves.stage->mapping : moves.mapping;
  const auto positions = mapping.positions();
  for (const auto& known : tile.lines) {
    // The digits are those of the tile in the side's order, or of a skewed tile, which has more points.
    if (known.read == read && known.staged == staged && known.vector == mapping.vector &&
        known.positions == positions && same_warps(known.workers, mapping.workers))
      return known.lines;
  }
  constexpr int kSamples = 4;
  const auto& offset =
      read ? program_.nodes[static_cast<std::size_t>(sides_.load)].offset : program_.statement().offset;
  const auto bytes = read ? sides_.read_bytes() : sides_.write_bytes();
  if (!counted) return least_lines_of_mapping(mapping, offset, bytes, kSamples);
  const double lines = lines_of_mapping(mapping, offset, bytes, kSamples);
  tile.lines.push_back({read, staged, mapping.vector, mapping.workers, positions, lines});
  return lines;
}

CostModel::Neighbours CostModel::neighbours(const std::vector<std::int64_t>& tile, const std::vector<int>& order,
                                            std::int64_t at_once, const SideTraffic& write) {
  Neighbours near;
  launch_box(program_, tile, order, at_once, box_);
  near.write = write_side_.in_boxes(box_);
  if (sides_.load >= 0) near.read = read_side_.in_boxes(box_);
  if (write.partial_sectors > 0) {
    launch_box(program_, tile, order, kMergeWindow * at_once, box_);
    near.partial_sectors = write_side_.in_boxes(box_).partial_sectors;
  }
  return near;
}

double CostModel::memory_us(const TileCost::Moved& moved, const Neighbours& near) const {
  const auto& [write, read, least] = moved;
  // Of rows that are skewed a tile by itself may touch fewer sectors.
  const double near_sectors = std::min(near.write.sectors, write.sectors);
  const double merged = std::min(near.partial_sectors, write.partial_sectors);
  double sectors = (1 - kUnmerged) * near_sectors + kUnmerged * write.sectors + kPartialFar * merged +
                   kPartialNear * std::max(write.partial_sectors - merged, 0.0);
  double extra = static_cast<double>(write.bytes) * 2 *
                     (kWriteRun * square(64 / run_bytes(write)) +
                      kWriteRunFar * std::min(1.0, kWriteFull / run_bytes(near.write))) +
                 kWriteBlock * write.partial_blocks;
  if (sides_.load >= 0) {
    sectors += (1 - kUnmerged) * near.read.sectors + kUnmerged * read.sectors;
    extra += static_cast<double>(read.bytes) * 2 *
                 (kReadRunFar * square(64 / run_bytes(near.read)) + kReadRun * square(64 / run_bytes(read))) +
             kReadBlock * read.partial_blocks;
  }
  return kBase * (sectors * static_cast<double>(kSectorBytes) + extra) / rate();
}

void CostModel::see_neighbours(TileCost& cost, const std::vector<std::int64_t>& tile, int fewest) {
  std::int64_t at_once = 1;
  for (int k = 0; k < kTileTransfers; ++k) {
    const auto how = static_cast<TileTransfer>(k);
    if (cost.has(how))
      at_once = std::max(at_once, most_at_once(cost, how, how == TileTransfer::in_warp ? kWarpThreads : fewest));
  }
  const auto along_write = neighbours(tile, sides_.write_order, at_once, cost.straight.write);
  const auto along_read = neighbours(tile, sides_.read_order, at_once, cost.straight.write);
  const double straight_us = std::min(memory_us(cost.straight, along_write), memory_us(cost.straight, along_read));
  cost.straight.least_memory_us = std::max(cost.straight.least_memory_us, straight_us);
  if (cost.has(TileTransfer::skewed))
    cost.skewed.least_memory_us = std::max(cost.skewed.least_memory_us, memory_us(cost.skewed, along_write));
}

double CostModel::least_us(const TileCost& tile, TileTransfer how, ThreadRange threads) const {
  if (threads.least > threads.most || !tile.has(how)) return std::numeric_limits<double>::infinity();
  const bool in_warp = how == TileTransfer::in_warp;
  const auto fewest = static_cast<int>(threads.least), lanes = lanes_of(static_cast<int>(threads.most));
  const auto resident = most_resident(tile, how, fewest);
  const auto tiles = static_cast<double>(tile.tiles);
  const double waves = std::max(tiles / static_cast<double>(most_at_once(tile, how, fewest)), 1.0);
  const double latency_us = waves * (kBlockLatency + kThreadLatency * fewest);
  // Of all its threads: few of them have less to do besides moving elements, many have shorter code.
  const int least_warps = in_warp ? 1 : lanes_of(fewest) / 32, most_warps = in_warp ? 1 : lanes / 32;
  const double moving = static_cast<double>(tile.points) / 32 * tile.of(how).element_instructions;
  const double instructions = least_warps * tile.thread_instructions + moving +
                              moving * (tile.thread_instructions + moving / most_warps) / kLongCode;
  const double tiles_each = std::max(tiles / device_.multiprocessors, 1.0);
  const double issue_us = kIssue * instructions * tiles_each / device_.clock_MHz;
  const auto& moved = how == TileTransfer::skewed ? tile.skewed : tile.straight;
  const auto bytes = static_cast<double>(tile.points * sides_.read_bytes() * tiles_of_block(how, fewest));
  return rough_norm(moved.least_memory_us, latency_us, issue_us) *
         least_waiting(bytes, resident, lanes, how == TileTransfer::register_transpose);
}

double CostModel::least_memory_us(const TileCost& tile) { return kRounding * tile.straight.least_memory_us; }

double CostModel::least_waiting(double block_bytes, std::int64_t resident, int lanes, bool transposed) const {
  const auto& queue = transposed ? kQueueTransposed : kQueue;
  const auto waiting = [&](std::int64_t blocks) {
    const auto n = static_cast<double>(blocks);
    return (transposed ? kFewTransposed : kFew) / n + queue.cost * std::max(n * block_bytes / queue.bytes - 1, 0.0) +
           (transposed ? kThinTransposed : kThin) * std::max(device_.threads_per_multiprocessor / (n * lanes) - 1, 0.0);
  };
  // As many as do not ask for too much, or a few more.
  double least = waiting(resident);
  while (resident > 1 && static_cast<double>(resident) * block_bytes > queue.bytes) {
    const double fewer = waiting(--resident);
    if (fewer >= least) break;
    least = fewer;
  }
  return 1 + least;
}

std::int64_t CostModel::most_at_once(const TileCost& tile, TileTransfer how, int threads) const {
  return device_.multiprocessors * most_resident(tile, how, threads) * tiles_of_block(how, threads);
}

std::int64_t CostModel::most_resident(const TileCost& tile, TileTransfer how, int threads) const {
  const bool in_warp = how == TileTransfer::in_warp;
  const auto room =
      in_warp ? 32 : device_.shared_bytes_per_multiprocessor / (tile.points * sides_.read_bytes() + kReservedBytes);
  // Numbers are rounded down before they are rounded to eights.
  const auto lanes = lanes_of(threads);
  const double places = (how == TileTransfer::register_transpose ? kRegistersTransposed : kRegisters).places - 1;
  const double registers = std::min(places * threads + tile.of(how).registers * tiles_of_block(how, threads),
                                    static_cast<double>(kMostRegisters * lanes));
  return std::clamp<std::int64_t>(std::min<std::int64_t>(device_.threads_per_multiprocessor / lanes,
                                                         kAllRegisters / static_cast<std::int64_t>(registers)),
                                  1, std::clamp<std::int64_t>(room, 1, 32));
}

double CostModel::least_us(const kernel::Moves& moves, TileCost& tile) {
  Traffic traffic;
  const auto apart = this->apart(moves, tile, traffic, false);
  return kRounding * joined(apart, moves, tile);
}

std::array<double, 2> CostModel::least_us_of_both_orders(kernel::Moves& moves, TileCost& tile) {
  Traffic traffic;
  const auto apart = this->apart(moves, tile, traffic, false);
  std::array<double, 2> us;
  moves.order = sides_.write_order;
  us[0] = kRounding * joined(apart, moves, tile);
  moves.order = sides_.read_order;
  us[1] = kRounding * joined(apart, moves, tile);
  return us;
}

double CostModel::predict(const kernel::Moves& moves, TileCost& tile, Traffic& traffic) {
  return joined(apart(moves, tile, traffic, true), moves, tile);
}

double CostModel::joined(const Apart& apart, const kernel::Moves& moves, const TileCost& tile) {
  // Sectors of a tile by itself, and of all tiles that run at the same time.
  const auto& moved = moves.skew.on() ? tile.skewed : tile.straight;
  const double us = memory_us(moved, neighbours(moves.tile, moves.order, apart.at_once, moved.write));
  const double sum = std::pow(us, kSharpness) + apart.line + apart.issue + apart.latency;
  const bool by_turns = moves.order != sides_.write_order && moves.order != sides_.read_order;
  return std::pow(sum, 1 / kSharpness) * (apart.waiting + (by_turns ? kByTurns : 0));
}

CostModel::Apart CostModel::apart(const kernel::Moves& moves, TileCost& tile, Traffic& traffic, bool counted) {
  const bool reads = sides_.load >= 0;
  const bool staged = moves.stage.has_value();
  const auto& write_mapping = moves.mapping;
  const auto& read_mapping = staged ? moves.stage->mapping : moves.mapping;
  const auto size = sides_.read_bytes();
  const auto tile_points = static_cast<double>(tile.points);
  const double tile_bytes = tile_points * static_cast<double>(size);
  const int tiles_per_block = moves.tiles_per_block();
  traffic.tiles = moves.skew.on() ? moves.tiles(program_) : tile.tiles;
  const auto tiles = static_cast<double>(traffic.tiles);

  // Blocks that a multiprocessor holds: threads, shared memory with the driver's own kilobyte, registers (eight at a
  // time, as NVRTC takes them on average for what is on its way and for places).
  const auto write_rounds = write_mapping.rounds(), read_rounds = staged ? read_mapping.rounds() : write_rounds;
  const auto kept = read_rounds * read_mapping.vector * read_mapping.rows * size;
  const std::int64_t lanes = lanes_of(moves.threads);
  const bool transposed = read_mapping.rows > 1;
  const double words = static_cast<double>(kept) / 4, rounds = static_cast<double>(write_rounds);
  const auto& usage = transposed ? kRegistersTransposed : staged ? kRegisters : kRegistersDirect;
  const double needed = usage.places + usage.word * words + usage.element * rounds;
  const int registers = std::min(static_cast<int>(needed), kMostRegisters);
  const auto resident = std::max<std::int64_t>(
      std::min<std::int64_t>({device_.threads_per_multiprocessor / lanes,
                              device_.shared_bytes_per_multiprocessor / (moves.shared_bytes(program_) + kReservedBytes),
                              32, kMultiprocessorParts * warps_of_part(registers) / (lanes / 32)}),
      1);
  traffic.occupancy = static_cast<double>(resident * lanes) / device_.threads_per_multiprocessor;
  traffic.bytes_in_flight = tile_bytes * tiles_per_block * static_cast<double>(resident);
  const auto at_once = device_.multiprocessors * resident * tiles_per_block;
  const bool skewed = moves.skew.on();
  const auto& moved = skewed ? tile.skewed : tile.straight;
  traffic.write = moved.write;
  traffic.read = moved.read;

  // Load/store units: lines of both sides, wavefronts of shared memory.
  double lines = this->lines(false, moves, tile, counted);
  if (reads) lines += this->lines(true, moves, tile, counted);
  double cycles = lines / tile.waste;
  if (staged && moves.stage->memory == kernel::StageMemory::shared) {
    if (traffic.ideal_wavefronts > 0) {
      cycles += traffic.bank_wavefronts;
    } else {
      cycles += kUsualConflicts * 2 * tile_bytes / 128;
    }
  }

  // Instructions of a thread.
  const auto access = [&](const kernel::ThreadMapping& mapping) {
    const int accesses = mapping.rows > 1 ? mapping.rows + mapping.vector : 1;
    return kAccess * accesses + kDivision * DigitCost(mapping).instructions(mapping.workers) +
           (transposed ? kTransposed : kElement) * mapping.vector * mapping.rows + kEdge * tile.edges;
  };
  double unrolled = rounds * access(write_mapping);
  unrolled += staged ? static_cast<double>(read_rounds) * access(read_mapping) : rounds * kAccess;
  if (skewed) unrolled += kPhase * rounds;
  const auto axes = static_cast<double>(read_mapping.digits.size() + write_mapping.digits.size()) + tile.outer;
  double instructions = (kThreadFixed + kAxis * axes + unrolled) * (1 + unrolled / kLongCode);
  // Ten shuffles and a look-up are never cheaper than the few divisions by literals.
  if (moves.origin == kernel::Origin::shuffle) instructions += 60;

  const double multiprocessors = device_.multiprocessors;
  const double tiles_each = std::max<double>(tiles / multiprocessors, tiles_per_block);
  const double line_us = kLineIssue * cycles * tiles_each / device_.clock_MHz;
  const int mapping_warps = (write_mapping.workers + 31) / 32;
  const double issue_us = kIssue * instructions * mapping_warps * tiles_each / device_.clock_MHz;
  const double waves = std::max(tiles / static_cast<double>(at_once), 1.0);
  const double latency_us = waves * (kBlockLatency + kThreadLatency * moves.threads);

  const auto& queue = transposed ? kQueueTransposed : kQueue;
  const double queued = queue.cost * std::max(traffic.bytes_in_flight / queue.bytes - 1, 0.0);
  const double few = staged ? (transposed ? kFewTransposed : kFew) / static_cast<double>(resident) : 0;
  const double thin = staged ? (transposed ? kThinTransposed : kThin) * (1 / traffic.occupancy - 1) : 0;
  return {line_.of(line_us), issue_.of(issue_us), latency_.of(latency_us), 1 + queued + few + thin, at_once};
}

}  // namespace ricci::plan
