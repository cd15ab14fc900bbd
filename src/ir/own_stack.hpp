// Work on a stack that is large enough for it, however small the caller's is.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace ricci {

/// Bytes for work that calls itself as deep as what it works on is: expressions, chains of values. Frames of
/// unoptimised and instrumented code are several times as large.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackPerLevel = 4096;
#else
constexpr std::size_t kStackPerLevel = 16384;
#endif

/// What planning needs beside that: formatting, the file system, opening libraries.
constexpr std::size_t kPlainStack = std::size_t{1} << 20;

constexpr std::size_t stack_for(std::size_t levels) { return kPlainStack + levels * kStackPerLevel; }

/// Bytes of stack that are left to the calling thread; 0 where that is not known, as on a stack that the caller has
/// made itself.
std::size_t free_stack() noexcept;

/// Runs the work where `bytes` of stack are free: right here, else on a thread made for it, for which the caller waits.
/// Exceptions pass through. Throws PlanError, naming the bytes, when the system gives no such thread. Its stack is
/// address space until it is used.
void run_on_stack(std::size_t bytes, const std::function<void()>& work);

/// The same with the work's result.
template <class Work>
auto on_stack_of(std::size_t bytes, Work&& work) {
  using Result = std::invoke_result_t<Work>;
  if constexpr (std::is_void_v<Result>) {
    if (free_stack() >= bytes) return work();
    run_on_stack(bytes, std::ref(work));
  } else {
    if (free_stack() >= bytes) return work();
    std::optional<Result> result;
    run_on_stack(bytes, [&] { result.emplace(work()); });
    return Result(std::move(*result));
  }
}

}  // namespace ricci
