// Memory for one tensor on the host.
#pragma once

#include <cstddef>

#include "runtime/host_memory.hpp"

namespace ricci::tools {

/// Bytes aligned to 256, not initialised; large ones in large pages where the system has them. Movable, owned.
class Buffer {
 public:
  Buffer() = default;
  /// Throws IoError when there is not that much memory.
  explicit Buffer(std::size_t bytes);

  std::byte* data() noexcept { return memory_.get(); }
  const std::byte* data() const noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  runtime::HostMemory memory_;
  std::size_t bytes_ = 0;
};

}  // namespace ricci::tools
