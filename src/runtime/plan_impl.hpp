// What a plan holds. Built by Runtime, executed by Plan.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/problem.hpp"
#include "ir/launches.hpp"
#include "ir/sequence.hpp"
#include "kernel/matrix_product.hpp"
#include "plan/plan.hpp"
#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"
#include "runtime/host_memory.hpp"
#include "runtime/kernel.hpp"
#include "runtime/predictions.hpp"
#include "runtime/product_library.hpp"
#include "runtime/step_graphs.hpp"
#include "runtime/thread_pool.hpp"
#include "runtime/watch.hpp"

namespace ricci {
inline namespace v1 {

/// What a call checks of one storage.
struct SlotCheck {
  std::string label;                          ///< in messages: "input", "output C"
  std::int64_t first_byte = 0, end_byte = 0;  ///< reach of the accesses around the base pointer; empty: not touched
  std::int64_t alignment = 1;                 ///< bytes
  bool touched() const noexcept { return first_byte < end_byte; }
};

/// Two storages that must not overlap; the first one is written.
struct PairCheck {
  int written = 0, other = 0;
  /// Every address of the two is its base plus its own constant plus a multiple of lattice_bytes; `phase` is the
  /// other's constant less the written one's.
  std::int64_t lattice_bytes = 1, phase = 0;
  std::int64_t written_bytes = 1, other_bytes = 1;  ///< of one element
};

/// A parameter of the sequence: a factor with a planned value, or one that each call gives.
struct ParamSource {
  enum class From { alpha, beta, call } from = From::call;
  DType type = DType::f64;
  int position = 0;  ///< in Call::params
};

/// alpha and beta of a permutation or an einsum.
struct Factors {
  Scalar alpha = 1, beta = 0;
  ir::Factor alpha_kind = ir::Factor::one, beta_kind = ir::Factor::zero;
  DType type = DType::f64;  ///< in which they are applied
};

struct __attribute__((visibility("hidden"))) Plan::Impl {
  static constexpr int kMaxArguments = 512, kMaxParams = 128;
  static constexpr std::size_t kFewSlots = 1024;  ///< more are listed in memory that each call allocates

  /// What runs at once, ready to run.
  struct Step {
    int number = 0;              ///< of the sequence's steps
    ir::Program program;         ///< canonical
    std::string program_text;    ///< as ir::print writes it: keys of kernels and tunings hold it
    std::vector<int> storage;    ///< of the sequence: per buffer of the canonical program
    std::vector<int> parameter;  ///< of the sequence: per parameter of the canonical program
    /// Per loop of its slice and per buffer: bytes from one value to the next (ir::Step::advance).
    std::vector<std::vector<std::int64_t>> advance;
    kernel::Schedule schedule;
    plan::Reason reason = plan::Reason::estimated;
    bool unsaved = false;                        ///< the model's choice, which is not in the store
    std::shared_ptr<const plan::Tuning> tuning;  ///< what is known to have been measured; or null
    std::variant<runtime::GeneratedKernel, runtime::LibraryProduct> executor;
    double work = 0;  ///< CPU: in units of 64 KB or 20,000 operations, whichever are more: ten microseconds or less
    /// The step whose schedule has copies or a library's product, of which this one is what multiplies; or null.
    std::shared_ptr<const Step> whole;

    const runtime::GeneratedKernel* kernel() const noexcept { return std::get_if<runtime::GeneratedKernel>(&executor); }
    const runtime::LibraryProduct* product() const noexcept { return std::get_if<runtime::LibraryProduct>(&executor); }
    const Step& planned() const noexcept { return whole ? *whole : *this; }  ///< what there are candidates for
  };

  ir::Sequence sequence;              ///< as it was lowered, long loops cut into tiles
  std::optional<ir::Sequence> uncut;  ///< as it was lowered, where any was cut or copied
  std::vector<Step> steps;            ///< steps that have points
  std::optional<Factors> factors;
  Layout output_layout;
  runtime::Target target;
  std::shared_ptr<const plan::MeasuredMemory> measured;    ///< of the target's device, or null
  std::shared_ptr<const runtime::ProductLibrary> library;  ///< that steps may call, or null
  std::optional<plan::LibraryModel> library_model;
  std::int64_t workspace_limit = -1;  ///< bytes; -1: any
  std::int64_t copies_limit = -1;     ///< bytes of workspace for the copies of one step; -1: any
  int threads = 1;
  Precision precision = Precision::operands;  ///< as it is asked for
  std::shared_ptr<runtime::ThreadPool> pool;
  Executor executor;
  std::unique_ptr<runtime::Predictions> predictions;  ///< of a GPU's kernels, while the plan is made
  std::string device_text, cache_root, source;
  std::function<std::string()> orders;  ///< of an einsum's products, as explain() prints them; or none
  PlanInfo info;
  std::vector<Argument> outputs, inputs, params;

  /// A storage that Plan::pack() fills, and its place in what that makes.
  struct Kept {
    int storage = -1;
    std::int64_t offset_bytes = 0;  ///< of the element that the storage's pointer is to
  };
  std::vector<Kept> kept;       ///< in the order of the outputs of `packing`
  std::optional<Plan> packing;  ///< of the constant operands, where there are any

  // Ready for the call.
  std::vector<ir::Slice> slices;                     ///< of `steps`
  std::vector<SlotCheck> storages;                   ///< per storage of the sequence
  std::vector<int> output_storages, input_storages;  ///< in the order of a call's pointers
  std::vector<PairCheck> pairs;
  std::vector<ParamSource> sources;             ///< per parameter of the sequence
  std::vector<std::int64_t> workspace_offsets;  ///< per storage of the sequence, in bytes; -1: the caller's
  std::unique_ptr<runtime::StepGraphs> graphs;  ///< of a GPU plan of enough kernels; or null
  std::int64_t workspace_bytes() const noexcept { return info.workspace_bytes; }

  std::vector<plan::Candidate> candidates(const Step& step, const std::string& wanted) const;
  plan::GpuModel gpu_model() const;  ///< of the target, with what was measured of it
  plan::CpuModel cpu_model() const;  ///< likewise
  /// Whether copies of that many bytes are within their limit.
  bool has_room(std::int64_t bytes) const noexcept { return copies_limit < 0 || bytes <= copies_limit; }
  plan::Candidate best(const Step& step) const;  ///< the first of them; while the plan is made
  std::string model_text() const;                ///< of the device, as they are planned with
  void place_packed(const Call& call, void** storage) const;
  /// The device of the first pointer that is a GPU's, the plan's own where there is none; -1 on a CPU.
  int device_of(std::span<const void* const> pointers) const;
  /// The device that a call runs on; -1 on a CPU.
  int check_pointers(void* const* storage) const;
  void check_workspace(const Call& call, void* const* storage, int ordinal) const;
  void load(int ordinal) const;
  void run(void* const* storage, void* const* param, int ordinal, void* stream, runtime::Watch* watch = nullptr) const;
  /// A step in the block of its slice that begins at these values; none outside of slices.
  void run_step(const Step& step, const ir::BlockValues& block, void* const* storage, void* const* param, int ordinal,
                void* stream, runtime::Watch* watch) const;
  /// f(step, block) in the order of a call, until it returns false: `block` is that of run_step().
  template <class F>
  void for_each_launch(const F& f) const {
    ir::for_each_launch(steps.size(), slices, f);
  }
  std::int64_t launches_of(std::size_t step) const noexcept;  ///< blocks of its slice, or 1
  void run_cpu(const runtime::GeneratedKernel& kernel, double work, void* const* args, runtime::Watch* watch) const;
  void run_cpu(const runtime::LibraryProduct& product, double work, const runtime::ProductCall& call,
               runtime::Watch* watch) const;
  /// run(task) for all tasks, on the plan's threads.
  template <class Run>
  void in_tasks(int tasks, Run& run) const;
  /// f(step) of all steps, under a heading each where there are several: "<comment> step 2 of 3: W0, C -> D".
  std::string text(const char* comment, const std::function<std::string(const Step&)>& f) const;
};

/// Memory of packed operands.
struct __attribute__((visibility("hidden"))) Packed::Impl {
  /// ordinal: GPU; -1: host memory.
  Impl(std::shared_ptr<const Plan::Impl> of, int ordinal);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  std::byte* base() const noexcept { return gpu_ != nullptr ? gpu_ : cpu_.get(); }

  const std::shared_ptr<const Plan::Impl> plan;  ///< that they are packed for

 private:
  runtime::HostMemory cpu_;
  std::byte* gpu_ = nullptr;
};

}  // namespace v1

namespace runtime {

/// A factor or parameter as the kernel takes it: `type`'s bytes. Checked before.
void encode_factor(Scalar value, DType type, unsigned char (&bytes)[16]);

/// Device models from what the driver or the system reports, and from measurements where these are not null.
plan::GpuModel gpu_model(const jit::cuda::DeviceInfo& info, const plan::MeasuredMemory* measured = nullptr);
plan::CpuModel cpu_model(const jit::CpuTarget& cpu, int threads, const plan::MeasuredMemory* measured = nullptr);
/// Of the device that a target stands for, or of its kind where there is none, with the limits that are given.
plan::GpuModel gpu_model(const Target& target, const plan::MeasuredMemory* measured = nullptr);

}  // namespace runtime
}  // namespace ricci
