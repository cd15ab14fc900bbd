// Memory for tensors on the host: aligned, in large pages where the system has them.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ricci::runtime {

struct FreeHostMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using HostMemory = std::unique_ptr<std::byte, FreeHostMemory>;

/// At least `bytes`, aligned to 256, not initialised; null where there is not that much.
inline HostMemory allocate_host(std::size_t bytes) noexcept {
  // Large arrays in large pages, as NumPy's are: kernels that read many tensors at once wait for translations
  // otherwise, and packed operands, scattered over small pages, meet in the same sets of a cache.
  constexpr std::size_t kAligned = 256, kPage = std::size_t{2} << 20;
  const std::size_t unit = bytes >= kPage / 2 ? kPage : kAligned;
  if (bytes > SIZE_MAX - unit) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  HostMemory memory(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
  if (memory && unit == kPage) (void)::madvise(memory.get(), rounded, MADV_HUGEPAGE);
  return memory;
}

}  // namespace ricci::runtime
