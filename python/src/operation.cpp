#include "operation.hpp"

#include <fmt/format.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "ricci/error.hpp"
#include "ricci/spec.hpp"

namespace ricci::python {
namespace {

/// Strides of an array whose axes lie in memory in this order, the slowest first.
void set_strides(Form& form, const std::vector<int>& memory_order) {
  std::int64_t stride = 1;
  for (auto axis = memory_order.rbegin(); axis != memory_order.rend(); ++axis) {
    form.strides[*axis] = stride;
    stride *= form.extents[*axis];
  }
  form.normalise();
}

bool is_dense(const Form& form, const std::vector<int>& memory_order) {
  Form dense = form;
  set_strides(dense, memory_order);
  return dense.same(form);
}

std::vector<int> row_order(int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// NumPy's order K: axes, the summed ones too, are sorted by insertion so that what has the larger stride is further
/// out. Operands that hold both axes decide; where they disagree, or none does, the written order stands.
std::vector<int> kept_order(const Operation& operation, const std::vector<Form>& inputs) {
  std::vector<int> ranks;
  for (const auto& input : inputs) ranks.push_back(input.rank);
  const auto spec = Spec::parse(operation.spec).expand(ranks);
  std::vector<std::string> axes, summed;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  for (const auto& axis : spec.output) add(axes, axis.name);
  const auto results = static_cast<int>(axes.size());
  for (const auto& term : spec.operands) {
    for (const auto& axis : term) {
      if (std::find(axes.begin(), axes.end(), axis.name) == axes.end()) add(summed, axis.name);
    }
  }
  std::sort(summed.begin(), summed.end());
  axes.insert(axes.end(), summed.begin(), summed.end());
  const auto stride = [&](std::size_t operand, int axis) -> std::int64_t {
    const auto& term = spec.operands[operand];
    std::int64_t steps = 0;  // a diagonal steps along all of its axes
    for (std::size_t k = 0; k < term.size(); ++k) {
      if (term[k].name == axes[static_cast<std::size_t>(axis)] && inputs[operand].extents[k] > 1)
        steps += inputs[operand].strides[k];
    }
    return std::abs(steps);
  };
  const auto belongs_inside = [&](int outer, int inner) -> std::optional<bool> {
    std::optional<bool> swap;
    for (std::size_t operand = 0; operand < inputs.size(); ++operand) {
      const auto x = stride(operand, outer), y = stride(operand, inner);
      if (x != 0 && y != 0) swap = y > x && swap.value_or(true);
    }
    return swap;
  };
  auto order = row_order(static_cast<int>(axes.size()));
  std::reverse(order.begin(), order.end());  // the innermost first
  for (std::size_t k = 1; k < order.size(); ++k) {
    std::size_t place = k;
    for (std::size_t j = k; j > 0; --j) {
      const auto swap = belongs_inside(order[k], order[j - 1]);
      if (swap && !*swap) break;
      if (swap) place = j - 1;
    }
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(place), order.begin() + static_cast<std::ptrdiff_t>(k),
                order.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  std::reverse(order.begin(), order.end());
  std::erase_if(order, [&](int axis) { return axis >= results; });
  return order;
}

std::vector<int> memory_order(const Operation& operation, const std::vector<Form>& inputs, int rank) {
  auto order = row_order(rank);
  if (operation.order == 'K') return kept_order(operation, inputs);
  const auto is_column_major = [](const Form& input) {
    auto columns = row_order(input.rank);
    std::reverse(columns.begin(), columns.end());
    return is_dense(input, columns) && !is_dense(input, row_order(input.rank));
  };
  if (operation.order == 'F' ||
      (operation.order == 'A' && std::all_of(inputs.begin(), inputs.end(), is_column_major))) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

/// How one package makes arrays of one type on one device.
struct Maker {
  PyTypeObject* type;
  DType element;
  Device device;
  int gpu;
  nb::object make, transpose, finish;
};

/// Makers are few, and kept for the life of the process.
const Maker& maker_of(nb::handle like, const Form& form, int gpu) {
  static std::mutex mutex;
  static auto* makers = new std::vector<std::unique_ptr<Maker>>;
  PyTypeObject* const type = Py_TYPE(like.ptr());
  const auto find = [&]() -> const Maker* {
    const std::lock_guard lock(mutex);
    for (const auto& maker : *makers) {
      if (maker->type == type && maker->element == form.type && maker->device == form.device && maker->gpu == gpu)
        return maker.get();
    }
    return nullptr;
  };
  if (const auto* const maker = find()) return *maker;
  const nb::object made =
      nb::module_::import_("ricci._frameworks").attr("maker")(like, numpy_name(form.type), form.device == Device::gpu);
  auto maker = std::make_unique<Maker>(Maker{type, form.type, form.device, gpu, made[0], made[1], made[2]});
  nb::handle(reinterpret_cast<PyObject*>(type)).inc_ref();
  const std::lock_guard lock(mutex);
  makers->push_back(std::move(maker));
  return *makers->back();
}

void append(std::string& key, const void* bytes, std::size_t count) {
  key.append(static_cast<const char*>(bytes), count);
}

void append(std::string& key, const Form& form) {
  const std::int64_t head[] = {static_cast<std::int64_t>(form.type), static_cast<std::int64_t>(form.device), form.gpu,
                               form.alignment, form.rank};
  const auto bytes = sizeof(std::int64_t) * static_cast<std::size_t>(form.rank);
  append(key, head, sizeof head);
  append(key, form.extents, bytes);
  append(key, form.strides, bytes);
}

char factor_kind(Scalar factor) { return factor == Scalar(0) ? '0' : factor == Scalar(1) ? '1' : 'x'; }

/// Everything that decides the plan of a call.
void write_key(std::string& key, const Operation& operation, std::span<const Array> inputs, const Array* out) {
  key.clear();
  key += static_cast<char>(operation.kind);
  key += out != nullptr ? 'o' : operation.order;
  key += operation.has_addend ? '+' : '=';
  key += operation.type ? static_cast<char>('a' + static_cast<int>(*operation.type)) : '-';
  key += factor_kind(operation.alpha);
  key += factor_kind(operation.beta);
  for (const bool conjugate : operation.conjugate) key += conjugate ? 'c' : '.';
  key += static_cast<char>('0' + static_cast<int>(operation.options.precision));
  append(key, &operation.options.workspace_limit, sizeof operation.options.workspace_limit);
  key += operation.spec;
  key += '\0';
  for (const auto& input : inputs) append(key, input.form);
  if (out != nullptr) append(key, out->form);
}

/// The plans of calls without a plan object, bounded: where it is full, it starts anew.
class PlanTable {
 public:
  std::shared_ptr<const PlannedOperation> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto place = plans_.find(key);
    return place == plans_.end() ? nullptr : place->second;
  }
  void add(const std::string& key, std::shared_ptr<const PlannedOperation> plan) {
    std::unordered_map<std::string, std::shared_ptr<const PlannedOperation>> dropped;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kKept = 4096;
    if (plans_.size() >= kKept) dropped.swap(plans_);
    plans_.emplace(key, std::move(plan));
  }
  static PlanTable& global() {
    static auto* table = new PlanTable;  // Python objects in it must not outlive the interpreter's end
    return *table;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PlannedOperation>> plans_;
};

constexpr std::array<const char*, 8> kOperands = {"operand 0", "operand 1", "operand 2", "operand 3",
                                                  "operand 4", "operand 5", "operand 6", "operand 7"};

}  // namespace

void take_operands(nb::args operands, std::span<Array> arrays, Stream& stream) {
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (k < kOperands.size()) {
      arrays[k].take(operands[k], kOperands[k], stream);
    } else {
      arrays[k].take(operands[k], fmt::format("operand {}", k).c_str(), stream);
    }
    const auto &first = arrays[0].form, &own = arrays[k].form;
    if (own.device != first.device || own.gpu != first.gpu) {
      throw DeviceError(fmt::format("operand {} is on {}, operand 0 on {}; bring all to one device", k,
                                    own.device == Device::gpu ? fmt::format("GPU {}", own.gpu) : "the CPU",
                                    first.device == Device::gpu ? fmt::format("GPU {}", first.gpu) : "the CPU"));
    }
  }
}

void take_output(nb::handle out, Array& array, const Array& first, Stream& stream) {
  array.take(out, "out", stream);
  if (array.read_only) throw ShapeError("out is read-only; give an array that may be written");
  if (array.form.device != first.form.device || array.form.gpu != first.form.gpu) {
    throw DeviceError("out is on another device than the operands");
  }
}

namespace {

/// The caller's form and layout of the result where no array is given for it.
Form result_form(const Operation& operation, const std::vector<Layout>& layouts, const std::vector<Form>& inputs) {
  auto layout = einsum_output(operation.spec, layouts);
  if (operation.type) layout.type = *operation.type;
  auto form = Form::of(layout, inputs[0].device, inputs[0].gpu);
  set_strides(form, memory_order(operation, inputs, form.rank));
  if (form.device == Device::gpu) form.alignment = 16;
  return form;
}

}  // namespace

NewArray new_array(const Form& form, const std::vector<int>& memory_order) {
  NewArray made{form, nb::none(), nb::none()};
  nb::list shape, axes;
  std::vector<int> place(memory_order.size());
  bool moved = false;
  for (std::size_t k = 0; k < memory_order.size(); ++k) {
    shape.append(form.extents[memory_order[k]]);
    place[static_cast<std::size_t>(memory_order[k])] = static_cast<int>(k);
    moved = moved || memory_order[k] != static_cast<int>(k);
  }
  for (const int axis : place) axes.append(axis);
  made.shape = nb::tuple(shape);
  if (moved) made.axes = nb::tuple(axes);
  return made;
}

Allocated allocate(nb::handle like, const NewArray& wanted, int gpu) {
  const auto& maker = maker_of(like, wanted.form, gpu);
  nb::object array = maker.make(wanted.shape);
  if (!wanted.axes.is_none()) array = maker.transpose(array, wanted.axes);
  return {std::move(array), maker.finish};
}

char order_of(std::string_view text) {
  const char order = text.size() == 1 ? static_cast<char>(text[0] & ~0x20) : '?';
  if (order != 'C' && order != 'F' && order != 'A' && order != 'K') {
    throw nb::value_error(fmt::format("order='{}': it is one of 'C', 'F', 'A' and 'K'", text).c_str());
  }
  return order;
}

PlannedOperation::PlannedOperation(const Operation& operation, const std::vector<Form>& given, const Form* out)
    : plan(std::shared_ptr<const Plan::Impl>()), beta(operation.beta), has_addend(operation.has_addend) {
  std::vector<Form> operands = given;
  std::vector<Layout> layouts;
  UpdateOptions options;
  static_cast<PlanOptions&>(options) = operation.options;
  options.device = operands[0].device;
  options.gpu = operands[0].gpu;
  options.alpha = operation.alpha;
  options.beta = operation.beta;
  if (has_addend) {
    options.addend = operands.back().layout();
    operands.pop_back();
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    layouts.push_back(operands[k].layout());
    const bool constant = k < operation.constant.size() && operation.constant[k];
    (constant ? constants : inputs).push_back(operands[k]);
  }
  if (has_addend) inputs.push_back(given.back());
  {
    const nb::gil_scoped_release detached;
    result.form = out != nullptr ? *out : result_form(operation, layouts, operands);
    const auto output = result.form.layout();
    if (operation.kind == Operation::Kind::permute) {
      PermuteOptions permute;
      static_cast<UpdateOptions&>(permute) = options;
      permute.conjugate = !operation.conjugate.empty() && operation.conjugate[0];
      plan = Runtime::global().plan_permute(operation.spec, layouts[0], output, permute);
    } else {
      EinsumOptions einsum;
      static_cast<UpdateOptions&>(einsum) = options;
      einsum.conjugate = operation.conjugate;
      einsum.constant = operation.constant;
      plan = Runtime::global().plan_einsum(operation.spec, layouts, output, einsum);
    }
  }
  if (out == nullptr) {
    result = new_array(result.form, memory_order(operation, operands, result.form.rank));
  } else {
    // A plan made for the caller's array may be called without one where its axes are dense in some order.
    auto order = row_order(out->rank);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return out->strides[a] > out->strides[b]; });
    result = new_array(*out, order);
    if (!is_dense(*out, order)) result.shape = nb::none();
  }
  // Giving the interpreter away and taking it back takes as long as this does.
  constexpr std::int64_t kBriefBytes = 8192;
  constexpr double kBriefFlops = 10000;
  brief =
      plan.device() == Device::cpu && plan.info().compulsory_bytes <= kBriefBytes && plan.info().flops <= kBriefFlops;
}

nb::object PlannedOperation::run(nb::handle first, std::span<const Array> operands, nb::handle out,
                                 const Array* out_array, const Call& call) const {
  Allocated made;
  Array own;
  if (out_array == nullptr) {
    if (result.shape.is_none()) throw ShapeError("this plan writes an array with gaps; give it, out=");
    made = allocate(first, result, operands[0].form.gpu);
    Stream stream{nb::none()};
    stream.set(call.stream);
    own.take(made.array, "the result", stream);
    if (!own.form.same(result.form)) throw InternalError("a new array lies otherwise than it was asked for");
    out_array = &own;
  }
  std::array<const void*, 8> few;
  std::vector<const void*> many(operands.size() > few.size() ? operands.size() : 0);
  const void** const from = many.empty() ? few.data() : many.data();
  for (std::size_t k = 0; k < operands.size(); ++k) from[k] = operands[k].data;
  {
    std::optional<nb::gil_scoped_release> detached;
    // Any of the threads that work may ask for the interpreter to tell of progress.
    if (!brief || call.progress) detached.emplace();
    void* const to = out_array->data;
    plan(std::span<void* const>(&to, 1), std::span<const void* const>(from, operands.size()), call);
  }
  return out.is_none() ? made.result() : nb::borrow(out);
}

nb::args with_addend(nb::args operands, nb::handle addend) {
  if (addend.is_none()) return operands;
  nb::list all(operands);
  all.append(addend);
  return nb::borrow<nb::args>(nb::tuple(all));
}

Progress::Progress(nb::handle given, Device device) : told_(nb::none()) {
  if (given.is_none() || given.is(Py_False)) return;
  if (!given.is(Py_True) && PyCallable_Check(given.ptr()) == 0)
    throw nb::type_error("progress= takes None, True for a bar, or a function of the share that is done, 0 to 1");
  if (device != Device::cpu) return;
  told_ = given.is(Py_True) ? nb::module_::import_("ricci._progress").attr("Bar")() : nb::borrow(given);
}

std::function<void(double)> Progress::function() const {
  if (told_.is_none()) return {};
  return [told = told_.ptr()](double share) {
    const nb::gil_scoped_acquire attached;
    const nb::handle function(told);
    function(share);
  };
}

nb::object execute(Operation& operation, nb::args given, nb::handle out, nb::handle addend, nb::handle given_stream,
                   nb::handle given_progress) {
  if (given.size() == 0) throw nb::type_error("no operand was given");
  operation.has_addend = !addend.is_none();
  if (operation.beta != Scalar(0) && out.is_none() && !operation.has_addend) {
    throw PlanError("beta counts the old values of out, and no out was given");
  }
  const auto operands = with_addend(given, addend);
  const std::size_t count = operands.size();
  Stream stream(given_stream);
  std::array<Array, 3> few;
  const std::unique_ptr<Array[]> many(count > few.size() ? new Array[count] : nullptr);
  const std::span<Array> arrays(many ? many.get() : few.data(), count);
  take_operands(operands, arrays, stream);
  Array out_array;
  const Array* const written = out.is_none() ? nullptr : &out_array;
  if (written != nullptr) take_output(out, out_array, arrays[0], stream);

  thread_local std::string key;
  write_key(key, operation, arrays, written);
  auto planned = PlanTable::global().find(key);
  if (!planned) {
    const std::string own_key = key;
    std::vector<Form> forms;
    for (const auto& array : arrays) forms.push_back(array.form);
    planned =
        std::make_shared<const PlannedOperation>(operation, forms, written != nullptr ? &out_array.form : nullptr);
    PlanTable::global().add(own_key, planned);
  }
  Call call;
  if (operation.alpha != Scalar(1)) call.alpha = operation.alpha;
  if (operation.beta != Scalar(0)) call.beta = operation.beta;
  call.stream = stream.handle();
  const Progress progress(given_progress, arrays[0].form.device);
  call.progress = progress.function();
  return planned->run(operands[0], arrays, out, written, call);
}

void bind_operations(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "permute",
      [](std::string_view spec, nb::handle x, nb::handle out, std::string_view order, Scalar alpha, Scalar beta,
         bool conj, nb::handle dtype, nb::handle stream, nb::handle addend, std::optional<std::int64_t> workspace_limit,
         nb::handle progress) {
        Operation operation;
        operation.kind = Operation::Kind::permute;
        operation.spec = spec;
        operation.order = order_of(order);
        if (!dtype.is_none()) operation.type = dtype_of(dtype);
        operation.alpha = alpha;
        operation.beta = beta;
        operation.conjugate = {conj};
        if (workspace_limit) operation.options.workspace_limit = *workspace_limit;
        return execute(operation, nb::borrow<nb::args>(nb::make_tuple(x)), out, addend, stream, progress);
      },
      "spec"_a, "x"_a, nb::kw_only(), "out"_a = nb::none(), "order"_a = "C", "alpha"_a = 1.0, "beta"_a = 0.0,
      "conj"_a = false, "dtype"_a = nb::none(), "stream"_a = nb::none(), "addend"_a = nb::none(),
      "workspace_limit"_a = nb::none(), "progress"_a = nb::none(),
      "out = alpha * op(x)[permuted] + beta * addend for a spec such as 'abc->cab'; without an addend it is out's old "
      "value. Returns out, or a new array of x's kind.");
  module.def(
      "einsum",
      [](std::string_view spec, nb::args operands, nb::handle out, std::string_view order, nb::handle dtype,
         Scalar alpha, Scalar beta, const std::vector<bool>& conj, nb::handle stream, nb::handle addend,
         const std::string& precision, std::optional<std::int64_t> workspace_limit, nb::handle progress) {
        Operation operation;
        operation.spec = spec;
        operation.order = order_of(order);
        if (!dtype.is_none()) operation.type = dtype_of(dtype);
        operation.alpha = alpha;
        operation.beta = beta;
        operation.conjugate = conj;
        operation.options.precision = parse_precision(precision);
        if (workspace_limit) operation.options.workspace_limit = *workspace_limit;
        return execute(operation, operands, out, addend, stream, progress);
      },
      "spec"_a, "operands"_a, nb::kw_only(), "out"_a = nb::none(), "order"_a = "K", "dtype"_a = nb::none(),
      "alpha"_a = 1.0, "beta"_a = 0.0, "conj"_a = std::vector<bool>{}, "stream"_a = nb::none(), "addend"_a = nb::none(),
      "precision"_a = "operands", "workspace_limit"_a = nb::none(), "progress"_a = nb::none(),
      "out = alpha * sum(op(A) * op(B) * ...) + beta * addend for a spec such as 'ab,bc->ac'; without an addend it is\n"
      "out's old value. Returns out, or a new array of the first operand's kind.");
  module.def(
      "_terms",
      [](std::string_view spec, const std::vector<int>& ranks) {
        const auto parsed = Spec::parse(spec).expand(ranks);
        const auto names = [](const Spec::Term& term) {
          std::vector<std::string> list;
          for (const auto& axis : term) list.push_back(axis.name);
          return list;
        };
        std::vector<std::vector<std::string>> terms;
        for (const auto& term : parsed.operands) terms.push_back(names(term));
        return std::pair(terms, names(parsed.output));
      },
      "spec"_a, "ranks"_a, "Names of the axes of each operand, and of the result, ellipses written out.");
  module.def(
      "_product_dtype",
      [](const std::vector<std::string>& types) {
        std::vector<Layout> scalars;
        for (const auto& type : types) scalars.push_back(Layout::row_major(dtype_of(nb::str(type.c_str())), {}));
        return numpy_name(einsum_output(std::string(types.size() - 1, ',') + "->", scalars).type);
      },
      "dtypes"_a, "The type of an einsum's result, from at least one operand's.");
}

}  // namespace ricci::python
