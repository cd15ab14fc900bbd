// Contiguous runs written by nontemporal stores, and the prefetches that go with them.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/writer.hpp"
#include "kernel/kernel.hpp"
#include "kernel/permute/cpu_stage.hpp"

namespace ricci::codegen {

using kernel::kLineBytes;
using kernel::offsets;
using Prefetch = kernel::InputAhead;
inline Prefetch prefetch_of(const ir::Program& program, const kernel::Moves& moves) {
  return kernel::input_ahead(program, moves);
}

/// The integer type of a table that holds these values.
const char* table_type(const std::vector<std::int64_t>& values);

/// Emits the type that issues the prefetches.
void emit_prefetch(Writer& writer, const ir::Program& program, const kernel::Moves& moves, const Prefetch& prefetch);

/// Emits the function that prefetches the output lines a run shares with others.
void emit_prefetch_ends(Writer& writer, const ir::Program& program);

/// Emits the function that writes one run and issues at least `with_run` prefetches meanwhile. With a line carry it
/// also takes the carried line, whether that holds the elements before the run, and whether a later tile continues the
/// run.
void emit_write_run(Writer& writer, const ir::Program& program, const kernel::Moves& moves, std::int64_t with_run);

}  // namespace ricci::codegen
