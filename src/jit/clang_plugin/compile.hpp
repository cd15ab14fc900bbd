// One translation unit through Clang, in memory: no file is read or written.
#pragma once
#include "abi.h"

namespace ricci::clang_plugin {

/// See RicciClangApi::compile.
RicciClangStatus compile(const RicciClangJob& job);

}  // namespace ricci::clang_plugin
