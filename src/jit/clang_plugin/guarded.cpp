#include "guarded.hpp"

#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

namespace ricci::clang_plugin {
namespace {

// Deep recursion in the parser and in instruction selection needs more than the 512 KB some hosts give their threads,
// and more for long texts; what is not used is address space alone.
constexpr std::size_t kLeastStack = 8u << 20, kMostStack = 64u << 20, kStackPerByte = 64;

// For the message about an allocation that failed, and for the handler that receives it.
constexpr std::size_t kReserve = 512u << 10;

/// Shared by the waiter and the thread, whichever stays longer.
struct Job : std::enable_shared_from_this<Job> {
  const std::function<void()>* work;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  RicciClangStatus status = RICCI_CLANG_OK;
  char words[512] = "";  // no string: there may be no memory left
};

thread_local Job* current = nullptr;

void end(Job& job, RicciClangStatus status) {
  const std::lock_guard lock(job.mutex);
  job.done = true;
  job.status = status;
  job.ended.notify_one();
}

[[noreturn]] void give_up(RicciClangStatus status, const char* reason) {
  std::snprintf(current->words, sizeof current->words, "%s", reason);
  end(*current, status);
  for (;;) pause();
}

// LLVM aborts the process when this returns, and is built without exceptions. A longjmp out of it, as Clang's driver
// does around cc1 in process, leaves objects of the dropped frames in LLVM's global lists (the timers, for one), which
// the next compilation then writes through. So nothing is dropped: the thread sleeps here, its stack stays, and its
// waiter goes on.
void on_fatal_error(void*, const char* reason, bool) {
  if (current == nullptr) {  // a thread that is not ours, in a process that shares its libLLVM: LLVM's default, then
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;
  }
  give_up(RICCI_CLANG_FATAL, reason);
}

std::atomic<std::new_handler> host_handler{nullptr};

// LLVM is built without exceptions: what operator new throws would end the process.
void on_no_memory() {
  if (current != nullptr) give_up(RICCI_CLANG_NO_MEMORY, "out of memory");
  const auto handler = host_handler.load();
  if (handler == nullptr) throw std::bad_alloc();
  handler();
}

void on_bad_alloc(void*, const char* reason, bool) {
  if (current != nullptr) give_up(RICCI_CLANG_NO_MEMORY, reason);
}

/// A handler that the host has set since is called for its threads.
void guard_allocations() {
  const auto before = std::set_new_handler(on_no_memory);
  if (before != on_no_memory) host_handler = before;
}

void* run_job(void* argument) {
  const std::shared_ptr<Job> job = static_cast<Job*>(argument)->shared_from_this();  // the waiter still holds it
  current = job.get();
  (*job->work)();
  end(*job, RICCI_CLANG_OK);
  return nullptr;
}

void prepare_llvm() {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // without it inline assembly ends in report_fatal_error
  });
}

/// Starts run_job; 0 or an error number. Signals go to the host's own threads, never to one that may be asleep for
/// good.
int start(pthread_t* thread, std::size_t stack, Job* job) {
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, fault);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int error = pthread_create(thread, &attributes, run_job, job);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

RicciClangStatus run_guarded(const std::function<void()>& work, std::size_t bytes, std::string* fatal) {
  prepare_llvm();
  guard_allocations();
  const auto stack = std::min(kLeastStack + kStackPerByte * bytes, kMostStack) / 4096 * 4096;
  std::unique_ptr<void, decltype(&std::free)> reserve(std::malloc(kReserve + 4 * bytes), &std::free);
  const auto job = std::make_shared<Job>();
  job->work = &work;
  pthread_t thread;
  if (const int error = start(&thread, stack, job.get()); error != 0) {
    *fatal = "no thread for the compiler (pthread_create: error " + std::to_string(error) + ")";
    return RICCI_CLANG_NO_MEMORY;
  }
  {
    std::unique_lock lock(job->mutex);
    job->ended.wait(lock, [&] { return job->done; });
  }
  if (job->status == RICCI_CLANG_OK) {
    pthread_join(thread, nullptr);
    return RICCI_CLANG_OK;
  }
  pthread_detach(thread);
  reserve.reset();
  *fatal = job->words;
  return job->status;
}

}  // namespace ricci::clang_plugin
