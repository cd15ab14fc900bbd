// The state of a Runtime, and the planning of sequences.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cache/store.hpp"
#include "runtime/measure.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci {
inline namespace v1 {

struct __attribute__((visibility("hidden"))) Runtime::Impl {
  explicit Impl(RuntimeOptions given);

  /// The thread pool with this many threads, made when a plan first needs it.
  std::shared_ptr<runtime::ThreadPool> pool(int size);

  /// The loaded kernel of a key, shared by all plans of the process. `shared`: it was already loaded.
  std::shared_ptr<const runtime::LoadedKernel> kernel(const std::string& key, const ir::Program& program,
                                                      const kernel::Schedule& schedule, const runtime::Target& target,
                                                      const runtime::MakeNotes& notes, bool* shared);

  /// The subject of a plan.
  struct Subject {
    ir::Sequence sequence;
    std::vector<std::string> labels;  ///< of the storages in messages; empty: role and name
    std::optional<Factors> factors;   ///< values of the parameters "alpha" and "beta"
    Layout output_layout;
    /// What packs constant operands, and the storages of the sequence that its outputs are.
    std::optional<Plan> packing = {};
    std::vector<int> kept = {};
    std::function<std::string()> orders = {};  ///< of its products, as `explain` prints them; or none
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };
  Plan plan(Subject subject, const PlanOptions& options);

  /// Measured properties of a target's device, or null. `if_there`: only what is stored; `now`: measure where nothing
  /// is stored; `anew`: measure again.
  enum class Need { if_there, now, anew };
  std::shared_ptr<const plan::MeasuredMemory> measured_memory(const runtime::Target& target, Need need);

  /// The library that plans for a device may call, or null.
  const std::shared_ptr<const runtime::ProductLibrary>& library(Device device) const noexcept {
    return device == Device::cpu ? blas : cublas;
  }
  /// What the BLAS does with that many threads: from the store, or measured now.
  plan::LibraryModel blas_model(const runtime::Target& target, int threads);

  /// Of a CPU, for a plan with these options.
  int threads_of(const PlanOptions& wanted) const {
    return std::max(1, std::min(wanted.threads > 0 ? wanted.threads : threads, threads));
  }

  RuntimeOptions options;
  int threads, graph_kernels;
  bool pinned;  ///< threads of the pools
  cache::Store store;
  std::shared_ptr<const runtime::ProductLibrary> blas, cublas;  ///< or null

 private:
  /// Plans step `number` of the plan's sequence; the number of the next one, which is not the next number where the
  /// schedule has made several steps of it.
  int plan_step(Plan::Impl& plan, int number, const PlanOptions& options, bool* scheduled);

  /// Chooses a step's schedule.
  ///   scheduled  set when the step knows the schedule named in the options
  ///   last       whether this is the last step
  void choose(Plan::Impl& plan, Plan::Impl::Step& step, const PlanOptions& options, bool last, bool* scheduled);
  /// The model's choice for a step, as it is stored beside the kernels; a new one is marked, for load_chosen() to
  /// store.
  kernel::Schedule best(const Plan::Impl& plan, Plan::Impl::Step& step);
  /// Compiles and times the best candidates by the model and stores the result under the key; takes a result that
  /// another process stored meanwhile.
  void measure(Plan::Impl& plan, Plan::Impl::Step& step, const PlanOptions& options, const std::string& key);
  /// Sets what follows from a step's schedule: its executor. PlanError for a library's product where there is no
  /// library.
  void prepare(Plan::Impl& plan, Plan::Impl::Step& step);
  /// Gives a plan the threads that some of these steps, which are loaded, run on.
  void find_pool(Plan::Impl& plan, std::span<const Plan::Impl::Step> steps);
  /// The prepared steps that a step's schedule makes of it, with a sequence of their own.
  runtime::Entrant parts_of(Plan::Impl& plan, const Plan::Impl::Step& step);
  /// Finds or compiles the kernels of all prepared steps, several at a time, and adds their times to the plan's info.
  /// load(), and where that compiled a kernel of the model's choice that spills registers, the next candidates'
  /// instead, as long as one of a few spills less. Stores a choice that is new.
  bool load_chosen(Plan::Impl& plan, Plan::Impl::Step& step);
  void load_steps(Plan::Impl& plan);
  /// Finds or compiles the kernel of a prepared step, and says how it is launched. True where a plan of this process
  /// has it loaded.
  bool load(const Plan::Impl& plan, Plan::Impl::Step& step);

  std::mutex mutex_;
  std::map<int, std::shared_ptr<runtime::ThreadPool>> pools_;  ///< by their threads
  std::map<std::string, std::weak_ptr<const runtime::LoadedKernel>> kernels_;
  struct KnownMemory {
    bool looked = false;
    std::shared_ptr<const plan::MeasuredMemory> memory;
  };
  std::mutex measured_mutex_;
  std::map<int, KnownMemory> measured_;            ///< by ordinal; -1: the CPU
  std::map<int, plan::LibraryModel> blas_models_;  ///< by threads
  std::size_t sweep_at_ = 64;                      ///< table size at which expired entries are removed
};

}  // namespace v1

namespace runtime {

/// The reproduction command of the kernel of a canonical program.
std::string reproduction_command(const ir::Program& program, const kernel::Schedule& schedule, const Target& target);

/// CPU kernels use unaligned accesses: a promise would only split the cache and refuse calls.
void drop_alignments(ir::Program& program);
void drop_alignments(ir::Sequence& sequence);

/// Throws DeviceError when a GPU is asked for and there is none.
Target target_of(const PlanOptions& options);

/// Runs the interpreter with a workspace of its own. outputs and inputs as Plan's; host pointers.
void interpret(const ir::Sequence& sequence, std::span<void* const> outputs, std::span<const void* const> inputs,
               const std::vector<Scalar>& params);

}  // namespace runtime
}  // namespace ricci
