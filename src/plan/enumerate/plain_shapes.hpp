// The shapes that blocks of plain schedules on a GPU may have, what a warp of one touches in memory, and the runs that
// one writes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "kernel/kernel.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/unique_values.hpp"

namespace ricci::plan {

/// The shape of a thread block over the free indices.
struct BlockShape {
  std::vector<std::int64_t> positions;  ///< per index
  std::vector<int> digits;              ///< indices, fastest first
  int threads = 256;
  int cooperative_threads = 1, items_per_thread = 1;
};

/// What a warp touches with one load.
struct Touched {
  double lines = 1, sectors = 1, elements = 1;
};

///   step  the index along which cooperative threads step; -1: none
inline Touched touched_by(const ir::Program& program, const BlockShape& shape, const ir::Affine& offset, DType type,
                          int step) {
  std::array<std::int64_t, kernel::kWarp> lines, sectors, elements;
  const auto size = size_of(type);
  for (int lane = 0; lane < kernel::kWarp; ++lane) {
    std::int64_t element = 0;
    if (shape.cooperative_threads > 1) {
      if (step >= 0)
        element = std::min<std::int64_t>(lane, program.indices[static_cast<std::size_t>(step)].extent - 1) *
                  offset.coefficient[static_cast<std::size_t>(step)];
    } else {
      std::int64_t rest = lane;
      for (const auto q : shape.digits) {
        const auto n = shape.positions[static_cast<std::size_t>(q)];
        element += rest % n * offset.coefficient[static_cast<std::size_t>(q)];
        rest /= n;
      }
    }
    lines[static_cast<std::size_t>(lane)] = element * size >> 7;
    sectors[static_cast<std::size_t>(lane)] = element * size >> 5;
    elements[static_cast<std::size_t>(lane)] = element;
  }
  const auto different = [](auto& values) {
    return static_cast<double>(unique_values<kernel::kWarp>(values.data(), values.size()));
  };
  return {different(lines), different(sectors), different(elements)};
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
