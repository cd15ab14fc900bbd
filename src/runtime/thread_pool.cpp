#include "runtime/thread_pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ricci/log.hpp"
#include "runtime/options.hpp"

namespace ricci::runtime {

int allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // hardware_concurrency() reads a file; the affinity mask is one system call, and is what counts.
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? std::max(CPU_COUNT(&set), 1)
             : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int default_threads() { return number_from_environment("RICCI_THREADS", 1, kMaxThreads, allowed_processors()); }

bool default_pinned() {
  const char* text = std::getenv("RICCI_PIN");
  if (!text || *text == '\0' || std::string_view(text) == "0") return false;
  if (std::string_view(text) == "1") return true;
  log_line(LogTopic::warning, std::string("RICCI_PIN=") + text + " is neither 0 nor 1; ignored");
  return false;
}

namespace {

/// Processors of the calling thread's affinity mask; empty where they cannot be told.
std::vector<int> processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> list;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) list.push_back(cpu);
  }
  return list;
}

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  // If pinning is refused, in a container for example, the thread stays unpinned.
  sched_setaffinity(0, sizeof set, &set);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until `value` differs from `seen`: a while in user space, since the next fork usually follows soon, then
/// asleep.
void wait_for_change(const std::atomic<unsigned>& value, unsigned seen) {
  for (int spin = 0; spin < 4000; ++spin) {
    if (value.load(std::memory_order_acquire) != seen) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == seen) value.wait(seen, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::Impl {
  std::vector<std::thread> workers;
  std::mutex busy;
  pid_t owner = getpid();

  // The current loop; written before `generation` is increased, read after.
  void (*body)(void*, int) = nullptr;
  void* context = nullptr;
  int tasks = 0;
  std::uint64_t call = 0;  // its number
  // Each thread starts with the same task in every call, so that pages stay on the NUMA node that first wrote them.
  // Threads that are done take the tasks of late ones and the rest.
  struct Home {
    std::atomic<std::uint64_t> taken{0};  // generation of the last call in which the task was taken
  };
  std::unique_ptr<Home[]> homes;
  std::atomic<int> next{0};
  std::atomic<unsigned> generation{0};
  // The workers that take part in the current loop, times 2, and 1 while more may join. What has not joined when
  // nothing is left to take is not waited for: a worker that sleeps, or whose processor is taken, costs a short loop
  // nothing.
  std::atomic<unsigned> joined{0};
  std::atomic<bool> stop{false};

  int threads() const { return static_cast<int>(workers.size()) + 1; }

  bool join() {
    auto seen = joined.load(std::memory_order_relaxed);
    while ((seen & 1) != 0) {
      if (joined.compare_exchange_weak(seen, seen + 2, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void take_tasks(int own) {
    const int all = threads();
    for (int k = 0; k < all; ++k) {
      const int task = (own + k) % all;
      if (task >= tasks) continue;
      auto& taken = homes[static_cast<std::size_t>(task)].taken;
      if (taken.load(std::memory_order_relaxed) == call) continue;
      if (taken.exchange(call, std::memory_order_relaxed) != call) body(context, task);
    }
    if (tasks <= all) return;
    for (int task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) body(context, task);
  }

  void counts(int own) {
    unsigned seen = 0;
    while (true) {
      wait_for_change(generation, seen);
      seen = generation.load(std::memory_order_acquire);
      if (stop) return;
      if (!join()) continue;
      take_tasks(own);
      if (joined.fetch_sub(2, std::memory_order_acq_rel) == 2) joined.notify_one();  // the last one of a closed loop
    }
  }
};

ThreadPool::ThreadPool(int threads, bool pinned) : impl_(std::make_unique<Impl>()) {
  const auto cpus = pinned ? processors() : std::vector<int>();
  impl_->homes = std::make_unique<Impl::Home[]>(static_cast<std::size_t>(std::max(threads, 1)));
  for (int k = 1; k < threads; ++k) {
    const int cpu = cpus.empty() ? -1 : cpus[static_cast<std::size_t>(k) % cpus.size()];
    impl_->workers.emplace_back([impl = impl_.get(), cpu, k] {
      if (cpu >= 0) stay_on(cpu);
      impl->counts(k);
    });
  }
}

ThreadPool::~ThreadPool() {
  if (impl_->owner != getpid()) {  // a forked child has the objects but not the threads
    for (auto& worker : impl_->workers) worker.detach();
    return;
  }
  impl_->stop = true;
  impl_->generation.fetch_add(1, std::memory_order_release);
  impl_->generation.notify_all();
  for (auto& worker : impl_->workers) worker.join();
}

int ThreadPool::threads() const noexcept { return impl_->threads(); }

void ThreadPool::run(int tasks, void (*body)(void*, int), void* context) {
  auto& p = *impl_;
  const std::unique_lock lock(p.busy, std::try_to_lock);
  if (tasks <= 1 || p.workers.empty() || !lock.owns_lock() || p.owner != getpid()) {
    for (int task = 0; task < tasks; ++task) body(context, task);
    return;
  }
  p.body = body;
  p.context = context;
  p.tasks = tasks;
  ++p.call;
  p.next.store(p.threads(), std::memory_order_relaxed);
  p.joined.store(1, std::memory_order_release);
  p.generation.fetch_add(1, std::memory_order_release);
  p.generation.notify_all();
  p.take_tasks(0);
  auto left = p.joined.fetch_and(~1u, std::memory_order_acq_rel) & ~1u;
  while (left != 0) {
    for (int spin = 0; spin < 4000 && left != 0; ++spin) {
      pause();
      left = p.joined.load(std::memory_order_acquire);
    }
    if (left != 0) p.joined.wait(left, std::memory_order_acquire);
    left = p.joined.load(std::memory_order_acquire);
  }
}

}  // namespace ricci::runtime
