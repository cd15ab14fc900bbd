// A tensor map as the simulator reads it, in the place of what a driver encodes.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernel/tensor_map.hpp"

namespace ricci::simt {

struct alignas(128) TensorMap {
  std::uint64_t base = 0;         ///< address of the tensor
  std::uint64_t strides[5] = {};  ///< bytes
  std::uint32_t extents[5] = {};
  std::uint16_t boxes[5] = {};
  std::uint16_t rank = 0, row_bytes = 0, size = 0;  ///< size: bytes of an element
};
static_assert(sizeof(TensorMap) == 128);

/// A map for an argument's pointer.
inline TensorMap encoded(const kernel::TensorMap& map, const void* pointer) {
  TensorMap made;
  made.size = static_cast<std::uint16_t>(size_of(map.type));
  made.base = reinterpret_cast<std::uint64_t>(pointer) + static_cast<std::uint64_t>(map.first) * made.size;
  made.row_bytes = static_cast<std::uint16_t>(map.row_bytes);
  for (const auto& dimension : map.dimensions) {
    made.strides[made.rank] = static_cast<std::uint64_t>(dimension.stride) * made.size;
    made.extents[made.rank] = static_cast<std::uint32_t>(dimension.extent);
    made.boxes[made.rank++] = static_cast<std::uint16_t>(dimension.box);
  }
  return made;
}

}  // namespace ricci::simt
