// CPU copy kernels: the loops over tiles and within a tile, in the order of the schedule's mapping.
#pragma once

#include <string>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

/// Per index, the expression that computes its tile number from the overall tile number; empty where there is one tile.
std::vector<std::string> tile_numbers(const ir::Program& program, const ir::Schedule& schedule, const char* number);

/// Emits the definitions before the function: vector types, the transpose in registers, nontemporal stores.
void emit_copy_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// The loop over the tiles from `first` to before `last`. Buffers are called NAME_base, parameters have their own
/// names.
void emit_copy(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

/// For a tile kept in an array: the functions it calls, the arrays, and the body after the tile's origin. The body
/// reads the tile and writes it; with a prefetch distance it writes the tile while it reads the next one.
void emit_staged_helpers(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);
void emit_staged_arrays(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);
void emit_staged(Writer& writer, const ir::Program& program, const ir::Schedule& schedule);

}  // namespace ricci::codegen
