#include "ir/passes/products_apart.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/passes/product_terms.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// The steps of a statement whose terms are known.
class Steps {
 public:
  Steps(const Sequence& sequence, std::size_t step, const ProductTerms& terms)
      : sequence_(sequence), step_(step), from_(sequence.steps[step]), program_(from_.program), terms_(terms) {}

  Sequence run() {
    make_all();
    replace_step(sequence_, step_, std::move(steps_));
    verify(sequence_);
    return std::move(sequence_);
  }

 private:
  void make_all() {
    const auto& statement = program_.statement();
    for (const auto& one : terms_.partial) make_factors(one.product);
    for (const auto& term : terms_.terms) make_factors(term.product);
    for (const auto& one : terms_.partial) make_partial(one);
    const auto count = terms_.terms.size();
    const auto here = terms_.apart ? count : count - 1;  // products in front of the last step
    Rows sum;
    const bool in_place = here > 0 && adds_in_place();
    if (here > 0 && !in_place)
      sum = add_rows(sequence_, program_, order_of(terms_.free, statement.offset, statement.offset), 0, terms_.type,
                     "sum");
    const auto sum_of = [&](StepPiece& piece) {
      if (!in_place) return piece.load(sequence_, sum, -1);
      return piece.builder.load(piece.buffer(statement.buffer), piece.affine(statement.offset));
    };
    for (std::size_t t = 0; t < here; ++t) {
      StepPiece piece(from_);
      const auto& [weight, product] = terms_.terms[t];
      auto value = product_of(piece, product);
      if (!terms_.scaled_last) value = plus(piece, t == 0 ? -1 : sum_of(piece), weight, value);
      if (t == 0 && in_place && is_whole()) value = with_addends(piece, value);
      if (in_place) {
        piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), value,
                            statement.step);
      } else {
        piece.builder.store(piece.buffer(sequence_, sum.storage, true), piece.row(sum, -1), value);
      }
      steps_.push_back(piece.finish());
    }
    StepPiece rest(from_);
    auto value = here > 0 ? sum_of(rest) : -1;
    if (here < count) {
      value = plus(rest, value, terms_.terms.back().weight, product_of(rest, terms_.terms.back().product));
    } else if (terms_.scaled_last) {
      value = plus(rest, -1, terms_.terms.back().weight, value);
    }
    if (!in_place || !is_whole()) value = with_addends(rest, value);
    rest.replace(terms_.root, value);
    rest.store(statement);
    steps_.push_back(rest.finish());
  }

  const Node& node(NodeId id) const { return program_.nodes[at(id)]; }

  /// Whether the products and what is added to them are all of the statement.
  bool is_whole() const { return terms_.root == program_.statement().value; }

  ResultRead reads(const Nodes& nodes) const {
    auto read = ResultRead::none;
    for (const auto id : nodes) {
      if (!terms_.is_partial(id)) read = std::max(read, terms_.reads_result[at(id)]);
    }
    return read;
  }
  ResultRead reads(const FactoredSum& product) const { return std::max(reads(product.first), reads(product.second)); }

  /// Whether products can be added where the result lies: nothing reads of it but what is added there.
  bool adds_in_place() const {
    const auto& statement = program_.statement();
    if (terms_.apart || program_.buffers[at(statement.buffer)].type != terms_.type) return false;
    for (std::size_t q = 0; q < terms_.free.size(); ++q) {
      if (terms_.free[q] != (statement.offset.coefficient[q] != 0)) return false;
    }
    if (!is_whole()) {
      return std::all_of(terms_.reads_result.begin(), terms_.reads_result.end(),
                         [](ResultRead read) { return read == ResultRead::none; });
    }
    return std::all_of(terms_.terms.begin(), terms_.terms.end(),
                       [&](const ProductTerm& term) {
                         return std::max(reads(term.weight.outside), reads(term.product)) == ResultRead::none;
                       }) &&
           std::all_of(terms_.addends.begin(), terms_.addends.end(), [&](const ProductAddend& addend) {
             return std::max(reads(addend.weight.outside), reads({addend.node})) <= ResultRead::there;
           });
  }

  // ---- what lies in workspace

  /// Indices in the order in which an access goes through memory; slowest of all those that it has not, as another one
  /// goes through it.
  static std::vector<int> order_of(const Indices& which, const Affine& access, const Affine& other) {
    auto has = which, lacks = which;
    for (std::size_t q = 0; q < which.size(); ++q) (access.coefficient[q] != 0 ? lacks : has)[q] = false;
    auto order = by_memory(lacks, other);
    for (const int q : by_memory(has, access)) order.push_back(q);
    return order;
  }

  /// Factors of a product of tiles, each as a tensor.
  void make_factors(const FactoredSum& product) {
    if (!tiles(product)) return;
    for (const auto* side : {&product.first, &product.second}) {
      if (!is_load(from_, terms_, *side) && !made_.contains(*side)) made_[*side] = made(*side);
    }
  }

  bool tiles(const FactoredSum& product) const {
    return reuses(program_, terms_.uses[at(product.first.front())], terms_.uses[at(product.second.front())],
                  product.over);
  }

  Rows made(const Nodes& factors) {
    const auto load = terms_.loads[at(factors.front())];
    const auto order = order_of(terms_.uses[at(factors.front())], node(load).offset, node(load).offset);
    const auto rows = add_rows(sequence_, program_, order, 0, terms_.type, "factor");
    StepPiece piece(from_);
    const auto value = multiplied(piece, factors);
    piece.builder.store(piece.buffer(sequence_, rows.storage, true), piece.row(rows, -1), value);
    steps_.push_back(piece.finish());
    return rows;
  }

  /// A partial product lies as the larger one of what it is multiplied with, and of the result.
  void make_partial(const PartialProduct& one) {
    const auto id = static_cast<NodeId>(program_.nodes.size() + partial_.size());
    const auto& of_result = program_.statement().offset;
    const auto* first = &of_result;
    const auto* second = &of_result;
    if (one.partner >= 0 && terms_.loads[at(one.partner)] >= 0) {
      second = &node(terms_.loads[at(one.partner)]).offset;
      if (elements(program_, terms_.uses[at(one.partner)]) > elements(program_, terms_.free)) std::swap(first, second);
    }
    const auto order = order_of(terms_.uses[at(id)], *first, *second);
    const auto rows = add_rows(sequence_, program_, order, 0, terms_.type, "product");
    StepPiece piece(from_);
    const auto value = product_of(piece, one.product);
    piece.builder.store(piece.buffer(sequence_, rows.storage, true), piece.row(rows, -1), value);
    steps_.push_back(piece.finish());
    partial_.push_back(rows);
  }

  // ---- values in a step

  NodeId value_of(StepPiece& piece, NodeId id, const std::vector<int>& renamed = {}) const {
    if (!terms_.is_partial(id)) return piece.copy(id);
    auto rows = partial_[terms_.number(id)];
    if (!renamed.empty()) {
      const auto stride = rows.stride;
      for (std::size_t q = 0; q < stride.size(); ++q) rows.stride[q] = terms_.free[q] ? stride[at(renamed[q])] : 0;
    }
    return piece.load(sequence_, rows, -1);
  }

  NodeId multiplied(StepPiece& piece, const Nodes& factors) const {
    auto value = value_of(piece, factors.front());
    for (std::size_t k = 1; k < factors.size(); ++k)
      value = piece.builder.op(OpCode::mul, terms_.type, value, value_of(piece, factors[k]));
    return value;
  }

  NodeId product_of(StepPiece& piece, const FactoredSum& product) const {
    auto& builder = piece.builder;
    const auto side = [&](const Nodes& factors) {
      const auto known = made_.find(factors);
      return known == made_.end() ? multiplied(piece, factors) : piece.load(sequence_, known->second, -1);
    };
    const auto first = side(product.first), second = side(product.second);
    const auto value = builder.op(OpCode::mul, terms_.type, first, second);
    if (product.over.empty()) return value;
    std::vector<int> over;
    for (const int q : product.over) over.push_back(piece.whole(q));
    std::sort(over.begin(), over.end());
    return builder.reduce(OpCode::add, value, std::move(over));
  }

  /// The value before (-1: none) and a weighted one.
  NodeId plus(StepPiece& piece, NodeId before, const TermWeight& weight, NodeId value) const {
    auto& builder = piece.builder;
    if (weight.multiple) {
      value = builder.op(OpCode::mul, terms_.type, builder.constant(*weight.multiple, terms_.type), value);
    } else {
      for (const auto id : weight.outside) value = builder.op(OpCode::mul, terms_.type, piece.copy(id), value);
    }
    const bool negative = weight.negative && !weight.multiple;
    if (before >= 0) return builder.op(negative ? OpCode::sub : OpCode::add, terms_.type, before, value);
    return negative ? builder.op(OpCode::neg, terms_.type, value) : value;
  }

  NodeId with_addends(StepPiece& piece, NodeId value) const {
    for (const auto& [weight, node, renamed] : terms_.addends)
      value = plus(piece, value, weight, value_of(piece, node, renamed));
    return value;
  }

  Sequence sequence_;
  std::size_t step_;
  const Step& from_;  // of what `sequence_` is a copy of
  const Program& program_;
  const ProductTerms& terms_;
  std::map<Nodes, Rows> made_;
  std::vector<Rows> partial_;  // per partial product that is made
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Sequence> products_apart(const Sequence& sequence, std::size_t step) {
  std::vector<Sequence> ways;
  const auto terms = product_terms(sequence.steps[step]);
  if (!terms) return ways;
  if (terms->changed || terms->apart) ways.push_back(Steps(sequence, step, *terms).run());
  if (const auto once = shared(sequence.steps[step], *terms)) ways.push_back(Steps(sequence, step, *once).run());
  return ways;
}

}  // namespace ricci::ir
