// Shared memory and registers of a contraction's blocks on a GPU, and how many of them a multiprocessor has room for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

class BlockRoom {
 public:
  /// Both are to outlive it.
  BlockRoom(const GpuContraction& contraction, const GpuModel& device) : contraction_(contraction), device_(device) {}

  /// Padding of an operand's rows of shared memory, as its layout will have it: worked out once for all tiles that are
  /// alike in it, since the layout asks for the banks of all lanes.
  int padding(const Cut& cut, bool of_rows) const;
  /// Bytes of shared memory of one stage of an operand, and of both.
  std::int64_t stage_bytes(const Cut& cut, bool of_rows) const;
  std::int64_t stage_bytes(const Cut& cut) const { return stage_bytes(cut, true) + stage_bytes(cut, false); }
  /// Bytes of shared memory that results take on their way to memory. Where they lie in it is worked out once for tiles
  /// that warps hold and write alike, since that asks for the banks of all lanes, too.
  ///   rows, columns  as the warps hold them
  std::int64_t result_bytes(const Cut& cut, std::int64_t rows, std::int64_t columns) const;

  /// What a block takes of shared memory: `stage_bytes` of one stage of both operands, `result_bytes` of results on
  /// their way.
  static std::int64_t shared_bytes(const Cut& cut, std::int64_t stage_bytes, std::int64_t result_bytes) {
    return std::min<std::int64_t>(cut.stages, cut.rounds()) * stage_bytes + result_bytes;
  }
  /// Blocks of so many warps that a multiprocessor's threads and registers have room for.
  std::int64_t of_warps(int warps, int registers) const {
    return std::min<std::int64_t>(device_.threads_per_multiprocessor / (32 * warps),
                                  4 * warps_of_part(registers) / (warps < 4 ? warps : tiles::up(warps, 4)));
  }
  /// Room for blocks of a multiprocessor; 0 where one does not fit.
  std::int64_t resident(const Cut& cut, std::int64_t stage_bytes, std::int64_t result_bytes, int registers) const {
    return resident(shared_bytes(cut, stage_bytes, result_bytes), cut.spread.warps(), registers);
  }
  std::int64_t resident(std::int64_t shared_bytes, int warps, int registers) const;

 private:
  const GpuContraction& contraction_;
  const GpuModel& device_;
};

}  // namespace ricci::plan
