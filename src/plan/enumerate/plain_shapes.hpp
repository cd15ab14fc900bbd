// The shapes that blocks of plain schedules on a GPU may have, what a warp of one touches in memory, and the runs that
// one writes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/few.hpp"
#include "ir/program.hpp"
#include "kernel/kernel.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/operation_counts.hpp"
#include "plan/models/short_lists.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

inline constexpr double kResidentWarps = 48;  ///< of a multiprocessor that has many

/// The shape of a thread block over the free indices.
struct BlockShape {
  static constexpr std::size_t kUsualIndices = 12;
  ir::Few<std::int64_t, kUsualIndices> positions;  ///< per index
  ir::Few<int, kUsualIndices> digits;              ///< indices, fastest first
  int threads = 256;
  int cooperative_threads = 1, items_per_thread = 1;
  /// Cooperative threads along each index of a sum. None: all of them along the last one.
  ir::Few<int, kUsualIndices> members;

  /// Of all rounds of a sum, those that one of its threads has.
  double share_of_rounds(const ir::Program& program, const IndexSet& around) const {
    double share = 1;
    for (std::size_t q = 0; q < members.size(); ++q) {
      const auto extent = static_cast<double>(program.indices[q].extent);
      if (around[q]) share *= std::ceil(extent / members[q]) / extent;
    }
    return share;
  }
};

/// A block of at most that many threads, whose places are filled along one index after the other.
///   order  of indices
///   most   places along the first of them; those that it does not name have as many as there is room for
///   tile   of each thread, no longer than what it is of
///   alike  parts of an index are as much alike as they can be
inline BlockShape filled_shape(const ir::Program& program, const std::vector<int>& order,
                               const std::vector<std::int64_t>& most, int threads, const RegisterTile& tile = {},
                               bool alike = false) {
  BlockShape shape;
  shape.digits.reserve(order.size());
  shape.positions.assign(program.indices.size(), 1);
  std::int64_t left = threads, used = 1;
  for (std::size_t k = 0; k < order.size() && left > 1; ++k) {
    const auto q = static_cast<std::size_t>(order[k]);
    const auto places = program.indices[q].extent / tile.count(q);
    auto n = std::min({places, left, k < most.size() ? most[k] : left});
    if (n <= 1) continue;
    if (alike) {
      const auto parts = (places + n - 1) / n;
      n = (places + parts - 1) / parts;
    }
    shape.positions[q] = n;
    shape.digits.push_back(order[k]);
    left /= n;
    used *= n;
  }
  shape.threads = static_cast<int>((used + kernel::kWarp - 1) / kernel::kWarp * kernel::kWarp);
  return shape;
}

/// Long straight-line code needs many registers per thread: smaller blocks.
inline bool has_long_text(const ir::Program& program) { return program.nodes.size() > 400; }

/// Times that a warp executes a load for one result of each of its threads.
inline double rounds_of(const ir::Program& program, const BlockShape& shape, const CountedNode& load) {
  if (shape.cooperative_threads == 1) return load.times;
  if (!shape.members.empty()) return load.times * shape.share_of_rounds(program, load.around);
  const int q = load.stepped;
  if (q < 0) return load.times;
  const auto steps = static_cast<double>(program.indices[static_cast<std::size_t>(q)].extent);
  return load.times / steps * std::ceil(steps / shape.cooperative_threads);
}

/// What a warp touches with one load.
struct Touched {
  double lines = 1, sectors = 1, elements = 1;
};

using TouchedByLoads = ir::Few<Touched, 4>;  ///< per load

/// Where the first threads of a block read, in elements from where the first one does.
///   step  the index along which cooperative threads step; -1: none
///   tile  of each of them, whose first value is meant
inline void find_distances(const ir::Program& program, const BlockShape& shape, const ir::Affine& offset, int step,
                           const RegisterTile& tile, std::span<std::int64_t> distances) {
  struct Digit {
    std::int64_t count, last, stride, value;  ///< last: places past the end of an index are those of its last value
  };
  std::array<Digit, kMostDigits> digits;
  std::size_t size = 0;
  const auto take = [&](std::size_t q, std::int64_t count) {
    const auto apart = tile.neighbours ? tile.count(q) : 1;
    const auto last = std::max<std::int64_t>((program.indices[q].extent - 1) / apart, 0);
    if (count > 1) digits[size++] = {count, last, offset.coefficient[q] * apart, 0};
  };
  if (shape.cooperative_threads == 1) {
    for (const auto q : shape.digits) take(static_cast<std::size_t>(q), shape.positions[static_cast<std::size_t>(q)]);
  } else if (shape.members.empty()) {
    if (step >= 0) take(static_cast<std::size_t>(step), shape.cooperative_threads);
  } else {
    for (auto q = shape.members.size(); q-- > 0;) take(q, shape.members[q]);
  }
  std::int64_t elements = 0;
  for (auto& distance : distances) {
    distance = elements;
    for (auto digit = digits.begin(); digit != digits.begin() + size; ++digit) {
      if (++digit->value < digit->count) {
        if (digit->value <= digit->last) elements += digit->stride;
        break;
      }
      elements -= std::min(digit->count - 1, digit->last) * digit->stride;
      digit->value = 0;
    }
  }
}

/// What kThreads of a block touch with one load, a warp or more.
template <std::size_t kThreads = kernel::kWarp>
Touched touched_by(const ir::Program& program, const BlockShape& shape, const ir::Affine& offset, DType type, int step,
                   std::size_t threads = kThreads, const RegisterTile& tile = {}) {
  std::array<std::int64_t, kThreads> elements, pieces;
  find_distances(program, shape, offset, step, tile, {elements.data(), threads});
  const auto size = size_of(type);
  const auto different = [&](int shift) {
    bool ascending = true;
    std::size_t n = 0;
    for (std::size_t k = 0; k < threads; ++k) {
      const auto piece = elements[k] * size >> shift;
      if (n > 0 && piece == pieces[n - 1]) continue;
      ascending = ascending && (n == 0 || piece > pieces[n - 1]);
      pieces[n++] = piece;
    }
    return static_cast<double>(ascending ? n : unique_values<kThreads>(pieces.data(), n));
  };
  return {different(7), different(5), different(0)};
}

/// Whether neighbouring threads of a block write to different sectors.
inline bool scattered(const ir::Program& program, const BlockShape& shape) {
  if (shape.digits.empty()) return false;
  const auto& statement = program.statement();
  const auto stride = std::abs(statement.offset.coefficient[static_cast<std::size_t>(shape.digits.front())]);
  const auto type = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
  const bool compacts = program.nodes[static_cast<std::size_t>(statement.value)].kind == ir::NodeKind::compact;
  return compacts || stride * size_of(type) >= kSectorBytes;
}

/// The runs of neighbours that a block writes.
struct WrittenRuns {
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;  ///< bytes by whose multiples they begin, a sector at most
};

///   order  of the result's indices, fastest first
inline WrittenRuns written_runs(const ir::Program& program, const BlockShape& shape, const RegisterTile& tile,
                                const std::vector<int>& order) {
  const auto& statement = program.statement();
  const auto size = size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
  WrittenRuns runs{size};
  std::int64_t begins = 0;  // their lowest bits
  bool joined = true;
  for (const int q : order) {
    const auto k = static_cast<std::size_t>(q);
    const auto own = shape.positions[k] * tile.count(k), stride = statement.offset.coefficient[k];
    const bool whole = own >= program.indices[k].extent;
    if (!whole) begins |= stride * own;
    if (tile.count(k) > 1) begins |= stride * shape.positions[k];
    if (joined) runs.bytes *= own;
    joined = joined && whole;
  }
  begins = begins * size | kSectorBytes;
  runs.alignment = begins & -begins;
  return runs;
}

}  // namespace ricci::plan
