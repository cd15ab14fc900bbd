// Runs LLVM code on a thread of its own, from which report_fatal_error returns instead of ending the process.
#pragma once
#include <functional>
#include <string>

namespace ricci::clang_plugin {

/// Prepares LLVM on the first call, then runs `work` on a fresh thread with an 8 MB stack and waits for it. False when
/// LLVM called report_fatal_error; then
/// `*fatal` holds its words. Objects that were alive in `work` at that point are leaked, not destroyed, so `work` must
/// own nothing but memory. Thread-safe.
bool run_guarded(const std::function<void()>& work, std::string* fatal);

}  // namespace ricci::clang_plugin
