#include "kernel/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ir/operation_types.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

const ir::Node& node(const ir::Program& program, NodeId id) { return program.nodes[static_cast<std::size_t>(id)]; }

/// A load below a conversion, a rounding and conjugations.
std::optional<Factor> factor_of(const ir::Program& program, NodeId id) {
  Factor factor;
  factor.value = id;
  bool converted = false;
  for (;;) {
    const auto& n = node(program, id);
    if (n.kind == NodeKind::load) {
      factor.load = id;
      return factor;
    }
    if (n.kind != NodeKind::op || (n.op != OpCode::cast && n.op != OpCode::conj)) return std::nullopt;
    if (n.op == OpCode::conj) factor.conj = !factor.conj;
    // Conversions that follow each other are not one: f64 to f32 to f64, or i32 to i8 to i32.
    if (n.op == OpCode::cast && std::exchange(converted, true)) {
      if (!is_half(n.type) || is_integer(node(program, n.operand[0]).type) || factor.rounded) return std::nullopt;
      factor.rounded = n.type;
    }
    id = n.operand[0];
  }
}

/// Whether a node combines values over indices in an order that is free.
bool is_free(const ir::Program& program, const ir::Node& reduce) {
  if (reduce.kind != NodeKind::reduce || reduce.over.empty()) return false;
  return !program.exact || ir::exactly_associates(reduce.op, reduce.type);
}
bool is_free_sum(const ir::Program& program, const ir::Node& sum) {
  return is_free(program, sum) && sum.op == OpCode::add;
}

/// Two factors below a node, by the indices of their loads.
Contraction with_roles(const ir::Program& program, NodeId reduce, const Factor& first, const Factor& second) {
  const auto& sum = node(program, reduce);
  Contraction result;
  result.reduce = reduce;
  result.first = first;
  result.second = second;
  result.type = sum.type;
  result.role.assign(program.indices.size(), Role::other);
  const auto& a = node(program, first.load).offset.coefficient;
  const auto& b = node(program, second.load).offset.coefficient;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    const bool over = std::find(sum.over.begin(), sum.over.end(), static_cast<int>(q)) != sum.over.end();
    const bool in_a = a[q] != 0, in_b = b[q] != 0;
    result.role[q] = over           ? (in_a && in_b ? Role::depth : Role::summed)
                     : in_a && in_b ? Role::batch
                     : in_a         ? Role::rows
                     : in_b         ? Role::columns
                                    : Role::other;
  }
  return result;
}

/// A product of two loads, among what `reduce` sums, which may be that product itself.
std::optional<Contraction> product_of(const ir::Program& program, NodeId reduce, NodeId id) {
  const auto& product = node(program, id);
  if (product.kind != NodeKind::op || product.op != OpCode::mul) return std::nullopt;
  const auto first = factor_of(program, product.operand[0]), second = factor_of(program, product.operand[1]);
  if (!first || !second) return std::nullopt;

  return with_roles(program, reduce, *first, *second);
}

/// What a reduction combines as an expression of two loads.
class PairTerm {
 public:
  PairTerm(const ir::Program& program, DType type) : program_(program), type_(type) {}

  /// False where it is no such expression of real numbers: of other loads, types, indices or reductions.
  bool find(NodeId id) {
    if (std::find(seen_.begin(), seen_.end(), id) != seen_.end()) return true;
    seen_.push_back(id);
    const auto& n = node(program_, id);
    if (const auto factor = n.type == type_ ? factor_of(program_, id) : std::nullopt)
      return !factor->conj && !factor->rounded && add(*factor);
    if (n.kind == NodeKind::constant || n.kind == NodeKind::param) return n.type == type_;
    if (n.kind != NodeKind::op || n.type != type_ || n.op == OpCode::cast) return false;
    for (int k = 0; k < ir::operand_count(n); ++k) {
      if (!find(n.operand[k])) return false;
    }
    // As a value of a kernel what is used twice stands twice.
    std::size_t size = 1;
    for (int k = 0; k < ir::operand_count(n); ++k) size += size_of(n.operand[k]);
    operations_.emplace_back(id, size);
    return size <= kMost;
  }
  const std::vector<Factor>& factors() const { return factors_; }
  std::vector<NodeId> operations() const {
    std::vector<NodeId> list;
    for (const auto& [id, size] : operations_) list.push_back(id);
    return list;
  }

  /// What it is of two zeros; nothing where a parameter or a function is in it.
  std::optional<double> of_zeros(NodeId id) const {
    const bool loaded =
        std::any_of(factors_.begin(), factors_.end(), [id](const Factor& factor) { return factor.value == id; });
    if (loaded) return 0;
    const auto& n = node(program_, id);
    if (n.kind == NodeKind::constant) return n.value.real();
    if (n.kind != NodeKind::op) return std::nullopt;
    double of[2] = {};
    for (int k = 0; k < std::min(ir::operand_count(n), 2); ++k) {
      const auto operand = of_zeros(n.operand[k]);
      if (!operand) return std::nullopt;
      of[k] = *operand;
    }
    switch (n.op) {
      case OpCode::add:
        return of[0] + of[1];
      case OpCode::sub:
        return of[0] - of[1];
      case OpCode::mul:
        return of[0] * of[1];
      case OpCode::neg:
        return -of[0];
      case OpCode::absolute:
        return std::abs(of[0]);
      case OpCode::sqrt:
        return std::sqrt(of[0]);
      case OpCode::minimum:
        return std::min(of[0], of[1]);
      case OpCode::maximum:
        return std::max(of[0], of[1]);
      default:
        return std::nullopt;
    }
  }

 private:
  bool add(const Factor& factor) {
    const auto& load = node(program_, factor.load);
    for (const auto& known : factors_) {
      const auto& other = node(program_, known.load);
      if (other.source == load.source && other.offset == load.offset) return known.value == factor.value;
    }
    if (factors_.size() == 2) return false;
    factors_.push_back(factor);
    return true;
  }
  std::size_t size_of(NodeId id) const {
    const auto known =
        std::find_if(operations_.begin(), operations_.end(), [&](const auto& o) { return o.first == id; });
    return known == operations_.end() ? 1 : known->second;
  }

  static constexpr std::size_t kMost = 64;  ///< nodes of the term as a tree
  const ir::Program& program_;
  DType type_;
  std::vector<NodeId> seen_;
  std::vector<Factor> factors_;
  std::vector<std::pair<NodeId, std::size_t>> operations_;  ///< operands first, each with the nodes of its tree
};

/// Any reduction of terms of two loads.
std::optional<Contraction> combination_of(const ir::Program& program, NodeId reduce) {
  const auto& top = node(program, reduce);
  const bool known = top.op == OpCode::add || top.op == OpCode::minimum || top.op == OpCode::maximum;
  if (!known || (top.type != DType::f32 && top.type != DType::f64)) return std::nullopt;
  PairTerm term(program, top.type);
  if (!term.find(top.operand[0]) || term.factors().size() != 2) return std::nullopt;
  auto result = with_roles(program, reduce, term.factors()[0], term.factors()[1]);
  for (const auto role : {Role::rows, Role::columns, Role::depth}) {
    if (result.indices(role).empty()) return std::nullopt;
  }
  if (!result.indices(Role::summed).empty()) return std::nullopt;
  result.term = top.operand[0];
  result.combine = top.op;
  result.keeps_zeros = top.op == OpCode::add && term.of_zeros(result.term) == 0.0;
  return result;
}

/// The only product of two loads of which each has an index that the other one has not.
std::optional<Contraction> outer_product_of(const ir::Program& program) {
  std::optional<Contraction> result;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto id = static_cast<NodeId>(k);
    auto product = product_of(program, id, id);
    if (!product || product->indices(Role::rows).empty() || product->indices(Role::columns).empty()) continue;
    if (result) return std::nullopt;
    result = std::move(product);
  }
  return result;
}

/// Sums and differences as lists of their terms, as far as these are few: a node may be a term many times over.
class Terms {
 public:
  explicit Terms(const ir::Program& program) : program_(program) {}

  /// f(negative, term) for each term; false where there are too many.
  template <class F>
  bool each(NodeId id, bool negative, const F& f) {
    if (--room_ < 0) return false;
    const auto& n = node(program_, id);
    const bool chains = n.kind == NodeKind::op && (n.op == OpCode::add || n.op == OpCode::sub || n.op == OpCode::neg);
    if (!chains) return f(negative, id), true;
    return each(n.operand[0], negative != (n.op == OpCode::neg), f) &&
           (n.op == OpCode::neg || each(n.operand[1], negative != (n.op == OpCode::sub), f));
  }

 private:
  const ir::Program& program_;
  int room_ = 1000;  // nodes
};

/// Per node: whether it is made of loads, numbers and operations alone.
std::vector<bool> elementwise(const ir::Program& program) {
  std::vector<bool> is(program.nodes.size());
  for (std::size_t k = 0; k < is.size(); ++k) {  // operands come first
    const auto& n = program.nodes[k];
    is[k] = n.kind != NodeKind::reduce && n.kind != NodeKind::guard && n.kind != NodeKind::scan &&
            n.kind != NodeKind::compact;
    for (int j = 0; j < ir::operand_count(n); ++j) is[k] = is[k] && is[static_cast<std::size_t>(n.operand[j])];
  }
  return is;
}

}  // namespace

std::vector<int> Contraction::indices(Role which) const {
  std::vector<int> list;
  for (std::size_t q = 0; q < role.size(); ++q) {
    if (role[q] == which) list.push_back(static_cast<int>(q));
  }
  return list;
}

std::int64_t Contraction::extent(const ir::Program& program, Role which) const {
  std::int64_t product = 1;
  for (const auto q : indices(which)) product *= program.indices[static_cast<std::size_t>(q)].extent;
  return product;
}

std::optional<Contraction> contraction_of(const ir::Program& program, NodeId reduce) {
  const auto& top = node(program, reduce);
  if (!is_free(program, top)) return std::nullopt;
  auto product = top.op == OpCode::add ? product_of(program, reduce, top.operand[0]) : std::nullopt;
  return product ? product : combination_of(program, reduce);
}

std::optional<Contraction> contraction_of(const ir::Program& program) {
  if (program.statements.size() != 1) return std::nullopt;
  NodeId reduce = -1;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto& n = program.nodes[k];
    if (n.kind == NodeKind::guard || n.kind == NodeKind::scan || n.kind == NodeKind::compact) return std::nullopt;
    if (n.kind != NodeKind::reduce) continue;
    if (reduce >= 0) return std::nullopt;
    reduce = static_cast<NodeId>(k);
  }
  auto result = reduce < 0 ? outer_product_of(program) : contraction_of(program, reduce);
  if (!result) return std::nullopt;
  const auto& out = program.statement().offset.coefficient;
  for (std::size_t q = 0; q < out.size(); ++q) {
    if (result->role[q] == Role::other && out[q] != 0) result->role[q] = Role::broadcast;
  }
  return result;
}

std::optional<Group> group_of(const ir::Program& program) {
  if (program.statements.size() != 1 || program.exact) return std::nullopt;
  const auto& statement = program.statement();
  const auto is_elementwise = elementwise(program);
  Group group;
  Terms terms(program);
  bool fits = true;
  const auto add_product = [&](NodeId reduce, bool negative, NodeId id) {
    auto product = product_of(program, reduce, id);
    fits = fits && product;
    if (!product) return;
    product->negative = negative;
    for (std::size_t q = 0; q < product->role.size(); ++q)
      fits = fits && (product->role[q] != Role::other || statement.offset.coefficient[q] == 0);
    group.products.push_back(std::move(*product));
  };
  const bool few = terms.each(statement.value, false, [&](bool negative, NodeId id) {
    const auto& sum = node(program, id);
    if (is_free_sum(program, sum)) {
      const bool few_products = terms.each(sum.operand[0], negative,
                                           [&](bool subtracted, NodeId term) { add_product(id, subtracted, term); });
      fits = fits && few_products;
    } else {
      fits = fits && is_elementwise[static_cast<std::size_t>(id)];
      group.addends.push_back({negative, id});
    }
  });
  if (!few || !fits || group.products.size() < 2) return std::nullopt;
  return group;
}

namespace {

/// Of a term, each once.
std::vector<OpCode> operations_in(const Contraction& contraction, const ir::Program& program) {
  std::vector<OpCode> list;
  if (contraction.is_product()) return list;
  PairTerm term(program, contraction.type);
  (void)term.find(contraction.term);
  for (const auto id : term.operations()) list.push_back(node(program, id).op);
  return list;
}

}  // namespace

int operations_of(const Contraction& contraction, const ir::Program& program, bool gpu) {
  if (contraction.is_product()) return 1;
  const auto operations = operations_in(contraction, program);
  const auto count = std::count_if(operations.begin(), operations.end(),
                                   [&](OpCode op) { return ir::is_counted(op) && !(gpu && op == OpCode::absolute); });
  const bool fused = contraction.combine == OpCode::add && node(program, contraction.term).op == OpCode::mul;
  return static_cast<int>(count) + (fused ? 0 : 1);
}

bool has_functions(const Contraction& contraction, const ir::Program& program) {
  const auto operations = operations_in(contraction, program);
  return std::any_of(operations.begin(), operations.end(),
                     [](OpCode op) { return ir::is_function(op) && op != OpCode::sqrt && op != OpCode::rsqrt; });
}

bool has_vectors(const Contraction& contraction, const ir::Program& program) {
  const auto operations = operations_in(contraction, program);
  return std::all_of(operations.begin(), operations.end(), [](OpCode op) {
    switch (op) {
      case OpCode::add:
      case OpCode::sub:
      case OpCode::mul:
      case OpCode::div:
      case OpCode::neg:
      case OpCode::sqrt:
      case OpCode::rsqrt:
      case OpCode::absolute:
      case OpCode::minimum:
      case OpCode::maximum:
        return true;
      default:
        return ir::is_function_of_vectors(op);
    }
  });
}

std::string describe(const Contraction& contraction, const ir::Program& program) {
  std::string text;
  const auto role = [&](const char* name, Role which) {
    const auto indices = contraction.indices(which);
    if (indices.empty()) return;
    text += (text.empty() ? "" : ", ") + std::string(name);
    for (const auto q : indices) {
      const auto& index = program.indices[static_cast<std::size_t>(q)];
      text += fmt::format(" {}:{}", index.name, index.extent);
    }
  };
  role("rows", Role::rows);
  role("columns", Role::columns);
  role("depth", Role::depth);
  role("batch", Role::batch);
  role("broadcast", Role::broadcast);
  role("summed of one operand", Role::summed);
  std::string along;
  const auto tensor = [&](int buffer, const ir::Affine& offset) {
    for (std::size_t q = 0; q < offset.coefficient.size(); ++q) {
      if (std::abs(offset.coefficient[q]) != 1) continue;
      along += fmt::format("{} {} along {}", along.empty() ? "; neighbours in" : ", in",
                           program.buffers[static_cast<std::size_t>(buffer)].name, program.indices[q].name);
    }
  };
  for (const auto& factor : {contraction.first, contraction.second}) {
    const auto& load = node(program, factor.load);
    tensor(load.source, load.offset);
  }
  tensor(program.statement().buffer, program.statement().offset);
  return text + along;
}

}  // namespace ricci::kernel
