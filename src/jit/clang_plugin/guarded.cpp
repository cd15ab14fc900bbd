#include "guarded.hpp"

#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <pthread.h>

#include <csetjmp>
#include <cstdio>
#include <mutex>

namespace ricci::clang_plugin {
namespace {

// Deep recursion in the parser and in instruction selection needs more than the 512 KB some hosts give their threads.
constexpr std::size_t kStackBytes = 8u << 20;

struct Escape {
  std::jmp_buf where;
  std::string* words;
};

thread_local Escape* escape = nullptr;

// LLVM aborts the process when this returns. A longjmp out of it is what Clang's own driver does when it runs cc1 in
// process (CrashRecoveryContext::HandleExit); an exception is no way out, as LLVM is built without them. The frames in
// between are dropped without their destructors: the price is a leak of one compilation's memory, on a thread that
// ends.
void on_fatal_error(void*, const char* reason, bool) {
  if (escape == nullptr) {  // a thread that is not ours, in a process that shares its libLLVM: LLVM's default, then
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;
  }
  *escape->words = reason;
  std::longjmp(escape->where, 1);
}

struct Job {
  const std::function<void()>* work;
  std::string words;
  bool finished = false;
};

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  Escape here;
  here.words = &job->words;
  if (setjmp(here.where) == 0) {
    escape = &here;
    (*job->work)();
    job->finished = true;
  }
  escape = nullptr;
  return nullptr;
}

}  // namespace

bool run_guarded(const std::function<void()>& work, std::string* fatal) {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // without it inline assembly ends in report_fatal_error
  });

  Job job{&work, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int rc = pthread_create(&thread, &attributes, run_job, &job);
  pthread_attr_destroy(&attributes);
  if (rc != 0) {
    *fatal = "no thread for the compiler (pthread_create: error " + std::to_string(rc) + ")";
    return false;
  }
  pthread_join(thread, nullptr);
  if (!job.finished) *fatal = std::move(job.words);
  return job.finished;
}

}  // namespace ricci::clang_plugin
