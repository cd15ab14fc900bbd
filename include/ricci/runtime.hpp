// The object that ties parser, planner, compilers, cache and devices together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/plan.hpp"
#include "ricci/tensor.hpp"

namespace ricci {
inline namespace v1 {

/// Runs body(i) for i in [0, tasks), on the caller's threads (OpenMP, TBB, ...), returning when all are done.
/// `body` does not throw.
using Executor = std::function<void(int tasks, const std::function<void(int)>& body)>;

struct RuntimeOptions {
  std::string cache_dir;  ///< empty: RICCI_CACHE_DIR, $XDG_CACHE_HOME/ricci, $HOME/.cache/ricci; "off": memory only
  int threads = 0;        ///< CPU threads; 0: RICCI_THREADS, else those the process may run on
  Executor executor;      ///< empty: Ricci's own thread pool
};

/// Where a plan is to run, and how it is made.
struct PlanOptions {
  Device device = Device::cpu;
  int gpu = -1;          ///< ordinal; -1: the calling thread's current device
  int target_sm = 0;     ///< GPU: make kernels for this compute capability (90) without a device; they cannot run
  std::string schedule;  ///< empty: chosen by the model; else a candidate's name from Plan::explain(), for every kernel
                         ///< of the plan that has it (PlanError when none has)
  int threads = 0;       ///< CPU: at most this many threads; 0: the runtime's
};

/// What to permute and where.
struct PermuteOptions : PlanOptions {
  Scalar alpha = 1, beta = 0;
  bool conjugate = false;  ///< op(A) = conj(A); allowed and without effect on real types
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

  /// Plans `B = alpha * op(A)[perm] + beta * B` for one spec such as "abc->cab".
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
  /// Host pointers. Slow (about 10 million elements a second).
  static void interpret_permute(std::string_view spec, const Layout& input, const Layout& output, const void* a,
                                void* b, Scalar alpha = 1, Scalar beta = 0, bool conjugate = false);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// One call: plans (or finds the plan made earlier in this process) and runs on Runtime::global().
void permute(std::string_view spec, const Layout& input, const void* a, const Layout& output, void* b,
             const PermuteOptions& options = {});

/// What this process found: compilers, driver, devices, processor, cache. For `ricci doctor`.
struct DoctorLine {
  enum class State { ok, missing, broken } state = State::ok;
  std::string subject;  ///< "clang", "nvrtc", "driver", "device 0", "cpu", "cache"
  std::string text;     ///< what was found, or what is missing and how to get it
};
std::vector<DoctorLine> doctor();

}  // namespace v1
}  // namespace ricci
