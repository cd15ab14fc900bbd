// Tensor maps: what a GPU from sm_90 on is told of a tensor, so that its hardware copies boxes of it to shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::kernel {

/// An argument of a kernel, made of the pointer of another one when it is called (jit::cuda::encode_map). Numbers count
/// elements.
struct TensorMap {
  struct Dimension {
    std::int64_t extent = 1, stride = 1;
    std::int64_t box = 1;  ///< elements of a box
    bool operator==(const Dimension&) const = default;
  };

  std::string name;
  int array = -1;                     ///< the argument, of the caller's memory
  DType type = DType::f64;            ///< of its elements, which are copied as they are
  std::int64_t first = 0;             ///< of the tensor, counted from the argument's pointer
  std::vector<Dimension> dimensions;  ///< the fastest one, of neighbours, first; boxes lie in shared memory likewise
  std::int64_t row_bytes = 0;  ///< of a row of shared memory whose 16 bytes are swizzled (warp_group.hpp); 0: none
  int origin = -1;             ///< directive that made it: number of a line of Kernel::directives
  bool operator==(const TensorMap&) const = default;

  std::int64_t box_elements() const noexcept;
  std::int64_t box_bytes() const noexcept;
};

inline constexpr std::size_t kMostMapDimensions = 5, kMostMaps = 4;  ///< of a map; of a kernel
inline constexpr std::int64_t kMapUnit = 16;   ///< bytes: pointers, strides and rows of boxes are multiples
inline constexpr std::int64_t kBoxUnit = 128;  ///< bytes of shared memory: boxes begin at multiples

/// The rule that a map breaks; empty: none.
std::string fault(const TensorMap& map);

}  // namespace ricci::kernel
