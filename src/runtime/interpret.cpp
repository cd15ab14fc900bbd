// The interpreter's answer to a sequence, with a workspace of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ir/workspace.hpp"
#include "ricci/error.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci {
namespace runtime {

void drop_alignments(ir::Program& program) {
  for (auto& buffer : program.buffers) buffer.alignment = size_of(buffer.type);
}

void drop_alignments(ir::Sequence& sequence) {
  for (auto& storage : sequence.storages) storage.alignment = size_of(storage.type);
  for (auto& step : sequence.steps) drop_alignments(step.program);
}

void interpret(const ir::Sequence& sequence, std::span<void* const> outputs, std::span<const void* const> inputs,
               const std::vector<Scalar>& params) {
  const auto count = [&](ir::Role role) {
    const auto has_role = [&](const ir::Storage& storage) { return storage.role == role; };
    return static_cast<std::size_t>(std::count_if(sequence.storages.begin(), sequence.storages.end(), has_role));
  };
  if (outputs.size() != count(ir::Role::output) || inputs.size() != count(ir::Role::input) ||
      params.size() != sequence.params.size()) {
    throw ShapeError(fmt::format("this takes {} outputs, {} inputs and {} parameters; {}, {} and {} were given",
                                 count(ir::Role::output), count(ir::Role::input), sequence.params.size(),
                                 outputs.size(), inputs.size(), params.size()));
  }
  const auto layout = ir::workspace_layout(sequence);
  const std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(ir::kWorkspaceAlignment,
                         static_cast<std::size_t>(std::max(layout.bytes, ir::kWorkspaceAlignment))),
      &std::free);
  if (!workspace) throw ShapeError(fmt::format("no memory for a workspace of {} bytes", layout.bytes));
  std::vector<void*> storages;
  std::size_t output = 0, input = 0;
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    if (storage.role == ir::Role::workspace) {
      storages.push_back(static_cast<char*>(workspace.get()) + layout.offset[k] -
                         storage.first * size_of(storage.type));
    } else if (storage.role == ir::Role::output) {
      storages.push_back(outputs[output++]);
    } else {
      storages.push_back(const_cast<void*>(inputs[input++]));
    }
  }
  ir::interpret(sequence, storages, params);
}

}  // namespace runtime
}  // namespace ricci
