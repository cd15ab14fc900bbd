// A plan: one problem, decided and compiled, ready to run any number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci {
inline namespace v1 {

/// The kind of device that a plan runs on.
enum class Device { cpu, gpu };
const char* name(Device device) noexcept;  ///< "cpu", "gpu"

/// Constant operands of a plan, rewritten once as its kernels read them best. Immutable, cheap to copy, for any number
/// of calls at once; keeps its memory.
class Packed {
 public:
  std::int64_t bytes() const noexcept;

  struct Impl;
  explicit Packed(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  const Impl& impl() const noexcept { return *impl_; }  ///< for Ricci's own programs: no part of the interface

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Arguments of one execution of a plan besides its tensors.
struct Call {
  /// Factors of a permutation or an einsum, `B = alpha * ... + beta * B`; left out: those the plan was made with. A
  /// plan made with alpha = 1 (or beta = 0) has no multiplication (no read of B) in its kernel and refuses other values
  /// with PlanError. As in BLAS a factor 0 means that its operand is ignored, even if it holds NaN.
  std::optional<Scalar> alpha, beta;
  /// GPU: the caller's CUstream / cudaStream_t; null is the default stream. The call returns before the kernels end.
  void* stream = nullptr;
  /// Programs: one value for each parameter, in the order of Plan::params().
  std::span<const Scalar> params = {};
  /// Memory for intermediate results: PlanInfo::workspace_bytes, aligned to 256 bytes, on the plan's device, undefined
  /// before and after the call. Null: the call's own, of memory that the calling thread keeps for its next calls, on a
  /// GPU from a pool in the order of the stream; of larger ones 1 GiB is kept.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  /// CPU plans: called while the call works, between tiles about every hundredth of a second and once at the end, with
  /// the share that is done, 0 to 1. On any of the threads that work, on one at a time. What it throws ends the call at
  /// the next tiles, is thrown by it, and leaves what it writes undefined. Empty: nothing is told.
  std::function<void(double share)> progress = {};
  /// What Plan::pack() of this plan has made; null for a plan without constant operands.
  const Packed* packed = nullptr;
};

/// Of calls that say nothing beside their tensors: made once, as making one takes as long as a small kernel.
inline const Call kPlainCall = {};

/// Statistics of a plan, for logs, benches and `explain`.
struct PlanInfo {
  int steps = 0;         ///< kernels that a call runs, one after the other; 0 when there is nothing to run
  std::string kernel;    ///< names of the generated functions and of a library's, "; " between them
  std::string schedule;  ///< family, tile, threads, accesses of each, "; " between them
  std::string choice;    ///< why that schedule, of each: "estimated", "named", "tuned" (measured some time ago) or
                         ///< "measured"; empty when there is nothing to run
  std::string origin;    ///< "memory", "disk" or "compiled"; "library" where no kernel is generated; "none" when there
                         ///< is nothing to run
  double plan_ms = 0;    ///< choice of the schedule
  double generate_ms = 0;                                ///< source text; 0 on a hit
  double compile_ms = 0;                                 ///< compiler; 0 on a hit
  double load_ms = 0;                                    ///< code made executable
  double measure_ms = 0;                                 ///< candidates compiled and timed; 0 unless one is "measured"
  int registers = 0, spill_bytes = 0, shared_bytes = 0;  ///< GPU kernels, from the compiler
  /// Compulsory traffic: each input element that is used read once, each output element written once, and read once
  /// where its old value is used. Workspace does not count.
  std::int64_t compulsory_bytes = 0;
  std::int64_t workspace_bytes = 0;
  std::int64_t packed_bytes = 0;  ///< what Plan::pack() makes for the constant operands
  /// Additions, multiplications, divisions and functions of real floating numbers, each 1 (a complex product is 6);
  /// what does not depend on an index is done once for all its values.
  double flops = 0;
};

/// One pointer that a call takes, or one parameter.
struct Argument {
  std::string name;
  DType type = DType::f64;
  /// Elements that are read or written lie in [first, last], counted from the pointer; none where last < first.
  /// Parameters have none.
  std::int64_t first = 0, last = -1;
};

/// One schedule that the planner considered.
struct CandidateInfo {
  std::string name;         ///< what PermuteOptions::schedule takes
  double predicted_us = 0;  ///< by the model
  int step = 0;             ///< of the kernels that a call runs, from 0
  bool written = false;     ///< given as a text in the options, not proposed: listed last
  double measured_us = 0;   ///< where it was timed on this kind of device
  bool chosen = false;
};

/// Immutable and cheap to copy; safe to execute from any number of threads at once. Keeps its kernels loaded.
class Plan {
 public:
  /// Runs the plan: one pointer for each of outputs() and inputs(), in their order. A pointer is to element (0, 0, ...)
  /// of its layout; an output whose old value is used is not counted as an input as well. Parses, hashes and looks up
  /// nothing; allocates nothing but a workspace that is needed, not given and not kept from an earlier call, and the
  /// list of more than 1,024 tensors. CPU plans return when the results are written.
  ///
  /// GPU plans launch on the stream, in the context that is current, and may be captured into a CUDA graph: nothing is
  /// waited for, and nothing allocated if the workspace is given (without, its allocation is captured too). The tensors
  /// may lie on any device of the plan's compute capability, all on one, which is to be the current one; the first call
  /// on a device that the plan was not made for loads its kernels there, see load(). Plans of several kernels are
  /// launched as one graph of their own (RuntimeOptions::graph_kernels), which a stream's second call makes: that one
  /// call allocates, and takes some tens of microseconds. Calls on one stream run in their order, as they do without.
  ///
  /// Throws, before anything is written: ShapeError when an output overlaps another pointer's elements, when a pointer
  /// is null or breaks the promised alignment, when counts differ; PlanError for factors or parameters that the plan
  /// was not made for; DeviceError for a pointer that the plan's device cannot reach. A launch that fails is a
  /// DeviceError too.
  void operator()(std::span<void* const> outputs, std::span<const void* const> inputs,
                  const Call& call = kPlainCall) const;
  /// The same for arrays, which would otherwise decay to the pointers of the next one.
  template <std::size_t Outputs, std::size_t Inputs>
  void operator()(void* const (&outputs)[Outputs], const void* const (&inputs)[Inputs],
                  const Call& call = kPlainCall) const {
    operator()(std::span<void* const>(outputs), std::span<const void* const>(inputs), call);
  }
  /// The same for plans of one output and one input, as permutations are.
  void operator()(void* output, const void* input, const Call& call = kPlainCall) const {
    operator()(std::span<void* const>(&output, 1), std::span<const void* const>(&input, 1), call);
  }

  /// Packs the operands that EinsumOptions::constant names: one pointer for each of constants(), in their order. The
  /// tensors are not needed any more when it is done, on a GPU in the order of the stream, which calls have to follow.
  /// Allocates PlanInfo::packed_bytes on the tensors' device, so it is not to be captured. Throws as a call does, and
  /// PlanError for a plan without constants.
  Packed pack(std::span<const void* const> constants, void* stream = nullptr) const;
  /// Loads the kernels of a GPU plan on another device of its compute capability ahead of the first call there, which
  /// otherwise does it: to be done before a capture. DeviceError for a device that is not there or of another kind.
  void load(int gpu) const;

  Device device() const noexcept;
  const PlanInfo& info() const noexcept;
  std::span<const Argument> outputs() const noexcept;    ///< what a call writes
  std::span<const Argument> inputs() const noexcept;     ///< what a call reads alone
  std::span<const Argument> params() const noexcept;     ///< what Call::params has values for
  std::span<const Argument> constants() const noexcept;  ///< what pack() takes
  const Layout& output_layout() const noexcept;          ///< of a permutation or an einsum; rank 0 for a program

  // Texts of all kernels, with a heading for each where there are several.
  const std::string& source() const;              ///< generated text, as compiled
  std::string program() const;                    ///< the canonical programs, in text form
  std::string passes() const;                     ///< the programs after each pass
  std::string kernel() const;                     ///< schedules and, of those by directives, loop trees
  std::string explain() const;                    ///< every candidate with predicted traffic, and why one was taken
  std::vector<CandidateInfo> candidates() const;  ///< best prediction of each kernel first
  std::string assembly() const;                   ///< CPU assembly or SASS; empty where no tool can print it
  std::string key() const;                        ///< the cache keys: everything that determines the kernels
  std::string cache_path() const;  ///< files of the stored kernels, a line each; without those not on disk

  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  const Impl& impl() const noexcept { return *impl_; }  ///< for Ricci's own programs: no part of the interface

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace v1
}  // namespace ricci
