// Work on a thread with a small stack, as hosts have them that run many.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>

namespace ricci::tests {

inline constexpr std::size_t kSmallStack = 64 << 10;

/// On a thread with a stack of 64 KB; what it throws is thrown here.
inline void on_small_stack(const std::function<void()>& work) {
  struct Job {
    const std::function<void()>* work;
    std::exception_ptr error;
  } job{&work, nullptr};
  const auto start = [](void* argument) -> void* {
    auto* mine = static_cast<Job*>(argument);
    try {
      (*mine->work)();
    } catch (...) {
      mine->error = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  const bool made = pthread_attr_setstacksize(&attributes, kSmallStack) == 0 &&
                    pthread_create(&thread, &attributes, start, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (!made) throw std::runtime_error("no thread with a stack of 64 KB");
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace ricci::tests
