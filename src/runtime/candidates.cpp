// What a step may be: its candidates, and the device model that they are predicted with.
#include <algorithm>

#include "kernel/composite.hpp"
#include "kernel/contraction.hpp"
#include "plan/enumerate/plain.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci {
inline namespace v1 {

std::vector<plan::Candidate> Plan::Impl::candidates(const Step& step, const std::string& wanted) const {
  auto list = target.device == Device::cpu ? plan::candidates(step.program, cpu_model())
                                           : plan::candidates(step.program, gpu_model(), wanted);
  std::erase_if(list, [&](const plan::Candidate& c) { return !has_room(c.workspace_bytes); });
  if (target.lacks_tensor_maps())
    std::erase_if(list, [](const plan::Candidate& c) { return kernel::has_maps(c.schedule.directives); });
  const bool listed = wanted.empty() || std::any_of(list.begin(), list.end(), [&](const plan::Candidate& c) {
                        return c.schedule.name == wanted;
                      });
  if (listed) return list;
  // A text in place of a name: directives, or a schedule as it is stored. What they are for may be another step.
  auto schedule = kernel::parse_schedule(wanted);
  const auto first = wanted.substr(0, wanted.find_first_of(" ;\n"));
  if (kernel::is_directive(first)) schedule.emplace().directives = kernel::parse_directives(wanted);
  if (!schedule) return list;
  const bool products = kernel::contraction_of(step.program) || kernel::group_of(step.program);
  const bool fits = kernel::has_atom(schedule->directives) || kernel::is_composite(*schedule)
                        ? products
                        : kernel::has_write(schedule->directives) == plan::is_copy(step.program);
  if (!fits) return list;
  schedule->name = wanted;
  kernel::verify(*schedule, step.program, target.family());
  if (target.device == Device::gpu) kernel::check_capability(schedule->directives, target.sm);
  const auto bytes =
      kernel::is_composite(*schedule) ? kernel::composite_of(step.program, *schedule).sequence.workspace_bytes() : 0;
  if (!has_room(bytes)) return list;
  list.emplace_back().schedule = std::move(*schedule);
  list.back().workspace_bytes = bytes;
  list.back().written = true;
  return list;
}

plan::GpuModel Plan::Impl::gpu_model() const {
  auto model = runtime::gpu_model(target, measured.get());
  model.library = library_model;
  return model;
}

plan::CpuModel Plan::Impl::cpu_model() const {
  auto model = runtime::cpu_model(target.cpu, threads, measured.get());
  model.library = library_model;
  return model;
}

plan::Candidate Plan::Impl::best(const Step& step) const {
  auto best = predictions                    ? predictions->best(step.program)
              : target.device == Device::cpu ? plan::best_candidate(step.program, cpu_model())
                                             : plan::best_candidate(step.program, gpu_model());
  const bool unknown = kernel::has_maps(best.schedule.directives) && target.lacks_tensor_maps();
  return has_room(best.workspace_bytes) && !unknown ? best : candidates(step, {}).front();
}

std::string Plan::Impl::model_text() const {
  return target.device == Device::cpu ? plan::print(cpu_model()) : plan::print(gpu_model());
}

}  // namespace v1
}  // namespace ricci
