// The schedules of one tile: all of them but the order of tiles, the number of threads and a name.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "ir/schedule.hpp"
#include "plan/axes.hpp"

namespace ricci::plan {

inline constexpr std::int64_t kStagedBytesPerThread = 128;  // registers that hold what is on its way to shared memory
inline constexpr int kWarpThreads = 256;                    // of a block whose warps have tiles of their own

/// How a tile that waits gets from one side to the other: through shared memory as it is read, in rectangles that are
/// turned in registers, or cut where the output's sectors begin; or in the registers of a warp.
enum class Carried : std::uint8_t { straight, turned, skewed, in_warp };
inline constexpr int kCarried = 4;

/// What the schedules of a tile may do.
struct TileForms {
  int read_vector = 1, write_vector = 1;
  bool turns = false, skews = false, in_warp = false;  ///< besides being carried straight
};

class TileSchedules {
 public:
  TileSchedules(const ir::Program& program, const Sides& sides);

  TileForms forms(const std::vector<std::int64_t>& tile) const;
  /// One that waits.
  ir::Schedule carried(const std::vector<std::int64_t>& tile, const TileForms& forms, Carried how) const;
  /// One that does not.
  ir::Schedule direct(const std::vector<std::int64_t>& tile, int vector) const;

 private:
  int widest(bool read) const;
  bool turns(const TileForms& forms) const;
  bool skews(const std::vector<std::int64_t>& tile) const;
  ir::Schedule waiting(const std::vector<std::int64_t>& tile, const std::vector<std::int64_t>& reached, int read_vector,
                       int write_vector) const;
  ir::Schedule straight(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  ir::Schedule turned(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  ir::Schedule skewed(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  ir::Schedule in_warp(const std::vector<std::int64_t>& tile, const TileForms& forms) const;
  int sector_elements() const;  ///< of the output

  const ir::Program& program_;
  const Sides& sides_;
  int read_widest_ = 1, write_widest_ = 1;  // vectors that the program's layouts allow
};

}  // namespace ricci::plan
