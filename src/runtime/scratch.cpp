#include "runtime/scratch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ricci::runtime {
namespace {

constexpr std::size_t kKeptWorkspace = std::size_t{1} << 30;

MemoryBlock& kept_workspace() noexcept {
  static thread_local MemoryBlock block;
  return block;
}

/// The same block, or a larger one in its place, of no contents: freed first, so that both are never there at once.
void make_larger(MemoryBlock& block, std::size_t bytes) noexcept {
  if (bytes <= block.bytes) return;
  block.memory.reset();
  block.bytes = 0;
  block.memory = allocate_host(bytes);
  if (block.memory) block.bytes = bytes;
}

}  // namespace

char* thread_scratch(std::size_t bytes) noexcept {
  // Whatever fills much of a cache, in a large page: scattered over small ones it meets in the same sets.
  constexpr std::size_t kMuch = std::size_t{64} << 10, kLargePage = std::size_t{2} << 20;
  static thread_local MemoryBlock block;
  if (bytes > block.bytes) {
    make_larger(block, bytes >= kMuch ? std::max(bytes, kLargePage) : bytes);
    // Vectors end beyond what is packed, and their lanes there are multiplied as they are found, for results that are
    // dropped: pointers that lay there are denormal numbers, each of which a processor takes 150 cycles for.
    if (block.memory) std::memset(block.memory.get(), 0, block.bytes);
  }
  return bytes == 0 ? nullptr : reinterpret_cast<char*>(block.memory.get());
}

ThreadWorkspace::ThreadWorkspace(std::size_t bytes) noexcept : block_(std::exchange(kept_workspace(), {})) {
  make_larger(block_, bytes);
}

ThreadWorkspace::~ThreadWorkspace() {
  auto& kept = kept_workspace();
  if (block_.bytes <= kKeptWorkspace && block_.bytes > kept.bytes) kept = std::move(block_);
}

}  // namespace ricci::runtime
