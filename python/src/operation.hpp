// Permutations and einsums of arrays: from arguments to a plan that is made once, and its execution.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "ricci/runtime.hpp"

namespace ricci::python {

/// What is computed, apart from the operands.
struct Operation {
  enum class Kind : char { permute, einsum } kind = Kind::einsum;
  std::string_view spec;
  char order = 'C';           ///< of a new result: C, F, A or K, as in NumPy
  std::optional<DType> type;  ///< of a new result
  Scalar alpha = 1, beta = 0;
  std::vector<bool> conjugate, constant;
  bool has_addend = false;  ///< the last of the operands is C in alpha * ... + beta * C
  PlanOptions options;
};

/// A result that a call makes: how it is allocated.
struct NewArray {
  Form form;
  nb::object shape;  ///< a tuple: extents in the order of memory, the slowest first
  nb::object axes;   ///< a tuple that puts them into the order of the result; None where they are in it
};

/// A plan with what calls with equal forms need. Immutable.
class PlannedOperation {
 public:
  /// Plans with the interpreter detached. `out`: the form of the caller's array, null for a new one.
  PlannedOperation(const Operation& operation, const std::vector<Form>& inputs, const Form* out);

  /// Runs the plan with the interpreter detached, into `out`, or into a new array of the kind that `first` is.
  nb::object run(nb::handle first, std::span<const Array> inputs, nb::handle out, const Array* out_array,
                 const Call& call) const;

  Plan plan;
  std::vector<Form> inputs, constants;  ///< of a call, and of Plan::pack
  Scalar beta;
  bool has_addend;
  bool brief = false;  ///< over before another thread could take the interpreter
  NewArray result;
};

/// The slot of the type of plans for `plan(a, b, out=c)`.
PyObject* call_plan(PyObject* self, PyObject* operands, PyObject* keywords) noexcept;

/// Sets Python's error for a ricci::Error.
void translate(const std::exception_ptr& thrown, void*);

/// Takes all operands; throws DeviceError unless they are on one device.
void take_operands(nb::args operands, std::span<Array> arrays, Stream& stream);
/// Takes the array to write to; throws ShapeError for one that is read-only, DeviceError for another device.
void take_output(nb::handle out, Array& array, const Array& first, Stream& stream);

/// Who is told how much of a call is done, as its progress= says: nobody for None, a bar for True, or a function. Keeps
/// the function as long as the call may ask it.
class Progress {
 public:
  /// Throws TypeError for anything else. Nothing is told of calls on a GPU.
  Progress(nb::handle given, Device device);
  std::function<void(double)> function() const;

 private:
  nb::object told_;
};

/// Plans on first use; finds the plan again for operands of equal forms. An addend is appended to the operands.
nb::object execute(Operation& operation, nb::args operands, nb::handle out, nb::handle addend, nb::handle stream,
                   nb::handle progress);

/// The operands and behind them the addend, if there is one.
nb::args with_addend(nb::args operands, nb::handle addend);

/// A new array of the kind that `like` is, for memory of that form: `array` to write to, `result` to hand out.
struct Allocated {
  nb::object array, finish;
  nb::object result() const { return finish.is_none() ? array : finish(array); }
};
Allocated allocate(nb::handle like, const NewArray& wanted, int gpu);

/// NewArray of a layout whose axes are dense in some order.
NewArray new_array(const Form& form, const std::vector<int>& memory_order);

/// Reads `order=`: throws ValueError for anything but C, F, A and K.
char order_of(std::string_view text);

void bind_operations(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_jax(nb::module_& module);
void bind_administration(nb::module_& module);

/// Keywords of plan_permute() and the like, as PlanOptions.
struct PlanWords {
  int threads = 0;
  std::string schedule, mode = "estimate", precision = "operands";
  std::optional<std::int64_t> workspace_limit;
  PlanOptions options() const;
};

}  // namespace ricci::python
