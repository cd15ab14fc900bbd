// What a plain schedule does on a CPU, counted: what its prediction is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {

/// Of all tasks together; guards count as if they held. Rows of a strip are counted where they are read from memory,
/// not in their buffers.
struct PlainCpuCounts {
  struct Work {
    double instructions = 0, values = 0;  ///< single ones and vectors; values of all lanes
    Work& operator+=(const Work& more);
  };
  double rounds = 0;  ///< register tiles, and points and vectors of which there are no whole ones
  Work loads;
  double gathered = 0;       ///< elements of vectors that are loaded one by one
  double gathered_wide = 0;  ///< of these, of vectors of more than four
  double gathered_half = 0;  ///< of these, of two bytes
  Work arithmetic;           ///< operations on real numbers and integers that ir::is_counted
  double summed = 0;         ///< instructions of these that are one with the addition to a sum
  double complex = 0;        ///< the same on complex numbers
  Work others;               ///< comparisons, selections, signs, tests of guards
  double widened = 0;        ///< conversions, of vectors or single values, of a half type
  double narrowed = 0;       ///< and to one
  /// Cycles in which the sums of a register tile wait for those of the term before: the fewer, the longer. In part, of
  /// what is left: short sums of other points go on beside it.
  double waits = 0;
  PlainCpuCounts& operator+=(const PlainCpuCounts& more);
};

/// Of rounds over register tiles and lanes, and over what these leave.
///   registers  values of a round along each index, of vectors along `lane`
///   along      values along `lane`
PlainCpuCounts counts_of(const ir::Program& program, const OperationCounts& operations,
                         const std::vector<std::int64_t>& registers, int lane, std::int64_t lanes, std::int64_t along);

}  // namespace ricci::plan
