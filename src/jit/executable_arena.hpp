// Memory for machine code: small blocks out of 2 MiB chunks, never writable and executable at one address.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace ricci::jit {

/// One mapping per object would cost two kernel map entries each (65,530 are allowed to a process); neighbours in a
/// chunk merge into one. Thread-safe.
class ExecutableArena {
 public:
  enum class Mapping {
    automatic,  ///< protect, or dual where the system forbids making written memory executable
    protect,    ///< each page is first writable, then executable
    dual,       ///< the same pages mapped twice, writable and executable
  };

  /// Whole pages, owned until release().
  struct CodeBlock {
    std::byte* write = nullptr;  ///< the bytes go here, before publish()
    std::byte* run = nullptr;    ///< and are executed here, after it; equal to `write` in protect mode
    std::size_t bytes = 0;
    void* chunk = nullptr;
  };

  explicit ExecutableArena(Mapping mapping = Mapping::automatic);
  ~ExecutableArena();
  ExecutableArena(const ExecutableArena&) = delete;
  ExecutableArena& operator=(const ExecutableArena&) = delete;

  /// The arena of the process, never destroyed: kernels may run until its very end.
  static ExecutableArena& process();

  /// Throws InternalError with the system's reason when there is no memory.
  CodeBlock allocate(std::size_t bytes);
  /// Makes the block executable; nothing may be written to it afterwards. Throws InternalError when the system refuses.
  void publish(const CodeBlock& block);
  void release(const CodeBlock& block) noexcept;

  std::size_t chunk_count() const;
  std::size_t used_bytes() const;

 private:
  struct Chunk;
  Chunk* add_chunk(std::size_t bytes);

  mutable std::mutex mutex_;
  Mapping mapping_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace ricci::jit
