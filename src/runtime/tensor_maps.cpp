#include "runtime/tensor_maps.hpp"

#include "ricci/error.hpp"

namespace ricci::runtime {

jit::cuda::BoxedTensor boxed_tensor(const kernel::TensorMap& map) {
  jit::cuda::BoxedTensor tensor;
  tensor.element_bytes = static_cast<int>(size_of(map.type));
  tensor.dimensions = static_cast<int>(map.dimensions.size());
  tensor.row_bytes = static_cast<int>(map.row_bytes);
  tensor.first = map.first * size_of(map.type);
  for (std::size_t k = 0; k < map.dimensions.size(); ++k) {
    tensor.extents[k] = map.dimensions[k].extent;
    tensor.strides[k] = map.dimensions[k].stride * size_of(map.type);
    tensor.boxes[k] = map.dimensions[k].box;
  }
  return tensor;
}

TensorMaps::TensorMaps(const std::vector<kernel::TensorMap>& maps) {
  if (maps.size() > kernel::kMostMaps) throw InternalError("more tensor maps than a launch has room for");
  for (const auto& map : maps) {
    tensors_.push_back(boxed_tensor(map));
    arguments_.push_back(static_cast<std::size_t>(map.array));
  }
}

void TensorMaps::encode(void* const* pointers, int ordinal, Encoded& to) const {
  const std::unique_lock lock(mutex_, std::try_to_lock);  // a second thread rather encodes than waits
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const auto* const pointer = *static_cast<void* const*>(pointers[arguments_[k]]);
    if (lock && known_[k] == pointer) {
      to[k] = encoded_[k];
      continue;
    }
    to[k] = jit::cuda::encode_map(tensors_[k], pointer, ordinal);
    if (!lock) continue;
    known_[k] = pointer;
    encoded_[k] = to[k];
  }
}

}  // namespace ricci::runtime
