// A kernel as text for people: `ricci show --kernel`, failures of tests, bug reports. Nothing reads it back.
#pragma once

#include <string>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Arrays, then the tree, one node a line; tile statements before expand(), native ones after it. Deterministic.
std::string print(const Kernel& kernel);

std::string print(const Kernel& kernel, const Affine& affine);                ///< "24*c1 + c"
std::string print(const Kernel& kernel, const Access& access);                ///< "A[100*a + c]", "B[8*v : 8]"
std::string print(const Kernel& kernel, const std::vector<Condition>& when);  ///< "24*c1 + c < 100 and d < 7"
std::string print(const Kernel& kernel, const Value& value);                  ///< "add(sum[r][v], mul(a[r], b[v]))"
const char* name_of(Space space) noexcept;                                    ///< "global", "scratch", ...

}  // namespace ricci::kernel
