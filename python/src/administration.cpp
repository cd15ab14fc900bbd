// The module: errors, the cache, the doctor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "cache/admin.hpp"
#include "operation.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "ricci/version.hpp"

namespace ricci::python {
namespace {

using namespace nb::literals;

cache::Config config() { return cache::Config::from_environment(); }

const char* word(DoctorLine::State state) {
  return state == DoctorLine::State::ok ? "ok" : state == DoctorLine::State::missing ? "missing" : "broken";
}

nb::dict stats() {
  const auto found = [] {
    const nb::gil_scoped_release detached;
    return cache::stats(config());
  }();
  nb::list roots;
  for (const auto& root : found.roots) {
    nb::dict one;
    one["directory"] = root.root.string();
    one["read_only"] = root.read_only;
    one["entries"] = root.entries;
    one["bytes"] = root.bytes;
    roots.append(one);
  }
  nb::dict all;
  all["roots"] = roots;
  all["max_bytes"] = found.max_bytes;
  return all;
}

nb::dict prune(bool all, std::optional<std::uint64_t> max_bytes) {
  const auto report = [&] {
    const nb::gil_scoped_release detached;
    return cache::prune(config(), {max_bytes, {}, all});
  }();
  nb::dict told;
  told["removed_entries"] = report.removed_entries;
  told["removed_bytes"] = report.removed_bytes;
  told["entries"] = report.entries;
  told["bytes"] = report.bytes;
  return told;
}

}  // namespace

/// Every ricci::Error as the exception of its name in ricci._errors.
void translate(const std::exception_ptr& thrown, void*) {
  static constexpr std::array<const char*, 8> kNames = {"SpecError",   "ShapeError", "PlanError", "CompileError",
                                                        "DeviceError", "CacheError", "IoError",   "InternalError"};
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("ricci._errors").attr(kNames[static_cast<std::size_t>(error.code())]);
    nb::object raised = type(error.what());
    if (const auto* const compile = dynamic_cast<const CompileError*>(&error)) {
      raised.attr("source") = compile->source();
      raised.attr("log") = compile->log();
    }
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

void bind_administration(nb::module_& module) {
  module.attr("__version__") = RICCI_VERSION;
  nb::register_exception_translator(translate);
  module.def("cache_stats", &stats);
  module.def("cache_prune", &prune, nb::kw_only(), "all"_a = false, "max_bytes"_a = nb::none());
  module.def("doctor", [] {
    const auto lines = [] {
      const nb::gil_scoped_release detached;
      return doctor();
    }();
    nb::list told;
    for (const auto& line : lines) told.append(nb::make_tuple(line.subject, word(line.state), line.text));
    return told;
  });
}

}  // namespace ricci::python

NB_MODULE(_ricci, module) {
  ricci::python::bind_administration(module);
  ricci::python::bind_operations(module);
  ricci::python::bind_plans(module);
  ricci::python::bind_programs(module);
  ricci::python::bind_jax(module);
}
