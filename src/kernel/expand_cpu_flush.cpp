// The results of a register tile on a CPU: by vectors, transposed in registers, or lane by lane.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernel/expand_cpu.hpp"

namespace ricci::kernel {
namespace {

class FlushExpander {
 public:
  FlushExpander(Kernel& kernel, int origin) : kernel_(kernel), origin_(origin) {}

  Body all(const Flush& flush) {
    if (flush.quotients.empty()) return one(flush);
    return {{Section{"", one(along_even_axes(flush))}}};
  }

 private:
  static bool is_used(const Value& value, Var var) {
    return (value.kind == Value::Kind::load && !value.access.index.empty() &&
            value.access.index.front().coefficient(var) != 0) ||
           value.affine.coefficient(var) != 0 ||
           std::any_of(value.operands.begin(), value.operands.end(), [&](const Value& v) { return is_used(v, var); });
  }
  static Value along(Value value, const std::vector<Let>& axis, int accumulator) {
    if (value.kind == Value::Kind::load && value.access.array != accumulator)
      value.access.index.front() = along_axes(value.access.index.front(), axis);
    for (auto& operand : value.operands) operand = along(std::move(operand), axis, accumulator);
    return value;
  }
  /// Without the quotients of joined axes along which all tensors go evenly.
  static Flush along_even_axes(Flush flush) {
    const auto all = flush.quotients;
    for (const auto& fastest : all) {
      if (fastest.divisor != 1) continue;
      std::vector<Let> axis;
      std::copy_if(all.begin(), all.end(), std::back_inserter(axis),
                   [&](const Let& let) { return let.of == fastest.of; });
      auto even = flush;
      even.to.index.front() = along_axes(even.to.index.front(), axis);
      even.value = along(std::move(even.value), axis, flush.accumulator);
      const bool uneven = std::any_of(axis.begin(), axis.end(), [&](const Let& let) {
        const auto ends = [&](const Condition& condition) { return condition.value.coefficient(let.var) != 0; };
        return even.to.index.front().coefficient(let.var) != 0 || is_used(even.value, let.var) ||
               std::any_of(even.when.begin(), even.when.end(), ends);
      });
      if (uneven) continue;
      flush = std::move(even);
      std::erase_if(flush.quotients, [&](const Let& let) { return let.of == fastest.of; });
    }
    return flush;
  }

  static std::vector<Digit> both(std::vector<Digit> outer, const std::vector<Digit>& inner) {
    outer.insert(outer.end(), inner.begin(), inner.end());
    return outer;
  }
  /// Quotients that are of some digits, or of none of them.
  static std::vector<Let> quotients_of(const Flush& flush, const std::vector<Digit>& digits, bool of = true) {
    std::vector<Let> list;
    std::copy_if(flush.quotients.begin(), flush.quotients.end(), std::back_inserter(list), [&](const Let& let) {
      return of ==
             std::any_of(digits.begin(), digits.end(), [&](const Digit& d) { return let.of.coefficient(d.var) != 0; });
    });
    return list;
  }
  /// `body` behind the quotients of the last column, which has a value.
  static Body named(const Flush& flush, const Affine& element, Body body) {
    Body all;
    const auto& lane = flush.columns.back();
    for (const auto& let : with(quotients_of(flush, {lane}), lane.var, element)) all.push_back({let});
    for (auto& statement : body) all.push_back(std::move(statement));
    return all;
  }

  /// The same where conditions hold, of which some may be of these quotients.
  static Body named_where(const Flush& flush, const Affine& element, std::vector<Condition> when, Body body) {
    const auto lets = quotients_of(flush, {flush.columns.back()});
    const auto inner = std::stable_partition(when.begin(), when.end(), [&](const Condition& condition) {
      return std::none_of(lets.begin(), lets.end(),
                          [&](const Let& let) { return condition.value.coefficient(let.var) != 0; });
    });
    std::vector<Condition> inside(inner, when.end());
    when.erase(inner, when.end());
    return where(std::move(when), named(flush, element, where(std::move(inside), std::move(body))));
  }

  Body one(const Flush& flush) {
    const auto lanes = kernel_.array(flush.accumulator).lanes;
    const auto columns = columns_of(kernel_, flush.columns, lanes);
    const Access sum{flush.accumulator, {position(flush.rows), position(columns.digits)}, lanes};
    if (lanes > 1) {
      if (auto whole = by_vectors(flush, columns, sum)) return std::move(*whole);
      const auto across = [&](const Flush& part) {
        if (auto blocks = transposed(part, columns, sum)) return std::move(*blocks);
        return scattered(part, columns, sum);
      };
      if (flush.when.empty()) return across(flush);
      // Where the whole tile is inside no element is asked for.
      auto all = flush.when;
      for (const auto* digits : {&flush.rows, &flush.columns}) {
        for (const auto& digit : *digits) all = with(std::move(all), digit.var, Affine(digit.extent - 1));
      }
      for (const auto& let : flush.quotients) all = with(std::move(all), let.var, Affine(kernel_.extent(let.var) - 1));
      Flush whole = flush;
      whole.when.clear();
      return where(std::move(all), across(whole), across(flush));
    }
    auto store = where(flush.when, {{Store{flush.to, finished(flush.value, sum, flush.accumulator, -1, 1, 0)}}});
    return loops(both(flush.rows, columns.digits), Bind::unroll, std::move(store), flush.quotients);
  }

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
    if (value.kind == Value::Kind::load && is_complex(value.type)) return false;
    if (value.kind == Value::Kind::index && value.affine.coefficient(lane) != 0) return false;
    if (value.kind == Value::Kind::load && value.access.array != accumulator) {
      const auto step = value.access.index.front().coefficient(lane);
      if (step != 0 && step != 1) return false;
    }
    return std::all_of(value.operands.begin(), value.operands.end(),
                       [&](const Value& v) { return moved_by_lanes_alone(v, accumulator, lane); });
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
    if (is_joined(flush.quotients, lane.var)) return by_runs(flush, columns, sum);
    if (flush.to.index.front().coefficient(lane.var) != 1 && lane.extent > 1) return std::nullopt;
    if (!moved_by_lanes_alone(flush.value, flush.accumulator, lane.var)) return std::nullopt;
    const auto edge = edge_along(flush, lane);
    if (!edge) return std::nullopt;
    const auto& [others, along, inside] = *edge;
    auto outer = flush.columns;
    outer.pop_back();
    const auto tile = [&](Body body) {
      return loops(both(flush.rows, outer), Bind::unroll, where(others, std::move(body)), flush.quotients);
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

  /// Results side by side along joined indices, as far as the fastest of them goes: a vector that runs on into the next
  /// one is written in two parts or more.
  std::optional<Body> by_runs(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto lane = flush.columns.back();
    const JoinedRuns runs(kernel_, lane.var, flush.quotients, flush.when);
    if ((lane.extent % columns.lanes != 0 && !runs.end_with_digit()) || !runs.are_neighbours(flush.to.index.front()) ||
        !moved_by_lanes_alone(flush.value, flush.accumulator, runs.fastest()))
      return std::nullopt;
    auto outer = flush.columns;
    outer.pop_back();
    std::vector<Condition> others;
    std::copy_if(flush.when.begin(), flush.when.end(), std::back_inserter(others),
                 [&](const Condition& condition) { return condition.value.coefficient(lane.var) == 0; });
    auto pieces = runs.pieces(
        kernel_, Affine::of(columns.vectors, columns.lanes), columns.lanes, [&](const JoinedRuns::Piece& piece) {
          Store store;
          store.to = piece.of(flush.to, columns.lanes, runs.fastest());
          store.value = in_piece(flush.value, sum, flush.accumulator, piece, runs.fastest());
          store.nontemporal = flush.nontemporal && !store.to.since && !store.to.until;
          auto when = others;
          for (const auto& [name, by] : piece.names) when = with(std::move(when), name, Affine::of(by));
          auto rows = loops(flush.rows, Bind::unroll, where(std::move(when), {{std::move(store)}}),
                            quotients_of(flush, flush.columns, false));
          // A single row's quotients are no loop's: the next piece has its own.
          const bool bare = std::holds_alternative<Let>(rows.front().node);
          return bare ? Body{{Section{"", std::move(rows)}}} : rows;
        });
    auto others_of_columns = quotients_of(flush, outer);
    std::erase_if(others_of_columns, [&](const Let& let) { return let.of.coefficient(lane.var) != 0; });
    return loops(columns.digits, Bind::unroll, std::move(pieces), others_of_columns);
  }
  static Value in_piece(const Value& value, const Access& sum, int accumulator, const JoinedRuns::Piece& piece,
                        Var fastest) {
    Value result = value;
    if (value.kind == Value::Kind::load) {
      result.access = value.access.array == accumulator ? sum : piece.of(value.access, sum.lanes, fastest);
    }
    for (const auto& [name, by] : piece.names) result.affine = result.affine.with(name, Affine::of(by));
    for (auto& operand : result.operands) operand = in_piece(operand, sum, accumulator, piece, fastest);
    return result;
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
      const auto v = kernel_.add_var(kernel_.vars[static_cast<std::size_t>(columns.vectors)].name, whole);
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
        const bool of_halves =
            (is_half(value.type) && from == DType::f32) || (value.type == DType::f32 && is_half(from));
        return of_halves || (real && (is_real(from) || is_integer(from))) ||
               (is_integer(value.type) && is_integer(from));
      }
      case ir::OpCode::div:
      case ir::OpCode::sqrt:
      case ir::OpCode::rsqrt:
      case ir::OpCode::absolute:
      case ir::OpCode::minimum:
      case ir::OpCode::maximum:
        return real;
      default:
        return real && ir::is_function_of_vectors(value.op);
    }
  }

  /// Results that lie side by side along another digit of the tile than the lanes: blocks of lanes x lanes transposed
  /// in registers and written by vectors; nothing where there is no such digit.
  std::optional<Body> transposed(const Flush& flush, const Columns& columns, const Access& sum) {
    const auto type = kernel_.array(flush.accumulator).type;
    if (is_complex(type)) return std::nullopt;
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
      return loops(both(rows, others), Bind::unroll, std::move(all),
                   quotients_of(flush, {flush.columns.back()}, false));
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
    const auto block =
        add_registers(kernel_, fmt::format("{}_across_{}", accumulator, side.from), type, lanes, lanes, origin_);
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
    const bool nontemporal = flush.nontemporal && to.count == 0;
    body.push_back(loop_over(
        w, Bind::unroll,
        named_where(flush, element, std::move(exists), {{Store{std::move(to), std::move(value), nontemporal}}})));
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
    store = named_where(flush, element, std::move(when), std::move(store));
    return loops(both(flush.rows, columns.digits), Bind::unroll, {loop_over(lane, Bind::unroll, std::move(store))},
                 quotients_of(flush, {flush.columns.back()}, false));
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
  int origin_;  // of the results
};

}  // namespace

Body expand_flush_cpu(Kernel& kernel, const Flush& flush, int origin) {
  return FlushExpander(kernel, origin).all(flush);
}

}  // namespace ricci::kernel
