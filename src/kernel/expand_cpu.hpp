// What the parts of a CPU's expansion share.
#pragma once

#include <string>

#include "kernel/expand.hpp"

namespace ricci::kernel {

/// A copy as loops over loads and stores; `origin` is the directive that made it.
Body expand_copy_cpu(Kernel& kernel, const Copy& copy, int origin);

/// A new array of `count` registers of `lanes` each.
int add_registers(Kernel& kernel, const std::string& stem, DType type, std::int64_t count, int lanes, int origin);

/// What is loaded, in another type where that of the array is not `to`.
Value converted(const Kernel& kernel, Access access, DType to, std::optional<DType> rounded = {});

}  // namespace ricci::kernel
