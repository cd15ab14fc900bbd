#include "array.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ricci/error.hpp"

namespace ricci::python {
namespace {

[[noreturn]] void no_type(const char* what, const std::string& type) {
  throw ShapeError(
      fmt::format("{} has elements of type {}, which Ricci does not know; it knows int8 to int64, uint8 to uint64, "
                  "float16, bfloat16, float32, float64, complex64 and complex128 in the machine's byte order",
                  what, type));
}

std::optional<DType> integer_of(bool is_signed, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    default:
      return {};
  }
}

/// A format of the struct module as an element type, as PEP 3118 extends it to complex numbers.
DType type_of_format(const char* format, std::int64_t bytes, const char* what) {
  if (format != nullptr && format[0] == 'd' && format[1] == '\0') return DType::f64;
  std::string_view text = format == nullptr ? "B" : format;
  const char foreign = std::endian::native == std::endian::little ? '>' : '<';
  const std::string whole(text);
  if (!text.empty() && std::strchr("@=<>!", text[0]) != nullptr) {
    if (bytes > 1 && (text[0] == foreign || (text[0] == '!' && foreign == '>'))) no_type(what, whole);
    text.remove_prefix(1);
  }
  std::optional<DType> type;
  if (text.size() == 1 && std::strchr("bhilqn", text[0]) != nullptr) type = integer_of(true, bytes);
  if (text.size() == 1 && std::strchr("BHILQN", text[0]) != nullptr) type = integer_of(false, bytes);
  if (text == "e") type = DType::f16;
  if (text == "f") type = DType::f32;
  if (text == "d") type = DType::f64;
  if (text == "Zf") type = DType::c64;
  if (text == "Zd") type = DType::c128;
  if (!type) no_type(what, text == "?" ? "bool" : fmt::format("'{}'", whole));
  return *type;
}

DType type_of_tensor(dlpack::DataType given, const char* what) {
  std::optional<DType> type;
  if (given.lanes == 1) {
    if (given.code == dlpack::integer) type = integer_of(true, given.bits / 8);
    if (given.code == dlpack::unsigned_integer) type = integer_of(false, given.bits / 8);
    if (given.code == dlpack::floating && given.bits == 16) type = DType::f16;
    if (given.code == dlpack::floating && given.bits == 32) type = DType::f32;
    if (given.code == dlpack::floating && given.bits == 64) type = DType::f64;
    if (given.code == dlpack::bfloat && given.bits == 16) type = DType::bf16;
    if (given.code == dlpack::complex && given.bits == 64) type = DType::c64;
    if (given.code == dlpack::complex && given.bits == 128) type = DType::c128;
  }
  if (!type) {
    no_type(what, given.code == dlpack::boolean
                      ? "bool"
                      : fmt::format("DLPack code {}, {} bits, {} lanes", given.code, given.bits, given.lanes));
  }
  return *type;
}

int checked_rank(std::int64_t rank, const char* what) {
  if (rank < 0 || rank > kMaxRank) {
    throw ShapeError(fmt::format("{} has {} axes; a tensor has 0 to {}", what, rank, kMaxRank));
  }
  return static_cast<int>(rank);
}

/// A stride in bytes as one in elements. Strides along fewer than two elements say nothing.
std::int64_t elements_of(std::int64_t bytes, std::int64_t extent, std::int64_t element, const char* what) {
  if (extent < 2) return 1;
  if (bytes % element != 0) {
    throw ShapeError(fmt::format("{} has a stride of {} bytes, which is no multiple of its elements' {}; copy it first",
                                 what, bytes, element));
  }
  return bytes / element;
}

void row_major(Form& form) noexcept {
  std::int64_t stride = 1;
  for (int k = form.rank - 1; k >= 0; --k) {
    form.strides[k] = stride;
    stride *= form.extents[k];
  }
}

/// A yes-or-no function or method without arguments. Where it is written in C it is called by its address, which takes
/// three quarters of the time of a call through its object.
class Query {
 public:
  Query() = default;
  /// The method `name` of all objects of a type.
  Query(nb::handle type, nb::handle example, const char* name) : Query(type.attr(name), example.attr(name)) {}
  explicit Query(const nb::object& function) : Query(function, function) {
    if (address_ != nullptr) self_ = nb::borrow(PyCFunction_GetSelf(function.ptr()));
  }

  bool of(nb::handle object) const {
    return address_ == nullptr ? callable_(object).is(Py_True) : called(object.ptr());
  }
  bool now() const { return address_ == nullptr ? callable_().is(Py_True) : called(self_.ptr()); }

 private:
  Query(nb::object callable, const nb::object& bound) : callable_(std::move(callable)) {
    if (nb::isinstance(bound, nb::module_::import_("types").attr("BuiltinFunctionType")) &&
        PyCFunction_GetFlags(bound.ptr()) == METH_NOARGS) {
      address_ = PyCFunction_GetFunction(bound.ptr());
    }
  }
  bool called(PyObject* self) const {
    PyObject* const answer = address_(self, nullptr);
    if (answer == nullptr) nb::raise_python_error();
    return nb::steal(answer).is(Py_True);
  }

  nb::object callable_, self_;
  PyCFunction address_ = nullptr;
};

/// What is known of a type of arrays; types are kept alive, so that an address means one type.
struct Producer {
  const dlpack::ExchangeApi* exchange = nullptr;
  bool is_torch = false;
  // PyTorch's alone: looked up once, since a call asks each of its tensors.
  Query grad_enabled, is_neg, is_conj;
  nb::object requires_grad, resolve_neg, resolve_conj;
};

/// Never destroyed: the interpreter may be gone before.
const Producer& make_producer(nb::handle example) {
  auto* const producer = new Producer;
  const nb::handle object = example.type();
  if (const nb::object capsule = nb::getattr(object, "__dlpack_c_exchange_api__", nb::none());
      PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0) {
    const auto* api =
        static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != 1) api = api->previous;
    producer->exchange = api;
  }
  producer->is_torch = nb::hasattr(object, "requires_grad") && nb::hasattr(object, "resolve_neg");
  if (producer->is_torch) {
    producer->requires_grad = object.attr("requires_grad");
    producer->is_neg = {object, example, "is_neg"};
    producer->is_conj = {object, example, "is_conj"};
    producer->resolve_neg = object.attr("resolve_neg");
    producer->resolve_conj = object.attr("resolve_conj");
    producer->grad_enabled = Query(nb::module_::import_("torch").attr("is_grad_enabled"));
  }
  object.inc_ref();
  return *producer;
}

const Producer& producer_of(nb::handle object) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  // Programs use a type or two: the last ones are found without a lock.
  thread_local std::array<std::pair<PyTypeObject*, const Producer*>, 2> last = {};
  if (last[0].first == type) return *last[0].second;
  std::swap(last[0], last[1]);
  if (last[0].first == type) return *last[0].second;
  static std::mutex mutex;
  static auto* known = new std::unordered_map<PyTypeObject*, const Producer*>;
  const auto find = [&]() -> const Producer* {
    const std::lock_guard lock(mutex);
    const auto place = known->find(type);
    return place == known->end() ? nullptr : place->second;
  };
  const auto* producer = find();
  if (producer == nullptr) {
    const auto& made = make_producer(object);  // without the lock: it runs Python
    const std::lock_guard lock(mutex);
    producer = known->emplace(type, &made).first->second;
  }
  last[0] = {type, producer};
  return *producer;
}

/// The value of an attribute that a type's descriptor makes, without looking for it.
nb::object value_of(const nb::object& descriptor, nb::handle object) {
  auto* const get = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(descriptor.ptr()), Py_tp_descr_get));
  if (get == nullptr) return nb::borrow(descriptor);
  PyObject* const value = get(descriptor.ptr(), object.ptr(), reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  if (value == nullptr) nb::raise_python_error();
  return nb::steal(value);
}

/// The current stream of the package that made an array on a GPU.
void* current_stream(nb::handle array) {
  const nb::object number = nb::module_::import_("ricci._frameworks").attr("current_stream")(array);
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number));
}

}  // namespace

Form Form::of(const Layout& layout, Device device, int gpu) {
  Form form;
  form.type = layout.type;
  form.device = device;
  form.gpu = gpu;
  form.alignment = device == Device::gpu ? layout.alignment : 0;
  form.rank = checked_rank(layout.rank(), "a layout");
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    form.extents[k] = layout.extents[k];
    form.strides[k] = layout.strides[k];
  }
  form.normalise();
  return form;
}

Layout Form::layout() const {
  auto made = Layout::strided(type, {extents, extents + rank}, {strides, strides + rank});
  made.alignment = alignment;
  return made;
}

void Form::normalise() noexcept {
  bool empty = false;
  for (int k = 0; k < rank; ++k) {
    if (extents[k] == 1) strides[k] = 1;
    empty = empty || extents[k] == 0;
  }
  for (int k = 0; empty && k < rank; ++k) strides[k] = 1;
}

bool Form::same(const Form& other) const noexcept {
  if (type != other.type || device != other.device || rank != other.rank) return false;
  for (int k = 0; k < rank; ++k) {
    if (extents[k] != other.extents[k] || strides[k] != other.strides[k]) return false;
  }
  return true;
}

Stream::Stream(nb::handle given) {
  if (given.is_none()) return;
  nb::object number = nb::borrow(given);
  if (nb::hasattr(given, "__cuda_stream__")) {
    number = given.attr("__cuda_stream__")()[1];
  } else {
    for (const char* name : {"cuda_stream", "ptr"}) {
      if (nb::hasattr(given, name)) {
        number = given.attr(name);
        break;
      }
    }
  }
  if (PyLong_Check(number.ptr()) == 0) {
    throw nb::type_error("stream= takes None, the address of a stream, or a stream of PyTorch, CuPy or CUDA Python");
  }
  handle_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number));
}

Array::~Array() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
}

void Array::take(nb::handle object, const char* what, Stream& stream) {
  if (take_exchange(object, what, stream) || take_buffer(object, what) || take_capsule(object, what, stream) ||
      take_cuda_interface(object, what, stream)) {
    return finish();
  }
  PyObject* const it = object.ptr();
  if (PyFloat_Check(it) != 0 || PyLong_Check(it) != 0 || PyComplex_Check(it) != 0 || PyList_Check(it) != 0 ||
      PyTuple_Check(it) != 0) {
    kept_ = nb::module_::import_("numpy").attr("asarray")(object);
    if (take_buffer(kept_, what)) return finish();
  }
  throw nb::type_error(
      fmt::format("{} is a {}, and no array: it offers neither DLPack, __cuda_array_interface__ nor a buffer", what,
                  nb::cast<std::string>(object.type().attr("__name__")))
          .c_str());
}

void Array::finish() noexcept {
  form.alignment = 0;
  if (form.device == Device::gpu) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    form.alignment = address % 16 == 0 ? 16 : static_cast<std::int64_t>(address & (~address + 1));
  }
  form.normalise();
}

bool Array::take_exchange(nb::handle object, const char* what, Stream& stream) {
  const auto& producer = producer_of(object);
  if (producer.exchange == nullptr) return false;
  if (producer.is_torch) {
    // The table hands out memory whatever is pending on it.
    if (producer.grad_enabled.now() && value_of(producer.requires_grad, object).is(Py_True)) {
      throw nb::type_error(
          fmt::format("{} requires a gradient, which is not recorded here; use ricci.torch.einsum, or detach() it",
                      what)
              .c_str());
    }
    if (producer.is_neg.of(object)) {
      kept_ = producer.resolve_neg(object);
      object = kept_;
    }
  }
  dlpack::Tensor tensor = borrow(*producer.exchange, object);
  set_tensor(tensor, what);
  if (producer.is_torch && is_complex(form.type) && producer.is_conj.of(object)) {
    kept_ = producer.resolve_conj(object);
    tensor = borrow(*producer.exchange, kept_);
    set_tensor(tensor, what);
  }
  if (form.device == Device::gpu && !stream.known()) {
    void* current = nullptr;
    if (producer.exchange->current_stream(tensor.device.type, tensor.device.id, &current) != 0) {
      nb::raise_python_error();
    }
    stream.set(current);
  }
  return true;
}

dlpack::Tensor Array::borrow(const dlpack::ExchangeApi& exchange, nb::handle object) {
  dlpack::Tensor tensor;
  if (exchange.to_borrowed != nullptr) {
    if (exchange.to_borrowed(object.ptr(), &tensor) != 0) nb::raise_python_error();
    return tensor;
  }
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
  versioned_ = nullptr;
  if (exchange.to_managed(object.ptr(), &versioned_) != 0) nb::raise_python_error();
  read_only = (versioned_->flags & dlpack::kReadOnly) != 0;
  return versioned_->tensor;
}

bool Array::take_buffer(nb::handle object, const char* what) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    // Element types without a format, such as bfloat16, may still be told by DLPack.
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  form.type = type_of_format(buffer_.format, buffer_.itemsize, what);
  form.device = Device::cpu;
  form.gpu = -1;
  form.rank = checked_rank(buffer_.ndim, what);
  data = buffer_.buf;
  read_only = buffer_.readonly != 0;
  for (int k = 0; k < form.rank; ++k) {
    form.extents[k] = buffer_.shape[k];
    form.strides[k] = elements_of(buffer_.strides[k], buffer_.shape[k], buffer_.itemsize, what);
  }
  return true;
}

bool Array::take_capsule(nb::handle object, const char* what, Stream& stream) {
  if (!nb::hasattr(object, "__dlpack__")) return false;
  nb::dict arguments;
  if (nb::hasattr(object, "__dlpack_device__")) {
    const nb::object device = object.attr("__dlpack_device__")();
    if (nb::cast<int>(device[0]) == dlpack::cuda || nb::cast<int>(device[0]) == dlpack::cuda_managed) {
      if (!stream.known()) stream.set(current_stream(object));
      // The protocol's word for the default stream is 1.
      const auto number = reinterpret_cast<std::uintptr_t>(stream.handle());
      arguments["stream"] = nb::int_(number == 0 ? 1 : number);
    }
  }
  arguments["max_version"] = nb::make_tuple(1, 1);
  const nb::object method = object.attr("__dlpack__");
  nb::object capsule;
  try {
    capsule = method(**arguments);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    nb::del(arguments["max_version"]);  // a producer from before version 1
    capsule = method(**arguments);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* const tensor =
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (tensor->version.major != 1) {
      throw ShapeError(fmt::format("{} comes by DLPack {}.{}; Ricci reads version 1", what, tensor->version.major,
                                   tensor->version.minor));
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    versioned_ = tensor;
    read_only = (tensor->flags & dlpack::kReadOnly) != 0;
    set_tensor(tensor->tensor, what);
  } else {
    auto* const tensor = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (tensor == nullptr) nb::raise_python_error();
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    managed_ = tensor;
    set_tensor(tensor->tensor, what);
  }
  return true;
}

bool Array::take_cuda_interface(nb::handle object, const char* what, Stream& stream) {
  if (!nb::hasattr(object, "__cuda_array_interface__")) return false;
  const auto face = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const auto type = nb::cast<std::string>(face["typestr"]);
  const auto bytes =
      static_cast<std::int64_t>(std::strtol(type.c_str() + std::min<std::size_t>(2, type.size()), nullptr, 10));
  std::optional<DType> found;
  const bool swapped = !type.empty() && type[0] == (std::endian::native == std::endian::little ? '>' : '<');
  if (type.size() > 2 && !swapped) {
    if (type[1] == 'i') found = integer_of(true, bytes);
    if (type[1] == 'u') found = integer_of(false, bytes);
    if (type[1] == 'f' && bytes == 2) found = DType::f16;
    if (type[1] == 'f' && bytes == 4) found = DType::f32;
    if (type[1] == 'f' && bytes == 8) found = DType::f64;
    if (type[1] == 'c' && bytes == 8) found = DType::c64;
    if (type[1] == 'c' && bytes == 16) found = DType::c128;
  }
  if (!found) no_type(what, type);
  const auto shape = nb::cast<nb::tuple>(face["shape"]);
  const nb::object strides = face.contains("strides") ? nb::object(face["strides"]) : nb::none();
  form.type = *found;
  form.device = Device::gpu;
  form.rank = checked_rank(static_cast<std::int64_t>(nb::len(shape)), what);
  for (int k = 0; k < form.rank; ++k) form.extents[k] = nb::cast<std::int64_t>(shape[k]);
  row_major(form);
  for (int k = 0; k < form.rank && !strides.is_none(); ++k) {
    form.strides[k] = elements_of(nb::cast<std::int64_t>(strides[k]), form.extents[k], bytes, what);
  }
  const nb::object where = face["data"];
  data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(where[0]));
  read_only = nb::cast<bool>(where[1]);
  form.gpu = nb::cast<int>(nb::module_::import_("ricci._frameworks").attr("device_ordinal")(object));
  if (!stream.known()) {
    // 1 is the protocol's word for the default stream.
    const nb::object given = face.contains("stream") ? nb::object(face["stream"]) : nb::none();
    const auto number = given.is_none() ? 0 : nb::cast<std::uintptr_t>(given);
    stream.set(reinterpret_cast<void*>(number == 1 ? 0 : number));
  }
  return true;
}

void Array::set_tensor(const dlpack::Tensor& tensor, const char* what) {
  const auto device = tensor.device.type;
  if (device == dlpack::cpu || device == dlpack::cuda_host) {
    form.device = Device::cpu;
    form.gpu = -1;
  } else if (device == dlpack::cuda || device == dlpack::cuda_managed) {
    form.device = Device::gpu;
    form.gpu = tensor.device.id;
  } else {
    throw DeviceError(
        fmt::format("{} is on a device of DLPack's type {}; Ricci runs on CPUs (1) and CUDA GPUs (2)", what, device));
  }
  form.type = type_of_tensor(tensor.dtype, what);
  form.rank = checked_rank(tensor.ndim, what);
  for (int k = 0; k < form.rank; ++k) form.extents[k] = tensor.shape[k];
  row_major(form);
  for (int k = 0; k < form.rank && tensor.strides != nullptr; ++k) form.strides[k] = tensor.strides[k];
  data = static_cast<char*>(tensor.data) + tensor.byte_offset;
}

DType dtype_of(nb::handle given) {
  nb::object name = nb::borrow(given);
  for (const char* attribute : {"name", "__name__"}) {
    if (nb::isinstance<nb::str>(name)) break;
    if (nb::hasattr(given, attribute)) name = given.attr(attribute);
  }
  const auto text = nb::cast<std::string>(nb::str(name));  // "torch.float64" has no name but this
  return parse_dtype(text.substr(text.rfind('.') + 1));
}

const char* numpy_name(DType type) noexcept {
  static constexpr const char* kNames[kDTypeCount] = {"int8",    "int16",   "int32",     "int64",     "uint8",
                                                      "uint16",  "uint32",  "uint64",    "float16",   "bfloat16",
                                                      "float32", "float64", "complex64", "complex128"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace ricci::python
