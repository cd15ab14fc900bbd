// Tiles in the registers of a GPU's threads, read in one order and written in another, both drawn at random: what the
// planner proposes are tiles of one warp alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernel/layout.hpp"
#include "kernel/schedule.hpp"

namespace ricci::fuzz {

struct RandomRegisters {
  kernel::Schedule schedule;
  kernel::Exchange::By by;  ///< from those that read to those that write
  bool several = false;     ///< warps share a tile
};

/// Of a program that moves elements; nothing where it reads none, or has no index. The same seed gives the same one.
std::optional<RandomRegisters> random_registers(std::uint64_t seed, const ir::Program& program);

/// How often each way came up among tiles that several warps share.
class WaysSeen {
 public:
  void add(const RandomRegisters& drawn) { seen_[static_cast<std::size_t>(drawn.by)] += drawn.several; }
  bool all() const { return seen_[0] > 0 && seen_[1] > 0 && seen_[2] > 0; }
  const std::array<int, 3>& counts() const { return seen_; }

 private:
  std::array<int, 3> seen_ = {};  // by Exchange::By
};

}  // namespace ricci::fuzz
