// Tile statements on a CPU: products of register tiles, and the writing of what they summed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "kernel/expand_cpu.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

class Expander {
 public:
  explicit Expander(Kernel& kernel) : kernel_(kernel) {}

  Body body(const Body& from) {
    Body to;
    for (const auto& statement : from) {
      origin_ = statement.origin;
      const auto* clear = std::get_if<Clear>(&statement.node);
      if (clear != nullptr && is_set(from, clear->array)) {
        to.push_back({Declare{clear->array}, statement.origin});
        continue;
      }
      auto expanded = std::visit([&](const auto& node) { return one(node); }, statement.node);
      made_by(expanded, statement.origin);
      for (auto& each : expanded) to.push_back(std::move(each));
    }
    return to;
  }

 private:
  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  DType type(const Access& access) const { return kernel_.array(access.array).type; }

  template <class Native>
  Body one(const Native& node) {
    return {{node}};
  }
  Body one(const Loop& loop) {
    Loop inner = loop;
    inner.body = body(loop.body);
    return {{std::move(inner)}};
  }
  Body one(const Section& section) { return {{Section{section.title, body(section.body)}}}; }
  Body one(const Copy& copy) { return expand_copy_cpu(kernel_, copy, origin_); }
  Body one(const If& branch) { return {{If{branch.when, body(branch.then), body(branch.otherwise)}}}; }

  /// Nested loops over digits, the first outermost.
  Body loops(const std::vector<Digit>& digits, Bind bind, Body inner) {
    for (std::size_t k = digits.size(); k-- > 0;) {
      if (digits[k].extent == 1) {
        inner = substituted(inner, digits[k].var, 0);
      } else {
        inner = {loop_over(digits[k].var, bind, std::move(inner))};
      }
    }
    return inner;
  }

  Body substituted(const Body& from, Var var, const Affine& by) {
    Body to;
    for (auto statement : from) {
      if (auto* store = std::get_if<Store>(&statement.node)) {
        store->to = with(std::move(store->to), var, by);
        store->value = with(std::move(store->value), var, by);
      } else if (auto* prefetch = std::get_if<Prefetch>(&statement.node)) {
        prefetch->from = with(std::move(prefetch->from), var, by);
      } else if (auto* loop = std::get_if<Loop>(&statement.node)) {
        loop->when = with(std::move(loop->when), var, by);
        loop->body = substituted(loop->body, var, by);
      } else if (const auto* branch = std::get_if<If>(&statement.node)) {
        for (auto& each : where(with(branch->when, var, by), substituted(branch->then, var, by),
                                substituted(branch->otherwise, var, by)))
          to.push_back(std::move(each));
        continue;
      }
      to.push_back(std::move(statement));
    }
    return to;
  }

  // ---- accumulators

  /// Whether a product is all that the accumulator ever holds.
  static bool is_set(const Body& body, int accumulator) {
    return std::any_of(body.begin(), body.end(), [&](const Statement& statement) {
      const auto* mma = std::get_if<Mma>(&statement.node);
      return mma != nullptr && mma->outer && mma->accumulator == accumulator;
    });
  }

  Body one(const Clear& clear) {
    const Array array = kernel_.array(clear.array);
    const auto r = kernel_.add_var("r", array.shape[0]), v = kernel_.add_var("v", array.shape[1]);
    Body inner{{Store{{clear.array, {Affine::of(r), Affine::of(v)}, array.lanes}, zero_of(array.type)}}};
    Body all{{Declare{clear.array}}};
    for (auto& s : loops({{r, array.shape[0]}, {v, array.shape[1]}}, Bind::unroll, std::move(inner)))
      all.push_back(std::move(s));
    return all;
  }

  /// Columns of a tile with vectors in place of the last one's elements.
  struct Columns {
    std::vector<Digit> digits;
    Var lane = -1, vectors = -1;  ///< the last column, and the loop over its vectors
    int lanes = 1;
  };
  Columns columns_of(const std::vector<Digit>& columns, int lanes) {
    Columns result{columns, -1, -1, lanes};
    if (columns.empty()) return result;
    auto& last = result.digits.back();
    result.lane = last.var;
    if (lanes == 1) {
      result.vectors = last.var;
      return result;
    }
    last.extent = (last.extent + lanes - 1) / lanes;
    last.var = kernel_.add_var(name(last.var) + "v", last.extent);
    result.vectors = last.var;
    return result;
  }

  int registers(const std::string& stem, DType type, std::int64_t count, int lanes) {
    return add_registers(kernel_, stem, type, count, lanes, origin_);
  }
  static std::int64_t product(const std::vector<Digit>& digits) {
    std::int64_t n = 1;
    for (const auto& digit : digits) n *= digit.extent;
    return n;
  }

  Body one(const Mma& mma) {
    const auto lanes = kernel_.array(mma.accumulator).lanes;
    const auto of = kernel_.array(mma.accumulator).type;
    const auto columns = columns_of(mma.columns, lanes);
    const auto row = position(mma.rows), column = position(columns.digits);
    // Of an index of both operands the lanes of one are multiplied by those of the other.
    const bool of_both = !mma.columns.empty() && mma.a.index.front().coefficient(columns.lane) != 0;
    auto a_digits = mma.rows;
    if (of_both) a_digits.push_back(columns.digits.back());
    const auto a_lanes = of_both ? lanes : 1;
    const int a = registers("a_", of, product(a_digits), a_lanes),
              b = registers("b_", of, product(columns.digits), lanes);

    const auto vectors_of = [&](Access access) {
      if (lanes == 1) return access;
      access = with(access, columns.lane, Affine::of(columns.vectors, lanes));
      access.lanes = lanes;
      return access;
    };
    const Access to_a{a, {position(a_digits)}, a_lanes}, to_b{b, {column}, lanes};
    const auto read_a = [&](Access access) {
      auto value = factor(std::move(access), of, mma.conj_a);
      if (mma.part < 0) return Body{{Store{to_a, std::move(value)}}};
      Body parts;
      for (const std::int64_t part : {0, 1}) {
        Value twice;
        twice.kind = part == 0 ? Value::Kind::real_pairs : Value::Kind::imag_pairs;
        twice.type = of;
        twice.operands = {value};
        parts.push_back({Store{with(to_a, mma.part, Affine(part)), std::move(twice)}});
      }
      return parts;
    };
    const auto read_b = [&](Access access) { return Body{{Store{to_b, factor(std::move(access), of, mma.conj_b)}}}; };
    Body round{{Declare{a}}, {Declare{b}}};
    auto reads_a = read_a(mma.a);
    if (of_both) {
      Columns last = columns;
      last.digits.erase(last.digits.begin(), last.digits.end() - 1);
      reads_a = tail_apart(last, {mma.columns.back()}, vectors_of(mma.a), read_a);
    }
    auto rows_of_a = mma.rows;
    std::erase_if(rows_of_a, [&](const Digit& d) { return d.var == mma.part; });
    for (auto& s : loops(rows_of_a, Bind::unroll, std::move(reads_a))) round.push_back(std::move(s));
    for (auto& s : tail_apart(columns, mma.columns, vectors_of(mma.b), read_b)) round.push_back(std::move(s));
    const Access sum{mma.accumulator, {row, column}, lanes};
    auto term = apply(ir::OpCode::mul, of, {load_of(of, to_a), load_of(of, to_b)});
    const auto op = mma.negative ? ir::OpCode::sub : ir::OpCode::add;
    Body add{{Store{sum, mma.outer ? std::move(term) : apply(op, of, {load_of(of, sum), std::move(term)})}}};
    for (auto& s : loops(mma.rows, Bind::unroll, loops(columns.digits, Bind::unroll, std::move(add))))
      round.push_back(std::move(s));
    return loops(mma.depth, Bind::serial, std::move(round));
  }

  Value factor(Access access, DType to, bool conj) const {
    auto value = converted(kernel_, std::move(access), to);
    return conj && is_complex(to) ? apply(ir::OpCode::conj, to, {std::move(value)}) : value;
  }
  /// Loops over columns, the last vector on its own where only a part of it is elements of the caller's memory.
  template <class Make>
  Body tail_apart(const Columns& columns, const std::vector<Digit>& elements, const Access& access, const Make& make) {
    const auto extent = elements.empty() ? 1 : elements.back().extent;
    const auto rest = columns.lanes > 1 ? extent % columns.lanes : 0;
    const bool own = kernel_.array(access.array).space == Space::scratch;
    if (rest == 0 || own) return loops(columns.digits, Bind::unroll, make(access));
    auto outer = columns.digits;
    auto inner = outer.back();
    outer.pop_back();
    Access last = with(access, columns.vectors, Affine(inner.extent - 1));
    last.count = static_cast<int>(rest);
    Body tail = substituted(make(last), columns.vectors, Affine(inner.extent - 1));
    Body all;
    if (--inner.extent > 0) {
      inner.var = kernel_.add_var(name(columns.vectors), inner.extent);
      all = loops({inner}, Bind::unroll, substituted(make(access), columns.vectors, Affine::of(inner.var)));
    }
    for (auto& s : tail) all.push_back(std::move(s));
    return loops(outer, Bind::unroll, std::move(all));
  }

  /// Lines along the digit with the smallest steps, and that of its last element where the others do not all begin with
  /// a line.
  Body one(const Prefetch& prefetch) {
    if (prefetch.digits.empty()) return {{prefetch}};
    auto outer = prefetch.digits;
    const auto step = [&](const Digit& d) {
      const auto by = prefetch.from.index.front().coefficient(d.var);
      return d.extent > 1 && by > 0 ? by : std::numeric_limits<std::int64_t>::max();
    };
    const auto nearest = std::min_element(outer.rbegin(), outer.rend(),
                                          [&](const Digit& x, const Digit& y) { return step(x) < step(y); });
    std::rotate(nearest.base() - 1, nearest.base(), outer.end());
    const auto last = outer.back();
    outer.pop_back();
    const auto along = std::max<std::int64_t>(prefetch.from.index.front().coefficient(last.var), 1);
    const auto line_elements = std::max<std::int64_t>(kLineBytes / size_of(type(prefetch.from)) / along, 1);
    const auto at = [&](const Affine& element) {
      return Statement{Prefetch{with(prefetch.from, last.var, element), {}, prefetch.written}};
    };
    const auto count = (last.extent + line_elements - 1) / line_elements;
    const Digit line{kernel_.add_var(name(last.var) + "l", count), count};
    auto lines = loops({line}, Bind::unroll, {at(Affine::of(line.var, line_elements))});
    const auto& terms = prefetch.from.index.front().terms;
    const bool aligned = std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
      return term.var == last.var || term.coefficient % line_elements == 0;
    });
    if (!aligned && last.extent > 1) lines.push_back(at(Affine(last.extent - 1)));
    return loops(outer, Bind::unroll, std::move(lines));
  }

  // ---- results

  /// `value` with the sum in place of the accumulator, for one element or for a vector of lanes; `lane` is the column
  /// that vectors run along.
  Value finished(const Value& value, const Access& sum, int accumulator, Var lane, int lanes, int count) const {
    Value result = value;
    if (value.kind == Value::Kind::load) {
      if (value.access.array == accumulator) {
        result.access = sum;
        if (!value.access.index.empty()) result.access.index.front() = value.access.index.front();
      } else if (lanes > 1 && value.access.index.front().coefficient(lane) != 0) {
        result.access.lanes = lanes;
        result.access.count = count;
      }
    }
    for (auto& operand : result.operands) operand = finished(operand, sum, accumulator, lane, lanes, count);
    return result;
  }
  /// One number for all elements: computed of parameters and constants.
  static bool is_uniform(const Value& value) {
    return (value.kind == Value::Kind::param || value.kind == Value::Kind::constant || value.kind == Value::Kind::op) &&
           std::all_of(value.operands.begin(), value.operands.end(), is_uniform);
  }
  /// Whether one vector holds the value for neighbours along the lanes.
  static bool moved_by_lanes_alone(const Value& value, int accumulator, Var lane) {
    if (is_uniform(value)) return true;
    if (value.kind == Value::Kind::op && !has_vectors(value)) return false;
    if (value.kind == Value::Kind::load && !is_real(value.type) && !is_integer(value.type)) return false;
    if (value.kind == Value::Kind::index && value.affine.coefficient(lane) != 0) return false;
    if (value.kind == Value::Kind::load && value.access.array != accumulator) {
      const auto step = value.access.index.front().coefficient(lane);
      if (step != 0 && step != 1) return false;
    }
    return std::all_of(value.operands.begin(), value.operands.end(),
                       [&](const Value& v) { return moved_by_lanes_alone(v, accumulator, lane); });
  }

  Body one(const Flush& flush) {
    const auto lanes = kernel_.array(flush.accumulator).lanes;
    const auto columns = columns_of(flush.columns, lanes);
    const Access sum{flush.accumulator, {position(flush.rows), position(columns.digits)}, lanes};
    if (lanes > 1) {
      if (auto whole = by_vectors(flush, columns, sum)) return std::move(*whole);
      const auto across = [&](const Flush& part) {
        if (auto blocks = transposed(part, columns, sum)) return std::move(*blocks);
        return loops(part.rows, Bind::unroll, scattered(part, columns, sum));
      };
      if (flush.when.empty()) return across(flush);
      // Where the whole tile is inside no element is asked for.
      auto all = flush.when;
      for (const auto* digits : {&flush.rows, &flush.columns}) {
        for (const auto& digit : *digits) all = with(std::move(all), digit.var, Affine(digit.extent - 1));
      }
      Flush whole = flush;
      whole.when.clear();
      return where(std::move(all), across(whole), across(flush));
    }
    auto store = where(flush.when, {{Store{flush.to, finished(flush.value, sum, flush.accumulator, -1, 1, 0)}}});
    return loops(flush.rows, Bind::unroll, loops(columns.digits, Bind::unroll, std::move(store)));
  }

  /// Where a tile of results may end along one of its digits.
  struct Edge {
    std::vector<Condition> others;   // that do not depend on the digit
    std::optional<Condition> along;  // of the tile's first element along the digit
    bool inside = false;             // `along` is known inside of the tile's loops alone
  };
  /// Nothing where tiles are not whole steps of the digit apart.
  static std::optional<Edge> edge_along(const Flush& flush, const Digit& digit) {
    const auto is_digit = [&](Var var) {
      const auto is = [&](const Digit& d) { return d.var == var; };
      return std::any_of(flush.rows.begin(), flush.rows.end(), is) ||
             std::any_of(flush.columns.begin(), flush.columns.end(), is);
    };
    Edge edge;
    for (const auto& condition : flush.when) {
      const auto by = condition.value.coefficient(digit.var);
      if (by == 0) {
        edge.others.push_back(condition);
        continue;
      }
      if (by != 1 || edge.along) return std::nullopt;
      edge.along = Condition{condition.value.with(digit.var, Affine(0)), condition.below};
      if (edge.along->value.constant != 0) return std::nullopt;
      for (const auto& term : edge.along->value.terms) {
        if (term.coefficient % digit.extent != 0) return std::nullopt;
        edge.inside = edge.inside || is_digit(term.var);
      }
    }
    return edge;
  }

  /// Results side by side along the lanes; nothing where they are not. Where the tile is ragged along the lanes there
  /// is a whole one and one with the rest, both of literal width.
  std::optional<Body> by_vectors(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto lane = flush.columns.back();
    if (flush.to.index.front().coefficient(lane.var) != 1 && lane.extent > 1) return std::nullopt;
    if (!moved_by_lanes_alone(flush.value, flush.accumulator, lane.var)) return std::nullopt;
    const auto edge = edge_along(flush, lane);
    if (!edge) return std::nullopt;
    const auto& [others, along, inside] = *edge;
    auto outer = flush.columns;
    outer.pop_back();
    const auto tile = [&](Body body) {
      return loops(flush.rows, Bind::unroll, loops(outer, Bind::unroll, where(others, std::move(body))));
    };
    const auto rest = along ? along->below % lane.extent : 0;
    if (!along || (rest == 0 && !inside)) return tile(vectors(flush, columns, sum, lane.extent));
    const Condition whole{along->value + Affine(lane.extent - 1), along->below};
    if (!inside) {
      return where({whole}, tile(vectors(flush, columns, sum, lane.extent)), tile(vectors(flush, columns, sum, rest)));
    }
    Body part;
    if (rest > 0) part = where({*along}, vectors(flush, columns, sum, rest));
    return tile(where({whole}, vectors(flush, columns, sum, lane.extent), std::move(part)));
  }

  /// The first `extent` results along the lanes, the last vector in part.
  Body vectors(const Flush& flush, const Columns& columns, const Access& sum, std::int64_t extent) {
    const auto make = [&](const Affine& vector, std::int64_t count) {
      const auto first = columns.lanes * vector;
      Access to = with(flush.to, columns.lane, first);
      to.lanes = columns.lanes;
      to.count = static_cast<int>(count);
      auto value = finished(flush.value, with(sum, columns.vectors, vector), flush.accumulator, columns.lane,
                            columns.lanes, to.count);
      return Body{{Store{std::move(to), with(std::move(value), columns.lane, first), flush.nontemporal && count == 0}}};
    };
    const auto whole = extent / columns.lanes, rest = extent % columns.lanes;
    Body all;
    if (whole > 0) {
      const auto v = kernel_.add_var(name(columns.vectors), whole);
      all = loops({{v, whole}}, Bind::unroll, make(Affine::of(v), 0));
    }
    if (rest > 0) {
      for (auto& s : make(Affine(whole), rest)) all.push_back(std::move(s));
    }
    return all;
  }

  /// Operations whose text vectors have; all others go lane by lane.
  static bool has_vectors(const Value& value) {
    const bool real = is_real(value.type);
    switch (value.op) {
      case ir::OpCode::add:
      case ir::OpCode::sub:
      case ir::OpCode::mul:
      case ir::OpCode::neg:
        return real || is_integer(value.type);
      case ir::OpCode::scale:
        return (real || is_integer(value.type)) && is_uniform(value.operands.front());
      case ir::OpCode::cast: {
        const auto from = value.operands.front().type;
        return (real && (is_real(from) || is_integer(from))) || (is_integer(value.type) && is_integer(from));
      }
      case ir::OpCode::div:
      case ir::OpCode::sqrt:
      case ir::OpCode::rsqrt:
      case ir::OpCode::absolute:
        return real;
      default:
        return false;
    }
  }

  /// Results that lie side by side along another digit of the tile than the lanes: blocks of lanes x lanes transposed
  /// in registers and written by vectors; nothing where there is no such digit.
  std::optional<Body> transposed(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto type = kernel_.array(flush.accumulator).type;
    if (!is_real(type)) return std::nullopt;
    auto rows = flush.rows;
    auto others = columns.digits;
    std::optional<Digit> side;
    for (auto* digits : {&rows, &others}) {
      for (const auto& digit : *digits) {
        // Two neighbours take as long to transpose as to write.
        const bool is_side =
            digit.var != columns.vectors && digit.extent > 2 && flush.to.index.front().coefficient(digit.var) == 1;
        if (is_side) side = digit;
      }
    }
    if (!side || !moved_by_lanes_alone(flush.value, flush.accumulator, side->var)) return std::nullopt;
    const auto is_the_side = [&](const Digit& digit) { return digit.var == side->var; };
    std::erase_if(rows, is_the_side);
    std::erase_if(others, is_the_side);
    const auto edge = edge_along(flush, *side);
    if (!edge || edge->inside) return std::nullopt;
    const auto& along = edge->along;
    const auto blocks = [&](std::int64_t extent) {
      Body all;
      for (std::int64_t from = 0; from < extent; from += columns.lanes) {
        const auto count = std::min<std::int64_t>(columns.lanes, extent - from);
        for (auto& s : transposed_block(flush, columns, sum, {*side, from, count}, edge->others))
          all.push_back(std::move(s));
      }
      return loops(rows, Bind::unroll, loops(others, Bind::unroll, std::move(all)));
    };
    const auto rest = along ? along->below % side->extent : 0;
    if (rest == 0) return blocks(side->extent);
    return where({{along->value + Affine(side->extent - 1), along->below}}, blocks(side->extent),
                 where({*along}, blocks(rest)));
  }

  /// Some neighbours in the result: `count` values of a digit of the tile, from the value `from` on.
  struct Neighbours {
    Digit digit;
    std::int64_t from = 0, count = 0;
  };
  /// One such block: as many vectors of the accumulator as there are neighbours, transposed, and one written for each
  /// lane whose results exist.
  Body transposed_block(const Flush& flush, const Columns& columns, const Access& sum, const Neighbours& side,
                        const std::vector<Condition>& when) {
    const auto lanes = columns.lanes;
    const auto type = kernel_.array(flush.accumulator).type;
    const auto& accumulator = kernel_.array(flush.accumulator).name;
    const auto block = registers(fmt::format("{}_across_{}", accumulator, side.from), type, lanes, lanes);
    const auto row = [&](const Affine& index) { return Access{block, {index}, lanes}; };
    const auto u = kernel_.add_var("u", side.count), w = kernel_.add_var("w", lanes);
    Body body{{Declare{block}}};
    auto from = with(sum, side.digit.var, Affine::of(u) + Affine(side.from));
    body.push_back(loop_over(u, Bind::unroll, {{Store{row(Affine::of(u)), load_of(type, std::move(from))}}}));
    if (side.count < lanes) {
      const auto z = kernel_.add_var("z", lanes - side.count);
      body.push_back(loop_over(z, Bind::unroll, {{Store{row(Affine::of(z) + Affine(side.count)), zero_of(type)}}}));
    }
    body.push_back({Transpose{block}});
    const auto element = Affine::of(columns.vectors, lanes) + Affine::of(w);
    auto to = with(with(flush.to, side.digit.var, Affine(side.from)), columns.lane, element);
    to.lanes = lanes;
    to.count = static_cast<int>(side.count % lanes);
    auto value = finished(flush.value, row(Affine::of(w)), flush.accumulator, side.digit.var, lanes, to.count);
    value = with(with(std::move(value), side.digit.var, Affine(side.from)), columns.lane, element);
    auto exists = with(when, columns.lane, element);
    if (flush.columns.back().extent % lanes != 0) exists.push_back({element, flush.columns.back().extent});
    body.push_back(loop_over(w, Bind::unroll, where(std::move(exists), {{Store{std::move(to), std::move(value)}}})));
    return body;
  }

  /// Results that do not lie side by side: lane by lane.
  Body scattered(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto lane = kernel_.add_var("l", columns.lanes);
    const auto element = Affine::of(columns.vectors, columns.lanes) + Affine::of(lane);
    auto value = with(of_lane(flush.value, sum, flush.accumulator, lane), columns.lane, element);
    Body store{{Store{with(flush.to, columns.lane, element), std::move(value)}}};
    auto when = with(flush.when, columns.lane, element);
    if (flush.columns.back().extent % columns.lanes != 0) when.push_back({element, flush.columns.back().extent});
    return loops(columns.digits, Bind::unroll,
                 {loop_over(lane, Bind::unroll, where(std::move(when), std::move(store)))});
  }
  static Value of_lane(const Value& value, const Access& sum, int accumulator, Var lane) {
    if (value.kind == Value::Kind::load && value.access.array == accumulator) {
      auto one = load_of(value.type, sum);
      one.access.lane = Affine::of(lane);
      return one;
    }
    Value result = value;
    for (auto& operand : result.operands) operand = of_lane(operand, sum, accumulator, lane);
    return result;
  }

  Kernel& kernel_;
  int origin_ = -1;  // of the statement that is being expanded
};

}  // namespace

int add_registers(Kernel& kernel, const std::string& stem, DType type, std::int64_t count, int lanes, int origin) {
  Array array;
  array.name = stem;
  array.type = type;
  array.space = Space::registers;
  array.shape = {count};
  array.lanes = lanes;
  array.origin = origin;
  return kernel.add_array(std::move(array));
}

Value converted(const Kernel& kernel, Access access, DType to, std::optional<DType> rounded) {
  const auto from = kernel.array(access.array).type;
  return cast(cast(load_of(from, std::move(access)), rounded.value_or(from)), to);
}

Body expand_cpu(Kernel& kernel, const Body& body) { return Expander(kernel).body(body); }

}  // namespace ricci::kernel
