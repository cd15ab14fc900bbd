// Source of what the kernel IR builds: the printers say it.
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/source.hpp"
#include "kernel/build.hpp"

namespace ricci::codegen {
Source emit_cpp(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes) {
  if (!schedule.builds(kernel::Target::cpu))
    return emit_cpp(program, static_cast<const ir::Schedule&>(schedule), notes);
  Source source;
  source.kernel = kernel_name(program);
  const auto printed = print_cpp(kernel::expand(kernel::build(program, schedule, kernel::Target::cpu)), source.kernel);
  source.portable = portable_prelude(program) + printed.prelude;
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) + printed.text;
  return source;
}

Source emit_cuda(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes) {
  Source source;
  source.kernel = kernel_name(program);
  const auto tree = kernel::expand(kernel::build(program, schedule, kernel::Target::cuda));
  const auto printed = print_cuda(tree, source.kernel);
  source.portable = portable_prelude(program) + printed.functions;
  source.device = printed.prelude + '\n';
  source.parameter_types = launch_of(tree).parameter_types;
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) + printed.text;
  return source;
}

Source emit_cuda(const ir::Program& program, const ir::Schedule& schedule, const Notes& notes) {
  return emit_cuda(program, kernel::Schedule(schedule), notes);
}

std::int64_t shared_bytes(const ir::Program& program, const kernel::Schedule& schedule, kernel::Target target) {
  if (!schedule.by_directives()) return schedule.shared_bytes(program);
  // Threads that share a point exchange a value for each warp, without a tree to be built for their number.
  if (!kernel::has_atom(schedule.directives)) return 0;
  return target == kernel::Target::cpu ? 0 : shared_bytes(kernel::expand(kernel::build(program, schedule, target)));
}

std::int64_t dynamic_shared_bytes(const ir::Program& program, const kernel::Schedule& schedule, kernel::Target target) {
  const auto bytes = shared_bytes(program, schedule, target);
  return target == kernel::Target::cuda && bytes > kStaticSharedBytes ? bytes : 0;
}

}  // namespace ricci::codegen
