// Schedules for a GPU. Every family of cuTT is one point of one space: a tile that reaches far enough along the axes
// that are contiguous on either side, staged in shared memory (tiled, packed, packed-split, by how much of each axis
// the tile holds), in a warp's registers, or not at all (copy, tiled-copy, plain).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/axes.hpp"
#include "plan/cost_cuda.hpp"
#include "plan/plain.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {
namespace {

using ir::Schedule;
using Tile = std::vector<std::int64_t>;

constexpr std::int64_t kLaunchLimit = std::int64_t{1} << 31;
constexpr std::int64_t kStagedBytesPerThread = 128;  // registers that hold what is on its way to shared memory

std::int64_t volume(const Tile& tile) {
  std::int64_t product = 1;
  for (const auto n : tile) product *= n;
  return product;
}

class Generator {
 public:
  Generator(const ir::Program& program, const GpuFigures& figures)
      : program_(program), figures_(figures), sides_(program) {}

  std::vector<Candidate> run(const std::string& wanted) {
    add_direct();
    if (sides_.load >= 0 && program_.indices.size() > 1) {
      if (sides_.read_first() != sides_.write_first() || short_first()) add_staged();
    }
    // Only the leaders deserve the search for a layout without conflicts; who leads after it has been searched too.
    constexpr std::size_t kRefined = 4;
    std::set<std::string> refined;
    do {
      sort();
      for (std::size_t k = 0; k < std::min(kRefined, list_.size()); ++k) {
        if (refined.insert(list_[k].schedule.name).second) refine(list_[k]);
      }
      sort();
    } while (!list_.empty() && !refined.contains(list_.front().schedule.name));
    for (auto& candidate : list_) {
      if (candidate.schedule.name == wanted && refined.insert(wanted).second) refine(candidate);
    }
    add_shuffled_origin();
    return std::move(list_);
  }

 private:
  void sort() {
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  }

  const ir::Affine& load_offset() const { return program_.nodes[static_cast<std::size_t>(sides_.load)].offset; }
  int load_buffer() const { return program_.nodes[static_cast<std::size_t>(sides_.load)].source; }

  /// The fastest axis is the same on both sides, but its rows are so short that a tile should join several.
  bool short_first() const { return sides_.extent(sides_.read_first()) * sides_.read_bytes() < 128; }

  int widest(bool read, const Tile& tile) const {
    const int q = read ? sides_.read_first() : sides_.write_first();
    const auto bytes = read ? sides_.read_bytes() : sides_.write_bytes();
    for (auto vector = static_cast<int>(16 / bytes); vector > 1; vector /= 2) {
      if (tile[static_cast<std::size_t>(q)] % vector != 0) continue;
      const bool fits =
          read ? ir::vector_access(program_, load_buffer(), load_offset(), q, vector)
               : ir::vector_access(program_, program_.statement().buffer, program_.statement().offset, q, vector);
      if (fits) return vector;
    }
    return 1;
  }

  /// Tiles that follow each other in the launch are neighbours on one side: the output, so that a sector shared by two
  /// of them is completed in L2, or the input, where that side has the shorter runs.
  const std::vector<int>& launch_order(bool read) const { return read ? sides_.read_order : sides_.write_order; }

  void add(Schedule schedule) {
    if (schedule.tiles(program_) >= kLaunchLimit) return;
    if (schedule.shared_bytes(program_) > figures_.shared_bytes_per_block) return;
    if (!names_.insert(schedule.name).second) return;
    Candidate candidate;
    candidate.schedule = std::move(schedule);
    assess(candidate, 0);
    list_.push_back(std::move(candidate));
  }

  void add_direct() {
    const auto first = sides_.write_first();
    const bool same = sides_.load < 0 || first == sides_.read_first();
    Tile whole(program_.indices.size(), 1);
    if (program_.indices.empty()) {
      add(direct("plain", whole, 1, 32));
      return;
    }
    for (const std::int64_t target : {256, 512, 1024, 2048, 4096}) {
      const auto wide = std::max<std::int64_t>(16 / sides_.write_bytes(), 1);
      Tile tile = sides_.prefix(false, target, wide);
      // Fill up with whole outer axes while the tile is too small to feed a block.
      for (const auto q : sides_.write_order) {
        if (volume(tile) * 2 > target) break;
        auto& n = tile[static_cast<std::size_t>(q)];
        if (n == 1) n = std::min(sides_.extent(q), std::max<std::int64_t>(target / volume(tile), 1));
      }
      int vector = widest(false, tile);
      if (same && sides_.load >= 0) {
        vector = std::min(vector, widest(true, tile));
      } else if (!same) {
        vector = 1;
      }
      const auto positions = volume(tile) / vector;
      for (const int threads : {128, 256}) {
        if (positions < threads && target != 256) continue;
        const char* family = !same ? "plain" : program_.indices.size() == 1 ? "copy" : "tiled-copy";
        add(direct(family, tile, vector, threads));
      }
    }
  }

  Schedule direct(const char* family, const Tile& tile, int vector, int threads) {
    Schedule schedule;
    schedule.tile = tile;
    schedule.order = launch_order(false);
    schedule.walk = {sides_.digits(false, tile), vector, threads};
    schedule.threads = threads;
    schedule.name = fmt::format("{}{} v{} t{}", family, tile_text(tile), vector, threads);
    return schedule;
  }

  std::string tile_text(const Tile& tile) const {
    std::string text;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      if (tile[q] > 1) text += fmt::format(" {}{}", program_.indices[q].name, tile[q]);
    }
    return text;
  }

  void add_staged() {
    const auto read_wide = std::max<std::int64_t>(16 / sides_.read_bytes(), 1);
    const auto write_wide = std::max<std::int64_t>(16 / sides_.write_bytes(), 1);
    static constexpr std::int64_t kRuns[] = {32, 64, 128, 256, 512, 1024};  // bytes
    std::set<Tile> seen;
    for (const auto read_run : kRuns) {
      for (const auto write_run : kRuns) {
        Tile tile = sides_.prefix(true, std::max<std::int64_t>(read_run / sides_.read_bytes(), 1), read_wide);
        const Tile other =
            sides_.prefix(false, std::max<std::int64_t>(write_run / sides_.write_bytes(), 1), write_wide);
        for (std::size_t q = 0; q < tile.size(); ++q) tile[q] = std::max(tile[q], other[q]);
        const auto bytes = volume(tile) * sides_.read_bytes();
        if (bytes > figures_.shared_bytes_per_block / 2 || !seen.insert(tile).second) continue;
        add_staged(tile);
      }
    }
  }

  void add_staged(const Tile& tile) {
    const int read_vector = widest(true, tile);
    const int write_vector = widest(false, tile);
    const auto points = volume(tile);
    for (const int threads : {128, 256, 512}) {
      const auto per_thread = (points + threads - 1) / threads * sides_.read_bytes();
      if (per_thread > kStagedBytesPerThread || points / std::max(read_vector, write_vector) < threads / 2) continue;
      add(staged(tile, read_vector, write_vector, threads, false));
      add(staged(tile, read_vector, write_vector, threads, true));
      if (can_skew(tile)) {
        add(skewed(tile, read_vector, 1, threads));
        add(skewed(tile, read_vector, static_cast<int>(write_wide()), threads));
      }
    }
    if (points * sides_.read_bytes() <= 32 * 32 && points >= 16) add(in_warp(tile, read_vector, write_vector));
  }

  const char* family(const Tile& tile) const {
    int axes = 0, parts = 0;
    for (std::size_t q = 0; q < tile.size(); ++q) {
      axes += tile[q] > 1;
      parts += tile[q] > 1 && tile[q] < program_.indices[q].extent;
    }
    return axes == 2 && sides_.read_first() != sides_.write_first() ? "tiled" : parts == 0 ? "packed" : "packed-split";
  }

  Schedule staged(const Tile& tile, int read_vector, int write_vector, int threads, bool read_first) {
    Schedule schedule;
    schedule.tile = tile;
    schedule.order = launch_order(read_first);
    schedule.threads = threads;
    schedule.walk = {sides_.digits(false, tile), write_vector, threads};
    ir::Stage stage;
    stage.load = sides_.load;
    stage.walk = {sides_.digits(true, tile), read_vector, threads};
    stage.layout = linear_layout(tile, true, 0);
    schedule.stage = std::move(stage);
    schedule.name = fmt::format("{}{} v{}/{} t{}{}", family(tile), tile_text(tile), read_vector, write_vector, threads,
                                read_first ? " along A" : "");
    return schedule;
  }

  /// Elements of a sector of the output.
  int sector_elements() const { return static_cast<int>(kSectorBytes / sides_.write_bytes()); }

  /// Rows that begin anywhere in a sector, long enough that tiles cut them.
  bool can_skew(const Tile& tile) const {
    const auto first = static_cast<std::size_t>(sides_.write_first());
    if (program_.nodes.size() > 1 || sector_elements() < 2 || sides_.read_first() == sides_.write_first()) return false;
    if (tile[first] == program_.indices[first].extent || tile[first] % sector_elements() != 0) return false;
    const auto& offset = program_.statement().offset;
    bool ragged = false;
    for (std::size_t q = 0; q < tile.size(); ++q)
      ragged = ragged || (q != first && offset.coefficient[q] % sector_elements() != 0);
    return ragged && offset.coefficient[first] == 1;
  }

  /// Elements of a 16-byte store, where the output's base allows it.
  std::int64_t write_wide() const {
    const auto alignment = program_.buffers[static_cast<std::size_t>(program_.statement().buffer)].alignment;
    return alignment % 16 == 0 ? std::max<std::int64_t>(16 / sides_.write_bytes(), 1) : 1;
  }

  /// The same tile, cut where the output's sectors begin, so that every store is whole.
  Schedule skewed(const Tile& tile, int read_vector, int vector, int threads) {
    const int first = sides_.write_first();
    const int elements = sector_elements();
    auto schedule = staged(tile, read_vector, vector, threads, false);
    schedule.skew = {first, elements};
    auto longer = tile;
    longer[static_cast<std::size_t>(first)] += elements - 1;
    schedule.stage->walk.digits = sides_.digits(true, longer);
    schedule.stage->layout = linear_layout(longer, true, 0);
    schedule.name += " skewed";
    return schedule;
  }

  Schedule in_warp(const Tile& tile, int read_vector, int write_vector) {
    auto schedule = staged(tile, read_vector, write_vector, 256, false);
    schedule.walk.workers = 32;
    schedule.stage->walk.workers = 32;
    schedule.stage->place = ir::Place::warp;
    schedule.stage->layout = {};
    schedule.name = fmt::format("warp{} v{}/{}", tile_text(tile), read_vector, write_vector);
    return schedule;
  }

  /// The tile's elements in one side's order, each row of the fastest axis `pad` elements longer.
  ir::SharedLayout linear_layout(const Tile& tile, bool read, std::int64_t pad) const {
    ir::SharedLayout layout;
    layout.stride.assign(tile.size(), 0);
    std::int64_t stride = 1;
    bool first = true;
    for (const auto& digit : sides_.digits(read, tile)) {
      layout.stride[static_cast<std::size_t>(digit.index)] = stride;
      stride *= digit.count;
      if (first) stride += pad;
      first = false;
    }
    layout.elements = stride;
    return layout;
  }

  /// Searches the layouts of a staged candidate for the fewest wavefronts.
  void refine(Candidate& candidate) {
    auto& schedule = candidate.schedule;
    if (!schedule.stage || schedule.stage->place != ir::Place::shared) return;
    auto& stage = *schedule.stage;
    const auto size = sides_.read_bytes();
    double best = 0;
    bool perfect = false;
    ir::SharedLayout chosen;
    const auto consider = [&](const ir::SharedLayout& layout) {
      if (perfect) return;
      if (layout.elements * size > figures_.shared_bytes_per_block) return;
      const auto in = wavefronts(schedule, stage.walk, layout, size, 4);
      const auto out = wavefronts(schedule, schedule.walk, layout, size, 4);
      const auto total = in.counted + out.counted;
      // A little memory is worth a conflict less, so equal counts keep the first, smallest layout.
      if (chosen.elements == 0 || total < best * 0.999) {
        best = total;
        chosen = layout;
        perfect = total <= in.ideal + out.ideal;
      }
    };
    auto tile = schedule.tile;
    if (schedule.skew.on()) tile[static_cast<std::size_t>(schedule.skew.index)] += schedule.skew.elements - 1;
    for (const bool read : {true, false}) {
      const auto plain = linear_layout(tile, read, 0);
      consider(plain);
      int unit = 0;
      const int vector = read ? stage.walk.vector : schedule.walk.vector;
      while ((1 << unit) < vector) ++unit;
      for (const std::int64_t mask : {3, 7, 15, 31}) {
        if ((mask << unit) * size >= 256) break;  // 32 banks of 4 bytes, twice
        int bits = 0;
        while ((mask >> bits) != 0) ++bits;
        for (int shift = unit + bits; shift <= unit + bits + 4; ++shift) {
          auto layout = plain;
          layout.shift = shift;
          layout.mask = mask;
          layout.unit = unit;
          const auto group = (mask + 1) << unit;
          layout.elements = (plain.elements + group - 1) / group * group;
          if (shift > 0 && (std::int64_t{1} << shift) >= plain.elements) break;
          consider(layout);
        }
      }
      for (const std::int64_t pad : {1, 2, 4}) {
        if (pad % vector == 0 || vector == 1) consider(linear_layout(tile, read, pad));
      }
    }
    stage.layout = chosen;
    assess(candidate, 16);
  }

  /// Algorithm 1 of the cuTT paper for the origin, as an alternative of the leader: literals need one division per
  /// outer axis and warp, the butterfly ten shuffles and a table look-up for any number of axes.
  void add_shuffled_origin() {
    if (list_.empty()) return;
    auto shuffled = list_.front();
    int outer = 0;
    for (std::size_t q = 0; q < shuffled.schedule.tile.size(); ++q) {
      outer += shuffled.schedule.tile[q] < program_.indices[q].extent;
    }
    if (outer < 2) return;
    shuffled.schedule.origin = ir::Origin::shuffle;
    shuffled.schedule.name += " shuffled";
    assess(shuffled, 16);
    const auto place =
        std::upper_bound(list_.begin(), list_.end(), shuffled,
                         [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
    list_.insert(place, std::move(shuffled));
  }

  void assess(Candidate& candidate, int sample_warps) const {
    predict(candidate, program_, sides_, figures_, sample_warps);
  }

  const ir::Program& program_;
  const GpuFigures& figures_;
  Sides sides_;
  std::vector<Candidate> list_;
  std::set<std::string> names_;
};

}  // namespace

GpuFigures GpuFigures::of_capability(int sm) {
  GpuFigures figures;
  figures.sm = sm;
  // Shared memory limits by compute capability (CUDA C++ Programming Guide, technical specifications).
  const std::int64_t kilobytes = sm >= 100              ? 227
                                 : sm >= 90             ? 227
                                 : sm == 80 || sm == 87 ? 163
                                 : sm >= 86             ? 99
                                 : sm >= 75             ? 64
                                                        : 96;
  figures.shared_bytes_per_block = kilobytes * 1024;
  figures.shared_bytes_per_multiprocessor = (kilobytes + 1) * 1024;
  if (sm == 75) figures.threads_per_multiprocessor = 1024;
  if (sm == 86 || sm == 89 || sm >= 120) figures.threads_per_multiprocessor = 1536;
  return figures;
}

std::vector<Candidate> candidates(const ir::Program& program, const GpuFigures& figures, const std::string& wanted) {
  if (!moves(program)) return plain_candidates(program, figures);
  return Generator(program, figures).run(wanted);
}

}  // namespace ricci::plan
