// C++ source to a relocatable object, by Clang in this process, in a plug-in that is opened on the first call.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "jit/cpu_target.hpp"

namespace ricci::jit {

/// Which products are fused with sums, as -ffp-contract names it.
enum class Contract {
  off,   ///< none: results equal the interpreter's bits
  on,    ///< each with the sum of its own expression: loops around the same expressions make the same bits
  fast,  ///< any
};

struct CpuCompileOptions {
  CpuTarget target;
  Contract contract = Contract::fast;
  std::vector<std::string> extra = {};  ///< more cc1 arguments (the simulator's instrumentation)
  /// Vectors that the compiler makes by itself have 32 bytes at most. Of 64 bytes Clang 19.1 makes wrong ones where
  /// complex products are added up side by side: sums of one element stand in another's place.
  bool halved = false;
  /// The text spells out its register tiles, and says which loops are unrolled: what -O3 does beyond -O2, the
  /// compiler's own unrolling, and passes that find little in it take most of the time, and make them no faster.
  bool tiled = false;
};

struct CpuObject {
  std::vector<std::byte> bytes;  ///< ELF relocatable object
  bool simple = false;           ///< the small loader accepts it (see object_loader.hpp)
  double ms = 0;
};

/// Name and version of the compiler that compile_cpu would use, for keys ("clang 19.1.7"), without opening it. Empty
/// when Ricci was built without one.
std::string cpu_compiler_version();

/// What compile_cpu says to the compiler beside target and source, for keys: a flag that a later Ricci changes must not
/// meet kernels that an earlier one stored.
std::string cpu_flags_text(const CpuCompileOptions& options);

/// Compiles one self-contained translation unit (no includes). Throws CompileError with source and log when Clang
/// refuses it, PlanError when there is no plug-in (saying how to get it). Thread-safe; calls run in parallel.
CpuObject compile_cpu(const std::string& source, const std::string& name, const CpuCompileOptions& options);

/// Assembly text of the same compilation, for inspection.
std::string assemble_cpu(const std::string& source, const std::string& name, const CpuCompileOptions& options);

}  // namespace ricci::jit
