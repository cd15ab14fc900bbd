#include "ir/passes/products_apart.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

using Nodes = std::vector<NodeId>;
using Indices = std::vector<bool>;  // per index of the program, whether it is meant

/// outside * sum(over : first * second); both sides are products of what is listed.
struct Term {
  bool negative = false;
  Nodes outside, first, second;
  std::vector<int> over;
  std::optional<Scalar> multiple = {};  ///< in place of what is outside, and of the sign
};

/// Whether what is computed depends on the tensor that the statement writes: in the place that is written, or others.
enum class ResultRead : std::uint8_t { none, there, elsewhere };

class ProductsApart {
 public:
  explicit ProductsApart(const Sequence& sequence, std::size_t step)
      : sequence_(sequence), from_(sequence.steps[step]), program_(from_.program) {}

  /// The steps, and their storages in `sequence`.
  std::vector<Step> run() {
    if (!find() || !(changed_ || apart_)) return {};
    const auto& statement = program_.statement();
    for (const auto& term : terms_) {
      for (const auto* side : {&term.first, &term.second}) {
        if (!is_load(*side) && !made_.contains(*side)) made_[*side] = product_of(*side);
      }
    }
    const auto here = apart_ ? terms_.size() : terms_.size() - 1;  // products in front of the last step
    Rows sum;
    const bool in_place = here > 0 && adds_in_place();
    if (here > 0 && !in_place) sum = add_rows(sequence_, program_, order_of(free_, statement.offset), 0, type_, "sum");
    const auto sum_of = [&](StepPiece& piece) {
      if (!in_place) return piece.load(sequence_, sum, -1);
      return piece.builder.load(piece.buffer(statement.buffer), piece.affine(statement.offset));
    };
    for (std::size_t t = 0; t < here; ++t) {
      StepPiece piece(from_);
      auto value = plus(piece, t == 0 ? -1 : sum_of(piece), terms_[t], !scaled_last_);
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
    if (!apart_) {
      value = plus(rest, value, terms_.back(), true);
    } else if (scaled_last_) {
      value = times(rest, terms_.back().outside, value);
      if (terms_.back().negative) value = rest.builder.op(OpCode::neg, type_, value);
    }
    if (!in_place || !is_whole()) value = with_addends(rest, value);
    rest.replace(root_, value);
    const auto stored = rest.copy(statement.value);
    rest.builder.store(rest.buffer(statement.buffer, true), rest.affine(statement.offset), stored, statement.step);
    steps_.push_back(rest.finish());
    return std::move(steps_);
  }

  Sequence& sequence() { return sequence_; }

 private:
  /// What is added to the products, without a sum.
  struct Addend {
    bool negative = false;
    NodeId node = -1;
    Nodes outside;
  };

  const Node& node(NodeId id) const { return program_.nodes[at(id)]; }
  std::int64_t extent(std::size_t q) const { return program_.indices[q].extent; }

  // ---- what the statement is

  bool find() {
    if (program_.statements.size() != 1 || program_.exact || program_.points() == 0) return false;
    for (const auto& n : program_.nodes) {
      if (n.kind == NodeKind::guard || n.kind == NodeKind::scan || n.kind == NodeKind::compact) return false;
      note(n);
    }
    root_ = program_.statement().value;
    if (!sums_[at(root_)]) return false;
    while (node(root_).kind != NodeKind::reduce) {
      const auto& n = node(root_);
      Nodes with;
      for (int k = 0; k < operand_count(n); ++k) {
        if (sums_[at(n.operand[k])]) with.push_back(n.operand[k]);
      }
      const bool adds = n.op == OpCode::add || n.op == OpCode::sub;
      if (adds && with.size() > 1 && with.front() != with.back()) break;
      if (adds && (is_result(node(n.operand[0])) || is_result(node(n.operand[1])))) break;
      if (!std::all_of(with.begin(), with.end(), [&](NodeId id) { return id == with.front(); })) return false;
      root_ = with.front();
    }
    type_ = node(root_).type;
    return add_terms(root_, false, {}) && !terms_.empty() && fits();
  }

  void note(const Node& n) {
    Indices uses(program_.indices.size());
    bool sum = n.kind == NodeKind::reduce;
    auto reads = ResultRead::none;
    if (n.kind == NodeKind::load && writes_to(n.source))
      reads = is_result(n) ? ResultRead::there : ResultRead::elsewhere;
    auto load = n.kind == NodeKind::load ? static_cast<NodeId>(uses_.size()) : -1;
    if (n.kind == NodeKind::index) uses[at(n.source)] = true;
    for (std::size_t q = 0; n.kind == NodeKind::load && q < uses.size(); ++q) uses[q] = n.offset.coefficient[q] != 0;
    for (int k = 0; k < operand_count(n); ++k) {
      const auto& of = uses_[at(n.operand[k])];
      for (std::size_t q = 0; q < uses.size(); ++q) uses[q] = uses[q] || of[q];
      sum = sum || sums_[at(n.operand[k])];
      reads = std::max(reads, reads_result_[at(n.operand[k])]);
      const auto other = loads_[at(n.operand[k])];
      if (load < 0 || (other >= 0 && elements(uses_[at(other)]) > elements(uses_[at(load)]))) load = other;
    }
    if (n.kind == NodeKind::reduce) {
      for (const int q : n.over) uses[at(q)] = false;
    }
    uses_.push_back(std::move(uses));
    sums_.push_back(sum);
    reads_result_.push_back(reads);
    loads_.push_back(load);
  }

  bool writes_to(int buffer) const {
    return from_.storage[at(buffer)] == from_.storage[at(program_.statement().buffer)];
  }
  /// What was in the place that the statement writes.
  bool is_result(const Node& n) const {
    return n.kind == NodeKind::load && writes_to(n.source) && n.offset == program_.statement().offset;
  }
  /// Whether the products and what is added to them are all of the statement.
  bool is_whole() const { return root_ == program_.statement().value; }

  /// Whether products can be added where the result lies: nothing reads of it but what is added there.
  bool adds_in_place() const {
    const auto& statement = program_.statement();
    if (apart_ || program_.buffers[at(statement.buffer)].type != type_) return false;
    for (std::size_t q = 0; q < free_.size(); ++q) {
      if (free_[q] != (statement.offset.coefficient[q] != 0)) return false;
    }
    const auto most = [&](const Nodes& nodes) {
      auto read = ResultRead::none;
      for (const auto id : nodes) read = std::max(read, reads_result_[at(id)]);
      return read;
    };
    if (!is_whole())
      return std::all_of(reads_result_.begin(), reads_result_.end(),
                         [](ResultRead read) { return read == ResultRead::none; });
    return std::all_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) {
                         return std::max({most(term.outside), most(term.first), most(term.second)}) == ResultRead::none;
                       }) &&
           std::all_of(addends_.begin(), addends_.end(), [&](const Addend& addend) {
             return std::max(most(addend.outside), reads_result_[at(addend.node)]) <= ResultRead::there;
           });
  }

  /// Sums, differences and multiples as lists of what is added.
  bool add_terms(NodeId id, bool negative, const Nodes& outside) {
    const auto& n = node(id);
    if (--room_ < 0) return false;
    if (!sums_[at(id)]) return addends_.push_back({negative, id, outside}), true;
    if (n.kind == NodeKind::reduce) {
      if (n.op != OpCode::add || n.over.empty() || sums_[at(n.operand[0])]) return false;
      return add_products(n, n.operand[0], negative, outside);
    }
    switch (n.op) {
      case OpCode::neg:
        return add_terms(n.operand[0], !negative, outside);
      case OpCode::add:
      case OpCode::sub:
        return add_terms(n.operand[0], negative, outside) &&
               add_terms(n.operand[1], negative != (n.op == OpCode::sub), outside);
      case OpCode::mul: {
        const bool first = sums_[at(n.operand[0])];
        if (first == sums_[at(n.operand[1])]) return false;
        auto more = outside;
        more.push_back(n.operand[first ? 1 : 0]);
        return add_terms(n.operand[first ? 0 : 1], negative, more);
      }
      default:
        return false;
    }
  }

  bool add_products(const Node& sum, NodeId id, bool negative, const Nodes& outside) {
    constexpr std::size_t kMostTerms = 64;
    const auto& n = node(id);
    if (--room_ < 0) return false;
    if (n.kind == NodeKind::op && n.op == OpCode::neg) return add_products(sum, n.operand[0], !negative, outside);
    if (n.kind == NodeKind::op && (n.op == OpCode::add || n.op == OpCode::sub)) {
      return add_products(sum, n.operand[0], negative, outside) &&
             add_products(sum, n.operand[1], negative != (n.op == OpCode::sub), outside);
    }
    Term term{negative, outside, {}, {}, sum.over};
    Nodes inside;
    if (!add_factors(id, sum.over, term, inside)) return false;
    changed_ = changed_ || term.outside.size() > outside.size() || !terms_.empty();
    if (terms_.size() == kMostTerms || !choose_sides(inside, term)) return false;
    if (!is_merged(term)) terms_.push_back(std::move(term));
    return true;
  }

  /// Whether a product was there before, with another number in front of it: both are one.
  bool is_merged(const Term& term) {
    const auto multiple = multiple_of(term);
    for (auto& other : terms_) {
      if (other.first != term.first || other.second != term.second || other.over != term.over) continue;
      const auto before = multiple_of(other);
      if (!multiple || !before) continue;
      other.multiple = *before + *multiple;
      return true;
    }
    return false;
  }

  /// The number that a product is multiplied by, where it is one.
  std::optional<Scalar> multiple_of(const Term& term) const {
    if (term.multiple) return term.multiple;
    Scalar number = term.negative ? -1 : 1;
    for (const auto id : term.outside) {
      if (node(id).kind != NodeKind::constant || is_integer(node(id).type)) return std::nullopt;
      number = number * node(id).value;
    }
    return number;
  }

  bool add_factors(NodeId id, const std::vector<int>& over, Term& term, Nodes& inside) {
    const auto& n = node(id);
    if (--room_ < 0) return false;
    const bool op = n.kind == NodeKind::op;
    if (op && (n.op == OpCode::mul || n.op == OpCode::neg)) {
      if (n.op == OpCode::neg) term.negative = !term.negative;
      return add_factors(n.operand[0], over, term, inside) &&
             (n.op == OpCode::neg || add_factors(n.operand[1], over, term, inside));
    }
    const bool summed = std::any_of(over.begin(), over.end(), [&](int q) { return uses_[at(id)][at(q)]; });
    (summed ? inside : term.outside).push_back(id);
    return true;
  }

  double elements(const Indices& of) const {
    double count = 1;
    for (std::size_t q = 0; q < of.size(); ++q) count *= of[q] ? static_cast<double>(extent(q)) : 1;
    return count;
  }

  /// Two factors that have all indices of the others between them: the two with the most elements.
  bool choose_sides(const Nodes& inside, Term& term) {
    const auto within = [](const Indices& few, const Indices& many) {
      for (std::size_t q = 0; q < few.size(); ++q) {
        if (few[q] && !many[q]) return false;
      }
      return true;
    };
    double most = 0;
    for (std::size_t x = 0; x < inside.size(); ++x) {
      for (std::size_t y = x + 1; y < inside.size(); ++y) {
        const auto &of_x = uses_[at(inside[x])], &of_y = uses_[at(inside[y])];
        const auto size = elements(of_x) * elements(of_y);
        if (size <= most || !reuses(of_x, of_y, term.over)) continue;
        if (loads_[at(inside[x])] < 0 || loads_[at(inside[y])] < 0) continue;
        const bool all = std::all_of(inside.begin(), inside.end(), [&](NodeId id) {
          return within(uses_[at(id)], of_x) || within(uses_[at(id)], of_y);
        });
        if (!all) continue;
        most = size;
        term.first = {inside[x]};
        term.second = {inside[y]};
      }
    }
    if (most == 0) return false;
    const auto x = term.first.front(), y = term.second.front();
    const bool smaller_x = elements(uses_[at(x)]) <= elements(uses_[at(y)]);
    bool passed_x = false, passed_y = false;
    for (const auto id : inside) {
      if (id == x && !std::exchange(passed_x, true)) continue;
      if (id == y && !std::exchange(passed_y, true)) continue;
      const bool in_x = within(uses_[at(id)], uses_[at(x)]), in_y = within(uses_[at(id)], uses_[at(y)]);
      (in_x && (smaller_x || !in_y) ? term.first : term.second).push_back(id);
    }
    changed_ = changed_ || !is_load(term.first) || !is_load(term.second);
    return true;
  }

  /// Whether all summed indices are of both factors, and rows, columns and depth have enough values.
  bool reuses(const Indices& first, const Indices& second, const std::vector<int>& over) const {
    std::int64_t rows = 1, columns = 1, depth = 1;
    for (const int q : over) {
      if (!first[at(q)] || !second[at(q)]) return false;
      depth *= extent(at(q));
    }
    for (std::size_t q = 0; q < first.size(); ++q) {
      if (first[q] && !second[q]) rows *= extent(q);
      if (second[q] && !first[q]) columns *= extent(q);
    }
    return std::min({rows, columns, depth}) >= kLeastOfRole;
  }

  /// A tensor, perhaps converted and conjugated.
  bool is_load(const Nodes& factors) const {
    if (factors.size() != 1) return false;
    bool converted = false;
    for (auto id = factors.front();;) {
      const auto& n = node(id);
      if (n.kind == NodeKind::load) return true;
      if (n.kind != NodeKind::op || (n.op != OpCode::conj && n.op != OpCode::cast)) return false;
      // A real number as a complex one of its own precision is converted no further.
      const bool whole = n.op == OpCode::cast && part_type(n.type) == node(n.operand[0]).type;
      if (n.op == OpCode::cast && !whole && std::exchange(converted, true)) return false;
      id = n.operand[0];
    }
  }

  bool is_number(NodeId id) const { return node(id).kind == NodeKind::param || node(id).kind == NodeKind::constant; }

  /// Whether all products are over the same results, and what is done with them can follow. Says what is apart.
  bool fits() {
    const auto free_of = [&](const Term& term) {
      Indices free(program_.indices.size());
      for (const auto id : {term.first.front(), term.second.front()}) {
        for (std::size_t q = 0; q < free.size(); ++q) free[q] = free[q] || uses_[at(id)][q];
      }
      for (const int q : term.over) free[at(q)] = false;
      return free;
    };
    free_ = free_of(terms_.front());
    bool numbers = true;
    for (const auto& term : terms_) {
      if (free_of(term) != free_) return false;
      for (const auto id : term.outside) {
        numbers = numbers && is_number(id);
        for (std::size_t q = 0; q < free_.size(); ++q) {
          if (terms_.size() > 1 && uses_[at(id)][q] && !free_[q]) return false;
        }
      }
    }
    const auto& to = program_.statement().offset.coefficient;
    bool neighbours = false;
    for (std::size_t q = 0; q < to.size(); ++q) {
      if (to[q] < 0) apart_ = true;
      neighbours = neighbours || (free_[q] && to[q] == 1 && extent(q) > 1);
    }
    if (is_complex(type_)) {
      apart_ = apart_ || !neighbours || !holds_pairs() || !numbers;
      if (!numbers && terms_.size() > 1) return false;
    }
    scaled_last_ = apart_ && !numbers && terms_.size() == 1;
    return true;
  }

  /// Whether vectors of complex numbers hold the value: the products are added to what lies as the result does.
  bool holds_pairs() const {
    const auto& statement = program_.statement();
    const auto lies_alike = [&](NodeId id) {
      return node(id).kind == NodeKind::load && node(id).type == type_ &&
             node(id).offset.coefficient == statement.offset.coefficient;
    };
    const auto& top = node(statement.value);
    const bool adds = top.kind == NodeKind::op && top.op == OpCode::add &&
                      ((top.operand[0] == root_ && lies_alike(top.operand[1])) ||
                       (top.operand[1] == root_ && lies_alike(top.operand[0])));
    return (statement.value == root_ || adds) && program_.buffers[at(statement.buffer)].type == type_ &&
           std::all_of(addends_.begin(), addends_.end(), [&](const Addend& addend) {
             return lies_alike(addend.node) &&
                    std::all_of(addend.outside.begin(), addend.outside.end(), [&](NodeId id) { return is_number(id); });
           });
  }

  // ---- the steps

  /// Indices in the order in which an access goes through memory, slowest first.
  std::vector<int> order_of(const Indices& which, const Affine& access) const {
    std::vector<int> order;
    for (std::size_t q = 0; q < which.size(); ++q) {
      if (which[q]) order.push_back(static_cast<int>(q));
    }
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
      return std::abs(access.coefficient[at(x)]) > std::abs(access.coefficient[at(y)]);
    });
    return order;
  }

  Rows product_of(const Nodes& factors) {
    const auto load = loads_[at(factors.front())];
    const auto order = order_of(uses_[at(factors.front())], node(load).offset);
    const auto rows = add_rows(sequence_, program_, order, 0, type_, "factor");
    StepPiece piece(from_);
    auto value = piece.copy(factors.front());
    for (std::size_t k = 1; k < factors.size(); ++k)
      value = piece.builder.op(OpCode::mul, type_, value, piece.copy(factors[k]));
    piece.builder.store(piece.buffer(sequence_, rows.storage, true), piece.row(rows, -1), value);
    steps_.push_back(piece.finish());
    return rows;
  }

  NodeId times(StepPiece& piece, const Nodes& factors, NodeId value) const {
    for (const auto id : factors) value = piece.builder.op(OpCode::mul, type_, piece.copy(id), value);
    return value;
  }

  NodeId with_addends(StepPiece& piece, NodeId value) const {
    for (const auto& [negative, node, outside] : addends_) {
      const auto addend = times(piece, outside, piece.copy(node));
      value = piece.builder.op(negative ? OpCode::sub : OpCode::add, type_, value, addend);
    }
    return value;
  }

  /// The value before (-1: none) and a product.
  NodeId plus(StepPiece& piece, NodeId before, const Term& term, bool scaled) {
    auto& builder = piece.builder;
    const auto side = [&](const Nodes& factors) {
      return is_load(factors) ? piece.copy(factors.front()) : piece.load(sequence_, made_.at(factors), -1);
    };
    const auto first = side(term.first), second = side(term.second);
    std::vector<int> over;
    for (const int q : term.over) over.push_back(piece.whole(q));
    std::sort(over.begin(), over.end());
    auto value = builder.reduce(OpCode::add, builder.op(OpCode::mul, type_, first, second), std::move(over));
    if (!scaled) return value;
    const bool negative = term.negative && !term.multiple;
    value = term.multiple ? builder.op(OpCode::mul, type_, builder.constant(*term.multiple, type_), value)
                          : times(piece, term.outside, value);
    if (before >= 0) return builder.op(negative ? OpCode::sub : OpCode::add, type_, before, value);
    return negative ? builder.op(OpCode::neg, type_, value) : value;
  }

  Sequence sequence_;
  const Step& from_;
  const Program& program_;
  std::vector<Indices> uses_;             // per node
  std::vector<bool> sums_;                // per node, whether it is made of sums
  std::vector<ResultRead> reads_result_;  // per node
  Nodes loads_;                           // per node, the largest that it is made of; -1: none
  int room_ = 1000;                       // nodes to look at: one may be a term many times over
  NodeId root_ = -1;                      // of all terms
  DType type_ = DType::f64;
  std::vector<Term> terms_;
  std::vector<Addend> addends_;
  Indices free_;  // of the products
  bool changed_ = false, apart_ = false;
  bool scaled_last_ = false;  // the only product, by what is no number
  std::map<Nodes, Rows> made_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<Sequence> products_apart(const Sequence& sequence, std::size_t step) {
  ProductsApart apart(sequence, step);
  auto steps = apart.run();
  if (steps.empty()) return std::nullopt;
  auto made = std::move(apart.sequence());
  const auto place = made.steps.begin() + static_cast<std::ptrdiff_t>(step);
  made.steps.insert(made.steps.erase(place), std::make_move_iterator(steps.begin()),
                    std::make_move_iterator(steps.end()));
  verify(made);
  return made;
}

}  // namespace ricci::ir
