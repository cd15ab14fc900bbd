#include "ir/passes/copy_operand.hpp"

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {

Sequence copy_operand(const Sequence& sequence, std::size_t step, NodeId copied, const std::vector<int>& order,
                      std::size_t row, const std::string& stem, bool tf32) {
  const auto& old = sequence.steps[step];
  const auto type = old.program.nodes[static_cast<std::size_t>(copied)].type;
  Sequence made{sequence.storages, sequence.params, {}};
  const auto rows = add_rows(made.storages, old.program, order, row, type, fresh_name(sequence, stem));
  made.storages.back().tf32 = tf32;

  StepPiece copy(old);
  auto value = copy.copy(copied);
  if (tf32) value = copy.builder.op(OpCode::tf32, type, value);
  copy.builder.store(copy.buffer(made, rows.storage, true), copy.row(rows, -1), value);
  StepPiece rest(old);
  rest.replace(copied, rest.load(made, rows, -1));
  for (const auto& statement : old.program.statements) rest.store(statement);
  made.steps.reserve(sequence.steps.size() + 1);
  const auto place = sequence.steps.begin() + static_cast<std::ptrdiff_t>(step);
  made.steps.assign(sequence.steps.begin(), place);
  made.steps.push_back(copy.finish());
  made.steps.push_back(rest.finish());
  made.steps.insert(made.steps.end(), place + 1, sequence.steps.end());
  verify_storages(made);
  return made;
}

}  // namespace ricci::ir
