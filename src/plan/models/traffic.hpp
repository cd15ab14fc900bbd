// Memory traffic of a schedule, counted from its addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "kernel/permute/moves.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

inline constexpr std::int64_t kBlockBytes = 256;  // granularity at which memory is fastest
inline constexpr std::size_t kMostDigits = 64;    // of a mapping: a tensor has fewer axes

/// One side of a permutation, over a whole run.
struct SideTraffic {
  std::int64_t bytes = 0;      ///< elements moved
  std::int64_t run_bytes = 0;  ///< length of a tile's contiguous runs
  bool whole_sectors = false;  ///< every run begins and ends on a 32-byte boundary
  double sectors = 0;          ///< 32-byte sectors touched, each tile counted by itself
  double partial_sectors = 0;  ///< sectors that a tile touches in part
  double partial_blocks = 0;   ///< 256-byte blocks that a tile touches in part
};

struct Traffic {
  SideTraffic read, write;
  double bank_wavefronts = 0;  ///< of shared memory per tile, both directions
  double ideal_wavefronts = 0;
  double occupancy = 0;        ///< resident threads of those a multiprocessor can hold
  double bytes_in_flight = 0;  ///< outstanding loads of a multiprocessor
  std::int64_t tiles = 0;
  double predicted_bytes() const { return (read.sectors + write.sectors) * static_cast<double>(kSectorBytes); }
};

/// One access of the whole tensor, cut into boxes of any extents.
class SideCounter {
 public:
  SideCounter(const ir::Program& program, int buffer, const ir::Affine& affine);
  /// Sectors, box by box.
  SideTraffic in_boxes(const std::vector<std::int64_t>& box) const;

 private:
  struct Axis {
    std::size_t index;
    std::int64_t extent, stride;  // the stride's size, in elements
    bool backwards;
  };
  std::vector<Axis> axes_;                                  // those that move, by rising stride
  std::int64_t element_bytes_ = 1, grid_ = 1, lowest_ = 0;  // grid: known alignment of the buffer's address, in bytes
};

/// Sectors of one access of the whole tensor, tile by tile.
SideTraffic side_traffic(const ir::Program& program, const kernel::Moves& moves, int buffer, const ir::Affine& affine);

/// Sectors of which a run of so many bytes has a part, on average over all places that are multiples of `grid`.
double partial_sectors(std::int64_t bytes, std::int64_t grid);

/// The bounding box of `tiles` consecutive tiles of the launch.
void launch_box(const ir::Program& program, const std::vector<std::int64_t>& tile, const std::vector<int>& order,
                std::int64_t tiles, std::vector<std::int64_t>& box);

/// 128-byte lines requested by the warps of a mapping, summed over a tile; estimated from evenly sampled warps and a
/// line-aligned base.
double lines_of_mapping(const kernel::ThreadMapping& mapping, const ir::Affine& affine, std::int64_t element_bytes,
                        int sample_warps);

/// A lower bound of lines_of_mapping() that needs no addresses.
double least_lines_of_mapping(const kernel::ThreadMapping& mapping, const ir::Affine& affine,
                              std::int64_t element_bytes, int sample_warps);

/// The accesses of a mapping's warps, round by round: the last warp of a round may have fewer than 32 lanes.
class Warps {
 public:
  explicit Warps(const kernel::ThreadMapping& mapping)
      : workers_(mapping.workers), positions_(mapping.positions()), each_((workers_ + 31) / 32) {}
  std::int64_t count() const {
    const auto whole = positions_ / workers_;
    return whole * each_ + (positions_ - whole * workers_ + 31) / 32;
  }
  std::int64_t first(std::int64_t warp) const { return warp / each_ * workers_ + warp % each_ * 32; }
  std::int64_t lanes(std::int64_t warp) const {
    return std::min({std::int64_t{32}, workers_ - warp % each_ * 32, positions_ - first(warp)});
  }

 private:
  std::int64_t workers_, positions_, each_;
};

/// Whether two mappings over the same tile have the same warps: mappings with full warps differ only in their rounds.
inline bool same_warps(int workers, int others) { return workers == others || (workers % 32 == 0 && others % 32 == 0); }

}  // namespace ricci::plan
