#include "plan/cost_cpu.hpp"

#include <algorithm>
#include <utility>

namespace ricci::plan {
namespace {

/// GB/s of a memory that is read or written in runs of so many bytes at distant places.
double rate(double most, double half, std::int64_t run_bytes) {
  const auto run = static_cast<double>(std::max<std::int64_t>(run_bytes, 1));
  return most * run / (run + half);
}

/// Bytes of neighbours in the output that are written one after the other.
std::int64_t written_run(const Sides& sides, const ir::Schedule& schedule, const SideTraffic& write) {
  const bool rows = !schedule.stage && schedule.streaming;
  return rows ? schedule.tile[static_cast<std::size_t>(sides.write_first())] * sides.write_bytes() : write.run_bytes;
}

/// Lines that such runs share with others. Each is read, and written later on.
double shared_lines(const Sides& sides, const SideTraffic& write, std::int64_t run_bytes) {
  bool whole = run_bytes % kLineBytes == 0;
  for (std::size_t q = 0; q < sides.program.indices.size(); ++q) {
    const auto step = sides.write_stride(static_cast<int>(q)) * sides.write_bytes();
    whole = whole && (std::abs(step) < run_bytes || step % kLineBytes == 0);
  }
  if (whole || run_bytes <= 0) return 0;
  return static_cast<double>(write.bytes) / static_cast<double>(run_bytes) * (run_bytes < kLineBytes ? 1 : 2);
}

/// Nanoseconds of one thread for one element, its memory aside.
double element_ns(const Sides& sides, const ir::Schedule& schedule) {
  constexpr double kOne = 1.0;      // a load and a store, with their addresses
  constexpr double kBlock = 1.2;    // of a row of a block, all rounds of its transpose
  constexpr double kCopied = 0.03;  // along a row
  constexpr double kRow = 4;        // to begin one
  const auto extent = [&](int q) { return static_cast<double>(sides.extent(q)); };
  const auto tile = [&](int q) { return static_cast<double>(schedule.tile[static_cast<std::size_t>(q)]); };
  const int read = sides.read_first(), written = sides.write_first();
  const auto row = [&](double elements) { return kRow / elements + kCopied; };
  if (!schedule.stage) {
    if (read < 0 || read == written) return written < 0 ? kOne : row(tile(written));
    return kOne;
  }
  const auto& stage = *schedule.stage;
  const double vector = stage.walk.vector;
  if (stage.place == ir::Place::registers) {
    // At an edge a block is moved back, or goes by elements where it cannot be.
    double edges = 0;
    for (const int q : {read, written}) edges += static_cast<double>(sides.extent(q) % stage.walk.vector) / extent(q);
    return kBlock / vector + kOne * std::min(edges, 1.0);
  }
  double points = 1, whole = 1;
  for (int q = 0; q < static_cast<int>(schedule.tile.size()); ++q) {
    points *= extent(q);
    whole *= tile(q) * static_cast<double>(schedule.tiles_along(sides.program, q));
  }
  double run = 1;  // that lies together in the array too
  for (const auto q : sides.read_order) {
    if (static_cast<double>(stage.layout.stride[static_cast<std::size_t>(q)]) != run && tile(q) > 1) break;
    run *= tile(q);
  }
  const double reading = vector > 1 ? kBlock / vector : run > 1 ? row(run) : kOne;
  return (reading + kCopied) * whole / points;
}

}  // namespace

double predicted_us(const Sides& sides, const ir::Schedule& schedule, const Traffic& traffic,
                    const CpuFigures& figures) {
  constexpr double kReadGBs = 44, kReadHalfRun = 96;    // of all threads: half the rate at runs of so many bytes
  constexpr double kWriteGBs = 88, kWriteHalfRun = 40;  // past the caches
  constexpr double kCachedGBs = 60;                     // of one thread
  constexpr double kCopyGBs = 2 / (1 / kReadGBs + 1 / kWriteGBs);
  constexpr double kAhead = 1.25;
  constexpr double kTile = 15;  // nanoseconds to find one
  const auto& read = traffic.read;
  const auto& write = traffic.write;
  const auto bytes = static_cast<double>(read.bytes + write.bytes);
  const double threads = figures.threads;
  double memory = 0;
  const auto run = written_run(sides, schedule, write);
  const double shared = shared_lines(sides, write, run) * static_cast<double>(kLineBytes);
  if (figures.beyond_caches(bytes)) {
    memory = read.sectors * static_cast<double>(kSectorBytes) / rate(kReadGBs, kReadHalfRun, read.run_bytes);
    // What an array asks for ahead comes in the order of rows, not as streams that a processor follows by itself.
    if (schedule.stage && schedule.stage->place == ir::Place::shared) memory *= kAhead;
    if (schedule.streaming) {
      memory += static_cast<double>(write.bytes) / rate(kWriteGBs, kWriteHalfRun, run) + 2 * shared / kReadGBs;
    } else {
      // A line is read before a part of it is written.
      memory += 2 * static_cast<double>(write.bytes) / rate(kReadGBs, kReadHalfRun, run) + shared / kReadGBs;
    }
    // Where this machine's copy was measured, its memory is so much faster than the one above.
    if (figures.streaming_GBs > 0) memory *= kCopyGBs / figures.streaming_GBs;
  } else {
    memory = bytes / kCachedGBs / threads;
    if (schedule.streaming) memory += static_cast<double>(write.bytes) / rate(kWriteGBs, kWriteHalfRun, run);
  }
  const double points = static_cast<double>(sides.program.points());
  const double moving = (points * element_ns(sides, schedule) + static_cast<double>(traffic.tiles) * kTile) / threads;
  return (std::max(memory, moving) + 0.3 * std::min(memory, moving)) * 1e-3;
}

Candidate priced(const Sides& sides, ir::Schedule schedule, const CpuFigures& figures) {
  Candidate candidate;
  candidate.schedule = std::move(schedule);
  auto& traffic = candidate.traffic;
  const auto& program = sides.program;
  const auto& statement = program.statement();
  traffic.tiles = candidate.schedule.tiles(program);
  traffic.write = side_traffic(program, candidate.schedule, statement.buffer, statement.offset);
  if (sides.load >= 0) {
    const auto& load = program.nodes[static_cast<std::size_t>(sides.load)];
    traffic.read = side_traffic(program, candidate.schedule, load.source, load.offset);
  }
  candidate.predicted_us = predicted_us(sides, candidate.schedule, traffic, figures);
  return candidate;
}

}  // namespace ricci::plan
