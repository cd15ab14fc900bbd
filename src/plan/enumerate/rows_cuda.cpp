#include "plan/enumerate/rows_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "kernel/kernel.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/rows.hpp"
#include "plan/enumerate/plain_blocks.hpp"
#include "plan/enumerate/plain_directives.hpp"
#include "plan/enumerate/plain_shapes.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/norms.hpp"
#include "plan/models/operation_counts.hpp"
#include "plan/models/plain_launch.hpp"

namespace ricci::plan {
namespace {

class RowEnumerator {
 public:
  RowEnumerator(const ir::Program& program, const GpuModel& device, int row)
      : program_(program),
        device_(device),
        row_(row),
        extent_(program.indices[static_cast<std::size_t>(row)].extent),
        order_(count_operations(program).order) {
    std::erase(order_, row);
    for (const int q : order_) rows_ *= static_cast<double>(program.indices[static_cast<std::size_t>(q)].extent);
    const auto guard = [](const ir::Node& node) { return node.kind == ir::NodeKind::guard; };
    guards_ = std::any_of(program.nodes.begin(), program.nodes.end(), guard);
    look_at(kernel::along_row(program, row, 1));
  }

  std::vector<Candidate> run() {
    const auto narrowest =
        accesses_.empty() ? kernel::kWidestAccessBytes
                          : std::min_element(accesses_.begin(), accesses_.end(), [](const Access& x, const Access& y) {
                              return x.size < y.size;
                            })->size;
    for (std::int64_t lanes = 1; lanes * narrowest <= kernel::kWidestAccessBytes; lanes *= 2) {
      if (extent_ % lanes != 0 || !is_vector(lanes)) continue;
      for (const int group : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) add(group, lanes);
    }
    return std::move(list_);
  }

 private:
  static constexpr double kLaunchUs = 2;
  static constexpr double kRequest = 2.6;  ///< cycles of a warp's access at least
  static constexpr double kRegisters = 65536, kOwn = 24, kFewest = 32, kMost = 168;  ///< of 4 bytes
  static constexpr double kMostValues = 64;  ///< of a thread: longer loops are not unrolled as a whole
  static constexpr double kFilled = 28;      ///< warps of a multiprocessor that hide how long each waits
  /// Cycles of a group that wait for memory, for one shuffle, and for a barrier.
  static constexpr double kMemory = 1100, kShuffle = 30, kBarrier = 150;
  /// Instructions of a thread, whatever its row is, of each sum that passes a barrier, and of a function or a quotient:
  /// of 60 kernels in f64, f32 and bf16 on an H200.
  static constexpr double kOfThread = 60, kOfBarrier = 50, kOfFunction = 8;
  static constexpr double kInstruction = 0.25;  ///< cycles of a warp's
  static constexpr double kFirstCacheBytes = 64 * 1024;

  /// A load or a store of each place of a row.
  struct Access {
    std::int64_t size;  ///< of an element
    double bytes;       ///< of all elements
    bool along;         ///< whether neighbours of the row are neighbours in memory
    bool beside;        ///< whether those of neighbouring rows are
    bool of_all;        ///< whether all rows read the same few elements, which the first cache has
  };
  Access access_of(const ir::Program& along, const ir::Affine& offset, std::int64_t size) const {
    const auto is_step = [&](int q) { return std::abs(offset.coefficient[static_cast<std::size_t>(q)]) == 1; };
    const auto bytes = static_cast<double>(ir::reached(offset, along.indices) * size);
    const bool of_all = std::all_of(order_.begin(), order_.end(),
                                    [&](int q) { return offset.coefficient[static_cast<std::size_t>(q)] == 0; });
    return {size, bytes, is_step(row_), !order_.empty() && is_step(order_.front()),
            of_all && bytes <= kFirstCacheBytes};
  }

  /// Lines that a warp's access touches, those of them that neighbours in memory would not, and what memory moves for
  /// each byte of it.
  struct Touched {
    double lines, more, moved;
  };
  static Touched touched_by(const Access& access, int group, std::int64_t lanes, std::int64_t beside) {
    const auto part = std::min(group, kernel::kWarp), groups = kernel::kWarp / part;
    const auto lines_of = [](std::int64_t bytes) { return std::ceil(static_cast<double>(bytes) / kCacheLineBytes); };
    Touched touched{kernel::kWarp, 0, 1};
    if (access.along) {
      touched.lines = groups * lines_of(part * lanes * access.size);
    } else if (access.beside) {
      touched.lines = part * lines_of(groups * access.size);
      touched.moved = std::max(1.0, kSectorBytes / static_cast<double>(beside * access.size));
    } else {
      touched.moved = std::max(1.0, kSectorBytes / static_cast<double>(access.size));
    }
    touched.more = touched.lines - lines_of(kernel::kWarp * lanes * access.size);
    return touched;
  }

  /// What is read, kept and computed of a row.
  void look_at(const ir::Program& along) {
    const auto row = static_cast<std::size_t>(row_);
    std::vector<bool> depends(along.nodes.size()), summed(along.nodes.size());
    for (std::size_t id = 0; id < along.nodes.size(); ++id) {
      const auto& node = along.nodes[id];
      for (int k = 0; k < ir::operand_count(node); ++k)
        depends[id] = depends[id] || depends[static_cast<std::size_t>(node.operand[k])];
      if (node.kind == ir::NodeKind::load) depends[id] = node.offset.coefficient[row] != 0;
      if (node.kind == ir::NodeKind::index) depends[id] = node.source == row_;
      if (node.kind == ir::NodeKind::reduce) depends[id] = false;
    }
    for (std::size_t id = along.nodes.size(); id-- > 0;) {
      const auto& node = along.nodes[id];
      const bool inside = summed[id] || node.kind == ir::NodeKind::reduce;
      for (int k = 0; inside && k < ir::operand_count(node); ++k)
        summed[static_cast<std::size_t>(node.operand[k])] = true;
    }
    for (std::size_t id = 0; id < along.nodes.size(); ++id) {
      const auto& node = along.nodes[id];
      const auto words = std::max(static_cast<double>(size_of(node.type)) / 4, 0.25);
      if (node.kind == ir::NodeKind::reduce) {
        sums_ += 1;
        words_of_sums_ += std::max(words, 1.0);
        cycles_ += warp_cycles_of(node.type);
      }
      if (node.kind == ir::NodeKind::load) {
        const auto access = access_of(along, node.offset, size_of(node.type));
        if (!depends[id]) {
          bytes_ += access.bytes;
          continue;
        }
        accesses_.push_back(access);
        (summed[id] ? kept_ : passing_) += words;
      } else if (depends[id] && node.kind == ir::NodeKind::op) {
        if (summed[id] && is_half(along.nodes[static_cast<std::size_t>(node.operand[0])].type)) kept_ += 1;
        const bool long_text = ir::is_function(node.op) || node.op == ir::OpCode::div;
        cycles_ += (long_text ? kOfFunction : 1) * warp_cycles_of(node.type);
      }
    }
    for (const auto& statement : along.statements) {
      const auto size = size_of(along.buffers[static_cast<std::size_t>(statement.buffer)].type);
      const auto access = access_of(along, statement.offset, size);
      if (statement.offset.coefficient[row] != 0) {
        accesses_.push_back(access);
      } else {
        bytes_ += access.bytes;
      }
    }
  }

  /// Whether accesses of so many neighbours are one each.
  bool is_vector(std::int64_t lanes) const {
    if (lanes == 1) return true;
    const auto along = kernel::along_row(program_, row_, lanes);
    const int lane = static_cast<int>(along.indices.size()) - 1;
    const auto one = [&](int buffer, const ir::Affine& offset) {
      return offset.coefficient[static_cast<std::size_t>(lane)] == 0 ||
             kernel::is_vector_access(along, buffer, offset, lane, lanes);
    };
    return std::all_of(along.nodes.begin(), along.nodes.end(),
                       [&](const ir::Node& node) {
                         return node.kind != ir::NodeKind::load || one(node.source, node.offset);
                       }) &&
           std::all_of(along.statements.begin(), along.statements.end(),
                       [&](const ir::Statement& statement) { return one(statement.buffer, statement.offset); });
  }

  /// Blocks of groups of so many threads: several warps are a block, others are side by side in one. Parts of a warp
  /// have a row each, without guards.
  std::optional<BlockShape> shape_of(int group) const {
    constexpr int kThreads = 128;
    const bool part = group < kernel::kWarp;
    BlockShape shape;
    shape.positions.assign(program_.indices.size(), 1);
    shape.cooperative_threads = group;
    shape.threads = group > kernel::kWarp ? group : kThreads;
    std::int64_t left = shape.threads / group;
    for (const int q : order_) {
      const auto extent = program_.indices[static_cast<std::size_t>(q)].extent;
      const auto count = part ? std::gcd(extent, left) : std::min(extent, left);
      if (count < 2) continue;
      shape.positions[static_cast<std::size_t>(q)] = count;
      shape.digits.push_back(q);
      left /= count;
    }
    if (part && (left > 1 || guards_)) return std::nullopt;
    return shape;
  }

  void add(int group, std::int64_t lanes) {
    if (extent_ < lanes * group) return;
    const auto of_group = shape_of(group);
    if (!of_group) return;
    const auto& shape = *of_group;
    const bool alone = shape.threads == group;
    const double vectors = static_cast<double>(extent_) / static_cast<double>(lanes),
                 rounds = std::ceil(vectors / group);
    const double values = rounds * static_cast<double>(lanes);
    const double words = kOwn + kept_ * values + 2 * passing_ * static_cast<double>(lanes);
    if (values > kMostValues || words > std::min(kMost, kRegisters / shape.threads)) return;
    const double warps = rows_ * group / kernel::kWarp;
    const double rate = device_.multiprocessors * device_.clock_MHz;
    const double resident = std::min<double>(device_.threads_per_multiprocessor, kRegisters / std::max(words, kFewest));
    const double whole = rounds * group / vectors;  // places that threads go through, of those that there are
    const double shuffles = std::log2(std::min(group, kernel::kWarp)),
                 across = std::log2(std::max(group / kernel::kWarp, 1));
    const double combined = sums_ * (shuffles + across) * kShuffle + (alone ? sums_ * kBarrier : 0);
    const double instructions = kOfThread + 2 * words_of_sums_ * (shuffles + across) + (alone ? sums_ * kOfBarrier : 0);
    const double filled =
        std::min({1.0, resident / kernel::kWarp / kFilled, warps / (kFilled * device_.multiprocessors)});
    double bytes = bytes_, cached = 0, access_cycles = 0;  // of memory; of the second cache; of a warp in one round
    const auto beside = order_.empty() ? 1 : shape.positions[static_cast<std::size_t>(order_.front())];
    for (const auto& access : accesses_) {
      const auto touched = touched_by(access, group, lanes, beside);
      bytes += access.bytes * touched.moved;
      if (!access.of_all) cached += rows_ * static_cast<double>(extent_ * access.size) * touched.moved;
      access_cycles += std::max(kRequest, touched.lines + touched.more);
    }
    const double memory_us = bytes / device_.copy_rate_GBs() * 1e-3 / filled;
    const double cache_us = cache_cycles(cached, cached / kCacheLineBytes) / rate;
    const double access_us = rows_ * whole * access_cycles * vectors / kernel::kWarp / rate;
    const double places = rows_ * whole * static_cast<double>(extent_) / kernel::kWarp;  // of warps
    const double issue_us = (places * cycles_ + warps * kInstruction * instructions) / (rate * filled);
    const double turns = rows_ / (std::max(resident / group, 1.0) * device_.multiprocessors);
    const double wait_us = std::max(turns, 1.0) * (kMemory + combined) / device_.clock_MHz;
    const double block_us = rows_ * group / shape.threads * block_cycles(shape.threads) / rate;
    auto order = order_;
    const bool results = program_.free_indices()[static_cast<std::size_t>(row_)];
    if (results) order.insert(order.begin(), row_);
    auto candidate = plain_blocks(program_, order, shape, {});
    if (results) candidate.traffic.tiles /= extent_;
    if (candidate.traffic.tiles > kernel::kMostBlocks) return;
    auto& schedule = candidate.schedule;
    const auto& name = program_.indices[static_cast<std::size_t>(row_)].name;
    schedule.directives.push_back(directive(kernel::Directive::Kind::row, {lanes}));
    schedule.directives.back().subject = name;
    schedule.name += fmt::format(" row {}{}", name, lanes);
    candidate.parts = {{"memory", memory_us}, {"L2", cache_us},     {"access", access_us}, {"issue", issue_us},
                       {"wait", wait_us},     {"blocks", block_us}, {"launch", kLaunchUs}};
    candidate.predicted_us = side_by_side(memory_us, cache_us, access_us, issue_us, wait_us, block_us) + kLaunchUs;
    list_.push_back(std::move(candidate));
  }

  const ir::Program& program_;
  const GpuModel& device_;
  int row_;
  std::int64_t extent_;
  std::vector<int> order_;  ///< of the indices of rows, fastest first
  double rows_ = 1;
  bool guards_ = false;
  double bytes_ = 0, cycles_ = 0;  ///< of what rows share; of a warp, for one place of each of its lanes
  std::vector<Access> accesses_;   ///< of a place
  double kept_ = 0, passing_ = 0;  ///< registers of a place that sums read; of what results alone do
  double sums_ = 0, words_of_sums_ = 0;
  std::vector<Candidate> list_;
};

}  // namespace

std::vector<Candidate> with_rows(std::vector<Candidate> others, const ir::Program& program, const GpuModel& device,
                                 std::size_t most) {
  const int row = kernel::row_of(program);
  if (row < 0) return others;
  auto list = RowEnumerator(program, device, row).run();
  std::move(others.begin(), others.end(), std::back_inserter(list));
  sort_by_time(list, most);
  return list;
}

}  // namespace ricci::plan
