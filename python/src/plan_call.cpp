// The call of a plan, plan(a, b, out=c): a slot of the type of its own, without the binding library's dispatch, since
// it is what a program does millions of times.
#include <fmt/format.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>

#include "operation.hpp"
#include "ricci/error.hpp"

namespace ricci::python {
namespace {

std::string text_of(const Form& form) {
  std::string text = fmt::format("{} (", numpy_name(form.type));
  for (int k = 0; k < form.rank; ++k) text += fmt::format("{}{}", k == 0 ? "" : ", ", form.extents[k]);
  text += ") strides (";
  for (int k = 0; k < form.rank; ++k) text += fmt::format("{}{}", k == 0 ? "" : ", ", form.strides[k]);
  return text + (form.device == Device::gpu ? ") on a GPU" : ") on the CPU");
}

[[noreturn]] void refuse_form(const std::string& what, const Form& given, const Form& planned) {
  throw ShapeError(fmt::format("{} is {}\nthis plan was made for {}\nplan for the array at hand, or copy it", what,
                               text_of(given), text_of(planned)));
}

/// The keywords of a call.
struct Keywords {
  nb::handle out, alpha, beta, stream, packed, progress;  ///< null where not given, or None
};

Keywords read(PyObject* given) {
  static const std::array<PyObject*, 6> kNames = {
      PyUnicode_InternFromString("out"),    PyUnicode_InternFromString("alpha"),
      PyUnicode_InternFromString("beta"),   PyUnicode_InternFromString("stream"),
      PyUnicode_InternFromString("packed"), PyUnicode_InternFromString("progress")};
  Keywords keywords;
  const std::array<nb::handle*, 6> places = {&keywords.out,    &keywords.alpha,  &keywords.beta,
                                             &keywords.stream, &keywords.packed, &keywords.progress};
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(given, &at, &name, &value) != 0;) {
    std::size_t k = 0;
    while (k < kNames.size() && name != kNames[k]) ++k;
    for (std::size_t j = 0; k == kNames.size() && j < kNames.size(); ++j) {  // a name that is not interned
      if (PyUnicode_Compare(name, kNames[j]) == 0) k = j;
    }
    if (k == kNames.size()) {
      const std::string text = nb::cast<std::string>(nb::handle(name));
      throw nb::type_error(fmt::format("a plan's call has no keyword '{}'; there are out, alpha, beta, stream, "
                                       "packed and progress",
                                       text)
                               .c_str());
    }
    if (value != Py_None) *places[k] = value;
  }
  return keywords;
}

std::optional<Scalar> factor(nb::handle given) {
  return given.is_valid() ? std::optional(nb::cast<Scalar>(given)) : std::nullopt;
}

nb::object call(const PlannedOperation& planned, nb::args operands, const Keywords& keywords) {
  const std::size_t count = operands.size();
  if (count != planned.inputs.size()) {
    throw ShapeError(fmt::format("this plan reads {} operand{}; {} were given", planned.inputs.size(),
                                 planned.inputs.size() == 1 ? "" : "s", count));
  }
  Stream stream(keywords.stream.is_valid() ? keywords.stream : nb::none());
  std::array<Array, 3> few;
  const std::unique_ptr<Array[]> many(count > few.size() ? new Array[count] : nullptr);
  const std::span<Array> arrays(many ? many.get() : few.data(), count);
  take_operands(operands, arrays, stream);
  for (std::size_t k = 0; k < count; ++k) {
    if (!arrays[k].form.same(planned.inputs[k]))
      refuse_form(fmt::format("operand {}", k), arrays[k].form, planned.inputs[k]);
  }
  Call call;
  call.alpha = factor(keywords.alpha);
  call.beta = factor(keywords.beta);
  call.stream = stream.handle();
  if (keywords.packed.is_valid()) call.packed = &nb::cast<const Packed&>(keywords.packed);
  std::optional<Progress> progress;
  if (keywords.progress.is_valid()) {
    progress.emplace(keywords.progress, planned.plan.device());
    call.progress = progress->function();
  }
  const nb::handle out = keywords.out;
  if (!out.is_valid()) {
    if (!planned.has_addend && call.beta.value_or(planned.beta) != Scalar(0)) {
      throw PlanError("beta counts the old values of out, and no out was given");
    }
    return planned.run(operands[0], arrays, nb::none(), nullptr, call);
  }
  Array written;
  take_output(out, written, arrays[0], stream);
  if (!written.form.same(planned.result.form)) refuse_form("out", written.form, planned.result.form);
  return planned.run(operands[0], arrays, out, &written, call);
}

/// Sets Python's error for what is being thrown.
void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError, error.what());
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a plan's call takes numbers for alpha and beta, and what pack() made for packed");
  } catch (const Error&) {
    translate(std::current_exception(), nullptr);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

PyObject* call_plan(PyObject* self, PyObject* operands, PyObject* keywords) noexcept {
  try {
    const auto& planned = *nb::inst_ptr<const PlannedOperation>(self);
    return call(planned, nb::borrow<nb::args>(operands), keywords == nullptr ? Keywords{} : read(keywords))
        .release()
        .ptr();
  } catch (...) {
    set_error();
    return nullptr;
  }
}

}  // namespace ricci::python
