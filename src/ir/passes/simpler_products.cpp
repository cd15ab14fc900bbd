#include "ir/passes/simpler_products.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/passes/index_uses.hpp"
#include "ir/passes/precision.hpp"
#include "ir/passes/step_piece.hpp"
#include "ir/types.hpp"

namespace ricci::ir {
namespace {

/// Whether a node is the complex number of a real one of its own precision: no conversion that rounds.
bool is_complex_of_real(const Program& program, const Node& node) {
  return is_op(node, OpCode::cast) && program.nodes[at(node.operand[0])].type == part_type(node.type);
}

/// A load below a conversion and conjugations; -1: something else.
struct Factor {
  NodeId load = -1;
  bool conj = false;
};
Factor factor_of(const Program& program, NodeId id) {
  Factor operand;
  bool converted = false;
  for (;;) {
    const auto& node = program.nodes[at(id)];
    if (node.kind == NodeKind::load) {
      operand.load = id;
      return operand;
    }
    const bool conj = is_op(node, OpCode::conj);
    const bool whole = is_complex_of_real(program, node);
    if (!conj && !whole && (!is_op(node, OpCode::cast) || std::exchange(converted, true))) return {};
    operand.conj = operand.conj != conj;
    id = node.operand[0];
  }
}

/// A sum of products of two loads that each have an index of more than one value of their own.
struct SumOfProducts {
  NodeId sum = -1;
  Factor first, second;
};
std::optional<SumOfProducts> sum_of(const Program& program) {
  if (program.statements.size() != 1 || program.points() == 0) return std::nullopt;
  SumOfProducts found;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto kind = program.nodes[k].kind;
    if (kind == NodeKind::guard || kind == NodeKind::scan || kind == NodeKind::compact) return std::nullopt;
    if (kind != NodeKind::reduce) continue;
    if (found.sum >= 0) return std::nullopt;
    found.sum = static_cast<NodeId>(k);
  }
  if (found.sum < 0) return std::nullopt;
  const auto& sum = program.nodes[at(found.sum)];
  const auto& product = program.nodes[at(sum.operand[0])];
  if (sum.op != OpCode::add || sum.over.empty() || !is_op(product, OpCode::mul)) return std::nullopt;
  found.first = factor_of(program, product.operand[0]);
  found.second = factor_of(program, product.operand[1]);
  if (found.first.load < 0 || found.second.load < 0) return std::nullopt;
  const auto& a = program.nodes[at(found.first.load)].offset.coefficient;
  const auto& b = program.nodes[at(found.second.load)].offset.coefficient;
  bool rows = false, columns = false;
  for (std::size_t q = 0; q < a.size(); ++q) {
    if (program.indices[q].extent == 1) continue;
    rows = rows || (a[q] != 0 && b[q] == 0);
    columns = columns || (b[q] != 0 && a[q] == 0);
  }
  return rows && columns ? std::optional(found) : std::nullopt;
}

/// A program over reals in the place of one over complex numbers, which treats both parts of each alike.
class InReals {
 public:
  explicit InReals(const Program& program) : from_(program) {
    to_.program.indices = program.indices;
    to_.program.buffers = program.buffers;
    to_.program.params = program.params;
    to_.program.exact = program.exact;
    to_.program.precision = program.precision;
    std::string name = "part";
    const auto taken = [&](const LoopIndex& index) { return index.name == name; };
    while (std::any_of(program.indices.begin(), program.indices.end(), taken)) name += '_';
    part_ = static_cast<int>(program.indices.size());
    to_.program.indices.push_back({name, 2});
    for (const auto& node : program.nodes) form_.push_back(form_of(node));
    for (auto& buffer : to_.program.buffers) {
      if (!is_complex(buffer.type)) continue;
      buffer.type = part_type(buffer.type);
      buffer.first = 2 * buffer.first;
      buffer.last = 2 * buffer.last + 1;
    }
  }

  /// Whether a value's parts are made of the same parts of what it is made of, and of reals.
  bool holds(NodeId id) const { return form_[at(id)] == Form::parts; }

  Program run() {
    std::vector<NodeId> made(from_.nodes.size(), -1);
    for (std::size_t id = 0; id < made.size(); ++id) {
      if (form_[id] == Form::other) continue;
      const auto& node = from_.nodes[id];
      const auto type = part_type(node.type);
      const auto operand = [&](int k) { return made[at(node.operand[k])]; };
      if (node.kind == NodeKind::load) {
        made[id] = to_.load(node.source, is_complex(node.type) ? parts(node.offset) : node.offset);
      } else if (node.kind == NodeKind::reduce) {
        made[id] = to_.reduce(node.op, operand(0), node.over);
      } else if (node.op == OpCode::cast) {
        made[id] = to_.cast(operand(0), type);
      } else {
        made[id] = to_.op(node.op, type, operand(0), operand_count(node) > 1 ? operand(1) : -1);
      }
    }
    const auto& statement = from_.statement();
    to_.store(statement.buffer, parts(statement.offset), made[at(statement.value)]);
    return to_.finish();
  }

 private:
  Affine parts(Affine offset) const {
    for (auto& step : offset.coefficient) step *= 2;
    offset.coefficient.resize(at(part_) + 1);
    offset.coefficient[at(part_)] = 1;
    offset.constant *= 2;
    return offset;
  }

  /// What becomes of a value: a real one stays, or is a factor of both parts; each part of a complex one has its own.
  enum class Form : std::uint8_t { other, real, factor, parts };
  Form form_of(const Node& node) const {
    const auto form = [&](int k) { return form_[at(node.operand[k])]; };
    if (node.kind == NodeKind::load) return is_complex(node.type) ? Form::parts : Form::real;
    if (node.kind == NodeKind::reduce && node.op == OpCode::add && form(0) == Form::parts) return Form::parts;
    if (node.kind != NodeKind::op) return Form::other;
    switch (node.op) {
      case OpCode::add:
      case OpCode::sub:
        return form(0) == Form::parts && form(1) == Form::parts ? Form::parts : Form::other;
      case OpCode::neg:
        return form(0) == Form::parts ? Form::parts : Form::other;
      case OpCode::cast:
        if (form(0) == Form::real) return is_complex(node.type) ? Form::factor : Form::real;
        return form(0) == Form::parts ? Form::parts : Form::other;
      case OpCode::mul:
        return std::minmax({form(0), form(1)}) == std::pair(Form::factor, Form::parts) ? Form::parts : Form::other;
      default:
        return Form::other;
    }
  }

  const Program& from_;
  Builder to_;
  std::vector<Form> form_;  // per node
  int part_ = -1;
};

/// The sum, without conjugations, in workspace, and what is made of it.
std::vector<Step> sum_apart(Sequence& sequence, const Step& step, const SumOfProducts& product) {
  const auto& program = step.program;
  const auto& sum = program.nodes[at(product.sum)];
  const auto order = by_memory(index_uses(program)[at(product.sum)], program.statement().offset);
  const auto rows = add_rows(sequence, program, order, 0, sum.type, "product");
  std::vector<Step> made;
  StepPiece piece(step);
  auto& builder = piece.builder;
  const auto factor = [&](const Factor& operand) { return builder.cast(piece.copy(operand.load), sum.type); };
  const auto first = factor(product.first), second = factor(product.second);
  std::vector<int> over;
  for (const int q : sum.over) over.push_back(piece.whole(q));
  std::sort(over.begin(), over.end());
  const auto value = builder.reduce(sum.op, builder.op(OpCode::mul, sum.type, first, second), std::move(over));
  builder.store(piece.buffer(sequence, rows.storage, true), piece.row(rows, -1), value);
  made.push_back(piece.finish());
  StepPiece rest(step);
  const auto read = rest.load(sequence, rows, -1);
  const bool conj = product.first.conj || product.second.conj;  // a real factor has none
  rest.replace(product.sum, conj ? rest.builder.op(OpCode::conj, sum.type, read) : read);
  rest.store(program.statement());
  made.push_back(rest.finish());
  return made;
}

/// Whether a sum of products is of short integers, as all that it reads.
bool is_of_short(const Program& program, const SumOfProducts& product) {
  const auto is_short = [&](NodeId id) {
    const auto type = program.nodes[at(id)].type;
    return is_integer(type) && size_of(type) < size_of(DType::i32);
  };
  return is_short(product.sum) && is_short(product.first.load) && is_short(product.second.load);
}

/// Whether one factor is real and the other one is complex.
bool is_half_real(const Program& program, const SumOfProducts& product) {
  const auto complex = [&](NodeId id) { return is_complex(program.nodes[at(id)].type); };
  return !program.exact && complex(product.sum) && complex(product.first.load) != complex(product.second.load);
}

}  // namespace

std::optional<Sequence> simpler_products(const Sequence& given) {
  const auto changes = [](const Step& step) {
    const auto product = sum_of(step.program);
    return product && (is_of_short(step.program, *product) || is_half_real(step.program, *product));
  };
  if (std::none_of(given.steps.begin(), given.steps.end(), changes)) return std::nullopt;
  auto sequence = given;
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    auto& program = sequence.steps[k].program;
    const auto product = sum_of(program);
    if (!product) continue;
    if (is_of_short(program, *product)) {
      auto whole = in_precision(sequence_of(std::move(program)), Precision::i32);
      program = std::move(whole.steps.front().program);
    }
    if (!is_half_real(program, *product)) continue;
    if (InReals whole(program); whole.holds(program.statement().value)) {
      program = whole.run();
      continue;
    }
    auto steps = sum_apart(sequence, Step(sequence.steps[k]), *product);
    steps.front().program = InReals(steps.front().program).run();
    sequence.steps[k] = std::move(steps.front());
    ++k;
    sequence.steps.insert(sequence.steps.begin() + static_cast<std::ptrdiff_t>(k), std::move(steps.back()));
  }
  verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
