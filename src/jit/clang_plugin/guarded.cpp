#include "guarded.hpp"

#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>

namespace ricci::clang_plugin {
namespace {

// Deep recursion in the parser and in instruction selection needs more than the 512 KB some hosts give their threads.
constexpr std::size_t kStackBytes = 8u << 20;

/// Shared by the waiter and the thread, whichever stays longer.
struct Job : std::enable_shared_from_this<Job> {
  const std::function<void()>* work;
  std::mutex mutex;
  std::condition_variable ended;
  enum { running, finished, failed } state = running;
  std::string words;
};

thread_local Job* current = nullptr;

void end(Job& job, decltype(Job::state) state) {
  const std::lock_guard lock(job.mutex);
  job.state = state;
  job.ended.notify_one();
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
  current->words = reason;
  end(*current, Job::failed);
  for (;;) pause();
}

void* run_job(void* argument) {
  const std::shared_ptr<Job> job = static_cast<Job*>(argument)->shared_from_this();  // the waiter still holds it
  current = job.get();
  (*job->work)();
  end(*job, Job::finished);
  return nullptr;
}

void prepare_llvm() {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // without it inline assembly ends in report_fatal_error
  });
}

/// Starts run_job; 0 or an error number. Signals go to the host's own threads, never to one that may be asleep for
/// good.
int start(pthread_t* thread, Job* job) {
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, fault);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int error = pthread_create(thread, &attributes, run_job, job);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

bool run_guarded(const std::function<void()>& work, std::string* fatal) {
  prepare_llvm();
  const auto job = std::make_shared<Job>();
  job->work = &work;
  pthread_t thread;
  if (const int error = start(&thread, job.get()); error != 0) {
    *fatal = "no thread for the compiler (pthread_create: error " + std::to_string(error) + ")";
    return false;
  }
  {
    std::unique_lock lock(job->mutex);
    job->ended.wait(lock, [&] { return job->state != Job::running; });
  }
  if (job->state == Job::finished) {
    pthread_join(thread, nullptr);
    return true;
  }
  *fatal = job->words;
  pthread_detach(thread);
  return false;
}

}  // namespace ricci::clang_plugin
