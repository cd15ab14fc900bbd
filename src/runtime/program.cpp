// Programs of statements: planned and interpreted.
#include "ricci/program.hpp"

#include "ir/own_stack.hpp"
#include "ir/passes/precision.hpp"
#include "ir/passes/shorten.hpp"
#include "lower/lower_program.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci {
inline namespace v1 {
namespace {

ir::Sequence kernels_of(const Program& program, Precision precision) {
  return ir::shorten(ir::in_precision(ir::lower(program), precision));
}

}  // namespace

Plan Runtime::plan_program(const Program& program, const PlanOptions& options) {
  return on_stack_of(kPlainStack, [&] {
    Impl::Subject subject;
    subject.sequence = kernels_of(program, options.precision);
    return impl_->plan(std::move(subject), options);
  });
}

void Runtime::interpret_program(const Program& program, std::span<void* const> outputs,
                                std::span<const void* const> inputs, std::span<const Scalar> params) {
  interpret_program(program, outputs, inputs, params, Precision::operands);
}

void Runtime::interpret_program(const Program& program, std::span<void* const> outputs,
                                std::span<const void* const> inputs, std::span<const Scalar> params,
                                Precision precision) {
  on_stack_of(kPlainStack, [&] {
    runtime::interpret(kernels_of(program, precision), outputs, inputs, {params.begin(), params.end()});
  });
}

}  // namespace v1
}  // namespace ricci
