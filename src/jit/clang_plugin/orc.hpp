// Objects linked by LLVM's ORC: what the small loader does not take, and the reference it is tested against.
#pragma once
#include "abi.h"

namespace ricci::clang_plugin {

/// See RicciClangApi.
RicciClangStatus orc_load(const void* bytes, size_t byte_count, RicciOrcObject** object, void* context,
                          RicciClangSink take_log);
void* orc_symbol(RicciOrcObject* object, const char* name);
void orc_unload(RicciOrcObject* object);

}  // namespace ricci::clang_plugin
