// Kernels as text: the printers know nodes, neither operations of programs nor schedules. Of a source, they say all but
// the head and the portable prelude of the program, which come in front.
#pragma once

#include <string>

#include "codegen/source.hpp"
#include "kernel/kernel.hpp"

namespace ricci::codegen {

/// C++ for Clang: `extern "C" void name(void* const* args, i64 first, i64 last, char* scratch)` runs the tasks [first,
/// last) of an expanded kernel; args holds one pointer per global array, then one pointer per parameter's value;
/// scratch is Kernel::bytes_of(Space::scratch) bytes at a multiple of 64, of the calling thread alone; without scratch
/// arrays there is no such argument.
Source print_cpp(const kernel::Kernel& kernel, const std::string& name);

/// CUDA C++ for NVRTC: `extern "C" __global__ void name(pointers, parameters, tensor maps)` of an expanded kernel, to
/// be launched as kernel::launch_of() says.
Source print_cuda(const kernel::Kernel& kernel, const std::string& name);

}  // namespace ricci::codegen
