// What plans of operations and of programs tell of themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ricci/plan.hpp"

namespace ricci::python {

/// Binds the texts of `T::plan`. The long ones are made with the interpreter detached.
template <class T>
void bind_plan_texts(nanobind::class_<T>& type) {
  namespace nb = nanobind;
  const auto detached = nb::call_guard<nb::gil_scoped_release>();
  type.def_prop_ro("source", [](const T& self) { return self.plan.source(); })
      .def_prop_ro("program", [](const T& self) { return self.plan.program(); })
      .def_prop_ro("key", [](const T& self) { return self.plan.key(); })
      .def_prop_ro("cache_path", [](const T& self) { return self.plan.cache_path(); })
      .def_prop_ro("device", [](const T& self) { return name(self.plan.device()); })
      .def_prop_ro("info", [](const T& self) { return self.plan.info(); })
      .def(
          "candidates", [](const T& self) { return self.plan.candidates(); }, detached)
      .def(
          "explain", [](const T& self) { return self.plan.explain(); }, detached)
      .def(
          "passes", [](const T& self) { return self.plan.passes(); }, detached)
      .def(
          "assembly", [](const T& self) { return self.plan.assembly(); }, detached)
      .def("__repr__",
           [](const T& self) {
             const auto& info = self.plan.info();
             return "<ricci plan on " + std::string(name(self.plan.device())) + ": " + info.kernel + " (" +
                    info.schedule + "), " + info.origin + ">";
           })
      .def("_repr_html_", [](nb::handle self) { return nb::module_::import_("ricci._show").attr("html")(self); });
}

}  // namespace ricci::python
