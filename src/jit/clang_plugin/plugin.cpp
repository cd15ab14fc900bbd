// The one door of libricci-clang.so.
#include <llvm/Config/llvm-config.h>

#include "abi.h"
#include "compile.hpp"
#include "orc.hpp"

extern "C" __attribute__((visibility("default"))) const RicciClangApi* ricci_clang_api() {
  static const RicciClangApi api = {
      RICCI_CLANG_ABI,
      LLVM_VERSION_STRING,
      [](const RicciClangJob* job) { return ricci::clang_plugin::compile(*job); },
      ricci::clang_plugin::orc_load,
      ricci::clang_plugin::orc_symbol,
      ricci::clang_plugin::orc_unload,
  };
  return &api;
}
