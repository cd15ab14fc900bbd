// Runs the text of a CUDA kernel on the CPU, thread block by thread block or cluster by cluster, and reports what a GPU
// would not: accesses out of bounds, races, divergent barriers, misaligned vectors, bank conflicts and the sectors that
// move. See README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/tensor_map.hpp"

namespace ricci::simt {

/// One kernel and the shape of its launch.
struct Launch {
  std::string
      source;  ///< the portable prelude (Source::portable), then the kernel's text; line numbers count from here
  std::string kernel;                        ///< its extern "C" name
  std::vector<std::string> parameter_types;  ///< C++ types in order: "const double*", "double"
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block = 1;              ///< threads; one-dimensional
  std::size_t dynamic_shared = 0;  ///< bytes behind `extern __shared__`
  /// The last parameters, of type TensorMap: runs make them of the pointers that they are of, and are given no values.
  std::vector<kernel::TensorMap> maps = {};
  /// Accesses are counted as the text has them; else as they are left by a compiler, which joins some, takes them out
  /// of loops and leaves out what nobody needs.
  bool as_written = false;
};

/// Memory of the caller that the kernel may touch. Accesses outside all buffers are faults. Sectors are counted from
/// `begin`, as device allocations start at one; alignment is checked on the address itself, so align as the kernel
/// asks.
struct Buffer {
  const void* begin = nullptr;
  std::size_t bytes = 0;
  bool writable = false;
};

/// The order in which blocks, warps of a block and lanes of a warp run. A correct kernel gives one result in all
/// orders.
enum class Order { forward, reverse, random };

struct Options {
  Order order = Order::forward;
  std::uint64_t seed = 1;   ///< of Order::random
  bool check_races = true;  ///< off saves about half of the time
  /// An instruction that was in one buffer and then is in another has strayed. Off for kernels that choose between
  /// buffers by pointer.
  bool one_buffer_per_access = true;
  /// Reads of shared memory that no thread of the block has written. Off because a kernel may read what it then drops;
  /// what it does not drop is poison (bytes 0xa5) and gives wrong results.
  bool check_uninitialised = false;
  /// Different ones. A run goes on after races, conflicts of blocks and copies that nobody waits for, and ends with any
  /// other fault.
  std::size_t most_faults = 20;
};

enum class FaultKind {
  out_of_bounds,  ///< outside of every buffer, or in another one than before
  read_only,      ///< a write to a buffer that is not writable
  misaligned,     ///< an address that is not a multiple of the access's size
  race,  ///< two threads of a block, no synchronisation between, at least one writes; or a copy that is under way
  block_conflict,      ///< two blocks, at least one writes
  divergent_barrier,   ///< __syncthreads or __syncwarp that some threads do not reach
  absent_lane,         ///< a shuffle, matrix load or product that some lanes do not reach, or from one that has left
  absent_block,        ///< shared memory of a block that is not in the cluster, or has returned
  unfinished_copy,     ///< an asynchronous copy that its thread does not commit, or wait for, before it ends
  unfinished_product,  ///< the same of a product of a warp group
  unfenced_product,    ///< a product of a warp group with no fence after its sums or operands were written
  touched_sums,        ///< registers of such a product that its thread has written before it waited
  stuck_wait,          ///< a wait for boxes of tensor maps that never ends
  misused_counter,     ///< of such bytes: not begun, or no barrier since; more bytes than are expected
  uninitialised,       ///< see Options::check_uninitialised
  launch,              ///< block, grid or shared memory beyond what a GPU takes, or beyond __launch_bounds__
};

const char* name(FaultKind kind) noexcept;

enum class Space { none, global, shared };

struct Fault {
  FaultKind kind{};
  Space space = Space::none;
  bool write = false;
  unsigned thread = 0;  ///< threadIdx.x
  std::array<unsigned, 3> block{};
  std::optional<unsigned> other_thread;  ///< of a race: who was there before; of a barrier: who is missing
  std::optional<std::array<unsigned, 3>> other_block;  ///< of a block_conflict, or of the same cluster
  std::string buffer;                                  ///< "buffer 1", "tile", or empty where no buffer is near
  std::uint64_t address = 0;
  std::int64_t offset = 0;  ///< bytes from the start of that buffer
  unsigned bytes = 0;       ///< of the access
  unsigned line = 0;        ///< in Launch::source, 0 where unknown
  unsigned other_line = 0;  ///< of the other access of a race
  bool in_flight = false;   ///< one of the two is an asynchronous copy that its thread has not waited for
  std::string detail;       ///< more words, where there are any
  std::uint64_t count = 1;  ///< how often this kind of fault arose at this place

  std::string text() const;  ///< one line
};

/// Shared-memory traffic. A request is one access of a warp; a wavefront is one cycle of the 32 banks.
struct SharedTraffic {
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal = 0;  ///< wavefronts if the same words were spread evenly over the banks
};

/// Global-memory traffic in sectors of 32 bytes.
struct GlobalTraffic {
  std::uint64_t requests = 0;   ///< accesses of warps
  std::uint64_t sectors = 0;    ///< the sum over requests of the different sectors that each touches
  std::uint64_t ideal = 0;      ///< the same if each request's bytes were contiguous and aligned
  std::uint64_t per_block = 0;  ///< different sectors touched by each block, summed: traffic if each block's are cached
  std::uint64_t distinct = 0;   ///< different sectors touched by the whole run: what memory must move at least
  std::uint64_t bytes = 0;      ///< asked for by the threads
};

/// What one line of the source moved. Wavefronts for shared, sectors for global accesses.
struct LineTraffic {
  unsigned line = 0;
  Space space = Space::none;
  bool write = false;
  unsigned bytes = 0;  ///< per thread and access
  std::uint64_t requests = 0, units = 0, ideal = 0;
};

struct Report {
  std::vector<Fault> faults;
  SharedTraffic shared;
  GlobalTraffic read, written;
  std::vector<LineTraffic> lines;  ///< in source order
  std::uint64_t blocks = 0;        ///< that ran to their end
  std::uint64_t flops = 0;         ///< of tensor cores: two for each product and its sum
  double compile_ms = 0, run_ms = 0;

  bool clean() const { return faults.empty(); }
  /// Faults, totals and one row per source line.
  std::string text() const;
};

/// A kernel compiled for the simulator. Movable; `run` takes one thread at a time (others wait).
class SimulatedKernel {
 public:
  /// Throws CompileError when the text is not a valid kernel, PlanError when there is no CPU compiler.
  explicit SimulatedKernel(const Launch& launch);
  ~SimulatedKernel();
  SimulatedKernel(SimulatedKernel&&) noexcept;
  SimulatedKernel& operator=(SimulatedKernel&&) noexcept;

  /// Runs the whole grid. `arguments` points to the values of the parameters, as for cuLaunchKernel; pointer values are
  /// host addresses inside `buffers`. After a fault the contents of writable buffers are undefined.
  Report run(void** arguments, std::span<const Buffer> buffers, const Options& options = {});

  /// The launch that `run` uses. Grid, block and bounds may be changed by a caller; the text is compiled already.
  Launch& launch() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Compiles and runs once.
Report run(const Launch& launch, void** arguments, std::span<const Buffer> buffers, const Options& options = {});

}  // namespace ricci::simt
