#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "runtime/thread_pool.hpp"

namespace ricci::runtime {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(count);
  const auto counts = [&] {
    for (std::size_t k; (k = next++) < count;) {
      try {
        f(k);
      } catch (...) {
        failures[k] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const auto threads = std::min(count, static_cast<std::size_t>(allowed_processors()));
  for (std::size_t k = 1; k < threads; ++k) others.emplace_back(counts);
  counts();
  for (auto& other : others) other.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace ricci::runtime
