#include "kernel/tensor_map.hpp"

#include <fmt/format.h>

namespace ricci::kernel {
namespace {

constexpr std::int64_t kMostBox = 256, kMostExtent = std::int64_t{1} << 32, kMostStride = std::int64_t{1} << 40;

}  // namespace

std::int64_t TensorMap::box_elements() const noexcept {
  std::int64_t product = 1;
  for (const auto& dimension : dimensions) product *= dimension.box;
  return product;
}

std::int64_t TensorMap::box_bytes() const noexcept { return box_elements() * size_of(type); }

std::string fault(const TensorMap& map) {
  const auto size = size_of(map.type);
  if (size > 8) return fmt::format("a tensor map has no elements of {} bytes", size);
  if (map.dimensions.empty() || map.dimensions.size() > kMostMapDimensions)
    return fmt::format("a tensor map of {} dimensions, of which there are 1 to {}", map.dimensions.size(),
                       kMostMapDimensions);
  if (map.first * size % kMapUnit != 0)
    return fmt::format("the tensor begins {} bytes from its pointer on, which is no multiple of {}", map.first * size,
                       kMapUnit);
  const auto& fastest = map.dimensions.front();
  if (fastest.stride != 1) return fmt::format("neighbours of a box are {} elements apart", fastest.stride);
  const auto row = fastest.box * size;
  if (map.row_bytes != 0 ? row != map.row_bytes : row % kMapUnit != 0)
    return fmt::format("a box has rows of {} bytes, {}", row,
                       map.row_bytes != 0 ? fmt::format("and shared memory of {}", map.row_bytes)
                                          : fmt::format("no multiple of {}", kMapUnit));
  for (const auto& dimension : map.dimensions) {
    if (dimension.box < 1 || dimension.box > kMostBox)
      return fmt::format("a box is {} elements long, and at most {} are possible", dimension.box, kMostBox);
    if (dimension.extent < 1 || dimension.extent > kMostExtent)
      return fmt::format("a dimension of {} elements", dimension.extent);
    const auto bytes = dimension.stride * size;
    if (&dimension != &fastest && (bytes % kMapUnit != 0 || bytes <= 0 || bytes >= kMostStride))
      return fmt::format("a stride of {} bytes, which is no multiple of {} below 2^40", bytes, kMapUnit);
  }
  return {};
}

}  // namespace ricci::kernel
