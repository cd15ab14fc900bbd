#include "kernel/arguments.hpp"

#include <utility>
#include <vector>

namespace ricci::kernel {
namespace {

using ir::NodeKind;

/// Per buffer: whether a select chooses between a load of it and a load of a buffer that the kernel writes. Compilers
/// merge the two loads, and NVRTC 13.0 then assumes of the merged load what `const __restrict__` says of one of them,
/// that no store changes it: it may move the load across a store.
std::vector<bool> chosen_beside_written(const ir::Program& program) {
  std::vector<bool> chosen(program.buffers.size());
  for (const auto& select : program.nodes) {
    if (select.kind != NodeKind::op || select.op != ir::OpCode::select) continue;
    std::vector<bool> below(program.nodes.size());
    for (const int arm : {1, 2}) below[static_cast<std::size_t>(select.operand[arm])] = true;
    std::vector<bool> loaded(program.buffers.size());
    bool written = false;
    for (std::size_t id = below.size(); id-- > 0;) {
      const auto& node = program.nodes[id];
      if (!below[id]) continue;
      for (const auto operand : node.operand) {
        if (operand >= 0) below[static_cast<std::size_t>(operand)] = true;
      }
      if (node.kind != NodeKind::load) continue;
      loaded[static_cast<std::size_t>(node.source)] = true;
      written = written || program.buffers[static_cast<std::size_t>(node.source)].written;
    }
    for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = chosen[k] || (written && loaded[k]);
  }
  return chosen;
}

}  // namespace

Kernel kernel_of(const ir::Program& program, Target target) {
  Kernel kernel;
  kernel.target = target;
  kernel.params = program.params;
  kernel.blocks = 0;
  kernel.contracts = !program.exact;
  const auto chosen = chosen_beside_written(program);
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const auto& buffer = program.buffers[k];
    Array array;
    array.name = buffer.name;
    array.type = buffer.type;
    array.shape = {buffer.last + 1};
    array.first = buffer.first;
    array.alignment = buffer.alignment;
    array.written = buffer.written;
    array.tf32 = buffer.tf32;
    array.restricted = !chosen[k];
    kernel.add_array(std::move(array));
  }
  return kernel;
}

std::vector<Argument> arguments_of(const ir::Program& program) {
  std::vector<Argument> list;
  for (const auto& buffer : program.buffers)
    list.push_back({Argument::Kind::buffer, buffer.name, buffer.type, buffer.written});
  for (const auto& param : program.params) list.push_back({Argument::Kind::param, param.name, param.type});
  return list;
}

std::vector<Argument> arguments_of(const Kernel& kernel) {
  std::vector<Argument> list;
  for (const auto& array : kernel.arrays) {
    if (array.space == Space::global) list.push_back({Argument::Kind::buffer, array.name, array.type, array.written});
  }
  for (const auto& param : kernel.params) list.push_back({Argument::Kind::param, param.name, param.type});
  for (const auto& map : kernel.maps) list.push_back({Argument::Kind::map, map.name, map.type});
  return list;
}

}  // namespace ricci::kernel
