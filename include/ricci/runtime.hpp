// The object that ties parser, planner, compilers, cache and devices together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/plan.hpp"
#include "ricci/tensor.hpp"

namespace ricci {
inline namespace v1 {

class Program;

/// Runs body(i) for i in [0, tasks), on the caller's threads (OpenMP, TBB, ...), returning when all are done.
/// `body` does not throw.
using Executor = std::function<void(int tasks, const std::function<void(int)>& body)>;

struct RuntimeOptions {
  std::string cache_dir;  ///< empty: RICCI_CACHE_DIR, $XDG_CACHE_HOME/ricci, $HOME/.cache/ricci; "off": memory only
  int threads = 0;        ///< CPU threads; 0: RICCI_THREADS, else those the process may run on
  bool pin_threads =
      false;          ///< each of Ricci's own threads stays on one processor of the affinity mask; also RICCI_PIN
  Executor executor;  ///< empty: Ricci's own thread pool
  /// A shared library of matrix products that CPU plans may call where that is predicted, or measured, to take less
  /// time than a generated kernel: the path of an OpenBLAS, a BLIS, an MKL. Empty: RICCI_BLAS; "off": none. DeviceError
  /// where it cannot be opened or has no C interface. What such a library adds up, it may add up in another order with
  /// another number of threads (docs/blas.md).
  std::string blas;
  /// The same for GPU plans: the path of a cuBLAS 11 to 13 (libcublas.so.13). Empty: RICCI_CUBLAS; "off": none.
  std::string cublas;
  /// GPU plans of so many kernels or more, none of them a library's, are launched as one CUDA graph from the second
  /// call of a stream on; 0: never; -1: RICCI_GRAPH_KERNELS, else 2. Needs a driver of CUDA 12, without which it
  /// changes nothing. A call that is being captured launches its kernels, so that they are part of the caller's graph.
  int graph_kernels = -1;
};

/// How the schedules of a plan are chosen. The choice changes no result, except for the rounding of floating-point
/// sums.
enum class PlanMode {
  estimate,   ///< the stored winner for the problem on this kind of device, else the best by the model
  measure,    ///< the same, but problems without a stored winner are measured now; the winner is stored
  remeasure,  ///< measured now, and the winner stored, even if there was one
  model,      ///< the best by the model, whatever is stored: reproducible on machines of one kind
};

/// What the model takes a GPU for that is not there; 0: what is usual for its compute capability.
struct TargetLimits {
  double copy_GBs = 0;  ///< read + write rate of a large copy
  int multiprocessors = 0;
  double clock_MHz = 0;  ///< of the multiprocessors
};

/// The device of a plan, and the choice of its schedules.
struct PlanOptions {
  Device device = Device::cpu;
  int gpu = -1;       ///< ordinal; -1: the calling thread's current device
  int target_sm = 0;  ///< GPU: make kernels for this compute capability (90) without a device; they cannot run
  TargetLimits target_limits = {};  ///< of that device; one that is there says itself what it is (PlanError)
  std::string schedule;  ///< empty: chosen by the model; else a candidate's name from Plan::explain(), for every kernel
                         ///< of the plan that has it (PlanError when none has), directives for the contractions
                         ///< among them, or a schedule's text (docs/schedules.md)
  int threads = 0;       ///< CPU: at most this many threads; 0: the runtime's
  /// `measure` compiles the best candidates by the model and times them on the device, in memory of its own as large as
  /// the tensors (DeviceError where there is none; PlanError with target_sm): seconds where a plan takes milliseconds.
  /// Of kernels whose schedule is named nothing is measured.
  PlanMode mode = PlanMode::estimate;
  Precision precision = Precision::operands;  ///< of products and sums; part of the keys of kernels and tunings
  int measured = 24;                          ///< candidates of each kernel that are timed, at most; at least 1
  /// Bytes of workspace that a call may need; -1: any. Kernels that hand on more run in slices, block by block of an
  /// index (docs/programs.md), or an einsum of several products computes some of them again inside the loops of others;
  /// what cannot be made to fit is a PlanError that says how much it needs.
  std::int64_t workspace_limit = -1;
};

/// Factors and addend of `D = alpha * ... + beta * op(C)`.
struct UpdateOptions : PlanOptions {
  Scalar alpha = 1, beta = 0;
  /// Layout of C, which has D's shape and any strides; a call takes it as the last of its inputs, apart from D. Empty:
  /// C is what D holds before the call. PlanError with beta = 0.
  std::optional<Layout> addend;
  bool conjugate_addend = false;  ///< op(C) = conj(C), with an addend or without; without effect on real types
};

/// Options of a permutation.
struct PermuteOptions : UpdateOptions {
  bool conjugate = false;  ///< op(A) = conj(A); allowed and without effect on real types
};

/// Options of an einsum.
struct EinsumOptions : UpdateOptions {
  std::vector<bool> conjugate;  ///< op(X) = conj(X), per operand; empty: of none; without effect on real types
  /// With more than two operands, the criterion for the order of products: the least time that the device's rates of
  /// arithmetic and memory and the start of each kernel allow, fewest operations, or fewest bytes of intermediates.
  enum class Path { time, flops, memory } path = Path::time;
  /// Operands that stay the same from call to call, per operand; empty: none. They are given to Plan::pack() once, and
  /// a call takes the others alone: what depends on constants only is computed once, the rest of them is copied into
  /// the order (and on a CPU the type) in which kernels read without packing. PlanError if all are.
  std::vector<bool> constant;
};

/// What the kernel cache of one runtime has done since it was made.
struct CacheStatistics {
  std::uint64_t memory_hits = 0, disk_hits = 0, misses = 0;
  std::uint64_t made = 0;     ///< kernels compiled, measurements and choices made
  std::uint64_t stored = 0;   ///< entries that reached the disk
  std::uint64_t damaged = 0;  ///< files that were refused by their content
};

/// Thread-safe. Plans outlive the runtime that made them.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// The process-wide runtime with default options, made on first use.
  static Runtime& global();

  /// Plans `B = alpha * op(A)[perm] + beta * B` for one spec such as "abc->cab", or with UpdateOptions::addend + beta *
  /// op(C) in the place of the old B.
  ///
  ///   input   layout of A; rank 0 to 32, extents from 0, any strides (negative and 0 too)
  ///   output  layout of B; extents must be A's, permuted; strides non-zero and without overlap. Types: equal, or any
  ///           two of f16, bf16, f32, f64, or c64 and c128, or a real floating type into a complex one
  ///   throws  SpecError, ShapeError, PlanError, CompileError; DeviceError when a GPU is asked for and there is none
  Plan plan_permute(std::string_view spec, const Layout& input, const Layout& output,
                    const PermuteOptions& options = {});
  /// The same into a new row-major tensor of A's type (see Plan::output_layout).
  Plan plan_permute(std::string_view spec, const Layout& input, const PermuteOptions& options = {});

  /// Evaluates the program of such a plan plainly on the host: the oracle of every test and of `--verify`.
  /// Host pointers. Slow (about 10 million elements a second). With an addend: interpret_einsum().
  static void interpret_permute(std::string_view spec, const Layout& input, const Layout& output, const void* a,
                                void* b, Scalar alpha = 1, Scalar beta = 0, bool conjugate = false);

  /// Plans `C = alpha * sum(op(A) * op(B) * ...) + beta * C` for a spec such as "ab,bc->ac": the products of all
  /// operands' elements, summed over the axes that the output leaves out. An axis may occur in any number of operands,
  /// and twice in one (its diagonal); "..." stands for the axes that are left, broadcast as in NumPy.
  ///
  ///   inputs  layouts of the operands, any strides; one per operand of the spec
  ///   output  layout of C; strides non-zero and without overlap. Real operands may meet complex ones, and floats of
  ///           all widths each other; integers only integers
  ///   throws  SpecError, ShapeError, PlanError, CompileError; DeviceError when a GPU is asked for and there is none
  ///
  /// A call takes one output and as many inputs as operands, and the addend behind them where there is one. Three
  /// operands and more are multiplied pair by pair through a workspace, PlanInfo::workspace_bytes, in an order that is
  /// found by dynamic programming up to 8 operands and greedily beyond. Half types are summed in f32.
  Plan plan_einsum(std::string_view spec, std::span<const Layout> inputs, const Layout& output,
                   const EinsumOptions& options = {});
  /// The same into a new row-major tensor, einsum_output().
  Plan plan_einsum(std::string_view spec, std::span<const Layout> inputs, const EinsumOptions& options = {});

  /// Evaluates an einsum plainly on the host, in one nest of loops over all axes: the oracle. Host pointers, `from` as
  /// a call's inputs. In the options' precision, but for tf32, which this computes in f32.
  static void interpret_einsum(std::string_view spec, std::span<const Layout> inputs, const Layout& output,
                               std::span<const void* const> from, void* to, const EinsumOptions& options = {});

  /// Plans the statements of a program. A call takes one pointer for each array that the program writes and one for
  /// each that it only reads, in the order of declaration (a tensor of component pointers has one array per stored
  /// component; Plan::outputs() and Plan::inputs() list them), and a value for each parameter. An `inout` tensor is an
  /// output.
  ///
  ///   throws  ShapeError where an extent is open or a layout impossible, SpecError where a value is read that nothing
  ///           has written, PlanError, CompileError; DeviceError when a GPU is asked for and there is none
  Plan plan_program(const Program& program, const PlanOptions& options = {});

  /// Evaluates a program plainly on the host: the oracle. Host pointers; outputs, inputs and parameters as such a plan
  /// takes them. In the precision of one, but for tf32, which this computes in f32.
  static void interpret_program(const Program& program, std::span<void* const> outputs,
                                std::span<const void* const> inputs, std::span<const Scalar> params = {});
  static void interpret_program(const Program& program, std::span<void* const> outputs,
                                std::span<const void* const> inputs, std::span<const Scalar> params,
                                Precision precision);

  /// Measures what the device's memory does (copies with one thread and more), and a CPU's multiply-adds and pages, and
  /// keeps it beside the tuning store, for the model of every later plan on this kind of device. A second or two; what
  /// was measured before is replaced. Plans that measure do it by themselves where nothing is kept. Throws DeviceError,
  /// PlanError with target_sm.
  void measure_device(const PlanOptions& options = {});

  CacheStatistics cache_statistics() const noexcept;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The result of an einsum as NumPy would make it: row-major, of the type that holds every operand's values (c64 for
/// c64 and f32, f32 for f16 with bf16, the wider of two integers). Throws as plan_einsum does.
Layout einsum_output(std::string_view spec, std::span<const Layout> inputs);

/// The order of the products of an einsum, as a table: what each step computes and what it costs.
std::string explain_path(std::string_view spec, std::span<const Layout> inputs, const EinsumOptions& options = {});

/// One call: plans (or finds the plan made earlier in this process) and runs on Runtime::global(). Without addends, but
/// for einsum(), whose `from` then ends in it.
void permute(std::string_view spec, const Layout& input, const void* a, const Layout& output, void* b,
             const PermuteOptions& options = {});

void einsum(std::string_view spec, std::span<const Layout> inputs, std::span<const void* const> from,
            const Layout& output, void* to, const EinsumOptions& options = {});
/// The same for two operands: C = alpha * sum(op(A) * op(B)) + beta * C.
void contract(std::string_view spec, const Layout& a_layout, const void* a, const Layout& b_layout, const void* b,
              const Layout& c_layout, void* c, const EinsumOptions& options = {});

/// The compilers, driver, devices, processor and cache that this process finds. For `ricci doctor`.
struct DoctorLine {
  enum class State { ok, missing, broken } state = State::ok;
  std::string subject;  ///< "clang", "nvrtc", "driver", "device 0", "cpu", "cache"
  std::string text;     ///< what was found, or what is missing and how to get it
};
std::vector<DoctorLine> doctor();

}  // namespace v1
}  // namespace ricci
