// The C interface: the one place where errors become status codes.
#include <exception>
#include <memory>
#include <string>

#include "ricci/error.hpp"
#include "ricci/ricci.h"
#include "ricci/runtime.hpp"
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

ricci::Layout layout_of(const ricci_layout& given) {
  if (given.type < RICCI_I8 || given.type > RICCI_C128) throw ricci::ShapeError("a layout has an unknown element type");
  if (given.rank < 0 || (given.rank > 0 && given.extents == nullptr)) {
    throw ricci::ShapeError("a layout has a negative rank, or no extents");
  }
  const auto type = static_cast<ricci::DType>(given.type);
  std::vector<std::int64_t> extents(given.extents, given.extents + given.rank);
  auto layout = given.strides == nullptr
                    ? ricci::Layout::row_major(type, std::move(extents))
                    : ricci::Layout::strided(type, std::move(extents), {given.strides, given.strides + given.rank});
  layout.alignment = given.alignment;
  return layout;
}

}  // namespace

extern "C" {

const char* ricci_version(void) { return RICCI_VERSION; }
const char* ricci_last_error(void) { return last_error.c_str(); }

const char* ricci_status_name(ricci_status status) {
  return status == RICCI_OK ? "ok" : ricci::name(static_cast<ricci::ErrorCode>(-1 - static_cast<int>(status)));
}

ricci_permute_options ricci_permute_options_default(void) { return {RICCI_CPU, -1, 1, 0, 0, 0, 0, 0}; }

ricci_status ricci_plan_permute(const char* spec, const ricci_layout* input, const ricci_layout* output,
                                const ricci_permute_options* options, ricci_plan** plan) {
  if (spec == nullptr || input == nullptr || output == nullptr || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto given = options != nullptr ? *options : ricci_permute_options_default();
    ricci::PermuteOptions permute;
    permute.device = given.device == RICCI_GPU ? ricci::Device::gpu : ricci::Device::cpu;
    permute.gpu = given.gpu;
    permute.alpha = {given.alpha_re, given.alpha_im};
    permute.beta = {given.beta_re, given.beta_im};
    permute.conjugate = given.conjugate != 0;
    permute.threads = given.threads;
    *plan = new ricci_plan{ricci::Runtime::global().plan_permute(spec, layout_of(*input), layout_of(*output), permute)};
  });
}

ricci_status ricci_plan_execute(const ricci_plan* plan, void* output, const void* input, void* stream) {
  if (plan == nullptr) return fail(RICCI_ERROR_PLAN, kNull);
  return guarded([&] { plan->plan(output, input, {{}, {}, stream}); });
}

const char* ricci_plan_source(const ricci_plan* plan) { return plan == nullptr ? "" : plan->plan.source().c_str(); }

void ricci_plan_release(ricci_plan* plan) { delete plan; }

}  // extern "C"
