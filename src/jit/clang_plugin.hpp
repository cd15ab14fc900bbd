// Finds and opens libricci-clang.so, once per process, on the first call that needs it.
#pragma once
#include <string>

#include "jit/clang_plugin/abi.h"

namespace ricci::jit {

/// "19.1.7", fixed when Ricci was configured; empty when it was built without the CPU back end.
const char* llvm_version() noexcept;

/// The plug-in's functions. The first call looks in $RICCI_PLUGIN_DIR, beside the file that holds this code, in the
/// build folder and in the installed library folder, in this order, and opens the first plug-in that fits (4 to 15 ms);
/// it is never closed. Throws PlanError with every place and what was wrong with it. Thread-safe.
const RicciClangApi& clang_plugin();

}  // namespace ricci::jit
