#include "plan/enumerate/group_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "plan/enumerate/plain_directives.hpp"

namespace ricci::plan {
namespace {

const ir::Node& node(const ir::Program& program, const CountedNode& counted) {
  return program.nodes[static_cast<std::size_t>(counted.node)];
}

std::int64_t stride(const ir::Program& program, const CountedNode& load, std::size_t q) {
  return std::abs(node(program, load).offset.coefficient[q]);
}

/// The indices of the sum that a factor lies along in memory, nearest neighbours first.
std::vector<std::size_t> along(const ir::Program& program, const OperationCounts& counts, const CountedNode& load) {
  std::vector<std::size_t> list;
  for (std::size_t q = 0; q < counts.free.size(); ++q) {
    if (!counts.free[q] && stride(program, load, q) > 0 && program.indices[q].extent > 1) list.push_back(q);
  }
  std::sort(list.begin(), list.end(),
            [&](auto x, auto y) { return stride(program, load, x) < stride(program, load, y); });
  return list;
}

constexpr std::int64_t kRegisters = 4 * kRegistersPerPart;  // of a multiprocessor
constexpr std::size_t kMostOfGroup = 512;                   // threads along two indices

/// Registers of a thread.
std::int64_t registers(std::int64_t rows, std::int64_t columns, std::int64_t words) {
  constexpr std::int64_t kOther = 40;  // of 16 kernels
  return kOther + words * (rows * columns + 3 * (rows + columns) / 2);
}

/// Whether a block of so many threads has registers for that.
bool fits(std::int64_t rows, std::int64_t columns, std::int64_t words, int threads) {
  constexpr std::int64_t kMost = 256;
  return registers(rows, columns, words) <= std::min(kMost, kRegisters / threads);
}

/// Threads along an index: powers of two, and what divides it.
using PlacesAlong = ir::Few<std::int64_t>;
PlacesAlong places_along(std::int64_t extent) {
  PlacesAlong list;
  const auto most = std::min<std::int64_t>(extent, 256);
  for (std::int64_t n = 3; n <= std::min<std::int64_t>(most, 32); ++n) {
    if (extent % n == 0 || std::has_single_bit(static_cast<std::uint64_t>(n))) list.push_back(n);
  }
  for (std::int64_t n = 64; n <= most; n *= 2) list.push_back(n);
  return list;
}

/// Whether threads along an index read long enough runs of a factor that lies along it: of 64 bytes, or all that there
/// are. Of 32 bytes six kernels in f32 of talsh300 on an H100 took 1.4 to 2.3 times what is predicted.
bool reads_runs(const ir::Program& program, const CountedNode& load, std::size_t q, std::int64_t threads) {
  constexpr std::int64_t kRun = 64;
  return threads == program.indices[q].extent || threads * size_of(node(program, load).type) >= kRun;
}

constexpr std::int64_t kMostValues = 12;  // of an index that a thread has in registers

/// Values of an index that a thread may have: all, or even parts.
std::vector<std::int64_t> values_along(std::int64_t extent) {
  std::vector<std::int64_t> list;
  list.reserve(3);
  for (const std::int64_t most : {std::int64_t{4}, std::int64_t{8}, kMostValues}) {
    const auto parts = (extent + most - 1) / most;
    const auto values = (extent + parts - 1) / parts;
    if (list.empty() || list.back() != values) list.push_back(values);
  }
  return list;
}

/// Indices of the result that one factor alone has, of more than one value: rows, or columns.
std::array<std::vector<int>, 2> sides_of(const ir::Program& program, const OperationCounts& counts) {
  std::array<std::vector<int>, 2> sides;
  for (const int q : counts.order) {
    const auto k = static_cast<std::size_t>(q);
    const bool rows = counts.loads[0].depends[k], columns = counts.loads[1].depends[k];
    if (rows != columns && program.indices[k].extent > 1) sides[rows ? 0 : 1].push_back(q);
  }
  return sides;
}

/// Warps of a block that share what they read of rows and columns, of which one warp has not enough registers.
std::optional<BlockShape> shared_by_warps(const ir::Program& program, const OperationCounts& counts) {
  BlockShape shape;
  shape.positions.assign(program.indices.size(), 1);
  shape.cooperative_threads = shape.threads = kernel::kWarp;
  for (const auto& side : sides_of(program, counts)) {
    if (side.empty()) continue;
    const auto q = static_cast<std::size_t>(side.front());
    const auto parts = (program.indices[q].extent + kMostValues - 1) / kMostValues;
    if (parts < 2 || parts > 3) continue;
    shape.positions[q] = parts;
    shape.digits.push_back(side.front());
    shape.threads *= static_cast<int>(parts);
  }
  if (shape.digits.empty()) return std::nullopt;
  return shape;
}

/// Extent of the longest scan or compaction.
std::int64_t longest_run(const ir::Program& program) {
  std::int64_t longest = 0;
  for (const auto& node : program.nodes) {
    if (node.kind == ir::NodeKind::scan || node.kind == ir::NodeKind::compact)
      longest = std::max(longest, program.indices[static_cast<std::size_t>(node.over[0])].extent);
  }
  return longest;
}

}  // namespace

BlockShape group_shape(const ir::Program& program, const OperationCounts& counts, int cooperative_threads, int along) {
  BlockShape shape;
  shape.positions.assign(program.indices.size(), 1);
  shape.threads = shape.cooperative_threads = cooperative_threads;
  // Along the longest index of the sum, where the last one leaves threads idle.
  if (const auto sums = program.outermost(); sums.size() == 1) {
    const auto& sum = program.nodes[static_cast<std::size_t>(sums.front())];
    const auto extent = [&](int q) { return program.indices[static_cast<std::size_t>(q)].extent; };
    const int longest =
        *std::max_element(sum.over.begin(), sum.over.end(), [&](int x, int y) { return extent(x) < extent(y); });
    if (sum.kind == ir::NodeKind::reduce && extent(sum.over.back()) < cooperative_threads &&
        extent(longest) >= cooperative_threads) {
      shape.members.assign(program.indices.size(), 1);
      shape.members[static_cast<std::size_t>(longest)] = cooperative_threads;
    }
  }
  if (cooperative_threads > kernel::kWarp || counts.order.empty()) return shape;
  constexpr std::int64_t kMostGroups = 8;
  const auto q = static_cast<std::size_t>(along < 0 ? counts.order[0] : along);
  const auto n = std::min(program.indices[q].extent, kMostGroups);
  if (n < 2) return shape;
  shape.positions[q] = n;
  shape.digits.push_back(static_cast<int>(q));
  shape.threads *= static_cast<int>(n);
  return shape;
}

std::vector<RegisterTile> sum_tiles(const ir::Program& program, const OperationCounts& counts,
                                    const BlockShape& shape) {
  constexpr std::int64_t kMostResults = 8, kFewValues = 4;
  constexpr double kFewRounds = 4;
  double rounds = 0;
  for (const auto& load : counts.loads) rounds = std::max(rounds, rounds_of(program, shape, load));
  const auto extent = [&](int q) { return program.indices[static_cast<std::size_t>(q)].extent; };
  // Whether values of an index share what rounds of a sum load or compute. Not where a guard tests it: as many rounds
  // of each warp are as unequal, and of fewer warps nothing makes up for that (pairs of 16,384 points on an H200, each
  // once: two rows of a warp took 1.2 times as long in f32 and f64, eight 1.9 and 1.7 times).
  const auto shares = [&](int q) {
    const auto tests = [&](const CountedNode& counted) { return counted.depends[static_cast<std::size_t>(q)]; };
    if (std::any_of(counts.shared_tests.begin(), counts.shared_tests.end(), tests)) return false;
    const auto is_shared = [&](const CountedNode& counted) {
      return counted.stepped >= 0 && !counted.depends[static_cast<std::size_t>(q)];
    };
    return std::any_of(counts.loads.begin(), counts.loads.end(), is_shared) ||
           std::any_of(counts.operations.begin(), counts.operations.end(), is_shared);
  };
  std::vector<RegisterTile> list;
  const int along = shape.digits.front();
  const auto places = shape.positions[static_cast<std::size_t>(along)];
  const auto fits = [&](std::int64_t count) { return count > 1 && places * count <= extent(along); };
  const bool many = rounds <= kFewRounds || shares(along);
  for (const std::int64_t count : {2, 4, 8}) {
    if (many && fits(count)) list.push_back({along, -1, count, 1});
  }
  for (const int q : counts.order) {
    if (q == along || extent(q) < 2 || extent(q) > kFewValues || !shares(q)) continue;
    list.push_back({q, -1, extent(q), 1});
    for (const std::int64_t count : {2, 4}) {
      if (shares(along) && fits(count) && count * extent(q) <= kMostResults)
        list.push_back({along, q, count, extent(q)});
    }
  }
  return list;
}

double scan_us(const ir::Program& program, const BlockShape& shape, double cycles, double tiles,
               const GpuModel& device) {
  const double warps = tiles * std::ceil(shape.threads / 32.0);
  const bool shared = shape.cooperative_threads > 1;
  if (shared) cycles = cycles / shape.cooperative_threads + 60;
  const auto length = static_cast<double>(longest_run(program));
  const double pieces = std::ceil(length / (static_cast<double>(shape.cooperative_threads) * shape.items_per_thread));
  const double step = scattered(program, shape) ? 80 : 25;
  const double waits = shared ? pieces * (900 + 20.0 * shape.items_per_thread) : length * step + 500;
  const double issued = warps * (cycles + (shared ? 4 * pieces * shape.items_per_thread : 2 * length));
  const double waves = std::ceil(warps / (kResidentWarps * device.multiprocessors));
  return std::max(issued / device.multiprocessors, waves * waits) / device.clock_MHz;
}

std::vector<BlockShape> scan_shapes(const ir::Program& program, const OperationCounts& counts, bool sums) {
  constexpr std::int64_t kBytes = 64;  // of one thread's values
  constexpr std::size_t kLight = 40;
  std::vector<BlockShape> list;
  std::int64_t most = program.nodes.size() > kLight || sums ? 1 : 16;
  for (const auto& statement : program.statements) {
    most = std::min(most, kBytes / size_of(program.nodes[static_cast<std::size_t>(statement.value)].type));
  }
  for (const int cooperative_threads : {32, 256, 1024}) {
    for (const std::int64_t items_per_thread : std::set<std::int64_t>{1, std::min<std::int64_t>(most, 4), most}) {
      if (cooperative_threads * items_per_thread >= 2 * std::max<std::int64_t>(longest_run(program), 32)) continue;
      auto shape = group_shape(program, counts, cooperative_threads);
      shape.items_per_thread = static_cast<int>(items_per_thread);
      list.push_back(std::move(shape));
    }
  }
  return list;
}

TouchedByLoads touched_by_group(const ir::Program& program, const OperationCounts& counts, const BlockShape& shape) {
  TouchedByLoads list;
  for (const auto& load : counts.loads)
    list.push_back(touched_by<kMostOfGroup>(program, shape, node(program, load).offset, node(program, load).type, -1,
                                            static_cast<std::size_t>(shape.cooperative_threads)));
  return list;
}

kernel::Directives member_directives(const ir::Program& program, const BlockShape& shape) {
  kernel::Directives list;
  for (std::size_t q = 0; q < shape.members.size(); ++q) {
    if (shape.members[q] == 1) continue;
    list.push_back(directive(kernel::Directive::Kind::tile, {shape.members[q]}));
    list.back().subject = program.indices[q].name;
  }
  return list;
}

std::string member_text(const kernel::Directives& members) {
  std::string text = members.empty() ? "" : " over";
  for (const auto& one : members) text += fmt::format(" {}{}", one.subject, one.sizes.front());
  return text;
}

double resident_warps(const BlockShape& shape, const RegisterTile& tile, std::int64_t words) {
  constexpr std::int64_t kUnit = 8;
  const auto own = (registers(tile.first_count, tile.second_count, words) + kUnit - 1) / kUnit * kUnit;
  const auto blocks = kRegisters / (own * shape.threads);
  return static_cast<double>(blocks * shape.threads) / kernel::kWarp;
}

std::vector<BlockShape> group_shapes(const ir::Program& program, const OperationCounts& counts) {
  constexpr std::size_t kShapes = 3;
  // Of more rows or columns no block reads the other factor once or twice.
  constexpr double kMostOfSide = 2 * 3 * kMostValues;
  if (counts.loads.size() != 2) return {};
  for (const auto& side : sides_of(program, counts)) {
    double values = 1;
    for (const int q : side) values *= static_cast<double>(program.indices[static_cast<std::size_t>(q)].extent);
    if (values > kMostOfSide) return {};
  }
  const std::array lists = {along(program, counts, counts.loads[0]), along(program, counts, counts.loads[1])};
  if (lists[0].empty() || lists[1].empty()) return {};
  const auto first = lists[0][0];
  auto second = lists[1][0];
  if (second == first) second = lists[0].size() > 1 ? lists[0][1] : first;
  const auto last = std::max(*std::max_element(lists[0].begin(), lists[0].end()),
                             *std::max_element(lists[1].begin(), lists[1].end()));
  std::vector<std::pair<double, BlockShape>> ranked;
  for (const auto m : places_along(program.indices[first].extent)) {
    for (const auto n : second == first ? PlacesAlong{1} : places_along(program.indices[second].extent)) {
      const auto threads = m * n;
      if (threads % kernel::kWarp != 0 || threads > std::int64_t{kMostOfGroup}) continue;
      if (!reads_runs(program, counts.loads[0], first, m)) continue;
      if (second == lists[1][0] && !reads_runs(program, counts.loads[1], second, n)) continue;
      BlockShape shape;
      shape.positions.assign(program.indices.size(), 1);
      shape.threads = shape.cooperative_threads = static_cast<int>(threads);
      if (n > 1 || first != last) {
        shape.members.assign(program.indices.size(), 1);
        shape.members[first] = static_cast<int>(m);
        if (n > 1) shape.members[second] = static_cast<int>(n);
      }
      double lines = 0;
      for (const auto& load : counts.loads)
        lines +=
            touched_by(program, shape, node(program, load).offset, node(program, load).type, static_cast<int>(last))
                .lines;
      const auto rounds = [&](std::size_t q, std::int64_t count) {
        const auto extent = static_cast<double>(program.indices[q].extent);
        return std::ceil(extent / static_cast<double>(count)) * static_cast<double>(count) / extent;
      };
      ranked.emplace_back(rounds(first, m) * (n > 1 ? rounds(second, n) : 1) * (lines + 2), std::move(shape));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<BlockShape> list;
  for (auto& [cost, shape] : ranked) {
    if (list.size() < kShapes) list.push_back(std::move(shape));
  }
  if (auto shared = first == last ? shared_by_warps(program, counts) : std::nullopt) list.push_back(std::move(*shared));
  return list;
}

std::vector<RegisterTile> group_tiles(const ir::Program& program, const OperationCounts& counts,
                                      const BlockShape& shape, std::int64_t words) {
  std::vector<RegisterTile> list;
  if (counts.loads.size() != 2) return list;
  const auto sides = sides_of(program, counts);
  const auto parts = [&](int q) {
    const auto k = static_cast<std::size_t>(q);
    auto values = values_along((program.indices[k].extent + shape.positions[k] - 1) / shape.positions[k]);
    std::erase_if(values, [&](auto n) { return n == 1 || n * shape.positions[k] > program.indices[k].extent; });
    return values;
  };
  // Of a matrix and a vector rows of few rounds, so that loads of more are in flight at once.
  constexpr double kFewRounds = 4;
  const bool alone = sides[0].empty() || sides[1].empty();
  if (alone && counts.loads[0].times <= kFewRounds * shape.cooperative_threads) {
    for (const int q : sides[0].empty() ? sides[1] : sides[0]) {
      for (const auto count : parts(q)) {
        if (fits(count, 1, words, shape.threads)) list.push_back({q, -1, count, 1});
      }
    }
  }
  // Blocks that a side is cut into read the other one as often.
  const auto reads_few_times = [&](const RegisterTile& tile) {
    constexpr double kTimes = 2;
    return std::all_of(sides.begin(), sides.end(), [&](const std::vector<int>& side) {
      double times = 1;
      for (const int q : side) {
        const auto k = static_cast<std::size_t>(q);
        times *= std::ceil(static_cast<double>(program.indices[k].extent) /
                           static_cast<double>(shape.positions[k] * tile.count(k)));
      }
      return times <= kTimes;
    });
  };
  for (const int row : sides[0]) {
    for (const int column : sides[1]) {
      for (const auto m : parts(row)) {
        for (const auto n : parts(column)) {
          const RegisterTile tile{row, column, m, n};
          if (fits(m, n, words, shape.threads) && reads_few_times(tile)) list.push_back(tile);
        }
      }
    }
  }
  return list;
}

}  // namespace ricci::plan
