// Work that takes milliseconds apiece, compilations above all, spread over threads of its own.
#pragma once

#include <cstddef>
#include <functional>

namespace ricci::runtime {

/// f(k) for k in [0, count), on as many threads as there are processors, the caller's among them. All of them are done
/// when it returns; what they throw comes out then, of several the one with the least k.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f);

}  // namespace ricci::runtime
