/* What libricci_jit and the plug-in libricci-clang.so say to each other: plain C, so that neither side sees the other's
 * C++ library, allocator or exceptions. Everything handed out is copied by the receiver inside the callback. */
#ifndef RICCI_JIT_CLANG_PLUGIN_ABI_H
#define RICCI_JIT_CLANG_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file. */
#define RICCI_CLANG_ABI 3

enum RicciClangStatus {
  RICCI_CLANG_OK = 0,
  RICCI_CLANG_REFUSED = 1, /* the input is wrong: the log says where */
  RICCI_CLANG_FATAL = 2, /* LLVM gave up (report_fatal_error): the log holds its last words; a sleeping thread stays */
  RICCI_CLANG_NO_MEMORY = 3, /* there is none for the compiler, or none left: as above */
};

enum RicciClangEmit { RICCI_CLANG_OBJECT = 0, RICCI_CLANG_ASSEMBLY = 1 };

/* Called at most once per kind of output, on the calling thread, before the function returns. */
typedef void (*RicciClangSink)(void* context, const char* data, size_t bytes);

struct RicciClangJob {
  const char* source;
  size_t source_bytes;
  const char* name; /* file name in diagnostics and in the object: "transpose_4d.cpp" */
  /* Of cc1, without file names, outputs, actions and -triple; and one that cc1 does not know, "-skip-passes=A,B":
   * optimisations that are left out, by the names of LLVM's classes. */
  const char* const* arguments;
  size_t argument_count;
  enum RicciClangEmit emit;
  void* context;              /* for both sinks */
  RicciClangSink take_output; /* the object or the assembly; only with RICCI_CLANG_OK */
  RicciClangSink take_log;    /* diagnostics, possibly warnings alone */
};

struct RicciOrcObject; /* an object that ORC has linked into memory */

struct RicciClangApi {
  uint32_t abi;        /* RICCI_CLANG_ABI of the plug-in */
  const char* version; /* LLVM's version, "19.1.7" */

  /* Thread-safe; calls run in parallel. */
  enum RicciClangStatus (*compile)(const struct RicciClangJob* job);

  /* Links one object through ORC (LLJIT, JITLink). Undefined symbols are looked up in the process as dlsym would.
   * Thread-safe. On failure *object is null and the log says why. */
  enum RicciClangStatus (*orc_load)(const void* bytes, size_t byte_count, struct RicciOrcObject** object, void* context,
                                    RicciClangSink take_log);
  void* (*orc_symbol)(struct RicciOrcObject* object, const char* name); /* null when absent */
  void (*orc_unload)(struct RicciOrcObject* object);
};

/* The one exported function. Never fails; the caller compares abi and version. */
typedef const struct RicciClangApi* (*RicciClangEntry)(void);
#define RICCI_CLANG_ENTRY "ricci_clang_api"

#ifdef __cplusplus
}
#endif
#endif
