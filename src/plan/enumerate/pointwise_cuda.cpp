#include "plan/enumerate/pointwise_cuda.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kernel/program/loops.hpp"
#include "plan/enumerate/plain_blocks.hpp"
#include "plan/enumerate/plain_shapes.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/norms.hpp"
#include "plan/models/plain_launch.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {
namespace {

class PointwiseEnumerator {
 public:
  PointwiseEnumerator(const ir::Program& program, const GpuModel& device, const OperationCounts& counts)
      : program_(program), device_(device), counts_(counts) {
    for (const auto& counted : counts_.loads) {
      const auto& load = program.nodes[static_cast<std::size_t>(counted.node)];
      auto place = std::find_if(accesses_.begin(), accesses_.end(), [&](Access& other) {
        return other.buffer == load.source && other.first->coefficient == load.offset.coefficient &&
               reaches(other, load.offset.constant);
      });
      if (place == accesses_.end()) place = accesses_.insert(place, access_of(load.source, load.type, load.offset));
      place->constants.push_back(load.offset.constant);
      place->times = std::max(place->times, counted.times);
    }
    std::map<int, double> bytes;  // of each buffer that is read
    for (const auto& access : accesses_)
      bytes[access.buffer] += static_cast<double>(ir::reached(*access.first, program.indices) * size_of(access.type));
    for (const auto& [buffer, reached] : bytes) {
      const auto& of = program.buffers[static_cast<std::size_t>(buffer)];
      bytes_ += std::min(reached, static_cast<double>((of.last - of.first + 1) * size_of(of.type)));
    }
    bytes_ += counts_.written_bytes;
    for (const auto& statement : program.statements) {
      const auto type = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
      accesses_.push_back(access_of(statement.buffer, type, statement.offset));
      accesses_.back().constants.push_back(statement.offset.constant);
    }
    points_ = static_cast<double>(program.points(counts.free));
  }

  std::vector<Candidate> run(std::size_t most) {
    for (const int threads : has_long_text(program_) ? std::vector{64} : std::vector{128, 256}) add_shapes(threads);
    const auto faster = [](const Priced& x, const Priced& y) { return x.us < y.us; };
    std::stable_sort(priced_.begin(), priced_.end(), faster);
    std::vector<Candidate> list;
    std::set<std::string> names;
    for (const auto& priced : priced_) {
      if (list.size() == most) break;
      auto candidate = plain_blocks(program_, counts_.order, priced.shape, priced.tile);
      candidate.predicted_us = priced.us;
      candidate.parts = {{"memory", priced.memory_us}, {"L2", priced.cache_us},     {"access", priced.access_us},
                         {"issue", priced.issue_us},   {"blocks", priced.block_us}, {"launch", kLaunchUs}};
      if (names.insert(candidate.schedule.name).second) list.push_back(std::move(candidate));
    }
    return list;
  }

 private:
  /// A store, or loads of one buffer that differ in their constants: a stencil's.
  struct Access {
    int buffer;
    DType type;
    const ir::Affine* first;
    std::vector<std::int64_t> constants;
    double times;
    std::vector<std::int64_t> least, most;  ///< along each index: how far the others are from the first
  };
  Access access_of(int buffer, DType type, const ir::Affine& offset) const {
    const std::vector<std::int64_t> none(program_.indices.size(), 0);
    return {buffer, type, &offset, {}, 1, none, none};
  }

  /// Whether a load at that constant is a stencil's with those of the access, which then reach as far.
  bool reaches(Access& access, std::int64_t constant) const {
    constexpr std::int64_t kNear = 8;  // points
    const auto& step = access.first->coefficient;
    std::vector<std::size_t> order;
    for (std::size_t q = 0; q < step.size(); ++q) {
      if (step[q] != 0) order.push_back(q);
    }
    std::sort(order.begin(), order.end(), [&](auto p, auto q) { return std::abs(step[p]) > std::abs(step[q]); });
    auto least = access.least, most = access.most;
    auto left = constant - access.first->constant;
    for (const auto q : order) {
      const auto n = std::llround(static_cast<double>(left) / static_cast<double>(step[q]));
      left -= n * step[q];
      least[q] = std::min<std::int64_t>(least[q], n);
      most[q] = std::max<std::int64_t>(most[q], n);
      if (most[q] - least[q] > kNear) return false;
    }
    if (left != 0) return false;
    access.least = std::move(least), access.most = std::move(most);
    return true;
  }

  struct Priced {
    BlockShape shape;
    RegisterTile tile;
    double us, memory_us, cache_us, access_us, issue_us, block_us;
  };
  static constexpr double kLaunchUs = 2;
  /// Cycles of a multiprocessor for a warp's access at least, and a share of what memory takes that the last blocks
  /// take by themselves: of 60 kernels on an H200.
  static constexpr double kRequest = 2.6, kLast = 0.4;
  static constexpr double kFilled = 16;  ///< warps of a multiprocessor that hide how long each waits
  static constexpr double kWords = 65536, kOwnWords = 16, kLeastWords = 32, kMostWords = 128;  ///< registers
  static constexpr std::int64_t kLongest = 512;  ///< operations of a thread's text
  static constexpr std::int64_t kMostValues = 64;

  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  void add_shapes(int threads) {
    const auto& order = counts_.order;
    if (order.empty()) return add(order, {}, threads, {});
    const int fastest = order.front();
    add(order, {}, threads, {});
    for (const std::int64_t count : {2, 4, 8, 16}) {
      add(order, {}, threads, {fastest, -1, count, 1});
      add(order, {}, threads, {fastest, -1, count, 1, true});
      if (order.size() < 2 || count > 8) continue;
      add(order, {}, threads, {order[1], -1, count, 1});
      for (const std::int64_t rows : {2, 4}) add(order, {}, threads, {fastest, order[1], count, rows, true});
    }
    // Where an operand's neighbours lie along another index, blocks reach along both.
    for (const int other : other_fastest()) {
      auto turned = order;
      const auto place = std::find(turned.begin(), turned.end(), other);
      std::rotate(turned.begin() + 1, place, place + 1);
      for (const std::int64_t side : {4, 8, 16, 32}) {
        add(turned, {side}, threads, {});
        for (const std::int64_t count : {2, 4, 8}) {
          add(turned, {side}, threads, {other, -1, count, 1});
          add(turned, {side}, threads, {fastest, other, count, count, true});
        }
      }
    }
  }

  /// Along which loads have neighbours, but for that of the result.
  std::set<int> other_fastest() const {
    std::set<int> found;
    for (const auto& access : accesses_) {
      const auto along = [&](int q) { return std::abs(access.first->coefficient[static_cast<std::size_t>(q)]) == 1; };
      const auto place = std::find_if(counts_.order.begin(), counts_.order.end(), along);
      if (place != counts_.order.end() && place != counts_.order.begin()) found.insert(*place);
    }
    return found;
  }

  void add(const std::vector<int>& order, const std::vector<std::int64_t>& most, int threads,
           const RegisterTile& tile) {
    for (const int q : order) {
      const auto values = tile.count(static_cast<std::size_t>(q));
      if (values > extent(q) || (tile.neighbours && extent(q) % values != 0)) return;
    }
    const auto values = tile.first_count * tile.second_count;
    if (values > 1 && (values > kMostValues || values * std::ssize(program_.nodes) > kLongest)) return;
    if (tile.neighbours && !std::any_of(accesses_.begin(), accesses_.end(),
                                        [&](const Access& access) { return vector_of(access, tile) > 1; }))
      return;
    price(filled_shape(program_, order, most, threads, tile), tile);
  }

  /// Neighbours that one access of a thread moves.
  std::int64_t vector_of(const Access& access, const RegisterTile& tile) const {
    auto offset = *access.first;
    for (const auto q : {tile.first, tile.second}) {
      if (!tile.neighbours || q < 0) continue;
      const auto values = tile.count(static_cast<std::size_t>(q));
      for (const auto constant : access.constants) {
        offset.constant = constant;
        if (kernel::is_vector_access(program_, access.buffer, offset, q, values)) return values;
      }
    }
    return 1;
  }

  /// Accesses of a thread: compilers read once what several loads of its values name.
  double requests_of(const Access& access, const RegisterTile& tile) const {
    std::set<std::int64_t> places;
    const auto along = [&](int q) { return q < 0 ? 0 : access.first->coefficient[static_cast<std::size_t>(q)]; };
    for (const auto constant : access.constants) {
      for (std::int64_t m = 0; m < tile.first_count; ++m) {
        for (std::int64_t n = 0; n < tile.second_count; ++n)
          places.insert(constant + m * along(tile.first) + n * along(tile.second));
      }
    }
    return static_cast<double>(places.size()) / static_cast<double>(vector_of(access, tile));
  }

  /// Sectors of the box of a block.
  double sectors_of_block(const Access& access, const BlockShape& shape, const RegisterTile& tile) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // bytes from one value to the next, values
    for (const int q : counts_.order) {
      const auto k = static_cast<std::size_t>(q);
      const auto values = std::min(shape.positions[k] * tile.count(k), extent(q)) + access.most[k] - access.least[k];
      if (access.first->coefficient[k] != 0 && values > 1)
        axes.emplace_back(std::abs(access.first->coefficient[k]) * size_of(access.type), values);
    }
    std::sort(axes.begin(), axes.end());
    std::int64_t run = size_of(access.type);
    double runs = 1;
    for (const auto& [step, values] : axes) {
      if (step <= std::max(run, kSectorBytes)) {
        run += step * (values - 1);
      } else {
        runs *= static_cast<double>(values);
      }
    }
    return runs * std::ceil(static_cast<double>(run) / static_cast<double>(kSectorBytes));
  }

  void price(const BlockShape& shape, const RegisterTile& tile) {
    double blocks = 1;
    for (const int q : counts_.order) {
      const auto k = static_cast<std::size_t>(q);
      blocks *= std::ceil(static_cast<double>(extent(q)) / static_cast<double>(shape.positions[k] * tile.count(k)));
    }
    if (blocks > static_cast<double>(kernel::kMostBlocks)) return;
    const double rate = device_.multiprocessors * device_.clock_MHz;
    const double warps = blocks * shape.threads / kernel::kWarp;
    double access_cycles = 0, issue_cycles = 0, cached = 0;  // of a warp, of a warp, bytes
    for (const auto& access : accesses_) {
      const auto touched = touched_by(program_, shape, *access.first, access.type, -1, kernel::kWarp, tile);
      access_cycles += access.times * requests_of(access, tile) * std::max(kRequest, touched.lines);
      cached += blocks * sectors_of_block(access, shape, tile) * kSectorBytes;
    }
    for (const auto& counted : counts_.operations) {
      double values = counted.times;
      for (const auto q : {tile.first, tile.second}) {
        if (q >= 0 && counted.depends[static_cast<std::size_t>(q)])
          values *= static_cast<double>(tile.count(static_cast<std::size_t>(q)));
      }
      issue_cycles += values * warp_cycles_of(program_.nodes[static_cast<std::size_t>(counted.node)].type);
    }
    const double filled = std::min(1.0, warps / (kFilled * device_.multiprocessors));
    Priced priced{shape, tile, 0, 0, 0, 0, 0, 0};
    const auto values = static_cast<double>(tile.first_count * tile.second_count);
    const double words = kOwnWords + values * bytes_ / points_ / 4;
    if (values > 1 && words > kMostWords) return;
    const double at_once = device_.multiprocessors * values *
                           std::min<double>(device_.threads_per_multiprocessor, kWords / std::max(words, kLeastWords));
    priced.memory_us = bytes_ * (1 + kLast * std::min(at_once / points_, 1.0)) / device_.copy_rate_GBs() * 1e-3;
    priced.cache_us = cache_cycles(cached, cached / kCacheLineBytes) / rate;
    priced.access_us = warps * access_cycles / (rate * filled);
    priced.issue_us = warps * issue_cycles / (rate * filled);
    priced.block_us = blocks * block_cycles(shape.threads) / rate;
    priced.us =
        side_by_side(priced.memory_us, priced.cache_us, priced.access_us, priced.issue_us, priced.block_us) + kLaunchUs;
    priced_.push_back(std::move(priced));
  }

  const ir::Program& program_;
  const GpuModel& device_;
  const OperationCounts& counts_;
  std::vector<Access> accesses_;
  double bytes_ = 0, points_ = 0;  ///< of memory, of all results
  std::vector<Priced> priced_;
};

}  // namespace

std::vector<Candidate> pointwise_candidates(const ir::Program& program, const GpuModel& device,
                                            const OperationCounts& counts, std::size_t most) {
  return PointwiseEnumerator(program, device, counts).run(most);
}

}  // namespace ricci::plan
