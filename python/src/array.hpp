// Arrays of other packages, as Ricci sees them: memory, layout and device.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "dlpack.hpp"
#include "ricci/plan.hpp"
#include "ricci/tensor.hpp"

#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030B0000
// The buffer protocol is in the stable ABI from 3.11 on; 3.10 has the same structure and functions.
extern "C" {
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char* format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void* internal;
};
int PyObject_CheckBuffer(PyObject* object);
int PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
void PyBuffer_Release(Py_buffer* view);
}
inline constexpr int PyBUF_FORMAT = 0x0004, PyBUF_STRIDES = 0x0010 | 0x0008;
#endif

namespace ricci::python {

namespace nb = nanobind;

inline constexpr int kMaxRank = 32;

/// What a plan is made for: two arrays of equal form can take each other's place. Strides in elements; where they say
/// nothing (an extent of 1, an empty array) they are 1.
struct Form {
  DType type = DType::f64;
  Device device = Device::cpu;
  int gpu = -1;  ///< ordinal of a GPU
  std::int64_t alignment =
      0;  ///< bytes that divide the pointer, up to 16, on a GPU; 0 on a CPU, where kernels need none
  int rank = 0;
  std::int64_t extents[kMaxRank];
  std::int64_t strides[kMaxRank];

  /// Throws ShapeError for more than 32 axes.
  static Form of(const Layout& layout, Device device, int gpu);
  Layout layout() const;
  /// Gives strides without a meaning the value 1.
  void normalise() noexcept;
  /// Apart from alignment, and from which GPU it is.
  bool same(const Form& other) const noexcept;
};

/// The stream of a call: the caller's, or the current one of the first operand's package, asked for once.
class Stream {
 public:
  /// None, an integer, or an object with `__cuda_stream__()`, `cuda_stream` (PyTorch) or `ptr` (CuPy).
  explicit Stream(nb::handle given);
  bool known() const noexcept { return handle_.has_value(); }
  void set(void* handle) noexcept { handle_ = handle; }
  void* handle() const noexcept { return handle_.value_or(nullptr); }

 private:
  std::optional<void*> handle_;
};

/// One array, held for the duration of a call. Made and destroyed with the interpreter attached.
class Array {
 public:
  Array() noexcept {}
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Takes an object by, in this order, `__dlpack_c_exchange_api__` of its type; the buffer protocol, which NumPy
  /// answers four times as fast as the next; `__dlpack__`; `__cuda_array_interface__`. Numbers, lists and tuples become
  /// NumPy arrays. On a GPU the producer makes `stream` wait for its work; where the stream is not known yet, it is the
  /// producer's current one. The host never waits.
  ///
  ///   what    how messages call it, "operand 0"
  ///   throws  TypeError for what is not an array, ShapeError for element types and strides that Ricci does not have
  void take(nb::handle object, const char* what, Stream& stream);

  Form form;
  void* data = nullptr;
  bool read_only = false;

 private:
  bool take_exchange(nb::handle object, const char* what, Stream& stream);
  dlpack::Tensor borrow(const dlpack::ExchangeApi& exchange, nb::handle object);
  bool take_buffer(nb::handle object, const char* what);
  bool take_capsule(nb::handle object, const char* what, Stream& stream);
  bool take_cuda_interface(nb::handle object, const char* what, Stream& stream);
  void set_tensor(const dlpack::Tensor& tensor, const char* what);
  void finish() noexcept;

  Py_buffer buffer_;
  bool has_buffer_ = false;
  dlpack::ManagedTensor* managed_ = nullptr;
  dlpack::ManagedTensorVersioned* versioned_ = nullptr;
  nb::object kept_;  ///< what stands in for the caller's object
};

/// An element type by name ("float64", "f64"), or anything that has one: numpy.float64, torch.float64.
DType dtype_of(nb::handle given);
/// NumPy's name: "float64", "bfloat16", "complex64".
const char* numpy_name(DType type) noexcept;

}  // namespace ricci::python
