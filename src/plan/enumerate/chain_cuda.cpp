#include "plan/enumerate/chain_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/traffic.hpp"
#include "kernel/atoms.hpp"
#include "kernel/build_chain.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/norms.hpp"
#include "plan/models/pipe_rates.hpp"
#include "plan/models/plain_launch.hpp"

namespace ricci::plan {
namespace {

using kernel::Chain;
using kernel::ChainTiles;

class ChainEnumerator {
 public:
  ChainEnumerator(const ir::Program& program, const Chain& chain, const GpuModel& device)
      : program_(program), chain_(chain), device_(device) {
    for (const int q : chain.batch) products_ *= extent(q);
    std::vector<bool> seen(chain.program.nodes.size());
    operations_ = (chain.factor ? 0 : operations(chain.least, seen)) + kOfElement;
    for (const auto id : chain.all_sums()) operations_ += operations(chain.term(id), seen);
    if (chain.parts > 1) operations_ += kOfParts;
    const auto traffic = ir::traffic_of(program);
    bytes_ = static_cast<double>(ir::bytes_of(program, traffic.read) + ir::bytes_of(program, traffic.written));
  }

  std::vector<Candidate> run() {
    for (const int warps : {4, 8}) {
      for (const std::int64_t rows : {16, 32}) {
        for (const std::int64_t columns : {32, 64, 128}) {
          for (const int stages : {2, 3}) add({rows * warps, columns, warps, stages, 1});
        }
      }
    }
    if (device_.sm == kernel::find_atom(kernel::chain_atom(chain_, chain_.y, true))->sm) {
      for (const int warps : {4, 8, 12}) {
        for (const std::int64_t columns : {64, 96, 128}) {
          for (const int stages : {2, 3}) {
            const ChainTiles tiles{kernel::kChainRows * warps, columns, warps, stages, 1, true};
            if (kernel::chain_group_fault(chain_, tiles).empty()) add(tiles);
          }
        }
      }
    }
    sort_by_time(list_);
    return std::move(list_);
  }

 private:
  static constexpr double kLaunchUs = 2;
  /// Of the rate of products alone, and of the time of shared memory: of three kernels on an H200, which were predicted
  /// to take 0.9 to 1.02 of what they did.
  static constexpr double kOfRate = 1.2, kOfShared = 1.3;
  /// Instructions of a lane for a score beside the program's own: a maximum, a power of two and its exponent, half of a
  /// pair's conversion.
  static constexpr double kOfElement = 4.5;
  static constexpr double kOfParts = 2.5;                   ///< more where weights are the sums of two numbers
  static constexpr double kPowers = 16;                     ///< of a multiprocessor in a cycle
  static constexpr double kOfRound = 400, kOfBlock = 2500;  ///< cycles that a block waits
  static constexpr int kOwn = 44, kOwnOfGroups = 16, kOfRests = 20, kMost = 255;  ///< registers
  static constexpr std::int64_t kPad = 8;

  double extent(int q) const { return static_cast<double>(chain_.program.indices[kernel::nth(q)].extent); }

  /// Instructions of a node's value for each score, of nodes that nothing before has.
  double operations(ir::NodeId id, std::vector<bool>& seen) const {
    const auto& node = chain_.node(id);
    if (seen[kernel::nth(id)] || id == chain_.scores || node.kind == ir::NodeKind::reduce) return 0;
    seen[kernel::nth(id)] = true;
    if (id == chain_.exponential) return 0;
    if (node.kind == ir::NodeKind::load) return id == chain_.v ? 0 : 4;
    double sum = node.kind == ir::NodeKind::op ? instructions_of(node.op, node.type) : 0;
    for (int k = 0; k < ir::operand_count(node); ++k) sum += operations(node.operand[k], seen);
    return sum;
  }

  /// Rounds of all blocks of one product, and of the longest one.
  std::pair<double, double> rounds(const ChainTiles& tiles) const {
    const auto rows = chain_.program.indices[kernel::nth(chain_.rows)].extent;
    const auto all = (chain_.program.indices[kernel::nth(chain_.columns)].extent + tiles.columns - 1) / tiles.columns;
    double sum = 0, most = 0;
    for (std::int64_t first = 0; first < rows; first += tiles.rows) {
      auto count = all;
      for (const auto& [value, below] : chain_.when) {
        const auto step = value.coefficient(chain_.columns), row = value.coefficient(chain_.rows);
        if (step <= 0) continue;
        // Of the first column of a round and the row that reaches furthest, all else at 0.
        const auto at = value.constant + row * (row < 0 ? first + tiles.rows - 1 : first);
        const auto columns = (below - 1 - at) / step + 1;
        count = std::clamp<std::int64_t>((columns + tiles.columns - 1) / tiles.columns, 0, count);
      }
      sum += static_cast<double>(count);
      most = std::max(most, static_cast<double>(count));
    }
    return {sum, most};
  }

  void add(ChainTiles tiles) {
    const auto depth = chain_.program.indices[kernel::nth(chain_.depth)].extent,
               values = chain_.program.indices[kernel::nth(chain_.values)].extent;
    const auto row_tiles = tiles.rows / tiles.warps / 16, score_tiles = tiles.columns / 8;
    // Warp groups take no fragments of second operands, and their weights stand where scores were.
    const auto fragments = tiles.groups ? 0 : std::max(2 * score_tiles, values / 4);
    const auto weights = tiles.groups ? 4 + kOfRests * (chain_.parts - 1) : 4 * chain_.parts;
    const auto registers = row_tiles * ((tiles.groups ? 0 : depth / 4) + 4 * score_tiles + values / 2 + weights + 6) +
                           fragments + (tiles.groups ? kOwnOfGroups : kOwn);
    const auto shared =
        (tiles.stages * tiles.columns * (depth + values + 2 * kPad) + (tiles.groups ? tiles.rows * depth : 0)) * 2;
    if (registers > kMost || shared > device_.shared_bytes_per_block) return;
    const auto by_registers = kMultiprocessorParts * warps_of_part(static_cast<int>(registers)) / tiles.warps;
    const auto by_shared = device_.shared_bytes_per_multiprocessor / (shared + kReservedBytes);
    tiles.blocks = static_cast<int>(std::min({by_registers, by_shared, std::int64_t{16} / tiles.warps}));
    if (tiles.blocks < 1) return;
    const auto atom = kernel::chain_atom(chain_, chain_.y, tiles.groups);
    const double scores = static_cast<double>(tiles.rows * tiles.columns);
    const double rate = (tiles.groups ? 1 : kOfRate) * pipe_rate(device_.sm, kernel::find_atom(atom), DType::f32, 1);
    const double cycles = scores * static_cast<double>(depth + chain_.parts * values) / rate;
    const double powers = scores / kPowers;
    const double issued = scores * operations_ / 128 + static_cast<double>(tiles.rows * values) / 128;
    const double staged = static_cast<double>(tiles.columns * (depth + values) * 2);
    // Each warp reads what is staged, or each tile of rows of a warp group.
    const double readers =
        tiles.groups ? static_cast<double>(row_tiles * tiles.warps) / kernel::kGroupWarps : tiles.warps;
    const double read = (tiles.groups ? 1 : kOfShared) * (readers + 1) * staged / 128;
    const auto [all, longest] = rounds(tiles);
    const double speed = device_.multiprocessors * device_.clock_MHz;
    const auto us = [&](double of_round) { return products_ * all * of_round / speed; };
    const double lines = staged / kCacheLineBytes;
    const double products_us = us(cycles), powers_us = us(powers), issue_us = us(issued), shared_us = us(read);
    const double cache_us = products_ * all * cache_cycles(staged, lines) / speed;
    const double memory_us = bytes_ / device_.copy_rate_GBs() * 1e-3;
    const double blocks = products_ * std::ceil(extent(chain_.rows) / static_cast<double>(tiles.rows));
    if (blocks > static_cast<double>(kernel::kMostBlocks)) return;
    const double resident = std::min<double>(tiles.blocks, std::ceil(blocks / device_.multiprocessors));
    const double turns = std::ceil(blocks / (resident * device_.multiprocessors));
    const double average = blocks > 0 ? all * products_ / blocks : 0;
    // The longest block begins first, all in turns of what they are on average.
    const double alone_us =
        (std::max(longest, turns * average) * (cycles + powers + issued + read + kOfRound) + turns * kOfBlock) /
        device_.clock_MHz;
    Candidate candidate;
    const auto name = [&](int q) { return chain_.program.indices[kernel::nth(q)].name; };
    candidate.schedule.name = fmt::format("chain {} {}{} x {}{} warps {} stages {}", atom, name(chain_.rows),
                                          tiles.rows, name(chain_.columns), tiles.columns, tiles.warps, tiles.stages);
    candidate.schedule.directives = kernel::chain_directives(chain_, tiles);
    candidate.traffic.tiles = static_cast<std::int64_t>(blocks);
    candidate.parts = {{"products", products_us}, {"powers", powers_us}, {"issue", issue_us}, {"shared", shared_us},
                       {"L2", cache_us},          {"memory", memory_us}, {"alone", alone_us}, {"launch", kLaunchUs}};
    candidate.predicted_us =
        side_by_side(products_us + powers_us / 2, issue_us, shared_us, cache_us, memory_us, alone_us) + kLaunchUs;
    list_.push_back(std::move(candidate));
  }

  const ir::Program& program_;
  const Chain& chain_;
  const GpuModel& device_;
  double products_ = 1, operations_ = 0, bytes_ = 0;
  std::vector<Candidate> list_;
};

}  // namespace

std::vector<Candidate> chain_candidates(const ir::Program& program, const GpuModel& device) {
  constexpr int kLeast = 80;  // of whose tensor cores atoms are
  if (device.sm < kLeast) return {};
  const auto chain = kernel::chain_of(program);
  if (!chain || !kernel::chain_layout_fault(*chain).empty()) return {};
  return ChainEnumerator(program, *chain, device).run();
}

}  // namespace ricci::plan
