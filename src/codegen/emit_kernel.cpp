// Sources from a schedule: what the kernel IR builds, which the printers say.
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "codegen/source.hpp"
#include "kernel/build.hpp"

namespace ricci::codegen {

Source emit(const ir::Program& program, const kernel::Schedule& schedule, kernel::Target target, const Notes& notes) {
  const auto name = kernel_name(program);
  const auto tree = kernel::expand(kernel::build(program, schedule, target));
  auto source = target == kernel::Target::cuda ? print_cuda(tree, name) : print_cpp(tree, name);
  source.portable = portable_prelude(program) + source.portable;
  source.text = head_text(program, schedule, name, notes) + source.text;
  return source;
}

}  // namespace ricci::codegen
