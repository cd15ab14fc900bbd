// Source text of one kernel from a program and a schedule. Deterministic: the text is the same in every run.
#pragma once

#include <string>
#include <vector>

#include "ir/program.hpp"
#include "kernel/schedule.hpp"

namespace ricci::codegen {

/// What the head of a kernel says beside the program and the schedule.
struct Notes {
  std::string target;     ///< "sm_90", "x86-64-v4"
  std::string reproduce;  ///< the reproduction command: prints this kernel
  std::string plan;       ///< one line: the schedule's summary
};

struct Source {
  std::string kernel;    ///< name of the function
  std::string portable;  ///< prelude that any C++ compiler takes: types, conversions, arithmetic
  std::string device;    ///< prelude of the device alone: accesses, shuffles
  std::string text;      ///< head and kernel
  std::string full() const { return portable + device + text; }
};

/// Without headers. CUDA C++ for NVRTC, to be launched as kernel::launch_of() says. C++ for Clang: `extern "C" void
/// kernel(void* const* args, i64 first, i64 last, char* scratch)` runs the tasks [first, last); args holds the pointers
/// of kernel::Launch::arguments; without scratch memory there is no such argument. Throws PlanError as kernel::build().
Source emit(const ir::Program& program, const kernel::Schedule& schedule, kernel::Target target, const Notes& notes);

/// "u64_abc_to_cab_48x32x40": type, input and output order, extents by name. Not unique; cut short for high ranks.
std::string kernel_name(const ir::Program& program);

/// Fingerprint of everything that decides generated text: the tokens of the sources of ir, kernel, plan and codegen,
/// set by the build. Comments, layout and paths of those sources do not change it.
const char* generator_version();

}  // namespace ricci::codegen
