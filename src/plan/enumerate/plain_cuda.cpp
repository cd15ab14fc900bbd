// Plain schedules for a GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>

#include "kernel/contraction.hpp"
#include "kernel/program/loops.hpp"
#include "plan/enumerate/group_shapes.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/enumerate/plain_blocks.hpp"
#include "plan/enumerate/plain_shapes.hpp"
#include "plan/enumerate/pointwise_cuda.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/enumerate/rows_cuda.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/operation_counts.hpp"
#include "plan/models/plain_launch.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {
namespace {

class PlainCudaEnumerator {
 public:
  PlainCudaEnumerator(const ir::Program& program, const GpuModel& device)
      : program_(program), device_(device), counts_(count_operations(program)) {
    for (const auto& counted : counts_.operations) {
      const auto& node = program.nodes[static_cast<std::size_t>(counted.node)];
      sums_ = sums_ || node.kind == ir::NodeKind::reduce;
      const double instructions = node.kind == ir::NodeKind::op ? instructions_of(node.op, node.type) : 1;
      cycles_.push_back(instructions * warp_cycles_of(node.type));
    }
    for (const auto& counted : counts_.loads) {
      const auto& load = program.nodes[static_cast<std::size_t>(counted.node)];
      bytes_.push_back(static_cast<double>(ir::reached(load.offset, program.indices)) *
                       static_cast<double>(size_of(load.type)));
      words_ = std::max(words_, size_of(load.type) / 4);
    }
    const auto contraction = kernel::contraction_of(program);
    products_ = sums_ && contraction && contraction->is_product();
    // Of which neither factor has as many elements as the result.
    outer_ = !sums_ && contraction && std::none_of(counts_.loads.begin(), counts_.loads.end(), [&](const auto& load) {
      return std::all_of(counts_.order.begin(), counts_.order.end(),
                         [&](int q) { return load.depends[static_cast<std::size_t>(q)]; });
    });
    if (products_) {
      const auto& role = contraction->role;
      broadcasts_ = std::find(role.begin(), role.end(), kernel::Role::broadcast) != role.end();
    }
    // Cooperative threads combine values in another order than the text: not for exact programs.
    for (const auto& node : program.nodes) {
      const bool combines = node.kind == ir::NodeKind::reduce || node.kind == ir::NodeKind::scan;
      if (combines && program.exact && !ir::exactly_associates(node.op, node.type)) cooperates_ = false;
    }
  }

  /// A lower bound by what sums of products multiply, add and load, and by memory, without what is counted of a
  /// program; 0 for others.
  static double least_us(const ir::Program& program, const GpuModel& device) {
    const auto contraction = kernel::contraction_of(program);
    const auto beside = [](kernel::Role role) { return role > kernel::Role::batch; };
    if (!contraction || !contraction->is_product() ||
        program.nodes[static_cast<std::size_t>(contraction->reduce)].kind != ir::NodeKind::reduce ||
        contraction->first.load == contraction->second.load ||
        std::any_of(contraction->role.begin(), contraction->role.end(), beside))
      return 0;
    double warps = 1.0 / kernel::kWarp;  // each of one product for every lane
    for (const auto& index : program.indices) warps *= static_cast<double>(index.extent);
    const auto& statement = program.statement();
    auto bytes = ir::reached(statement.offset, program.indices) *
                 size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
    for (const auto& node : program.nodes) {
      if (node.kind == ir::NodeKind::load) bytes += ir::reached(node.offset, program.indices) * size_of(node.type);
    }
    return least_us(side_by_side(2 * warps * warp_cycles_of(contraction->type), warps * kOfFactors) /
                        (device.multiprocessors * device.clock_MHz),
                    0, least_streamed_us(static_cast<double>(bytes), device));
  }

  /// The fastest, at most `most` of them. All are priced, and these are built; none where products alone take
  /// `bound_us`.
  std::vector<Candidate> run(std::size_t most, double bound_us) {
    if (!sums_ && !counts_.sequential && !outer_) return pointwise_candidates(program_, device_, counts_, most);
    if (products_) find_least_busy();
    if (products_ && least_us(least_busy_us_, 0) >= bound_us) return {};
    alone_ = most == 1;
    if (alone_) limit(bound_us);
    const auto shapes = this->shapes();
    for (const auto& shape : shapes) add_shape(shape);
    const auto faster = [](const Priced& x, const Priced& y) { return x.us < y.us; };
    if (most == 1 && !priced_.empty()) {
      priced_ = {*std::min_element(priced_.begin(), priced_.end(), faster)};
    } else {
      std::stable_sort(priced_.begin(), priced_.end(), faster);
    }
    std::vector<Candidate> list;
    std::set<std::string> names;
    for (const auto& priced : priced_) {
      if (list.size() == most) break;
      auto candidate = built(priced);
      if (names.insert(candidate.schedule.name).second) list.push_back(std::move(candidate));
    }
    return list;
  }

 private:
  struct Priced {
    const BlockShape* shape;
    RegisterTile tile;
    double us, memory_us, busy_us;
    double cache_us = 0;  ///< of contractions: of the second cache
  };
  static constexpr double kLaunchUs = 2;
  static constexpr double kRounded = 1 - 1e-9;  ///< of lower bounds
  /// Roughly, of 20 plain kernels of contractions of talsh300 and batched in f64 on an H200.
  static constexpr double kStreamed = 1.15;  ///< of a copy's time
  /// The same of groups whose threads have one result, and so read one row of each factor: of 10 kernels of products of
  /// a matrix and a vector in f32 on an H100.
  static constexpr double kOfRow = 1.08;
  /// Times that of groups along two indices, whose runs are short: of 10 kernels in f32 of talsh300 on an H100.
  static constexpr double kCrossed = 1.15;
  static constexpr double kWait = 250;  ///< cycles of a warp for a round's values, of which some are under way
  /// The same of sums of single values, where the first cache has them, and a share for each further register that a
  /// round fills: of 60 sums of columns in f64, f32 and bf16 on an H200.
  static constexpr double kWaitOfSum = 150, kHit = 25, kWaitOfWord = 0.3;
  static constexpr double kChain = 350;  ///< of a round where no other warp does anything: of 24 small ones, H100
  static constexpr double kLoad = 2;     ///< least cycles of a load that all warps of a multiprocessor share
  /// Of 105 of outer products of talsh300 in f64 and f32 on an H100 and an H200 (off by 9 %, by 13 % and 1.17 before).
  static constexpr double kOuter = 1.02;  ///< of a copy's time
  static constexpr double kApart = 60;    ///< cycles of each result of a thread, which other blocks hide
  /// Longer where runs that blocks write begin or end inside of sectors; and bytes' worth of each such sector.
  static constexpr double kInside = 0.2, kCut = kSectorBytes;
  static constexpr double kMostOfThread = 16;      ///< of a thread that sums products
  static constexpr double kMostOfMember = 144;     ///< of one of a group that shares such sums
  static constexpr double kOfFactors = kLoad / 6;  ///< cycles of loads for each product, with as many results
  static constexpr std::int64_t kFewGroups = 8;    ///< of a block, along an index
  static constexpr double kKeptBytes = 1 << 18;    ///< of an operand that caches hold
  static constexpr double kFirstCacheBytes = 128 * 1024;

  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  std::vector<BlockShape> shapes() const {
    constexpr std::size_t kUsual = 32;
    std::vector<BlockShape> list;
    list.reserve(kUsual);
    const auto fill = [&](const std::vector<int>& order, std::initializer_list<std::int64_t> most, int threads) {
      list.push_back(filled_shape(program_, order, {most.begin(), most.end()}, threads, {}, outer_));
    };
    const auto& order = counts_.order;
    const auto counts = outer_                    ? std::vector<int>{128, 256, 384, 512}
                        : has_long_text(program_) ? std::vector<int>{64, 128}
                                                  : std::vector<int>{128, 256};
    for (const int threads : counts) fill(order, {}, threads);
    if (counts_.sequential) {
      for (auto& shape : cooperates_ ? scan_shapes(program_, counts_, sums_) : std::vector<BlockShape>{})
        list.push_back(std::move(shape));
      return list;
    }
    if (!sums_) return list;
    for (std::size_t k = 1; k < order.size(); ++k) {
      auto rotated = order;
      std::rotate(rotated.begin() + 1, rotated.begin() + static_cast<std::ptrdiff_t>(k),
                  rotated.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      for (const std::int64_t side : {8, 16, 32}) {
        if (extent(order[0]) < side / 2) continue;
        fill(rotated, {side}, 256);
        fill(rotated, {side, 128 / side}, 128);
      }
    }
    for (const int cooperative_threads : {32, 256}) {
      if (!cooperates_ || reduced_points() < cooperative_threads) continue;
      list.push_back(group_shape(program_, counts_, cooperative_threads));
      if (products_) list.back().members.clear();  // group_shapes() has theirs
      if (products_ || cooperative_threads > kernel::kWarp || order.empty()) continue;
      const int longest =
          *std::max_element(order.begin(), order.end(), [&](int x, int y) { return extent(x) < extent(y); });
      if (extent(order[0]) < kFewGroups && longest != order[0])
        list.push_back(group_shape(program_, counts_, cooperative_threads, longest));
    }
    if (cooperates_ && products_) {
      for (auto& shape : group_shapes(program_, counts_)) list.push_back(std::move(shape));
    }
    return list;
  }

  /// A lower bound for sums of products that keep multiprocessors busy, and whose warps wait, so long.
  double least_us(double busy_us, double wait_us) const { return least_us(busy_us, wait_us, least_streamed_us()); }
  static double least_us(double busy_us, double wait_us, double streamed_us) {
    return kRounded * (side_by_side(busy_us, wait_us, streamed_us) + kLaunchUs);
  }

  /// Only candidates that take no longer are of use.
  void limit(double us) {
    const auto cubed = [](double x) { return x * x * x; };
    limit_us_ = us;
    limit_cubed_ = cubed(std::max(us / kRounded - kLaunchUs, 0.0)) - cubed(least_streamed_us());
  }
  /// Whether sums of products take longer than what is of use, by parts that run side by side with each other and with
  /// what memory takes at least. Their cubes tell, without a root.
  template <class... Times>
  bool takes_too_long(Times... us) const {
    return ((us * us * us) + ...) > limit_cubed_;
  }

  /// A lower bound of what is done for each result, by warps that are full. A thread has at most kMostOfThread, one of
  /// a group kMostOfMember, for whose products it loads a sixth as many values where both factors are loaded as often
  /// as they are summed.
  void find_least_busy() {
    double cycles = 0, products = 0, times = 0;
    for (const auto& counted : counts_.operations) {
      double values = counted.times;
      for (std::size_t q = 0; q < program_.indices.size(); ++q) {
        if (!counts_.free[q]) continue;
        values *= counted.depends[q] ? static_cast<double>(program_.indices[q].extent) : 0;
      }
      cycles += values / 32 * warp_cycles_of(program_.nodes[static_cast<std::size_t>(counted.node)].type);
      if (values > products) times = counted.times;
      products = std::max(products, values);
    }
    const auto factors = std::count_if(counts_.loads.begin(), counts_.loads.end(),
                                       [&](const CountedNode& load) { return load.times >= times; });
    const double loads = factors >= 2 ? products / 32 * kOfFactors : 0;
    const double rate = device_.multiprocessors * device_.clock_MHz;
    least_math_us_ = cycles / rate;
    least_busy_us_ = side_by_side(cycles, loads) / rate;
  }

  /// Whether a shape may take no more than what is of use, whatever its warps touch.
  bool may_be_of_use(const BlockShape& shape) const {
    double tiles = 1, rounds = 0, chain = 0;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      if (counts_.free[q])
        tiles *= static_cast<double>(extent(static_cast<int>(q))) / static_cast<double>(shape.positions[q]);
    }
    tiles /= shape.cooperative_threads == 1 ? kMostOfThread : kMostOfMember;
    for (std::size_t k = 0; k < counts_.loads.size(); ++k) {
      const double times = rounds_of(program_, shape, counts_.loads[k]);
      chain = std::max(chain, times);
      if (bytes_[k] >= kKeptBytes) rounds = std::max(rounds, times);
    }
    return !takes_too_long(least_busy_us_, waited_us(tiles * std::ceil(shape.threads / 32.0), rounds, chain));
  }
  double reduced_points() const {
    double most = 1;
    for (const auto& counted : counts_.operations) most = std::max(most, counted.times);
    return most;
  }

  Touched touched_by(const BlockShape& shape, const CountedNode& counted, const RegisterTile& tile) const {
    const auto& load = program_.nodes[static_cast<std::size_t>(counted.node)];
    return plan::touched_by(program_, shape, load.offset, load.type,
                            shape.cooperative_threads > 1 ? counted.stepped : -1, kernel::kWarp, tile);
  }
  /// Neighbours that one access of a thread moves.
  std::int64_t vector_of(const CountedNode& counted, const RegisterTile& tile) const {
    const auto& load = program_.nodes[static_cast<std::size_t>(counted.node)];
    const bool one =
        tile.neighbours && kernel::is_vector_access(program_, load.source, load.offset, tile.first, tile.first_count);
    return one ? tile.first_count : 1;
  }
  /// What all register tiles of a shape share.
  struct ShapeCosts {
    ir::Few<double, BlockShape::kUsualIndices> blocks;  ///< per index, of single values
    TouchedByLoads touched;                             ///< by a warp
    ir::Few<double, 4> loads_us;                        ///< per load: of all single values, of products
    // Of products, once a tile may be of use.
    TouchedByLoads taken;  ///< by all threads that share a sum, or a warp
    Touched stored;
  };

  /// Of products: whether a tile may take no more than what is of use, by the lines that its warps touch. A tile has no
  /// fewer blocks than single values over what a thread has of them.
  bool tile_may_be_of_use(const RegisterTile& tile, const ShapeCosts& costs) const {
    double us = 0;
    for (std::size_t k = 0; k < counts_.loads.size(); ++k)
      us += costs.loads_us[k] * values_at_once(counts_.loads[k], tile);
    return !takes_too_long(us / static_cast<double>(tile.first_count * tile.second_count), least_math_us_);
  }

  /// Whether register tiles of a shape may take no more than what is of use, by the lines that its warps touch of both
  /// factors.
  bool tiles_may_be_of_use(const ShapeCosts& costs) const {
    std::array<double, 2> us = {};
    for (const double of_load : costs.loads_us) {
      auto& least = us[0] < us[1] ? us[0] : us[1];
      least = std::max(least, of_load);
    }
    // A thread loads each factor for a row or a column of at most four by four results, or one of them for all.
    const auto [x, y] = std::minmax(us[0], us[1]);
    return !takes_too_long(std::min((x + y) / 4, y / kMostOfThread + x), least_math_us_);
  }

  /// What all threads that share a sum load, and a warp stores.
  void find_taken(const BlockShape& shape, ShapeCosts& costs) const {
    if (!costs.taken.empty()) return;
    costs.taken = shape.members.empty() ? costs.touched : touched_by_group(program_, counts_, shape);
    const auto& statement = program_.statement();
    costs.stored = plan::touched_by(program_, shape, statement.offset,
                                    program_.buffers[static_cast<std::size_t>(statement.buffer)].type, -1);
  }

  ShapeCosts costs_of(const BlockShape& shape, const RegisterTile& tile) const {
    ShapeCosts costs;
    double warps = std::ceil(shape.threads / 32.0);
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      costs.blocks.push_back(counts_.free[q] ? blocks_of(shape, q, 1) : 1);
      warps *= costs.blocks.back();
    }
    for (const auto& load : counts_.loads) {
      auto touched = touched_by(shape, load, tile);
      touched.elements *= static_cast<double>(vector_of(load, tile));
      costs.touched.push_back(touched);
      costs.loads_us.push_back(warps * rounds_of(program_, shape, load) * std::max(touched.lines, kLoad) /
                               (device_.multiprocessors * device_.clock_MHz));
    }
    return costs;
  }

  void add_shape(const BlockShape& shape) {
    if (shape.threads > 1024 || (products_ && !may_be_of_use(shape))) return;
    auto costs = costs_of(shape, {});
    if (!products_ || shape.members.empty()) add(shape, {}, costs);
    if (outer_) add_outer_tiles(shape, costs);
    if (products_ && shape.cooperative_threads > 1) {
      for (const auto& tile : group_tiles(program_, counts_, shape, words_)) add(shape, tile, costs);
    } else if (sums_ && shape.cooperative_threads == kernel::kWarp && !shape.digits.empty()) {
      for (const auto& tile : sum_tiles(program_, counts_, shape)) add(shape, tile, costs);
    }
    if (!sums_ || shape.cooperative_threads > 1 || counts_.sequential) return;
    if (products_ && !broadcasts_ && !tiles_may_be_of_use(costs)) return;
    static constexpr std::array<Counts, 8> kCounts{{{2, 1}, {4, 1}, {8, 1}, {2, 2}, {4, 2}, {2, 4}, {4, 4}, {3, 3}}};
    for_each_register_tile(
        counts_.order, kCounts,
        [&](int q, std::int64_t count) { return shape.positions[static_cast<std::size_t>(q)] * count <= extent(q); },
        [&](const RegisterTile& tile) { add(shape, tile, costs); });
    if (!products_) add_vectors(shape);
  }

  /// Results of a thread that are neighbours, whose operands it reads by vectors.
  void add_vectors(const BlockShape& shape) {
    if (shape.digits.empty()) return;
    const int q = shape.digits.front();
    const auto positions = shape.positions[static_cast<std::size_t>(q)];
    for (const std::int64_t count : {2, 4, 8}) {
      const RegisterTile tile{q, -1, count, 1, true};
      const bool vectors = std::any_of(counts_.loads.begin(), counts_.loads.end(),
                                       [&](const CountedNode& load) { return vector_of(load, tile) > 1; });
      if (!vectors || positions * count > extent(q)) continue;
      auto costs = costs_of(shape, tile);
      add(shape, tile, costs);
    }
  }

  /// Blocks along an index whose threads have `count` values each.
  double blocks_of(const BlockShape& shape, std::size_t q, std::int64_t count) const {
    return std::ceil(static_cast<double>(program_.indices[q].extent) / static_cast<double>(shape.positions[q] * count));
  }

  /// Values of a node that a thread has for its tile at once.
  static double values_at_once(const CountedNode& counted, const RegisterTile& tile) {
    double n = 1;
    if (tile.first >= 0 && counted.depends[static_cast<std::size_t>(tile.first)])
      n *= static_cast<double>(tile.first_count);
    if (tile.second >= 0 && counted.depends[static_cast<std::size_t>(tile.second)])
      n *= static_cast<double>(tile.second_count);
    return n;
  }

  /// Accesses that load them.
  double accesses_at_once(const CountedNode& load, const RegisterTile& tile) const {
    return values_at_once(load, tile) / static_cast<double>(vector_of(load, tile));
  }

  /// How often a thread evaluates a node.
  static double values_of(const CountedNode& counted, const RegisterTile& tile) {
    return counted.times * values_at_once(counted, tile);
  }

  /// Results of a thread along an index that its block has one position of, so that neighbours still write neighbours.
  void add_outer_tiles(const BlockShape& shape, ShapeCosts& costs) {
    for (const int q : counts_.order) {
      if (shape.positions[static_cast<std::size_t>(q)] > 1) continue;
      constexpr std::int64_t kMostResults = 32;
      for (const std::int64_t count : std::set<std::int64_t>{2, 4, 8, 16, std::min(extent(q), kMostResults)}) {
        if (count > 1 && count <= extent(q)) add(shape, {q, -1, count, 1}, costs);
      }
    }
  }

  /// Of products: what memory takes.
  ///   again  bytes that are read once more, since caches do not hold them
  double streamed_us(double again) const {
    return kStreamed * (counts_.compulsory_bytes + again) / device_.copy_rate_GBs() * 1e-3;
  }

  double least_streamed_us() const { return least_streamed_us(counts_.compulsory_bytes, device_); }
  static double least_streamed_us(double bytes, const GpuModel& device) {
    return kOfRow * bytes / device.copy_rate_GBs() * 1e-3;
  }

  /// Bytes of the sectors that a load asks for over those that it takes of them before they are gone: neighbours along
  /// a summed index are found in the first-level cache where what the loops inside it read has room there.
  double unused(const BlockShape& shape, const RegisterTile& tile, const ShapeCosts& costs, std::size_t k) const {
    const auto& touched = costs.touched;
    const auto& load = program_.nodes[static_cast<std::size_t>(counts_.loads[k].node)];
    const auto size = static_cast<double>(size_of(load.type));
    double taken = costs.taken[k].elements * size / (costs.taken[k].sectors * static_cast<double>(kSectorBytes));
    double kept = 0;  // bytes that the warps of a multiprocessor read in a round
    for (std::size_t j = 0; j < counts_.loads.size(); ++j) {
      kept += kResidentWarps * values_at_once(counts_.loads[j], tile) * touched[j].sectors *
              static_cast<double>(kSectorBytes);
    }
    for (std::size_t q = program_.indices.size(); q-- > 0 && taken < 1;) {
      if (counts_.free[q] || !counts_.loads[k].around[q] || shape.cooperative_threads > 1) continue;
      if (kept > kFirstCacheBytes) break;
      const double step = static_cast<double>(std::abs(load.offset.coefficient[q])) * size;
      const auto count = static_cast<double>(program_.indices[q].extent);
      if (step > 0 && step < static_cast<double>(kSectorBytes))
        taken *= std::min(static_cast<double>(kSectorBytes) / step, count);
      kept *= count;
    }
    return 1 / std::min(taken, 1.0);
  }

  /// Sectors that a warp's access takes from the second cache, on average.
  double fetched(const Touched& touched, const CountedNode& counted, double unused) const {
    const auto& load = program_.nodes[static_cast<std::size_t>(counted.node)];
    const double bytes = touched.elements * static_cast<double>(size_of(load.type)) * unused;
    return std::min(bytes / static_cast<double>(kSectorBytes), touched.sectors);
  }

  /// Cycles that a warp waits for all values of a sum that is none of products, beside others: the longer the more of
  /// them come from the second cache, and the more registers they fill.
  double waits_of_sum(const BlockShape& shape, const RegisterTile& tile, const ShapeCosts& costs) const {
    double most = 0, words = 0;
    for (std::size_t k = 0; k < counts_.loads.size(); ++k) {
      const auto& counted = counts_.loads[k];
      const auto& touched = costs.touched[k];
      const double sectors = fetched(touched, counted, unused(shape, tile, costs, k));
      const double missed = bytes_[k] < kKeptBytes ? 0 : sectors / touched.sectors;
      most = std::max(most, rounds_of(program_, shape, counted) * (kHit + (kWaitOfSum - kHit) * missed));
      const auto size = size_of(program_.nodes[static_cast<std::size_t>(counted.node)].type);
      const auto bytes = static_cast<double>(size * vector_of(counted, tile));
      words += accesses_at_once(counted, tile) * std::ceil(bytes / 4);
    }
    return most * (1 + kWaitOfWord * std::max(words - 1, 0.0));
  }

  void add(const BlockShape& shape, const RegisterTile& tile, ShapeCosts& costs) {
    if (products_ && !tile_may_be_of_use(tile, costs)) return;
    double tiles = 1;
    for (std::size_t q = 0; q < costs.blocks.size(); ++q) {
      const auto count = tile.count(q);
      tiles *= count == 1 ? costs.blocks[q] : blocks_of(shape, q, count);
    }
    if (tiles > static_cast<double>(kernel::kMostBlocks)) return;
    double load_cycles = 0, math_cycles = 0;
    for (std::size_t k = 0; k < counts_.operations.size(); ++k)
      math_cycles += values_of(counts_.operations[k], tile) * cycles_[k];
    if (sums_ && !counts_.sequential) return add_sums(shape, tile, costs, math_cycles, tiles);
    for (std::size_t k = 0; k < counts_.loads.size(); ++k)
      load_cycles += values_of(counts_.loads[k], tile) * std::max(1.0, costs.touched[k].sectors / 4);
    if (outer_) return add_outer(shape, tile, load_cycles, tiles);
    add_scan(shape, std::max(load_cycles, math_cycles) + 0.25 * std::min(load_cycles, math_cycles) + 40, tiles);
  }

  ///   cycles  of a thread
  void add_scan(const BlockShape& shape, double cycles, double tiles) {
    const double busy_us = scan_us(program_, shape, cycles, tiles, device_);
    // Some sectors are evicted from L2 before their next use.
    const bool apart = shape.cooperative_threads == 1 && scattered(program_, shape);
    const double rate = device_.copy_GBs > 0 ? device_.copy_GBs : 3000;
    const double memory_us = (apart ? 2 : 1) * counts_.compulsory_bytes / rate * 1e-3;
    // No reads between two pieces: the times add in part.
    const double us = std::max(busy_us, memory_us) + 0.3 * std::min(busy_us, memory_us) + kLaunchUs;
    priced_.push_back({&shape, {}, us, memory_us, busy_us});
  }

  /// What warps wait for the rounds of a sum, each for its values, while others that are resident do the same.
  ///   chain  rounds of any warp, those whose values a cache holds too
  ///   most   warps that are resident
  double waited_us(double warps, double rounds, double chain, double most = kResidentWarps) const {
    const double resident = std::clamp(warps / device_.multiprocessors, 1.0, most);
    const double turns = warps / (resident * device_.multiprocessors);
    return std::max(turns * rounds * kWait, chain * kChain) / device_.clock_MHz;
  }
  /// Sums: a warp's load takes the first cache a cycle for each line that it reaches, and the second one
  /// what sectors and lines do; what is fetched again, since it was not used while it was there, comes from memory.
  ///   math_cycles  of a warp
  ///   tiles        thread blocks
  void add_sums(const BlockShape& shape, const RegisterTile& tile, ShapeCosts& costs, double math_cycles,
                double tiles) {
    const double warps = tiles * std::ceil(shape.threads / 32.0);
    double load_cycles = 0, cached = 0, again = 0, rounds = 0, chain = 0;
    for (std::size_t k = 0; k < counts_.loads.size(); ++k) {
      const double times = rounds_of(program_, shape,
                                     counts_.loads[k]);  // of a warp, each for all values that a thread has at once
      load_cycles += times * accesses_at_once(counts_.loads[k], tile) * std::max(costs.touched[k].lines, kLoad);
      chain = std::max(chain, times);
      if (bytes_[k] >= kKeptBytes) rounds = std::max(rounds, times);
    }
    if (!products_) {
      find_taken(shape, costs);
      const double waits = waits_of_sum(shape, tile, costs);
      rounds = waits / kWait, chain = waits / kChain;
    }
    // Of the busiest multiprocessor: one that has a block has all of it.
    const double of_all = warps / (std::min<double>(tiles, device_.multiprocessors) * device_.clock_MHz);
    double resident = kResidentWarps;
    if (shape.cooperative_threads > 1) {
      // Shuffles that add what the lanes of a warp have of each result.
      load_cycles += 5.0 * static_cast<double>(words_ * tile.first_count * tile.second_count);
      resident = std::min(resident, resident_warps(shape, tile, words_));
    }
    math_cycles /= shape.cooperative_threads;
    const double wait_us = waited_us(warps, rounds, chain, resident);
    if (takes_too_long(of_all * load_cycles, of_all * math_cycles, wait_us)) return;
    const double busy_us = of_all * side_by_side(load_cycles, math_cycles);
    find_taken(shape, costs);
    for (std::size_t k = 0; k < counts_.loads.size(); ++k) {
      if (bytes_[k] < kKeptBytes) continue;
      const auto& counted = counts_.loads[k];
      const double unused = this->unused(shape, tile, costs, k);
      const double sectors = fetched(costs.touched[k], counted, unused);
      cached += rounds_of(program_, shape, counted) * accesses_at_once(counted, tile) *
                cache_cycles(sectors * static_cast<double>(kSectorBytes),
                             sectors * costs.touched[k].lines / costs.touched[k].sectors);
      again += bytes_[k] * (unused - 1);
    }
    const double results = static_cast<double>(tile.first_count * tile.second_count);
    cached += results * cache_cycles(costs.stored.sectors * static_cast<double>(kSectorBytes), costs.stored.lines);
    const bool of_row = shape.cooperative_threads > 1 && results == 1 && shape.members.empty();
    const double runs = of_row ? kOfRow / kStreamed : products_ && !shape.members.empty() ? kCrossed : 1;
    const double cache_us = of_all * cached, memory_us = runs * streamed_us(again);
    const double block_us =
        products_ ? 0 : tiles * block_cycles(shape.threads) / (device_.multiprocessors * device_.clock_MHz);
    const double us = side_by_side(busy_us, cache_us, wait_us, memory_us, block_us) + kLaunchUs;
    priced_.push_back({&shape, tile, us, memory_us, busy_us, cache_us});
    if (alone_ && us < limit_us_) limit(us);
  }

  /// An outer product, whose results are most of its bytes: memory decides.
  void add_outer(const BlockShape& shape, const RegisterTile& tile, double load_cycles, double tiles) {
    const auto& statement = program_.statement();
    const auto size = static_cast<double>(size_of(program_.buffers[static_cast<std::size_t>(statement.buffer)].type));
    const auto runs = written_runs(program_, shape, tile, counts_.order);
    double result = size;
    for (const int q : counts_.order) result *= static_cast<double>(extent(q));
    const auto values = static_cast<double>(tile.first_count);
    const double warp_cycles = std::ceil(shape.threads / 32.0) * (load_cycles + 40);
    const int resident = std::min(device_.threads_per_multiprocessor / shape.threads, 32);
    const double turns = std::ceil(tiles / device_.multiprocessors) / device_.clock_MHz;
    const double cut = result / static_cast<double>(runs.bytes) * partial_sectors(runs.bytes, runs.alignment);
    const double cut_bytes = cut > 0 ? kInside * result + kCut * cut : 0;
    const double memory_us = (kOuter * counts_.compulsory_bytes + cut_bytes) / device_.copy_rate_GBs() * 1e-3;
    const double cache_us =
        cache_cycles(result, result / kCacheLineBytes) / (device_.multiprocessors * device_.clock_MHz);
    const double busy_us = turns * (warp_cycles + values * kApart / resident);
    const double us = side_by_side(memory_us, cache_us, busy_us) + kLaunchUs;
    priced_.push_back({&shape, tile, us, memory_us, busy_us, cache_us});
  }

  Candidate built(const Priced& priced) const {
    auto candidate = plain_blocks(program_, counts_.order, *priced.shape, priced.tile);
    candidate.predicted_us = priced.us;
    candidate.parts = {{"memory", priced.memory_us}, {"issue", priced.busy_us}, {"launch", kLaunchUs}};
    if (priced.cache_us > 0) candidate.parts.push_back({"L2", priced.cache_us});
    return candidate;
  }

  const ir::Program& program_;
  const GpuModel& device_;
  OperationCounts counts_;
  std::vector<double> cycles_;  ///< of a warp, for each operation
  std::vector<double> bytes_;   ///< that each load reaches
  std::int64_t words_ = 1;      ///< registers of an element
  bool sums_ = false, products_ = false, cooperates_ = true;
  bool outer_ = false;                                         ///< an outer product
  bool broadcasts_ = false;                                    ///< products, along an index of the result alone
  double least_busy_us_ = 0, least_math_us_ = 0;               ///< of sums of products
  bool alone_ = false;                                         ///< whether one candidate is asked for
  double limit_us_ = std::numeric_limits<double>::infinity();  ///< of it, as far as it is known
  double limit_cubed_ = limit_us_;                             ///< of what takes time beside memory
  std::vector<Priced> priced_;
};

}  // namespace

std::vector<Candidate> plain_candidates(const ir::Program& program, const GpuModel& device, std::size_t most,
                                        double bound_us) {
  if (PlainCudaEnumerator::least_us(program, device) >= bound_us) return {};
  return with_rows(PlainCudaEnumerator(program, device).run(most, bound_us), program, device, most);
}

}  // namespace ricci::plan
