// Schedules for a CPU: loops in the output's order, blocks transposed in vector registers where the fastest axes of the
// two sides differ, and both in the input's order past the caches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/axes.hpp"
#include "plan/baselines_cpu.hpp"
#include "plan/plain.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {
namespace {

using ir::Schedule;
using Tile = std::vector<std::int64_t>;

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kTilePoints = 4096;  // enough to forget what finding a tile costs

class Generator {
 public:
  Generator(const ir::Program& program, const CpuFigures& figures)
      : program_(program), figures_(figures), sides_(program) {}

  std::vector<Candidate> run() {
    add_loops();
    add_transposed();
    add_streaming();
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    return std::move(list_);
  }

 private:
  std::string tile_text(const Tile& tile) const {
    std::string text;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      if (tile[q] > 1) text += fmt::format(" {}{}", program_.indices[q].name, tile[q]);
    }
    return text;
  }

  std::int64_t points(const Tile& tile) const {
    std::int64_t product = 1;
    for (const auto n : tile) product *= n;
    return product;
  }

  /// Lets the tile grow along further axes of the output until it is worth a call.
  void grow(Tile& tile) const {
    for (const auto q : sides_.write_order) {
      const auto left = kTilePoints / points(tile);
      if (left < 2) return;
      auto& n = tile[static_cast<std::size_t>(q)];
      if (n == 1) n = std::min(sides_.extent(q), left);
    }
  }

  void add(Schedule schedule, double cost) {
    if (!names_.insert(schedule.name).second) return;  // small extents make the same tile of several sides
    Candidate candidate;
    candidate.schedule = std::move(schedule);
    auto& traffic = candidate.traffic;
    const auto& statement = program_.statement();
    traffic.tiles = candidate.schedule.tiles(program_);
    traffic.write = side_traffic(program_, candidate.schedule, statement.buffer, statement.offset);
    if (sides_.load >= 0) {
      const auto& load = program_.nodes[static_cast<std::size_t>(sides_.load)];
      traffic.read = side_traffic(program_, candidate.schedule, load.source, load.offset);
    }
    // `cost`: nanoseconds per element of one thread, beside a stream of 10 GB/s on the lines that the tiles touch.
    double bytes = traffic.predicted_bytes();
    // Beyond the caches a line is read before it is written, unless it goes past them.
    const bool beyond = figures_.beyond_caches(static_cast<double>(traffic.read.bytes + traffic.write.bytes));
    const double written = traffic.write.sectors * static_cast<double>(kSectorBytes);
    if (beyond != candidate.schedule.streaming) bytes += 2 * written;
    candidate.predicted_us = (bytes / 10.0 + static_cast<double>(program_.points()) * cost) * 1e-3 / figures_.threads;
    list_.push_back(std::move(candidate));
  }

  Schedule base(const Tile& tile, std::string name) const {
    Schedule schedule;
    schedule.tile = tile;
    schedule.order = sides_.write_order;
    schedule.threads = 1;
    schedule.walk = {sides_.digits(false, tile), 1, 1};
    schedule.name = std::move(name);
    return schedule;
  }

  void add_loops() {
    const bool same = sides_.load < 0 || sides_.read_first() == sides_.write_first();
    if (same) {
      Tile tile(program_.indices.size(), 1);
      if (!tile.empty()) {
        const auto q = sides_.write_first();
        tile[static_cast<std::size_t>(q)] = std::min(sides_.extent(q), std::int64_t{1} << 16);
        grow(tile);
      }
      add(base(tile, "loops" + tile_text(tile)), 0.05);
      return;
    }
    // A square of both fastest axes keeps the lines of either side in cache until they are used up.
    for (const std::int64_t side : {16, 32, 64}) {
      Tile tile(program_.indices.size(), 1);
      for (const auto q : {sides_.read_first(), sides_.write_first()}) {
        tile[static_cast<std::size_t>(q)] = std::min(sides_.extent(q), side);
      }
      grow(tile);
      add(base(tile, fmt::format("loops{}", tile_text(tile))), 0.8);
    }
  }

  void add_transposed() {
    if (sides_.load < 0 || program_.indices.size() < 2) return;
    const int read = sides_.read_first(), written = sides_.write_first();
    if (read == written || sides_.read_stride(read) != 1 || sides_.write_stride(written) != 1) return;
    const auto bytes = sides_.read_bytes();
    if (bytes > 8 || !others_match()) return;
    for (std::int64_t vector = std::min<std::int64_t>(16, figures_.vector_bytes / bytes); vector >= 2; vector /= 2) {
      if (sides_.extent(read) < vector || sides_.extent(written) < vector) continue;
      for (const std::int64_t side : {2 * vector, 4 * vector, 8 * vector}) {
        Tile tile(program_.indices.size(), 1);
        for (const auto q : {read, written}) tile[static_cast<std::size_t>(q)] = std::min(sides_.extent(q), side);
        grow(tile);
        auto schedule = base(tile, fmt::format("transposed{} v{}", tile_text(tile), vector));
        arrange(schedule.walk.digits, written, read);
        schedule.walk.vector = 1;
        ir::Stage stage;
        stage.load = sides_.load;
        stage.place = ir::Place::registers;
        stage.walk = schedule.walk;
        arrange(stage.walk.digits, read, written);
        schedule.walk.vector = static_cast<int>(vector);
        schedule.stage = std::move(stage);
        // Edges go element by element.
        const double edge = edge_share(read, vector) + edge_share(written, vector);
        add(std::move(schedule), 0.8 / static_cast<double>(vector) + 0.8 * std::min(edge, 1.0));
      }
    }
  }

  /// Past the caches, for what does not fit into them: lines are read in the input's order, run after run, and whole
  /// lines are written wherever they belong. A line that is written in part by a store past the caches is read after
  /// all, so the output's rows must begin with lines.
  void add_streaming() {
    if (sides_.load < 0 || program_.indices.empty() || !others_match() || adds()) return;
    const auto bytes = std::max(sides_.read_bytes(), sides_.write_bytes());
    const int read = sides_.read_first(), written = sides_.write_first();
    if (sides_.write_stride(written) != 1) return;
    const auto vector = figures_.vector_bytes / bytes;
    const auto line = std::max<std::int64_t>(kLineBytes / bytes, vector);
    if (read == written) {
      for (const std::int64_t run : {4096, 16384, 65536}) {
        auto tile = read_prefix(run / bytes, -1);
        auto schedule = base(tile, fmt::format("streaming{} v{}", tile_text(tile), vector));
        schedule.order = sides_.read_order;
        schedule.walk = {sides_.digits(true, tile), static_cast<int>(vector), 1};
        schedule.streaming = true;
        add(std::move(schedule), 0.05);
      }
      return;
    }
    if (vector < 2 || sides_.read_stride(read) != 1 || sides_.extent(read) < vector || sides_.extent(written) < vector)
      return;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto step = sides_.write_stride(static_cast<int>(q));
      if (static_cast<int>(q) != written && step * sides_.write_bytes() % kLineBytes != 0) return;
    }
    for (const std::int64_t run : {2048, 8192, 32768}) {
      for (const std::int64_t lines : {1, 2, 4}) {
        auto tile = read_prefix(run / bytes, written);
        auto& across = tile[static_cast<std::size_t>(written)];
        const auto group = std::min(line, sides_.extent(written) / vector * vector);
        across = std::min(group * lines, sides_.extent(written) / group * group);
        auto schedule = base(tile, fmt::format("streaming{} v{}", tile_text(tile), vector));
        schedule.order = sides_.read_order;
        auto& digits = schedule.walk.digits;
        digits = {{written, vector, 1}};
        if (group > vector) digits.push_back({written, group / vector, vector});
        for (const auto& digit : sides_.digits(true, tile)) {
          if (digit.index != written) digits.push_back(digit);
        }
        if (across > group) digits.push_back({written, across / group, group});
        schedule.walk.vector = static_cast<int>(vector);
        ir::Stage stage;
        stage.load = sides_.load;
        stage.place = ir::Place::registers;
        stage.walk = {sides_.digits(true, tile), static_cast<int>(vector), 1};
        schedule.stage = std::move(stage);
        schedule.streaming = true;
        add(std::move(schedule), 0.8 / static_cast<double>(vector));
      }
    }
  }

  /// As much of the input as makes runs of `elements` neighbours; up to the index that is `written`.
  Tile read_prefix(std::int64_t elements, int written) const {
    Tile tile(program_.indices.size(), 1);
    std::int64_t run = 1;
    for (const auto q : sides_.read_order) {
      if (q == written || (run >= elements && run > 1)) break;
      auto n = sides_.extent(q);
      if (run * n > elements) {
        // Parts of one size, or nearly so.
        const auto wanted = std::max<std::int64_t>((elements + run - 1) / run, run == 1 ? 256 : 1);
        const auto parts = (n + wanted - 1) / wanted;
        n = (n + parts - 1) / parts;
        if (run == 1 && n < sides_.extent(q)) n = std::min((n + 15) / 16 * 16, sides_.extent(q));
      }
      tile[static_cast<std::size_t>(q)] = n;
      run *= n;
      if (n < sides_.extent(q)) break;
    }
    return tile;
  }

  /// Whether the statement reads what it writes.
  bool adds() const {
    return std::any_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
      return node.kind == ir::NodeKind::load && node.source == program_.statement().buffer;
    });
  }

  double edge_share(int q, std::int64_t vector) const {
    return static_cast<double>(sides_.extent(q) % vector) / static_cast<double>(sides_.extent(q));
  }

  static void arrange(std::vector<ir::Digit>& digits, int first, int second) {
    const auto move_front = [&](int q) {
      const auto place = std::find_if(digits.begin(), digits.end(), [&](const ir::Digit& d) { return d.index == q; });
      std::rotate(digits.begin(), place, place + 1);
    };
    move_front(second);
    move_front(first);
  }

  /// Every other load reads what the statement writes, element for element.
  bool others_match() const {
    for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
      const auto& node = program_.nodes[id];
      if (node.kind != ir::NodeKind::load || static_cast<ir::NodeId>(id) == sides_.load) continue;
      const auto& offset = program_.statement().offset;
      if (node.source != program_.statement().buffer || node.offset.coefficient != offset.coefficient ||
          node.offset.constant != offset.constant) {
        return false;
      }
    }
    return true;
  }

  const ir::Program& program_;
  const CpuFigures& figures_;
  Sides sides_;
  std::vector<Candidate> list_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Candidate> candidates(const ir::Program& program, const CpuFigures& figures) {
  if (!moves(program)) return plain_candidates(program, figures);
  auto list = Generator(program, figures).run();
  for (auto& baseline : baselines(program, figures)) list.push_back(std::move(baseline));
  return list;
}

}  // namespace ricci::plan
