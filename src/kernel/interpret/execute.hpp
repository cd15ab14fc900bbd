// Runs kernels on the host, plainly: a second oracle beside ir::interpret, and what cost models are tested against.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// What all threads of a run did, counted.
struct Counts {
  /// Reads or writes of one space.
  struct Moved {
    std::int64_t accesses = 0;  ///< by single threads
    std::int64_t vectors = 0;   ///< those of several lanes
    std::int64_t bytes = 0;
    /// CUDA, summed over the accesses of warps: of global memory the sectors of 32 bytes that an access touches, of
    /// shared memory the wavefronts that it takes (32 banks of 4 bytes; lanes that ask for the same word share it;
    /// 8-byte accesses go by half-warps, 16-byte ones by quarter-warps, and by twice as many lanes where they are alike
    /// in pairs: layout.hpp).
    std::int64_t units = 0;
    std::int64_t ideal = 0;  ///< units if the same bytes lay side by side
    Moved& operator+=(const Moved& more);
  };
  std::int64_t tasks = 0;
  std::int64_t flops = 0;     ///< elementwise operations but casts, comparisons, selections and changes of sign
  std::int64_t barriers = 0;  ///< of a block
  std::array<Moved, 4> read, written;  ///< by Space
  struct Sides {
    Moved read, written;
  };
  std::vector<Sides> arrays;  ///< the same by array, numbered as in Kernel::arrays

  const Moved& read_from(Space space) const { return read[static_cast<std::size_t>(space)]; }
  const Moved& written_to(Space space) const { return written[static_cast<std::size_t>(space)]; }
};

/// Runs the tasks of a kernel one after the other, the threads of a block in step with each other. Tile statements are
/// executed as they are defined, by one thread, so that a kernel gives the same before expand() and after it.
///
///   buffers  element 0 of every global array
///   params   values of Kernel::params
///
/// Sums and products are each rounded, in the order of the tree. Throws InternalError, naming the rule and the
/// directive that made the statement, where
/// - an access leaves its array;
/// - a value that nothing has written reaches global memory (what is read beyond an array's written part may be
///   computed with as long as it is dropped);
/// - threads meet at one element of shared or global memory without a barrier between, or two tasks at one of global;
/// - an asynchronous copy is read or written over before it is waited for;
/// - a barrier, a wait or a warp's instruction is not reached by all threads;
/// - after all tasks an array's results are not all written (Array::results).
Counts execute(const Kernel& kernel, const std::vector<void*>& buffers, const std::vector<Scalar>& params);

/// The same rules without memory and values. A kernel whose tasks are many is looked at for the first, the second and
/// the last value of each task loop alone, as many tasks as fit into `steps` statements; returns whether all of them
/// did.
bool check_elements(const Kernel& kernel, std::int64_t steps);
/// What these tasks do, counted as far as `steps` go.
Counts count_elements(const Kernel& kernel, std::int64_t steps);

}  // namespace ricci::kernel
