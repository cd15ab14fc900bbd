// The C interface: the one place where errors become status codes.
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "frontend/formula.hpp"
#include "frontend/problem.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"
#include "ricci/ricci.h"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"
#include "ricci/version.hpp"

struct ricci_plan {
  ricci::Plan plan;
};

namespace {

thread_local std::string last_error;

ricci_status fail(ricci_status status, const char* text) {
  last_error = text;
  return status;
}

/// Runs a function and turns what it throws into a status and a text.
template <class F>
ricci_status guarded(F function) {
  try {
    function();
    return RICCI_OK;
  } catch (const ricci::Error& error) {
    return fail(static_cast<ricci_status>(-1 - static_cast<int>(error.code())), error.what());
  } catch (const std::exception& error) {
    return fail(RICCI_ERROR_INTERNAL, error.what());
  }
}

const char* const kNull = "a null argument where a value is needed";

// C callers may pass any number for an enumerator, and any pointer with any count: each number is checked before it is
// used, and a count before the array behind it is read.

/// An enumerator as the number that it is: C++ forbids to look at one that is none of its type's values.
template <class Enum>
int number_of(const Enum& value) {
  static_assert(sizeof value == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

ricci::Layout layout_of(const ricci_layout& given) {
  const int type = number_of(given.type);
  if (type < RICCI_I8 || type > RICCI_C128) {
    throw ricci::ShapeError(
        fmt::format("a layout has an unknown element type, {}; there are {} (RICCI_I8) to {} (RICCI_C128)", type,
                    static_cast<int>(RICCI_I8), static_cast<int>(RICCI_C128)));
  }
  if (given.rank < 0 || given.rank > ricci::ir::kMaxRank) {
    throw ricci::ShapeError(
        fmt::format("a layout has rank {}; a tensor has 0 to {} axes", given.rank, ricci::ir::kMaxRank));
  }
  if (given.rank > 0 && given.extents == nullptr) {
    throw ricci::ShapeError(fmt::format("a layout of rank {} has no extents", given.rank));
  }
  std::vector<std::int64_t> extents(given.extents, given.extents + given.rank);
  auto layout = given.strides == nullptr ? ricci::Layout::row_major(static_cast<ricci::DType>(type), std::move(extents))
                                         : ricci::Layout::strided(static_cast<ricci::DType>(type), std::move(extents),
                                                                  {given.strides, given.strides + given.rank});
  layout.alignment = given.alignment;
  return layout;
}

ricci::Device device_of(const ricci_device& given) {
  const int device = number_of(given);
  if (device == RICCI_CPU) return ricci::Device::cpu;
  if (device == RICCI_GPU) return ricci::Device::gpu;
  throw ricci::DeviceError(fmt::format("{} is no device; there are {} (RICCI_CPU) and {} (RICCI_GPU)", device,
                                       static_cast<int>(RICCI_CPU), static_cast<int>(RICCI_GPU)));
}

ricci::PlanMode mode_of(const ricci_plan_mode& given) {
  const int mode = number_of(given);
  if (mode >= RICCI_PLAN_ESTIMATE && mode <= RICCI_PLAN_MODEL) return static_cast<ricci::PlanMode>(mode);
  throw ricci::PlanError(fmt::format("{} is no plan mode; there are {} (RICCI_PLAN_ESTIMATE) to {} (RICCI_PLAN_MODEL)",
                                     mode, static_cast<int>(RICCI_PLAN_ESTIMATE), static_cast<int>(RICCI_PLAN_MODEL)));
}

ricci::EinsumOptions::Path path_of(const ricci_path& given) {
  const int path = number_of(given);
  if (path == RICCI_PATH_FLOPS) return ricci::EinsumOptions::Path::flops;
  if (path == RICCI_PATH_MEMORY) return ricci::EinsumOptions::Path::memory;
  throw ricci::PlanError(fmt::format("{} is no path; there are {} (RICCI_PATH_FLOPS) and {} (RICCI_PATH_MEMORY)", path,
                                     static_cast<int>(RICCI_PATH_FLOPS), static_cast<int>(RICCI_PATH_MEMORY)));
}

int count_of(std::span<const ricci::Argument> arguments) { return static_cast<int>(arguments.size()); }

const char* name_in(std::span<const ricci::Argument> arguments, int number) {
  return number >= 0 && number < count_of(arguments) ? arguments[static_cast<std::size_t>(number)].name.c_str() : "";
}

}  // namespace

extern "C" {

const char* ricci_version(void) { return RICCI_VERSION; }
const char* ricci_last_error(void) { return last_error.c_str(); }

const char* ricci_status_name(ricci_status status) {
  const int number = number_of(status);
  if (number == RICCI_OK) return "ok";
  const bool known = number <= RICCI_ERROR_SPEC && number >= RICCI_ERROR_INTERNAL;
  return known ? ricci::name(static_cast<ricci::ErrorCode>(-1 - number)) : "unknown";
}

ricci_permute_options ricci_permute_options_default(void) {
  return {RICCI_CPU, -1, 1, 0, 0, 0, 0, 0, RICCI_PLAN_ESTIMATE};
}

ricci_status ricci_plan_permute(const char* spec, const ricci_layout* input, const ricci_layout* output,
                                const ricci_permute_options* options, ricci_plan** plan) {
  if (spec == nullptr || input == nullptr || output == nullptr || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto given = options != nullptr ? *options : ricci_permute_options_default();
    ricci::PermuteOptions permute;
    permute.device = device_of(given.device);
    permute.gpu = given.gpu;
    permute.alpha = {given.alpha_re, given.alpha_im};
    permute.beta = {given.beta_re, given.beta_im};
    permute.conjugate = given.conjugate != 0;
    permute.threads = given.threads;
    permute.mode = mode_of(given.mode);
    *plan = new ricci_plan{ricci::Runtime::global().plan_permute(spec, layout_of(*input), layout_of(*output), permute)};
  });
}

ricci_einsum_options ricci_einsum_options_default(void) {
  return {RICCI_CPU, -1, 1, 0, 0, 0, nullptr, RICCI_PATH_FLOPS, 0, RICCI_PLAN_ESTIMATE};
}

ricci_status ricci_plan_einsum(const char* spec, int count, const ricci_layout* inputs, const ricci_layout* output,
                               const ricci_einsum_options* options, ricci_plan** plan) {
  if (spec == nullptr || count < 0 || (inputs == nullptr && count > 0) || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto given = options != nullptr ? *options : ricci_einsum_options_default();
    ricci::EinsumOptions einsum;
    einsum.device = device_of(given.device);
    einsum.gpu = given.gpu;
    einsum.alpha = {given.alpha_re, given.alpha_im};
    einsum.beta = {given.beta_re, given.beta_im};
    einsum.threads = given.threads;
    einsum.mode = mode_of(given.mode);
    einsum.path = path_of(given.path);
    if (const auto operands = ricci::Spec::parse(spec).operands.size(); operands != static_cast<std::size_t>(count)) {
      throw ricci::ShapeError(fmt::format("the spec has {} operand{}, {} layout{} given\n  {}", operands,
                                          operands == 1 ? "" : "s", count, count == 1 ? " was" : "s were", spec));
    }
    std::vector<ricci::Layout> layouts;
    for (int k = 0; k < count; ++k) {
      layouts.push_back(layout_of(inputs[k]));
      if (given.conjugate != nullptr) einsum.conjugate.push_back(given.conjugate[k] != 0);
    }
    const auto to = output != nullptr ? layout_of(*output) : ricci::einsum_output(spec, layouts);
    *plan = new ricci_plan{ricci::Runtime::global().plan_einsum(spec, layouts, to, einsum)};
  });
}

ricci_status ricci_plan_program(const char* text, int count, const ricci_extent* extents, ricci_device device, int gpu,
                                int threads, ricci_plan_mode mode, ricci_plan** plan) {
  if (text == nullptr || count < 0 || (extents == nullptr && count > 0) || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    auto program = ricci::Program::parse(text);
    if (const auto indices = program.formula().indices.size(); static_cast<std::size_t>(count) > indices) {
      throw ricci::ShapeError(fmt::format("{} extents were given, and the program has {} indices", count, indices));
    }
    for (int k = 0; k < count; ++k) {
      if (extents[k].index == nullptr) throw ricci::ShapeError(kNull);
      program.set_extent(extents[k].index, extents[k].extent);
    }
    ricci::PlanOptions options;
    options.device = device_of(device);
    options.gpu = gpu;
    options.threads = threads;
    options.mode = mode_of(mode);
    *plan = new ricci_plan{ricci::Runtime::global().plan_program(program, options)};
  });
}

const char* ricci_plan_choice(const ricci_plan* plan) {
  return plan == nullptr ? "" : plan->plan.info().choice.c_str();
}

int ricci_plan_outputs(const ricci_plan* plan) { return plan == nullptr ? 0 : count_of(plan->plan.outputs()); }
int ricci_plan_inputs(const ricci_plan* plan) { return plan == nullptr ? 0 : count_of(plan->plan.inputs()); }
int ricci_plan_params(const ricci_plan* plan) { return plan == nullptr ? 0 : count_of(plan->plan.params()); }

const char* ricci_plan_output_name(const ricci_plan* plan, int number) {
  return plan == nullptr ? "" : name_in(plan->plan.outputs(), number);
}
const char* ricci_plan_input_name(const ricci_plan* plan, int number) {
  return plan == nullptr ? "" : name_in(plan->plan.inputs(), number);
}
const char* ricci_plan_param_name(const ricci_plan* plan, int number) {
  return plan == nullptr ? "" : name_in(plan->plan.params(), number);
}

ricci_status ricci_plan_output_shape(const ricci_plan* plan, ricci_dtype* type, int* rank, int64_t* extents) {
  if (plan == nullptr || type == nullptr || rank == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  const auto& layout = plan->plan.output_layout();
  *type = static_cast<ricci_dtype>(layout.type);
  *rank = layout.rank();
  for (int k = 0; extents != nullptr && k < *rank; ++k) extents[k] = layout.extents[static_cast<std::size_t>(k)];
  return RICCI_OK;
}

int64_t ricci_plan_workspace_bytes(const ricci_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.info().workspace_bytes;
}

ricci_status ricci_execute(const ricci_plan* plan, void* const* outputs, const void* const* inputs,
                           const ricci_call* call) {
  if (plan == nullptr) return fail(RICCI_ERROR_PLAN, kNull);
  const auto& p = plan->plan;
  const auto given = call != nullptr ? *call : ricci_call{};
  if ((outputs == nullptr && !p.outputs().empty()) || (inputs == nullptr && !p.inputs().empty()) ||
      (given.params == nullptr && !p.params().empty()) || given.workspace_bytes < 0) {
    return fail(RICCI_ERROR_SHAPE, kNull);
  }
  return guarded([&] {
    std::vector<ricci::Scalar> params;
    for (std::size_t k = 0; k < p.params().size(); ++k) params.emplace_back(given.params[k].re, given.params[k].im);
    ricci::Call run;
    run.stream = given.stream;
    run.params = params;
    run.workspace = given.workspace;
    run.workspace_bytes = static_cast<std::size_t>(given.workspace_bytes);
    p(std::span<void* const>(outputs, p.outputs().size()), std::span<const void* const>(inputs, p.inputs().size()),
      run);
  });
}

ricci_status ricci_plan_execute(const ricci_plan* plan, void* output, const void* input, void* stream) {
  if (plan == nullptr) return fail(RICCI_ERROR_PLAN, kNull);
  return guarded([&] {
    ricci::Call call;
    call.stream = stream;
    plan->plan(output, input, call);
  });
}

const char* ricci_plan_source(const ricci_plan* plan) { return plan == nullptr ? "" : plan->plan.source().c_str(); }

void ricci_plan_release(ricci_plan* plan) { delete plan; }

}  // extern "C"
