// One directory of compiled kernels, shared by threads, processes and users: bytes under key texts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::cache {

/// One kernel as stored: everything needed to run it and to read it.
struct Entry {
  std::string key;                ///< canonical text, stored and compared whole: a collision of names cannot lie
  std::string metadata;           ///< JSON text of the caller
  std::string source;             ///< generated source
  std::vector<std::byte> binary;  ///< object file or CUBIN
};

/// Where an entry came from. A thread that waited for another thread's work sees `memory`.
enum class Outcome { memory, disk, made };

struct Config {
  std::filesystem::path root;                          ///< absolute; empty: memory only
  std::vector<std::filesystem::path> read_only_roots;  ///< searched after `root`, never written
  std::filesystem::path runtime_dir;       ///< $XDG_RUNTIME_DIR: where locks go when `root` is on a network file system
  std::uint64_t max_bytes = 256ull << 20;  ///< bound of `root`; a larger entry is not stored
  std::uint64_t max_memory_bytes = 64ull << 20;    ///< bound of the entries kept in this process
  bool read_only = false;                          ///< RICCI_CACHE=ro: `root` is read, never written or touched
  bool shared = false;                             ///< RICCI_CACHE_SHARED=1: other users may own and write the roots
  std::chrono::milliseconds lock_timeout{10'000};  ///< wait for another process at most this long, then make anyway

  /// From RICCI_CACHE_DIR, RICCI_CACHE_MAX, RICCI_CACHE, RICCI_CACHE_RO, RICCI_CACHE_SHARED, XDG_CACHE_HOME,
  /// XDG_RUNTIME_DIR and HOME; what cannot be read is a warning and leaves the default. Memory only in a program that
  /// runs with raised privileges (AT_SECURE), where the environment belongs to somebody else. Never throws.
  static Config from_environment() noexcept;
};

/// What one Store has done since it was made.
struct Counters {
  std::uint64_t memory_hits = 0, disk_hits = 0, misses = 0;
  std::uint64_t made = 0;     ///< calls of `make` that returned
  std::uint64_t stored = 0;   ///< entries that reached the disk
  std::uint64_t damaged = 0;  ///< files that were refused by their content
};

/// Memory in front of a directory. Every member may be called from any thread, and in a child after fork().
/// No descriptor is kept open between calls.
class Store {
 public:
  /// Checks the roots: one that others could write to, or that a foreign user owns, is refused with a warning and not
  /// used. Creates nothing; the directory appears with the first entry.
  explicit Store(Config config);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The entry under `key`, or null. Never throws: a damaged entry is a miss.
  std::shared_ptr<const Entry> find(std::string_view key, Outcome* outcome = nullptr) noexcept;

  /// The entry under `key`, calling `make` at most once across threads and processes (single flight). Only what `make`
  /// throws comes out, in every thread that waited for it; a store that fails is a warning. `make` runs without locks
  /// on the object held, and may itself call the store. The entry is stored under `key`, whatever `make` put there.
  std::shared_ptr<const Entry> find_or_make(std::string_view key, const std::function<Entry()>& make,
                                            Outcome* outcome = nullptr);

  /// Stores `entry` under `entry.key`, replacing what is there. Failures are warnings.
  void put(Entry entry);

  /// Forgets the entry in memory and in the writable root, as for one whose binary turns out not to load.
  void erase(std::string_view key) noexcept;

  /// A right that one thread or process at a time has on the directory, for work that others would disturb; given back
  /// when the pointer goes. Null after `patience` in vain, and where nothing can be locked. `name`: a file name.
  std::shared_ptr<void> exclusive(const std::string& name, std::chrono::milliseconds patience) noexcept;

  Counters counters() const noexcept;

  /// The configuration in force: `root` is empty if it was refused.
  const Config& config() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ricci::cache
