// A random program as a kernel: canonical, scheduled by a candidate drawn at random, emitted, with arguments to run it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/source.hpp"
#include "fuzz/random_program.hpp"
#include "ir/passes/canonical.hpp"
#include "jit/cuda_compiler.hpp"
#include "plan/plan.hpp"

namespace ricci::fuzz {

struct KernelCase {
  RandomProgram random;
  Expectation expectation;
  ir::Canonical program;
  kernel::Schedule schedule;
  codegen::Source source;
  std::vector<Memory> memory;  ///< per buffer of random.program; what a run changes

  /// Where memory differs from what is expected, with all there is to see; empty where it does not.
  std::string verdict();
  std::string told(const std::string& what) const;
  /// What NVRTC makes of the source. Throws CompileError.
  jit::CudaObject cubin(int sm) const;

  /// The value of each parameter, as a kernel takes it.
  struct alignas(16) Value {
    unsigned char at[16] = {};
  };
  std::vector<Value> values;
};

/// Nothing where the program has no points.
std::optional<KernelCase> kernel_case(std::uint64_t seed, Kind kind, const plan::CpuModel& device_model,
                                      const ProgramLimits& limits = {});
std::optional<KernelCase> kernel_case(std::uint64_t seed, Kind kind, const plan::GpuModel& device_model,
                                      const ProgramLimits& limits = {});

/// Runs `failure` on `count` seeds of each kind, from first_seed(seed) on, and fails the test case with the first texts
/// that are not empty. Exceptions of Ricci's count as texts. `threads` of them at a time.
void check_seeds(std::uint64_t seed, int count, const std::string& where,
                 const std::function<std::string(std::uint64_t, Kind)>& failure, unsigned threads = 1);

}  // namespace ricci::fuzz
