// What a Runtime holds, and how it turns a sequence into a plan.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cache/store.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci {
inline namespace v1 {

struct Runtime::Impl {
  explicit Impl(RuntimeOptions given);

  /// Of so many threads, made when a plan first needs it: a plan never runs on more threads than it asks for.
  std::shared_ptr<runtime::ThreadPool> pool(int size);

  /// Plans that share a canonical form share loaded code as long as one of them lives. `shared`: it was there.
  std::shared_ptr<const runtime::Kernel> kernel(const std::string& key, const ir::Program& program,
                                                const ir::Schedule& schedule, const runtime::Target& target,
                                                const runtime::MakeNotes& notes, bool* shared);

  /// What a plan is of.
  struct Subject {
    ir::Sequence sequence;
    std::vector<std::string> labels;  ///< of the slots in messages; empty: role and name
    std::optional<Factors> factors;   ///< values of the parameters "alpha" and "beta"
    Layout output_layout;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };
  Plan plan(Subject subject, const PlanOptions& options);

  /// What was measured of a target's device, or null: what is kept, looked for once; measured where nothing is; or
  /// measured again. Nothing where there is no device.
  enum class Need { if_there, now, anew };
  std::shared_ptr<const plan::MeasuredFigures> figures(const runtime::Target& target, Need need);

  RuntimeOptions options;
  int threads;
  cache::Store store;

 private:
  void plan_step(Plan::Impl& plan, int number, const PlanOptions& options, bool* scheduled);

  /// Chooses a step's schedule.
  ///   scheduled  whether any step so far has a schedule of the name in the options; last: no step follows
  void choose(Plan::Impl& plan, Plan::Impl::Step& step, const PlanOptions& options, bool last, bool* scheduled);
  /// The model's choice for a step: searched for once, and kept beside the kernels.
  ir::Schedule best(const Plan::Impl& plan, const Plan::Impl::Step& step);
  /// Compiles and times the best candidates by the model, and keeps the result under the key; or takes what somebody
  /// else has kept there meanwhile.
  void measure(Plan::Impl& plan, Plan::Impl::Step& step, const PlanOptions& options, const std::string& key);
  /// What follows from a step's schedule: tiles, tasks, blocks.
  void prepare(Plan::Impl& plan, Plan::Impl::Step& step);
  /// Finds or makes the kernel of a prepared step. True where a plan of this process has it loaded.
  bool load(const Plan::Impl& plan, Plan::Impl::Step& step);

  std::mutex mutex_;
  std::map<int, std::shared_ptr<runtime::ThreadPool>> pools_;  ///< by their threads
  std::map<std::string, std::weak_ptr<const runtime::Kernel>> kernels_;
  struct KnownFigures {
    bool looked = false;
    std::shared_ptr<const plan::MeasuredFigures> figures;
  };
  std::mutex figures_mutex_;
  std::map<int, KnownFigures> figures_;  ///< by ordinal; -1: the CPU
  std::size_t sweep_at_ = 64;            ///< entries at which those of kernels that are gone are dropped
};

}  // namespace v1

namespace runtime {

/// The command that makes the kernel of a canonical program again.
std::string again(const ir::Program& program, const ir::Schedule& schedule, const Target& target);

/// Throws DeviceError when a GPU is asked for and there is none.
Target target_of(const PlanOptions& options);

/// Runs the interpreter with a workspace of its own. outputs and inputs as Plan's; host pointers.
void interpret(const ir::Sequence& sequence, std::span<void* const> outputs, std::span<const void* const> inputs,
               const std::vector<Scalar>& params);

}  // namespace runtime
}  // namespace ricci
