// The bound of the directory: what is removed, when, and what is not.
#include "cache/sweep.hpp"

#include <atomic>
#include <thread>

#include "catch.hpp"
#include "fixture.hpp"

namespace sweep_test {

using namespace ricci::cache;
using namespace ricci::cache::test;

namespace {

constexpr std::int64_t kDay_s = 24 * 3600;

std::uint64_t file_bytes(std::size_t binary_bytes) { return encode(entry_of(key_of(10), binary_bytes)).size(); }

void age_all(const fs::path& root, std::int64_t seconds_from_now) {
  for (const fs::path& file : entry_files(root)) set_age(file, seconds_from_now);
}

}  // namespace

TEST_CASE("one process that writes past the bound comes back below it") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_bytes = 10 * file_bytes(1000);
  Store store(config);
  for (int i = 10; i < 60; ++i) {
    store.put(entry_of(key_of(i), 1000));
    CHECK(entry_bytes(folder / "root") <= config.max_bytes);
    CHECK(fs::exists(file_of(folder / "root", key_of(i))));  // what was just made is not what goes
  }
  CHECK(entry_files(folder / "root").size() >= 6);
}

TEST_CASE("processes that write one entry each stay below the bound together") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_bytes = 10 * file_bytes(1000);
  for (int i = 10; i < 50; ++i) {
    Store(config).put(entry_of(key_of(i), 1000));  // each store starts without any knowledge, as a process does
    REQUIRE(entry_bytes(folder / "root") <= config.max_bytes);
  }
  CHECK(entry_files(folder / "root").size() >= 6);
}

TEST_CASE("a smaller bound takes effect at the next write") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  {
    Store store(config);
    for (int i = 10; i < 40; ++i) store.put(entry_of(key_of(i), 1000));
  }
  CHECK(entry_files(folder / "root").size() == 30);
  config.max_bytes = 5 * file_bytes(1000);
  Store(config).put(entry_of(key_of(40), 1000));
  CHECK(entry_bytes(folder / "root") <= config.max_bytes);
}

TEST_CASE("the least recently used go first, down to 80 percent") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  {
    Store store(config);
    for (int i = 10; i < 20; ++i) store.put(entry_of(key_of(i), 1000));
  }
  for (int i = 10; i < 20; ++i) set_age(file_of(folder / "root", key_of(i)), -(30 - i) * kDay_s);
  CHECK(Store(config).find(key_of(10)) != nullptr);  // the oldest is used again
  config.max_bytes = 10 * file_bytes(1000);
  Store(config).put(entry_of(key_of(20), 1000));
  CHECK(entry_files(folder / "root").size() == 8);
  CHECK(fs::exists(file_of(folder / "root", key_of(10))));
  for (int i = 11; i < 14; ++i) CHECK_FALSE(fs::exists(file_of(folder / "root", key_of(i))));
  for (int i = 14; i < 21; ++i) CHECK(fs::exists(file_of(folder / "root", key_of(i))));
}

TEST_CASE("a hit marks the file as used at most once a day") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  const fs::path file = file_of(folder / "root", "k");
  set_age(file, -3600);
  CHECK(Store(config).find("k") != nullptr);
  CHECK(age_s(file) >= 3600);
  set_age(file, -kDay_s - 60);
  Config read_only = config;
  read_only.read_only = true;
  CHECK(Store(read_only).find("k") != nullptr);
  CHECK(age_s(file) >= kDay_s);
  CHECK(Store(config).find("k") != nullptr);
  CHECK(age_s(file) < 60);
}

TEST_CASE("an entry larger than the bound is used and not stored") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_bytes = 5000;
  Store store(config);
  store.put(entry_of("small", 1000));
  int calls = 0;
  CHECK(is_right(*store.find_or_make("large", maker("large", &calls, 6000)), "large", 6000));
  CHECK(store.find("large") != nullptr);
  CHECK(fs::exists(file_of(folder / "root", "small")));
  CHECK_FALSE(fs::exists(file_of(folder / "root", "large")));
  store.put(entry_of("fits", 4300));  // more than 80 percent: it stays alone
  CHECK(fs::exists(file_of(folder / "root", "fits")));
  CHECK(entry_bytes(folder / "root") <= config.max_bytes);
}

TEST_CASE("the directory is read again at most once an hour") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const Directory directory(config.root, false);
  Store(config).put(entry_of("one"));
  Usage usage;
  REQUIRE(read_usage(directory, &usage) == 0);
  CHECK(usage.bytes == entry_bytes(config.root));
  CHECK(usage.swept_s > 0);

  // A file that nobody accounted for is noticed only by the next sweep.
  write_file(file_of(config.root, "stray"), encode(entry_of("stray", 9000)));
  const std::uint64_t before = usage.bytes;
  Store(config).put(entry_of("two"));
  REQUIRE(read_usage(directory, &usage) == 0);
  CHECK(usage.bytes == before + fs::file_size(file_of(config.root, "two")));

  SECTION("an hour later") { usage.swept_s -= 3601; }
  SECTION("after the clock was set back") { usage.swept_s += 1000; }
  REQUIRE(write_usage(directory, usage) == 0);
  Store(config).put(entry_of("three"));
  REQUIRE(read_usage(directory, &usage) == 0);
  CHECK(usage.bytes == entry_bytes(config.root));
  CHECK(std::abs(usage.swept_s - ::time(nullptr)) < 60);
}

TEST_CASE("a usage file of nonsense is replaced by the truth") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store(config).put(entry_of("one"));
  const std::string nonsense(200, '9');
  write_file(folder / "root/usage", std::as_bytes(std::span(nonsense)));
  Store(config).put(entry_of("two"));
  Usage usage;
  REQUIRE(read_usage(Directory(config.root, false), &usage) == 0);
  CHECK(usage.bytes == entry_bytes(config.root));
}

TEST_CASE("temporary files of dead writers go after an hour, those of live ones stay") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store(config).put(entry_of("one"));
  for (const char* name : {"root/tmp/dead", "root/tmp/live", "root/tmp/from-the-future"}) write_file(folder / name, {});
  set_age(folder / "root/tmp/dead", -3700);
  set_age(folder / "root/tmp/from-the-future", 10 * kDay_s);
  const Directory directory(config.root, false);
  const SweepResult result = sweep(directory, 1 << 20, 1 << 20);
  CHECK(result.stale_temporaries == 2);
  CHECK(fs::exists(folder / "root/tmp/live"));
  CHECK(count_files(folder / "root/tmp") == 1);
}

TEST_CASE("times in the future neither protect entries for ever nor stop sweeps") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  {
    Store store(config);
    for (int i = 10; i < 20; ++i) store.put(entry_of(key_of(i), 1000));
  }
  age_all(config.root, 300 * kDay_s);
  const fs::path used = file_of(config.root, key_of(10));
  CHECK(is_right(*Store(config).find(key_of(10)), key_of(10), 1000));
  CHECK(std::abs(age_s(used)) < 60);  // a use sets the time right
  config.max_bytes = 4 * file_bytes(1000);
  Store(config).put(entry_of(key_of(20), 1000));
  CHECK(entry_bytes(config.root) <= config.max_bytes);
  // And the store goes on working.
  int calls = 0;
  Store store(config);
  for (int i = 10; i < 20; ++i)
    CHECK(is_right(*store.find_or_make(key_of(i), maker(key_of(i), &calls, 1000)), key_of(i), 1000));
}

TEST_CASE("what cannot be removed is not tried again at every write") {
  if (::geteuid() != 0) RICCI_SKIP("not root: cannot give files to another user");
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.shared = true;
  {
    Store store(config);
    for (int i = 10; i < 30; ++i) store.put(entry_of(key_of(i), 1000));
  }
  // A sticky folder: others may add files, and remove their own alone.
  for (const auto& item : fs::recursive_directory_iterator(config.root))
    if (item.is_directory()) REQUIRE(::chmod(item.path().c_str(), 01777) == 0);
  REQUIRE(::chmod(config.root.c_str(), 01777) == 0);
  config.max_bytes = 5 * file_bytes(1000);
  const int status = in_child([&] {
    CHILD_CHECK(become(kNobody));
    const Directory directory(config.root, true);
    const LockFolder locks(directory, {});
    SweepState state;
    account(directory, locks, config.max_bytes, config.max_bytes, &state);
    CHILD_CHECK(state.swept_s > 0 && state.futile);
    const std::int64_t first_s = state.swept_s - 30;
    state.swept_s = first_s;
    account(directory, locks, config.max_bytes, config.max_bytes, &state);
    CHILD_CHECK(state.swept_s == first_s);
    state.swept_s = first_s - 60;
    account(directory, locks, config.max_bytes, config.max_bytes, &state);
    CHILD_CHECK(state.swept_s > first_s);
    return 0;
  });
  CHECK(status == 0);
  CHECK(entry_files(config.root).size() == 20);
}

TEST_CASE("a file that was replaced or used since it was listed is not removed") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store(config).put(entry_of("k"));
  const Directory directory(config.root, false);
  std::vector<FileInfo> files;
  REQUIRE(directory.list(&files) == 0);
  REQUIRE(files.size() == 1);
  set_age(file_of(config.root, "k"), -5);
  CHECK(directory.remove(files[0].name, &files[0]) == EBUSY);
  CHECK(fs::exists(file_of(config.root, "k")));
  REQUIRE(directory.list(&files) == 0);
  CHECK(directory.remove(files[0].name, &files[0]) == 0);
  CHECK_FALSE(fs::exists(file_of(config.root, "k")));
  CHECK(directory.remove(files[0].name, &files[0]) == 0);  // gone is gone
}

TEST_CASE("a sweep touches nothing but entries and temporary files") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  Store(config).put(entry_of("k", 3000));
  const std::string word = "mine";
  for (const char* name : {"root/notes.txt", "root/ab/notes.txt", "root/ab/0123.k", "root/abc/x.k"})
    write_file(folder / name, std::as_bytes(std::span(word)));
  const SweepResult result = sweep(Directory(config.root, false), 0, 0);
  CHECK(result.removed_entries == 1);
  for (const char* name : {"root/notes.txt", "root/ab/notes.txt", "root/ab/0123.k", "root/abc/x.k"})
    CHECK(fs::exists(folder / name));
}

TEST_CASE("readers under constant eviction see right entries or none") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_bytes = 6 * file_bytes(20'000);
  config.max_memory_bytes = 0;
  // For a while, and on a busy machine until something has been seen.
  const auto begin = std::chrono::steady_clock::now();
  const auto go_on = [&](bool seen) {
    const auto passed = std::chrono::steady_clock::now() - begin;
    return passed < std::chrono::milliseconds(1500) || (!seen && passed < std::chrono::seconds(30));
  };
  std::vector<pid_t> children;
  for (int reader = 0; reader < 3; ++reader)
    children.push_back(start_child([&, reader] {
      int hits = 0;
      for (int i = reader; go_on(hits > 20); ++i) {
        Store store(config);
        const std::string key = key_of(10 + i % 20);
        if (const auto entry = store.find(key)) {
          CHILD_CHECK(is_right(*entry, key, 20'000));
          ++hits;
        }
        CHILD_CHECK(store.counters().damaged == 0);
      }
      CHILD_CHECK(hits > 20);
      return 0;
    }));
  for (int writer = 0; writer < 2; ++writer)
    children.push_back(start_child([&, writer] {
      Store store(config);
      for (int i = writer; go_on(store.counters().made > 10); ++i) {
        const std::string key = key_of(10 + i * 7 % 20);
        CHILD_CHECK(is_right(*store.find_or_make(key, maker(key, nullptr, 20'000)), key, 20'000));
      }
      CHILD_CHECK(store.counters().made > 10);  // evictions really happened
      return 0;
    }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
}

}  // namespace sweep_test
