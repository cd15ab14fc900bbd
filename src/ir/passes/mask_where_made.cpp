#include "ir/passes/mask_where_made.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ir/passes/index_uses.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// The step that makes a tensor, with indices of others as its own.
class Maker {
 public:
  Maker(const Sequence& sequence, std::size_t step) : from_(sequence.steps[step]), piece_(from_) {}

  /// Conditions of another step, or of this one, as nodes here, ascending; nothing where they are of more than indices
  /// that the access has, and numbers.
  std::optional<std::vector<NodeId>> translated(const Program& other, const Affine& access,
                                                const std::vector<NodeId>& conditions) {
    const auto read_by = matched(from_.program, other, access);
    if (!read_by) return std::nullopt;
    std::vector<int> own(other.indices.size(), -1);
    for (std::size_t q = 0; q < read_by->size(); ++q) {
      if ((*read_by)[q] >= 0) own[at((*read_by)[q])] = static_cast<int>(q);
    }
    std::vector<NodeId> made;
    for (const auto condition : conditions) {
      const auto one = copy(other, condition, own);
      if (one < 0) return std::nullopt;
      made.push_back(one);
    }
    std::sort(made.begin(), made.end());
    return made;
  }

  /// The step with zeros stored where one of these conditions fails.
  Step masked(const std::vector<NodeId>& conditions) {
    const auto& statement = from_.program.statement();
    auto value = piece_.copy(statement.value);
    for (const auto condition : conditions) value = selected_by(piece_.builder, condition, value);
    piece_.builder.store(piece_.buffer(statement.buffer, true), piece_.affine(statement.offset), value);
    return piece_.finish();
  }

 private:
  /// A node of another program over indices here (own: -1, none); -1: it is of more than these and numbers.
  NodeId copy(const Program& other, NodeId id, const std::vector<int>& own) {
    const auto& n = other.nodes[at(id)];
    if (n.kind == NodeKind::index)
      return own[at(n.source)] < 0 ? -1 : piece_.builder.index(piece_.whole(own[at(n.source)]));
    if (n.kind != NodeKind::constant && n.kind != NodeKind::op) return -1;
    std::array<NodeId, 3> operand{-1, -1, -1};
    for (int k = 0; k < operand_count(n); ++k) {
      operand[at(k)] = copy(other, n.operand[k], own);
      if (operand[at(k)] < 0) return -1;
    }
    return piece_.builder.like(n, operand);
  }

  const Step from_;
  StepPiece piece_;
};

/// Loads that are reached from a statement without a guard that asks for all conditions.
class Readers {
 public:
  Readers(const Step& step, Maker& maker, int buffer, std::vector<NodeId> conditions)
      : program_(step.program), maker_(maker), buffer_(buffer), wanted_(std::move(conditions)) {
    for (const auto& n : program_.nodes) {
      bool reads = n.kind == NodeKind::load && n.source == buffer_;
      for (int k = 0; k < operand_count(n); ++k) reads = reads || reads_[at(n.operand[k])];
      reads_.push_back(reads);
    }
  }

  bool all_are_guarded() const {
    for (const auto& statement : program_.statements) {
      if (!is_guarded(statement.value, {})) return false;
    }
    return true;
  }

 private:
  bool is_guarded(NodeId id, std::vector<NodeId> around) const {
    const auto& n = program_.nodes[at(id)];
    if (!reads_[at(id)]) return true;
    if (n.kind == NodeKind::load) {
      const auto known = maker_.translated(program_, n.offset, around);
      return known && std::includes(known->begin(), known->end(), wanted_.begin(), wanted_.end());
    }
    if (n.kind == NodeKind::guard) {
      if (!is_guarded(n.operand[0], around)) return false;
      for (const auto part : parts_of(program_, n.operand[0])) around.push_back(part);
      return is_guarded(n.operand[1], std::move(around));
    }
    for (int k = 0; k < operand_count(n); ++k) {
      if (!is_guarded(n.operand[k], around)) return false;
    }
    return true;
  }

  const Program& program_;
  Maker& maker_;
  int buffer_;
  std::vector<NodeId> wanted_;
  std::vector<bool> reads_;  // per node, whether it does so
};

}  // namespace

std::vector<NodeId> parts_of(const Program& program, NodeId condition) {
  std::vector<NodeId> parts, open{condition};
  while (!open.empty()) {
    const auto id = open.back();
    open.pop_back();
    const auto& n = program.nodes[at(id)];
    if (is_op(n, OpCode::bit_and) && n.type == DType::u8) {
      open.push_back(n.operand[1]);
      open.push_back(n.operand[0]);
    } else if (std::find(parts.begin(), parts.end(), id) == parts.end()) {
      parts.push_back(id);
    }
  }
  return parts;
}

NodeId selected_by(Builder& builder, NodeId condition, NodeId value) {
  const auto type = builder.node(value).type;
  const auto asked = builder.node(condition).type;
  if (asked != DType::u8) condition = builder.op(OpCode::not_equal, DType::u8, condition, builder.integer(0, asked));
  const auto as = is_half(type) ? DType::f32 : type;  // half types are stored alone
  const auto zero = is_integer(as) ? builder.integer(0, as) : builder.constant(0, as);
  return builder.cast(builder.op(OpCode::select, as, condition, builder.cast(value, as), zero), type);
}

bool mask_where_made(Sequence& sequence, std::size_t step, NodeId load, const std::vector<NodeId>& conditions) {
  const auto& reader = sequence.steps[step];
  const auto& read = reader.program.nodes[at(load)];
  const int storage = reader.storage[at(read.source)];
  if (sequence.storages[at(storage)].role != Role::workspace) return false;
  std::optional<std::size_t> made;
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    const auto& buffers = sequence.steps[k].program.buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      if (sequence.steps[k].storage[b] != storage || !buffers[b].written) continue;
      if (made || k >= step) return false;
      made = k;
    }
  }
  if (!made) return false;
  const auto& program = sequence.steps[*made].program;
  const auto kind = program.nodes[at(program.statement().value)].kind;
  if (program.statements.size() != 1 || kind == NodeKind::guard || kind == NodeKind::scan || kind == NodeKind::compact)
    return false;
  Maker maker(sequence, *made);
  const auto wanted = maker.translated(reader.program, read.offset, conditions);
  if (!wanted) return false;
  for (const auto& other : sequence.steps) {
    for (std::size_t b = 0; b < other.storage.size(); ++b) {
      if (other.storage[b] != storage) continue;
      if (!Readers(other, maker, static_cast<int>(b), *wanted).all_are_guarded()) return false;
    }
  }
  sequence.steps[*made] = maker.masked(*wanted);
  return true;
}

}  // namespace ricci::ir
