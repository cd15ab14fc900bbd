// Copy schedules for a CPU: loops in the output's order, blocks transposed in vector registers where the fastest axes
// differ, both also in the input's order with nontemporal stores, and tiles staged in an array.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "kernel/permute/cpu_stage.hpp"
#include "plan/enumerate/copies_cpu.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/cost_cpu.hpp"

namespace ricci::plan {
namespace {

using kernel::Moves;

constexpr std::int64_t kFewestArrayBytes = 64 * 1024,
                       kMostArrayBytes = 256 * 1024;  // of a staging array, of which a kernel may have two
constexpr std::int64_t kFewWaitingBytes = 128 * 1024,
                       kMostWaitingBytes = 512 * 1024;  // of carried lines
constexpr std::int64_t kMostRows = 32;                  // of a block: the vector registers limit it
constexpr std::int64_t kPartBytes = 16;                 // of each row with row packing
constexpr std::int64_t kOpenLines = 8;      // partly written lines: a processor has few write-combining buffers
constexpr std::int64_t kTilePoints = 4096;  // amortises the cost of finding a tile

class CpuCopyEnumerator {
  using Tile = std::vector<std::int64_t>;

 public:
  CpuCopyEnumerator(const ir::Program& program, const CpuModel& device)
      : program_(program), device_(device), sides_(program), prices_(sides_, device) {}

  std::vector<Candidate> all() {
    enumerate();
    std::stable_sort(list_.begin(), list_.end(), faster);
    std::vector<Candidate> candidates;
    candidates.reserve(list_.size() + 1);
    for (auto& one : list_) candidates.push_back(candidate_of(std::move(one), program_));
    return candidates;
  }

  /// The first of all(): what takes as long to move as the best does in all is not priced.
  Candidate best() {
    only_best_ = true;
    enumerate();
    return candidate_of(std::move(list_.front()), program_);
  }

 private:
  static bool faster(const MovesCandidate& x, const MovesCandidate& y) { return x.predicted_us < y.predicted_us; }

  void enumerate() {
    add_loops();
    add_transposed();
    add_streaming();
    add_staged();
  }

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

  /// Grows the tile along further axes of the output until it amortises a call.
  void grow(Tile& tile) const {
    for (const auto q : sides_.write_order) {
      const auto left = kTilePoints / points(tile);
      if (left < 2) return;
      auto& n = tile[static_cast<std::size_t>(q)];
      if (n == 1) n = std::min(sides_.extent(q), left);
    }
  }

  /// name()  a text that is made where it is of use
  template <class Name>
  void add(const Name& name, const Moves& moves) {
    // Several sizes may give the same tile where extents are small.
    if (!only_best_ && !names_.insert(name()).second) return;
    auto candidate =
        only_best_ && !list_.empty() ? prices_.priced(moves, list_.front().predicted_us) : prices_.priced(moves);
    if (!candidate) return;
    candidate->name = name();
    if (only_best_) list_.clear();
    list_.push_back(std::move(*candidate));
  }
  /// The name of such a candidate.
  auto name_of(const char* family, const Tile& tile, std::int64_t vector = 0) const {
    return [this, family, &tile, vector] {
      const auto vectors = vector > 0 ? fmt::format(" v{}", vector) : std::string();
      return fmt::format("{}{}{}", family, tile_text(tile), vectors);
    };
  }

  Moves base(const Tile& tile) const {
    Moves moves;
    moves.tile = tile;
    moves.order = sides_.write_order;
    moves.threads = 1;
    moves.mapping = {sides_.digits(false, tile), 1, 1};
    return moves;
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
      add(name_of("loops", tile), base(tile));
      return;
    }
    // A square of both fastest axes keeps the lines of either side in cache until they are used up.
    for (const std::int64_t side : {16, 32, 64}) {
      Tile tile(program_.indices.size(), 1);
      for (const auto q : {sides_.read_first(), sides_.write_first()}) {
        tile[static_cast<std::size_t>(q)] = std::min(sides_.extent(q), side);
      }
      grow(tile);
      add(name_of("loops", tile), base(tile));
    }
  }

  void add_transposed() {
    if (sides_.load < 0 || program_.indices.size() < 2) return;
    const int read = sides_.read_first(), written = sides_.write_first();
    if (read == written || sides_.read_stride(read) != 1 || sides_.write_stride(written) != 1) return;
    const auto bytes = sides_.read_bytes();
    if (bytes > 8 || !others_match()) return;
    for (std::int64_t vector = std::min<std::int64_t>(16, device_.vector_bytes / bytes); vector >= 2; vector /= 2) {
      if (sides_.extent(read) < vector || sides_.extent(written) < vector) continue;
      for (const std::int64_t side : {2 * vector, 4 * vector, 8 * vector}) {
        Tile tile(program_.indices.size(), 1);
        for (const auto q : {read, written}) tile[static_cast<std::size_t>(q)] = std::min(sides_.extent(q), side);
        grow(tile);
        auto moves = base(tile);
        arrange(moves.mapping.digits, written, read);
        moves.mapping.vector = static_cast<int>(vector);
        kernel::Stage stage;
        stage.load = sides_.load;
        stage.memory = kernel::StageMemory::registers;
        stage.mapping = moves.mapping;
        arrange(stage.mapping.digits, read, written);
        moves.stage = std::move(stage);
        add(name_of("transposed", tile, vector), moves);
      }
    }
  }

  /// Nontemporal stores, for tensors larger than the caches: the input is read in its own order and whole cache lines
  /// of the output are written in any order. Partial nontemporal stores make the memory read the line, so the output's
  /// rows must be aligned to lines.
  void add_streaming() {
    if (sides_.load < 0 || program_.indices.empty() || !others_match() || adds()) return;
    const auto bytes = std::max(sides_.read_bytes(), sides_.write_bytes());
    const int read = sides_.read_first(), written = sides_.write_first();
    if (sides_.write_stride(written) != 1) return;
    const auto vector = device_.vector_bytes / bytes;
    const auto line = std::max<std::int64_t>(kLineBytes / bytes, vector);
    if (read == written) {
      for (const std::int64_t run : {4096, 16384, 65536}) {
        auto tile = reach(true, run / bytes, -1);
        auto moves = base(tile);
        moves.order = sides_.read_order;
        moves.mapping = {sides_.digits(true, tile), static_cast<int>(vector), 1};
        moves.streaming = true;
        add(name_of("streaming", tile, vector), moves);
      }
      return;
    }
    if (vector < line && vector > kOpenLines) return;
    if (vector < 2 || vector > kMostRows || sides_.read_stride(read) != 1 || sides_.extent(read) < vector ||
        sides_.extent(written) < vector)
      return;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto step = sides_.write_stride(static_cast<int>(q));
      if (static_cast<int>(q) != written && step * sides_.write_bytes() % kLineBytes != 0) return;
    }
    add_fetched(vector, line);
    for (const std::int64_t run : {2048, 16384}) {
      for (const std::int64_t lines : {1, 2, 4}) {
        auto tile = reach(true, run / bytes, written);
        auto& across = tile[static_cast<std::size_t>(written)];
        const auto group = std::min(line, sides_.extent(written) / vector * vector);
        across = std::min(group * lines, sides_.extent(written) / group * group);
        auto moves = base(tile);
        moves.order = sides_.read_order;
        auto& digits = moves.mapping.digits;
        digits = {{written, vector, 1}};
        if (group > vector) digits.push_back({written, group / vector, vector});
        for (const auto& digit : sides_.digits(true, tile)) {
          if (digit.index != written) digits.push_back(digit);
        }
        if (across > group) digits.push_back({written, across / group, group});
        moves.mapping.vector = static_cast<int>(vector);
        kernel::Stage stage;
        stage.load = sides_.load;
        stage.memory = kernel::StageMemory::registers;
        stage.mapping = {sides_.digits(true, tile), static_cast<int>(vector), 1};
        moves.stage = std::move(stage);
        moves.streaming = true;
        add(name_of("streaming", tile, vector), moves);
      }
    }
  }

  /// The same blocks over prefetched tiles, which allows to write in the output's order.
  void add_fetched(std::int64_t vector, std::int64_t line) {
    const int read = sides_.read_first(), written = sides_.write_first();
    const auto size = std::max(sides_.read_bytes(), sides_.write_bytes());
    const auto group = std::min(line, sides_.extent(written) / vector * vector);
    std::set<Tile> seen;
    for (const std::int64_t read_run : {64, 128, 256, 512, 1024, 2048}) {
      for (const std::int64_t write_run : {128, 256, 512, 1024, 2048}) {
        const auto reading = reach(true, read_run / size, written), writing = reach(false, write_run / size, read);
        auto tile = reading;
        for (std::size_t q = 0; q < tile.size(); ++q) tile[q] = std::max(tile[q], writing[q]);
        auto& across = tile[static_cast<std::size_t>(written)];
        if (across < group || tile[static_cast<std::size_t>(read)] < vector) continue;
        across = across / group * group;
        if (points(tile) * size > device_.l2_bytes / 4 || !seen.insert(tile).second) continue;
        for (const auto columns : {vector, line})
          add([&] { return fmt::format("fetched{} v{} c{}", tile_text(tile), vector, columns); },
              fetched(tile, writing, vector, group, columns));
      }
    }
  }

  ///   writing  extents of the output's contiguous runs
  ///   group    elements written together: a cache line
  ///   columns  runs of the output that are written at the same time
  Moves fetched(const Tile& tile, const Tile& writing, std::int64_t vector, std::int64_t group,
                std::int64_t columns) const {
    const int read = sides_.read_first(), written = sides_.write_first();
    auto moves = base(tile);
    moves.order = sides_.read_order;
    const auto along = tile[static_cast<std::size_t>(read)], across = tile[static_cast<std::size_t>(written)];
    const auto part = along % columns == 0 ? columns : along;
    std::vector<kernel::MixedRadixDigit> digits;
    const auto push = [&](const kernel::MixedRadixDigit& digit) {
      if (digit.count > 1) digits.push_back(digit);
    };
    const auto push_others = [&](bool in_run) {
      for (const auto& digit : moves.mapping.digits) {
        const bool runs = writing[static_cast<std::size_t>(digit.index)] > 1;
        if (digit.index != written && digit.index != read && runs == in_run) push(digit);
      }
    };
    push({written, vector, 1});
    push({written, group / vector, vector});
    push({read, part, 1});
    push({written, across / group, group});
    push_others(true);
    push({read, along / part, part});
    push_others(false);
    moves.mapping = {std::move(digits), static_cast<int>(vector), 1};
    auto& stage = moves.stage.emplace();
    stage.load = sides_.load;
    stage.memory = kernel::StageMemory::registers;
    stage.mapping = {sides_.digits(true, tile), static_cast<int>(vector), 1};
    stage.prefetch_distance = 1;
    moves.streaming = true;
    return moves;
  }

  /// Tiles staged in an array: contiguous runs on both sides.
  void add_staged() {
    if (sides_.load < 0 || program_.indices.size() < 2 || !others_match()) return;
    const int read = sides_.read_first(), written = sides_.write_first();
    if (sides_.write_stride(written) != 1) return;
    const auto size = std::max(sides_.read_bytes(), sides_.write_bytes());
    const auto most_bytes = std::clamp(device_.l2_bytes / 4, kFewestArrayBytes, kMostArrayBytes);
    constexpr std::array<std::int64_t, 8> kRuns = {64, 128, 192, 256, 384, 512, 1024, 2048};
    std::array<Tile, kRuns.size()> reading, writing;
    for (std::size_t k = 0; k < kRuns.size(); ++k) {
      reading[k] = reach(true, kRuns[k] / size, -1);
      writing[k] = reach(false, kRuns[k] / size, -1);
    }
    std::vector<Tile> seen;
    for (const auto& reads : reading) {
      for (const auto& writes : writing) {
        auto tile = reads;
        for (std::size_t q = 0; q < tile.size(); ++q) tile[q] = std::max(tile[q], writes[q]);
        if (std::find(seen.begin(), seen.end(), tile) != seen.end()) continue;
        seen.push_back(tile);
        bool ragged = false;
        for (std::size_t q = 0; q < tile.size(); ++q) ragged = ragged || program_.indices[q].extent % tile[q] != 0;
        if (ragged && adds()) continue;
        Moves moves;
        moves.tile = tile;
        moves.order = sides_.read_order;
        moves.threads = 1;
        auto& stage = moves.stage.emplace();
        stage.load = sides_.load;
        stage.memory = kernel::StageMemory::shared;
        stage.layout = array_layout(tile);
        stage.prefetch_distance = 1;
        if (stage.layout.elements * sides_.read_bytes() > most_bytes || !may_be_best(moves)) continue;
        moves.mapping = {sides_.digits(false, tile), 1, 1};
        stage.mapping = {sides_.digits(true, tile), 1, 1};
        if (read != written) cut_blocks(moves);
        const auto name = name_of("staged", tile, moves.stage->mapping.vector);
        moves.streaming = true;
        moves.mapping.vector = static_cast<int>(device_.vector_bytes / size);
        moves.stage->line_carry = line_carry_along(moves, kMostWaitingBytes);
        add(name, moves);
        add_grouped(name, moves);
        add_early_line_carry(name, moves);
        moves.streaming = false;
        moves.stage->prefetch_distance = 0;
        moves.stage->line_carry = -1;
        moves.mapping.vector = 1;
        add([&] { return fmt::format("{} kept", name()); }, moves);
      }
    }
  }

  /// Whether such a tile may take less than the best so far, where that alone is asked for, by either kind of stores.
  bool may_be_best(Moves& moves) const {
    if (!only_best_ || list_.empty()) return true;
    const auto least_us = [&](bool streaming) {
      moves.streaming = streaming;
      return prices_.least_us(moves);
    };
    return std::min(least_us(true), least_us(false)) < list_.front().predicted_us;
  }

  /// The same tiles in an order that continues runs early, so that few lines are carried at a time.
  template <class Name>
  void add_early_line_carry(const Name& of, Moves moves) {
    const auto index = kernel::line_carry_of(program_, moves).index;
    if (index < 0) return;
    auto place = std::find(moves.order.begin(), moves.order.end(), index);
    while (line_carry_along(moves, kFewWaitingBytes) < 0) {
      if (place == moves.order.begin()) return;
      std::iter_swap(place, place - 1);
      --place;
    }
    if (moves.order == sides_.read_order) return;
    moves.stage->line_carry = index;
    const auto name = [&] {
      const auto& written = program_.buffers[static_cast<std::size_t>(program_.statement().buffer)];
      return fmt::format("{} along {}", of(), written.name);
    };
    add(name, moves);
    add_grouped(name, std::move(moves));
  }

  /// The index of the line carry; -1 where runs end at lines or too many lines would be carried.
  int line_carry_along(const Moves& moves, std::int64_t most_bytes) const {
    if (program_.nodes[static_cast<std::size_t>(program_.statement().value)].kind != ir::NodeKind::load) return -1;
    const auto carry = kernel::line_carry_of(program_, moves);
    const auto run_bytes = moves.tile_points() / carry.runs * sides_.write_bytes();
    if (carry.tiles < 3 || run_bytes < kLineBytes || !lines_are_shared(sides_, run_bytes)) return -1;
    return carry.apart * carry.runs * kLineBytes <= most_bytes ? carry.index : -1;
  }

  /// Small tiles whose arrays stay in L1, prefetched several at a time so that the rows read from memory are longer.
  /// The group extends along the first index of the input's run that a tile holds in part.
  template <class Name>
  void add_grouped(const Name& name, Moves moves) {
    constexpr std::int64_t kLongRow = 512;
    const auto size = sides_.read_bytes();
    if (moves.shared_bytes(program_) > device_.l1_bytes) return;
    std::int64_t row = 1, tiles = 1;
    for (const auto q : sides_.read_order) {
      if (sides_.read_stride(q) != row) return;
      row *= moves.tile[static_cast<std::size_t>(q)];
      tiles = moves.tiles_along(program_, q);
      if (tiles > 1) break;
    }
    row *= size;
    if (tiles == 1 || row > kLongRow) return;
    std::int64_t last = 1;
    for (const std::int64_t run : {256, 512, 1024}) {
      const auto parts = std::max<std::int64_t>((tiles * row + run / 2) / run, 1);
      const auto grouped = (tiles + parts - 1) / parts;
      if (grouped <= last) continue;
      last = grouped;
      moves.stage->prefetch_distance = grouped;
      add([&] { return fmt::format("{} x{}", name(), grouped); }, moves);
    }
  }

  /// Chooses the transposed blocks that fill the array fastest by the model: how many digits they span on either side,
  /// vector width and row packing. None where copying single elements is as fast.
  void cut_blocks(Moves& moves) const {
    const auto lanes = device_.vector_bytes / sides_.read_bytes();
    auto best = moves;
    auto least = element_ns(sides_, best);
    const auto digits = [](const kernel::ThreadMapping& mapping) { return static_cast<int>(mapping.digits.size()); };
    const auto take = [&] {
      const auto ns = element_ns(sides_, moves);
      if (ns >= least) return;
      least = ns;
      best = moves;
    };
    auto& stage = *moves.stage;
    std::vector<bool> read(program_.indices.size());
    std::int64_t along = 1;
    for (stage.along = 1; stage.along <= digits(stage.mapping); ++stage.along) {
      const auto& digit = stage.mapping.digits[static_cast<std::size_t>(stage.along - 1)];
      if (sides_.read_stride(digit.index) != along) break;
      read[static_cast<std::size_t>(digit.index)] = true;
      along *= digit.count;
      std::int64_t widest = 1;
      while (2 * widest <= std::min(lanes, along)) widest *= 2;
      // Half the width may leave less overlap at the end.
      for (auto vector = widest; vector > 1 && 2 * vector >= widest; vector /= 2) {
        stage.mapping.vector = static_cast<int>(vector);
        stage.row_packing = 1;
        std::int64_t across = 1;
        for (stage.across = 1; stage.across <= digits(moves.mapping); ++stage.across) {
          const auto& other = moves.mapping.digits[static_cast<std::size_t>(stage.across - 1)];
          const auto q = static_cast<std::size_t>(other.index);
          if (read[q] || stage.layout.stride[q] != across) break;
          across *= other.count;
          take();
          // Row packing: where a square block needs more registers than there are, or exchanges across 64-byte vectors
          // are slow.
          const bool parts = lanes > kMostRows / 2 || device_.vector_bytes == kLineBytes;
          if (!parts || vector != widest) continue;
          for (int row_packing = 2; row_packing * kPartBytes <= device_.vector_bytes; row_packing *= 2) {
            stage.mapping.vector = static_cast<int>(kPartBytes / sides_.read_bytes());
            stage.row_packing = row_packing;
            if (along >= stage.mapping.vector && across > stage.mapping.vector * row_packing / 2) take();
          }
          stage.mapping.vector = static_cast<int>(vector);
          stage.row_packing = 1;
        }
      }
    }
    moves = std::move(best);
  }

  /// The array has the output's order; consecutive runs begin an odd number of cache lines apart, to spread over cache
  /// sets.
  kernel::SharedLayout array_layout(const Tile& tile) const {
    kernel::SharedLayout layout;
    layout.stride.assign(tile.size(), 0);
    std::int64_t next = 1, elements = 1;
    bool run = true;
    for (const auto index : sides_.write_order) {
      const auto q = static_cast<std::size_t>(index);
      if (tile[q] == 1) continue;
      if (run && sides_.write_stride(index) != next) {
        run = false;
        const auto line = kLineBytes / sides_.read_bytes();
        next = ((next + line - 1) / line | 1) * line;
      }
      layout.stride[q] = next;
      elements += next * (tile[q] - 1);
      next *= tile[q];
    }
    layout.elements = elements;
    return layout;
  }

  /// The tile whose runs on one side have about `elements` contiguous elements, in equal parts; stops before index
  /// `stop`.
  Tile reach(bool read, std::int64_t elements, int stop) const {
    Tile tile(program_.indices.size(), 1);
    std::int64_t run = 1;
    for (const auto q : read ? sides_.read_order : sides_.write_order) {
      const auto stride = std::abs(read ? sides_.read_stride(q) : sides_.write_stride(q));
      if (q == stop || 4 * run >= 3 * elements || (run > 1 && stride != run)) break;
      auto n = sides_.extent(q);
      if (run * n > elements) {
        const auto wanted = (elements + run - 1) / run;
        auto parts = (n + wanted - 1) / wanted;
        // The last part overlaps its predecessor to be whole; keep that repeated work below a tenth.
        const auto part = [&] { return (n + parts - 1) / parts; };
        const auto fits = [&](std::int64_t length) { return 10 * length * parts <= 11 * n; };
        while (!fits(part())) --parts;
        const auto granule = std::max<std::int64_t>(kLineBytes / sides_.read_bytes(), 1);
        const auto whole_lines = (part() + granule - 1) / granule * granule;
        n = run == 1 && whole_lines <= n && fits(whole_lines) ? whole_lines : part();
      }
      tile[static_cast<std::size_t>(q)] = n;
      run *= n;
      if (n < sides_.extent(q)) break;
    }
    return tile;
  }

  /// Whether the statement adds to the output.
  bool adds() const {
    return std::any_of(program_.nodes.begin(), program_.nodes.end(), [&](const ir::Node& node) {
      return node.kind == ir::NodeKind::load && node.source == program_.statement().buffer;
    });
  }

  static void arrange(std::vector<kernel::MixedRadixDigit>& digits, int first, int second) {
    const auto move_front = [&](int q) {
      const auto place =
          std::find_if(digits.begin(), digits.end(), [&](const kernel::MixedRadixDigit& d) { return d.index == q; });
      std::rotate(digits.begin(), place, place + 1);
    };
    move_front(second);
    move_front(first);
  }

  /// Whether every other load reads exactly the element that the statement writes.
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
  const CpuModel& device_;
  Sides sides_;
  CpuMovePrices prices_;
  bool only_best_ = false;
  std::vector<MovesCandidate> list_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Candidate> copy_candidates(const ir::Program& program, const CpuModel& device) {
  return CpuCopyEnumerator(program, device).all();
}

Candidate best_copy(const ir::Program& program, const CpuModel& device) {
  return CpuCopyEnumerator(program, device).best();
}

}  // namespace ricci::plan
