#include "runtime/watch.hpp"

#include <algorithm>

namespace ricci::runtime {

void Watch::add(double work) {
  const std::lock_guard lock(mutex_);
  done_ += work;
  tell(total_ > 0 ? std::min(done_ / total_, 1.0) : 1);
}

void Watch::finish() {
  const std::lock_guard lock(mutex_);
  if (done_ < total_) tell(1);  // kernels without tiles, and sums that were rounded
  if (thrown_) std::rethrow_exception(thrown_);
}

void Watch::tell(double share) {
  if (stopped_) return;
  try {
    tell_(share);
  } catch (...) {
    thrown_ = std::current_exception();
    stopped_ = true;
  }
}

}  // namespace ricci::runtime
