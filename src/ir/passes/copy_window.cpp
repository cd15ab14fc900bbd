#include "ir/passes/copy_window.hpp"

#include <cstdlib>
#include <utility>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {

Sequence copy_window(const Sequence& sequence, std::size_t step, NodeId load, const std::vector<Axis>& axes,
                     const std::vector<std::size_t>& order) {
  const auto& old = sequence.steps[step];
  const auto& read = old.program.nodes[at(load)];
  Sequence made{sequence.storages, sequence.params, {}};
  StepPiece copy(old), rest(old);
  Affine from, to, window;
  window.coefficient.resize(old.program.indices.size());
  from.constant = bounds(read.offset, old.program.indices).first;
  std::int64_t elements = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto& axis = axes[order[k]];
    const int place = copy.fresh_index(old.program.indices[at(axis.indices.front())].name, axis.extent);
    StepPiece::add_term(from, place, axis.stride);
    StepPiece::add_term(to, place, elements);
    for (const int q : axis.indices) {
      const auto step_of = read.offset.coefficient[at(q)] / axis.stride * elements;
      window.coefficient[at(q)] = step_of;
      if (step_of < 0) window.constant -= step_of * (old.program.indices[at(q)].extent - 1);
    }
    elements *= axis.extent;
  }
  const int storage = static_cast<int>(made.storages.size());
  made.storages.push_back({fresh_name(sequence, "copy"), Role::workspace, read.type, 0, elements - 1, 256});
  const auto value = copy.builder.load(copy.buffer(read.source), std::move(from));
  copy.builder.store(copy.buffer(made, storage, true), std::move(to), value);
  const auto window_here = rest.affine(window);
  rest.replace(load, rest.builder.load(rest.buffer(made, storage), window_here));
  for (const auto& statement : old.program.statements) rest.store(statement);
  made.steps = sequence.steps;
  std::vector<Step> both;
  both.push_back(copy.finish());
  both.push_back(rest.finish());
  replace_step(made, step, std::move(both));
  verify_storages(made);
  return made;
}

}  // namespace ricci::ir
