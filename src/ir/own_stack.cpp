#include "ir/own_stack.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>

#include "ricci/error.hpp"

namespace ricci {
namespace {

struct Job {
  const std::function<void()>* work;
  std::exception_ptr error;
};

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  try {
    (*job->work)();
  } catch (...) {
    job->error = std::current_exception();
  }
  return nullptr;
}

/// Starts run_job; 0 or an error number. Signals go to the threads of the program, as if this one were not there.
int start(pthread_t* thread, std::size_t bytes, Job* job) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0) return error;
  constexpr std::size_t kPage = 65536;
  int error = pthread_attr_setstacksize(&attributes, (bytes + kPage - 1) / kPage * kPage + kPage);
  if (error == 0) {
    sigset_t all, before;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(thread, &attributes, run_job, job);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_attr_destroy(&attributes);
  return error;
}

/// Where the calling thread's stack lies; nowhere when the system does not say.
struct Bounds {
  const char* low = nullptr;
  std::size_t bytes = 0;

  Bounds() noexcept {
    if (gettid() == getpid() && of_first_thread()) return;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* address = nullptr;
    std::size_t size = 0, guard = 0;
    if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
      pthread_attr_getguardsize(&attributes, &guard);
      low = static_cast<const char*>(address) + guard;
      bytes = size > guard ? size - guard : 0;
    }
    pthread_attr_destroy(&attributes);
  }

  bool has(const char* here) const { return here > low && here <= low + bytes; }

 private:
  /// A process's first stack ends where the kernel puts the program's name, and is as large as its limit says, as far
  /// as that is less than what the kernel leaves free below. pthread_getattr_np() would read the list of all mappings
  /// for it: 1.7 ms of a process that has 2,000 of them. False where this is another stack.
  bool of_first_thread() noexcept {
    constexpr std::size_t kMostName = 8192;               // bytes of the name, of a page that it does not fill
    constexpr std::size_t kFree = std::size_t{64} << 20;  // half of what is left free at least
    const auto name = getauxval(AT_EXECFN);
    rlimit limit;
    if (name == 0 || getrlimit(RLIMIT_STACK, &limit) != 0) return false;
    bytes = static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, kFree));
    low = reinterpret_cast<const char*>(name) + kMostName - bytes;
    return has(static_cast<const char*>(__builtin_frame_address(0)));
  }
};

}  // namespace

std::size_t free_stack() noexcept {
  thread_local const Bounds bounds;
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return bounds.has(here) ? static_cast<std::size_t>(here - bounds.low) : 0;
}

void run_on_stack(std::size_t bytes, const std::function<void()>& work) {
  if (free_stack() >= bytes) return work();
  Job job{&work, nullptr};
  pthread_t thread;
  if (const int error = start(&thread, bytes, &job); error != 0) {
    throw PlanError(
        fmt::format("no thread with a stack of {} bytes, which this needs ({}); raise the limit of address "
                    "space or call from a thread with a larger stack",
                    bytes, std::strerror(error)));
  }
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace ricci
