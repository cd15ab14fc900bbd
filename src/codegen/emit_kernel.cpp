// Sources from a schedule: what the kernel IR builds, which the printers say.
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/source.hpp"
#include "kernel/build.hpp"

namespace ricci::codegen {

Source emit_cpp(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes) {
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
  const auto printed =
      print_cuda(kernel::expand(kernel::build(program, schedule, kernel::Target::cuda)), source.kernel);
  source.portable = portable_prelude(program) + printed.functions;
  source.device = printed.prelude + '\n';
  source.parameter_types = printed.parameter_types;
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) + printed.text;
  return source;
}

}  // namespace ricci::codegen
