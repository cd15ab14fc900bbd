#include "kernel/program/rows.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "ir/passes/cut_products.hpp"
#include "ir/passes/index_uses.hpp"
#include "kernel/program/declarations.hpp"

namespace ricci::kernel {
namespace {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

bool is_sum(const Node& node) { return node.kind == NodeKind::reduce; }

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

int row_of_one_sum(const ir::Program& program) {
  const auto sum = std::find_if(program.nodes.begin(), program.nodes.end(), is_sum);
  if (sum == program.nodes.end() || program.points() == 0 || sum->over.size() > 1 ||
      std::any_of(sum + 1, program.nodes.end(), is_sum))
    return -1;
  const int row = sum->over[0];
  const auto uses = ir::index_uses(program);
  const auto points = program.points(uses[static_cast<std::size_t>(sum - program.nodes.begin())]);
  const bool once = ir::uses_once(program, *sum, points, program.indices[at(row)].extent);
  return once && row_fault(program, row).empty() ? row : -1;
}

std::optional<RowProgram> cut_rows(const ir::Program& program, int index) {
  const auto along = along_row(program, index, 1);
  const auto count = along.nodes.size();
  const auto is_choice = [](const Node& node) {
    return node.kind == NodeKind::guard || (node.kind == NodeKind::op && node.op == ir::OpCode::select);
  };
  // The comparison, and what depends on it.
  std::vector<bool> of_index(count), cut(count);
  NodeId comparison = -1;
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = along.nodes[id];
    of_index[id] = node.kind == NodeKind::index && node.source == index;
    for (int k = 0; k < ir::operand_count(node) && node.kind == NodeKind::op; ++k)
      of_index[id] = of_index[id] || of_index[at(node.operand[k])];
    if (!is_choice(node) || !of_index[at(node.operand[0])]) continue;
    if (comparison >= 0 && comparison != node.operand[0]) return std::nullopt;
    comparison = node.operand[0];
  }
  RowProgram made;
  if (comparison < 0) {
    for (const auto& node : along.nodes) made.summed[0].push_back(node.kind == NodeKind::reduce ? node.operand[0] : -1);
    for (const auto& statement : along.statements) made.stored[0].push_back(statement.value);
    made.summed[1].resize(count, -1);
    made.stored[1].resize(along.statements.size(), -1);
    made.program = along;
    return made;
  }
  const auto& compared = along.nodes[at(comparison)];
  const bool strict = compared.op == ir::OpCode::less;
  if (compared.kind != NodeKind::op || (!strict && compared.op != ir::OpCode::less_equal)) return std::nullopt;
  const auto x = index_sum(along, compared.operand[0]), y = index_sum(along, compared.operand[1]);
  if (!x || !y) return std::nullopt;
  // c * place + rest < below
  const auto sum = *x - *y;
  const auto c = sum.coefficient(index), below = std::int64_t{strict ? 0 : 1};
  if (c != 1 && c != -1) return std::nullopt;
  const auto rest = sum.with(index, 0);
  const auto begins = c > 0 ? Affine(below) - rest : rest + Affine(1 - below);
  const auto least =
      bounds(begins, [&](Var q) { return std::max<std::int64_t>(along.indices[at(q)].extent, 1); }).first;
  if (least < 0) return std::nullopt;
  made.cut = ir::Affine{};
  made.cut->constant = begins.constant;
  made.cut->coefficient.resize(along.indices.size());
  for (const auto& [var, times] : begins.terms) made.cut->coefficient[at(var)] = times;

  const auto holds = [&](int part) { return (part == 0) == (c > 0); };
  const auto chosen = [&](const Node& node, int part) {  // -1: nothing
    return holds(part) ? node.operand[1] : node.kind == NodeKind::guard ? -1 : node.operand[2];
  };
  const auto is_cut = [&](const Node& node) { return is_choice(node) && node.operand[0] == comparison; };
  std::array<std::vector<bool>, 2> needed;
  for (auto& part : needed) {
    part.resize(count);
    for (const auto& statement : along.statements) part[at(statement.value)] = true;
  }
  for (std::size_t id = count; id-- > 0;) {
    const auto& node = along.nodes[id];
    if (node.kind == NodeKind::reduce) needed[0][id] = needed[1][id] = needed[0][id] || needed[1][id];
    for (const int part : {0, 1}) {
      if (!needed[at(part)][id]) continue;
      if (is_cut(node)) {
        if (const auto to = chosen(node, part); to >= 0) needed[at(part)][at(to)] = true;
        continue;
      }
      for (int k = 0; k < ir::operand_count(node); ++k) needed[at(part)][at(node.operand[k])] = true;
    }
  }
  auto builder = with_declarations(along);
  auto& to = builder.program;
  std::array<std::vector<NodeId>, 2> as;
  for (auto& part : as) part.resize(count, -1);
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = along.nodes[id];
    for (const int part : {0, 1}) {
      auto& own = as[at(part)];
      if (!needed[at(part)][id]) continue;
      if (static_cast<NodeId>(id) == comparison) return std::nullopt;  // a value of its own
      if (node.kind == NodeKind::reduce) {
        if (part == 1) continue;
        const std::array<NodeId, 2> value = {own[at(node.operand[0])], as[1][at(node.operand[0])]};
        if (value[0] < 0 && value[1] < 0) return std::nullopt;
        as[0][id] = as[1][id] = builder.reduce(node.op, value[0] >= 0 ? value[0] : value[1], node.over);
        const bool known = at(own[id]) < made.summed[0].size() &&
                           (made.summed[0][at(own[id])] >= 0 || made.summed[1][at(own[id])] >= 0);
        for (const int of : {0, 1}) {
          auto& summed = made.summed[at(of)];
          summed.resize(to.nodes.size(), -1);
          if (known && summed[at(own[id])] != value[at(of)]) return std::nullopt;  // alike in one part alone
          summed[at(own[id])] = value[at(of)];
        }
        continue;
      }
      if (is_cut(node)) {
        const auto value = chosen(node, part);
        own[id] = value < 0 ? -1 : own[at(value)];
        continue;
      }
      std::array<NodeId, 3> operand = {-1, -1, -1};
      bool nothing = false;
      for (int k = 0; k < ir::operand_count(node); ++k) {
        operand[at(k)] = own[at(node.operand[k])];
        nothing = nothing || operand[at(k)] < 0;
      }
      if (nothing) return std::nullopt;  // a guard inside of a value
      own[id] = builder.like(node, operand);
    }
  }
  for (const auto& statement : along.statements) {
    const std::array<NodeId, 2> value = {as[0][at(statement.value)], as[1][at(statement.value)]};
    if (value[0] < 0 && value[1] < 0) return std::nullopt;
    if (statement.offset.coefficient[at(index)] == 0 && value[0] != value[1]) return std::nullopt;
    for (const int part : {0, 1}) made.stored[at(part)].push_back(value[at(part)]);
    builder.store(statement.buffer, statement.offset, value[0] >= 0 ? value[0] : value[1], statement.step);
  }
  for (auto& part : made.summed) part.resize(to.nodes.size(), -1);
  made.program = std::move(to);
  return made;
}

std::vector<RowPass> row_passes(const RowProgram& rows, int row) {
  const auto& along = rows.program;
  const auto count = along.nodes.size();
  std::vector<std::size_t> after(count);  // per node: passes that must be over
  std::vector<bool> depends(count);       // on the place in the row
  std::vector<RowPass> made;
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = along.nodes[id];
    const auto add = [&](NodeId operand) {
      if (operand < 0) return;
      after[id] = std::max(after[id], after[at(operand)]);
      depends[id] = depends[id] || depends[at(operand)];
    };
    for (int k = 0; k < ir::operand_count(node); ++k) add(node.operand[k]);
    if (node.kind == NodeKind::load) depends[id] = node.offset.coefficient[at(row)] != 0;
    if (node.kind == NodeKind::index) depends[id] = node.source == row;
    if (node.kind != NodeKind::reduce) continue;
    for (const auto& part : rows.summed) add(part[id]);
    depends[id] = false;
    made.resize(std::max(made.size(), after[id] + 1));
    made[after[id]++].sums.push_back({static_cast<NodeId>(id), {rows.summed[0][id], rows.summed[1][id]}});
  }
  RowPass last;
  for (std::size_t k = 0; k < along.statements.size(); ++k) {
    if (along.statements[k].offset.coefficient[at(row)] != 0)
      last.results.push_back({static_cast<int>(k), {rows.stored[0][k], rows.stored[1][k]}});
  }
  if (!last.results.empty()) made.push_back(std::move(last));
  // What a later pass comes to again is kept by the first one that computes it, of all parts, where that takes long.
  const auto takes_long = [&](const Node& node) {
    return node.kind == NodeKind::op && (ir::is_function(node.op) || node.op == ir::OpCode::div);
  };
  const auto reached = [&](const RowPass& pass, const std::vector<int>& stops, int p) {  // per node: bits of parts
    std::vector<int> parts(count);
    std::vector<std::array<NodeId, 2>> values;
    for (const auto& sum : pass.sums) values.push_back(sum.value);
    for (const auto& result : pass.results) values.push_back(result.value);
    for (const auto& value : values) {
      if (value[0] >= 0) parts[at(value[0])] |= 1;
      if (value[1] >= 0) parts[at(value[1])] |= 2;
    }
    for (std::size_t id = count; id-- > 0;) {
      if (!depends[id]) parts[id] = 0;
      if (parts[id] == 0 || (stops[id] >= 0 && stops[id] < p)) continue;
      const int own = parts[id];
      for (int k = 0; k < ir::operand_count(along.nodes[id]); ++k) {
        auto& operand = parts[at(along.nodes[id].operand[k])];
        operand |= own;
      }
    }
    return parts;
  };
  std::vector<int> first(count, -1), parts(count), stops(count, -1);
  for (const bool all : {true, false}) {
    for (int p = 0; p < static_cast<int>(made.size()); ++p) {
      const auto seen = reached(made[at(p)], stops, p);
      for (std::size_t id = 0; id < count; ++id) {
        if (seen[id] == 0) continue;
        if (!all) {
          const bool read = stops[id] >= 0 && stops[id] < p;
          auto& kept = made[at(std::max(stops[id], 0))].kept;
          const bool known =
              std::any_of(kept.begin(), kept.end(), [&](const RowPass::Kept& one) { return at(one.value) == id; });
          if (!read) made[at(p)].computed.push_back(static_cast<NodeId>(id));
          if (read && !known) kept.push_back({static_cast<NodeId>(id), {(parts[id] & 1) != 0, (parts[id] & 2) != 0}});
        } else if (first[id] < 0) {
          first[id] = p;
          parts[id] = seen[id];
        } else if ((seen[id] & ~parts[id]) != 0) {
          parts[id] = 0;
        }
      }
    }
    for (std::size_t id = 0; id < count && all; ++id) {
      if (parts[id] != 0 && takes_long(along.nodes[id])) stops[id] = first[id];
    }
  }
  for (auto& pass : made)
    std::sort(pass.kept.begin(), pass.kept.end(),
              [](const RowPass::Kept& x, const RowPass::Kept& y) { return x.value < y.value; });
  return made;
}

std::vector<RowRounds> row_rounds(std::int64_t extent, std::int64_t lanes, bool cut) {
  constexpr std::int64_t kVectors = 4;  // of a sum: they hide how long additions take
  constexpr std::int64_t kNarrow = 4;   // lanes
  std::vector<RowRounds> made;
  const auto add = [&](std::int64_t vectors, std::int64_t wide) {
    const auto count = extent / (vectors * wide);
    if (count > 0 || cut) made.push_back({vectors, wide, count});
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
  auto builder = with_declarations(program);
  auto& made = builder.program;
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
