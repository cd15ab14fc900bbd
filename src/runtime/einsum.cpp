// Einsums of any number of operands: planned, interpreted, and in one call.
#include "lower/einsum.hpp"

#include <algorithm>

#include "ir/own_stack.hpp"
#include "ir/passes/precision.hpp"
#include "lower/constants.hpp"
#include "plan/models/step_rates.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_cache.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/slices.hpp"

namespace ricci {
inline namespace v1 {
namespace {

ir::EinsumProblem problem_of(std::string_view spec, std::span<const Layout> inputs, const Layout& output,
                             const EinsumOptions& options) {
  ir::EinsumProblem problem{Spec::parse(spec),
                            {inputs.begin(), inputs.end()},
                            output,
                            ir::factor_of(options.alpha),
                            ir::factor_of(options.beta),
                            options.conjugate,
                            options.addend,
                            options.conjugate_addend,
                            options.constant,
                            options.precision};
  // alpha = 0 hides the operands, NaN or not. Rare, so it is left to the run-time factor.
  if (problem.alpha == ir::Factor::zero) problem.alpha = ir::Factor::any;
  ir::check(problem);
  const auto type = ir::compute_type(problem);
  ir::check_factor("alpha", options.alpha, type);
  ir::check_factor("beta", options.beta, type);
  return problem;
}

/// On a CPU the path of one thread: another one's sums have other bits.
ir::PathOptions path_options(const ir::EinsumProblem& problem, const EinsumOptions& options) {
  ir::PathOptions path;
  path.workspace_limit = options.workspace_limit;
  if (ir::has_one_path(problem)) return path;
  if (options.path == EinsumOptions::Path::memory) path.minimise = ir::PathOptions::Minimise::memory;
  if (options.path != EinsumOptions::Path::time) return path;
  const auto type = ir::compute_type(problem);
  const auto target = runtime::target_of(options);
  const auto rates = target.device == Device::cpu ? plan::step_rates(runtime::cpu_model(target.cpu, 1), type)
                                                  : plan::step_rates(runtime::gpu_model(target), type);
  path.minimise = ir::PathOptions::Minimise::time;
  path.rates = {rates.flops_per_us, rates.bytes_per_us, rates.start_us, rates.nest_flops_per_us, rates.term_us};
  return path;
}

/// What tells plans of one einsum apart in the plan cache.
const char* name(EinsumOptions::Path path) {
  switch (path) {
    case EinsumOptions::Path::flops:
      return "einsum of few operations";
    case EinsumOptions::Path::memory:
      return "einsum in little memory";
    default:
      return "einsum";
  }
}

/// The order of an einsum's products beside some that lost; empty where there is one order.
std::string compare_paths(const ir::EinsumProblem& problem, const ir::PathOptions& options) {
  constexpr std::size_t kMostOthers = 3;
  const auto others = ir::other_paths(problem, options, kMostOthers);
  return others.empty() ? std::string() : ir::compare(ir::find_path(problem, options), others, options);
}

/// The steps of an einsum, in precision. Where its intermediates take more than the limit, steps in slices compute
/// nothing again; what blocks would be too small for is computed inside the loops of what uses it.
ir::Sequence lowered(const ir::EinsumProblem& problem, ir::PathOptions& path, const EinsumOptions& options) {
  constexpr std::int64_t kMostBlocks = 1024;
  if (path.workspace_limit >= 0) {
    auto any = path;
    any.workspace_limit = -1;
    auto whole = ir::in_precision(ir::lower_einsum(problem, any), options.precision);
    const auto sliced = runtime::sliced_to_fit(whole, path.workspace_limit, [](const ir::Program&) { return 0.0; });
    if (!sliced.empty() && runtime::blocks_of(sliced.front()) <= kMostBlocks) {
      path = any;
      return whole;
    }
  }
  return ir::in_precision(ir::lower_einsum(problem, path), options.precision);
}

bool has_constants(const EinsumOptions& options) {
  return std::find(options.constant.begin(), options.constant.end(), true) != options.constant.end();
}

}  // namespace

Layout einsum_output(std::string_view spec, std::span<const Layout> inputs) {
  return on_stack_of(kPlainStack,
                     [&] { return ir::result_row_major(Spec::parse(spec), {inputs.begin(), inputs.end()}); });
}

Plan Runtime::plan_einsum(std::string_view spec, std::span<const Layout> inputs, const Layout& output,
                          const EinsumOptions& options) {
  return on_stack_of(kPlainStack, [&] {
    Impl::Subject subject;
    const auto problem = problem_of(spec, inputs, output, options);
    auto path = path_options(problem, options);
    if (has_constants(options)) {
      auto split = ir::lower_constant_einsum(problem, options.device == Device::cpu, path);
      Impl::Subject packing;
      packing.sequence = ir::in_precision(std::move(split.packing), options.precision);
      PlanOptions where = options;
      where.schedule.clear();  // names are those of the products
      where.workspace_limit = -1;
      where.mode = options.mode == PlanMode::model ? PlanMode::model : PlanMode::estimate;
      subject.packing = impl_->plan(std::move(packing), where);
      subject.sequence = ir::in_precision(std::move(split.rest), options.precision);
      subject.kept = std::move(split.kept);
    } else {
      subject.sequence = lowered(problem, path, options);
      if (problem.inputs.size() > 2) subject.orders = [=] { return compare_paths(problem, path); };
    }
    subject.factors = Factors{options.alpha, options.beta, problem.alpha, problem.beta, ir::compute_type(problem)};
    subject.output_layout = output;
    return impl_->plan(std::move(subject), options);
  });
}

Plan Runtime::plan_einsum(std::string_view spec, std::span<const Layout> inputs, const EinsumOptions& options) {
  return plan_einsum(spec, inputs, einsum_output(spec, inputs), options);
}

void Runtime::interpret_einsum(std::string_view spec, std::span<const Layout> inputs, const Layout& output,
                               std::span<const void* const> from, void* to, const EinsumOptions& options) {
  on_stack_of(kPlainStack, [&] {
    const auto program = ir::lower(problem_of(spec, inputs, output, options));
    std::vector<Scalar> params;
    for (const auto& param : program.params) params.push_back(param.name == "alpha" ? options.alpha : options.beta);
    const auto sequence = ir::in_precision(ir::sequence_of(program), options.precision);
    runtime::interpret(sequence, std::span<void* const>(&to, 1), from, params);
  });
}

std::string explain_path(std::string_view spec, std::span<const Layout> inputs, const EinsumOptions& options) {
  return on_stack_of(kPlainStack, [&] {
    const auto output = einsum_output(spec, inputs);
    const auto problem = problem_of(spec, inputs, output, options);
    return ir::print(ir::find_path(problem, path_options(problem, options)));
  });
}

void einsum(std::string_view spec, std::span<const Layout> inputs, std::span<const void* const> from,
            const Layout& output, void* to, const EinsumOptions& options) {
  if (has_constants(options)) {
    throw PlanError("einsum() has no place for constant operands; Runtime::plan_einsum() has");
  }
  auto key = runtime::key_of(name(options.path), spec, options);
  for (const bool conjugate : options.conjugate) key += conjugate ? "conj," : ",";
  for (const auto factor : {options.alpha, options.beta}) runtime::append(key, factor);
  for (const auto& layout : inputs) runtime::append(key, layout);
  runtime::append(key, output);
  if (options.conjugate_addend) key += "conj,";
  if (options.addend) runtime::append(key, *options.addend);
  const auto plan =
      runtime::cached_plan(key, [&] { return Runtime::global().plan_einsum(spec, inputs, output, options); });
  plan(std::span<void* const>(&to, 1), from);
}

void contract(std::string_view spec, const Layout& a_layout, const void* a, const Layout& b_layout, const void* b,
              const Layout& c_layout, void* c, const EinsumOptions& options) {
  const Layout inputs[] = {a_layout, b_layout};
  const void* const from[] = {a, b};
  einsum(spec, inputs, from, c_layout, c, options);
}

}  // namespace v1
}  // namespace ricci
