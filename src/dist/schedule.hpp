// A plan as data: what this rank submits at a call, and the kernels for it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dist/tensor.hpp"

namespace ricci::inline v1::dist {

/// A plan of one thread, as StarPU's workers are, and whether it gives its outputs' buffers all of their content.
struct TilePlan {
  ricci::Plan plan;
  bool overwrites = false;
  bool gives_numbers = false;  ///< outputs are single f64
};

/// What a task has beside its buffers.
struct Arguments {
  std::array<std::int64_t, 2> offsets = {};  ///< bytes from the beginning of the first buffers to where a kernel begins
  double* results = nullptr;                 ///< where outputs go that are numbers, no buffers
};

/// What StarPU runs: buffers are the plan's outputs, unless these are numbers, then its inputs. A task without
/// arguments has the default ones.
struct PlanCodelet : starpu_codelet {
  ricci::Plan plan;
  double predicted_us = 0;

  explicit PlanCodelet(const TilePlan& tile);
  void operator()(starpu_task& task) const;

 private:
  std::vector<starpu_data_access_mode> many_modes_;  ///< where there are more buffers than a codelet has place for
};

/// Gives a new task its buffers.
void set_buffers(starpu_task& task, const std::vector<starpu_data_handle_t>& buffers);
/// Throws DeviceError where StarPU does not take the task.
void submit(starpu_task* task);

/// What a rank does at a call, in this order.
struct Action {
  enum class Kind {
    run,      ///< a codelet
    send,     ///< buffer 0 to a rank
    receive,  ///< buffer 0 from a rank
    drop,     ///< the content of buffer 0, and the memory of it
  } kind;
  std::vector<starpu_data_handle_t> buffers;
  int codelet = -1;
  Arguments arguments = {};
  int peer = -1;
  std::int64_t tag = 0;
};

struct Schedule {
  std::vector<std::unique_ptr<PlanCodelet>> codelets;  ///< those of this rank, others are null
  std::vector<std::unique_ptr<Handle>> buffers;        ///< between tensors
  std::vector<Action> actions;
  std::vector<double> results;  ///< that tasks give as numbers

  void submit(const Engine::Impl& engine) const;
};

/// Collects the steps of a plan, which every rank names in the same order; each keeps its own.
class Builder {
 public:
  explicit Builder(Engine::Impl& engine) : engine_(engine) { info_.received.resize(engine.size); }

  int rank() const noexcept { return engine_.rank; }
  /// The number of the codelet for a class of shapes, which `make` plans where the class is new.
  template <class Make>
  int codelet(const Indices& key, Make&& make) {
    if (const auto known = classes_.find(key); known != classes_.end()) return known->second;
    makers_.emplace_back(std::forward<Make>(make));
    needed_.push_back(false);
    return classes_[key] = static_cast<int>(makers_.size()) - 1;
  }
  /// arguments(action) gives the buffers and the arguments; it is asked on the rank that runs.
  template <class Give>
  void run(int rank, int codelet, Give&& give) {
    ++info_.tasks;
    if (rank != engine_.rank) return;
    Action action{Action::Kind::run, {}, codelet};
    give(action);
    needed_[static_cast<std::size_t>(codelet)] = true;
    schedule_->actions.push_back(std::move(action));
  }
  /// A message; `handle` gives the buffer on either side. What arrives where no tensor keeps it is dropped after its
  /// last use, as is what is sent from there.
  template <class Buffer>
  void transfer(int from, int to, std::int64_t bytes, std::int64_t tag, Buffer&& handle) {
    info_.received[static_cast<std::size_t>(to)] += bytes;
    if (from == engine_.rank) schedule_->actions.push_back({Action::Kind::send, {handle()}, -1, {}, to, tag});
    if (to == engine_.rank) schedule_->actions.push_back({Action::Kind::receive, {handle()}, -1, {}, from, tag});
  }
  /// A new buffer on this rank, without memory until a task writes it.
  starpu_data_handle_t buffer(int owner, std::int64_t tag, std::int64_t elements, DType type);

  PlanInfo& info() noexcept { return info_; }
  /// Collective: plans the codelets that this rank needs. `kept` says which handles hold a tensor's own tile.
  void finish(const std::function<bool(starpu_data_handle_t)>& kept);
  std::shared_ptr<Schedule> schedule() const noexcept { return schedule_; }

 private:
  Engine::Impl& engine_;
  PlanInfo info_;
  std::shared_ptr<Schedule> schedule_ = std::make_shared<Schedule>();
  std::map<Indices, int> classes_;
  std::vector<std::function<TilePlan()>> makers_;
  std::vector<bool> needed_;

  void make_codelets();
  void drop_after_last_use(const std::function<bool(starpu_data_handle_t)>& kept);
};

struct Plan::Impl {
  std::shared_ptr<Engine::Impl> engine;
  std::vector<Tensor> tensors;
  std::shared_ptr<const Schedule> schedule;
  PlanInfo info;
  std::string text;
};

/// The end of every plan_...(): codelets, figures, and the text of explain() behind `head`.
Plan make_plan(const std::shared_ptr<Engine::Impl>& engine, Builder& builder, std::vector<Tensor> tensors,
               std::string head);

}  // namespace ricci::inline v1::dist
