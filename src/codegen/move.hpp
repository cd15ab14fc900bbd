// Kernels that move elements on a CPU: the loops over tiles and within one, in the order of the schedule's walk.
#pragma once

#include <string>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

/// What stands before the function: vector types, the transpose in registers, stores past the caches.
void emit_move_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// The loop over the tiles from `first` to before `last`. Buffers are called NAME_base, parameters have their own
/// names.
void emit_move(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// A tile that waits in an array: what it calls, the arrays, and its body, behind its origin. The body reads the tile
/// and writes it, or, where what it reads is asked for ahead, writes it beside the reading of the next one.
void emit_staged_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);
void emit_staged_arrays(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);
void emit_staged(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::codegen
