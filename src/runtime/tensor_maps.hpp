// The tensor maps that a kernel takes behind its other arguments, for the pointers of calls.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "jit/cuda_tensor_map.hpp"
#include "kernel/tensor_map.hpp"

namespace ricci::runtime {

jit::cuda::BoxedTensor boxed_tensor(const kernel::TensorMap& map);

/// Thread-safe. Maps of the last call are kept, so that calls with the same pointers encode nothing.
class TensorMaps {
 public:
  using Encoded = std::array<jit::cuda::EncodedMap, kernel::kMostMaps>;

  explicit TensorMaps(const std::vector<kernel::TensorMap>& maps);
  std::size_t count() const noexcept { return tensors_.size(); }
  /// Throws DeviceError as jit::cuda::encode_map() does; allocates nothing.
  ///   pointers  of the kernel's arguments, in their order, as a launch takes them
  ///   ordinal   their device
  void encode(void* const* pointers, int ordinal, Encoded& to) const;

 private:
  std::vector<jit::cuda::BoxedTensor> tensors_;
  std::vector<std::size_t> arguments_;  ///< whose pointers they are of
  mutable std::mutex mutex_;
  mutable std::array<const void*, kernel::kMostMaps> known_ = {};
  mutable Encoded encoded_ = {};
};

}  // namespace ricci::runtime
