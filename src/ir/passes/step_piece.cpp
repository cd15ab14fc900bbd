#include "ir/passes/step_piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ricci::ir {

std::string fresh_name(const Sequence& sequence, const std::string& stem) {
  auto name = stem;
  const auto in = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  };
  const auto is_known = [&] {
    return in(sequence.storages) || std::any_of(sequence.steps.begin(), sequence.steps.end(), [&](const Step& step) {
             return in(step.program.indices) || in(step.program.buffers) || in(step.program.params);
           });
  };
  for (int k = 2; is_known(); ++k) name = fmt::format("{}{}", stem, k);
  return name;
}

void replace_step(Sequence& sequence, std::size_t step, std::vector<Step> others) {
  const auto place = sequence.steps.begin() + static_cast<std::ptrdiff_t>(step);
  sequence.steps.insert(sequence.steps.erase(place), std::make_move_iterator(others.begin()),
                        std::make_move_iterator(others.end()));
}

void drop_unused_storages(Sequence& sequence) {
  std::vector<int> number(sequence.storages.size());
  std::vector<Storage> kept;
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    const bool used = std::any_of(sequence.steps.begin(), sequence.steps.end(), [&](const Step& step) {
      return std::find(step.storage.begin(), step.storage.end(), static_cast<int>(k)) != step.storage.end();
    });
    number[k] = static_cast<int>(kept.size());
    if (used || sequence.storages[k].role != Role::workspace) kept.push_back(std::move(sequence.storages[k]));
  }
  sequence.storages = std::move(kept);
  for (auto& step : sequence.steps) {
    for (auto& storage : step.storage) storage = number[at(storage)];
  }
}

Rows add_rows(Sequence& sequence, const Program& program, const std::vector<int>& order, std::size_t row, DType type,
              const std::string& stem) {
  return add_rows(sequence.storages, program, order, row, type, fresh_name(sequence, stem));
}

Rows add_rows(std::vector<Storage>& storages, const Program& program, const std::vector<int>& order, std::size_t row,
              DType type, std::string name) {
  Rows rows;
  rows.stride.assign(program.indices.size(), 0);
  const auto line = std::max<std::int64_t>(kRowBytes / size_of(type), 1);
  std::int64_t elements = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    rows.stride[at(order[k])] = elements;
    elements *= program.indices[at(order[k])].extent;
    if (order.size() - k == row) elements = (elements + line - 1) / line * line;
  }
  rows.storage = static_cast<int>(storages.size());
  storages.push_back({std::move(name), Role::workspace, type, 0, elements - 1, 256});
  return rows;
}

StepPiece::StepPiece(const Step& from)
    : from_(from), constant_(from.program.indices.size()), known_(from.program.nodes.size(), -1) {
  constexpr std::size_t kMore = 2;  // than there were
  builder.program.exact = from.program.exact;
  builder.program.indices.reserve(from.program.indices.size() + kMore);
  builder.program.buffers.reserve(from.program.buffers.size() + kMore);
  builder.program.nodes.reserve(from.program.nodes.size() + kMore);
}

int StepPiece::index(int from, std::int64_t extent, std::int64_t factor, std::int64_t offset, const char* ending) {
  const auto made = fresh_index(from_.program.indices[at(from)].name + ending, extent);
  terms_.push_back({from, made, factor});
  constant_[at(from)] += offset;
  return made;
}

int StepPiece::fresh_index(std::string name, std::int64_t extent) {
  const auto in = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  };
  while (in(from_.program.buffers) || in(from_.program.params) || in(builder.program.indices)) name += '_';
  builder.program.indices.push_back({std::move(name), extent});
  return static_cast<int>(builder.program.indices.size()) - 1;
}

const StepPiece::Term* StepPiece::first_term(int old) const {
  const auto term = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.old == old; });
  return term == terms_.end() ? nullptr : &*term;
}

int StepPiece::whole(int old) {
  const auto* term = first_term(old);
  return term != nullptr ? term->made : index(old, from_.program.indices[at(old)].extent, 1, 0, "");
}

std::vector<int> StepPiece::whole(const std::vector<int>& old) {
  std::vector<int> made;
  made.reserve(old.size());
  for (const int q : old) made.push_back(whole(q));
  return made;
}

void StepPiece::forget(int old) {
  const auto rest = std::remove_if(terms_.begin(), terms_.end(), [&](const Term& term) { return term.old == old; });
  terms_.resize(static_cast<std::size_t>(rest - terms_.begin()));
  constant_[at(old)] = 0;
  std::fill(known_.begin(), known_.end(), -1);
}

NodeId StepPiece::copy(NodeId old) {
  const auto is_known = [&](NodeId id) { return known_[at(id)] >= 0; };
  if (is_known(old)) return known_[at(old)];
  // Chains are as long as programs are: what is still missing below, in a list, operands before users.
  struct Visit {
    NodeId id;
    int next = 0;
  };
  Few<Visit, 16> open{{old}};
  while (!open.empty()) {
    auto& visit = open.back();
    const auto& node = from_.program.nodes[at(visit.id)];
    if (visit.next < operand_count(node)) {
      const auto operand = node.operand[visit.next++];
      if (!is_known(operand)) open.push_back({operand});
      continue;
    }
    const auto id = visit.id;
    open.pop_back();
    if (!is_known(id)) known_[at(id)] = copy_node(node);
  }
  return known_[at(old)];
}

NodeId StepPiece::copy_node(const Node& node) {
  if (node.kind == NodeKind::index) return index_value(node.source);
  std::array<NodeId, 3> operand{};
  for (std::size_t k = 0; k < operand.size(); ++k) operand[k] = node.operand[k] < 0 ? -1 : known_[at(node.operand[k])];
  if (node.kind == NodeKind::param) return builder.param(param(node.source));
  if (node.kind == NodeKind::reduce) return builder.reduce(node.op, operand[0], whole(node.over));
  if (node.kind == NodeKind::load) {
    const auto source = buffer(node.source);
    return builder.load(source, affine(node.offset));
  }
  if (node.over.empty()) return builder.like(node, operand);
  auto renamed = node;
  renamed.over = whole(node.over);
  return builder.like(renamed, operand);
}

Affine StepPiece::affine(std::span<const std::int64_t> coefficient, std::int64_t constant) {
  Affine made;
  made.constant = constant;
  for (std::size_t q = 0; q < coefficient.size(); ++q) {
    if (coefficient[q] == 0) continue;
    whole(static_cast<int>(q));
    made.constant += coefficient[q] * constant_[q];
  }
  made.coefficient.resize(builder.program.indices.size());
  for (const auto& term : terms_) made.coefficient[at(term.made)] += coefficient[at(term.old)] * term.factor;
  return made;
}

void StepPiece::add_term(Affine& affine, int index, std::int64_t coefficient) {
  if (affine.coefficient.size() <= at(index)) affine.coefficient.resize(at(index) + 1);
  affine.coefficient[at(index)] += coefficient;
}

int StepPiece::buffer(int old, bool written) {
  return declare(from_.storage[at(old)], from_.program.buffers[at(old)], written);
}

int StepPiece::buffer(const Sequence& sequence, int storage, bool written) {
  const auto& whole = sequence.storages[at(storage)];
  return declare(storage, {whole.name, whole.type, false, whole.first, whole.last, whole.alignment, whole.tf32},
                 written);
}

int StepPiece::declare(int storage, const Buffer& declared, bool written) {
  auto& buffers = builder.program.buffers;
  std::size_t b = 0;
  while (b < storage_.size() && (storage_[b] != storage || buffers[b].name != declared.name)) ++b;
  if (b == storage_.size()) {
    storage_.push_back(storage);
    buffers.push_back(declared);
    buffers.back().written = false;
  }
  buffers[b].written = buffers[b].written || written;
  return static_cast<int>(b);
}

Affine StepPiece::row(const Rows& rows, int index, std::int64_t stride) {
  auto made = affine(rows.stride, 0);
  if (index >= 0) add_term(made, index, stride);
  return made;
}

NodeId StepPiece::load(const Sequence& sequence, const Rows& rows, int index) {
  return builder.load(buffer(sequence, rows.storage), row(rows, index));
}

int StepPiece::param(int old) {
  const auto wanted = from_.param[at(old)];
  for (std::size_t p = 0; p < param_.size(); ++p) {
    if (param_[p] == wanted) return static_cast<int>(p);
  }
  param_.push_back(wanted);
  builder.program.params.push_back(from_.program.params[at(old)]);
  return static_cast<int>(param_.size()) - 1;
}

NodeId StepPiece::index_value(int old) {
  const auto number = [&](std::int64_t value) {
    return builder.integer(static_cast<std::uint64_t>(value), DType::i64);
  };
  whole(old);
  NodeId sum = -1;
  for (const auto& term : terms_) {
    if (term.old != old) continue;
    auto value = builder.index(term.made);
    if (term.factor != 1) value = builder.op(OpCode::mul, DType::i64, value, number(term.factor));
    sum = sum < 0 ? value : builder.op(OpCode::add, DType::i64, sum, value);
  }
  const auto constant = constant_[at(old)];
  return constant == 0 ? sum : builder.op(OpCode::add, DType::i64, sum, number(constant));
}

void StepPiece::store(const Statement& old) {
  const auto value = copy(old.value);
  builder.store(buffer(old.buffer, true), affine(old.offset), value, old.step);
}

Step StepPiece::finish() {
  Step step;
  step.program = builder.finish();
  step.storage = std::move(storage_);
  step.param = std::move(param_);
  return step;
}

}  // namespace ricci::ir
