// The loops of a program, as directives make them one after the other: which loops are tasks, rounds over a tile or
// threads of a block, and what is left of each index for a worker to compute in registers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

inline constexpr std::int64_t kWidestAccessBytes = 16;  // of a GPU's thread

struct ProgramLoops {
  // Per index of the program; 1 where it is summed over.
  std::vector<std::int64_t> tile;           ///< values of a task
  std::vector<std::int64_t> register_tile;  ///< values of one worker, along the lanes vectors
  std::vector<bool> neighbours;             ///< GPU: those of a thread are, not as far apart as its block is wide
  std::vector<int> tasks;                   ///< indices of several tiles, from outside in
  /// Indices with rounds over the tile (CPU), or a digit of the worker's number (GPU). The innermost one first.
  std::vector<int> inner;
  int lane = -1, lanes = 1;  ///< CPU: `lanes` neighbours along index `lane` are one vector
  std::int64_t strip = 0;    ///< CPU: points along the lanes that are computed at a time
  std::vector<std::vector<int>>
      parts;                 ///< CPU: of the statements, each over the strip before the next; none: all at once
  bool nontemporal = false;  ///< CPU: of the vectors of results
  /// CPU: a buffer, and the indices of the array that a tile's elements of it are copied to, the last one contiguous.
  struct Staged {
    int buffer = -1;
    std::vector<int> dims;
  };
  std::vector<Staged> staged;
  int threads = 1;              ///< GPU: of a block
  int cooperative_threads = 1;  ///< GPU: that compute one point together
  int items_per_thread = 1;     ///< GPU: values of a scan that one of them takes at a time
  /// GPU: cooperative threads along each index of a sum. None: all of them along the last one.
  std::vector<int> members;
  /// The index of rows (rows.hpp): on a GPU those that a group of threads keeps in registers, on a CPU those that are
  /// gone over pass by pass; and neighbours along it that a thread has side by side or a vector has. -1: none.
  int row = -1;
  std::int64_t row_lanes = 1;
  bool row_results = false;  ///< whether results lie along it

  std::int64_t lanes_along(std::size_t q) const noexcept { return static_cast<int>(q) == lane ? lanes : 1; }
  /// Workers along an index of a tile.
  std::int64_t positions(std::size_t q) const noexcept { return tile[q] / (register_tile[q] * lanes_along(q)); }
  std::int64_t positions() const noexcept;
  int workers() const noexcept { return threads / cooperative_threads; }  ///< of a block
  std::int64_t tiles(const ir::Program& program) const noexcept;
};

/// Throws PlanError naming the directive whose rule does not hold. Directives that rewrite a tree are left out.
///   count  of the directives that are applied, the first ones. What the others would say has its plain form: without
///          an order each index is a loop (on a GPU the threads of a block, and tasks around it), a block has as many
///          threads as its tile has places, and statements of no part yet are the last one
ProgramLoops loops_of(const ir::Program& program, Directives directives, Target target, std::size_t count = kAll);

/// The widest type of values that can all be vectors: floats, of which f32 alone become half types and come from them,
/// and integers, of operations that exist for vectors. None where some cannot.
std::optional<DType> lane_type(const ir::Program& program);

/// Whether strips can be buffered: all tensors have one type.
bool has_strips(const ir::Program& program);

/// Whether `values` neighbours of a GPU's thread along an index are one access.
bool is_vector_access(const ir::Program& program, int buffer, const ir::Affine& offset, int index, std::int64_t values);

/// Values that a CPU scans as one vector: of sums that may be reordered, and of values without reductions; else 1.
int scan_row(const ir::Program& program, const ir::Node& scan);

}  // namespace ricci::kernel
