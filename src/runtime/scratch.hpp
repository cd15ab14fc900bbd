// Memory that a CPU kernel works in: one block a thread, kept from call to call.
#pragma once

#include <cstddef>

namespace ricci::runtime {

/// At least `bytes` at a multiple of 64, of the calling thread alone, with the contents that it had; the next call that
/// asks for more gets another block. Null for 0 bytes, and where there is no memory. Allocates only when a thread asks
/// for more than ever before; freed when the thread ends.
char* thread_scratch(std::size_t bytes) noexcept;

}  // namespace ricci::runtime
