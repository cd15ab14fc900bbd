// Memory where a plan runs: the host's or a GPU's.
#pragma once

#include <cstddef>
#include <memory>

#include "ricci/ricci.hpp"

namespace examples {

/// Bytes on one device, aligned for any kernel, not initialised. Any allocator does for Ricci; on a GPU this one asks
/// the CUDA driver, opened at run time, so that the examples build where no toolkit is.
class Memory {
 public:
  Memory() = default;
  /// Throws std::runtime_error when there is no such device or not that much memory.
  Memory(ricci::Device device, std::size_t bytes);

  void* data() const noexcept { return memory_.get(); }
  std::size_t bytes() const noexcept { return bytes_; }

  void upload(const void* from);  ///< bytes() of them, from the host
  void download(void* to) const;  ///< to the host, when kernels before it have ended

 private:
  std::shared_ptr<void> memory_;
  std::size_t bytes_ = 0;
  ricci::Device device_ = ricci::Device::cpu;
};

/// Returns when the GPU has done what it was asked for.
void synchronize(ricci::Device device);

}  // namespace examples
