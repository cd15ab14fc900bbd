// Kernels whose workers compute register tiles: the text around PointEmitter, for each language.
#pragma once

#include <string>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

/// Per index, the expression that computes its tile number from the overall tile number; empty where there is one tile.
std::vector<std::string> tile_numbers(const ir::Program& program, const ir::Schedule& schedule, const char* number);

/// The body of a CUDA kernel, from the thread's number on.
void emit_compute_cuda(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, bool wide);

/// The body of one tile of a C++ kernel, from the tile's number on. Buffers and params have their own names.
void emit_compute_cpp(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// Types of vectors that the C++ body uses; empty without lanes.
std::string lane_types(const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::codegen
