// The C interface: the one place where errors become status codes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/formula.hpp"
#include "frontend/problem.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "ricci/program.hpp"
#include "ricci/ricci.h"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"
#include "ricci/version.hpp"
#include "runtime/options.hpp"

struct ricci_plan {
  ricci::Plan plan;
  /// Texts that were asked for, by name: a caller's pointers to them live as long as the plan.
  mutable std::map<std::string, std::string, std::less<>> texts = {};
  mutable std::mutex texts_mutex = {};
};

struct ricci_options {
  ricci::runtime::Options options;
};

struct ricci_runtime {
  ricci::Runtime runtime;
};

struct ricci_packed {
  ricci::Packed packed;
};

namespace {

struct LastError {
  std::string text;
  ricci_status status = RICCI_OK;
  ricci::TextPosition position;
};
thread_local LastError last_error;

ricci_status fail(ricci_status status, const char* text, ricci::TextPosition position = {}) {
  last_error = {text, status, position};
  return status;
}

/// Runs a function and turns what it throws into a status and a text.
template <class F>
ricci_status guarded(F function) {
  try {
    function();
    return RICCI_OK;
  } catch (const ricci::Error& error) {
    return fail(static_cast<ricci_status>(-1 - static_cast<int>(error.code())), error.what(), error.position());
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

/// The options of one kind, or their defaults where none are given.
template <class Kind>
const Kind& options_of(const ricci_options* given) {
  static const Kind defaults;
  if (given == nullptr) return defaults;
  if (const auto* options = std::get_if<Kind>(&given->options)) return *options;
  throw ricci::PlanError("these options were created for something else: see ricci_options_kind");
}

ricci::Runtime& runtime_of(ricci_runtime* given) {
  return given != nullptr ? given->runtime : ricci::Runtime::global();
}

/// A name, and what it stands for.
template <class Owner, class Value>
struct Named {
  std::string_view name;
  Value (*get)(const Owner& owner);
};

constexpr Named<ricci::Plan, std::string> kPlanTexts[] = {
    {"source", [](const ricci::Plan& plan) { return plan.source(); }},
    {"explain", [](const ricci::Plan& plan) { return plan.explain(); }},
    {"program", [](const ricci::Plan& plan) { return plan.program(); }},
    {"passes", [](const ricci::Plan& plan) { return plan.passes(); }},
    {"assembly", [](const ricci::Plan& plan) { return plan.assembly(); }},
    {"key", [](const ricci::Plan& plan) { return plan.key(); }},
    {"cache-path", [](const ricci::Plan& plan) { return plan.cache_path(); }},
    {"kernel", [](const ricci::Plan& plan) { return plan.info().kernel; }},
    {"schedule", [](const ricci::Plan& plan) { return plan.info().schedule; }},
    {"choice", [](const ricci::Plan& plan) { return plan.info().choice; }},
    {"origin", [](const ricci::Plan& plan) { return plan.info().origin; }},
};

using ricci::PlanInfo;
constexpr Named<PlanInfo, double> kPlanNumbers[] = {
    {"steps", [](const PlanInfo& info) -> double { return info.steps; }},
    {"plan-ms", [](const PlanInfo& info) { return info.plan_ms; }},
    {"generate-ms", [](const PlanInfo& info) { return info.generate_ms; }},
    {"compile-ms", [](const PlanInfo& info) { return info.compile_ms; }},
    {"load-ms", [](const PlanInfo& info) { return info.load_ms; }},
    {"measure-ms", [](const PlanInfo& info) { return info.measure_ms; }},
    {"registers", [](const PlanInfo& info) -> double { return info.registers; }},
    {"spill-bytes", [](const PlanInfo& info) -> double { return info.spill_bytes; }},
    {"shared-bytes", [](const PlanInfo& info) -> double { return info.shared_bytes; }},
    {"compulsory-bytes", [](const PlanInfo& info) { return static_cast<double>(info.compulsory_bytes); }},
    {"workspace-bytes", [](const PlanInfo& info) { return static_cast<double>(info.workspace_bytes); }},
    {"packed-bytes", [](const PlanInfo& info) { return static_cast<double>(info.packed_bytes); }},
    {"flops", [](const PlanInfo& info) { return info.flops; }},
};

using ricci::CacheStatistics;
constexpr Named<CacheStatistics, std::uint64_t> kCacheNumbers[] = {
    {"memory-hits", [](const CacheStatistics& cache) { return cache.memory_hits; }},
    {"disk-hits", [](const CacheStatistics& cache) { return cache.disk_hits; }},
    {"misses", [](const CacheStatistics& cache) { return cache.misses; }},
    {"made", [](const CacheStatistics& cache) { return cache.made; }},
    {"stored", [](const CacheStatistics& cache) { return cache.stored; }},
    {"damaged", [](const CacheStatistics& cache) { return cache.damaged; }},
};

/// Throws PlanError for an unknown name, listing those that are known.
template <class Owner, class Value, std::size_t N>
Value value_of(const Named<Owner, Value> (&all)[N], std::string_view name, const Owner& owner) {
  std::vector<std::string_view> names;
  for (const auto& one : all) {
    if (one.name == name) return one.get(owner);
    names.push_back(one.name);
  }
  throw ricci::PlanError(fmt::format("nothing is called \"{}\" here; there are {}", name, fmt::join(names, ", ")));
}

/// A call as its caller's header knows it; what that does not have is as if nothing was given.
ricci_call call_of(const ricci_call* given) {
  ricci_call call = RICCI_CALL;
  if (given == nullptr) return call;
  const auto size = given->size;
  if (size < static_cast<std::int64_t>(sizeof size) || size > static_cast<std::int64_t>(sizeof call)) {
    throw ricci::PlanError(
        fmt::format("a ricci_call of {} bytes; this library knows {}. Begin with RICCI_CALL, and take no newer header "
                    "than the library",
                    size, sizeof call));
  }
  std::memcpy(&call, given, static_cast<std::size_t>(size));
  return call;
}

std::optional<ricci::Scalar> factor_of(const ricci_scalar* given) {
  return given != nullptr ? std::optional<ricci::Scalar>({given->re, given->im}) : std::nullopt;
}

int count_of(std::span<const ricci::Argument> arguments) { return static_cast<int>(arguments.size()); }

const char* name_in(std::span<const ricci::Argument> arguments, int number) {
  return number >= 0 && number < count_of(arguments) ? arguments[static_cast<std::size_t>(number)].name.c_str() : "";
}

}  // namespace

extern "C" {

const char* ricci_version(void) { return RICCI_VERSION; }
const char* ricci_last_error(void) { return last_error.text.c_str(); }
ricci_status ricci_last_error_status(void) { return last_error.status; }
void ricci_last_error_position(int* line, int* column, int64_t* offset) {
  if (line != nullptr) *line = last_error.position.line;
  if (column != nullptr) *column = last_error.position.column;
  if (offset != nullptr) *offset = last_error.position.offset;
}

const char* ricci_status_name(ricci_status status) {
  const int number = number_of(status);
  if (number == RICCI_OK) return "ok";
  const bool known = number <= RICCI_ERROR_SPEC && number >= RICCI_ERROR_INTERNAL;
  return known ? ricci::name(static_cast<ricci::ErrorCode>(-1 - number)) : "unknown";
}

void ricci_set_log_topics(unsigned topics) { ricci::set_log_topics(topics); }

void ricci_set_log_sink(ricci_log_sink sink, void* context) {
  if (sink == nullptr) return ricci::set_log_sink({});
  ricci::set_log_sink([sink, context](ricci::LogTopic topic, std::string_view line) {
    sink(static_cast<unsigned>(topic), std::string(line).c_str(), context);
  });
}

ricci_status ricci_options_create(ricci_options_kind kind, ricci_options** options) {
  if (options == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  *options = nullptr;
  return guarded([&] {
    using namespace ricci;
    switch (number_of(kind)) {
      case RICCI_OPTIONS_PERMUTE:
        *options = new ricci_options{PermuteOptions{}};
        break;
      case RICCI_OPTIONS_EINSUM:
        *options = new ricci_options{runtime::EinsumTexts{}};
        break;
      case RICCI_OPTIONS_PROGRAM:
        *options = new ricci_options{PlanOptions{}};
        break;
      case RICCI_OPTIONS_RUNTIME:
        *options = new ricci_options{RuntimeOptions{}};
        break;
      default:
        throw PlanError(fmt::format(
            "{} is no kind of options; there are {} (RICCI_OPTIONS_PERMUTE) to {} "
            "(RICCI_OPTIONS_RUNTIME)",
            number_of(kind), static_cast<int>(RICCI_OPTIONS_PERMUTE), static_cast<int>(RICCI_OPTIONS_RUNTIME)));
    }
  });
}

void ricci_options_destroy(ricci_options* options) { delete options; }

ricci_status ricci_options_set(ricci_options* options, const char* key, const char* value) {
  if (options == nullptr || key == nullptr || value == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] { ricci::runtime::set_option(options->options, key, value); });
}

ricci_status ricci_options_set_layout(ricci_options* options, const char* key, const ricci_layout* layout) {
  if (options == nullptr || key == nullptr || layout == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] { ricci::runtime::set_option(options->options, key, layout_of(*layout)); });
}

ricci_status ricci_runtime_create(const ricci_options* options, ricci_runtime** runtime) {
  if (runtime == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  *runtime = nullptr;
  return guarded([&] { *runtime = new ricci_runtime{ricci::Runtime(options_of<ricci::RuntimeOptions>(options))}; });
}

void ricci_runtime_destroy(ricci_runtime* runtime) { delete runtime; }

ricci_status ricci_runtime_number(ricci_runtime* runtime, const char* name, int64_t* value) {
  if (name == nullptr || value == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] {
    *value = static_cast<std::int64_t>(value_of(kCacheNumbers, name, runtime_of(runtime).cache_statistics()));
  });
}

ricci_status ricci_plan_permute(ricci_runtime* runtime, const char* spec, const ricci_layout* input,
                                const ricci_layout* output, const ricci_options* options, ricci_plan** plan) {
  if (spec == nullptr || input == nullptr || output == nullptr || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto& permute = options_of<ricci::PermuteOptions>(options);
    *plan = new ricci_plan{runtime_of(runtime).plan_permute(spec, layout_of(*input), layout_of(*output), permute)};
  });
}

ricci_status ricci_plan_einsum(ricci_runtime* runtime, const char* spec, int count, const ricci_layout* inputs,
                               const ricci_layout* output, const ricci_options* options, ricci_plan** plan) {
  if (spec == nullptr || count < 0 || (inputs == nullptr && count > 0) || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto& texts = options_of<ricci::runtime::EinsumTexts>(options);
    if (const auto operands = ricci::Spec::parse(spec).operands.size(); operands != static_cast<std::size_t>(count)) {
      throw ricci::ShapeError(fmt::format("the spec has {} operand{}, {} layout{} given\n  {}", operands,
                                          operands == 1 ? "" : "s", count, count == 1 ? " was" : "s were", spec));
    }
    const auto einsum = texts.of(static_cast<std::size_t>(count));
    std::vector<ricci::Layout> layouts;
    for (int k = 0; k < count; ++k) layouts.push_back(layout_of(inputs[k]));
    const auto to = output != nullptr ? layout_of(*output) : ricci::einsum_output(spec, layouts);
    *plan = new ricci_plan{runtime_of(runtime).plan_einsum(spec, layouts, to, einsum)};
  });
}

ricci_status ricci_plan_program(ricci_runtime* runtime, const char* text, int count, const ricci_extent* extents,
                                const ricci_options* options, ricci_plan** plan) {
  if (text == nullptr || count < 0 || (extents == nullptr && count > 0) || plan == nullptr)
    return fail(RICCI_ERROR_SHAPE, kNull);
  *plan = nullptr;
  return guarded([&] {
    const auto& given = options_of<ricci::PlanOptions>(options);
    auto program = ricci::Program::parse(text);
    if (const auto indices = program.formula().indices.size(); static_cast<std::size_t>(count) > indices) {
      throw ricci::ShapeError(fmt::format("{} extents were given, and the program has {} indices", count, indices));
    }
    for (int k = 0; k < count; ++k) {
      if (extents[k].index == nullptr) throw ricci::ShapeError(kNull);
      program.set_extent(extents[k].index, extents[k].extent);
    }
    *plan = new ricci_plan{runtime_of(runtime).plan_program(program, given)};
  });
}

ricci_status ricci_plan_text(const ricci_plan* plan, const char* name, const char** text) {
  if (plan == nullptr || name == nullptr || text == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] {
    const std::lock_guard lock(plan->texts_mutex);
    auto place = plan->texts.find(name);
    if (place == plan->texts.end()) place = plan->texts.emplace(name, value_of(kPlanTexts, name, plan->plan)).first;
    *text = place->second.c_str();
  });
}

ricci_status ricci_plan_number(const ricci_plan* plan, const char* name, double* value) {
  if (plan == nullptr || name == nullptr || value == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] { *value = value_of(kPlanNumbers, name, plan->plan.info()); });
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

int ricci_plan_constants(const ricci_plan* plan) { return plan == nullptr ? 0 : count_of(plan->plan.constants()); }

ricci_status ricci_plan_pack(const ricci_plan* plan, const void* const* constants, void* stream,
                             ricci_packed** packed) {
  if (plan == nullptr || packed == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  *packed = nullptr;
  const auto count = plan->plan.constants().size();
  if (constants == nullptr && count > 0) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] { *packed = new ricci_packed{plan->plan.pack({constants, count}, stream)}; });
}

void ricci_packed_release(ricci_packed* packed) { delete packed; }

ricci_status ricci_plan_load(const ricci_plan* plan, int gpu) {
  if (plan == nullptr) return fail(RICCI_ERROR_SHAPE, kNull);
  return guarded([&] { plan->plan.load(gpu); });
}

ricci_status ricci_execute(const ricci_plan* plan, void* const* outputs, const void* const* inputs,
                           const ricci_call* call) {
  if (plan == nullptr) return fail(RICCI_ERROR_PLAN, kNull);
  const auto& p = plan->plan;
  return guarded([&] {
    const auto given = call_of(call);
    if ((outputs == nullptr && !p.outputs().empty()) || (inputs == nullptr && !p.inputs().empty()) ||
        (given.params == nullptr && !p.params().empty()) || given.workspace_bytes < 0) {
      throw ricci::ShapeError(kNull);
    }
    std::vector<ricci::Scalar> params;
    for (std::size_t k = 0; k < p.params().size(); ++k) params.emplace_back(given.params[k].re, given.params[k].im);
    ricci::Call run;
    run.alpha = factor_of(given.alpha);
    run.beta = factor_of(given.beta);
    run.stream = given.stream;
    run.params = params;
    run.workspace = given.workspace;
    run.packed = given.packed != nullptr ? &given.packed->packed : nullptr;
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

void ricci_plan_release(ricci_plan* plan) { delete plan; }

}  // extern "C"
