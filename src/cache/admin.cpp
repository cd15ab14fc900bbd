#include "cache/admin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <set>
#include <utility>

#include "cache/admin_access.hpp"
#include "cache/format.hpp"
#include "cache/lock.hpp"
#include "cache/sweep.hpp"
#include "ricci/error.hpp"

namespace ricci::cache {
namespace {

using SystemClock = std::chrono::system_clock;

SystemClock::time_point time_of(const timespec& time) {
  return SystemClock::time_point(std::chrono::duration_cast<SystemClock::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

std::vector<FileInfo> files_of(const Directory& directory) {
  std::vector<FileInfo> files;
  if (const int error = directory.list(&files)) throw_io("list the kernel cache", directory.root(), error);
  return files;
}

std::uint64_t sum_bytes(const std::vector<FileInfo>& files) {
  std::uint64_t bytes = 0;
  for (const FileInfo& file : files) bytes += file.bytes;
  return bytes;
}

// Calls `visit` for each sound entry whose name begins with `prefix`; a name in an earlier root hides later ones.
void for_each_sound(const Config& config, std::string_view prefix, const std::function<void(const Examined&)>& visit) {
  std::set<std::string> seen;
  for (const AdminRoot& root : admin_roots(config)) {
    for (const FileInfo& file : files_of(root.directory)) {
      const std::string name = file.name.hex();
      if (!name.starts_with(prefix) || seen.contains(name)) continue;
      const Examined examined = examine(root, file, false);
      if (examined.error || examined.damage != Damage::none) continue;
      seen.insert(name);
      visit(examined);
    }
  }
}

// Removes a file that was listed; a file that has changed since is in use and stays.
bool remove_listed(const Directory& directory, const FileInfo& file) {
  const int error = directory.remove(file.name, &file);
  if (error && error != EBUSY) throw_io("remove", directory.root() / file.name.path(), error);
  return error == 0;
}

}  // namespace

std::vector<AdminRoot> admin_roots(const Config& config) {
  std::vector<AdminRoot> roots;
  if (!config.root.empty()) roots.push_back({Directory(config.root, config.shared), !config.read_only});
  for (const std::filesystem::path& root : config.read_only_roots)
    if (!root.empty()) roots.push_back({Directory(root, config.shared), false});
  for (const AdminRoot& root : roots)
    if (const auto objection = root.directory.objection()) throw CacheError(*objection);
  return roots;
}

Directory writable_root(const Config& config) {
  if (config.root.empty())
    throw CacheError(
        "there is no cache directory to change: RICCI_CACHE is off, or neither RICCI_CACHE_DIR, XDG_CACHE_HOME nor "
        "HOME is "
        "set. Set RICCI_CACHE_DIR to a directory of your own");
  if (config.read_only)
    throw CacheError(
        fmt::format("the cache directory {} is not to be changed: RICCI_CACHE=ro is set", config.root.string()));
  Directory directory(config.root, config.shared);
  if (const auto objection = directory.objection()) throw CacheError(*objection);
  return directory;
}

void check_writable(const Config& config) { (void)writable_root(config); }

void throw_io(std::string_view what, const std::filesystem::path& path, int error) {
  throw IoError(fmt::format("cannot {} {}: {}", what, path.string(), error_text(error)));
}

Examined examine(const AdminRoot& root, const FileInfo& file, bool decompress) {
  Examined examined;
  examined.info.name = file.name.hex();
  examined.info.path = root.directory.root() / file.name.path();
  examined.info.file_bytes = file.bytes;
  examined.info.used = time_of(file.modified);
  examined.info.read_only = !root.writable;
  examined.error = root.directory.read(file.name, false, &examined.bytes);
  if (examined.error) return examined;
  examined.damage = inspect(examined.bytes.span(), &examined.view);
  if (examined.damage != Damage::none) return examined;
  if (decompress) {
    Entry entry;
    examined.damage = expand(examined.view, &entry);
  }
  examined.info.key = examined.view.key;
  examined.info.metadata = examined.view.metadata;
  examined.info.source_bytes = examined.view.source_bytes;
  examined.info.binary_bytes = examined.view.binary_bytes;
  return examined;
}

void settle(const Config& config, const Directory& directory, std::optional<std::uint64_t> max_bytes) {
  const LockFolder locks(directory, config.runtime_dir);
  Lock lock;
  (void)locks.try_acquire("sweep", &lock);
  const std::uint64_t bound = max_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  const SweepResult result = sweep(directory, bound, bound);
  (void)write_usage(directory, {result.bytes, ::time(nullptr), false});
}

std::vector<EntryInfo> list(const Config& config) { return find_by_name(config, ""); }

std::vector<EntryInfo> find_by_name(const Config& config, std::string_view prefix) {
  std::vector<EntryInfo> entries;
  for_each_sound(config, prefix, [&](const Examined& examined) { entries.push_back(examined.info); });
  std::sort(entries.begin(), entries.end(), [](const EntryInfo& a, const EntryInfo& b) {
    return a.used != b.used ? a.used > b.used : a.name < b.name;
  });
  return entries;
}

Entry load(const Config& config, std::string_view prefix) {
  std::vector<std::string> names;
  Entry entry;
  for_each_sound(config, prefix, [&](const Examined& examined) {
    if (names.empty() && expand(examined.view, &entry) != Damage::none) return;
    names.push_back(examined.info.name);
  });
  if (names.empty())
    throw CacheError(fmt::format(
        "no kernel in the cache has a name that begins with '{}': `ricci cache ls` lists the names", prefix));
  if (names.size() > 1) {
    std::sort(names.begin(), names.end());
    std::string text = fmt::format("{} kernels in the cache have names that begin with '{}': give more digits\n",
                                   names.size(), prefix);
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += "  " + names[i] + "\n";
    if (names.size() > kShown) text += fmt::format("  and {} more\n", names.size() - kShown);
    text.pop_back();
    throw CacheError(text);
  }
  return entry;
}

Stats stats(const Config& config) {
  Stats stats;
  stats.max_bytes = config.max_bytes;
  for (const AdminRoot& root : admin_roots(config)) {
    const std::vector<FileInfo> files = files_of(root.directory);
    stats.roots.push_back({root.directory.root(), !root.writable, files.size(), sum_bytes(files)});
  }
  if (!config.root.empty()) {
    Usage usage;
    if (read_usage(Directory(config.root, config.shared), &usage) == 0 && usage.swept_s > 0)
      stats.swept = SystemClock::from_time_t(static_cast<std::time_t>(usage.swept_s));
  }
  return stats;
}

VerifyReport verify(const Config& config, bool remove) {
  if (remove) (void)writable_root(config);  // refuse before the work, not after it
  VerifyReport report;
  for (const AdminRoot& root : admin_roots(config)) {
    for (const FileInfo& file : files_of(root.directory)) {
      const Examined examined = examine(root, file, true);
      if (examined.error == ENOENT) continue;  // evicted meanwhile
      if (examined.error) {
        report.unreadable.push_back({examined.info.path, error_text(examined.error)});
        continue;
      }
      if (examined.damage == Damage::version) {
        ++report.other_versions;
        continue;
      }
      const bool misplaced = examined.damage == Damage::none && !(EntryName::of(examined.view.key) == file.name);
      if (examined.damage == Damage::none && !misplaced) {
        ++report.sound;
        continue;
      }
      report.damaged.push_back(
          {examined.info.path, misplaced ? "the name is not the one of the key inside" : describe(examined.damage)});
      if (remove && root.writable && remove_listed(root.directory, file)) ++report.removed;
    }
  }
  if (report.removed) settle(config, Directory(config.root, config.shared), std::nullopt);
  return report;
}

PruneReport prune(const Config& config, const PruneOptions& options) {
  const Directory directory = writable_root(config);
  const std::vector<FileInfo> before = files_of(directory);
  const auto now = SystemClock::now();
  for (const FileInfo& file : before)
    if (options.all || (options.older_than && now - time_of(file.modified) > *options.older_than))
      (void)remove_listed(directory, file);
  if (options.all) (void)directory.remove_stale_temporaries(-1);
  const bool bounded = options.max_bytes || (!options.all && !options.older_than);
  if (!before.empty() || options.all)
    settle(config, directory, bounded ? std::optional(options.max_bytes.value_or(config.max_bytes)) : std::nullopt);

  PruneReport report;
  const std::vector<FileInfo> after = files_of(directory);
  report.entries = after.size();
  report.bytes = sum_bytes(after);
  report.removed_entries = before.size() - std::min(before.size(), after.size());
  report.removed_bytes = sum_bytes(before) - std::min(sum_bytes(before), report.bytes);
  return report;
}

}  // namespace ricci::cache
