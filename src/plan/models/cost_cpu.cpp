#include "plan/models/cost_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/permute/cpu_stage.hpp"

namespace ricci::plan {
namespace {

/// GB/s of a memory that is read or written in runs of that many bytes at distant places.
double rate(double most, double half, std::int64_t run_bytes) {
  const auto run = static_cast<double>(std::max<std::int64_t>(run_bytes, 1));
  return most * run / (run + half);
}

/// Bytes of neighbours in the output that are written one after the other.
std::int64_t written_run(const Sides& sides, const kernel::Moves& moves, const SideTraffic& write) {
  const bool rows = !moves.stage && moves.streaming;
  return rows ? moves.tile[static_cast<std::size_t>(sides.write_first())] * sides.write_bytes() : write.run_bytes;
}

/// Bytes of neighbours in the input that are read one after the other. Blocks read as many rows at once as they have
/// values of the output's first index, even where all rows together are one run.
std::int64_t row_run(const Sides& sides, const kernel::Moves& moves, const SideTraffic& read) {
  if (!moves.stage) return read.run_bytes;
  auto bytes = sides.read_bytes();
  for (const auto q : sides.read_order) {
    if (q == sides.write_first() || bytes >= read.run_bytes) break;
    bytes *= moves.tile[static_cast<std::size_t>(q)];
  }
  return std::min(bytes, read.run_bytes);
}

/// Lines that such runs share with others. Each is read, and written later on.
double shared_lines(const Sides& sides, const SideTraffic& write, std::int64_t run_bytes) {
  if (run_bytes <= 0 || !lines_are_shared(sides, run_bytes)) return 0;
  return static_cast<double>(write.bytes) / static_cast<double>(run_bytes) * (run_bytes < kLineBytes ? 1 : 2);
}

std::int64_t stride_bytes(const Sides& sides, bool read, int q) {
  return std::abs(read ? sides.read_stride(q) * sides.read_bytes() : sides.write_stride(q) * sides.write_bytes());
}

/// Rows of a tile, each no shorter than `run_bytes`, at addresses that are the same in their bits below `far`: steps of
/// multiples of `near` count in part.
double rows_apart(const Sides& sides, const kernel::Moves& moves, bool read, std::int64_t run_bytes, std::int64_t near,
                  std::int64_t far) {
  double rows = 1;
  auto shared = far;
  for (int q = 0; q < static_cast<int>(sides.program.indices.size()); ++q) {
    const auto step = stride_bytes(sides, read, q);
    const auto tile = moves.tile[static_cast<std::size_t>(q)];
    if (tile == 1 || step < run_bytes || step % near != 0) continue;
    rows *= static_cast<double>(tile);
    shared = std::min(shared, step & -step);
  }
  return rows * static_cast<double>(shared) / static_cast<double>(far);
}

/// How many times as long the writing of lines takes that come back to their neighbours late, at addresses that share
/// their low bits: those lie in few banks of the memory, and each write opens another of their pages.
double crowded_writes(const Sides& sides, const kernel::Moves& moves, std::int64_t run_bytes, double slower) {
  constexpr std::int64_t kNear = 256, kFar = 512;  // multiples of fewer bytes do no harm, of more the same
  constexpr double kFew = 8, kMany = 256;          // rows that do no harm, and those that `slower` was measured with
  const double rows = rows_apart(sides, moves, false, run_bytes, kNear, kFar);
  const double crowd = std::clamp(std::log2(rows / kFew) / std::log2(kMany / kFew), 0.0, 1.2);
  const double lines = std::max(static_cast<double>(run_bytes) / static_cast<double>(kLineBytes), 1.0);
  return 1 + (slower - 1) * crowd * crowd / (lines * lines);
}

/// How many times as long the reading of a tile's rows takes where they are more than a processor fetches ahead by
/// itself: it keeps track of some sixteen.
double many_rows(const Sides& sides, const kernel::Moves& moves, std::int64_t run_bytes, double slower) {
  constexpr double kPrefetched = 16, kMany = 48;  // rows that do no harm, and those that `slower` was measured with
  constexpr double kLeft = 0.2;  // what a kernel is left with of that loss: it asks for several lines at once
  const auto bytes = static_cast<double>(moves.tile_points() * sides.read_bytes());
  const double rows = bytes / static_cast<double>(std::max<std::int64_t>(run_bytes, 1));
  const double many = std::clamp(std::log2(rows / kPrefetched) / std::log2(kMany / kPrefetched), 0.0, 1.0);
  return 1 + kLeft * (slower - 1) * many;
}

/// All blocks that cover a tile or an extent, the last one moved back, over what there is to cover.
double covered(std::int64_t all, std::int64_t block) {
  const auto blocks = (all + block - 1) / block;
  return static_cast<double>(blocks * block) / static_cast<double>(all);
}

/// How often an element is moved, on average, where the last tile along an index is moved back to be whole.
double repeated(const Sides& sides, const kernel::Moves& moves) {
  double points = 1, whole = 1;
  for (int q = 0; q < static_cast<int>(moves.tile.size()); ++q) {
    points *= static_cast<double>(sides.extent(q));
    whole *= static_cast<double>(moves.tile[static_cast<std::size_t>(q)] * moves.tiles_along(sides.program, q));
  }
  return whole / points;
}

constexpr std::int64_t kHalfLine = kLineBytes / 2;
constexpr double kReadGBs = 44, kReadHalfRun = 31;    // of all threads: half the rate at runs of that many bytes
constexpr double kWriteGBs = 88, kWriteHalfRun = 14;  // nontemporal
constexpr double kCopyGBs = 2 / (1 / kReadGBs + 1 / kWriteGBs);
constexpr double kFetched = 1;  // of such a copy's time: of tiles that are asked for

double array_bytes(const Sides& sides, const kernel::Moves& moves) {
  const bool in_array = moves.stage && moves.stage->memory == kernel::StageMemory::shared;
  return in_array ? static_cast<double>(moves.shared_bytes(sides.program)) : 0;
}

/// Times of a copy's that moving through such an array takes in memory.
double through_array(double bytes, const CpuModel& device) {
  constexpr double kThroughArrays = 0.9;         // one is read beside the writing of another
  constexpr double kCrowded = 0.06, kRoomy = 8;  // for each time an array doubles beyond that part of L1
  return kThroughArrays + kCrowded * std::max(std::log2(kRoomy * (bytes / static_cast<double>(device.l1_bytes))), 0.0);
}

/// Nanoseconds of memory where a tile waits in an array and is written by nontemporal stores. Reads are asked for
/// ahead, so that their runs hardly count; writes are in whole lines, all but the ends.
double through_array_ns(const Sides& sides, const kernel::Moves& moves, const Traffic& traffic, const CpuModel& device,
                        std::int64_t run_bytes) {
  constexpr double kSharedLine = 1.3, kRunLines = 0.3;  // more moved for each line that is written in part, each run
  constexpr double kWaitingLine = 0.2;                  // for each line that waits to be completed
  constexpr double kLoneLine = 1.2;                     // for each line that is not written beside another
  constexpr double kGrouped = 1.04;                     // the rows of several tiles in the second cache
  constexpr double kTileStart = 2;                      // nanoseconds until the reads of a tile follow each other
  const auto line = static_cast<double>(kLineBytes);
  const auto written = static_cast<double>(traffic.write.bytes), run = static_cast<double>(run_bytes);
  const double sectors = traffic.read.sectors * static_cast<double>(kSectorBytes);
  const auto row = row_run(sides, moves, traffic.read);
  const double waited = sectors / kReadGBs * (many_rows(sides, moves, row, device.slower_rows) - 1);
  double moved = (sectors + written) * through_array(array_bytes(sides, moves), device);
  double shared = shared_lines(sides, traffic.write, run_bytes);
  if (moves.stage->line_carry >= 0) {
    const auto carry = kernel::line_carry_of(sides.program, moves);
    const double anew = 1.0 / static_cast<double>(carry.tiles) +
                        device.threads * static_cast<double>(carry.apart) / static_cast<double>(traffic.tiles);
    shared *= std::min(anew, 1.0);
    moved += kWaitingLine * line * written / run;
  }
  moved += kSharedLine * line * shared + kRunLines * line * written / run;
  moved += kLoneLine * written * std::pow(line / run, 3);
  if (moves.stage->prefetch_distance > 1) moved *= kGrouped;
  return waited + moved / kCopyGBs + kTileStart * static_cast<double>(traffic.tiles) / device.threads;
}

/// The same where blocks go straight from a tile that was asked for to the output, a few of its runs at a time: those
/// lie in few banks of the memory where their addresses share many low bits.
double fetched_ns(const Sides& sides, const kernel::Moves& moves, const Traffic& traffic) {
  constexpr double kShortWrites = 0.4, kShortReads = 0.3;  // for runs and rows of one line
  constexpr double kFewRows = 32, kManyRows = 0.02;        // for each time there are twice as many
  constexpr double kApart = 4096, kCrowded = 0.25;         // for each time runs beside each other are so far apart
  constexpr double kMostCrowded = 3;
  constexpr double kTwice = 2;  // for what is moved twice, in the last columns
  const auto line = static_cast<double>(kLineBytes);
  const auto row = static_cast<double>(row_run(sides, moves, traffic.read));
  const auto first = sides.read_first();
  const auto vector = moves.stage->mapping.vector;
  std::int64_t columns = vector;
  for (const auto& digit : moves.mapping.digits) {
    if (digit.index == first && digit.step == 1) columns = std::max(columns, digit.count);
  }
  const auto step = std::abs(sides.write_stride(first)) * sides.write_bytes();
  const auto apart = static_cast<double>(columns * (step & -step));
  const auto rows = static_cast<double>(moves.tile_points() * sides.read_bytes()) / row;
  double slower =
      kFetched + kShortWrites * line / static_cast<double>(traffic.write.run_bytes) + kShortReads * line / row;
  slower += kCrowded * std::clamp(std::log2(apart / kApart), 0.0, kMostCrowded);
  slower += kManyRows * std::max(std::log2(rows / kFewRows), 0.0);
  slower *= 1 + kTwice * (covered(moves.tile[static_cast<std::size_t>(first)], vector) - 1);
  const double sectors = traffic.read.sectors * static_cast<double>(kSectorBytes);
  return slower * (sectors + static_cast<double>(traffic.write.bytes)) / kCopyGBs;
}

/// The same where rows, or blocks of them, are visited in the input's order.
double streaming_ns(const Sides& sides, const kernel::Moves& moves, const Traffic& traffic, const CpuModel& device,
                    std::int64_t run_bytes) {
  constexpr double kBlocksHalfRun = 170;
  constexpr double kSharedLine = 4;  // read, written, and in two parts
  const double half = moves.stage ? kBlocksHalfRun : kReadHalfRun;
  const auto row = row_run(sides, moves, traffic.read);
  const double sectors = traffic.read.sectors * static_cast<double>(kSectorBytes);
  const double shared = shared_lines(sides, traffic.write, run_bytes) * static_cast<double>(kLineBytes);
  // Blocks write a line of each row.
  const double crowded = crowded_writes(sides, moves, moves.stage ? kLineBytes : run_bytes, device.slower_apart);
  return sectors / rate(kReadGBs, half, row) * many_rows(sides, moves, row, device.slower_rows) +
         crowded * static_cast<double>(traffic.write.bytes) / rate(kWriteGBs, kWriteHalfRun, run_bytes) +
         kSharedLine * shared / kReadGBs;
}

/// The same with stores into the caches: a line is read before a part of it is written.
double filled_ns(const Sides& sides, const Traffic& traffic, std::int64_t run_bytes) {
  constexpr double kFilledHalfRun = 34;
  const double sectors = traffic.read.sectors * static_cast<double>(kSectorBytes);
  const double shared = shared_lines(sides, traffic.write, run_bytes) * static_cast<double>(kLineBytes);
  return sectors / rate(kReadGBs, kReadHalfRun, traffic.read.run_bytes) +
         2 * static_cast<double>(traffic.write.bytes) / rate(kReadGBs, kFilledHalfRun, run_bytes) + shared / kReadGBs;
}

/// Whether rows of a side begin anywhere in a line.
bool rows_are_odd(const Sides& sides, bool read) {
  for (int q = 0; q < static_cast<int>(sides.program.indices.size()); ++q) {
    const auto step = stride_bytes(sides, read, q), row = sides.extent(q) * step;
    if (step >= kLineBytes ? step % kLineBytes != 0 : row > kLineBytes && row % kLineBytes != 0) return true;
  }
  return false;
}

/// How often the rows of a tile double beyond the ways of a set of the first cache, where addresses that share their
/// low bits fall into the same sets.
double crowded_sets(const Sides& sides, const kernel::Moves& moves, bool read) {
  constexpr std::int64_t kNear = 512, kFar = 4096;
  constexpr double kWays = 8;
  return std::max(std::log2(rows_apart(sides, moves, read, 1, kNear, kFar) / kWays), 0.0);
}

/// Nanoseconds of the caches where both tensors are there, of one thread, whatever the vectors.
///   touched  bytes of both for each tile
double touching_ns(double bytes, double touched, double array, const CpuModel& device) {
  constexpr double kFirstGBs = 300, kOtherGBs = 125;
  constexpr double kThroughArray = 1.05, kArrayShare = 0.83;  // an array takes room that both tensors could have
  constexpr double kCrowded = 0.064, kRoomy = 2;  // for each time a tile doubles beyond that part of the first cache
  const auto l1 = static_cast<double>(device.l1_bytes);
  double ns = bytes / (bytes <= l1 ? kFirstGBs : kOtherGBs);
  if (array > 0) ns *= kThroughArray + kArrayShare * array / l1;
  return ns * (1 + kCrowded * std::max(std::log2(kRoomy * (touched + array) / l1), 0.0));
}

/// The same of moves as they are.
double cached_ns(const Sides& sides, const kernel::Moves& moves, const Traffic& traffic, const CpuModel& device,
                 std::int64_t run_bytes) {
  constexpr double kTwoLines = 0.035, kTwoWideLines = 0.7;  // for a vector in two lines; where vectors have 64 bytes
  constexpr double kSameLine = 0.14;                        // for each further vector of a line of the output
  constexpr double kSets = 0.02;                            // for each time the rows of a block's tile crowd a set
  const auto line = static_cast<double>(kLineBytes);
  const auto read = static_cast<double>(traffic.read.bytes), written = static_cast<double>(traffic.write.bytes);
  const double array = array_bytes(sides, moves);
  const bool in_array = array > 0;
  const double touched = (traffic.read.sectors + traffic.write.sectors) * static_cast<double>(kSectorBytes) /
                         static_cast<double>(traffic.tiles);
  double ns = touching_ns(read + written, touched, array, device);
  if (!moves.stage || moves.stage->mapping.vector == 1) return ns;
  if (!in_array) {
    ns *= 1 + kSets * (crowded_sets(sides, moves, true) + crowded_sets(sides, moves, false));
    const auto vector_bytes = static_cast<double>(moves.stage->mapping.vector * sides.write_bytes());
    ns += kSameLine * written / line * std::max(line / vector_bytes - 1, 0.0);
  }
  const double two_lines = device.vector_bytes > kHalfLine ? kTwoWideLines : kTwoLines;
  if (rows_are_odd(sides, true)) ns += two_lines * read / line;
  // Runs of an array are written by whole lines, all but the first and the last.
  const double runs = in_array ? std::max(static_cast<double>(run_bytes) / 2, line) : line;
  if (rows_are_odd(sides, false)) ns += two_lines * written / runs;
  return ns;
}

}  // namespace

bool lines_are_shared(const Sides& sides, std::int64_t run_bytes) {
  bool whole = run_bytes % kLineBytes == 0;
  for (std::size_t q = 0; q < sides.program.indices.size(); ++q) {
    const auto step = sides.write_stride(static_cast<int>(q)) * sides.write_bytes();
    whole = whole && (std::abs(step) < run_bytes || step % kLineBytes == 0);
  }
  return !whole;
}

CpuMoveCounts counts_of(const Sides& sides, const kernel::Moves& moves) {
  CpuMoveCounts does;
  if (!moves.stage) return does;
  const auto& stage = *moves.stage;
  const auto vector = stage.mapping.vector;
  if (stage.memory == kernel::StageMemory::registers) {
    does.rows = does.columns = does.vectors = vector;
    does.along = covered(sides.extent(sides.read_first()), vector);
    does.across = covered(sides.extent(sides.write_first()), vector);
    return does;
  }
  does.tiles = repeated(sides, moves);
  if (vector > 1) {
    const auto block = kernel::transpose_block(moves);
    does.rows = block.rows;
    does.columns = block.columns;
    does.vectors = block.transposed_vectors();
    does.along = covered(block.along, block.columns);
    does.across = covered(block.across, block.rows);
    return does;
  }
  for (const auto q : sides.read_order) {
    const auto tile = static_cast<double>(moves.tile[static_cast<std::size_t>(q)]);
    if (static_cast<double>(stage.layout.stride[static_cast<std::size_t>(q)]) != does.run && tile > 1) break;
    does.run *= tile;
  }
  return does;
}

namespace {
constexpr double kByte = 0.0055;  // nanoseconds, of what is written from an array; of a row that is moved into it
}  // namespace

double element_ns(const Sides& sides, const kernel::Moves& moves) {
  constexpr double kOne = 0.19;        // a load and a store, with their addresses
  constexpr double kCopied = 0.03;     // along a row
  constexpr double kRow = 4;           // to begin one
  constexpr double kElement = 0.3;     // moved into an array by itself
  constexpr double kOperation = 0.09;  // a load, shuffle or store of a vector among many
  constexpr double kWide = 1.8;        // times as long where vectors have 64 bytes: fewer units take those
  constexpr int kRowsAtOnce = 16;
  constexpr double kSpilled = 5.4;    // where a block has more rows
  constexpr double kCopiedRow = 1.2;  // to move a row of a tile into its array, in whole vectors
  const auto tile = [&](int q) { return static_cast<double>(moves.tile[static_cast<std::size_t>(q)]); };
  const int read = sides.read_first(), written = sides.write_first();
  const auto row = [&](double elements) { return kRow / elements + kCopied; };
  if (!moves.stage) {
    if (read < 0 || read == written) return written < 0 ? kOne : row(tile(written));
    return kOne;
  }
  const auto does = counts_of(sides, moves);
  const auto& stage = *moves.stage;
  const auto read_bytes = static_cast<double>(sides.read_bytes());
  const double operation = kOperation * (stage.mapping.vector * stage.row_packing * read_bytes > kHalfLine ? kWide : 1);
  // Of an element in a block: its rows, the rounds of its transpose, and its columns, each in that many stores.
  const auto in_block = [&, rows = does.rows, piece = does.vectors, columns = does.columns](double stores) {
    const double row_operation = stage.row_packing > 1 ? kOperation : operation;  // a part of a vector
    return (row_operation * rows + operation * (piece * std::log2(piece) + columns * stores)) / (rows * columns);
  };
  if (stage.memory == kernel::StageMemory::registers) {
    // Half of the registers hold the rows of one round, the others those of the next.
    const double spilled = stage.mapping.vector > kRowsAtOnce ? kSpilled : 1;
    return spilled * in_block(1) * does.along * does.across;
  }
  double reading = kElement;
  if (stage.mapping.vector > 1) {
    const auto block = kernel::transpose_block(moves);
    // What is less than a vector takes as long to store as two.
    const bool part = block.rows < block.piece || block.piece < block.columns;
    reading = in_block(part ? 2 : 1) * does.along * does.across;
  } else if (does.run > 1) {
    reading = kCopiedRow / does.run + kByte * read_bytes;
  }
  return (reading + kByte * read_bytes) * does.tiles;
}

namespace {

/// The longer one, and what it leaves of the other.
double side_by_side(double x, double y) { return std::max(x, y) + 0.3 * std::min(x, y); }

}  // namespace

bool waits_for_memory(double bytes, const CpuModel& device) {
  // Last levels of which no more is counted are shared, and hardly faster than memory. Beside two second caches of 2 MB
  // on an Intel Xeon copies of 8 MB took half as long by stores into caches as by nontemporal ones, those of 16 MB 1.6
  // times and of 28 and 40 MB twice as long.
  constexpr double kVeryLarge = 64 << 20, kSecondCaches = 3;
  const double second = kSecondCaches * device.threads * static_cast<double>(device.l2_bytes);
  return device.beyond_caches(bytes) || (static_cast<double>(device.cache_bytes) >= kVeryLarge && bytes > second);
}

double least_copy_us(double bytes, const CpuModel& device) {
  if (!waits_for_memory(bytes, device)) return touching_ns(bytes, 0, 0, device) / device.threads * 1e-3;
  const double rate = device.streaming_GBs > 0 ? device.streaming_GBs : kCopyGBs;
  return through_array(0, device) * bytes / rate * 1e-3;
}

CpuMovePrices::CpuMovePrices(const Sides& sides, const CpuModel& device)
    : sides_(sides),
      device_(device),
      write_(sides.program, sides.program.statement().buffer, sides.program.statement().offset),
      points_(static_cast<double>(sides.program.points())) {
  std::vector<std::int64_t> all;
  for (const auto& index : sides.program.indices) all.push_back(index.extent);
  write_bytes_ = static_cast<double>(write_.in_boxes(all).bytes);
  if (sides.load < 0) return;
  const auto& load = sides.program.nodes[static_cast<std::size_t>(sides.load)];
  read_.emplace(sides.program, load.source, load.offset);
  read_bytes_ = static_cast<double>(read_->in_boxes(all).bytes);
}

double CpuMovePrices::least_memory_ns(const kernel::Moves& moves) const {
  const double bytes = read_bytes_ + write_bytes_, array = array_bytes(sides_, moves);
  if (beyond_caches()) {
    const double ns = !moves.streaming ? (read_bytes_ + 2 * write_bytes_) / kReadGBs
                      : array > 0      ? through_array(array, device_) * bytes / kCopyGBs
                      : moves.stage && moves.stage->prefetch_distance > 0
                          ? kFetched * bytes / kCopyGBs
                          : read_bytes_ / kReadGBs + write_bytes_ / kWriteGBs;
    return device_.streaming_GBs > 0 ? ns * (kCopyGBs / device_.streaming_GBs) : ns;
  }
  const double touched = bytes / static_cast<double>(moves.tiles(sides_.program));
  const double ns = touching_ns(bytes, touched, array, device_) / device_.threads;
  return moves.streaming ? ns + write_bytes_ / kWriteGBs : ns;
}

double CpuMovePrices::least_us(const kernel::Moves& moves, double moving_ns) const {
  constexpr double kRounding = 1 - 1e-9;
  return kRounding * side_by_side(least_memory_ns(moves), moving_ns / device_.threads) * 1e-3;
}

double CpuMovePrices::least_us(const kernel::Moves& moves) const {
  const bool in_array = array_bytes(sides_, moves) > 0;
  return least_us(moves, in_array ? points_ * kByte * static_cast<double>(sides_.read_bytes()) : 0);
}

double CpuMovePrices::memory_ns(const kernel::Moves& moves, const Traffic& traffic) const {
  const auto run = written_run(sides_, moves, traffic.write);
  if (!beyond_caches()) {
    const double ns = cached_ns(sides_, moves, traffic, device_, run) / device_.threads;
    return moves.streaming ? ns + write_bytes_ / rate(kWriteGBs, kWriteHalfRun, run) : ns;
  }
  const bool in_array = array_bytes(sides_, moves) > 0;
  double ns = 0;
  if (!moves.streaming) {
    ns = filled_ns(sides_, traffic, run);
  } else if (in_array) {
    ns = through_array_ns(sides_, moves, traffic, device_, run);
  } else if (moves.stage && moves.stage->prefetch_distance > 0) {
    ns = fetched_ns(sides_, moves, traffic);
  } else {
    ns = streaming_ns(sides_, moves, traffic, device_, run);
  }
  if (in_array) ns *= repeated(sides_, moves);
  // Where this machine's copy was measured, its memory is so much faster than the one above.
  return device_.streaming_GBs > 0 ? ns * (kCopyGBs / device_.streaming_GBs) : ns;
}

std::optional<MovesCandidate> CpuMovePrices::priced(const kernel::Moves& moves, double below_us) const {
  constexpr double kTile = 5;  // nanoseconds to find one
  const double threads = device_.threads, moving = points_ * element_ns(sides_, moves);
  if (least_us(moves, moving) >= below_us) return std::nullopt;
  Traffic traffic;
  traffic.tiles = moves.tiles(sides_.program);
  traffic.write = write_.in_boxes(moves.tile);
  if (read_) {
    // Tiles whose rows are asked for together read as one that is so much larger.
    const auto distance = moves.stage ? moves.stage->prefetch_distance : 1;
    std::vector<std::int64_t> box;
    launch_box(sides_.program, moves.tile, moves.order, distance, box);
    traffic.read = read_->in_boxes(box);
  }
  const double us =
      side_by_side(memory_ns(moves, traffic), (moving + static_cast<double>(traffic.tiles) * kTile) / threads) * 1e-3;
  if (us >= below_us) return std::nullopt;
  return MovesCandidate{{}, moves, traffic, us};
}

}  // namespace ricci::plan
