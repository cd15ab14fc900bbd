// What every kernel of a program begins with, and what its function takes.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// A kernel with the program's buffers as arguments, in their order, and its parameters, and nothing in it.
Kernel kernel_of(const ir::Program& program, Target target);

/// What a function takes: a CUDA kernel one after the other; a CPU's the first two kinds, as pointers in an array.
struct Argument {
  enum class Kind : std::uint8_t {
    buffer,  ///< a pointer to element 0
    param,   ///< a value; on a CPU a pointer to it
    map,     ///< CUDA: a tensor map, by value
  };
  Kind kind = Kind::buffer;
  std::string name;
  DType type = DType::f64;  ///< of the elements, or of the value
  bool written = false;     ///< a buffer
  bool operator==(const Argument&) const = default;
};
/// Of any kernel of the program, but for tensor maps.
std::vector<Argument> arguments_of(const ir::Program& program);
std::vector<Argument> arguments_of(const Kernel& kernel);

}  // namespace ricci::kernel
