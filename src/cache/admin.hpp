// What people do to a cache: `ricci cache ls|show|stats|verify|prune|export|import`. Other than the store, these
// functions throw: CacheError when a request is refused, IoError when a file cannot be read or written, each with the
// path and the reason. They may run beside programs that use the cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.hpp"

namespace ricci::cache {

/// One stored kernel, without its source and binary.
struct EntryInfo {
  std::string name;  ///< 32 hexadecimal digits
  std::filesystem::path path;
  std::string key, metadata;
  std::uint64_t file_bytes = 0, source_bytes = 0, binary_bytes = 0;  ///< the latter two decompressed
  std::chrono::system_clock::time_point used;                        ///< last use, to within a day
  bool read_only = false;                                            ///< in one of Config::read_only_roots
};

/// Throws CacheError, saying why, where entries cannot be stored: no directory, RICCI_CACHE=ro, one that is refused.
void check_writable(const Config& config);

/// All sound entries, those used last first. Damaged ones are left out: `verify` names them.
std::vector<EntryInfo> list(const Config& config);

/// The sound entries whose names begin with `prefix` (hexadecimal digits, lower case), as in `list`.
std::vector<EntryInfo> find_by_name(const Config& config, std::string_view prefix);

/// The whole entry whose name begins with `prefix`. CacheError if there is none, or more than one (it lists them).
Entry load(const Config& config, std::string_view prefix);

struct RootStats {
  std::filesystem::path root;
  bool read_only = false;
  std::uint64_t entries = 0, bytes = 0;
};

struct Stats {
  std::vector<RootStats> roots;  ///< the writable one first; none if the cache is memory only
  std::uint64_t max_bytes = 0;   ///< bound of the writable root
  std::optional<std::chrono::system_clock::time_point> swept;  ///< last sweep of the writable root
};

Stats stats(const Config& config);

struct DamagedFile {
  std::filesystem::path path;
  std::string reason;
};

struct VerifyReport {
  std::uint64_t sound = 0;
  std::uint64_t other_versions = 0;  ///< undamaged, of another format version
  std::uint64_t removed = 0;
  std::vector<DamagedFile> damaged;
  std::vector<DamagedFile> unreadable;  ///< could not be read, which says nothing about the content; never removed
};

/// Reads and decompresses every entry of every root. `remove`: damaged files of the writable root are removed.
VerifyReport verify(const Config& config, bool remove = false);

struct PruneOptions {
  std::optional<std::uint64_t> max_bytes;          ///< then, least recently used first, until this many bytes are left
  std::optional<std::chrono::seconds> older_than;  ///< first, what was last used longer ago than this
  bool all = false;                                ///< everything, also temporary files
};

struct PruneReport {
  std::uint64_t removed_entries = 0, removed_bytes = 0;
  std::uint64_t entries = 0, bytes = 0;  ///< what is left
};

/// Removes entries of the writable root. Without any option: down to the bound of the configuration.
PruneReport prune(const Config& config, const PruneOptions& options);

/// Which entries go into a bundle; empty: all.
using EntryFilter = std::function<bool(const EntryInfo&)>;

struct BundleReport {
  std::uint64_t entries = 0;          ///< written to the bundle, or new in the cache
  std::uint64_t already_present = 0;  ///< import only: the cache has them, they were left as they are
  std::uint64_t bytes = 0;            ///< of the bundle
};

/// Packs entries of all roots into one file with one checksum, which appears whole or not at all. The same entries give
/// the same bytes. CacheError if none is chosen.
BundleReport export_bundle(const Config& config, const std::filesystem::path& file, const EntryFilter& filter = {});

/// Adds the entries of a bundle to the writable root: all, or none when anything goes wrong. CacheError if the bundle
/// is damaged, or larger than the bound. A bundle holds code that will run: import only what you would run.
BundleReport import_bundle(const Config& config, const std::filesystem::path& file);

}  // namespace ricci::cache
