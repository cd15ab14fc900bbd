#include "runtime/scratch.hpp"

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
  static thread_local MemoryBlock block;
  make_larger(block, bytes);
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
