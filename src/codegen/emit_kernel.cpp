// Sources from a schedule: what the kernel IR builds, which the printers say.
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/source.hpp"
#include "kernel/build.hpp"

namespace ricci::codegen {
namespace {

Source emit(const ir::Program& program, const kernel::Schedule& schedule, kernel::Target target, const Notes& notes) {
  const auto name = kernel_name(program);
  const auto tree = kernel::expand(kernel::build(program, schedule, target));
  const auto printed = target == kernel::Target::cuda ? print_cuda(tree, name) : print_cpp(tree, name);
  return {name, portable_prelude(program) + printed.portable, printed.device,
          head_text(program, schedule, name, notes) + printed.text, printed.parameter_types};
}

}  // namespace

Source emit_cpp(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes) {
  return emit(program, schedule, kernel::Target::cpu, notes);
}

Source emit_cuda(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes) {
  return emit(program, schedule, kernel::Target::cuda, notes);
}

}  // namespace ricci::codegen
