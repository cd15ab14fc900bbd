#include "kernel/program/strips.hpp"

#include <algorithm>

#include "kernel/kernel.hpp"
#include "kernel/program/rows.hpp"
#include "kernel/program/staged.hpp"

namespace ricci::kernel {

Strips strips_of(const ir::Program& program, const ProgramLoops& loops) {
  Strips strips;
  const auto lane = static_cast<std::size_t>(loops.lane);
  // One more line per row: rows of a power of two would map to the same cache sets.
  strips.row = loops.strip + kLineBytes / size_of(program.buffers.front().type);
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    if (node.kind == ir::NodeKind::load && node.offset.coefficient[lane] == 1)
      strips.loads.emplace(static_cast<ir::NodeId>(id), static_cast<int>(strips.loads.size()));
  }
  if (std::all_of(program.statements.begin(), program.statements.end(),
                  [&](const auto& s) { return s.offset.coefficient[lane] == 1; }))
    strips.stores = static_cast<std::int64_t>(program.statements.size());
  return strips;
}

std::int64_t scratch_bytes(const ir::Program& program, const ProgramLoops& loops) {
  Kernel kernel;
  for (const auto& staged : staged_loads(program, loops)) {
    const auto type = program.nodes[static_cast<std::size_t>(staged.load)].type;
    kernel.add_array({"", type, Space::scratch, {staged.elements}});
  }
  if (loops.row >= 0) {
    const auto rows = cut_rows(program, loops.row);
    const auto length = program.indices[static_cast<std::size_t>(loops.row)].extent;
    for (const auto& pass : row_passes(*rows, loops.row)) {
      for (const auto& [id, parts] : pass.kept)
        kernel.add_array({"", rows->program.nodes[static_cast<std::size_t>(id)].type, Space::scratch, {length}});
    }
  }
  if (loops.strip == 0 || !loops.parts.empty()) return kernel.bytes_of(Space::scratch);
  const auto strips = strips_of(program, loops);
  const auto type = program.buffers.front().type;
  for (const auto elements : {strips.in_elements(), strips.out_elements()}) {
    if (elements > 0) kernel.add_array({"", type, Space::scratch, {elements}});
  }
  return kernel.bytes_of(Space::scratch);
}

}  // namespace ricci::kernel
