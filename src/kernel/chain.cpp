#include "kernel/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ir/passes/canonical.hpp"
#include "ir/passes/read_once.hpp"
#include "kernel/program/declarations.hpp"
#include "kernel/program/rows.hpp"

namespace ricci::kernel {
namespace {

using ir::is_op;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

/// Per node, whether a sum is in it or is what it is made of.
std::vector<bool> of_sums(const ir::Program& program) {
  std::vector<bool> of(program.nodes.size());
  for (std::size_t id = 0; id < of.size(); ++id) {
    const auto& node = program.nodes[id];
    of[id] = node.kind == NodeKind::reduce;
    for (int k = 0; k < ir::operand_count(node); ++k) of[id] = of[id] || of[nth(node.operand[k])];
  }
  return of;
}

class Finder {
 public:
  explicit Finder(const ir::Program& program) : original_(program) {}

  /// The rule that does not hold.
  std::string run() {
    for (const auto step : {&Finder::joined, &Finder::sums, &Finder::scores, &Finder::product, &Finder::indices,
                            &Finder::exponentials, &Finder::conditions}) {
      if (auto rule = (this->*step)(); !rule.empty()) return rule;
    }
    return {};
  }

  Chain chain;

 private:
  const Node& node(NodeId id) const { return chain.node(id); }
  const ir::Program& program() const { return chain.program; }
  /// The value before it was converted from one type to another.
  NodeId unconverted(NodeId id) const {
    while (is_op(node(id), OpCode::cast)) id = node(id).operand[0];
    return id;
  }
  std::int64_t step(NodeId load, int index) const { return node(load).offset.coefficient[nth(index)]; }

  /// One index for all sums along the columns, one for those along the depth.
  std::string joined() {
    const auto& from = original_;
    if (from.exact) return "sums have an order of their own";
    if (from.statements.size() != 1 || from.points() == 0) return "one result that is not empty";
    const auto has_sums = of_sums(from);
    std::vector<int> as(from.indices.size(), -1);  // the index that one becomes
    std::array<int, 2> whole = {-1, -1};           // of columns, of the depth
    for (std::size_t id = 0; id < from.nodes.size(); ++id) {
      const auto& sum = from.nodes[id];
      if (sum.kind == NodeKind::scan || sum.kind == NodeKind::compact) return "no scans";
      if (sum.kind != NodeKind::reduce) continue;
      if (sum.over.size() != 1) return "sums run over one index each";
      auto& one = whole[has_sums[nth(sum.operand[0])] ? 0 : 1];
      const int q = sum.over.front();
      if (one < 0) one = q;
      if (from.indices[nth(one)].extent != from.indices[nth(q)].extent) return "sums in a sum are of one length";
      if (as[nth(q)] >= 0 && as[nth(q)] != one) return "columns and the depth are different indices";
      as[nth(q)] = one;
    }
    if (whole[0] < 0 || whole[1] < 0) return "a sum of products in another sum";
    auto builder = with_declarations(from);
    const auto moved = [&](ir::Affine affine) {
      for (std::size_t q = 0; q < as.size(); ++q) {
        if (as[q] < 0 || as[q] == static_cast<int>(q)) continue;
        affine.coefficient[nth(as[q])] += std::exchange(affine.coefficient[q], 0);
      }
      return affine;
    };
    std::vector<NodeId> known(from.nodes.size());
    for (std::size_t id = 0; id < known.size(); ++id) {
      auto like = from.nodes[id];
      std::array<NodeId, 3> operand = {-1, -1, -1};
      for (int k = 0; k < ir::operand_count(like); ++k) operand[nth(k)] = known[nth(like.operand[k])];
      if (like.kind == NodeKind::load) like.offset = moved(like.offset);
      if (like.kind == NodeKind::index && as[nth(like.source)] >= 0) like.source = as[nth(like.source)];
      for (auto& q : like.over) q = as[nth(q)];
      known[id] = builder.like(like, operand);
    }
    const auto& statement = from.statement();
    builder.store(statement.buffer, moved(statement.offset), known[nth(statement.value)], statement.step);
    chain.program = std::move(builder.program);
    chain.columns = whole[0];
    chain.depth = whole[1];
    return {};
  }

  /// Which sums there are.
  std::string sums() {
    std::vector<bool> used(program().nodes.size());
    used[nth(program().statement().value)] = true;
    for (std::size_t id = used.size(); id-- > 0;) {
      for (int k = 0; used[id] && k < ir::operand_count(program().nodes[id]); ++k)
        used[nth(program().nodes[id].operand[k])] = true;
    }
    for (std::size_t k = 0; k < used.size(); ++k) {
      const auto id = static_cast<NodeId>(k);
      const auto& sum = node(id);
      if (!used[k]) continue;
      if (sum.kind == NodeKind::load && program().buffers[nth(sum.source)].written) return "nothing read is written";
      if (sum.kind != NodeKind::reduce) continue;
      auto& slot = sum.over.front() == chain.depth ? chain.scores : chain.maximum;
      if (sum.over.front() == chain.columns && sum.op == OpCode::add) {
        chain.sums.push_back(id);
      } else if (sum.op != (sum.over.front() == chain.depth ? OpCode::add : OpCode::maximum) || slot >= 0) {
        return "one sum along the depth and one maximum along the columns";
      } else {
        slot = id;
      }
      if (sum.type != DType::f32) return "sums in f32";
    }
    if (chain.scores < 0 || chain.maximum < 0) return "a maximum along the columns";
    if (program().nodes[nth(program().statement().value)].kind == NodeKind::guard) return "no guard of results";
    return {};
  }

  /// The factors of a product, as loads of a half type where they are that.
  std::optional<std::array<NodeId, 2>> factors(NodeId product) const {
    if (!is_op(node(product), OpCode::mul)) return std::nullopt;
    return std::array{unconverted(node(product).operand[0]), unconverted(node(product).operand[1])};
  }

  std::string scores() {
    const auto both = factors(node(chain.scores).operand[0]);
    if (!both) return "scores are products";
    auto [x, y] = *both;
    for (const NodeId load : {x, y}) {
      if (node(load).kind != NodeKind::load || !is_half(node(load).type)) return "factors are tensors of half types";
      if (step(load, chain.depth) != 1) return "neighbours of both factors lie along the depth";
    }
    if (node(x).type != node(y).type) return "factors are of one type";
    if (step(x, chain.columns) != 0) std::swap(x, y);
    if (step(x, chain.columns) != 0 || step(y, chain.columns) == 0) return "one factor has columns";
    chain.x = x, chain.y = y;
    return {};
  }

  /// The sum that is a product by a tensor.
  std::string product() {
    for (const NodeId sum : chain.sums) {
      const auto both = factors(chain.term(sum));
      if (!both) continue;
      for (const int second : {0, 1}) {
        const auto value = (*both)[nth(second)];
        if (node(value).kind != NodeKind::load || step(value, chain.columns) == 0) continue;
        if (chain.product >= 0) return "one product along the columns";
        chain.product = sum;
        chain.v = value;
        chain.weights = node(chain.term(sum)).operand[1 - second];
        if (const auto& converted = node(chain.weights);
            is_op(converted, OpCode::cast) && is_half(node(converted.operand[0]).type))
          chain.weights = converted.operand[0];
        break;
      }
    }
    if (chain.product < 0) return "a product along the columns";
    std::erase(chain.sums, chain.product);
    const auto type = node(chain.v).type;
    if (!is_half(type)) return "values are of a half type";
    if (node(chain.weights).type == type) return {};
    // Two parts of bf16 are off by 2^-18 of a weight, which is less than sums in f32 are of so many terms.
    constexpr std::int64_t kTerms = 64;
    chain.parts = 2;
    if (type != DType::bf16 || node(chain.weights).type != DType::f32 ||
        program().indices[nth(chain.columns)].extent < kTerms)
      return "weights are of the type of values, or many of f32 beside values of bf16";
    return {};
  }

  std::string indices() {
    const auto free = original_.free_indices();
    const auto& out = program().statement().offset;
    std::int64_t most = 0;
    for (int q = 0; q < static_cast<int>(free.size()); ++q) {
      const auto& index = program().indices[nth(q)];
      const bool of_x = step(chain.x, q) != 0, of_y = step(chain.y, q) != 0, of_v = step(chain.v, q) != 0;
      if (!free[nth(q)]) continue;
      if (of_v && !of_x && !of_y && step(chain.v, q) == 1) {
        if (chain.values >= 0) return "one index of values alone";
        chain.values = q;
        continue;
      }
      chain.batch.push_back(q);
      if (of_x && !of_y && !of_v && out.coefficient[nth(q)] != 0 && index.extent > most)
        most = index.extent, chain.rows = q;
    }
    if (chain.rows < 0) return "an index of the first factor and the result alone, as rows";
    if (chain.values < 0) return "an index of values and the result alone, along which values have neighbours";
    if (out.coefficient[nth(chain.values)] == 0) return "results have the columns of values";
    std::erase(chain.batch, chain.rows);
    for (const int q : chain.batch) {
      if (out.coefficient[nth(q)] == 0 && program().indices[nth(q)].extent > 1) return "results have all indices";
    }
    return {};
  }

  /// That terms have exp(t - M) as a factor once, and what it multiplies does not know of M.
  std::string exponentials() {
    chain.least = chain.term(chain.maximum);
    const auto count = program().nodes.size();
    std::vector<bool> of_maximum(count), of_columns(count), of_values(count), scaled(count);
    for (std::size_t k = 0; k < count; ++k) {
      const auto id = static_cast<NodeId>(k);
      const auto& n = node(id);
      for (int o = 0; o < ir::operand_count(n); ++o) {
        const auto from = nth(n.operand[o]);
        if (of_maximum[from]) of_maximum[k] = true;
        if (of_columns[from] && n.kind != NodeKind::reduce) of_columns[k] = true;
        if (of_values[from]) of_values[k] = true;
      }
      if (id == chain.maximum) of_maximum[k] = true;
      if (id == chain.scores) of_columns[k] = true;
      if (n.kind == NodeKind::load) {
        of_columns[k] = step(id, chain.columns) != 0;
        of_values[k] = step(id, chain.values) != 0;
      }
      if (n.kind == NodeKind::index) {
        of_columns[k] = n.source == chain.columns;
        of_values[k] = n.source == chain.values;
      }
      if (!of_maximum[k] || !of_columns[k] || n.kind != NodeKind::op) continue;
      const auto x = nth(n.operand[0]), y = nth(std::max(n.operand[1], 0));
      if (n.op == OpCode::exp && n.type == DType::f32 && is_op(node(n.operand[0]), OpCode::sub)) {
        const auto& shifted = node(n.operand[0]);
        if (shifted.operand[0] != chain.least || unconverted(shifted.operand[1]) != chain.maximum)
          return "exponentials are of what the maximum is of, less the maximum";
        if (chain.exponential >= 0) return "one exponential of scores";
        scaled[k] = true;
        chain.exponential = id;
      } else if (n.op == OpCode::cast) {
        scaled[k] = scaled[x];
      } else if (n.op == OpCode::mul) {
        scaled[k] = (scaled[x] && !of_maximum[y]) || (scaled[y] && !of_maximum[x]);
      }
    }
    for (const NodeId id : chain.all_sums()) {
      if (!scaled[nth(chain.term(id))]) return "terms of sums are exponentials times what does not know of the maximum";
      const auto inside = id == chain.product ? chain.weights : chain.term(id);
      if (of_values[nth(inside)]) return "values alone have their columns";
      if (reads_scores(chain.term(id))) return "terms know scores by exponentials alone";
    }
    if (of_maximum[nth(chain.least)] || of_values[nth(chain.least)]) return "a maximum of scores";
    const auto& least = node(chain.least);
    if (is_op(least, OpCode::mul) && node(node(chain.exponential).operand[0]).operand[1] == chain.maximum) {
      for (const int other : {0, 1}) {
        const auto& number = node(least.operand[other]);
        if (least.operand[1 - other] == chain.scores && number.kind == NodeKind::constant && number.value.real() > 0)
          chain.factor = number.value.real();
      }
    }
    return {};
  }

  bool reads_scores(NodeId id) const {
    if (id == chain.exponential) return false;
    const auto& n = node(id);
    for (int k = 0; k < ir::operand_count(n); ++k) {
      if (n.operand[k] == chain.scores || reads_scores(n.operand[k])) return true;
    }
    return false;
  }

  /// A comparison, or several of which all hold, as conditions.
  bool add_conditions(NodeId predicate, bool holds) {
    const auto& n = node(predicate);
    if (holds && is_op(n, OpCode::bit_and))
      return add_conditions(n.operand[0], true) && add_conditions(n.operand[1], true);
    const bool strict = is_op(n, OpCode::less);
    if (!strict && !is_op(n, OpCode::less_equal)) return false;
    const auto x = index_sum(program(), n.operand[0]), y = index_sum(program(), n.operand[1]);
    if (!x || !y) return false;
    if (holds) chain.when.push_back({*x - *y, strict ? 0 : 1});
    if (!holds) chain.when.push_back({*y - *x, strict ? 1 : 0});
    return true;
  }

  std::string conditions() {
    const auto guard_of = [&](NodeId reduce) {
      const auto& body = node(node(reduce).operand[0]);
      return body.kind == NodeKind::guard ? body.operand[0] : -1;
    };
    const auto predicate = guard_of(chain.maximum);
    for (const NodeId id : chain.all_sums()) {
      if (guard_of(id) != predicate) return "sums leave out the same elements";
    }
    if (predicate >= 0 && !add_conditions(predicate, true)) return "guards compare indices";
    // A selection of -infinity leaves an element out. So does one of a number far below all scores, whose exponential
    // is 0, in rows that have a score.
    const auto chosen = unconverted(chain.least);
    if (is_op(node(chosen), OpCode::select)) {
      const auto& n = node(chosen);
      constexpr double kFar = -1e30;
      const auto is_none = [&](NodeId id) {
        const auto& constant = node(unconverted(id));
        return constant.kind == NodeKind::constant && constant.value.real() <= kFar;
      };
      const auto has_first = [&](const Condition& condition) {
        const auto first = condition.value.with(chain.columns, 0);
        const auto reach = [&](Var q) { return std::max<std::int64_t>(program().indices[nth(q)].extent, 1); };
        return bounds(first, reach).last < condition.below;
      };
      const auto kept = chain.when;
      const int other = is_none(n.operand[1]) ? 1 : 2;
      if (is_none(n.operand[other]) && add_conditions(n.operand[0], other == 2) &&
          (std::isinf(node(unconverted(n.operand[other])).value.real()) ||
           std::all_of(chain.when.begin() + static_cast<std::ptrdiff_t>(kept.size()), chain.when.end(), has_first))) {
        chain.decided.emplace_back(chosen, n.operand[3 - other]);
      } else {
        chain.when = kept;
      }
    }
    for (std::size_t k = 0; k < program().nodes.size(); ++k) {
      const auto& n = node(static_cast<NodeId>(k));
      if (n.kind == NodeKind::guard && n.operand[0] != predicate) return "no other guards";
    }
    return {};
  }

  const ir::Program& original_;
};

/// Whether a program may become a chain where more of what it reads is computed in it: no factor of a product is a sum.
bool may_become_chain(const ir::Program& program) {
  constexpr std::size_t kMostNodes = 256;
  if (program.exact || program.statements.size() != 1 || program.nodes.size() > kMostNodes) return false;
  const auto is_sum = [&](NodeId id) {
    while (is_op(program.nodes[nth(id)], OpCode::cast)) id = program.nodes[nth(id)].operand[0];
    return program.nodes[nth(id)].kind == NodeKind::reduce;
  };
  return std::none_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
    if (node.kind != NodeKind::reduce) return false;
    const auto* term = &program.nodes[nth(node.operand[0])];
    if (term->kind == NodeKind::guard) term = &program.nodes[nth(term->operand[1])];
    const auto is_number = [&](NodeId id) {
      const auto kind = program.nodes[nth(id)].kind;
      return kind == NodeKind::constant || kind == NodeKind::param;
    };
    if (!is_op(*term, OpCode::mul) || is_number(term->operand[0]) || is_number(term->operand[1])) return false;
    return is_sum(term->operand[0]) || is_sum(term->operand[1]);
  });
}

}  // namespace

ir::NodeId Chain::term(ir::NodeId reduce) const {
  const auto body = node(reduce).operand[0];
  return node(body).kind == NodeKind::guard ? node(body).operand[1] : body;
}

std::vector<ir::NodeId> Chain::all_sums() const {
  auto all = sums;
  all.insert(all.begin(), product);
  return all;
}

std::string chain_fault(const ir::Program& program) { return Finder(program).run(); }

std::optional<Chain> chain_of(const ir::Program& program) {
  Finder finder(program);
  if (!finder.run().empty()) return std::nullopt;
  return std::move(finder.chain);
}

std::optional<ir::Sequence> chained(const ir::Sequence& sequence, std::size_t step) {
  bool found = false;
  auto made = ir::computed_where_read(sequence, step, [&](const ir::Program& program) {
    if (found || !may_become_chain(program)) return false;
    found = chain_fault(ir::canonicalise(program)).empty();
    return true;
  });
  return found ? std::move(made) : std::nullopt;
}

}  // namespace ricci::kernel
