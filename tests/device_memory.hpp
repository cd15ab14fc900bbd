// Memory of a GPU, for the tests that use one.
#pragma once

#include <cstddef>
#include <utility>

#include "jit/cuda_driver.hpp"

namespace ricci::tests {

/// Bytes on the current device, released at the end. Aligned to 256 bytes. Throws DeviceError. Movable.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes)
      : begin_(static_cast<unsigned char*>(jit::cuda::allocate(bytes))), bytes_(bytes) {}
  /// With what the host has there.
  DeviceMemory(const void* host, std::size_t bytes) : DeviceMemory(bytes) {
    jit::cuda::copy_to_device(begin_, host, bytes);
  }
  ~DeviceMemory() { jit::cuda::release(begin_); }
  DeviceMemory(DeviceMemory&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  unsigned char* get() const noexcept { return begin_; }
  /// All of it, after all earlier work of the default stream.
  void copy_to_host(void* host) const { jit::cuda::copy_to_host(host, begin_, bytes_); }

 private:
  unsigned char* begin_;
  std::size_t bytes_;
};

}  // namespace ricci::tests
