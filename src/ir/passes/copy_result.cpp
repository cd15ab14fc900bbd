#include "ir/passes/copy_result.hpp"

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {

Sequence copy_result(Sequence sequence, std::size_t step, NodeId reduce, const std::vector<int>& order,
                     std::size_t row) {
  const auto old = sequence.steps[step];
  const auto& program = old.program;
  const auto rows =
      add_rows(sequence, program, order, row, program.nodes[static_cast<std::size_t>(reduce)].type, "sum");
  StepPiece sum(old);
  const auto value = sum.copy(reduce);
  sum.builder.store(sum.buffer(sequence, rows.storage, true), sum.row(rows, -1), value);
  StepPiece rest(old);
  rest.replace(reduce, rest.load(sequence, rows, -1));
  for (const auto& statement : program.statements) {
    const auto stored = rest.copy(statement.value);
    rest.builder.store(rest.buffer(statement.buffer, true), rest.affine(statement.offset), stored, statement.step);
  }
  sequence.steps[step] = sum.finish();
  sequence.steps.insert(sequence.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, rest.finish());
  verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
