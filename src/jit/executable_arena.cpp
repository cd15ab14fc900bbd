#include "jit/executable_arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ricci/error.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace ricci::jit {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{2} << 20;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

[[noreturn]] void fail(const char* what, int error) {
  throw InternalError(fmt::format("No executable memory for a kernel: {}: {}", what, std::strerror(error)));
}

/// Memory that can be mapped twice. Newer kernels want MFD_EXEC said, older ones refuse to know it.
int executable_file(std::size_t bytes) {
  int file = memfd_create("ricci-kernels", MFD_CLOEXEC | MFD_EXEC);
  if (file < 0 && errno == EINVAL) file = memfd_create("ricci-kernels", MFD_CLOEXEC);
  if (file < 0) fail("memfd_create", errno);
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    close(file);
    fail("ftruncate", error);
  }
  return file;
}

}  // namespace

struct ExecutableArena::Chunk {
  std::byte* write = nullptr;
  std::byte* run = nullptr;
  std::size_t bytes = 0;
  std::vector<bool> used;  // one per page
  std::size_t used_pages = 0;
  pid_t owner = getpid();

  Chunk() = default;
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
    if (run != nullptr && run != write) munmap(run, bytes);
    if (write != nullptr) munmap(write, bytes);
  }

  bool dual() const { return run != write; }

  /// After a fork the pages of a dual chunk are shared with the other process, which may hand them out as well.
  bool may_change() const { return !dual() || owner == getpid(); }

  /// First page of a free run of `pages`, or used.size().
  std::size_t find(std::size_t pages) const {
    std::size_t free = 0;
    for (std::size_t page = 0; page < used.size(); ++page) {
      free = used[page] ? 0 : free + 1;
      if (free == pages) return page + 1 - pages;
    }
    return used.size();
  }

  void mark(std::size_t first, std::size_t pages, bool value) {
    std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(first), pages, value);
    used_pages = value ? used_pages + pages : used_pages - pages;
  }
};

ExecutableArena::ExecutableArena(Mapping mapping) : mapping_(mapping) {}
ExecutableArena::~ExecutableArena() = default;

ExecutableArena& ExecutableArena::process() {
  static auto* arena = new ExecutableArena;
  return *arena;
}

ExecutableArena::Chunk* ExecutableArena::add_chunk(std::size_t bytes) {
  auto chunk = std::make_unique<Chunk>();
  chunk->bytes = bytes;
  chunk->used.resize(bytes / page_bytes());
  if (mapping_ != Mapping::dual) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap", errno);
    chunk->write = chunk->run = static_cast<std::byte*>(memory);
    if (mapping_ == Mapping::automatic) {
      // SELinux (execmem), PR_SET_MDWE and seccomp filters say no here, once written memory is to become executable.
      *chunk->write = std::byte{0};
      const bool allowed = mprotect(memory, page_bytes(), PROT_READ | PROT_EXEC) == 0 &&
                           mprotect(memory, page_bytes(), PROT_READ | PROT_WRITE) == 0;
      mapping_ = allowed ? Mapping::protect : Mapping::dual;
      if (!allowed) return add_chunk(bytes);
    }
  } else {
    const int file = executable_file(bytes);
    void* write = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* run = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    const int error = errno;
    close(file);
    if (write != MAP_FAILED) chunk->write = chunk->run = static_cast<std::byte*>(write);
    if (run != MAP_FAILED) chunk->run = static_cast<std::byte*>(run);
    if (write == MAP_FAILED || run == MAP_FAILED) fail("mmap of a memfd", error);
  }
  chunks_.push_back(std::move(chunk));
  return chunks_.back().get();
}

ExecutableArena::CodeBlock ExecutableArena::allocate(std::size_t bytes) {
  const std::size_t pages = std::max<std::size_t>(1, (bytes + page_bytes() - 1) / page_bytes());
  const std::lock_guard lock(mutex_);
  Chunk* chunk = nullptr;
  std::size_t first = 0;
  for (const auto& candidate : chunks_) {
    if (candidate->used.size() - candidate->used_pages < pages || !candidate->may_change()) continue;
    first = candidate->find(pages);
    if (first == candidate->used.size()) continue;
    chunk = candidate.get();
    break;
  }
  if (chunk == nullptr) {
    const std::size_t wanted = pages * page_bytes();
    chunk = add_chunk((wanted + kChunkBytes - 1) / kChunkBytes * kChunkBytes);
    first = 0;
  }
  chunk->mark(first, pages, true);
  const std::size_t offset = first * page_bytes();
  return {chunk->write + offset, chunk->run + offset, pages * page_bytes(), chunk};
}

void ExecutableArena::publish(const CodeBlock& block) {
  if (block.run != block.write) return;
  if (mprotect(block.run, block.bytes, PROT_READ | PROT_EXEC) != 0) fail("mprotect", errno);
}

void ExecutableArena::release(const CodeBlock& block) noexcept {
  auto* chunk = static_cast<Chunk*>(block.chunk);
  const std::lock_guard lock(mutex_);
  if (!chunk->may_change()) return;
  if (chunk->dual()) {
    madvise(block.write, block.bytes, MADV_REMOVE);
  } else {
    // Without a map entry to spare the pages stay as they are, lost to the arena but harmless.
    if (mprotect(block.write, block.bytes, PROT_READ | PROT_WRITE) != 0) return;
    madvise(block.write, block.bytes, MADV_DONTNEED);
  }
  chunk->mark(static_cast<std::size_t>(block.write - chunk->write) / page_bytes(), block.bytes / page_bytes(), false);
  // One empty chunk stays for the next object.
  if (chunk->used_pages != 0 || chunks_.size() == 1) return;
  const auto is_this = [&](const auto& candidate) { return candidate.get() == chunk; };
  chunks_.erase(std::find_if(chunks_.begin(), chunks_.end(), is_this));
}

std::size_t ExecutableArena::chunk_count() const {
  const std::lock_guard lock(mutex_);
  return chunks_.size();
}

std::size_t ExecutableArena::used_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t pages = 0;
  for (const auto& chunk : chunks_) pages += chunk->used_pages;
  return pages * page_bytes();
}

}  // namespace ricci::jit
