// Tensor maps: what a kernel's copies of boxes are told of a tensor, encoded by the driver for a pointer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ricci::jit::cuda {

/// An argument of a kernel, as CUtensorMap.
struct alignas(128) EncodedMap {
  std::array<unsigned char, 128> bytes = {};
};

/// A tensor and its boxes, but for the pointer. The fastest dimension, of neighbours, is the first one.
struct BoxedTensor {
  static constexpr int kMostDimensions = 5;
  int element_bytes = 1;  ///< 1, 2, 4 or 8
  int dimensions = 1;
  int row_bytes = 0;       ///< of shared memory whose 16 bytes are swizzled: 32, 64, 128; 0: none are
  std::int64_t first = 0;  ///< bytes from the pointer to the tensor
  std::array<std::int64_t, kMostDimensions> extents = {};  ///< elements
  std::array<std::int64_t, kMostDimensions> strides = {};  ///< bytes
  std::array<std::int64_t, kMostDimensions> boxes = {};    ///< elements
};

/// Whether the driver encodes maps, as those of CUDA 12 and newer do. Throws DeviceError where there is none.
bool has_tensor_maps();
/// Throws DeviceError where the driver encodes none, or refuses this one. Allocates nothing.
///   ordinal  the pointer's device
EncodedMap encode_map(const BoxedTensor& tensor, const void* pointer, int ordinal);

}  // namespace ricci::jit::cuda
