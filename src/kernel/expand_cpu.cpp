// Tile statements on a CPU: packing by vectors or by transposes in registers, products of register tiles, and the
// writing of what they summed.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernel/expand.hpp"
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
    Array array;
    array.name = stem;
    array.type = type;
    array.space = Space::registers;
    array.shape = {count};
    array.lanes = lanes;
    array.origin = origin_;
    return kernel_.add_array(std::move(array));
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
    const int a = registers("a_", of, product(mma.rows), 1), b = registers("b_", of, product(columns.digits), lanes);

    Access from_b = mma.b;
    if (lanes > 1) {
      from_b = with(from_b, columns.lane, Affine::of(columns.vectors, lanes));
      from_b.lanes = lanes;
    }
    const auto read_b = [&](Access access) {
      return Body{{Store{{b, {column}, lanes}, factor(std::move(access), of, mma.conj_b)}}};
    };
    Body round{{Declare{a}}, {Declare{b}}};
    for (auto& s : loops(mma.rows, Bind::unroll, {{Store{{a, {row}}, factor(mma.a, of, mma.conj_a)}}}))
      round.push_back(std::move(s));
    for (auto& s : tail_apart(columns, mma.columns, from_b, read_b)) round.push_back(std::move(s));
    const Access sum{mma.accumulator, {row, column}, lanes};
    auto term = apply(ir::OpCode::mul, of, {load_of(of, {a, {row}}), load_of(of, {b, {column}, lanes})});
    Body add{{Store{sum, apply(ir::OpCode::add, of, {load_of(of, sum), std::move(term)})}}};
    for (auto& s : loops(mma.rows, Bind::unroll, loops(columns.digits, Bind::unroll, std::move(add))))
      round.push_back(std::move(s));
    return loops(mma.depth, Bind::serial, std::move(round));
  }

  Value factor(Access access, DType to, bool conj) const {
    auto value = converted(std::move(access), to);
    return conj && is_complex(to) ? apply(ir::OpCode::conj, to, {std::move(value)}) : value;
  }
  Value converted(Access access, DType to) const {
    const auto from = type(access);
    auto value = load_of(from, std::move(access));
    return from == to ? value : apply(ir::OpCode::cast, to, {std::move(value)});
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
      return loops(flush.rows, Bind::unroll, scattered(flush, columns, sum));
    }
    auto store = where(flush.when, {{Store{flush.to, finished(flush.value, sum, flush.accumulator, -1, 1, 0)}}});
    return loops(flush.rows, Bind::unroll, loops(columns.digits, Bind::unroll, std::move(store)));
  }

  /// Results side by side along the lanes; nothing where they are not. Where the tile is ragged along the lanes there
  /// is a whole one and one with the rest, both of literal width.
  std::optional<Body> by_vectors(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto lane = flush.columns.back();
    if (flush.to.index.front().coefficient(lane.var) != 1 && lane.extent > 1) return std::nullopt;
    if (!moved_by_lanes_alone(flush.value, flush.accumulator, lane.var)) return std::nullopt;
    auto outer = flush.columns;
    outer.pop_back();
    const auto is_digit = [&](Var var) {
      const auto is = [&](const Digit& d) { return d.var == var; };
      return std::any_of(flush.rows.begin(), flush.rows.end(), is) || std::any_of(outer.begin(), outer.end(), is);
    };
    std::vector<Condition> others;
    std::optional<Condition> along;  // without the lane: that of the tile's first element
    bool inside = false;             // `along` is known inside of the tile's loops alone
    for (const auto& condition : flush.when) {
      if (condition.value.coefficient(lane.var) == 0) {
        others.push_back(condition);
        continue;
      }
      along = Condition{condition.value.with(lane.var, Affine(0)), condition.below};
      bool tiled = condition.value.coefficient(lane.var) == 1 && along->value.constant == 0;
      for (const auto& term : along->value.terms) {
        tiled = tiled && term.coefficient % lane.extent == 0;
        inside = inside || is_digit(term.var);
      }
      if (!tiled) return std::nullopt;
    }
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
      Value one;
      one.kind = Value::Kind::lane;
      one.type = value.type;
      one.affine = Affine::of(lane);
      one.operands = {load_of(value.type, sum)};
      return one;
    }
    Value result = value;
    for (auto& operand : result.operands) operand = of_lane(operand, sum, accumulator, lane);
    return result;
  }

  // ---- copies

  /// Loops over digits as far as they are inside of the tensor: a digit that is a block of a ragged index ends where
  /// the index does.
  Body copy_loops(const std::vector<Digit>& digits, const std::vector<Digit>& inner_digits,
                  const std::vector<Condition>& when, Body inner) {
    for (std::size_t k = digits.size(); k-- > 0;) {
      std::vector<Condition> limits;
      for (const auto& condition : when) {
        if (condition.value.coefficient(digits[k].var) == 0) continue;
        auto base = condition.value;
        for (const auto& d : inner_digits) base = base.with(d.var, Affine(0));
        const auto step = condition.value.coefficient(digits[k].var);
        for (std::size_t j = 0; j < digits.size(); ++j) {
          const bool block = !digits[j].padded && condition.value.coefficient(digits[j].var) > 1;
          if (j > k || (j < k && !block)) base = base.with(digits[j].var, Affine(0));
        }
        if (step > 1 && !digits[k].padded) limits.push_back({base, condition.below});
      }
      inner = {loop_over(digits[k].var, Bind::serial, std::move(inner), std::move(limits))};
    }
    return inner;
  }

  Body one(const Copy& copy) {
    const auto of = type(copy.to);
    const auto lanes = static_cast<int>(kernel_.vector_bytes / size_of(of));
    auto digits = copy.digits;
    std::erase_if(digits, [](const Digit& d) { return d.extent == 1; });
    Copy whole = copy;
    for (const auto& d : copy.digits) {
      if (d.extent > 1) continue;
      whole.to = with(whole.to, d.var, 0);
      whole.from = with(whole.from, d.var, 0);
      whole.when = with(whole.when, d.var, 0);
    }
    const auto step = [](const Access& access, const Digit& d) { return access.index.front().coefficient(d.var); };
    std::optional<Digit> t, s;
    for (const auto& d : digits) {
      if (step(whole.to, d) == 1) t = d;
      if (step(whole.from, d) == 1) s = d;
    }
    const bool same = type(copy.from) == of && lanes > 1 && !is_complex(of);
    std::vector<Digit> inner;
    if (t) inner.push_back(*t);
    if (s && t && s->var != t->var) inner.push_back(*s);
    std::vector<Digit> outer;
    for (const auto& d : digits) {
      if (std::none_of(inner.begin(), inner.end(), [&](const Digit& i) { return i.var == d.var; })) outer.push_back(d);
    }
    std::stable_sort(outer.begin(), outer.end(),
                     [&](const Digit& x, const Digit& y) { return step(whole.from, x) > step(whole.from, y); });

    Body fast;
    if (same && s && t && s->var == t->var) {
      const bool whole_one = t->extent < lanes && (t->extent & (t->extent - 1)) == 0;
      fast = run(whole, *t, whole_one ? static_cast<int>(t->extent) : lanes);
    } else if (same && s && t && lanes <= 16 && t->extent >= lanes && s->extent >= lanes) {
      fast = transposed(whole, *t, *s, lanes);
    } else {
      fast = singly(whole, inner, {});
    }
    // Conditions on the inner digits: all of them hold, or each element is asked.
    std::vector<Condition> all, each;
    for (const auto& condition : whole.when) {
      const auto element = std::find_if(digits.begin(), digits.end(),
                                        [&](const Digit& d) { return condition.value.coefficient(d.var) == 1; });
      if (element == digits.end()) continue;
      // Blocks that end with the index hold nothing beyond it, where the loops over them end there.
      const bool ends = std::all_of(digits.begin(), digits.end(), [&](const Digit& d) {
        const auto by = condition.value.coefficient(d.var);
        const bool is_inner = std::any_of(inner.begin(), inner.end(), [&](const Digit& i) { return i.var == d.var; });
        return by == 0 || by == 1 || (!is_inner && !d.padded);
      });
      if (ends && condition.below % element->extent == 0) continue;
      auto last = condition;
      for (const auto& d : inner) last.value = last.value.with(d.var, Affine(d.extent - 1));
      all.push_back(std::move(last));
      each.push_back(condition);
    }
    Body body = all.empty() ? std::move(fast) : where(all, std::move(fast), singly(whole, inner, each));
    return copy_loops(outer, inner, whole.when, std::move(body));
  }

  /// Element by element, 0 where a condition fails.
  Body singly(const Copy& copy, std::vector<Digit> inner, const std::vector<Condition>& when) {
    std::reverse(inner.begin(), inner.end());
    Body store{{Store{copy.to, converted(copy.from, type(copy.to))}}};
    if (!when.empty()) store = where(when, std::move(store), {{Store{copy.to, zero_of(type(copy.to))}}});
    for (std::size_t k = inner.size(); k-- > 0;) store = {loop_over(inner[k].var, Bind::serial, std::move(store))};
    return store;
  }

  /// Neighbours on both sides: vectors, and a last one in part.
  Body run(const Copy& copy, const Digit& t, int lanes) {
    Body body;
    const auto vectors = t.extent / lanes;
    const auto move = [&](const Affine& first, int count) {
      Access to = with(copy.to, t.var, first), from = with(copy.from, t.var, first);
      to.lanes = from.lanes = lanes;
      to.count = from.count = count;
      return Statement{Store{to, load_of(type(from), from)}};
    };
    if (vectors > 0) {
      const auto v = kernel_.add_var(name(t.var) + "v", vectors);
      if (vectors == 1) {
        body.push_back(move(Affine(0), 0));
      } else {
        body.push_back(loop_over(v, vectors <= 4 ? Bind::unroll : Bind::serial, {move(Affine::of(v, lanes), 0)}));
      }
    }
    if (t.extent % lanes != 0) body.push_back(move(Affine(vectors * lanes), static_cast<int>(t.extent % lanes)));
    return body;
  }

  /// Neighbours along s on the one side and along t on the other: blocks of lanes x lanes transposed in registers, and
  /// what they leave over one by one.
  Body transposed(const Copy& copy, const Digit& t, const Digit& s, int lanes) {
    const auto ts = t.extent / lanes, ss = s.extent / lanes;
    const auto tb = kernel_.add_var(name(t.var) + "b", ts), sb = kernel_.add_var(name(s.var) + "b", ss);
    const auto u = kernel_.add_var("u", lanes);
    const int rows = registers("rows", type(copy.to), lanes, lanes);
    const auto block = [&](Access access, Var along, Var across) {
      access = with(access, along, Affine::of(along == t.var ? tb : sb, lanes));
      access = with(access, across, Affine::of(across == t.var ? tb : sb, lanes) + Affine::of(u));
      access.lanes = lanes;
      return access;
    };
    const auto from = block(copy.from, s.var, t.var), to = block(copy.to, t.var, s.var);
    const Access row{rows, {Affine::of(u)}, lanes};
    Body turn{{Declare{rows}}};
    turn.push_back(loop_over(u, Bind::unroll, {{Store{row, load_of(type(from), from)}}}));
    turn.push_back({Transpose{rows}});
    turn.push_back(loop_over(u, Bind::unroll, {{Store{to, load_of(type(to), row)}}}));
    Body body{loop_over(sb, Bind::serial, {loop_over(tb, Bind::serial, std::move(turn))})};
    const auto rest = [&](const Digit& part, std::int64_t done, const Digit& other, std::int64_t count) {
      if (part.extent == done || count == 0) return;
      const auto p = kernel_.add_var(name(part.var) + "r", part.extent - done),
                 o = kernel_.add_var(name(other.var), count);
      Copy left = copy;
      left.to = with(with(left.to, part.var, Affine::of(p) + Affine(done)), other.var, Affine::of(o));
      left.from = with(with(left.from, part.var, Affine::of(p) + Affine(done)), other.var, Affine::of(o));
      for (auto& statement : singly(left, {{p, part.extent - done}, {o, count}}, {}))
        body.push_back(std::move(statement));
    };
    rest(s, ss * lanes, t, t.extent);
    rest(t, ts * lanes, s, ss * lanes);
    return body;
  }

  Kernel& kernel_;
  int origin_ = -1;  // of the statement that is being expanded
};

}  // namespace

Body expand_cpu(Kernel& kernel, const Body& body) { return Expander(kernel).body(body); }

}  // namespace ricci::kernel
