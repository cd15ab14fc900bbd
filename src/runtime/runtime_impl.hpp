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

  std::shared_ptr<runtime::ThreadPool> pool();

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

  RuntimeOptions options;
  int threads;
  cache::Store store;

 private:
  void plan_step(Plan::Impl& plan, int number, const PlanOptions& options, bool* scheduled);

  std::mutex mutex_;
  std::shared_ptr<runtime::ThreadPool> thread_pool_;
  std::map<std::string, std::weak_ptr<const runtime::Kernel>> kernels_;
  std::size_t sweep_at_ = 64;  ///< entries at which those of kernels that are gone are dropped
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
