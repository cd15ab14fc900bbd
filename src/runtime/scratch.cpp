#include "runtime/scratch.hpp"

#include "runtime/host_memory.hpp"

namespace ricci::runtime {

char* thread_scratch(std::size_t bytes) noexcept {
  struct Block {
    HostMemory memory;
    std::size_t bytes = 0;
  };
  static thread_local Block block;
  if (bytes > block.bytes) {
    block.memory.reset();
    block.bytes = 0;
    block.memory = allocate_host(bytes);
    if (block.memory) block.bytes = bytes;
  }
  return bytes == 0 ? nullptr : reinterpret_cast<char*>(block.memory.get());
}

}  // namespace ricci::runtime
