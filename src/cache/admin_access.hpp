// What the administration files share: roots as Directory objects, and errno values as exceptions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cache/admin.hpp"
#include "cache/directory.hpp"

namespace ricci::cache {

/// A root and the right to change it.
struct AdminRoot {
  Directory directory;
  bool writable;
};

/// The roots of a configuration, the main one first. Throws CacheError if one of them must not be used.
std::vector<AdminRoot> admin_roots(const Config& config);

/// The root that may be changed. Throws CacheError if the configuration has none.
Directory writable_root(const Config& config);

/// Throws IoError("cannot <what> <path>: <reason>").
[[noreturn]] void throw_io(std::string_view what, const std::filesystem::path& path, int error);

/// A file as read for administration.
struct Examined {
  EntryInfo info;
  FileBytes bytes;
  EntryView view;  // into bytes
  Damage damage = Damage::none;
  int error = 0;  // errno or kRefused: not read at all
};

/// Reads and inspects one listed file; never marks it as used. `decompress`: tries that, too.
Examined examine(const AdminRoot& root, const FileInfo& file, bool decompress);

/// Rescans the root and corrects its usage file, after something else than a Store changed it. `max_bytes`: also
/// removes the least recently used entries beyond it. Best effort.
void settle(const Config& config, const Directory& directory, std::optional<std::uint64_t> max_bytes);

}  // namespace ricci::cache
