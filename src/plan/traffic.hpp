// What a schedule moves, counted from its addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "ir/schedule.hpp"

namespace ricci::plan {

inline constexpr std::int64_t kSectorBytes = 32;

/// One side of a permutation, over a whole run.
struct SideTraffic {
  std::int64_t bytes = 0;      ///< elements moved
  std::int64_t run_bytes = 0;  ///< neighbours in memory that one tile touches
  bool whole_sectors = false;  ///< every run begins and ends on a 32-byte boundary
  double sectors = 0;          ///< 32-byte sectors touched, each tile counted by itself
  double partial_sectors = 0;  ///< those of them that a tile touches in part
};

struct Traffic {
  SideTraffic read, write;
  double bank_wavefronts = 0;  ///< of shared memory per tile, both directions
  double ideal_wavefronts = 0;
  double occupancy = 0;        ///< resident threads of those a multiprocessor can hold
  double bytes_in_flight = 0;  ///< asked for by a multiprocessor before anything has arrived
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
  std::int64_t element_bytes_ = 1, grid_ = 1, lowest_ = 0;  // grid: what the buffer's address is a multiple of
};

/// Sectors of one access of the whole tensor, tile by tile.
SideTraffic side_traffic(const ir::Program& program, const ir::Schedule& schedule, int buffer,
                         const ir::Affine& affine);

/// The box that a number of tiles which follow each other in the launch cover together.
void launch_box(const ir::Program& program, const ir::Schedule& schedule, std::int64_t tiles,
                std::vector<std::int64_t>& box);

/// 128-byte lines that the warps of a walk ask for, summed over a whole tile, from the addresses of an even sample of
/// the warps and a base at the beginning of a line.
double lines_of_walk(const ir::Walk& walk, const ir::Affine& affine, std::int64_t element_bytes, int sample_warps);

}  // namespace ricci::plan
