// A program's declarations without its statements, for passes of kernels that write these anew.
#pragma once

#include "ir/builder.hpp"

namespace ricci::kernel {

/// A builder of a program with the same indices, buffers and parameters, to be computed as exactly.
inline ir::Builder with_declarations(const ir::Program& program) {
  ir::Builder builder;
  auto& made = builder.program;
  made.indices = program.indices;
  made.buffers = program.buffers;
  made.params = program.params;
  made.exact = program.exact;
  made.precision = program.precision;
  return builder;
}

}  // namespace ricci::kernel
