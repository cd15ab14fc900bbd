// Parallel loops over tasks of milliseconds, such as compilations, on temporary threads.
#pragma once

#include <cstddef>
#include <functional>

namespace ricci::runtime {

/// f(k) for k in [0, count), on allowed_processors() threads, the caller's among them. Returns when all are
/// done; then throws the exception with the least k, if there is any.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f);

}  // namespace ricci::runtime
