// Permutations: planned, interpreted, and in one call.
#include "ir/own_stack.hpp"
#include "lower/einsum.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_cache.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci {
inline namespace v1 {
namespace {

ir::EinsumProblem problem_of(std::string_view spec, const Layout& input, const Layout& output,
                             const PermuteOptions& options) {
  ir::EinsumProblem problem{Spec::parse(spec),
                            {input},
                            output,
                            ir::factor_of(options.alpha),
                            ir::factor_of(options.beta),
                            {options.conjugate},
                            options.addend,
                            options.conjugate_addend};
  // alpha = 0 hides A, NaN or not. Rare, so it is left to the run-time factor.
  if (problem.alpha == ir::Factor::zero) problem.alpha = ir::Factor::any;
  ir::check_permutation(problem);
  return problem;
}

}  // namespace

Plan Runtime::plan_permute(std::string_view spec, const Layout& input, const Layout& output,
                           const PermuteOptions& options) {
  return on_stack_of(kPlainStack, [&] {
    Impl::Subject subject;
    const auto problem = problem_of(spec, input, output, options);
    const auto type = ir::compute_type(problem);
    ir::check_factor("alpha", options.alpha, type);
    ir::check_factor("beta", options.beta, type);
    subject.sequence = ir::sequence_of(ir::lower(problem));
    if (!options.addend) subject.labels = {"input", "output"};
    subject.factors = Factors{options.alpha, options.beta, problem.alpha, problem.beta, type};
    subject.output_layout = output;
    return impl_->plan(std::move(subject), options);
  });
}

Plan Runtime::plan_permute(std::string_view spec, const Layout& input, const PermuteOptions& options) {
  return plan_permute(spec, input, ir::permuted_row_major(Spec::parse(spec), input), options);
}

void Runtime::interpret_permute(std::string_view spec, const Layout& input, const Layout& output, const void* a,
                                void* b, Scalar alpha, Scalar beta, bool conjugate) {
  on_stack_of(kPlainStack, [&] {
    PermuteOptions options;
    options.alpha = alpha;
    options.beta = beta;
    options.conjugate = conjugate;
    const auto program = ir::lower(problem_of(spec, input, output, options));
    std::vector<Scalar> params;
    for (const auto& param : program.params) params.push_back(param.name == "alpha" ? alpha : beta);
    ir::interpret(program, {const_cast<void*>(a), b}, params);
  });
}

void permute(std::string_view spec, const Layout& input, const void* a, const Layout& output, void* b,
             const PermuteOptions& options) {
  auto key = runtime::key_of("permute", spec, options);
  if (options.addend) throw PlanError("permute() has no place for an addend; plan_permute() has");
  key += options.conjugate ? "conj" : "";
  key += options.conjugate_addend ? "|conj|" : "||";
  for (const auto factor : {options.alpha, options.beta}) runtime::append(key, factor);
  for (const auto* layout : {&input, &output}) runtime::append(key, *layout);
  const auto plan =
      runtime::cached_plan(key, [&] { return Runtime::global().plan_permute(spec, input, output, options); });
  plan(b, a);
}

}  // namespace v1
}  // namespace ricci
