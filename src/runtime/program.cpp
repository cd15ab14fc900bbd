// Programs of statements: planned and interpreted.
#include "ricci/program.hpp"

#include "ir/lower_program.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci {
inline namespace v1 {

Plan Runtime::plan_program(const Program& program, const PlanOptions& options) {
  Impl::Subject subject;
  subject.sequence = ir::lower(program);
  return impl_->plan(std::move(subject), options);
}

void Runtime::interpret_program(const Program& program, std::span<void* const> outputs,
                                std::span<const void* const> inputs, std::span<const Scalar> params) {
  runtime::interpret(ir::lower(program), outputs, inputs, {params.begin(), params.end()});
}

}  // namespace v1
}  // namespace ricci
