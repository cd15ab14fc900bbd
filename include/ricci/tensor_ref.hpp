// Arrays of other libraries as Ricci sees them: from DLPack, from mdspan and its like.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/error.hpp"
#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"
#include "ricci/tensor.hpp"

namespace ricci {
inline namespace v1 {

/// An array: the address of element (0, 0, ...), how it lies, and where. Owns nothing.
template <class Pointer>
struct BasicTensorRef {
  Pointer data = nullptr;
  Layout layout;
  Device device = Device::cpu;
  int gpu = -1;  ///< ordinal of the device; -1: the calling thread's current one

  BasicTensorRef(Pointer address, Layout how, Device where = Device::cpu, int ordinal = -1)
      : data(address), layout(std::move(how)), device(where), gpu(ordinal) {}
  /// What may be written may be read.
  template <class Other>
    requires(!std::same_as<Other, Pointer> && std::convertible_to<Other, Pointer>)
  BasicTensorRef(const BasicTensorRef<Other>& other)
      : data(other.data), layout(other.layout), device(other.device), gpu(other.gpu) {}
};
using TensorRef = BasicTensorRef<void*>;             ///< of an output
using ConstTensorRef = BasicTensorRef<const void*>;  ///< of an input

/// The element type of a C++ type.
template <class T>
constexpr DType dtype_of() {
  using Value = std::remove_cv_t<T>;
  if constexpr (std::same_as<Value, float>) {
    return DType::f32;
  } else if constexpr (std::same_as<Value, double>) {
    return DType::f64;
  } else if constexpr (std::same_as<Value, std::complex<float>>) {
    return DType::c64;
  } else if constexpr (std::same_as<Value, std::complex<double>>) {
    return DType::c128;
  } else {
    static_assert(std::integral<Value> && !std::same_as<Value, bool> && sizeof(Value) <= 8,
                  "Ricci has no such element type");
    constexpr int kSize = sizeof(Value) == 1 ? 0 : sizeof(Value) == 2 ? 1 : sizeof(Value) == 4 ? 2 : 3;
    return static_cast<DType>(static_cast<int>(std::is_signed_v<Value> ? DType::i8 : DType::u8) + kSize);
  }
}

/// std::mdspan, Kokkos's, and what has their members; of strided layouts.
template <class View>
concept StridedView = requires(const View& view) {
  { View::rank() } -> std::convertible_to<std::size_t>;
  { view.extent(0) } -> std::convertible_to<std::int64_t>;
  { view.stride(0) } -> std::convertible_to<std::int64_t>;
  requires std::is_pointer_v<std::remove_cvref_t<decltype(view.data_handle())>>;
};

/// DLPack's DLTensor, which needs no header of DLPack here.
template <class Tensor>
concept DLPackTensor = requires(const Tensor& tensor) {
  { tensor.data } -> std::convertible_to<void*>;
  { tensor.shape } -> std::convertible_to<const std::int64_t*>;
  { tensor.strides } -> std::convertible_to<const std::int64_t*>;
  tensor.ndim;
  tensor.byte_offset;
  tensor.device.device_type;
  tensor.device.device_id;
  tensor.dtype.code;
  tensor.dtype.bits;
  tensor.dtype.lanes;
};

/// A view of host memory: a TensorRef, or a ConstTensorRef of constant elements. Nothing is promised of its alignment.
template <StridedView View>
auto tensor_ref(const View& view) {
  using Element = std::remove_pointer_t<std::remove_cvref_t<decltype(view.data_handle())>>;
  using Pointer = std::conditional_t<std::is_const_v<Element>, const void*, void*>;
  Layout layout{dtype_of<Element>(), {}, {}, 0};
  if constexpr (View::rank() > 0) {
    for (std::size_t k = 0; k < View::rank(); ++k) {
      layout.extents.push_back(static_cast<std::int64_t>(view.extent(k)));
      layout.strides.push_back(static_cast<std::int64_t>(view.stride(k)));
    }
  }
  return BasicTensorRef<Pointer>(view.data_handle(), std::move(layout));
}

/// A DLTensor; whether it may be written is for the caller to know. Throws ShapeError for element types that Ricci does
/// not have, DeviceError for memory of other devices than CPUs and CUDA's.
template <DLPackTensor Tensor>
TensorRef tensor_ref(const Tensor& tensor) {
  const auto code = static_cast<int>(tensor.dtype.code), bits = static_cast<int>(tensor.dtype.bits);
  struct Known {
    int code, bits;
    DType type;
  };
  static constexpr Known kTypes[] = {
      {0, 8, DType::i8},   {0, 16, DType::i16},  {0, 32, DType::i32}, {0, 64, DType::i64},  {1, 8, DType::u8},
      {1, 16, DType::u16}, {1, 32, DType::u32},  {1, 64, DType::u64}, {2, 16, DType::f16},  {2, 32, DType::f32},
      {2, 64, DType::f64}, {4, 16, DType::bf16}, {5, 64, DType::c64}, {5, 128, DType::c128}};
  const Known* known = nullptr;
  for (const auto& one : kTypes) {
    if (one.code == code && one.bits == bits && tensor.dtype.lanes == 1) known = &one;
  }
  if (known == nullptr) {
    throw ShapeError("a DLPack tensor of type code " + std::to_string(code) + ", " + std::to_string(bits) + " bits, " +
                     std::to_string(tensor.dtype.lanes) + " lanes: Ricci has no such element type");
  }
  const auto place = static_cast<int>(tensor.device.device_type);
  constexpr int kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13;
  if (place != kCpu && place != kCuda && place != kCudaHost && place != kCudaManaged) {
    throw DeviceError("a DLPack tensor on a device of type " + std::to_string(place) +
                      "; Ricci reads those of CPUs (1, 3) and of CUDA (2, 13)");
  }
  const bool on_gpu = place == kCuda || place == kCudaManaged;
  std::vector<std::int64_t> extents(tensor.shape, tensor.shape + tensor.ndim);
  auto layout = tensor.strides == nullptr
                    ? Layout::row_major(known->type, std::move(extents))
                    : Layout::strided(known->type, std::move(extents), {tensor.strides, tensor.strides + tensor.ndim});
  layout.alignment = 0;
  return {static_cast<std::byte*>(tensor.data) + tensor.byte_offset, std::move(layout),
          on_gpu ? Device::gpu : Device::cpu, on_gpu ? static_cast<int>(tensor.device.device_id) : -1};
}

/// einsum() of arrays, on the device that they are on. Throws as plan_einsum and a call of its plan do; DeviceError,
/// before anything is planned, where they are on several. The options' device and ordinal are not used.
inline void einsum(std::string_view spec, const TensorRef& output, std::span<const ConstTensorRef> inputs,
                   EinsumOptions options = {}) {
  std::vector<Layout> layouts;
  std::vector<const void*> from;
  for (const auto& input : inputs) {
    if (input.device != output.device || input.gpu != output.gpu) {
      throw DeviceError("operand " + std::to_string(layouts.size() + 1) + " is on another device than the output");
    }
    layouts.push_back(input.layout);
    from.push_back(input.data);
  }
  options.device = output.device;
  options.gpu = output.gpu;
  einsum(spec, layouts, from, output.layout, output.data, options);
}
inline void einsum(std::string_view spec, const TensorRef& output, std::initializer_list<ConstTensorRef> inputs,
                   const EinsumOptions& options = {}) {
  einsum(spec, output, std::span<const ConstTensorRef>(inputs.begin(), inputs.size()), options);
}

/// permute() of arrays, likewise.
inline void permute(std::string_view spec, const TensorRef& output, const ConstTensorRef& input,
                    PermuteOptions options = {}) {
  if (input.device != output.device || input.gpu != output.gpu) {
    throw DeviceError("the input is on another device than the output");
  }
  options.device = output.device;
  options.gpu = output.gpu;
  permute(spec, input.layout, input.data, output.layout, output.data, options);
}

}  // namespace v1
}  // namespace ricci
