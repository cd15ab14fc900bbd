#include "ir/passes/copy_operand.hpp"

#include <utility>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {

Sequence copy_operand(Sequence sequence, std::size_t step, NodeId copied, const std::vector<int>& order,
                      std::size_t row, const std::string& stem, bool tf32) {
  const auto type = sequence.steps[step].program.nodes[static_cast<std::size_t>(copied)].type;
  const auto rows = add_rows(sequence, sequence.steps[step].program, order, row, type, stem);
  sequence.storages.back().tf32 = tf32;
  const auto old = std::move(sequence.steps[step]);

  StepPiece copy(old);
  auto value = copy.copy(copied);
  if (tf32) value = copy.builder.op(OpCode::tf32, type, value);
  copy.builder.store(copy.buffer(sequence, rows.storage, true), copy.row(rows, -1), value);
  StepPiece rest(old);
  rest.replace(copied, rest.load(sequence, rows, -1));
  for (const auto& statement : old.program.statements) {
    const auto stored = rest.copy(statement.value);
    rest.builder.store(rest.buffer(statement.buffer, true), rest.affine(statement.offset), stored, statement.step);
  }
  sequence.steps[step] = copy.finish();
  sequence.steps.insert(sequence.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, rest.finish());
  verify_storages(sequence);
  return sequence;
}

}  // namespace ricci::ir
