// The thread pool: every task once, from any caller, however often.
#include "runtime/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "ricci/log.hpp"
#include "runtime/host_memory.hpp"
#include "runtime/parallel.hpp"
#include "runtime/scratch.hpp"

namespace thread_pool_test {

using ricci::runtime::ThreadPool;

namespace {

template <class F>
void run(ThreadPool& pool, int tasks, F body) {
  pool.run(tasks, [](void* context, int task) { (*static_cast<F*>(context))(task); }, &body);
}

/// Counts of how often each task ran.
std::vector<int> counts(ThreadPool& pool, int tasks) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(tasks));
  run(pool, tasks, [&](int task) { ++seen[static_cast<std::size_t>(task)]; });
  return {seen.begin(), seen.end()};
}

std::vector<int> ones(int tasks) { return std::vector<int>(static_cast<std::size_t>(tasks), 1); }

}  // namespace

TEST_CASE("every task runs once, for any number of threads and tasks") {
  for (const int threads : {0, 1, 2, 3, 8, 17}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == std::max(threads, 1));
    for (const int tasks : {0, 1, 2, 3, 7, 64, 1000}) {
      INFO(threads << " threads, " << tasks << " tasks");
      CHECK(counts(pool, tasks) == ones(tasks));
    }
  }
}

TEST_CASE("a pool is used again at once, many times, and after a rest") {
  ThreadPool pool(4);
  std::atomic<long> sum{0};
  for (int k = 0; k < 2000; ++k) run(pool, 4, [&](int task) { sum += task + 1; });
  CHECK(sum == 20000);
  usleep(20000);  // the workers have gone to sleep
  CHECK(counts(pool, 9) == ones(9));
}

TEST_CASE("what a task writes is there when run() returns") {
  ThreadPool pool(3);
  for (int k = 0; k < 500; ++k) {
    std::vector<int> written(64, -1);
    run(pool, 64, [&](int task) { written[static_cast<std::size_t>(task)] = task * k; });
    long wrong = 0;
    for (int task = 0; task < 64; ++task) wrong += written[static_cast<std::size_t>(task)] != task * k;
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("the tasks are spread over threads") {
  ThreadPool pool(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  // Each task waits until three threads are inside: none of them can do two.
  std::atomic<int> inside{0};
  run(pool, 3, [&](int) {
    {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  CHECK(seen.size() == 3);
}

TEST_CASE("a thread has the same task in every call") {
  ThreadPool pool(3);
  std::vector<std::thread::id> first;
  for (int call = 0; call < 200; ++call) {
    std::vector<std::thread::id> who(3);
    std::atomic<int> begun{0};
    run(pool, 3, [&](int task) {
      who[static_cast<std::size_t>(task)] = std::this_thread::get_id();
      ++begun;
      while (begun < 3) std::this_thread::yield();  // nobody is late: each has begun one
    });
    CHECK(who[0] == std::this_thread::get_id());
    if (first.empty()) first = who;
    CHECK(who == first);
  }
}

std::atomic<bool> held{false}, released{false};

TEST_CASE("a loop does not wait for a worker that takes no part in it") {
  held = released = false;
  struct sigaction action = {}, before;
  action.sa_handler = [](int) {
    held = true;
    while (!released) usleep(1000);
  };
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  ThreadPool pool(2);
  pthread_t worker = {};
  std::atomic<int> begun{0};
  run(pool, 2, [&](int task) {
    if (task == 1) worker = pthread_self();
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  REQUIRE(pthread_kill(worker, SIGUSR1) == 0);
  while (!held) usleep(1000);
  std::thread late([] {
    for (int ms = 0; ms < 10000 && !released; ++ms) usleep(1000);
    released = true;
  });
  for (const int tasks : {2, 9}) CHECK(counts(pool, tasks) == ones(tasks));
  CHECK_FALSE(released);  // what else would run() have waited for
  released = true;
  late.join();
  CHECK(counts(pool, 9) == ones(9));  // with the worker, if it is awake by now
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("concurrent callers each get all of their tasks done") {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int k = 0; k < 300; ++k) wrong += counts(pool, 11) != ones(11);
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("a task may use the pool that runs it") {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  run(pool, 5, [&](int) { run(pool, 7, [&](int) { ++inner; }); });
  CHECK(inner == 35);
  CHECK(counts(pool, 9) == ones(9));  // and the pool is none the worse
}

TEST_CASE("after fork() the child has the pool and no threads, and still gets its work done") {
  ThreadPool pool(3);
  CHECK(counts(pool, 9) == ones(9));
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a dead-lock ends the child, and the test with it
    bool right = counts(pool, 9) == ones(9);
    {
      ThreadPool own(2);
      right = right && counts(own, 9) == ones(9);
    }
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(counts(pool, 9) == ones(9));
}

TEST_CASE("destroying a pool in a forked child returns") {
  auto pool = std::make_unique<ThreadPool>(3);
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    pool.reset();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
}

TEST_CASE("pinned workers stay on one processor each of those allowed; the caller is left alone") {
  cpu_set_t allowed, after;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  const int count = CPU_COUNT(&allowed);
  for (const bool pinned : {false, true}) {
    ThreadPool pool(3, pinned);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> wrong{0}, workers{0};
    for (int round = 0; round < 200 && workers < 2; ++round) {
      run(pool, 3, [&](int) {
        usleep(500);
        if (std::this_thread::get_id() == caller) return;
        cpu_set_t mine;
        if (sched_getaffinity(0, sizeof mine, &mine) != 0) ++wrong;
        if (CPU_COUNT(&mine) != (pinned ? 1 : count)) ++wrong;
        cpu_set_t common;
        CPU_AND(&common, &mine, &allowed);
        if (!CPU_EQUAL(&common, &mine)) ++wrong;
        ++workers;
      });
    }
    CHECK(workers > 0);
    CHECK(wrong == 0);
    REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&allowed, &after));
  }
}

TEST_CASE("RICCI_PIN") {
  const auto with = [](const char* text) {
    setenv("RICCI_PIN", text, 1);
    const bool pinned = ricci::runtime::default_pinned();
    unsetenv("RICCI_PIN");
    return pinned;
  };
  CHECK(with("1"));
  CHECK_FALSE(with("0"));
  CHECK_FALSE(with(""));
  CHECK_FALSE(ricci::runtime::default_pinned());
  std::vector<std::string> lines;
  ricci::set_log_sink([&](ricci::LogTopic, std::string_view line) { lines.emplace_back(line); });
  CHECK_FALSE(with("yes"));
  ricci::set_log_sink({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "RICCI_PIN=yes is neither 0 nor 1; ignored");
}

TEST_CASE("RICCI_THREADS") {
  const auto with = [](const char* text) {
    setenv("RICCI_THREADS", text, 1);
    const int threads = ricci::runtime::default_threads();
    unsetenv("RICCI_THREADS");
    return threads;
  };
  unsetenv("RICCI_THREADS");
  const int normal = ricci::runtime::default_threads();
  CHECK(normal >= 1);
  CHECK(with("3") == 3);
  CHECK(with("1") == 1);
  CHECK(with("") == normal);
  std::vector<std::string> lines;
  ricci::set_log_sink([&](ricci::LogTopic, std::string_view line) { lines.emplace_back(line); });
  for (const auto* text : {"999999", "99999999999", "99999999999999999999"}) CHECK(with(text) == 1024);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "RICCI_THREADS=99999999999 is more than 1024; these are taken");
  lines.clear();
  for (const auto* text : {"0", "-2", "many", "3x", "2.5"}) CHECK(with(text) == normal);
  ricci::set_log_sink({});
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] == "RICCI_THREADS=many is not a number from 1 to 1024; ignored");
}

TEST_CASE("work in parallel is all done, and what it throws comes out") {
  using ricci::runtime::in_parallel;
  for (const std::size_t count : {0, 1, 2, 100}) {
    std::vector<std::atomic<int>> seen(count);
    in_parallel(count, [&](std::size_t k) { ++seen[k]; });
    CHECK(std::vector<int>(seen.begin(), seen.end()) == ones(static_cast<int>(count)));
  }
  std::vector<std::atomic<int>> seen(20);
  const auto failing = [&](std::size_t k) {
    ++seen[k];
    if (k % 7 == 3) throw std::runtime_error(std::to_string(k));
  };
  CHECK_THROWS_WITH(in_parallel(seen.size(), failing), "3");
  CHECK(std::vector<int>(seen.begin(), seen.end()) == ones(20));
}

TEST_CASE("memory for outputs is not touched before a kernel writes it") {
  // So that its pages come to the node of the thread that writes them first.
  const auto resident_pages = [] {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident;
  };
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const auto before = resident_pages();
  REQUIRE(before > 0);
  const auto memory = ricci::runtime::allocate_host(kBytes);
  REQUIRE(memory);
  const auto taken = (resident_pages() - before) * sysconf(_SC_PAGESIZE);
  CHECK(taken < static_cast<long>(kBytes / 8));
}

TEST_CASE("scratch memory of a thread begins with zeros") {
  // Of what lay there before, vectors that end beyond what is packed would multiply denormal numbers.
  bool zeros = false;
  std::thread([&] {
    constexpr std::size_t kBytes = 20000;
    {
      std::vector<std::vector<char>> earlier;
      for (int k = 0; k < 4; ++k) earlier.emplace_back(kBytes, '\1');
    }
    const char* const scratch = ricci::runtime::thread_scratch(kBytes);
    zeros = scratch != nullptr && std::all_of(scratch, scratch + kBytes, [](char byte) { return byte == 0; });
  }).join();
  CHECK(zeros);
}

TEST_CASE("a thread keeps its workspace from call to call, but gives no call that of another") {
  using ricci::runtime::ThreadWorkspace;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const char* first = nullptr;
  {
    const ThreadWorkspace outer(kBytes);
    first = outer.get();
    REQUIRE(first);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
    std::fill_n(outer.get(), kBytes, '\1');
    const ThreadWorkspace inner(1000);
    CHECK((inner.get() + 1000 <= first || inner.get() >= first + kBytes));
  }
  CHECK(ThreadWorkspace(kBytes - 5).get() == first);
  std::thread([&] { CHECK(ThreadWorkspace(1000).get() != first); }).join();
}

}  // namespace thread_pool_test
