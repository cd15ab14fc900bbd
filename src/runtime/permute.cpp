// Permutations: planned, interpreted, and in one call.
#include <fmt/format.h>

#include "ir/problem.hpp"
#include "ricci/error.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci {
inline namespace v1 {

Plan Runtime::plan_permute(std::string_view spec_text, const Layout& input, const Layout& output,
                           const PermuteOptions& options) {
  Impl::Subject subject;
  ir::PermuteProblem problem{
      Spec::parse(spec_text), input, output, ir::factor_of(options.alpha), ir::factor_of(options.beta),
      options.conjugate};
  // 0 * A is 0 whatever A holds: as a run-time factor, since it is rare.
  if (problem.alpha == ir::Factor::zero) problem.alpha = ir::Factor::any;
  ir::check(problem);
  const auto type = ir::compute_type(input.type, output.type);
  ir::check_factor("alpha", options.alpha, type);
  ir::check_factor("beta", options.beta, type);
  subject.sequence = runtime::sequence_of(ir::lower(problem));
  subject.labels = {"input", "output"};
  subject.factors = Factors{options.alpha, options.beta, problem.alpha, problem.beta, type};
  subject.output_layout = output;
  return impl_->plan(std::move(subject), options);
}

Plan Runtime::plan_permute(std::string_view spec, const Layout& input, const PermuteOptions& options) {
  return plan_permute(spec, input, ir::permuted_row_major(Spec::parse(spec), input), options);
}

void Runtime::interpret_permute(std::string_view spec, const Layout& input, const Layout& output, const void* a,
                                void* b, Scalar alpha, Scalar beta, bool conjugate) {
  ir::PermuteProblem problem{Spec::parse(spec), input, output, ir::factor_of(alpha), ir::factor_of(beta), conjugate};
  if (problem.alpha == ir::Factor::zero) problem.alpha = ir::Factor::any;
  ir::check(problem);
  const auto program = ir::lower(problem);
  std::vector<Scalar> params;
  for (const auto& param : program.params) params.push_back(param.name == "alpha" ? alpha : beta);
  ir::interpret(program, {const_cast<void*>(a), b}, params);
}

void permute(std::string_view spec, const Layout& input, const void* a, const Layout& output, void* b,
             const PermuteOptions& options) {
  // The plan of an earlier call with the same arguments, if there was one: a look-up by text, about a microsecond.
  static std::mutex mutex;
  static auto* plans = new std::map<std::string, Plan>;
  std::string key = fmt::format(
      "{}|{}|{}|{}|{}|{},{}|{},{}|{}|{}|{}|", spec, name(options.device), options.gpu, options.target_sm,
      options.threads, options.alpha.real(), options.alpha.imag(), options.beta.real(), options.beta.imag(),
      options.conjugate, options.schedule,
      options.device == Device::gpu && options.gpu < 0 && jit::cuda::available() ? jit::cuda::current_device() : -1);
  for (const auto* layout : {&input, &output}) {
    key += fmt::format("{}@{}", name(layout->type), layout->alignment);
    for (std::size_t k = 0; k < layout->extents.size(); ++k) {
      key += fmt::format(",{}:{}", layout->extents[k], k < layout->strides.size() ? layout->strides[k] : 0);
    }
    key += '|';
  }
  {
    const std::lock_guard lock(mutex);
    if (const auto place = plans->find(key); place != plans->end()) {
      const Plan plan = place->second;
      plan(b, a);
      return;
    }
  }
  const Plan plan = Runtime::global().plan_permute(spec, input, output, options);
  {
    const std::lock_guard lock(mutex);
    constexpr std::size_t kKept = 4096;
    if (plans->size() >= kKept) plans->clear();
    plans->emplace(std::move(key), plan);
  }
  plan(b, a);
}

}  // namespace v1
}  // namespace ricci
