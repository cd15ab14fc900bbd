#include "ir/passes/distinct_factors.hpp"

#include <algorithm>

#include "ir/passes/products_apart.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// A load below conversions and conjugations; null: something else.
Node* load_of(Program& program, NodeId id) {
  for (;;) {
    auto& node = program.nodes[at(id)];
    if (node.kind == NodeKind::load) return &node;
    if (node.kind != NodeKind::op || (node.op != OpCode::cast && node.op != OpCode::conj)) return nullptr;
    id = node.operand[0];
  }
}

/// How many combinations of indices move the first one alone.
std::int64_t own(const Program& program, const Affine& first, const Affine& second) {
  std::int64_t count = 1;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (first.coefficient[q] != 0 && second.coefficient[q] == 0) count *= program.indices[q].extent;
  }
  return count;
}

}  // namespace

Sequence distinct_factors(Sequence sequence) {
  bool changed = false;
  for (auto& step : sequence.steps) {
    auto& program = step.program;
    if (program.statements.size() != 1 || program.points() == 0) continue;
    for (std::size_t k = 0; k < program.nodes.size(); ++k) {
      const auto& product = program.nodes[k];
      if (product.kind != NodeKind::op || product.op != OpCode::mul) continue;
      const auto* first = load_of(program, product.operand[0]);
      auto* second = load_of(program, product.operand[1]);
      if (first == nullptr || second == nullptr || first->source != second->source) continue;
      const auto buffer = program.buffers[at(first->source)];
      if (buffer.written || own(program, first->offset, second->offset) < kLeastOfRole ||
          own(program, second->offset, first->offset) < kLeastOfRole)
        continue;
      changed = true;
      second->source = static_cast<int>(program.buffers.size());
      step.storage.push_back(step.storage[at(first->source)]);
      program.buffers.push_back(buffer);
      auto& name = program.buffers.back().name;
      const auto is_taken = [&](const auto& one) { return &one.name != &name && one.name == name; };
      const auto taken = [&] {
        return std::any_of(program.buffers.begin(), program.buffers.end(), is_taken) ||
               std::any_of(program.indices.begin(), program.indices.end(), is_taken) ||
               std::any_of(program.params.begin(), program.params.end(), is_taken);
      };
      while (taken()) name += '_';
    }
  }
  if (changed) verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
