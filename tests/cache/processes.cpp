// Several processes on one directory: each kernel compiled once, whatever dies in between.
#include <sys/syscall.h>

#include <atomic>
#include <random>
#include <thread>

#include "cache/lock.hpp"
#include "cache/sweep.hpp"
#include "catch.hpp"
#include "fixture.hpp"

namespace processes_test {

using namespace ricci::cache;
using namespace ricci::cache::test;
using namespace std::chrono_literals;

namespace {

// Counts across processes: each call adds one byte.
void count_in(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, "x", 1) != 1) throw std::runtime_error("cannot count");
  ::close(fd);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void wait_until(const std::function<bool()>& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition() && seconds_since(begin) < 20) std::this_thread::sleep_for(1ms);
  REQUIRE(condition());
}

/// A process that takes so long to make "k", and has begun to.
pid_t start_maker(const Config& config, const fs::path& folder, std::chrono::milliseconds duration) {
  const fs::path started = folder / "started";
  const pid_t child = start_child([&] {
    Store store(config);
    (void)store.find_or_make("k", [&] {
      count_in(started);
      std::this_thread::sleep_for(duration);
      return entry_of("k");
    });
    return 0;
  });
  wait_until([&] { return fs::exists(started); });
  return child;
}

}  // namespace

TEST_CASE("16 processes and 40 keys: each kernel is compiled exactly once") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  constexpr int kProcesses = 16, kKeys = 40;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start_child([&, process] {
      Store store(config);
      std::vector<int> order(kKeys);
      for (int i = 0; i < kKeys; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), std::mt19937(process / 4));  // four at a time in the same order
      for (const int i : order) {
        const auto entry = store.find_or_make(key_of(i), [&] {
          count_in(folder.path() / ("compiled-" + std::to_string(i)));
          std::this_thread::sleep_for(10ms);
          return entry_of(key_of(i), 8000);
        });
        CHILD_CHECK(is_right(*entry, key_of(i), 8000));
      }
      const Counters counters = store.counters();
      CHILD_CHECK(counters.made + counters.disk_hits == kKeys);
      return 0;
    }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  for (int i = 0; i < kKeys; ++i) {
    INFO("key " << i);
    CHECK(fs::file_size(folder.path() / ("compiled-" + std::to_string(i))) == 1);
  }
  CHECK(entry_files(config.root).size() == kKeys);
  CHECK(count_files(config.root / "tmp") == 0);
}

TEST_CASE("kernels that take no time to compile are compiled once, too") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  constexpr int kProcesses = 4, kKeys = 300;
  int gate[2];
  REQUIRE(::pipe(gate) == 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start_child([&] {
      ::close(gate[1]);
      char end;
      (void)!::read(gate[0], &end, 1);  // all start together
      Store store(config);
      for (int i = 0; i < kKeys; ++i) {
        const auto entry = store.find_or_make(key_of(i), [&] {
          count_in(folder / "compiled");
          return entry_of(key_of(i));
        });
        CHILD_CHECK(is_right(*entry, key_of(i)));
      }
      return 0;
    }));
  ::close(gate[0]);
  ::close(gate[1]);
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  CHECK(fs::file_size(folder / "compiled") == kKeys);
}

TEST_CASE("an entry that appears while its lock is held ends the waiting") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const LockFolder locks(Directory(config.root, false), {});
  Lock held;
  REQUIRE(locks.try_acquire(EntryName::of("k").stripe(), &held) == LockResult::acquired);
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] {
    std::this_thread::sleep_for(100ms);
    Store(config).put(entry_of("k"));
  });
  Store store(config);
  Outcome outcome{};
  CHECK(is_right(*store.find_or_make("k", maker("k"), &outcome), "k"));
  CHECK(outcome == Outcome::disk);
  CHECK(seconds_since(begin) < 20);
  other.join();
}

TEST_CASE("a lock is free when it is released, whoever inherited its descriptor") {
  TemporaryFolder folder;
  const LockFolder locks(Directory(folder / "root", false), {});
  Lock held, again;
  REQUIRE(locks.try_acquire("00", &held) == LockResult::acquired);
  CHECK(locks.try_acquire("00", &again) == LockResult::busy);
  // A child made behind the back of pthread_atfork, which keeps the descriptor.
  const auto child = static_cast<pid_t>(::syscall(SYS_fork));
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  held.release();
  CHECK(locks.try_acquire("00", &again) == LockResult::acquired);
  ::kill(child, SIGKILL);
  (void)wait_for(child);
}

TEST_CASE("kill -9 in the middle of writing, 300 times or more") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_memory_bytes = 0;
  constexpr std::size_t kBytes = 200'000;
  constexpr int kKeys = 6;
  std::mt19937 random(7);
  int hits = 0, wrong = 0, killed = 0, writers = 0;
  std::uint64_t damaged = 0;
  std::vector<Entry> entries;
  for (int i = 0; i < kKeys; ++i) entries.push_back(entry_of(key_of(i), kBytes));
  std::size_t left_over = 0;
  // More rounds where a fast disk lets few of the kills come in the middle of writing, or a busy machine few writers
  // end.
  for (int round = 0; round < 300 || ((left_over <= 20 || hits <= 100) && round < 3000); ++round, ++writers) {
    int gate[2];
    REQUIRE(::pipe(gate) == 0);
    const pid_t child = start_child([&] {
      Store store(config);
      if (::write(gate[1], "x", 1) != 1) return 1;
      for (int i = round;; ++i) store.put(entries[i % kKeys]);
      return 0;
    });
    char started;
    CHECK(::read(gate[0], &started, 1) == 1);  // on a busy machine it may take long to begin
    ::close(gate[0]);
    ::close(gate[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
    ::kill(child, SIGKILL);
    killed += wait_for(child) == 1000 + SIGKILL;
    Store store(config);
    for (int i = 0; i < kKeys; ++i) {
      const auto entry = store.find(key_of(i));
      if (!entry) continue;
      ++hits;
      const Entry& right = entries[i];
      wrong += entry->key != right.key || entry->source != right.source || entry->binary != right.binary;
    }
    damaged += store.counters().damaged;
    if (round % 3 == 0)  // so that writers meet both empty and full directories
      for (const fs::path& file : entry_files(config.root)) fs::remove(file);
    left_over = count_files(config.root / "tmp");
  }
  std::printf("%d writers killed: %d hits, %zu temporary files left over\n", writers, hits, left_over);
  CHECK(killed == writers);
  CHECK(wrong == 0);
  CHECK(damaged == 0);
  CHECK(hits > 100);      // the readers really saw entries of killed writers
  CHECK(left_over > 20);  // and the kills really came in the middle of writing
  for (const auto& item : fs::directory_iterator(config.root / "tmp")) set_age(item.path(), -4000);
  CHECK(sweep(Directory(config.root, false), config.max_bytes, config.max_bytes).stale_temporaries == left_over);
  CHECK(count_files(config.root / "tmp") == 0);
}

TEST_CASE("kill -9 of the process that compiles: a waiting one takes over at once") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const pid_t holder = start_maker(config, folder.path(), 60s);
  const fs::path waiting = folder / "waiting", took_over = folder / "took-over";
  const pid_t waiter = start_child([&] {
    Store store(config);
    count_in(waiting);
    CHILD_CHECK(is_right(*store.find_or_make("k",
                                             [&] {
                                               count_in(took_over);
                                               return entry_of("k");
                                             }),
                         "k"));
    return 0;
  });
  wait_until([&] { return fs::exists(waiting); });
  std::this_thread::sleep_for(200ms);
  CHECK_FALSE(fs::exists(took_over));  // it does wait
  const auto begin = std::chrono::steady_clock::now();
  ::kill(holder, SIGKILL);
  CHECK(wait_for(holder) == 1000 + SIGKILL);
  CHECK(wait_for(waiter) == 0);
  CHECK(seconds_since(begin) < 5);
  CHECK(fs::file_size(took_over) == 1);
  CHECK(Store(config).find("k") != nullptr);
}

TEST_CASE("a process that is stopped while it compiles holds others up for the time-out, in all for twice of it") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  // All stripes held by someone who neither goes on nor dies.
  const fs::path ready = folder / "ready";
  const pid_t holder = start_child([&] {
    const LockFolder folder_of_locks(Directory(config.root, false), {});
    std::vector<Lock> locks(256);
    for (int i = 0; i < 256; ++i) {
      char name[3];
      std::snprintf(name, sizeof name, "%02x", i);
      CHILD_CHECK(folder_of_locks.try_acquire(name, &locks[i]) == LockResult::acquired);
    }
    count_in(ready);
    ::raise(SIGSTOP);
    return 0;
  });
  wait_until([&] { return fs::exists(ready); });
  config.lock_timeout = 400ms;
  Warnings warnings;
  Store store(config);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) CHECK(is_right(*store.find_or_make(key_of(i), maker(key_of(i))), key_of(i)));
  const double elapsed = seconds_since(begin);
  CHECK(elapsed >= 0.4);
  CHECK(elapsed < 5);  // 30 time-outs would be 12 s
  CHECK(warnings.count() == 1);
  CHECK(store.counters().stored == 30);  // locks only save work: the entries are there all the same
  ::kill(holder, SIGKILL);
  (void)wait_for(holder);
}

TEST_CASE("a waiting process takes the entry as soon as it is there") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const pid_t maker_process = start_maker(config, folder.path(), 300ms);
  Store store(config);
  Outcome outcome{};
  int calls = 0;
  CHECK(is_right(*store.find_or_make("k", maker("k", &calls), &outcome), "k"));
  CHECK(outcome == Outcome::disk);
  CHECK(calls == 0);
  CHECK(wait_for(maker_process) == 0);
}

TEST_CASE("a directory that is taken away again and again") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  const pid_t remover = start_child([&] {
    std::error_code ignored;
    for (;;) {
      fs::rename(config.root, folder / "away", ignored);
      fs::remove_all(folder / "away", ignored);
      std::this_thread::sleep_for(1ms);
    }
    return 0;
  });
  // At least 500 calls, and as many as it takes to see entries stored between two removals: how many that is depends on
  // how the two processes share the processors.
  std::uint64_t stored = 0;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  for (int i = 0; i < 500 || (stored <= 20 && std::chrono::steady_clock::now() < deadline); ++i) {
    Store store(config);
    const std::string key = key_of(i % 7);
    CHECK(is_right(*store.find_or_make(key, maker(key)), key));
    stored += store.counters().stored;
  }
  ::kill(remover, SIGKILL);
  (void)wait_for(remover);
  CHECK(stored > 20);  // the directory came back each time
}

TEST_CASE("lock files are never removed, and a missing lock folder is made again") {
  TemporaryFolder folder;
  const Config config = config_at(folder / "root");
  Store store(config);
  (void)store.find_or_make("k", maker("k"));
  const fs::path lock = config.root / "lock" / EntryName::of("k").stripe();
  CHECK(fs::exists(lock));
  fs::remove_all(config.root / "lock");
  store.erase("k");
  (void)store.find_or_make("k", maker("k"));
  CHECK(fs::exists(lock));
}

TEST_CASE("many processes that write stay below a tiny bound together") {
  TemporaryFolder folder;
  Config config = config_at(folder / "root");
  config.max_bytes = 40'000;
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process)
    children.push_back(start_child([&, process] {
      Store store(config);
      for (int i = 0; i < 25; ++i) {
        const std::string key = key_of(100 * process + i);
        CHILD_CHECK(is_right(*store.find_or_make(key, maker(key, nullptr, 3000)), key, 3000));
      }
      return 0;
    }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  CHECK(entry_bytes(config.root) <= config.max_bytes);
  CHECK(entry_files(config.root).size() > 2);
}

}  // namespace processes_test
