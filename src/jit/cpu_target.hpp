// The processor that CPU kernels are made for, known without opening a compiler.
#pragma once
#include <string>
#include <vector>

namespace ricci::jit {

/// A processor as Clang's cc1 line takes it, made of what cpuid reports, without LLVM.
struct CpuTarget {
  std::string cpu;                    ///< a psABI level: "x86-64", "x86-64-v2", "x86-64-v3" or "x86-64-v4"
  std::vector<std::string> features;  ///< beyond that level, sorted: "+avx512vbmi", "+avx512fp16", ...
  int vector_bytes = 16;              ///< widest vectors worth using: 16, 32 or 64
  std::string text() const;           ///< for keys: "x86-64-v4+avx512vbmi..."
  friend bool operator==(const CpuTarget&, const CpuTarget&) = default;
};

/// Bytes that one of this machine's vector units computes in a cycle, as its processor says; 64 where it does not.
/// Wider vectors take several cycles: 64 bytes two on AMD's Zen 4.
int host_datapath_bytes();

/// This machine's processor. RICCI_CPU_ISA=plain|avx2|avx512 lowers it (never raises), for tests.
CpuTarget host_cpu();

}  // namespace ricci::jit
