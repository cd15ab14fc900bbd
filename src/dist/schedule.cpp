// Plans as codelets, the steps of a plan collected, submitted and told.
#include "dist/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <unordered_set>

#include "ricci/error.hpp"

namespace ricci::inline v1::dist {
namespace {

/// Of an engine: what fails is thrown where it waits.
void run_tile(void*[], void*) {
  try {
    auto& task = *starpu_task_get_current();
    static_cast<const PlanCodelet&>(*task.cl)(task);
  } catch (...) {
    keep_failure();
  }
}

/// Of another program, which knows of no failures.
void run_or_end(void*[], void*) noexcept {
  auto& task = *starpu_task_get_current();
  static_cast<const PlanCodelet&>(*task.cl)(task);
}

double predicted_us(starpu_task* task, starpu_perfmodel_arch*, unsigned) {
  return static_cast<const PlanCodelet*>(task->cl)->predicted_us;
}

/// Schedulers that ask get Ricci's prediction, so that nothing has to be measured first.
starpu_perfmodel* prediction_model() {
  static starpu_perfmodel model = [] {
    starpu_perfmodel one{};
    one.type = STARPU_PER_ARCH;
    one.arch_cost_function = predicted_us;
    return one;
  }();
  return &model;
}

}  // namespace

PlanCodelet::PlanCodelet(const TilePlan& tile) : plan(tile.plan) {
  if (plan.device() != Device::cpu) throw PlanError("a codelet of a plan for a GPU: they are for CPUs so far");
  for (const auto& candidate : plan.candidates()) {
    if (candidate.chosen) predicted_us += candidate.predicted_us;
  }
  if (!tile.gives_numbers) many_modes_.assign(plan.outputs().size(), tile.overwrites ? STARPU_W : STARPU_RW);
  many_modes_.resize(many_modes_.size() + plan.inputs().size(), STARPU_R);
  starpu_codelet_init(this);
  cpu_funcs[0] = run_tile;
  nbuffers = static_cast<int>(many_modes_.size());
  if (nbuffers > STARPU_NMAXBUFS) {
    dyn_modes = many_modes_.data();
  } else {
    std::copy(many_modes_.begin(), many_modes_.end(), modes);
  }
  model = prediction_model();
  starpu_codelet::name = "ricci";
}

void PlanCodelet::operator()(starpu_task& task) const {
  static const Arguments kPlain;
  const auto& arguments = task.cl_arg != nullptr ? *static_cast<const Arguments*>(task.cl_arg) : kPlain;
  const auto node = starpu_worker_get_local_memory_node();
  std::vector<void*> pointers;
  for (std::size_t k = 0; arguments.results != nullptr && k < plan.outputs().size(); ++k) {
    pointers.push_back(arguments.results + k);
  }
  for (unsigned k = 0; k < many_modes_.size(); ++k) {
    auto* bytes = static_cast<std::byte*>(starpu_data_handle_to_pointer(STARPU_TASK_GET_HANDLE(&task, k), node));
    pointers.push_back(bytes + (k < arguments.offsets.size() ? arguments.offsets[k] : 0));
  }
  const auto outputs = plan.outputs().size();
  plan(std::span<void* const>(pointers.data(), outputs),
       std::span<const void* const>(pointers.data() + outputs, pointers.size() - outputs));
}

void set_buffers(starpu_task& task, const std::vector<starpu_data_handle_t>& buffers) {
  auto* handles = task.handles;
  if (buffers.size() > STARPU_NMAXBUFS) {  // StarPU frees it
    handles = task.dyn_handles =
        static_cast<starpu_data_handle_t*>(std::malloc(buffers.size() * sizeof(starpu_data_handle_t)));
    if (handles == nullptr) throw std::bad_alloc();
  }
  std::copy(buffers.begin(), buffers.end(), handles);
}

void submit(starpu_task* task) {
  if (const int status = starpu_task_submit(task); status != 0) {
    task->destroy = 0;
    starpu_task_destroy(task);
    throw DeviceError(fmt::format("StarPU refuses a task: status {}", status));
  }
}

void Schedule::submit(const Engine::Impl& engine) const {
  const auto window = static_cast<unsigned>(std::max(0, engine.options.window));
  for (const auto& action : actions) {
    const auto buffer = action.buffers.front();
    switch (action.kind) {
      case Action::Kind::run: {
        if (window > 0) starpu_task_wait_for_n_submitted(window);
        auto* task = starpu_task_create();
        task->cl = codelets[static_cast<std::size_t>(action.codelet)].get();
        task->cl_arg = const_cast<Arguments*>(&action.arguments);  // tasks read it
        set_buffers(*task, action.buffers);
        dist::submit(task);
        break;
      }
      case Action::Kind::send:
        starpu_mpi_isend_detached(buffer, action.peer, action.tag, engine.tiles, nullptr, nullptr);
        break;
      case Action::Kind::receive:
        starpu_mpi_irecv_detached(buffer, action.peer, action.tag, engine.tiles, nullptr, nullptr);
        break;
      case Action::Kind::drop:
        starpu_data_invalidate_submit(buffer);
        break;
    }
  }
}

starpu_data_handle_t Builder::buffer(int owner, std::int64_t tag, std::int64_t elements, DType type) {
  schedule_->buffers.push_back(std::make_unique<Handle>(owner, tag, elements, size_of(type), nullptr, engine_.tiles));
  return schedule_->buffers.back()->get();
}

void Builder::make_codelets() {
  auto& codelets = schedule_->codelets;
  codelets.resize(makers_.size());
  const auto make = [&](std::size_t number) {
    if (!codelets[number]) codelets[number] = std::make_unique<PlanCodelet>(makers_[number]());
  };
  // The ranks of a machine compile a share of the kernels each, and find the others' on the disk.
  engine_.together([&] {
    for (std::size_t k = engine_.node_rank; k < makers_.size(); k += engine_.node_size) make(k);
  });
  engine_.together([&] {
    for (std::size_t k = 0; k < makers_.size(); ++k) {
      if (needed_[k]) make(k);
    }
  });
}

void Builder::drop_after_last_use(const std::function<bool(starpu_data_handle_t)>& kept) {
  auto& actions = schedule_->actions;
  std::reverse(actions.begin(), actions.end());
  std::vector<Action> backwards;
  std::unordered_set<starpu_data_handle_t> seen;
  for (auto& action : actions) {
    for (const auto buffer : action.buffers) {
      if (!kept(buffer) && seen.insert(buffer).second) {
        backwards.push_back({Action::Kind::drop, {buffer}});
      }
    }
    backwards.push_back(std::move(action));
  }
  std::reverse(backwards.begin(), backwards.end());
  actions = std::move(backwards);
}

void Builder::finish(const std::function<bool(starpu_data_handle_t)>& kept) {
  make_codelets();
  double us = 0;
  for (const auto& action : schedule_->actions) {
    if (action.kind == Action::Kind::run) us += schedule_->codelets[action.codelet]->predicted_us;
    if (action.kind != Action::Kind::drop) ++info_.submitted;
  }
  const auto bytes = static_cast<double>(info_.received[engine_.rank]);
  const double mine = std::max(us / engine_.workers * 1e-6, bytes / (engine_.options.network_GBs * 1e9));
  MPI_Allreduce(&mine, &info_.seconds, 1, MPI_DOUBLE, MPI_MAX, engine_.control);
  info_.kernels = static_cast<int>(makers_.size());
  drop_after_last_use(kept);
}

Plan make_plan(const std::shared_ptr<Engine::Impl>& engine, Builder& builder, std::vector<Tensor> tensors,
               std::string head) {
  std::unordered_set<starpu_data_handle_t> own;
  for (const auto& tensor : tensors) {
    for (std::int64_t number = 0; number < tensor.tile_count(); ++number) {
      if (tensor.owner(number) == engine->rank) own.insert(tensor.impl().handle(number));
    }
  }
  builder.finish([&](starpu_data_handle_t handle) { return own.contains(handle); });
  const auto& info = builder.info();
  const auto& received = info.received;
  std::int64_t most = 0, all = 0;
  for (const auto bytes : received) {
    most = std::max(most, bytes);
    all += bytes;
  }
  head += fmt::format("tasks        {}, {} kernels; this rank submits {} tasks and transfers\n", info.tasks,
                      info.kernels, info.submitted);
  head += fmt::format("received     {} B by this rank, {} B by the one that receives most, {} B by all\n",
                      received[engine->rank], most, all);
  if (info.flops > 0) head += fmt::format("flops        {:.6g}\n", info.flops);
  head += fmt::format("predicted    {:.3g} s, {} workers, {} GB/s received by a rank\n", info.seconds, engine->workers,
                      engine->options.network_GBs);
  return Plan(
      std::make_shared<Plan::Impl>(Plan::Impl{engine, std::move(tensors), builder.schedule(), info, std::move(head)}));
}

void Plan::operator()() const {
  impl_->engine->running.push_back(impl_->schedule);
  impl_->schedule->submit(*impl_->engine);
}

const PlanInfo& Plan::info() const noexcept { return impl_->info; }
std::string Plan::explain() const { return impl_->text; }

Codelet::Codelet(const ricci::Plan& plan, bool overwrites) {
  auto codelet = std::make_shared<PlanCodelet>(TilePlan{plan, overwrites});
  codelet->cpu_funcs[0] = run_or_end;
  impl_ = std::move(codelet);
}
void* Codelet::get() const noexcept { return static_cast<starpu_codelet*>(static_cast<PlanCodelet*>(impl_.get())); }

}  // namespace ricci::inline v1::dist
