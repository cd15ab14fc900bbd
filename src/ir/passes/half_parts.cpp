#include "ir/passes/half_parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

constexpr int kPartsOfProduct = 2, kPartsOfNumber = 3;  ///< of 8 bits each: 16 of a product of two bf16, 24 of an f32

/// A conversion to f32 of a load of bf16.
bool is_half_load(const Program& program, NodeId id) {
  const auto& cast = program.nodes[at(id)];
  if (cast.kind != NodeKind::op || cast.op != OpCode::cast || cast.type != DType::f32) return false;
  const auto& load = program.nodes[at(cast.operand[0])];
  return load.kind == NodeKind::load && load.type == DType::bf16;
}

/// A sum of products of a partial result and a bf16 tensor.
struct HalfProduct {
  NodeId sum = -1, load = -1;  ///< the load of the partial result
};

std::optional<HalfProduct> half_product_of(const Step& step, const std::vector<Storage>& storages) {
  const auto& program = step.program;
  if (program.exact || program.statements.size() != 1) return std::nullopt;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto& sum = program.nodes[k];
    if (sum.kind != NodeKind::reduce || sum.op != OpCode::add || sum.type != DType::f32) continue;
    const auto& product = program.nodes[at(sum.operand[0])];
    if (product.kind != NodeKind::op || product.op != OpCode::mul) continue;
    for (const int first : {0, 1}) {
      const auto id = product.operand[first];
      const auto& load = program.nodes[at(id)];
      if (load.kind != NodeKind::load || load.type != DType::f32) continue;
      if (storages[at(step.storage[at(load.source)])].role != Role::workspace) continue;
      if (is_half_load(program, product.operand[1 - first])) return HalfProduct{static_cast<NodeId>(k), id};
    }
  }
  return std::nullopt;
}

/// Loads of a storage, and the statements that write it, in the whole sequence.
struct Uses {
  int loads = 0, operands = 0;  ///< nodes that load it; of which so many nodes are made
  std::vector<std::size_t> writers;
};

Uses uses_of(const Sequence& sequence, int storage) {
  Uses uses;
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto& program = sequence.steps[k].program;
    const auto& storages = sequence.steps[k].storage;
    std::vector<bool> loads(program.nodes.size());
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      loads[id] = node.kind == NodeKind::load && storages[at(node.source)] == storage;
      if (loads[id]) ++uses.loads;
      for (int j = 0; j < operand_count(node); ++j) uses.operands += loads[at(node.operand[j])] ? 1 : 0;
    }
    for (const auto& statement : program.statements) {
      if (storages[at(statement.buffer)] != storage) continue;
      uses.writers.push_back(k);
      uses.operands += loads[at(statement.value)] ? 1 : 0;
    }
  }
  return uses;
}

/// Whether a step's value is made of loads and operations alone: it may be computed once more for each part.
bool is_elementwise(const Program& program) {
  return std::none_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) {
    return node.kind == NodeKind::reduce || node.kind == NodeKind::guard || node.kind == NodeKind::scan ||
           node.kind == NodeKind::compact;
  });
}

/// Whether a value is a product of two bf16 numbers, which has 16 significant bits.
bool is_half_by_half(const Program& program, NodeId id) {
  const auto& product = program.nodes[at(id)];
  return product.kind == NodeKind::op && product.op == OpCode::mul && is_half_load(program, product.operand[0]) &&
         is_half_load(program, product.operand[1]);
}

/// The part-th of the bf16 numbers that add up to a value.
NodeId part_of(Builder& builder, NodeId value, int part) {
  auto half = builder.cast(value, DType::bf16);
  for (int k = 0; k < part; ++k) {
    value = builder.op(OpCode::sub, DType::f32, value, builder.cast(half, DType::f32));
    half = builder.cast(value, DType::bf16);
  }
  return half;
}

/// The sequence with the partial result of a product in parts; false where it is used elsewhere, too.
bool in_parts(Sequence& sequence, std::size_t reader, const HalfProduct& product) {
  const auto old = sequence.steps[reader];
  const auto& read = old.program.nodes[at(product.load)];
  const int whole = old.storage[at(read.source)];
  const auto uses = uses_of(sequence, whole);
  if (uses.loads != 1 || uses.operands != 1 || uses.writers.size() != 1 || uses.writers[0] >= reader) return false;
  const auto writer = uses.writers[0];
  const auto from = sequence.steps[writer];
  if (from.program.statements.size() != 1) return false;
  const auto& written = from.program.statement();
  const bool again = is_elementwise(from.program);
  const int parts = again && is_half_by_half(from.program, written.value) ? kPartsOfProduct : kPartsOfNumber;

  const auto first = sequence.storages[at(whole)].first;
  constexpr std::int64_t kRow = kRowBytes / 2;
  const auto size = (sequence.storages[at(whole)].last - first + kRow) / kRow * kRow;
  const int storage = static_cast<int>(sequence.storages.size());
  auto& made = sequence.storages.emplace_back(sequence.storages[at(whole)]);
  made.name = fresh_name(sequence, "parts");
  made.type = DType::bf16;
  made.first = 0;
  made.last = parts * size - 1;

  StepPiece rest(old);
  auto place = rest.affine(read.offset);
  place.constant -= first;
  const auto part = rest.fresh_index("part", parts);
  StepPiece::add_term(place, part, size);
  const auto number = rest.builder.load(rest.buffer(sequence, storage), std::move(place));
  rest.replace(product.load, rest.builder.cast(number, DType::f32));
  const auto& sum = old.program.nodes[at(product.sum)];
  std::vector<int> over = {part};
  for (const int index : sum.over) over.push_back(rest.whole(index));
  std::sort(over.begin(), over.end());
  rest.replace(product.sum, rest.builder.reduce(sum.op, rest.copy(sum.operand[0]), std::move(over)));
  const auto& result = old.program.statement();
  const auto stored = rest.copy(result.value);
  rest.builder.store(rest.buffer(result.buffer, true), rest.affine(result.offset), stored, result.step);
  sequence.steps[reader] = rest.finish();

  std::vector<Step> steps;
  if (!again) steps.push_back(from);
  StepPiece piece(from);
  const auto value = again ? piece.copy(written.value)
                           : piece.builder.load(piece.buffer(written.buffer), piece.affine(written.offset));
  for (int k = 0; k < parts; ++k) {
    auto to = piece.affine(written.offset);
    to.constant += k * size - first;
    piece.builder.store(piece.buffer(sequence, storage, true), std::move(to), part_of(piece.builder, value, k));
  }
  steps.push_back(piece.finish());
  replace_step(sequence, writer, std::move(steps));
  return true;
}

}  // namespace

std::optional<Sequence> half_parts(const Sequence& given) {
  std::optional<Sequence> made;
  for (std::size_t k = 0; k < (made ? *made : given).steps.size(); ++k) {
    const auto& now = made ? *made : given;
    const auto product = half_product_of(now.steps[k], now.storages);
    if (!product) continue;
    auto sequence = now;
    if (!in_parts(sequence, k, *product)) continue;
    k += sequence.steps.size() - now.steps.size();
    made = std::move(sequence);
  }
  if (!made) return std::nullopt;
  drop_unused_storages(*made);
  verify(*made);
  return made;
}

}  // namespace ricci::ir
