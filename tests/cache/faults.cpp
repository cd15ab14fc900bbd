// Files, disks and directories that fail: never a wrong result, never a failed call.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "cache/directory.hpp"
#include "cache/lock.hpp"
#include "catch.hpp"
#include "fixture.hpp"

namespace faults_test {

using namespace ricci::cache;
using namespace ricci::cache::test;
using Catch::Matchers::ContainsSubstring;

namespace {

// True if a store made from `config` has the entry on disk, right in every byte.
bool on_disk(const Config& config, const std::string& key) {
  const auto entry = Store(config).find(key);
  return entry && is_right(*entry, key);
}

// The promise of the whole folder: a call succeeds with the right result, whatever the file holds.
bool survives(const Config& config, const std::string& key) {
  Store store(config);
  if (const auto entry = store.find(key); entry && !is_right(*entry, key)) return false;
  int calls = 0;
  return is_right(*store.find_or_make(key, maker(key, &calls)), key);
}

}  // namespace

TEST_CASE("a damaged file is a miss and is replaced: every bit, every length") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Entry small;
  small.key = "k";
  small.metadata = "{}";
  small.source = "void k() {}";
  small.binary = noise("k", 16);
  const fs::path file = file_of(config.root, "k");
  Store(config).put(small);
  const std::vector<std::byte> good = read_file(file);
  REQUIRE(good.size() < 200);

  int hits_on_damage = 0, wrong = 0, not_replaced = 0, not_counted = 0;
  Warnings warnings;
  const auto check = [&](std::span<const std::byte> bad) {
    write_file(file, bad);
    Store store(config);
    hits_on_damage += store.find("k") != nullptr;
    const auto made = store.find_or_make("k", [&] { return small; });
    wrong += made->source != small.source || made->binary != small.binary;
    not_counted += store.counters().damaged < 1;
    not_replaced += read_file(file) != good;
  };
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    check(bad);
  }
  for (std::size_t size = 0; size < good.size(); ++size) check(std::span(good).first(size));
  CHECK(hits_on_damage == 0);
  CHECK(wrong == 0);
  CHECK(not_counted == 0);
  CHECK(not_replaced == 0);
  CHECK(warnings.count() == 8 * good.size() + good.size());  // each once, though it is looked at twice
}

TEST_CASE("large entries are read whole, and a file of gigabytes is not") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  constexpr std::size_t kLarge = std::size_t{20} << 20;
  Store(config).put(entry_of("k", kLarge));
  CHECK(is_right(*Store(config).find("k"), "k", kLarge));
  const fs::path file = file_of(config.root, "k");
  fs::resize_file(file, kLarge - 1);
  CHECK(Store(config).find("k") == nullptr);

  fs::resize_file(file, std::uintmax_t{64} << 30);  // sparse
  const int status = in_child([&] {
    Store store(config);
    CHILD_CHECK(store.find("k") == nullptr);
    CHILD_CHECK(store.counters().damaged == 1);
    rusage usage{};
    CHILD_CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
    CHILD_CHECK(usage.ru_maxrss < 1 << 20);  // KiB
    return 0;
  });
  CHECK(status == 0);
  CHECK(survives(config, "k"));
  CHECK(on_disk(config, "k"));
}

TEST_CASE("looking at a damaged file does not remove it") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const fs::path file = file_of(config.root, "k");
  write_file(file, std::as_bytes(std::span("damaged")));
  CHECK(Store(config).find("k") == nullptr);
  CHECK(fs::exists(file));
}

TEST_CASE("a damaged file is told once, by name") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const fs::path file = file_of(config.root, "k");
  write_file(file, std::as_bytes(std::span("damaged")));
  Warnings warnings;
  Store store(config);
  CHECK(store.find("k") == nullptr);
  CHECK(store.find("k") == nullptr);
  CHECK(is_right(*store.find_or_make("k", maker("k")), "k"));
  CHECK(warnings.count() == 1);
  CHECK_THAT(warnings.text(), ContainsSubstring(file.string() + " is damaged"));
  CHECK(is_right(*Store(config).find("k"), "k"));
  CHECK(warnings.count() == 1);
}

TEST_CASE("two format versions and two generator versions share a directory") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  // The generator's version is part of the key; the format's version is part of the name.
  const std::string mine = "generator 1 | abc", theirs = "generator 2 | abc";
  Store(config).put(entry_of(mine));
  Store(config).put(entry_of(theirs));
  const fs::path other = config.root / EntryName::of(mine, kFormatVersion + 1).path();
  write_file(other, encode(entry_of(mine), kFormatVersion + 1));
  CHECK(on_disk(config, mine));
  CHECK(on_disk(config, theirs));
  CHECK(fs::exists(other));
  // Even under our own name, another version's file is a miss, and is replaced.
  write_file(file_of(config.root, mine), encode(entry_of("something else"), kFormatVersion + 1));
  CHECK(Store(config).find(mine) == nullptr);
  CHECK(survives(config, mine));
  CHECK(on_disk(config, mine));
}

TEST_CASE("things that are not files, under the names of entries") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Warnings warnings;
  const fs::path file = file_of(config.root, "k"), elsewhere = folder / "elsewhere.k";
  fs::create_directories(file.parent_path());
  write_file(elsewhere, encode(entry_of("k")));

  SECTION("a link, even to a right entry, is not followed") {
    fs::create_symlink(elsewhere, file);
    CHECK(Store(config).find("k") == nullptr);
    CHECK(survives(config, "k"));
    CHECK_FALSE(fs::is_symlink(file));
    CHECK(on_disk(config, "k"));
  }
  SECTION("a pipe does not hold the reader") {
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK(survives(config, "k"));
    CHECK(on_disk(config, "k"));
  }
  SECTION("a folder stays, and the call succeeds") {
    fs::create_directories(file / "x");
    CHECK(survives(config, "k"));
    CHECK(fs::is_directory(file));
    CHECK(warnings.count() == 1);
  }
  SECTION("a link instead of the folder is not followed") {
    fs::remove(file.parent_path());
    fs::create_directories(folder / "away");
    fs::create_directory_symlink(folder / "away", file.parent_path());
    CHECK(survives(config, "k"));
    CHECK(fs::is_empty(folder / "away"));
  }
  SECTION("a file that others can write is not believed") {
    write_file(file, encode(entry_of("k")));
    REQUIRE(::chmod(file.c_str(), 0622) == 0);
    CHECK(Store(config).find("k") == nullptr);
    CHECK(survives(config, "k"));
    CHECK(on_disk(config, "k"));
  }
  SECTION("a file where the root should be") {
    Config at_file = config;
    at_file.root = elsewhere;
    CHECK(survives(at_file, "k"));
    CHECK(warnings.count() == 1);
  }
}

TEST_CASE("a root that others can write is refused, and RICCI_CACHE_SHARED=1 accepts it") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  for (const mode_t mode : {0770, 0707, 01777}) {
    REQUIRE(::chmod(config.root.c_str(), mode) == 0);
    Warnings warnings;
    Store store(config);
    CHECK(store.config().root.empty());
    REQUIRE(warnings.count() == 1);
    CHECK_THAT(warnings.text(), ContainsSubstring(config.root.string()) && ContainsSubstring("chmod go-w") &&
                                    ContainsSubstring("RICCI_CACHE_SHARED=1"));
    CHECK(store.find("k") == nullptr);
    CHECK(is_right(*store.find_or_make("new", maker("new")), "new"));
    CHECK(store.counters().stored == 0);
    CHECK(warnings.count() == 1);
  }
  config.shared = true;
  Warnings warnings;
  CHECK(on_disk(config, "k"));
  CHECK(survives(config, "new"));
  CHECK(on_disk(config, "new"));
  CHECK(warnings.count() == 0);
}

TEST_CASE("a root that becomes writable for others while a store is open is no longer used") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store store(config);
  store.put(entry_of("a"));
  store.put(entry_of("b"));
  REQUIRE(::chmod(config.root.c_str(), 0777) == 0);
  Warnings warnings;
  Store fresh_memory(config_at(folder / "none"));
  CHECK(is_right(*store.find_or_make("c", maker("c")), "c"));
  CHECK(store.counters().stored == 2);
  CHECK(warnings.count() == 1);
}

TEST_CASE("read-only roots answer after the main one, and are refused as it is") {
  TemporaryFolder folder;
  Store(config_at(folder / "site")).put(entry_of("site"));
  Config config = config_at(folder / "root");
  config.read_only_roots = {folder / "missing", folder / "site"};
  CHECK(on_disk(config, "site"));
  CHECK(survives(config, "own"));
  CHECK_FALSE(fs::exists(folder / "missing"));
  CHECK(entry_files(folder / "site").size() == 1);
  CHECK(entry_files(config.root).size() == 1);

  // A damaged entry there is made anew in the main root, which hides it.
  write_file(file_of(folder / "site", "site"), std::as_bytes(std::span("damaged")));
  CHECK(survives(config, "site"));
  CHECK(on_disk(config_at(config.root), "site"));

  REQUIRE(::chmod((folder / "site").c_str(), 0777) == 0);
  Warnings warnings;
  CHECK(Store(config).config().read_only_roots.size() == 1);
  CHECK(warnings.count() == 2);  // of the one that is missing, and of the one that is refused
  CHECK_THAT(warnings.text(), ContainsSubstring((folder / "missing").string()));
  CHECK_THAT(warnings.text(), ContainsSubstring("chmod go-w"));
}

TEST_CASE("RICCI_CACHE=ro reads and leaves no trace") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  fs::remove_all(config.root / "lock");
  fs::remove(config.root / "usage");
  config.read_only = true;
  CHECK(on_disk(config, "k"));
  CHECK(survives(config, "new"));
  Store(config).erase("k");
  CHECK(on_disk(config, "k"));
  CHECK(entry_files(config.root).size() == 1);
  CHECK_FALSE(fs::exists(config.root / "lock"));
  CHECK_FALSE(fs::exists(config.root / "usage"));
  config.root = folder / "missing";
  CHECK(survives(config, "new"));
  CHECK_FALSE(fs::exists(config.root));
}

TEST_CASE("a directory that cannot be written: hits work, misses work, one warning") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  {
    Store store(config);
    for (int i = 0; i < 5; ++i) store.put(entry_of(key_of(i)));
  }
  // As root nothing is forbidden: make the files readable for all, and look at them as another user.
  const bool root = ::geteuid() == 0;
  for (const auto& item : fs::recursive_directory_iterator(config.root))
    fs::permissions(item.path(),
                    fs::perms(root ? (item.is_directory() ? 0755 : 0644) : (item.is_directory() ? 0555 : 0444)));
  fs::permissions(config.root, fs::perms(root ? 0755 : 0555));
  const int status = in_child([&] {
    CHILD_CHECK(!root || become(kNobody));
    Warnings warnings;
    Store store(config);
    for (int i = 0; i < 5; ++i) {
      Outcome outcome{};
      const auto entry = store.find(key_of(i), &outcome);
      CHILD_CHECK(entry && outcome == Outcome::disk && is_right(*entry, key_of(i)));
    }
    for (int i = 5; i < 15; ++i) CHILD_CHECK(is_right(*store.find_or_make(key_of(i), maker(key_of(i))), key_of(i)));
    CHILD_CHECK(store.counters().stored == 0);
    CHILD_CHECK(warnings.count() == 1);
    CHILD_CHECK(warnings.text().find("Permission denied") != std::string::npos);
    return 0;
  });
  if (!root)
    for (const auto& item : fs::recursive_directory_iterator(config.root))
      if (item.is_directory()) fs::permissions(item.path(), fs::perms(0755));
  fs::permissions(config.root, fs::perms(0700));
  CHECK(status == 0);
  CHECK(entry_files(config.root).size() == 5);
}

TEST_CASE("a foreign user's directory and files are refused") {
  if (::geteuid() != 0) RICCI_SKIP("not root: cannot give files to another user");
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  REQUIRE(::chown(file_of(config.root, "k").c_str(), kNobody, kNobody) == 0);
  CHECK(Store(config).find("k") == nullptr);  // a foreign file in a directory of our own
  REQUIRE(::chown(config.root.c_str(), kNobody, kNobody) == 0);
  {
    Warnings warnings;
    Store store(config);
    CHECK(store.config().root.empty());
    REQUIRE(warnings.count() == 1);
    CHECK_THAT(warnings.text(), ContainsSubstring("belongs to user 65534"));
    CHECK(is_right(*store.find_or_make("new", maker("new")), "new"));
    CHECK(store.counters().stored == 0);
  }
  config.shared = true;
  CHECK(on_disk(config, "k"));
}

TEST_CASE("two users share a group cache with RICCI_CACHE_SHARED=1") {
  if (::geteuid() != 0) RICCI_SKIP("not root: cannot become other users");
  TemporaryFolder folder;
  fs::create_directory(folder / "root");
  REQUIRE(::chmod((folder / "root").c_str(), 0777) == 0);
  Config config = config_at(folder / "root");
  config.shared = true;
  const auto as = [&](uid_t user, const std::string& own, const std::string& other) {
    return in_child([&] {
      ::umask(0);
      CHILD_CHECK(become(user));
      Warnings warnings;
      Store store(config);
      CHILD_CHECK(is_right(*store.find_or_make(own, maker(own)), own));
      CHILD_CHECK(store.counters().stored == 1);
      if (!other.empty()) {
        Outcome outcome{};
        CHILD_CHECK(is_right(*store.find_or_make(other, maker(other), &outcome), other));
        CHILD_CHECK(outcome == Outcome::disk);
      }
      CHILD_CHECK(warnings.count() == 0);
      return 0;
    });
  };
  CHECK(as(kNobody, "first", "") == 0);
  CHECK(as(kNobody - 1, "second", "first") == 0);
}

TEST_CASE("a limit on the size of files fails writes without the signal that ends a process") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const int status = in_child([&] {
    const rlimit limit{1000, 1000};
    CHILD_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    Warnings warnings;
    Store store(config);
    for (int i = 0; i < 5; ++i)
      CHILD_CHECK(is_right(*store.find_or_make(key_of(i), maker(key_of(i), nullptr, 5000)), key_of(i), 5000));
    CHILD_CHECK(warnings.count() == 1);
    CHILD_CHECK(store.counters().stored == 0);
    // What fits is still stored: this failure is about one file.
    CHILD_CHECK(is_right(*store.find_or_make("small", maker("small")), "small"));
    CHILD_CHECK(store.counters().stored == 1);
    return 0;
  });
  CHECK(status == 0);
  CHECK(entry_files(config.root).size() == 1);
  CHECK(count_files(config.root / "tmp") == 0);
  CHECK(on_disk(config, "small"));
}

TEST_CASE("a full disk, and a disk that turns read-only") {
  TemporaryFolder folder;
  const fs::path mount_point = folder / "disk";
  fs::create_directory(mount_point);
  constexpr int kNoMount = 42;
  const int status = in_child([&] {
    // In a name space of its own, the mount is gone with the child; a user who is not root needs one of users, too.
    if (const uid_t user = ::geteuid(); user != 0) {
      const std::string group_map = std::to_string(::getegid()) + " " + std::to_string(::getegid()) + " 1";
      if (::unshare(CLONE_NEWUSER) != 0) return kNoMount;
      std::ofstream("/proc/self/setgroups") << "deny";
      std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
      std::ofstream("/proc/self/gid_map") << group_map;
    }
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return kNoMount;
    if (::mount("none", mount_point.c_str(), "tmpfs", 0, "size=128k") != 0) return kNoMount;
    const Config config = config_at(mount_point / "root");
    std::uint64_t stored = 0;
    {
      Warnings warnings;
      Store store(config);
      for (int i = 0; i < 10; ++i)
        CHILD_CHECK(is_right(*store.find_or_make(key_of(i), maker(key_of(i), nullptr, 30'000)), key_of(i), 30'000));
      stored = store.counters().stored;
      CHILD_CHECK(stored >= 1 && stored < 5);
      CHILD_CHECK(warnings.count() == 1);
      CHILD_CHECK(warnings.text().find("No space left") != std::string::npos);
      // Given up for the life of this store: room that appears later is not found by trying at every kernel.
      fs::remove(file_of(config.root, key_of(0)));
      CHILD_CHECK(is_right(*store.find_or_make("later", maker("later")), "later"));
      CHILD_CHECK(store.counters().stored == stored);
      Store(config).put(entry_of(key_of(0), 30'000));
    }
    CHILD_CHECK(count_files(config.root / "tmp") == 0);
    std::uint64_t hits = 0;
    Store again(config);
    for (int i = 0; i < 10; ++i) {
      const auto entry = again.find(key_of(i));
      CHILD_CHECK(!entry || is_right(*entry, key_of(i), 30'000));
      hits += entry != nullptr;
    }
    CHILD_CHECK(hits == stored);
    CHILD_CHECK(again.counters().damaged == 0);

    CHILD_CHECK(::mount("none", mount_point.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0);
    Warnings warnings;
    Store read_only(config);
    CHILD_CHECK(is_right(*read_only.find(key_of(0)), key_of(0), 30'000));
    for (int i = 20; i < 23; ++i)
      CHILD_CHECK(is_right(*read_only.find_or_make(key_of(i), maker(key_of(i))), key_of(i)));
    CHILD_CHECK(warnings.count() == 1);
    CHILD_CHECK(warnings.text().find("Read-only file system") != std::string::npos);
    return 0;
  });
  if (status == kNoMount) RICCI_SKIP("mounting a small tmpfs is not permitted here");
  CHECK(status == 0);
}

TEST_CASE("no file descriptors left: calls succeed, and nothing is deleted") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  const int status = in_child([&] {
    const rlimit limit{3, 3};
    Store store(config);
    CHILD_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_CHECK(store.find("k") == nullptr);
    CHILD_CHECK(is_right(*store.find_or_make("k", maker("k")), "k"));
    return 0;
  });
  CHECK(status == 0);
  CHECK(on_disk(config, "k"));
}

TEST_CASE("locks leave network file systems") {
  CHECK(is_network_file_system(0x6969));
  CHECK(is_network_file_system(static_cast<unsigned long>(static_cast<int>(0xff534d42))));  // sign-extended CIFS
  CHECK_FALSE(is_network_file_system(0xef53));                                              // ext4
  CHECK_FALSE(is_network_file_system(0x01021994));                                          // tmpfs
  CHECK(lock_folder("/c", false, "/run/user/7", 7) == "/c/lock");
  CHECK(lock_folder("/c", true, "/run/user/7", 7) == "/run/user/7/ricci");
  CHECK(lock_folder("/c", true, "", 7) == "/dev/shm/ricci-7");
}

}  // namespace faults_test
