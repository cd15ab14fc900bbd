// Memory that CPU kernels work in, and between them: blocks of a thread, kept from call to call.
#pragma once

#include <cstddef>

#include "runtime/host_memory.hpp"

namespace ricci::runtime {

struct MemoryBlock {
  HostMemory memory;
  std::size_t bytes = 0;
};

/// At least `bytes` at a multiple of 64, of the calling thread alone, with the contents that it had, or of zeros; the
/// next call that asks for more gets another block. Null for 0 bytes, and where there is no memory. Allocates only when
/// a thread asks for more than ever before; freed when the thread ends.
char* thread_scratch(std::size_t bytes) noexcept;

/// The workspace of a call: a block of the calling thread, aligned to 256, which the thread keeps for its next call
/// where it is no larger than 1 GiB, as pages that come anew are what copies wait for. A call inside of another one, as
/// an executor may make it, has another block.
class ThreadWorkspace {
 public:
  explicit ThreadWorkspace(std::size_t bytes) noexcept;
  ~ThreadWorkspace();
  ThreadWorkspace(const ThreadWorkspace&) = delete;
  ThreadWorkspace& operator=(const ThreadWorkspace&) = delete;
  /// Null where there is no memory.
  char* get() const noexcept { return reinterpret_cast<char*>(block_.memory.get()); }

 private:
  MemoryBlock block_;
};

}  // namespace ricci::runtime
