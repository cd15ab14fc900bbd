// Memory for one tensor on the host.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

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
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace ricci::tools
