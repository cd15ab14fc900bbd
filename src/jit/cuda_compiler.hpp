// CUDA source to CUBIN by NVRTC, opened on the first call; needs no GPU.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ricci::jit {

struct CudaCompileOptions {
  int sm = 90;                          ///< compute capability times ten
  bool contract = true;                 ///< --fmad
  std::vector<std::string> extra;
};

struct CudaObject {
  std::vector<std::byte> cubin;
  std::string log;
  int registers = 0, spill_bytes = 0, static_shared_bytes = 0;  ///< as ptxas reports them
  double ms = 0;
};

/// "nvrtc 13.0.88"-like, for keys. The first call in a process that must know it opens NVRTC unless a version was
/// recorded (see implementation); empty when there is no NVRTC.
std::string cuda_compiler_version();

/// Throws CompileError when NVRTC refuses the source, PlanError when there is no NVRTC (saying where it was looked for).
CudaObject compile_cuda(const std::string& source, const std::string& name, const CudaCompileOptions& options);

/// SASS of a CUBIN through nvdisasm or cuobjdump where the toolkit has them; empty otherwise.
std::string disassemble_cubin(const std::vector<std::byte>& cubin);

}  // namespace ricci::jit
