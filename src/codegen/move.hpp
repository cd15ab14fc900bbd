// Kernels that move elements on a CPU: the text of one tile, its loops in the order of the schedule's walk.
#pragma once

#include <string>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

/// What stands before the function: vector types, the transpose in registers, stores past the caches.
void emit_move_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// The body of one tile, from the tile's number on. Buffers are called NAME_base, parameters have their own names.
void emit_move(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// The body of a tile that waits in an array, behind its origin; and what it calls.
void emit_staged(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);
void emit_staged_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// The unsigned integer that holds an element's bits while it is moved between vector lanes; and how many of them.
const char* lane_type(DType type);
int lanes_of(DType type);

}  // namespace ricci::codegen
