// CPU copies through an array: the loop over tiles.
#pragma once

#include <string>
#include <vector>

#include "codegen/writer.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::codegen {

/// Per index, the expression that computes its tile number from the overall tile number; empty where there is one tile.
std::vector<std::string> tile_numbers(const ir::Program& program, const kernel::Moves& moves, const char* number);

/// Emits the definitions before the function: vector types, the transpose in registers, nontemporal stores.
void emit_copy_helpers(Writer& writer, const ir::Program& program, const kernel::Moves& moves);

/// The loop over the tiles from `first` to before `last`. Buffers are called NAME_base, parameters have their own
/// names.
void emit_copy(Writer& writer, const ir::Program& program, const kernel::Moves& moves);

/// For a tile kept in an array: the functions it calls, the arrays, and the body after the tile's origin. The body
/// reads the tile and writes it; with a prefetch distance it writes the tile while it reads the next one.
void emit_staged_helpers(Writer& writer, const ir::Program& program, const kernel::Moves& moves);
void emit_staged_arrays(Writer& writer, const ir::Program& program, const kernel::Moves& moves);
void emit_staged(Writer& writer, const ir::Program& program, const kernel::Moves& moves);

}  // namespace ricci::codegen
