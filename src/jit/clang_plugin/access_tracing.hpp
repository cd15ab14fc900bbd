// An LLVM pass that shows every memory access of a translation unit to a function of the host.
//
// Part of the compiler plug-in (needs LLVM headers). It does nothing unless the source asks for it by defining
//   extern "C" void (*ricci_trace)(const void* address, unsigned access);
// in which case `ricci_trace` is called before each load and store (see AccessTracing). The GPU simulator of the tests
// is built on it.
#pragma once

namespace llvm {
class PassBuilder;
}

namespace ricci::clang_plugin {

/// Adds the pass to the end of the optimisation pipeline, so that it sees the accesses that remain, and to its start
/// for sources with a variable `extern "C" char ricci_trace_as_written`, of which it sees every access. Call before
/// building the pipeline. Of the latter it shows loops, too, as accesses of no bytes: address 0 before a loop, 1 before
/// its next round, 2 behind it, the loop's number in place of a site.
///
/// `access` is `site << 8 | write << 5 | bytes`: bytes is 1, 2, 4, 8 or 16 (larger accesses and constant-size copies
/// are shown as several), site a number of its own for each access instruction. The pass also emits
///   extern "C" const unsigned ricci_trace_lines[];  // [0] = sites, [1 + site] = source line or 0
/// Lines are those of the outermost function that the access was inlined into; they need
/// -debug-info-kind=line-tables-only, which is stripped afterwards. Accesses to local variables and constants are not
/// shown, nor those of functions with
/// __attribute__((disable_sanitizer_instrumentation)). A call of a function whose name begins with `ricci_at_site_` is
/// an access that the source makes by other means: its last argument, an unsigned, becomes the call's site. Atomics and
/// copies of unknown size are refused with a compile error.
void register_access_tracing(llvm::PassBuilder& builder);

}  // namespace ricci::clang_plugin
