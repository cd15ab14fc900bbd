#include "jit/cuda_tensor_map.hpp"

#include <fmt/format.h>

#include "jit/cuda_driver_library.hpp"
#include "ricci/error.hpp"

namespace ricci::jit::cuda {
namespace {

int type_of(int element_bytes) {
  return element_bytes == 1   ? api::kMapU8
         : element_bytes == 2 ? api::kMapU16
         : element_bytes == 4 ? api::kMapU32
                              : api::kMapU64;
}

int swizzle_of(int row_bytes) {
  return row_bytes == 128  ? api::kMapSwizzle128
         : row_bytes == 64 ? api::kMapSwizzle64
         : row_bytes == 32 ? api::kMapSwizzle32
                           : 0;
}

}  // namespace

bool has_tensor_maps() { return Driver::need().call.tensor_map_encode != nullptr; }

EncodedMap encode_map(const BoxedTensor& tensor, const void* pointer, int ordinal) {
  const Driver& driver = Driver::need();
  if (!has_tensor_maps())
    throw DeviceError(
        "this kernel takes tensor maps, which drivers of CUDA 12 and newer encode; update the driver, or name a "
        "schedule "
        "that stages no operand by `maps`");
  EncodedMap map;
  constexpr auto kMost = static_cast<std::size_t>(BoxedTensor::kMostDimensions);
  std::array<unsigned long, kMost> extents = {}, strides = {};
  std::array<unsigned, kMost> boxes = {}, ones = {};
  for (std::size_t k = 0; k < static_cast<std::size_t>(tensor.dimensions); ++k) {
    extents[k] = static_cast<unsigned long>(tensor.extents[k]);
    if (k > 0) strides[k - 1] = static_cast<unsigned long>(tensor.strides[k]);  // neighbours need none
    boxes[k] = static_cast<unsigned>(tensor.boxes[k]);
    ones[k] = 1;
  }
  auto* const address = const_cast<char*>(static_cast<const char*>(pointer)) + tensor.first;
  const auto attempt = [&] {
    return driver.call.tensor_map_encode(map.bytes.data(), type_of(tensor.element_bytes),
                                         static_cast<unsigned>(tensor.dimensions), address, extents.data(),
                                         strides.data(), boxes.data(), ones.data(), 0, swizzle_of(tensor.row_bytes),
                                         api::kMapLines128, 0);
  };
  int code = attempt();
  if (code != api::kSuccess) {  // for want of a context, perhaps
    const ContextScope scope(driver, ordinal);
    code = attempt();
  }
  driver.check(code, "cuTensorMapEncodeTiled",
               fmt::format("making a map of {} dimensions of {}", tensor.dimensions, pointer));
  return map;
}

}  // namespace ricci::jit::cuda
