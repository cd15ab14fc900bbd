// What every kernel of a program begins with.
#pragma once

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// A kernel with the program's buffers as arguments, in their order, and its parameters, and nothing in it.
Kernel kernel_of(const ir::Program& program, Target target);

}  // namespace ricci::kernel
