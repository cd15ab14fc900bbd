// Kernels as text: the printers know nodes, neither operations of programs nor schedules.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::codegen {

struct KernelSource {
  std::string portable;  ///< types and functions that the text uses, for any C++ compiler, beside the portable prelude
  std::string device;    ///< CUDA: its own prelude
  std::string text;
  std::vector<std::string> parameter_types;  ///< CUDA: in order, "const f64*", "double"
};

/// C++ for Clang: `extern "C" void name(void* const* args, i64 first, i64 last, char* scratch)` runs the tasks [first,
/// last) of an expanded kernel; args holds one pointer per global array, then one pointer per parameter's value;
/// scratch is Kernel::bytes_of(Space::scratch) bytes at a multiple of 64, of the calling thread alone; without scratch
/// arrays there is no such argument.
KernelSource print_cpp(const kernel::Kernel& kernel, const std::string& name);

/// CUDA C++ for NVRTC: `extern "C" __global__ void name(pointers, parameters, tensor maps)` of an expanded kernel, to
/// be launched as kernel::launch_of() says. Its prelude comes after the portable one of the program.
KernelSource print_cuda(const kernel::Kernel& kernel, const std::string& name);

}  // namespace ricci::codegen
