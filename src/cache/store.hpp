// One directory of compiled kernels, shared by threads, processes and users: bytes under key texts.
#pragma once
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
  std::string key;                 ///< canonical text, stored and compared whole: a collision of names cannot lie
  std::string metadata;            ///< JSON text of the caller
  std::string source;              ///< generated source
  std::vector<std::byte> binary;   ///< object file or CUBIN
};

/// Where an entry came from.
enum class Outcome { memory, disk, made };

struct Config {
  std::filesystem::path root;                        ///< empty: memory only
  std::vector<std::filesystem::path> read_only_roots;///< searched after `root`, never written
  std::uint64_t max_bytes = 256ull << 20;
  bool read_only = false;                            ///< RICCI_CACHE=ro
  /// From RICCI_CACHE_DIR, RICCI_CACHE_MAX, RICCI_CACHE, RICCI_CACHE_RO, XDG_CACHE_HOME, HOME. Never throws.
  static Config from_environment();
};

class Store {
 public:
  explicit Store(Config config);
  ~Store();
  /// The entry under `key`, or null. Never throws: a damaged entry is a miss.
  std::shared_ptr<const Entry> find(std::string_view key, Outcome* outcome = nullptr);
  /// The entry under `key`, calling `make` at most once across threads and processes (single flight). Only what `make`
  /// throws comes out; a store that fails is a warning. `make` runs without locks on the object held.
  std::shared_ptr<const Entry> find_or_make(std::string_view key, const std::function<Entry()>& make,
                                            Outcome* outcome = nullptr);
 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ricci::cache
