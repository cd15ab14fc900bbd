#include "kernel/program/rows.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/passes/index_uses.hpp"

namespace ricci::kernel {
namespace {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

/// Per index, whether it goes along rows of `index`.
std::vector<bool> along(const ir::Program& program, int index) {
  std::vector<bool> rows(program.indices.size());
  rows[at(index)] = true;
  for (const auto& node : program.nodes) {
    for (const int q : node.over) rows[at(q)] = true;
  }
  return rows;
}

/// Whether sums are of each row its own: those that several rows have in common are computed once for all of them.
bool has_own_sums(const ir::Program& program, const std::vector<bool>& free, int row) {
  const auto uses = ir::index_uses(program);
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (program.nodes[id].kind != NodeKind::reduce) continue;
    for (std::size_t q = 0; q < free.size(); ++q) {
      if (free[q] && static_cast<int>(q) != row && program.indices[q].extent > 1 && !uses[id][q]) return false;
    }
  }
  return true;
}

}  // namespace

std::string row_fault(const ir::Program& program, int index, std::int64_t lanes) {
  constexpr int kSeveral = -2;
  const auto extent = program.indices[at(index)].extent;
  if (extent < 2 || extent % lanes != 0) return "neighbours of the row divide it";
  const auto rows = along(program, index);
  std::vector<int> depends(program.nodes.size(), -1);  // per node: the index of the row that it depends on
  bool sums = false;
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    auto& own = depends[id];
    const auto add = [&](int q) { own = own < 0 || own == q ? std::max(own, q) : kSeveral; };
    for (std::size_t q = 0; node.kind == NodeKind::load && q < rows.size(); ++q) {
      if (rows[q] && node.offset.coefficient[q] != 0) add(static_cast<int>(q));
    }
    if (node.kind == NodeKind::index && rows[at(node.source)]) add(node.source);
    for (int k = 0; k < ir::operand_count(node); ++k) {
      if (const int q = depends[at(node.operand[k])]; q != -1) add(q);
    }
    if (own == kSeveral) return "no value is of several places of a row";
    if (node.over.empty()) continue;
    if (node.kind != NodeKind::reduce || node.over.size() > 1 || program.indices[at(node.over[0])].extent != extent)
      return "sums run over one index each, as long as the row";
    if (own >= 0 && own != node.over[0]) return "no value is of several places of a row";
    if (program.exact && !ir::exactly_associates(node.op, node.type)) return "exact sums have one worker";
    own = -1;
    sums = true;
  }
  return sums ? "" : "no sum runs along the row";
}

int row_of(const ir::Program& program) {
  const auto is_sum = [](const Node& node) { return node.kind == NodeKind::reduce; };
  const auto sum = std::find_if(program.nodes.begin(), program.nodes.end(), is_sum);
  if (sum == program.nodes.end() || program.points() == 0) return -1;
  const auto free = program.free_indices();
  const auto is_row = [&](int q) { return row_fault(program, q).empty() && has_own_sums(program, free, q); };
  int found = -1;
  const auto step = [&](int q) { return std::abs(program.statement().offset.coefficient[at(q)]); };
  for (int q = 0; q < static_cast<int>(free.size()); ++q) {
    if (free[at(q)] && is_row(q) && (found < 0 || step(q) < step(found))) found = q;
  }
  const bool several = std::any_of(sum + 1, program.nodes.end(), is_sum);
  return found < 0 && several && is_row(sum->over[0]) ? sum->over[0] : found;
}

ir::Program along_row(const ir::Program& program, int index, std::int64_t lanes) {
  const auto rows = along(program, index);
  ir::Builder builder;
  auto& made = builder.program;
  made.indices = program.indices;
  made.buffers = program.buffers;
  made.params = program.params;
  made.exact = program.exact;
  made.precision = program.precision;
  made.indices[at(index)].extent /= lanes;
  std::vector<int> over{index};
  if (lanes > 1) {
    over.push_back(static_cast<int>(made.indices.size()));
    made.indices.push_back({made.indices[at(index)].name + "_lane", lanes});
  }
  const auto moved = [&](const ir::Affine& affine) {
    auto to = affine;
    to.coefficient.resize(made.indices.size());
    std::int64_t step = 0;
    for (std::size_t q = 0; q < rows.size(); ++q) {
      if (rows[q]) step += std::exchange(to.coefficient[q], 0);
    }
    to.coefficient[at(over.back())] = step;
    to.coefficient[at(index)] = step * lanes;
    return to;
  };
  std::vector<NodeId> as(program.nodes.size());
  for (std::size_t id = 0; id < as.size(); ++id) {
    const auto& node = program.nodes[id];
    std::array<NodeId, 3> operand = {-1, -1, -1};
    for (int k = 0; k < ir::operand_count(node); ++k) operand[at(k)] = as[at(node.operand[k])];
    if (node.kind == NodeKind::load) {
      as[id] = builder.load(node.source, moved(node.offset));
    } else if (node.kind == NodeKind::reduce) {
      as[id] = builder.reduce(node.op, operand[0], over);
    } else if (node.kind == NodeKind::index && rows[at(node.source)]) {
      as[id] = builder.index(index);
      if (lanes == 1) continue;
      const auto first =
          builder.op(ir::OpCode::mul, DType::i64, builder.constant(static_cast<double>(lanes), DType::i64), as[id]);
      as[id] = builder.op(ir::OpCode::add, DType::i64, first, builder.index(over.back()));
    } else {
      as[id] = builder.like(node, operand);
    }
  }
  for (const auto& statement : program.statements)
    builder.store(statement.buffer, moved(statement.offset), as[at(statement.value)], statement.step);
  return std::move(made);
}

}  // namespace ricci::kernel
