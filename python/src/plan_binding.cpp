// Plans: made from arrays or layouts, called, looked at.
#include <fmt/format.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "operation.hpp"
#include "plan_texts.hpp"
#include "ricci/error.hpp"

namespace ricci::python {
namespace {

using namespace nb::literals;

/// The form of what a plan is asked for: a Layout, or an array that is looked at and not kept.
Form form_of(nb::handle given, const char* what) {
  if (nb::isinstance<Layout>(given)) return Form::of(nb::cast<const Layout&>(given), Device::cpu, -1);
  Array array;
  Stream stream{nb::none()};
  array.take(given, what, stream);
  return array.form;
}

struct Wishes {
  nb::handle out, addend;
  std::string_view order;
  nb::handle dtype;
  Scalar alpha, beta;
  PlanWords words;
};

std::shared_ptr<PlannedOperation> make_plan(Operation operation, nb::args given, const Wishes& wishes) {
  if (given.size() == 0) throw nb::type_error("no operand was given");
  operation.has_addend = !wishes.addend.is_none();
  const auto operands = with_addend(given, wishes.addend);
  operation.order = order_of(wishes.order);
  if (!wishes.dtype.is_none()) operation.type = dtype_of(wishes.dtype);
  operation.alpha = wishes.alpha;
  operation.beta = wishes.beta;
  operation.options = wishes.words.options();
  std::vector<Form> forms;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    forms.push_back(form_of(operands[k], fmt::format("operand {}", k).c_str()));
  }
  if (wishes.out.is_none()) return std::make_shared<PlannedOperation>(operation, forms, nullptr);
  const auto out = form_of(wishes.out, "out");
  return std::make_shared<PlannedOperation>(operation, forms, &out);
}

/// Packs arrays for the constant operands of a plan, with the interpreter detached.
Packed pack(const PlannedOperation& planned, nb::args operands, nb::handle given_stream) {
  if (operands.size() != planned.constants.size()) {
    throw ShapeError(
        fmt::format("this plan has {} constant operands; {} were given", planned.constants.size(), operands.size()));
  }
  Stream stream(given_stream);
  const std::unique_ptr<Array[]> arrays(new Array[operands.size() + 1]);
  take_operands(operands, {arrays.get(), operands.size()}, stream);
  std::vector<const void*> pointers;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!arrays[k].form.same(planned.constants[k])) {
      throw ShapeError(fmt::format("constant operand {} has another type, shape, strides or device than the plan", k));
    }
    pointers.push_back(arrays[k].data);
  }
  const nb::gil_scoped_release detached;
  return planned.plan.pack(pointers, stream.handle());
}

nb::tuple tuple_of(const std::vector<std::int64_t>& numbers) {
  nb::list list;
  for (const auto number : numbers) list.append(number);
  return nb::tuple(list);
}

void bind_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout",
                     "Element type, shape and strides (in elements) of an array, to plan without one.")
      .def(
          "__init__",
          [](Layout* self, std::vector<std::int64_t> shape, nb::handle dtype,
             std::optional<std::vector<std::int64_t>> strides) {
            const auto type = dtype_of(dtype);
            for (const auto extent : shape) {
              if (extent < 0) throw ShapeError(fmt::format("a layout has an extent of {}", extent));
            }
            new (self) Layout(strides ? Layout::strided(type, std::move(shape), std::move(*strides))
                                      : Layout::row_major(type, std::move(shape)));
          },
          "shape"_a, "dtype"_a = "float64", "strides"_a = nb::none())
      .def_prop_ro("dtype", [](const Layout& self) { return numpy_name(self.type); })
      .def_prop_ro("shape", [](const Layout& self) { return tuple_of(self.extents); })
      .def_prop_ro("strides", [](const Layout& self) { return tuple_of(self.strides); })
      .def("__repr__", [](const Layout& self) {
        return fmt::format("ricci.Layout({}, '{}', strides={})", nb::repr(tuple_of(self.extents)).c_str(),
                           numpy_name(self.type), nb::repr(tuple_of(self.strides)).c_str());
      });
}

}  // namespace

PlanOptions PlanWords::options() const {
  PlanOptions options;
  options.threads = threads;
  options.schedule = schedule;
  options.precision = parse_precision(precision);
  if (workspace_limit) options.workspace_limit = *workspace_limit;
  constexpr std::array<std::pair<const char*, PlanMode>, 4> kModes = {{{"estimate", PlanMode::estimate},
                                                                       {"measure", PlanMode::measure},
                                                                       {"remeasure", PlanMode::remeasure},
                                                                       {"model", PlanMode::model}}};
  for (const auto& [word, value] : kModes) {
    if (mode == word) {
      options.mode = value;
      return options;
    }
  }
  throw nb::value_error(
      fmt::format("mode='{}': it is one of 'estimate', 'measure', 'remeasure' and 'model'", mode).c_str());
}

void bind_plans(nb::module_& module) {
  bind_layout(module);
  nb::class_<PlanInfo>(module, "PlanInfo", "Statistics of a plan; times in milliseconds.")
      .def_ro("steps", &PlanInfo::steps)
      .def_ro("kernel", &PlanInfo::kernel)
      .def_ro("schedule", &PlanInfo::schedule)
      .def_ro("choice", &PlanInfo::choice)
      .def_ro("origin", &PlanInfo::origin)
      .def_ro("plan_ms", &PlanInfo::plan_ms)
      .def_ro("generate_ms", &PlanInfo::generate_ms)
      .def_ro("compile_ms", &PlanInfo::compile_ms)
      .def_ro("load_ms", &PlanInfo::load_ms)
      .def_ro("measure_ms", &PlanInfo::measure_ms)
      .def_ro("registers", &PlanInfo::registers)
      .def_ro("spill_bytes", &PlanInfo::spill_bytes)
      .def_ro("shared_bytes", &PlanInfo::shared_bytes)
      .def_ro("compulsory_bytes", &PlanInfo::compulsory_bytes)
      .def_ro("workspace_bytes", &PlanInfo::workspace_bytes)
      .def_ro("packed_bytes", &PlanInfo::packed_bytes)
      .def_ro("flops", &PlanInfo::flops);
  nb::class_<CandidateInfo>(module, "Candidate", "One schedule that the planner considered.")
      .def_ro("name", &CandidateInfo::name)
      .def_ro("predicted_us", &CandidateInfo::predicted_us)
      .def_ro("measured_us", &CandidateInfo::measured_us)
      .def_ro("step", &CandidateInfo::step)
      .def_ro("written", &CandidateInfo::written)
      .def_ro("chosen", &CandidateInfo::chosen)
      .def("__repr__", [](const CandidateInfo& self) {
        return fmt::format("<ricci.Candidate '{}', {:.2f} us predicted{}>", self.name, self.predicted_us,
                           self.chosen ? ", chosen" : "");
      });

  nb::class_<Packed>(module, "Packed",
                     "Constant operands of a plan, as its kernels read them. For any number of calls.")
      .def_prop_ro("bytes", &Packed::bytes)
      .def("__repr__", [](const Packed& self) { return fmt::format("<ricci.Packed, {} bytes>", self.bytes()); });

  static const PyType_Slot kCall[] = {{Py_tp_call, reinterpret_cast<void*>(&call_plan)}, {0, nullptr}};
  nb::class_<PlannedOperation> plan(
      module, "Plan", nb::type_slots(kCall),
      "One permutation or einsum, decided and compiled. Immutable, for any number of threads. plan(*operands, "
      "out=None, "
      "alpha=None,\nbeta=None, stream=None, packed=None, progress=None) runs it on arrays of the forms that it was "
      "made for, the "
      "addend behind the operands.\nReturns out, or a new array.");
  bind_plan_texts(plan);
  plan.def("pack", &pack, "constants"_a, nb::kw_only(), "stream"_a = nb::none(),
           "The constant operands, rewritten once for packed= of any number of calls; they are not needed afterwards.")
      .def_prop_ro("output", [](const PlannedOperation& self) { return self.result.form.layout(); })
      .def_prop_ro("inputs", [](const PlannedOperation& self) {
        std::vector<Layout> layouts;
        for (const auto& input : self.inputs) layouts.push_back(input.layout());
        return layouts;
      });

  module.def(
      "plan_permute",
      [](std::string_view spec, nb::handle x, nb::handle out, std::string_view order, Scalar alpha, Scalar beta,
         bool conj, nb::handle dtype, int threads, const std::string& schedule, const std::string& mode,
         const std::string& precision, std::optional<std::int64_t> workspace_limit, nb::handle addend) {
        Operation operation;
        operation.kind = Operation::Kind::permute;
        operation.spec = spec;
        operation.conjugate = {conj};
        return make_plan(
            operation, nb::borrow<nb::args>(nb::make_tuple(x)),
            {out, addend, order, dtype, alpha, beta, {threads, schedule, mode, precision, workspace_limit}});
      },
      "spec"_a, "x"_a, nb::kw_only(), "out"_a = nb::none(), "order"_a = "C", "alpha"_a = 1.0, "beta"_a = 0.0,
      "conj"_a = false, "dtype"_a = nb::none(), "threads"_a = 0, "schedule"_a = "", "mode"_a = "estimate",
      "precision"_a = "operands", "workspace_limit"_a = nb::none(), "addend"_a = nb::none(),
      "A plan for arrays like x (and out and addend), which may be Layouts.");
  module.def(
      "plan_einsum",
      [](std::string_view spec, nb::args operands, nb::handle out, std::string_view order, nb::handle dtype,
         Scalar alpha, Scalar beta, const std::vector<bool>& conj, int threads, const std::string& schedule,
         const std::string& mode, const std::string& precision, std::optional<std::int64_t> workspace_limit,
         nb::handle addend, const std::vector<bool>& constant) {
        Operation operation;
        operation.spec = spec;
        operation.conjugate = conj;
        operation.constant = constant;
        return make_plan(
            operation, operands,
            {out, addend, order, dtype, alpha, beta, {threads, schedule, mode, precision, workspace_limit}});
      },
      "spec"_a, "operands"_a, nb::kw_only(), "out"_a = nb::none(), "order"_a = "K", "dtype"_a = nb::none(),
      "alpha"_a = 1.0, "beta"_a = 0.0, "conj"_a = std::vector<bool>{}, "threads"_a = 0, "schedule"_a = "",
      "mode"_a = "estimate", "precision"_a = "operands", "workspace_limit"_a = nb::none(), "addend"_a = nb::none(),
      "constant"_a = std::vector<bool>{},
      "A plan for arrays like the operands (and out and addend), which may be Layouts. Operands that are constant are "
      "given to\nits pack() once, and calls take the others alone.");
}

}  // namespace ricci::python
