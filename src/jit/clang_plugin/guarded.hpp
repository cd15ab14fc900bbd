// Runs LLVM code on a thread of its own, so that report_fatal_error and an allocation that fails cost that thread
// instead of the process.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "abi.h"

namespace ricci::clang_plugin {

/// Prepares LLVM on the first call, then runs `work` on a fresh thread and waits for it. Its stack grows with the bytes
/// that it works on. RICCI_CLANG_OK, else `*fatal` says why not: RICCI_CLANG_FATAL when LLVM called report_fatal_error,
/// RICCI_CLANG_NO_MEMORY when memory ran out. Then the thread with all that it holds is kept, asleep, until the process
/// ends: what one compilation takes, a megabyte for most kernels. Thread-safe.
///
/// Memory runs out in operator new, for which the process has one handler (std::set_new_handler): it is set here before
/// each run, passes other threads on to the handler that was there, and ends the run on its own. A host that sets
/// another handler while a compilation runs, and a thread that is put to sleep inside one of LLVM's few global locks,
/// are what this does not cover.
RicciClangStatus run_guarded(const std::function<void()>& work, std::size_t bytes, std::string* fatal);

}  // namespace ricci::clang_plugin
