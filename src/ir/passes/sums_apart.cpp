#include "ir/passes/sums_apart.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/passes/index_uses.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// The outermost of the sums that are the same for many values of the statement.
std::vector<NodeId> common_sums(const Program& program, const std::vector<Indices>& uses) {
  Indices free(program.indices.size());
  for (std::size_t q = 0; q < free.size(); ++q) free[q] = program.statement().offset.coefficient[q] != 0;
  free = either(free, uses[at(program.statement().value)]);
  const auto points = elements(program, free);
  std::vector<NodeId> found;
  std::vector<bool> reached(program.nodes.size());
  reached[at(program.statement().value)] = true;
  for (auto id = static_cast<NodeId>(program.nodes.size()); id-- > 0;) {  // users before operands
    if (!reached[at(id)]) continue;
    const auto& node = program.nodes[at(id)];
    const auto own = elements(program, uses[at(id)]);
    if (node.kind == NodeKind::reduce && within(uses[at(id)], free) &&
        points >= own * static_cast<double>(kLeastShared)) {
      found.push_back(id);
      continue;
    }
    for (int k = 0; k < operand_count(node); ++k) reached[at(node.operand[k])] = true;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace

std::optional<Sequence> sums_apart(const Sequence& sequence, std::size_t step) {
  const auto& from = sequence.steps[step];
  const auto& program = from.program;
  if (program.statements.size() != 1 || program.points() == 0) return std::nullopt;
  const auto is_apart = [](const Node& node) { return node.kind == NodeKind::scan || node.kind == NodeKind::compact; };
  if (std::any_of(program.nodes.begin(), program.nodes.end(), is_apart)) return std::nullopt;
  const auto uses = index_uses(program);
  const auto sums = common_sums(program, uses);
  if (sums.empty()) return std::nullopt;
  auto made = sequence;
  std::vector<Step> steps;
  StepPiece rest(from);
  const auto& statement = program.statement();
  for (const auto id : sums) {
    const auto order = by_memory(uses[at(id)], statement.offset);
    const auto rows = add_rows(made, program, order, 0, program.nodes[at(id)].type, "common");
    StepPiece piece(from);
    const auto value = piece.copy(id);
    piece.builder.store(piece.buffer(made, rows.storage, true), piece.row(rows, -1), value);
    steps.push_back(piece.finish());
    rest.replace(id, rest.load(made, rows, -1));
  }
  rest.store(statement);
  steps.push_back(rest.finish());
  replace_step(made, step, std::move(steps));
  verify(made);
  return made;
}

}  // namespace ricci::ir
