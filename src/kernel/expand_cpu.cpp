// Tile statements on a CPU: products of register tiles, and the writing of what they summed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
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
    for (auto at = from.begin(); at != from.end(); ++at) {
      const auto& statement = *at;
      origin_ = statement.origin;
      if (is_fetched(statement) && std::any_of(at, from.end(), has_rounds)) {
        meanwhile_.push_back(statement);
        continue;
      }
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
  Body one(const Flush& flush) { return expand_flush_cpu(kernel_, flush, origin_); }
  Body one(const FetchLines& fetch) {
    constexpr std::int64_t kSpelt = 4;
    if (fetch.lines <= kSpelt) return {{fetch}};
    return {loop_over(kernel_.add_var("n", (fetch.lines + kSpelt - 1) / kSpelt), Bind::rolled, {{FetchLines{kSpelt}}})};
  }
  Body one(const If& branch) { return {{If{branch.when, body(branch.then), body(branch.otherwise)}}}; }

  // ---- what is fetched while products are computed

  static bool is_fetched(const Statement& statement) {
    const auto* prefetch = std::get_if<Prefetch>(&statement.node);
    return std::holds_alternative<FetchLines>(statement.node) || (prefetch != nullptr && !prefetch->digits.empty());
  }
  static bool has_rounds(const Statement& statement) {
    const auto* mma = std::get_if<Mma>(&statement.node);
    return mma != nullptr && product(mma->depth) > mma->group();
  }

  /// A product's rounds, of so many multiply-adds each, with what is fetched meanwhile. Many lines at once would take
  /// the places of those that loads wait for: by lines in the first rounds alone contractions that write much took 1.05
  /// to 1.2 times as long on an AMD EPYC. Before rounds that are spelt out together comes what some of them fetch:
  /// behind a branch between them LLVM moves all their multiply-adds, and what these read to the stack until then (1.5
  /// times as long there).
  Body rounds(std::vector<Digit> depth, std::int64_t products, Body round) {
    constexpr std::int64_t kSpelt = 128;  // multiply-adds
    const auto all = depth;
    const auto spelt = take_spelt(depth, kSpelt / products);
    const bool in_groups = product(depth) > 1;
    Body of_group, of_round;
    for (const auto& statement : product(all) > 1 ? std::exchange(meanwhile_, {}) : Body()) {
      const auto* prefetch = std::get_if<Prefetch>(&statement.node);
      const bool of_terms = prefetch != nullptr && std::any_of(prefetch->digits.begin(), prefetch->digits.end(),
                                                               [&](const Digit& d) { return is_one_of(all, d); });
      const bool before = in_groups && !of_terms;
      const auto& among = before ? depth : all;
      auto part = prefetch != nullptr ? spread(*prefetch, among) : spread(std::get<FetchLines>(statement.node), among);
      made_by(part, statement.origin);
      for (auto& one : part) (before ? of_group : of_round).push_back(std::move(one));
    }
    for (auto& one : round) of_round.push_back(std::move(one));
    for (auto& one : loops(spelt, Bind::unroll, std::move(of_round))) of_group.push_back(std::move(one));
    return loops(depth, Bind::serial, std::move(of_group));
  }
  static bool is_one_of(const std::vector<Digit>& digits, const Digit& digit) {
    return std::any_of(digits.begin(), digits.end(), [&](const Digit& d) { return d.var == digit.var; });
  }
  static std::int64_t parts(std::int64_t all, std::int64_t of) { return (all + of - 1) / of; }

  /// The lines of one value of the longest digit or more in each of some rounds, a power of two apart.
  Body spread(const Prefetch& prefetch, const std::vector<Digit>& depth) {
    const auto round = position(depth);
    const auto all_rounds = product(depth);
    // Elements of the same terms as a round's: a line's ones ask for it again, which costs less than to find out.
    auto others = prefetch.digits;
    if (std::erase_if(others, [&](const Digit& d) { return is_one_of(depth, d); }) > 0)
      return loops(others, Bind::unroll, {{Prefetch{prefetch.from, {}, prefetch.written}}});
    auto [digits, lines, quotients] = lines_of(prefetch);
    const auto longest = std::max_element(digits.begin(), digits.end(),
                                          [](const Digit& x, const Digit& y) { return x.extent < y.extent; });
    const auto along = longest == digits.end() ? Digit{-1, 1} : *longest;
    if (along.var >= 0) digits.erase(longest);
    const auto row = loops(digits, Bind::unroll, std::move(lines), quotients);
    const auto each = parts(along.extent, all_rounds), visits = parts(along.extent, each);
    const auto apart = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(all_rounds / visits)));
    Body lets;
    auto visit = round;
    std::vector<Condition> when;
    if (apart > 1 && visits > 1) {
      const auto number = kernel_.add_var("visit", parts(all_rounds, apart)), rest = kernel_.add_var("rest", apart);
      lets = {{Let{.var = number, .of = round, .divisor = apart}},
              {Let{.var = rest, .of = round, .divisor = 1, .modulus = apart}}};
      visit = Affine::of(number);
      when = {{Affine::of(rest), 1}};
    }
    when.push_back({visit, visits});
    Body all;
    for (std::int64_t k = 0; k < each; ++k) {
      const auto number = each * visit + Affine(k);
      Body part = along.var >= 0 ? substituted(row, along.var, number) : row;
      if (!quotients.empty()) part = {{Section{"", std::move(part)}}};
      if (along.extent % each != 0) part = where({{number, along.extent}}, std::move(part));
      for (auto& one : part) all.push_back(std::move(one));
    }
    all = {{If{std::move(when), std::move(all), {}}}};
    if (lets.empty()) return all;
    lets.push_back(std::move(all.front()));
    return {{Section{"", std::move(lets)}}};
  }

  /// As evenly as may be: lines that come more at a time in fewer rounds hold up the loads of these, by which
  /// tccg_intensli00 took 1.15 times as long on an Intel Xeon. The last ones are of rows that end inside of a line.
  Body spread(const FetchLines& ahead, const std::vector<Digit>& depth) {
    constexpr std::int64_t kEnds = 16;  // one of so many
    const auto all_rounds = product(depth);
    const auto each = parts(ahead.lines - ahead.lines / kEnds, all_rounds), of_all = parts(ahead.lines, each);
    auto lines = one(FetchLines{each});
    if (of_all < all_rounds) lines = {{If{{{position(depth), of_all}}, std::move(lines), {}}}};
    return lines;
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
    Body inner{
        {Store{{clear.array, {Affine::of(r), Affine::of(v)}, array.lanes}, identity_of(clear.combine, array.type)}}};
    Body all{{Declare{clear.array}}};
    for (auto& s : loops({{r, array.shape[0]}, {v, array.shape[1]}}, Bind::unroll, std::move(inner)))
      all.push_back(std::move(s));
    return all;
  }

  /// Register by register where lanes are of one digit on both sides, else by blocks of lanes x lanes that are
  /// transposed: vectors along `across`, of as many of `along`, become vectors along that.
  Body one(const TileExchange& exchange) {
    const auto& [to, from] = exchange;
    const auto lanes = kernel_.array(to.array).lanes;
    const auto type = kernel_.array(to.array).type;
    const auto into = columns_of(kernel_, to.columns, lanes), out = columns_of(kernel_, from.columns, lanes);
    const Access write{to.array, {position(to.rows), position(into.digits)}, lanes};
    const Access read{from.array, {position(from.rows), position(out.digits)}, lanes};
    Body all{{Declare{to.array}}};
    auto digits = to.rows;
    if (lanes == 1 || into.lane == out.lane) {
      digits.insert(digits.end(), into.digits.begin(), into.digits.end());
      auto same = lanes == 1 ? read : with(read, out.vectors, Affine::of(into.vectors));
      for (auto& s : loops(digits, Bind::unroll, {{Store{write, load_of(type, std::move(same))}}}))
        all.push_back(std::move(s));
      return all;
    }
    const auto along = to.columns.back(), across = from.columns.back();
    digits.insert(digits.end(), to.columns.begin(), to.columns.end());
    std::erase_if(digits, [&](const Digit& d) { return d.var == along.var || d.var == across.var; });
    Body blocks;
    for (std::int64_t p = 0; p < across.extent; p += lanes) {
      for (std::int64_t q = 0; q < along.extent; q += lanes) {
        const auto reads = std::min<std::int64_t>(along.extent - q, lanes);
        const auto writes = std::min<std::int64_t>(across.extent - p, lanes);
        const auto turned = registers("turned", type, lanes, lanes);
        const auto u = kernel_.add_var("u", reads), w = kernel_.add_var("w", writes);
        const auto row = [&](const Affine& index) { return Access{turned, {index}, lanes}; };
        auto vector = with(with(read, along.var, Affine::of(u) + Affine(q)), out.vectors, Affine(p / lanes));
        Body turn{{Declare{turned}}};
        turn.push_back(loop_over(u, Bind::unroll, {{Store{row(Affine::of(u)), load_of(type, std::move(vector))}}}));
        if (reads < lanes) {
          const auto z = kernel_.add_var("z", lanes - reads);
          turn.push_back(loop_over(z, Bind::unroll, {{Store{row(Affine::of(z) + Affine(reads)), zero_of(type)}}}));
        }
        turn.push_back({Transpose{turned}});
        vector = with(with(write, across.var, Affine::of(w) + Affine(p)), into.vectors, Affine(q / lanes));
        turn.push_back(loop_over(w, Bind::unroll, {{Store{std::move(vector), load_of(type, row(Affine::of(w)))}}}));
        blocks.push_back({Section{"", std::move(turn)}});
      }
    }
    for (auto& s : loops(digits, Bind::unroll, std::move(blocks))) all.push_back(std::move(s));
    return all;
  }

  int registers(const std::string& stem, DType type, std::int64_t count, int lanes) {
    return add_registers(kernel_, stem, type, count, lanes, origin_);
  }

  Body one(const Mma& mma) {
    if (mma.group() > 1) return dots(mma);
    const auto lanes = kernel_.array(mma.accumulator).lanes;
    const auto of = kernel_.array(mma.accumulator).type;
    const auto columns = columns_of(kernel_, mma.columns, lanes);
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
    const Access sum{mma.accumulator, {row, column}, lanes};
    auto term = term_of(mma, of, load_of(of, to_a), load_of(of, to_b));
    const auto op = mma.negative ? ir::OpCode::sub : mma.combine;
    const Body add{{Store{sum, mma.outer ? std::move(term) : apply(op, of, {load_of(of, sum), std::move(term)})}}};
    // Of rows and vectors the fewer stay in registers, so that sums do: with all eight vectors read first, three rows
    // of them took 1.2 times as long on an AMD EPYC, as one of the sums went through memory.
    const bool by_vectors = product(columns.digits) > product(mma.rows);
    const auto read_and_add = [&](Access access) {
      auto read = read_b(std::move(access));
      for (auto& s : loops(mma.rows, Bind::unroll, add)) read.push_back(std::move(s));
      return read;
    };
    auto reads_b = by_vectors ? tail_apart(columns, mma.columns, vectors_of(mma.b), read_and_add)
                              : tail_apart(columns, mma.columns, vectors_of(mma.b), read_b);
    for (auto& s : reads_b) round.push_back(std::move(s));
    if (!by_vectors) {
      for (auto& s : loops(mma.rows, Bind::unroll, loops(columns.digits, Bind::unroll, add)))
        round.push_back(std::move(s));
    }
    return rounds(mma.depth, product(mma.rows) * product(columns.digits), std::move(round));
  }

  /// Dot products of groups of neighbours. Where elements of a are larger by 128, sums are by as many times b's, which
  /// are summed beside them.
  Body dots(const Mma& mma) {
    const auto lanes = kernel_.array(mma.accumulator).lanes, group = static_cast<int>(mma.group());
    const auto of = kernel_.array(mma.accumulator).type;
    auto depth = mma.depth;
    const auto terms = depth.back().var;
    depth.pop_back();
    const auto columns = columns_of(kernel_, mma.columns, lanes);
    const auto vectors = product(columns.digits);
    const Access sum{mma.accumulator, {position(mma.rows), position(columns.digits)}, lanes};
    const auto groups = [&](const Access& from, int number) {
      auto access = with(from, terms, 0);
      access.lanes = number * group;
      return load_of(type(access), access);
    };
    const Access a{registers("a_", type(mma.a), product(mma.rows), group), {position(mma.rows)}, group};
    const Access b{registers("b_", type(mma.b), vectors, lanes * group), {position(columns.digits)}, lanes * group};
    const auto of_b = groups(with(mma.b, columns.lane, Affine::of(columns.vectors, lanes)), lanes);
    const auto add = [&](const Access& to, Value by) {
      Value value;
      value.kind = Value::Kind::dot;
      value.type = of;
      value.operands = {load_of(of, to), std::move(by), load_of(type(b), b)};
      return Body{{Store{to, std::move(value)}}};
    };
    const auto over = [](const std::vector<Digit>& digits, Body inner) {
      return loops(digits, Bind::unroll, std::move(inner));
    };
    Body all, round{{Declare{a.array}}, {Declare{b.array}}};
    const auto then = [](Body& body, Body more) {
      for (auto& statement : more) body.push_back(std::move(statement));
    };
    then(round, over(mma.rows, {{Store{a, groups(mma.a, 1)}}}));
    then(round, over(columns.digits, {{Store{b, of_b}}}));
    Access beside{-1, {position(columns.digits)}, lanes};
    if (mma.flipped) {
      beside.array = registers("beside", of, vectors, lanes);
      all.push_back({Declare{beside.array, true}});
      Value by;
      by.kind = Value::Kind::pack;
      by.type = type(a);
      for (int k = 0; k < group; ++k) by.operands.push_back(sign_flipped(zero_of(type(a))).operands[1]);
      then(round, over(columns.digits, add(beside, std::move(by))));
    }
    then(round, over(mma.rows, over(columns.digits, add(sum, load_of(type(a), a)))));
    then(all, rounds(depth, product(mma.rows) * vectors, std::move(round)));
    if (mma.flipped) {
      auto less = apply(ir::OpCode::sub, of, {load_of(of, sum), load_of(of, beside)});
      then(all, over(mma.rows, over(columns.digits, {{Store{sum, std::move(less)}}})));
    }
    return all;
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
    if (prefetch.digits.empty()) {
      if (prefetch.quotients.empty()) return {{prefetch}};
      Body named;
      for (const auto& let : prefetch.quotients) named.push_back({let});
      named.push_back({Prefetch{prefetch.from, {}, prefetch.written}});
      return {{Section{"", std::move(named)}}};
    }
    const auto [digits, lines, quotients] = lines_of(prefetch);
    auto body = loops(digits, Bind::unroll, lines, quotients);
    return quotients.empty() ? body : Body{{Section{"", std::move(body)}}};
  }
  /// Those of one value of the digits.
  struct Lines {
    std::vector<Digit> digits;
    Body body;
    std::vector<Let> quotients;
  };
  Lines lines_of(const Prefetch& prefetch) {
    const auto from = Access{prefetch.from.array, {along_axes(prefetch.from.index.front(), prefetch.quotients)}};
    auto quotients = prefetch.quotients;
    std::erase_if(quotients, [&](const Let& let) { return from.index.front().coefficient(let.var) == 0; });
    auto outer = prefetch.digits;
    const auto step = [&](const Digit& d) {
      const auto by = step_along(from.index.front(), quotients, d.var);
      return d.extent > 1 && by > 0 ? by : std::numeric_limits<std::int64_t>::max();
    };
    const auto nearest = std::min_element(outer.rbegin(), outer.rend(),
                                          [&](const Digit& x, const Digit& y) { return step(x) < step(y); });
    std::rotate(nearest.base() - 1, nearest.base(), outer.end());
    const auto last = outer.back();
    outer.pop_back();
    const auto along = std::max<std::int64_t>(step_along(from.index.front(), quotients, last.var), 1);
    const auto line_elements = std::max<std::int64_t>(kLineBytes / size_of(type(from)) / along, 1);
    std::vector<Let> own;  // of the digit with the smallest steps
    std::erase_if(quotients, [&](const Let& let) {
      if (let.of.coefficient(last.var) != 0) own.push_back(let);
      return let.of.coefficient(last.var) != 0;
    });
    const auto at = [&](const Affine& element) {
      Body body;
      for (const auto& let : with(own, last.var, element)) body.push_back({let});
      body.push_back({Prefetch{with(from, last.var, element), {}, prefetch.written}});
      return own.empty() ? body : Body{{Section{"", std::move(body)}}};
    };
    const auto count = (last.extent + line_elements - 1) / line_elements;
    const Digit line{kernel_.add_var(name(last.var) + "l", count), count};
    auto lines = loops({line}, Bind::unroll, at(Affine::of(line.var, line_elements)));
    const auto& terms = from.index.front().terms;
    const bool aligned = own.empty() && std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
                           return term.var == last.var || term.coefficient % line_elements == 0;
                         });
    if (!aligned && last.extent > 1) {
      for (auto& statement : at(Affine(last.extent - 1))) lines.push_back(std::move(statement));
    }
    return {std::move(outer), std::move(lines), std::move(quotients)};
  }

  Kernel& kernel_;
  int origin_ = -1;  // of the statement that is being expanded
  Body meanwhile_;   // what the next product fetches
};

}  // namespace

Columns columns_of(Kernel& kernel, const std::vector<Digit>& columns, int lanes) {
  Columns result{columns, -1, -1, lanes};
  if (columns.empty()) return result;
  auto& last = result.digits.back();
  result.lane = last.var;
  if (lanes == 1) {
    result.vectors = last.var;
    return result;
  }
  last.extent = (last.extent + lanes - 1) / lanes;
  last.var = kernel.add_var(kernel.vars[static_cast<std::size_t>(last.var)].name + "v", last.extent);
  result.vectors = last.var;
  return result;
}

Body substituted(const Body& from, Var var, const Affine& by) {
  Body to;
  for (auto statement : from) {
    if (auto* store = std::get_if<Store>(&statement.node)) {
      store->to = with(std::move(store->to), var, by);
      store->value = with(std::move(store->value), var, by);
    } else if (auto* let = std::get_if<Let>(&statement.node)) {
      let->of = let->of.with(var, by);
    } else if (auto* section = std::get_if<Section>(&statement.node)) {
      section->body = substituted(section->body, var, by);
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

Body loops(const std::vector<Digit>& digits, Bind bind, Body inner, const std::vector<Let>& quotients) {
  auto left = quotients;
  const auto name = [&](auto is_known) {
    Body body;
    for (const auto& let : left) {
      if (is_known(let)) body.push_back({let});
    }
    std::erase_if(left, is_known);
    if (body.empty()) return;
    for (auto& statement : inner) body.push_back(std::move(statement));
    inner = std::move(body);
  };
  for (std::size_t k = digits.size(); k-- > 0;) {
    name([&](const Let& let) { return let.of.coefficient(digits[k].var) != 0; });
    if (digits[k].extent == 1) {
      inner = substituted(inner, digits[k].var, 0);
    } else {
      inner = {loop_over(digits[k].var, bind, std::move(inner))};
    }
  }
  name([](const Let&) { return true; });
  return inner;
}

std::vector<Digit> take_spelt(std::vector<Digit>& digits, std::int64_t most) {
  std::int64_t rounds = 1;
  auto first = digits.end();
  while (first != digits.begin() && rounds * std::prev(first)->extent <= most) rounds *= (--first)->extent;
  std::vector<Digit> spelt(first, digits.end());
  digits.erase(first, digits.end());
  return spelt;
}

Body loops_inside_spelt(std::vector<Digit> digits, std::int64_t most, Body inner) {
  const auto spelt = take_spelt(digits, most);
  return loops(digits, Bind::serial, loops(spelt, Bind::unroll, std::move(inner)));
}

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
