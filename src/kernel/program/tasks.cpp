#include "kernel/program/tasks.hpp"

#include <utility>

namespace ricci::kernel {

Tasks tasks_of(Kernel& kernel, const ir::Program& program, const ir::Schedule& schedule, const std::vector<Var>& own) {
  Tasks tasks;
  tasks.number.resize(program.indices.size());
  for (std::size_t k = schedule.order.size(); k-- > 0;) {
    const auto q = static_cast<std::size_t>(schedule.order[k]);
    const auto count = schedule.tiles_along(program, schedule.order[k]);
    if (count == 1) continue;
    const auto var = own[q] >= 0 ? own[q] : kernel.add_var(program.indices[q].name + "_tile", count);
    tasks.vars.push_back(var);
    tasks.number[q] = Affine::of(var);
  }
  return tasks;
}

Body within(const Tasks& tasks, Body body) {
  for (auto k = tasks.vars.size(); k-- > 0;) {
    Loop loop;
    loop.var = tasks.vars[k];
    loop.bind = Bind::task;
    loop.body = std::move(body);
    body = {};
    body.push_back({std::move(loop)});
  }
  return body;
}

}  // namespace ricci::kernel
