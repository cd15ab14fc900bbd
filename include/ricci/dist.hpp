// Tensors and contractions over several machines: tiles of tensors on the ranks of an MPI program, tasks by StarPU-MPI.
// Library ricci::dist, in builds that found StarPU-MPI; docs/dist.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ricci/plan.hpp"
#include "ricci/tensor.hpp"

namespace ricci::inline v1 {
class Program;
}

namespace ricci::inline v1::dist {

/// How an engine is started. Calls that say "collective" are made by all ranks, in the same order with the same
/// arguments; what they throw, all ranks throw.
struct EngineOptions {
  const void* comm = nullptr;  ///< address of the MPI_Comm of all ranks that take part; null: MPI_COMM_WORLD
  int workers = 0;             ///< CPU threads of this rank; 0: StarPU's choice. STARPU_NCPU goes before both
  /// A plan's call waits while so many of this rank's tasks are unfinished, which bounds the memory of tiles that are
  /// received ahead; 0: it never waits.
  int window = 0;
  double network_GBs = 10;  ///< what a rank receives in a second, for predicted times alone
};

/// One tile of a tensor: a box of its elements, row-major.
struct Tile {
  std::vector<std::int64_t> index;    ///< which tile, along each axis
  std::vector<std::int64_t> first;    ///< its first element, in the tensor
  std::vector<std::int64_t> extents;  ///< smaller than the tensor's tiles where an axis ends
};

/// Which ranks have which tiles: along dimension d of the grid they are dealt in turns by the numbers of tiles along
/// axes[d], taken together in row-major order.
struct Distribution {
  std::vector<int> grid;
  int replicas = 1;
  std::vector<std::vector<int>> axes;
};

/// Ranks as a grid, the last dimension fastest, as many times as there are replicas. A tensor has each of its tiles
/// once, the tiles of one place of the grid dealt over the replicas. A contraction may split its sum over them, and add
/// up.
struct Grid {
  std::vector<int> extents;
  int replicas = 1;

  /// Block-cyclic: the axes of a tensor that each dimension of the grid divides. Axes that none names are not divided.
  Distribution cyclic(std::vector<std::vector<int>> axes) const { return {extents, replicas, std::move(axes)}; }
};

struct GridOptions {
  int replicas = 1;
};

/// A tensor in tiles. A handle: copies are the same tensor, which lives as long as one of them or a plan that uses it.
class Tensor {
 public:
  DType dtype() const noexcept;
  const std::vector<std::int64_t>& extents() const noexcept;
  const std::vector<std::int64_t>& tiles() const noexcept;  ///< extents of a tile, but for the last of an axis
  std::int64_t tile_count() const noexcept;
  Tile tile(std::int64_t number) const;       ///< in row-major order of their indices
  int owner(std::int64_t number) const;       ///< the rank that has the tile
  std::int64_t local_bytes() const noexcept;  ///< of this rank's tiles

  /// Collective: each tile by its owner, on StarPU's threads, several at once. Returns when this rank's are filled.
  /// What `function` throws on some rank, an Error of the same type is thrown on all.
  void fill(const std::function<void(const Tile&, void*)>& function);
  /// Collective: a box of elements, row-major, to the memory of rank `root`; the others' pointer is not used. Waits for
  /// what was submitted before.
  void read(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& extents, void* to, int root = 0);
  /// Collective: the same from the memory of rank `root`.
  void write(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& extents, const void* from,
             int root = 0);
  /// Collective: the whole tensor.
  void gather(void* to, int root = 0);
  /// The starpu_data_handle_t of a tile, registered with StarPU-MPI, for a StarPU program's own tasks.
  void* handle(std::int64_t number);

  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
  Impl& impl() const noexcept { return *impl_; }  ///< for Ricci's own programs: no part of the interface
  const std::shared_ptr<Impl>& share() const noexcept { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// Which tensor of a contraction stays where it is, while the others' tiles travel.
enum class Stationary { fewest_bytes, output, first, second };

struct EinsumOptions {
  Scalar alpha = 1, beta = 0;   ///< C = alpha * sum(op(A) * op(B)) + beta * C
  std::vector<bool> conjugate;  ///< per operand; empty: of none
  Precision precision = Precision::operands;
  Stationary stationary = Stationary::fewest_bytes;
};

struct PermuteOptions {
  Scalar alpha = 1, beta = 0;  ///< B = alpha * op(A)[perm] + beta * B
  bool conjugate = false;
};

/// What one call of a plan does, over all ranks.
struct PlanInfo {
  std::string stationary;              ///< "C", "A", "B", or "C, 2 replicas"; empty for a plan without a choice
  std::int64_t tasks = 0;              ///< of all ranks
  std::int64_t submitted = 0;          ///< tasks and transfers that this rank submits
  int kernels = 0;                     ///< one for each class of tile shapes
  std::vector<std::int64_t> received;  ///< bytes that each rank receives
  double flops = 0;
  double seconds = 0;  ///< predicted: the slowest rank's arithmetic or what it receives, whichever takes longer
};

/// Decided and compiled on all ranks. A handle, as tensors are.
class Plan {
 public:
  /// Collective: submits this rank's tasks and returns. What is submitted later sees the results.
  void operator()() const;
  const PlanInfo& info() const noexcept;
  std::string explain() const;

  struct Impl;
  explicit Plan(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// Which tile of a tensor an input of a program over blocks is: a name for each axis. Along those of the tuples the
/// tile is the tuple's, along all others there is one tile.
struct BlockInput {
  std::string name;  ///< of the program's input
  Tensor tensor;
  std::string indices;  ///< "a i d": names with spaces between
};

/// A program for each tuple of blocks, on some rank each. A handle, as plans are.
class BlockPlan : public Plan {
 public:
  /// Collective: runs it, waits, and gives the sum over all tuples of each output of the program, on all ranks. The
  /// same bits on any number of ranks.
  std::vector<double> reduce() const;

  struct Sums;
  BlockPlan(Plan plan, std::shared_ptr<const Sums> sums) noexcept : Plan(std::move(plan)), sums_(std::move(sums)) {}

 private:
  std::shared_ptr<const Sums> sums_;
};

/// StarPU and MPI of this process: started, and ended with the last engine, tensor or plan; or joined where the program
/// runs StarPU and StarPU-MPI already. One at a time. MPI has to be initialised for MPI_THREAD_MULTIPLE, if it is.
class Engine {
 public:
  /// Collective. Throws PlanError for an MPI without threads, a communicator that leaves ranks out while StarPU does
  /// not run yet, or a second engine; DeviceError where StarPU does not start.
  explicit Engine(const EngineOptions& options = {});

  int rank() const noexcept;
  int size() const noexcept;

  /// Checked where a tensor is made. One extent may be 0: as many as there are ranks for it.
  Grid grid(std::vector<int> extents, GridOptions options = {}) const;

  /// Collective: a new tensor, its elements undefined.
  ///   extents  from 1
  ///   tiles    extents of a tile: one for all axes, or one each; the last tile of an axis has what is left
  ///   throws   ShapeError
  Tensor tensor(DType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> tiles,
                const Distribution& distribution);
  Tensor tensor_like(const Tensor& tensor);  ///< collective

  /// Collective: a contraction of two tensors, with any axes as Runtime::plan_einsum takes them. An axis has tiles of
  /// one extent in all tensors. Sums are added up in one order for a grid and a stationary tensor, in the type of C.
  /// Throws as Runtime::plan_einsum does, and ShapeError where tiles differ.
  Plan plan_einsum(std::string_view spec, const std::vector<Tensor>& inputs, const Tensor& output,
                   const EinsumOptions& options = {});
  /// Collective: B = alpha * op(A)[perm] + beta * B between any tiles and grids. Throws as Runtime::plan_permute does.
  Plan plan_permute(std::string_view spec, const Tensor& input, const Tensor& output,
                    const PermuteOptions& options = {});

  /// Collective: a program for each tuple of blocks, energies of triples for one.
  ///   program  its indices of the tuples open; inputs as `inputs` says, each output one number in f64, no parameters
  ///   tuples   "a >= b >= c": the blocks of a, b and c in that order. What the program gives is to be the same for any
  ///   order,
  ///            and counts as often as there are different ones. "a, b" is all blocks of both; ">" leaves out equal
  ///            ones
  /// Tuples go to ranks beforehand, the largest by arithmetic first, to one with the least to do; of several to the one
  /// that has most of their tiles. Throws SpecError, ShapeError and PlanError, and what Runtime::plan_program throws.
  BlockPlan plan_blocks(const Program& program, std::string_view tuples, const std::vector<BlockInput>& inputs);

  /// Collective: until all that was submitted is done, on all ranks. Throws what a task has thrown.
  void wait();

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

/// A plan of Ricci as a codelet of an existing StarPU program: its buffers are the plan's outputs, then its inputs,
/// each contiguous. CPUs only: a plan for a GPU, or with more arrays than a task has buffers, is a PlanError. A call
/// that fails ends the program. Make plans with one thread (PlanOptions::threads), as StarPU's workers are.
class Codelet {
 public:
  /// overwrites: the plan gives each output all of its elements without reading it, so that buffers may be without any.
  explicit Codelet(const ricci::Plan& plan, bool overwrites = false);
  void* get() const noexcept;  ///< a starpu_codelet*, valid as long as a copy of this

 private:
  std::shared_ptr<void> impl_;
};

}  // namespace ricci::inline v1::dist
