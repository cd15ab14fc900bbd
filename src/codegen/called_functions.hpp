// Functions that a kernel calls instead of having their instructions wherever they stand.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "ir/program.hpp"

namespace ricci::codegen {

using CalledFunctions = std::set<std::pair<ir::OpCode, DType>>;

/// Those that stand in a CUDA kernel many times. NVRTC writes each one out, a hundred instructions and more for a sine
/// of doubles: 200 of them take it eight seconds, as calls a third of one.
CalledFunctions called_functions(const ir::Program& program);

/// "sin_f64".
std::string called_name(ir::OpCode op, DType type);

/// Their definitions; empty where there are none.
std::string called_definitions(const ir::Program& program);

}  // namespace ricci::codegen
