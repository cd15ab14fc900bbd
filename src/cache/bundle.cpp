#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "cache/admin.hpp"
#include "cache/admin_access.hpp"
#include "cache/format.hpp"
#include "ricci/error.hpp"

namespace ricci::cache {
namespace {

// Header, little-endian: magic (8), XXH3-128 of bytes 24..end (16), version (4), entries (4), bytes of the whole file
// (8). Then, for each entry in the order of their names: its bytes (8) and the entry as a file of the cache.
constexpr char kBundleMagic[8] = {'R', 'I', 'C', 'C', 'I', '-', 'B', '\n'};
constexpr std::uint32_t kBundleVersion = 1;
constexpr std::size_t kBundleHeaderBytes = 40, kBundleChecksumAt = 8, kBundleChecksummedFrom = 24;

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  throw CacheError(fmt::format("the bundle {} is refused, nothing was imported: {}", file.string(), why));
}

std::vector<std::byte> read_bundle(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) throw_io("read the bundle", path, errno);
  if (!S_ISREG(info.st_mode)) refuse(path, "it is not a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size));
  std::size_t size = bytes.size();
  if (const int error = read_all(file.get(), bytes.data(), &size)) throw_io("read the bundle", path, error);
  bytes.resize(size);
  return bytes;
}

void write_bundle(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::filesystem::path temporary = fmt::format("{}.tmp-{}", path.string(), ::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) throw_io("write the bundle", path, errno);
  int error = write_all(file.get(), bytes);
  // A bundle leaves the machine: unlike an entry it is not made again when power fails.
  if (!error && ::fsync(file.get()) != 0 && errno != EINVAL) error = errno;
  if (const int close_error = file.close(); !error) error = close_error;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    (void)::unlink(temporary.c_str());
    throw_io("write the bundle", path, error);
  }
}

struct BundleEntry {
  EntryName name;
  std::span<const std::byte> bytes;
};

// All entries of a bundle, each of them checked as a reader of the cache would.
std::vector<BundleEntry> entries_of(const std::filesystem::path& path, std::span<const std::byte> bundle) {
  if (bundle.size() < kBundleHeaderBytes || std::memcmp(bundle.data(), kBundleMagic, sizeof kBundleMagic) != 0)
    refuse(path, "it is not a bundle of Ricci");
  std::byte digest[16];
  checksum(bundle.subspan(kBundleChecksummedFrom), digest);
  if (std::memcmp(bundle.data() + kBundleChecksumAt, digest, sizeof digest) != 0)
    refuse(path, "the checksum does not match; copy or export it again");
  const std::uint32_t version = get_u32(bundle.data() + 24);
  if (version != kBundleVersion)
    refuse(path,
           fmt::format("it has version {} of the format, and this program reads version {}", version, kBundleVersion));
  if (get_u64(bundle.data() + 32) != bundle.size()) refuse(path, "its sizes disagree");

  std::vector<BundleEntry> entries;
  const std::uint32_t count = get_u32(bundle.data() + 28);
  std::span<const std::byte> rest = bundle.subspan(kBundleHeaderBytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (rest.size() < 8 || get_u64(rest.data()) > rest.size() - 8) refuse(path, "its sizes disagree");
    const std::span<const std::byte> bytes = rest.subspan(8, static_cast<std::size_t>(get_u64(rest.data())));
    rest = rest.subspan(8 + bytes.size());
    EntryView view;
    Damage damage = inspect(bytes, &view);
    Entry entry;
    if (damage == Damage::none) damage = expand(view, &entry);
    if (damage != Damage::none) refuse(path, fmt::format("kernel {} of {}: {}", i + 1, count, describe(damage)));
    entries.push_back({EntryName::of(view.key), bytes});
  }
  if (!rest.empty()) refuse(path, "its sizes disagree");
  return entries;
}

// True if the cache holds this very key, undamaged.
bool holds(const Directory& directory, const EntryName& name, std::span<const std::byte> bytes) {
  FileBytes present;
  EntryView view, wanted;
  return directory.read(name, false, &present) == 0 && inspect(present.span(), &view) == Damage::none &&
         inspect(bytes, &wanted) == Damage::none && view.key == wanted.key;
}

// Files that become visible together: temporary ones until `commit`, all of them gone if something throws before.
class Batch {
 public:
  explicit Batch(const Directory& directory) : directory_(directory) {}
  ~Batch() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (i >= committed_)
        directory_.discard(files_[i].second);
      else if (!complete_)
        (void)directory_.remove(files_[i].first);
    }
  }
  void add(const BundleEntry& entry) {
    std::string temporary;
    const int error = directory_.write_temporary(entry.bytes, &temporary);
    if (error) throw_io("write to the kernel cache", directory_.root(), error);
    files_.emplace_back(entry.name, std::move(temporary));
  }
  void commit() {
    for (; committed_ < files_.size(); ++committed_) {
      const auto& [name, temporary] = files_[committed_];
      if (const int error = directory_.commit(temporary, name))
        throw_io("write to the kernel cache", directory_.root(), error);
    }
    complete_ = true;
  }
  std::size_t size() const { return files_.size(); }

 private:
  const Directory& directory_;
  std::vector<std::pair<EntryName, std::string>> files_;
  std::size_t committed_ = 0;
  bool complete_ = false;
};

}  // namespace

BundleReport export_bundle(const Config& config, const std::filesystem::path& file, const EntryFilter& filter) {
  std::map<std::string, FileBytes> chosen;  // by name: the same entries give the same bundle
  std::size_t total = kBundleHeaderBytes;
  for (const AdminRoot& root : admin_roots(config)) {
    std::vector<FileInfo> files;
    if (const int error = root.directory.list(&files)) throw_io("list the kernel cache", root.directory.root(), error);
    for (const FileInfo& listed : files) {
      Examined examined = examine(root, listed, true);
      if (examined.error || examined.damage != Damage::none || chosen.contains(examined.info.name)) continue;
      if (filter && !filter(examined.info)) continue;
      total += 8 + examined.bytes.size;
      chosen.emplace(examined.info.name, std::move(examined.bytes));
    }
  }
  if (chosen.empty()) throw CacheError("there is nothing to export: no kernel in the cache was chosen");

  std::vector<std::byte> bundle(total);
  std::memcpy(bundle.data(), kBundleMagic, sizeof kBundleMagic);
  put_u32(bundle.data() + 24, kBundleVersion);
  put_u32(bundle.data() + 28, static_cast<std::uint32_t>(chosen.size()));
  put_u64(bundle.data() + 32, total);
  std::byte* at = bundle.data() + kBundleHeaderBytes;
  for (const auto& [name, bytes] : chosen) {
    put_u64(at, bytes.size);
    std::memcpy(at + 8, bytes.data.get(), bytes.size);
    at += 8 + bytes.size;
  }
  std::byte digest[16];
  checksum(std::span(bundle).subspan(kBundleChecksummedFrom), digest);
  std::memcpy(bundle.data() + kBundleChecksumAt, digest, sizeof digest);
  write_bundle(file, bundle);
  return {chosen.size(), 0, total};
}

BundleReport import_bundle(const Config& config, const std::filesystem::path& file) {
  const Directory directory = writable_root(config);
  const std::vector<std::byte> bundle = read_bundle(file);
  const std::vector<BundleEntry> entries = entries_of(file, bundle);
  if (bundle.size() > config.max_bytes)
    refuse(file, fmt::format("its {} bytes are more than the bound of the cache, {} bytes; raise RICCI_CACHE_MAX",
                             bundle.size(), config.max_bytes));
  BundleReport report;
  report.bytes = bundle.size();
  Batch batch(directory);
  for (const BundleEntry& entry : entries) {
    if (holds(directory, entry.name, entry.bytes))
      ++report.already_present;
    else
      batch.add(entry);
  }
  batch.commit();
  report.entries = batch.size();
  if (report.entries) settle(config, directory, config.max_bytes);
  return report;
}

}  // namespace ricci::cache
