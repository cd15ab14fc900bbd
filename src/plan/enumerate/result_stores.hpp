// How a block of a contraction writes its results: accesses of its warps, and what these reach in memory.
#pragma once

#include "plan/enumerate/gpu_contraction.hpp"

namespace ricci::plan {

/// How the results of a tile lie in memory.
struct ResultPlace {
  std::int64_t run = 1;            ///< neighbours that a block makes, in elements
  std::int64_t neighbours = 1;     ///< of these, those along a side's fastest digit
  std::int64_t alignment = 1;      ///< bytes by whose multiples rows of neighbours begin, a sector at most
  std::int64_t run_alignment = 1;  ///< the same of runs
};
/// As well as results can lie.
inline constexpr ResultPlace kBestPlace{1 << 20, 1 << 20, kSectorBytes, kSectorBytes};

class ResultPlaces {
 public:
  /// It is to outlive them.
  explicit ResultPlaces(const GpuContraction& contraction);
  ResultPlace of(const tiles::Tile& rows, const tiles::Tile& columns) const;

 private:
  /// Bytes by whose multiples runs of so many of the result's neighbours begin: at most a sector.
  std::int64_t alignment(const tiles::Tile& rows, const tiles::Tile& columns, std::int64_t run) const;

  const GpuContraction& contraction_;
  tiles::MemoryOrder order_;
  std::int64_t batch_steps_ = 0;  ///< elements, of all axes of the batch together
};

struct StoreCounts {
  double lines = 0;         ///< of 128 bytes that a block's warps ask for
  double part_sectors = 0;  ///< of 32 bytes, of which an access has a part
  double wavefronts = 0;    ///< of shared memory, where results pass through it
  double bytes = 0;         ///< of the launch, by sectors
};
///   held   positions of a block's tile that its warps hold
///   place  of the cut's rows and columns
///   bytes  of the result
StoreCounts stores_of(const GpuContraction& contraction, const Cut& cut, std::int64_t held, const ResultPlace& place,
                      double bytes);

}  // namespace ricci::plan
