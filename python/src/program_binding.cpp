// Programs of statements: what they declare, their plans, and calls of those.
#include <fmt/format.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>

#include "operation.hpp"
#include "plan_texts.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"

namespace ricci::python {
namespace {

using namespace nb::literals;

using Extents = std::map<std::string, std::int64_t>;
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// A program's text and what it declares. The text is read again for each plan, so that no plan changes another's.
struct ProgramText {
  explicit ProgramText(const std::string& given) : text(given) {
    const auto program = Program::parse(text);
    printed = program.print();
    name = program.name();
    tensors = program.tensors();
    params = program.params();
    open_extents = program.open_extents();
  }
  std::string text, printed, name;
  std::vector<TensorInfo> tensors;
  std::vector<ParamInfo> params;
  std::vector<std::string> open_extents;
};

/// A plan with the arrays that it takes, outputs first, one for each pointer.
struct PlannedProgram {
  PlannedProgram(const std::string& text, const Extents& extents, const Shapes& shapes, const PlanOptions& options)
      : plan(std::shared_ptr<const Plan::Impl>()) {
    auto program = Program::parse(text);
    for (const auto& [index, extent] : extents) program.set_extent(index, extent);
    program.bind(shapes);
    plan = Runtime::global().plan_program(program, options);
    tensors = program.tensors();
    for (const auto& tensor : tensors) {
      const auto layout = Layout::strided(tensor.type, tensor.shape, tensor.strides);
      for (const auto& buffer : tensor.buffers) forms.emplace(buffer, Form::of(layout, options.device, options.gpu));
    }
  }
  Plan plan;
  std::vector<TensorInfo> tensors;
  std::map<std::string, Form> forms;  ///< by name of the buffer
};

const char* role_of(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return "input";
    case TensorRole::output:
      return "output";
    case TensorRole::inout:
      return "inout";
    case TensorRole::local:
      return "local";
    case TensorRole::temp:
      return "temp";
  }
  return "?";
}

void take(const PlannedProgram& planned, const nb::dict& arrays, const Argument& argument, bool written, Array& array,
          Stream& stream) {
  if (!arrays.contains(argument.name.c_str())) {
    throw ShapeError(fmt::format("tensor {} was not given", argument.name));
  }
  array.take(arrays[argument.name.c_str()], argument.name.c_str(), stream);
  if (written && array.read_only) {
    throw ShapeError(fmt::format("{} is written, and the array is read-only", argument.name));
  }
  if (!array.form.same(planned.forms.at(argument.name))) {
    throw ShapeError(
        fmt::format("the array for {} has another type, shape, strides or device than its declaration", argument.name));
  }
}

void call_program(const PlannedProgram& planned, const nb::dict& arrays, const std::vector<Scalar>& params,
                  nb::handle given_stream, nb::handle given_progress) {
  Stream stream(given_stream);
  std::deque<Array> held;
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  for (const auto& argument : planned.plan.outputs()) {
    take(planned, arrays, argument, true, held.emplace_back(), stream);
    outputs.push_back(held.back().data);
  }
  for (const auto& argument : planned.plan.inputs()) {
    take(planned, arrays, argument, false, held.emplace_back(), stream);
    inputs.push_back(held.back().data);
  }
  Call call;
  call.params = params;
  call.stream = stream.handle();
  const Progress progress(given_progress, planned.plan.device());
  call.progress = progress.function();
  const nb::gil_scoped_release detached;
  planned.plan(outputs, inputs, call);
}

/// A new array for a written tensor's part, of the kind that `like` is.
nb::object new_part(const PlannedProgram& planned, const std::string& buffer, nb::handle like) {
  const auto& form = planned.forms.at(buffer);
  std::vector<int> order;
  for (int k = 0; k < form.rank; ++k) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return form.strides[a] > form.strides[b]; });
  return allocate(like, new_array(form, order), form.gpu).array;
}

nb::tuple strings(const std::vector<std::string>& from) {
  nb::list list;
  for (const auto& one : from) list.append(one);
  return nb::tuple(list);
}

}  // namespace

void bind_programs(nb::module_& module) {
  nb::class_<TensorInfo>(module, "TensorInfo", "One tensor of a program, as a caller brings it. -1: an open extent.")
      .def_ro("name", &TensorInfo::name)
      .def_prop_ro("role", [](const TensorInfo& self) { return role_of(self.role); })
      .def_prop_ro("dtype", [](const TensorInfo& self) { return numpy_name(self.type); })
      .def_prop_ro("shape", [](const TensorInfo& self) { return self.shape; })
      .def_prop_ro("strides", [](const TensorInfo& self) { return self.strides; })
      .def_prop_ro("buffers", [](const TensorInfo& self) { return strings(self.buffers); });
  nb::class_<ParamInfo>(module, "ParamInfo", "One parameter of a program.")
      .def_ro("name", &ParamInfo::name)
      .def_prop_ro("dtype", [](const ParamInfo& self) { return numpy_name(self.type); });

  nb::class_<ProgramText>(module, "ProgramText")
      .def(nb::init<const std::string&>(), "text"_a)
      .def_ro("text", &ProgramText::printed)
      .def_ro("name", &ProgramText::name)
      .def_ro("tensors", &ProgramText::tensors)
      .def_ro("params", &ProgramText::params)
      .def_ro("open_extents", &ProgramText::open_extents)
      .def(
          "plan",
          [](const ProgramText& self, const Extents& extents, const Shapes& shapes, int gpu, int threads,
             const std::string& schedule, const std::string& mode, const std::string& precision,
             std::optional<std::int64_t> workspace_limit) {
            auto options = PlanWords{threads, schedule, mode, precision, workspace_limit}.options();
            if (gpu >= 0) options.device = Device::gpu;
            options.gpu = gpu;
            const nb::gil_scoped_release detached;
            return std::make_shared<PlannedProgram>(self.text, extents, shapes, options);
          },
          "extents"_a, "shapes"_a, "gpu"_a = -1, "threads"_a = 0, "schedule"_a = "", "mode"_a = "estimate",
          "precision"_a = "operands", "workspace_limit"_a = nb::none());

  nb::class_<PlannedProgram> plan(module, "ProgramPlan", "A program with all extents known, decided and compiled.");
  bind_plan_texts(plan);
  plan.def_ro("tensors", &PlannedProgram::tensors)
      .def("_call", &call_program, "arrays"_a, "params"_a, "stream"_a.none(), "progress"_a.none())
      .def("_new", &new_part, "buffer"_a, "like"_a);

  module.def(
      "_form",
      [](nb::handle object, const char* name) {
        Array array;
        Stream stream{nb::none()};
        array.take(object, name, stream);
        nb::list shape;
        for (int k = 0; k < array.form.rank; ++k) shape.append(array.form.extents[k]);
        return nb::make_tuple(shape, array.form.device == Device::gpu ? array.form.gpu : -1);
      },
      "array"_a, "name"_a, "Shape and GPU (-1: the CPU) of an array.");
}

}  // namespace ricci::python
