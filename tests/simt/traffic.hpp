// Counts what one access of a warp costs: wavefronts of shared memory, sectors of global memory.
#pragma once

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
/// quarter-warps.
Cost shared_cost(const WarpAccess& access);

/// Distinct sectors of 32 bytes, counted from `begin`, which are also marked in `seen` (one flag per sector).
Cost global_cost(const WarpAccess& access, std::uint64_t begin, std::vector<bool>& seen);

}  // namespace ricci::simt
