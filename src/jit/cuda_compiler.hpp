// CUDA source to CUBIN by NVRTC, opened on the first call; needs no GPU.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ricci::jit {

struct CudaCompileOptions {
  int sm = 90;                     ///< compute capability times ten
  bool contract = true;            ///< --fmad
  std::vector<std::string> extra;  ///< more NVRTC arguments, appended
};

struct CudaObject {
  std::vector<std::byte> cubin;
  std::string log;  ///< what NVRTC and ptxas said, without what varies from run to run
  /// As ptxas reports them, the largest over the kernels of the source; spill_bytes is stores plus loads.
  int registers = 0, spill_bytes = 0, static_shared_bytes = 0;
  double ms = 0;  ///< source to CUBIN, without opening NVRTC
};

/// "nvrtc 13.0.88"-like, for keys; empty when there is no NVRTC. Read from the library's file name or read-only data,
/// without opening it (0.05 to 0.5 ms, once per process); opens it only when neither says. Thread-safe.
std::string cuda_compiler_version();

/// The NVRTC in use, or one line per place that was looked in, for `ricci doctor`.
struct CudaCompilerInfo {
  std::string path;                    ///< empty when there is none
  std::string version;                 ///< as cuda_compiler_version()
  std::vector<std::string> looked_in;  ///< what was tried before `path`
};
CudaCompilerInfo cuda_compiler_info();

/// Every argument that decides what the CUBIN holds, in order, for keys. Opens nothing.
std::string cuda_flags_text(const CudaCompileOptions& options);

/// Compiles one self-contained translation unit (no includes); `name` names it in messages. Throws CompileError when
/// NVRTC refuses the source (with the first errors, each with its source line; the whole source and log inside),
/// PlanError when there is no NVRTC (saying where it was looked for) or it does not know the architecture. Thread-safe;
/// calls run in parallel.
CudaObject compile_cuda(const std::string& source, const std::string& name, const CudaCompileOptions& options);

/// SASS of a CUBIN through nvdisasm or cuobjdump, from PATH, CUDA_HOME/bin or /usr/local/cuda/bin; empty where there is
/// neither or they cannot read it. Runs another program: for inspection only.
std::string disassemble_cubin(const std::vector<std::byte>& cubin);

}  // namespace ricci::jit
