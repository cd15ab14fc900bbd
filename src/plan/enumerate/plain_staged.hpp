// Tiles of programs on a CPU that read operands across, which are copied into arrays of the tile first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "kernel/directives.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {

struct StagedTiles {
  std::vector<std::int64_t> tile;  ///< per index of the program; 1: a task has one value
  std::vector<int> looped;         ///< indices of several values, that of neighbouring results first
  kernel::Directives stages;
  double elements = 0;  ///< that are copied, of all tasks together
  double reads = 0;     ///< of points, from the arrays
  std::string text;     ///< part of a schedule's name
};

/// Whether a load's neighbours lie along another index than `fastest`, along which those of the results do.
bool is_across(const ir::Affine& offset, const ir::Program& program, int fastest);

/// None of programs with sums, scans or guards, nor of those that read nothing across.
/// Tiles go along the fastest index by whole vectors, however wide, or as far as it is long.
std::vector<StagedTiles> staged_tiles(const ir::Program& program, const OperationCounts& counts);

}  // namespace ricci::plan
