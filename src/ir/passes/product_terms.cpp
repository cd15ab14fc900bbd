#include "ir/passes/product_terms.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "ir/passes/products_apart.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

class Finder {
 public:
  explicit Finder(const Step& step) : from_(step), program_(step.program) {}

  std::optional<ProductTerms> run() {
    if (program_.statements.size() != 1 || program_.exact || program_.points() == 0) return std::nullopt;
    for (const auto& n : program_.nodes) {
      if (n.kind == NodeKind::guard || n.kind == NodeKind::scan || n.kind == NodeKind::compact) return std::nullopt;
    }
    found_.uses = index_uses(program_);
    for (const auto& n : program_.nodes) note(n);
    auto& root = found_.root;
    root = program_.statement().value;
    if (!sums_[at(root)]) return std::nullopt;
    while (node(root).kind != NodeKind::reduce) {
      const auto& n = node(root);
      Nodes with;
      for (int k = 0; k < operand_count(n); ++k) {
        if (sums_[at(n.operand[k])]) with.push_back(n.operand[k]);
      }
      const bool adds = n.op == OpCode::add || n.op == OpCode::sub;
      if (adds && with.size() > 1 && with.front() != with.back()) break;
      if (adds && (is_result(node(n.operand[0])) || is_result(node(n.operand[1])))) break;
      if (!std::all_of(with.begin(), with.end(), [&](NodeId id) { return id == with.front(); })) return std::nullopt;
      root = with.front();
    }
    found_.type = node(root).type;
    if (!add_terms(root, false, {}) || found_.terms.empty() || !fits()) return std::nullopt;
    return std::move(found_);
  }

 private:
  const Node& node(NodeId id) const { return program_.nodes[at(id)]; }
  double elements(const Indices& of) const { return ir::elements(program_, of); }

  void note(const Node& n) {
    bool sum = n.kind == NodeKind::reduce;
    auto reads = ResultRead::none;
    if (n.kind == NodeKind::load && writes_to(n.source))
      reads = is_result(n) ? ResultRead::there : ResultRead::elsewhere;
    auto load = n.kind == NodeKind::load ? static_cast<NodeId>(found_.loads.size()) : -1;
    for (int k = 0; k < operand_count(n); ++k) {
      const auto operand = at(n.operand[k]);
      sum = sum || sums_[operand];
      reads = std::max(reads, found_.reads_result[operand]);
      load = larger_load(load, found_.loads[operand]);
    }
    sums_.push_back(sum);
    found_.reads_result.push_back(reads);
    found_.loads.push_back(load);
  }

  NodeId larger_load(NodeId x, NodeId y) const {
    if (x < 0 || y < 0) return std::max(x, y);
    return elements(found_.uses[at(y)]) > elements(found_.uses[at(x)]) ? y : x;
  }

  bool writes_to(int buffer) const {
    return from_.storage[at(buffer)] == from_.storage[at(program_.statement().buffer)];
  }
  /// What was in the place that the statement writes.
  bool is_result(const Node& n) const {
    return n.kind == NodeKind::load && writes_to(n.source) && n.offset == program_.statement().offset;
  }

  /// Sums, differences and multiples as lists of what is added.
  bool add_terms(NodeId id, bool negative, const Nodes& outside) {
    const auto& n = node(id);
    if (--room_ < 0) return false;
    if (!sums_[at(id)]) return found_.addends.push_back({{negative, outside}, id}), true;
    if (n.kind == NodeKind::reduce) {
      if (n.op != OpCode::add || n.over.empty()) return false;
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
    auto& terms = found_.terms;
    ProductTerm term{{negative, outside}, {{}, {}, sum.over}};
    Nodes inside;
    if (!add_factors(id, term, inside)) return false;
    found_.changed = found_.changed || term.weight.outside.size() > outside.size() || !terms.empty();
    if (terms.size() == kMostTerms) return false;
    if (!choose_sides(inside, term.product) && !multiply_pairs(inside, term.product)) return false;
    if (!is_merged(term)) terms.push_back(std::move(term));
    return true;
  }

  /// Whether a product was there before, with another number in front of it: both are one.
  bool is_merged(const ProductTerm& term) {
    const auto multiple = multiple_of(term.weight);
    for (auto& other : found_.terms) {
      if (other.product.first != term.product.first || other.product.second != term.product.second ||
          other.product.over != term.product.over)
        continue;
      const auto before = multiple_of(other.weight);
      if (!multiple || !before) continue;
      other.weight.multiple = *before + *multiple;
      return true;
    }
    return false;
  }

  /// The number that a product is multiplied by, where it is one.
  std::optional<Scalar> multiple_of(const TermWeight& weight) const {
    if (weight.multiple) return weight.multiple;
    Scalar number = weight.negative ? -1 : 1;
    for (const auto id : weight.outside) {
      if (node(id).kind != NodeKind::constant || is_integer(node(id).type)) return std::nullopt;
      number = number * node(id).value;
    }
    return number;
  }

  /// Factors of a product; those of a sum among them, too, as all are summed in the end.
  bool add_factors(NodeId id, ProductTerm& term, Nodes& inside) {
    const auto& n = node(id);
    auto& over = term.product.over;
    if (--room_ < 0) return false;
    const bool op = n.kind == NodeKind::op;
    if (op && (n.op == OpCode::mul || n.op == OpCode::neg)) {
      if (n.op == OpCode::neg) term.weight.negative = !term.weight.negative;
      return add_factors(n.operand[0], term, inside) &&
             (n.op == OpCode::neg || add_factors(n.operand[1], term, inside));
    }
    if (n.kind == NodeKind::reduce && n.op == OpCode::add) {
      const auto is_known = [&](int q) { return std::find(over.begin(), over.end(), q) != over.end(); };
      if (std::any_of(n.over.begin(), n.over.end(), is_known)) return false;
      over.insert(over.end(), n.over.begin(), n.over.end());
      return add_factors(n.operand[0], term, inside);
    }
    if (sums_[at(id)]) return false;
    const bool summed = std::any_of(over.begin(), over.end(), [&](int q) { return found_.uses[at(id)][at(q)]; });
    (summed ? inside : term.weight.outside).push_back(id);
    return true;
  }

  /// Two factors that have all indices of the others between them: the two with the most elements.
  bool choose_sides(const Nodes& inside, FactoredSum& product) {
    const auto& uses = found_.uses;
    double most = 0;
    for (std::size_t x = 0; x < inside.size(); ++x) {
      for (std::size_t y = x + 1; y < inside.size(); ++y) {
        const auto &of_x = uses[at(inside[x])], &of_y = uses[at(inside[y])];
        const auto size = elements(of_x) * elements(of_y);
        if (size <= most || !reuses(program_, of_x, of_y, product.over)) continue;
        if (found_.loads[at(inside[x])] < 0 || found_.loads[at(inside[y])] < 0) continue;
        const bool all = std::all_of(inside.begin(), inside.end(), [&](NodeId id) {
          return within(uses[at(id)], of_x) || within(uses[at(id)], of_y);
        });
        if (!all) continue;
        most = size;
        product.first = {inside[x]};
        product.second = {inside[y]};
      }
    }
    if (most == 0) return false;
    const auto x = product.first.front(), y = product.second.front();
    const bool smaller_x = elements(uses[at(x)]) <= elements(uses[at(y)]);
    bool passed_x = false, passed_y = false;
    for (const auto id : inside) {
      if (id == x && !std::exchange(passed_x, true)) continue;
      if (id == y && !std::exchange(passed_y, true)) continue;
      const bool in_x = within(uses[at(id)], uses[at(x)]), in_y = within(uses[at(id)], uses[at(y)]);
      (in_x && (smaller_x || !in_y) ? product.first : product.second).push_back(id);
    }
    found_.changed =
        found_.changed || !is_load(from_, found_, product.first) || !is_load(from_, found_, product.second);
    return true;
  }

  // ---- products of factors of which no two have all indices

  /// Two factors of a list, the second one further on.
  struct Pair {
    std::size_t first, second;
  };
  struct Way {
    double time = std::numeric_limits<double>::infinity();
    bool multiplies = false;  ///< any pair by tiles
    std::vector<Pair> pairs = {};
  };

  /// Indices of a sum that two factors have and no other one does.
  std::vector<int> summed_by(const std::vector<Indices>& factors, Pair pair, const std::vector<int>& over) const {
    std::vector<int> summed;
    for (const int q : over) {
      bool elsewhere = !factors[pair.first][at(q)] && !factors[pair.second][at(q)];
      for (std::size_t k = 0; k < factors.size(); ++k)
        elsewhere = elsewhere || (k != pair.first && k != pair.second && factors[k][at(q)]);
      if (!elsewhere) summed.push_back(q);
    }
    return summed;
  }

  /// The factors with a product in the place of a pair, at their end.
  std::vector<Indices> multiplied(std::vector<Indices> factors, Pair pair, const std::vector<int>& over) const {
    auto product = either(factors[pair.first], factors[pair.second]);
    for (const int q : summed_by(factors, pair, over)) product[at(q)] = false;
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(pair.second));
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(pair.first));
    factors.push_back(std::move(product));
    return factors;
  }

  /// The way with a pair more, in what an element takes to memory and back.
  Way with_pair(const Way& way, const std::vector<Indices>& factors, Pair pair, const std::vector<int>& over) const {
    constexpr double kTiles = 32;  // multiply-adds in that time, of an order that holds for all devices and types
    const auto &x = factors[pair.first], &y = factors[pair.second];
    const auto summed = summed_by(factors, pair, over);
    const bool tiles = reuses(program_, x, y, summed);
    const auto all = either(x, y);
    auto result = all;
    for (const int q : summed) result[at(q)] = false;
    auto made = way;
    made.multiplies = made.multiplies || tiles;
    made.time += std::max(elements(all) / (tiles ? kTiles : 1), elements(x) + elements(y) + elements(result));
    made.pairs.push_back(pair);
    return made;
  }

  void search(const std::vector<Indices>& factors, const std::vector<int>& over, const Way& way, Way& best) const {
    constexpr std::size_t kAllOrders = 5;  // factors; of more, the pair that takes the least time is next
    if (way.time >= best.time) return;
    if (factors.size() == 1) {
      if (way.multiplies) best = way;
      return;
    }
    std::vector<Way> next;
    for (std::size_t x = 0; x < factors.size(); ++x) {
      for (std::size_t y = x + 1; y < factors.size(); ++y) next.push_back(with_pair(way, factors, {x, y}, over));
    }
    std::stable_sort(next.begin(), next.end(), [](const Way& x, const Way& y) { return x.time < y.time; });
    if (factors.size() > kAllOrders) next.resize(1);
    for (const auto& one : next) search(multiplied(factors, one.pairs.back(), over), over, one, best);
  }

  /// Three factors and more, pair by pair, where that multiplies any by tiles.
  bool multiply_pairs(Nodes inside, FactoredSum& product) {
    constexpr std::size_t kMostFactors = 16;
    if (inside.size() < 3 || inside.size() > kMostFactors) return false;
    std::vector<Indices> factors;
    Indices all(program_.indices.size());
    for (const auto id : inside) {
      factors.push_back(found_.uses[at(id)]);
      all = either(all, factors.back());
    }
    if (!std::all_of(product.over.begin(), product.over.end(), [&](int q) { return all[at(q)]; })) return false;
    Way best;
    search(factors, product.over, {0}, best);
    if (best.pairs.empty()) return false;
    for (const auto pair : best.pairs) {
      const auto first = inside[pair.first], second = inside[pair.second];
      set_partner(first, second);
      set_partner(second, first);
      auto over = summed_by(factors, pair, product.over);
      factors = multiplied(std::move(factors), pair, product.over);
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(pair.second));
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(pair.first));
      if (inside.empty()) {
        product = {{first}, {second}, std::move(over)};
      } else {
        inside.push_back(add_partial({{first}, {second}, std::move(over)}, factors.back()));
      }
    }
    return found_.changed = true;
  }

  void set_partner(NodeId of, NodeId partner) {
    if (found_.is_partial(of)) found_.partial[found_.number(of)].partner = partner;
  }

  NodeId add_partial(FactoredSum product, Indices uses) {
    found_.loads.push_back(larger_load(found_.loads[at(product.first[0])], found_.loads[at(product.second[0])]));
    found_.partial.push_back({std::move(product)});
    found_.uses.push_back(std::move(uses));
    return static_cast<NodeId>(found_.uses.size()) - 1;
  }

  // ---- what is done with the sum of all products

  bool is_number(NodeId id) const { return node(id).kind == NodeKind::param || node(id).kind == NodeKind::constant; }

  /// Whether all products are over the same results, and what is done with them can follow. Says what is apart.
  bool fits() {
    const auto& terms = found_.terms;
    const auto free_of = [&](const FactoredSum& product) {
      auto free = either(found_.uses[at(product.first.front())], found_.uses[at(product.second.front())]);
      for (const int q : product.over) free[at(q)] = false;
      return free;
    };
    auto& free = found_.free = free_of(terms.front().product);
    bool numbers = true;
    for (const auto& [weight, product] : terms) {
      if (free_of(product) != free) return false;
      for (const auto id : weight.outside) {
        numbers = numbers && is_number(id);
        if (terms.size() > 1 && !within(found_.uses[at(id)], free)) return false;
      }
    }
    const auto& to = program_.statement().offset.coefficient;
    bool neighbours = false;
    for (std::size_t q = 0; q < to.size(); ++q) {
      if (to[q] < 0) found_.apart = true;
      neighbours = neighbours || (free[q] && to[q] == 1 && program_.indices[q].extent > 1);
    }
    if (is_complex(found_.type)) {
      found_.apart = found_.apart || !neighbours || !holds_pairs() || !numbers;
      if (!numbers && terms.size() > 1) return false;
    }
    found_.scaled_last = found_.apart && !numbers && terms.size() == 1;
    return true;
  }

  /// Whether vectors of complex numbers hold the value: the products are added to what lies as the result does.
  bool holds_pairs() const {
    const auto& statement = program_.statement();
    const auto lies_alike = [&](NodeId id) {
      return node(id).kind == NodeKind::load && node(id).type == found_.type &&
             node(id).offset.coefficient == statement.offset.coefficient;
    };
    const auto& top = node(statement.value);
    const bool adds = top.kind == NodeKind::op && top.op == OpCode::add &&
                      ((top.operand[0] == found_.root && lies_alike(top.operand[1])) ||
                       (top.operand[1] == found_.root && lies_alike(top.operand[0])));
    return (statement.value == found_.root || adds) && program_.buffers[at(statement.buffer)].type == found_.type &&
           std::all_of(found_.addends.begin(), found_.addends.end(), [&](const ProductAddend& addend) {
             const auto& outside = addend.weight.outside;
             return lies_alike(addend.node) &&
                    std::all_of(outside.begin(), outside.end(), [&](NodeId id) { return is_number(id); });
           });
  }

  const Step& from_;
  const Program& program_;
  ProductTerms found_;
  std::vector<bool> sums_;  // per node, whether it is made of sums
  int room_ = 1000;         // nodes to look at: one may be a term many times over
};

/// A load below conversions and conjugations.
const Node& load_below(const Program& program, NodeId id) {
  while (program.nodes[at(id)].kind != NodeKind::load) id = program.nodes[at(id)].operand[0];
  return program.nodes[at(id)];
}

/// What two products have in common that differ in the names of indices alone, and an index for each place in it.
struct Shape {
  using Factor = std::tuple<int, std::int64_t, std::vector<std::pair<OpCode, DType>>>;
  using Index = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>;
  Factor factor[2];
  std::vector<Index> index;
  std::vector<int> place;

  bool operator==(const Shape& other) const {
    return factor[0] == other.factor[0] && factor[1] == other.factor[1] && index == other.index;
  }
};

Shape shape_of(const Step& step, const FactoredSum& product) {
  const auto& program = step.program;
  Shape shape;
  const NodeId sides[] = {product.first.front(), product.second.front()};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& load = load_below(program, sides[side]);
    auto& [storage, constant, around] = shape.factor[side];
    storage = step.storage[at(load.source)];
    constant = load.offset.constant;
    for (auto id = sides[side]; program.nodes[at(id)].kind != NodeKind::load; id = program.nodes[at(id)].operand[0])
      around.emplace_back(program.nodes[at(id)].op, program.nodes[at(id)].type);
  }
  const bool swapped = shape.factor[1] < shape.factor[0];
  if (swapped) std::swap(shape.factor[0], shape.factor[1]);
  const auto& first = load_below(program, sides[swapped ? 1 : 0]).offset.coefficient;
  const auto& second = load_below(program, sides[swapped ? 0 : 1]).offset.coefficient;
  std::vector<std::pair<Shape::Index, int>> indices;
  for (std::size_t q = 0; q < first.size(); ++q) {
    if (first[q] == 0 && second[q] == 0) continue;
    const auto index = static_cast<int>(q);
    const bool summed = std::find(product.over.begin(), product.over.end(), index) != product.over.end();
    indices.push_back({{first[q], second[q], program.indices[q].extent, summed}, index});
  }
  std::sort(indices.begin(), indices.end());
  for (const auto& [index, place] : indices) {
    shape.index.push_back(index);
    shape.place.push_back(place);
  }
  return shape;
}

}  // namespace

std::optional<ProductTerms> product_terms(const Step& step) { return Finder(step).run(); }

std::optional<ProductTerms> shared(const Step& step, const ProductTerms& terms) {
  auto made = terms;
  made.terms.clear();
  struct Member {
    const ProductTerm* term;
    std::vector<int> place;  ///< of its indices in the shape
  };
  struct Class {
    Shape shape;
    std::vector<Member> members;
  };
  std::vector<Class> classes;
  for (const auto& term : terms.terms) {
    const auto& product = term.product;
    const auto is_tensor = [&](const Nodes& side) {
      return is_load(step, terms, side) && !terms.is_partial(side.front());
    };
    if (!is_tensor(product.first) || !is_tensor(product.second)) {
      made.terms.push_back(term);
      continue;
    }
    auto shape = shape_of(step, product);
    Member member{&term, shape.place};
    const auto same =
        std::find_if(classes.begin(), classes.end(), [&](const Class& one) { return one.shape == shape; });
    if (same == classes.end()) {
      classes.push_back({std::move(shape), {std::move(member)}});
    } else {
      same->members.push_back(std::move(member));
    }
  }
  if (std::all_of(classes.begin(), classes.end(), [](const Class& one) { return one.members.size() == 1; }))
    return std::nullopt;
  for (const auto& [shape, members] : classes) {
    const auto& first = *members.front().term;
    if (members.size() == 1) {
      made.terms.push_back(first);
      continue;
    }
    const auto id = static_cast<NodeId>(made.uses.size());
    made.partial.push_back({first.product});
    made.uses.push_back(terms.free);
    made.loads.push_back(-1);
    for (const auto& [term, place] : members) {
      ProductAddend addend{term->weight, id, std::vector<int>(step.program.indices.size())};
      for (std::size_t k = 0; k < place.size(); ++k) addend.renamed[at(place[k])] = shape.place[k];
      made.addends.push_back(std::move(addend));
    }
  }
  made.apart = true;
  made.scaled_last = false;
  return made;
}

bool reuses(const Program& program, const Indices& first, const Indices& second, const std::vector<int>& over) {
  std::int64_t rows = 1, columns = 1, depth = 1;
  for (const int q : over) {
    if (!first[at(q)] || !second[at(q)]) return false;
    depth *= program.indices[at(q)].extent;
  }
  for (std::size_t q = 0; q < first.size(); ++q) {
    if (first[q] && !second[q]) rows *= program.indices[q].extent;
    if (second[q] && !first[q]) columns *= program.indices[q].extent;
  }
  return std::min({rows, columns, depth}) >= kLeastOfRole;
}

bool is_load(const Step& step, const ProductTerms& terms, const Nodes& factors) {
  if (factors.size() != 1) return false;
  if (terms.is_partial(factors.front())) return true;
  bool converted = false;
  for (auto id = factors.front();;) {
    const auto& n = step.program.nodes[at(id)];
    if (n.kind == NodeKind::load) return true;
    if (n.kind != NodeKind::op || (n.op != OpCode::conj && n.op != OpCode::cast)) return false;
    // A real number as a complex one of its own precision is converted no further.
    const bool whole = n.op == OpCode::cast && part_type(n.type) == step.program.nodes[at(n.operand[0])].type;
    if (n.op == OpCode::cast && !whole && std::exchange(converted, true)) return false;
    id = n.operand[0];
  }
}

}  // namespace ricci::ir
