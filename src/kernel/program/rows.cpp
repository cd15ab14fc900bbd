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

bool rows_are_read_first(const ir::Program& program, int index) {
  const auto rows = along_row(program, index, 1);
  const auto is_safe = [&](const Node& node) {
    if (node.kind != NodeKind::load || !rows.buffers[at(node.source)].written) return true;
    return rows.statements.size() == 1 && rows.statement().buffer == node.source &&
           rows.statement().offset == node.offset && rows.statement().offset.coefficient[at(index)] != 0;
  };
  return std::all_of(rows.nodes.begin(), rows.nodes.end(), is_safe);
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

std::vector<RowPass> row_passes(const ir::Program& along, int row) {
  const auto count = along.nodes.size();
  std::vector<std::size_t> after(count);  // per node: passes that must be over
  std::vector<bool> depends(count);       // on the place in the row
  std::vector<RowPass> made;
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = along.nodes[id];
    for (int k = 0; k < ir::operand_count(node); ++k) {
      after[id] = std::max(after[id], after[at(node.operand[k])]);
      depends[id] = depends[id] || depends[at(node.operand[k])];
    }
    if (node.kind == NodeKind::load) depends[id] = node.offset.coefficient[at(row)] != 0;
    if (node.kind == NodeKind::index) depends[id] = node.source == row;
    if (node.kind != NodeKind::reduce) continue;
    depends[id] = false;
    made.resize(std::max(made.size(), after[id] + 1));
    made[after[id]++].sums.push_back(static_cast<NodeId>(id));
  }
  RowPass last;
  for (std::size_t k = 0; k < along.statements.size(); ++k) {
    if (along.statements[k].offset.coefficient[at(row)] != 0) last.results.push_back(static_cast<int>(k));
  }
  if (!last.results.empty()) made.push_back(std::move(last));
  // What a later pass comes to again is kept by the first one that computes it, where that takes long.
  const auto takes_long = [&](const Node& node) {
    return node.kind == NodeKind::op && (ir::is_function(node.op) || node.op == ir::OpCode::div);
  };
  std::vector<int> first(count, -1);
  std::vector<bool> kept(count);
  for (int p = 0; p < static_cast<int>(made.size()); ++p) {
    auto& pass = made[at(p)];
    std::vector<bool> reached(count);
    for (const auto sum : pass.sums) reached[at(along.nodes[at(sum)].operand[0])] = true;
    for (const int result : pass.results) reached[at(along.statements[at(result)].value)] = true;
    for (std::size_t id = count; id-- > 0;) {
      if (!reached[id] || !depends[id]) continue;
      const auto& node = along.nodes[id];
      if (takes_long(node) && first[id] >= 0) {
        kept[id] = true;
        continue;
      }
      if (first[id] < 0) first[id] = p;
      pass.computed.push_back(static_cast<NodeId>(id));
      for (int k = 0; k < ir::operand_count(node); ++k) reached[at(node.operand[k])] = true;
    }
  }
  for (std::size_t id = 0; id < count; ++id) {
    if (kept[id]) made[at(first[id])].kept.push_back(static_cast<NodeId>(id));
  }
  return made;
}

std::vector<RowRounds> row_rounds(std::int64_t extent, std::int64_t lanes) {
  constexpr std::int64_t kVectors = 4;  // of a sum: they hide how long additions take
  constexpr std::int64_t kNarrow = 4;   // lanes
  std::vector<RowRounds> made;
  const auto add = [&](std::int64_t vectors, std::int64_t wide) {
    const auto count = extent / (vectors * wide);
    if (count > 0) made.push_back({vectors, wide, count});
    extent -= count * vectors * wide;
  };
  if (lanes > 1) {
    if (const auto vectors = std::min(kVectors, extent / lanes); vectors > 1) add(vectors, lanes);
    add(1, lanes);
    if (lanes > kNarrow) add(1, kNarrow);
  }
  add(1, 1);
  return made;
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
