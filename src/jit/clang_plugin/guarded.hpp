// Runs LLVM code on a thread of its own, so that report_fatal_error costs that thread instead of the process.
#pragma once
#include <functional>
#include <string>

namespace ricci::clang_plugin {

/// Prepares LLVM on the first call, then runs `work` on a fresh thread with an 8 MB stack and waits for it. False when
/// LLVM called report_fatal_error; then `*fatal` holds its words, and the thread with all that it holds is kept,
/// asleep, until the process ends: about a megabyte for each such error. Thread-safe.
bool run_guarded(const std::function<void()>& work, std::string* fatal);

}  // namespace ricci::clang_plugin
