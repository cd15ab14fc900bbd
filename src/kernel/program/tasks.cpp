#include "kernel/program/tasks.hpp"

#include <utility>

namespace ricci::kernel {

Tasks tasks_of(Kernel& kernel, const ir::Program& program, const ProgramLoops& loops, const std::vector<Var>& own) {
  Tasks tasks;
  tasks.number.resize(program.indices.size());
  for (const auto index : loops.tasks) {
    const auto q = static_cast<std::size_t>(index);
    const auto count = (program.indices[q].extent + loops.tile[q] - 1) / loops.tile[q];
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
