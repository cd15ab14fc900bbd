// The schedules of one tile: all of them but the order of tiles, the number of threads and a name.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "kernel/permute/moves.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/tile_forms.hpp"

namespace ricci::plan {

inline constexpr std::int64_t kStagedBytesPerThread =
    128;  // of registers that hold elements on their way to shared memory

class TileSchedules {
 public:
  TileSchedules(const ir::Program& program, const Sides& sides);

  TileForms forms(const std::vector<std::int64_t>& tile) const;
  /// A staged schedule.
  kernel::Moves carried(const std::vector<std::int64_t>& tile, const TileForms& forms, TileTransfer how) const;
  /// Schedules without a stage, by every number of threads that is worth a look.
  ///   points  elements of the tile
  ///   always  whether there are some, too, where blocks have more threads than elements
  std::vector<kernel::Moves> direct(const std::vector<std::int64_t>& tile, std::int64_t points, bool always) const;

 private:
  kernel::Moves direct(const std::vector<std::int64_t>& tile, int vector) const;
  int widest(bool read) const;
  bool transposes(const TileForms& forms) const;
  bool skews(const std::vector<std::int64_t>& tile) const;
  kernel::Moves waiting(const std::vector<std::int64_t>& tile, const std::vector<std::int64_t>& reached,
                        int read_vector, int write_vector) const;
  kernel::Moves straight(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  kernel::Moves transposed(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  kernel::Moves skewed(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  kernel::Moves in_warp(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  int sector_elements() const;  ///< of the output

  const ir::Program& program_;
  const Sides& sides_;
  int read_widest_ = 1, write_widest_ = 1;  // vectors that the program's layouts allow
};

}  // namespace ricci::plan
