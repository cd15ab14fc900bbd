// Counts what one access of a warp costs: wavefronts of shared memory, sectors of global memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::simt {

constexpr unsigned kSectorBytes = 32;

/// One instruction executed by the lanes that take part, in the order of their numbers.
struct WarpAccess {
  unsigned bytes = 0;  ///< per lane: 1, 2, 4, 8 or 16
  unsigned lanes = 0;
  std::uint64_t address[32];
  std::uint8_t lane[32];
};

struct Cost {
  unsigned units = 0;  ///< wavefronts or sectors
  unsigned ideal = 0;
};

/// 32 banks of 4 bytes; lanes that ask for the same word share it. 8-byte accesses go by half-warps, 16-byte ones by
/// quarter-warps; by twice as many lanes where each lane and the next one ask for the same, or each and the next but
/// one.
Cost shared_cost(const WarpAccess& access);

/// Which sectors of a buffer have been touched, by the whole run and by the running block.
class SectorMap {
 public:
  void reset(std::size_t bytes) { block_.assign((bytes + kSectorBytes - 1) / kSectorBytes, 0); }
  void begin_block() { ++now_; }
  void touch(std::uint64_t sector) {
    std::uint32_t& block = block_[sector];
    if (block == now_) return;
    distinct_ += block == 0;
    ++per_block_;
    block = now_;
  }
  std::uint64_t distinct() const { return distinct_; }    ///< by the run
  std::uint64_t per_block() const { return per_block_; }  ///< by each block, summed

 private:
  std::vector<std::uint32_t> block_;  // the last block that touched it, counted from 1
  std::uint32_t now_ = 0;
  std::uint64_t distinct_ = 0, per_block_ = 0;
};

/// Distinct sectors of 32 bytes, counted from `begin`, which are also noted in `seen`.
Cost global_cost(const WarpAccess& access, std::uint64_t begin, SectorMap& seen);

}  // namespace ricci::simt
