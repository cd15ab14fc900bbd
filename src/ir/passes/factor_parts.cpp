#include "ir/passes/factor_parts.hpp"

#include <algorithm>
#include <utility>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

constexpr std::int64_t kParts = 3;
/// Of each factor, in the order of the sums, whether the part is the rest.
constexpr std::array<std::array<bool, kParts>, 2> kRest = {{{true, false, false}, {false, true, false}}};

std::int64_t product_of(const Program& program, const std::vector<int>& order, std::size_t last) {
  std::int64_t n = 1;
  for (auto k = order.size() - last; k < order.size(); ++k)
    n *= program.indices[static_cast<std::size_t>(order[k])].extent;
  return n;
}

}  // namespace

Sequence products_of_parts(Sequence sequence, std::size_t step, NodeId sum, const std::array<FactorOrder, 2>& factors,
                           std::size_t summed) {
  const auto old = sequence.steps[step];
  const auto& program = old.program;
  std::vector<Step> made;
  StepPiece rest(old);
  const auto part = rest.fresh_index("part", kParts);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto& [load, order] = factors[f];
    const auto deep = product_of(program, order, summed);
    auto rows = add_rows(sequence, program, order, 0, DType::f32, "parts");
    auto& storage = sequence.storages.back();
    storage.tf32 = true;
    storage.last = kParts * (storage.last + 1) - 1;
    for (std::size_t k = 0; k + summed < order.size(); ++k) rows.stride[static_cast<std::size_t>(order[k])] *= kParts;
    for (std::int64_t p = 0; p < kParts; ++p) {
      StepPiece copy(old);
      const auto op = kRest[f][static_cast<std::size_t>(p)] ? OpCode::tf32_rest : OpCode::tf32;
      const auto value = copy.builder.op(op, DType::f32, copy.copy(load));
      auto to = copy.row(rows, -1);
      to.constant += p * deep;
      copy.builder.store(copy.buffer(sequence, rows.storage, true), std::move(to), value);
      made.push_back(copy.finish());
    }
    auto from = rest.row(rows, -1);
    StepPiece::add_term(from, part, deep);
    rest.replace(load, rest.builder.load(rest.buffer(sequence, rows.storage), std::move(from)));
  }
  const auto& node = program.nodes[static_cast<std::size_t>(sum)];
  std::vector<int> over = {part};
  for (const int index : node.over) over.push_back(rest.whole(index));
  std::sort(over.begin(), over.end());
  rest.replace(sum, rest.builder.reduce(node.op, rest.copy(node.operand[0]), std::move(over)));
  for (const auto& statement : program.statements) rest.store(statement);
  made.push_back(rest.finish());
  replace_step(sequence, step, std::move(made));
  verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
