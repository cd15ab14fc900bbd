// Copies on a CPU: packing by vectors, by transposes in registers, or element by element.
#include <algorithm>
#include <optional>

#include "ir/operation_types.hpp"
#include "kernel/expand_cpu.hpp"
#include "kernel/extensions.hpp"

namespace ricci::kernel {
namespace {

/// Rounds of so many and fewer are spelt out.
constexpr std::int64_t kVectors = 4, kElements = 16;

/// Whether a body, all that its conditions choose from, has no loops and no vectors to turn.
bool stores_alone(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const Statement& statement) {
    const auto* branch = std::get_if<If>(&statement.node);
    return branch != nullptr ? stores_alone(branch->then) && stores_alone(branch->otherwise)
                             : std::holds_alternative<Store>(statement.node);
  });
}

class CopyExpander {
 public:
  CopyExpander(Kernel& kernel, int origin) : kernel_(kernel), origin_(origin) {}

  Body all(const Copy& copy) {
    const auto of = type(copy.to);
    auto lanes = static_cast<int>(kernel_.vector_bytes / size_of(of));
    auto digits = copy.digits;
    std::erase_if(digits, [](const Digit& d) { return d.extent == 1; });
    Copy whole = copy;
    for (const auto& d : copy.digits) {
      if (d.extent > 1) continue;
      whole.to = with(whole.to, d.var, 0);
      whole.from = with(whole.from, d.var, 0);
      whole.when = with(whole.when, d.var, 0);
      whole.quotients = with(whole.quotients, d.var, 0);
    }
    auto& from = whole.from.index.front();
    from = along_axes(from, whole.quotients);
    std::erase_if(whole.quotients, [&](const Let& let) { return from.coefficient(let.var) == 0; });
    if (!whole.quotients.empty()) {
      whole.digits = digits;
      return expand_joined_copy_cpu(kernel_, whole, origin_);
    }
    const auto step = [](const Access& access, const Digit& d) { return access.index.front().coefficient(d.var); };
    std::optional<Digit> t, s;
    for (const auto& d : digits) {
      if (step(whole.to, d) == 1) t = d;
      if (step(whole.from, d) == 1) s = d;
    }
    std::vector<Digit> inner;
    if (t) inner.push_back(*t);
    if (s && t && s->var != t->var) inner.push_back(*s);
    std::vector<Digit> outer;
    for (const auto& d : digits) {
      if (std::none_of(inner.begin(), inner.end(), [&](const Digit& i) { return i.var == d.var; })) outer.push_back(d);
    }
    std::stable_sort(outer.begin(), outer.end(),
                     [&](const Digit& x, const Digit& y) { return step(whole.from, x) > step(whole.from, y); });

    // Conditions that can fail: blocks that end with the index hold nothing beyond it, where the loops over them end.
    std::vector<Condition> when;
    bool by_blocks = true;
    for (const auto& condition : whole.when) {
      const auto element = std::find_if(digits.begin(), digits.end(),
                                        [&](const Digit& d) { return condition.value.coefficient(d.var) == 1; });
      if (element == digits.end()) continue;
      const bool ends = std::all_of(digits.begin(), digits.end(), [&](const Digit& d) {
        const auto by = condition.value.coefficient(d.var);
        const bool is_inner = std::any_of(inner.begin(), inner.end(), [&](const Digit& i) { return i.var == d.var; });
        return by == 0 || by == 1 || (!is_inner && !d.padded);
      });
      if (ends && condition.below % element->extent == 0) continue;
      const auto first = condition.value.with(element->var, Affine(0));
      by_blocks = by_blocks && first.constant == 0 &&
                  std::all_of(first.terms.begin(), first.terms.end(),
                              [&](const auto& term) { return term.coefficient % element->extent == 0; }) &&
                  std::all_of(inner.begin(), inner.end(), [&](const Digit& d) {
                    return d.var == element->var || condition.value.coefficient(d.var) == 0;
                  });
      when.push_back(condition);
    }
    if (t && s && t->var != s->var) lanes = std::min(lanes, kMostTransposed);
    const bool alike = type(copy.from) == of ? !is_complex(of) : ir::converts_vectors(type(copy.from), of);
    const Tile tile{t, s, alike && !copy.rounded && !copy.flipped && lanes > 1, lanes};
    ahead_ = s && kernel_.array(copy.from.array).space == Space::global ? read_ahead(tile, outer, whole.from) : 0;
    if (by_blocks && is_worth_stripes(whole, tile, outer)) return stripes(whole, tile, digits, outer, when);
    if (by_blocks) return copy_loops(kernel_, outer, inner, whole.when, blocks(whole, tile, digits, when));
    std::vector<Condition> all = when;
    for (auto& condition : all) {
      for (const auto& d : inner) condition.value = condition.value.with(d.var, Affine(d.extent - 1));
    }
    return copy_loops(kernel_, outer, inner, whole.when, where(all, moved(whole, tile), singly(whole, inner, when)));
  }

 private:
  static constexpr int kMostTransposed = 16;  ///< vectors that are transposed in registers

  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  DType type(const Access& access) const { return kernel_.array(access.array).type; }

  /// The innermost digits of a copy: neighbours in what is written and in what is read.
  struct Tile {
    std::optional<Digit> t, s;
    bool by_vectors = false;
    int lanes = 1;

    std::vector<Digit> digits() const {
      std::vector<Digit> list;
      if (t) list.push_back(*t);
      if (s && t && s->var != t->var) list.push_back(*s);
      return list;
    }
    Tile with_digit(Var var, const Digit& by) const {
      Tile result = *this;
      for (auto* digit : {&result.t, &result.s}) {
        if (*digit && (*digit)->var == var) *digit = by;
      }
      return result;
    }
  };

  /// How far ahead in memory of what is read lines are asked for, as a processor follows fewer streams than are
  /// transposed together: some lines or, where what lies side by side from s on ends soon, some rounds of the innermost
  /// loop that has enough.
  std::int64_t read_ahead(const Tile& tile, std::vector<Digit> others, const Access& from) const {
    constexpr std::int64_t kLines = 4;           // of each stream
    constexpr std::int64_t kLinesOfRounds = 64;  // of all streams together
    const auto size = size_of(type(from));
    const auto& index = from.index.front();
    auto run = tile.s->extent;
    for (auto next = others.end();
         (next = std::find_if(others.begin(), others.end(),
                              [&](const Digit& d) { return index.coefficient(d.var) == run; })) != others.end();
         others.erase(next))
      run *= next->extent;
    if (run * size >= 4 * kLines * kLineBytes) return kLines * kLineBytes / size;
    auto lines = (tile.t ? tile.t->extent : 1) * ((run * size + kLineBytes - 1) / kLineBytes);
    std::reverse(others.begin(), others.end());
    for (const auto& digit : others) {
      const auto rounds = (kLinesOfRounds + lines - 1) / lines;
      if (2 * rounds <= digit.extent) return rounds * index.coefficient(digit.var);
      lines *= digit.extent;
    }
    return 0;
  }

  /// Whether blocks that are transposed one after the other along t would leave what lies beside them in memory: so
  /// many streams are read in turns, of which processors follow only a few.
  static bool is_worth_stripes(const Copy& copy, const Tile& tile, const std::vector<Digit>& outer) {
    const auto& [t, s, by_vectors, lanes] = tile;
    if (!by_vectors || !t || !s || s->var == t->var || t->padded || t->extent <= lanes) return false;
    if (!fill_registers(lanes, s->extent, lanes)) return false;
    const auto& from = copy.from.index.front();
    return std::any_of(outer.begin(), outer.end(), [&](const Digit& d) {
      return d.extent > 1 && from.coefficient(d.var) < lanes * from.coefficient(t->var);
    });
  }

  /// A copy in stripes of one vector's elements along t, each of which goes along all that is nearer in memory on its
  /// own. Where tiles may end inside of t and are no whole vectors, each stripe has its own text.
  Body stripes(const Copy& copy, const Tile& tile, const std::vector<Digit>& digits, const std::vector<Digit>& outer,
               const std::vector<Condition>& when) {
    const auto t = *tile.t;
    const std::int64_t lanes = tile.lanes, whole = t.extent / lanes, rest = t.extent % lanes;
    const auto step = [&](const Digit& d) { return copy.from.index.front().coefficient(d.var); };
    const auto stripe = [&](const Affine& from, std::int64_t extent, std::optional<Digit> block) {
      const Digit part{kernel_.add_var(name(t.var), extent), extent};
      const auto element = from + Affine::of(part.var);
      Copy one = copy;
      for (auto* access : {&one.to, &one.from}) *access = with(*access, t.var, element);
      one.when = with(one.when, t.var, element);
      auto all = digits;
      std::replace_if(all.begin(), all.end(), [&](const Digit& d) { return d.var == t.var; }, part);
      auto loops = outer;
      if (block) {
        const auto nearer =
            std::find_if(loops.begin(), loops.end(), [&](const Digit& d) { return step(d) < lanes * step(t); });
        loops.insert(nearer, *block);
        all.push_back(*block);
      }
      const auto mine = tile.with_digit(t.var, part);
      return copy_loops(kernel_, loops, mine.digits(), one.when, blocks(one, mine, all, with(when, t.var, element)));
    };
    const bool ends =
        std::any_of(when.begin(), when.end(), [&](const Condition& c) { return c.value.coefficient(t.var) != 0; });
    Body body;
    const auto add = [&](Body part) {
      for (auto& statement : part) body.push_back(std::move(statement));
    };
    if (ends && rest > 0) {
      period_ = t.extent;
      for (std::int64_t from = 0; from < t.extent; from += lanes)
        add(stripe(Affine(from), std::min(lanes, t.extent - from), std::nullopt));
      period_ = 0;
      return body;
    }
    const Digit block{kernel_.add_var(name(t.var) + "s", whole), whole};
    add(whole > 1 ? stripe(Affine::of(block.var, lanes), lanes, block) : stripe(Affine(0), lanes, std::nullopt));
    if (rest > 0) add(stripe(Affine(whole * lanes), rest, std::nullopt));
    return body;
  }

  /// The elements of a tile, all of which exist.
  Body moved(const Copy& copy, const Tile& tile) {
    const auto& [t, s, by_vectors, lanes] = tile;
    if (by_vectors && s && t && s->var == t->var) {
      const bool whole = t->extent < lanes && (t->extent & (t->extent - 1)) == 0;
      return run(copy, *t, whole ? static_cast<int>(t->extent) : lanes);
    }
    if (by_vectors && s && t && fill_registers(t->extent, s->extent, lanes)) {
      // A few along t are all that narrow vectors hold, which take fewer rounds.
      constexpr int kNarrowest = 4;
      int enough = lanes;
      while (enough / 2 >= std::max<std::int64_t>(t->extent, kNarrowest)) enough /= 2;
      return transposed(copy, *t, *s, enough);
    }
    return singly(copy, tile.digits(), {});
  }

  /// The elements of a tile that exist: all, or as many as an index has in its last block, which is a literal. What a
  /// padded digit has beyond them is 0.
  Body blocks(const Copy& copy, const Tile& tile, const std::vector<Digit>& digits, std::vector<Condition> when) {
    if (when.empty()) return moved(copy, tile);
    const auto condition = when.back();
    when.pop_back();
    const auto element = *std::find_if(digits.begin(), digits.end(),
                                       [&](const Digit& d) { return condition.value.coefficient(d.var) == 1; });
    const auto inner = tile.digits();
    const bool outside = std::none_of(inner.begin(), inner.end(), [&](const Digit& d) { return d.var == element.var; });
    auto then = blocks(copy, tile, digits, when);
    if (outside) return where({condition}, std::move(then), element.padded ? zeros(copy, inner) : Body());
    const auto first = condition.value.with(element.var, Affine(0));
    const bool stripe = period_ > 0 && tile.t && tile.t->var == element.var;
    const auto rest = stripe ? std::clamp<std::int64_t>(condition.below % period_ - first.constant, 0, element.extent)
                             : condition.below % element.extent;
    const auto only = [&](const Digit& by, std::int64_t from) {
      Copy part = copy;
      for (auto* access : {&part.to, &part.from})
        *access = with(*access, element.var, Affine::of(by.var) + Affine(from));
      return part;
    };
    const auto digit_of = [&](std::int64_t extent) {
      return Digit{kernel_.add_var(name(element.var), extent), extent};
    };
    Body otherwise;
    if (rest > 0) {
      const auto few = digit_of(rest);
      otherwise = blocks(only(few, 0), tile.with_digit(element.var, few), digits, when);
    }
    if (element.padded) {
      const auto beyond = digit_of(element.extent - rest);
      auto ends = zeros(only(beyond, rest), tile.with_digit(element.var, beyond).digits());
      for (auto& statement : ends) otherwise.push_back(std::move(statement));
      otherwise = where({{first, condition.below}}, std::move(otherwise), zeros(copy, inner));
    }
    return where({{first + Affine(element.extent - 1), condition.below}}, std::move(then), std::move(otherwise));
  }

  Body zeros(const Copy& copy, const std::vector<Digit>& digits) {
    return loops_inside_spelt(digits, kElements, {{Store{copy.to, zero_of(type(copy.to))}}});
  }

  /// Element by element, 0 where a condition fails.
  Body singly(const Copy& copy, std::vector<Digit> inner, const std::vector<Condition>& when) {
    std::reverse(inner.begin(), inner.end());
    auto value = converted(kernel_, copy.from, type(copy.to), copy.rounded);
    if (copy.flipped) value = sign_flipped(std::move(value));
    Body store{{Store{copy.to, std::move(value)}}};
    if (!when.empty()) store = where(when, std::move(store), {{Store{copy.to, zero_of(type(copy.to))}}});
    return loops_inside_spelt(inner, kElements, std::move(store));
  }

  /// Neighbours on both sides: vectors, and a last one in part.
  Body run(const Copy& copy, const Digit& t, int lanes) {
    Body body;
    const auto vectors = t.extent / lanes;
    const auto move = [&](const Affine& first, int count) {
      Access to = with(copy.to, t.var, first), from = with(copy.from, t.var, first);
      to.lanes = from.lanes = lanes;
      to.count = from.count = count;
      return Statement{Store{to, converted(kernel_, from, type(to), {})}};
    };
    if (vectors > 0) {
      const auto v = kernel_.add_var(name(t.var) + "v", vectors);
      if (vectors == 1) {
        body.push_back(move(Affine(0), 0));
      } else {
        body.push_back(
            loop_over(v, vectors <= kVectors ? Bind::unroll : Bind::serial, {move(Affine::of(v, lanes), 0)}));
      }
    }
    if (t.extent % lanes != 0) body.push_back(move(Affine(vectors * lanes), static_cast<int>(t.extent % lanes)));
    return body;
  }

  /// Whether so many elements along t and along s are worth a transposition in registers.
  static bool fill_registers(std::int64_t ts, std::int64_t ss, int lanes) {
    return std::min<std::int64_t>(ts, lanes) * std::min<std::int64_t>(ss, lanes) >= std::int64_t{2} * lanes && ts > 1 &&
           ss > 1;
  }

  /// Neighbours along s on the one side and along t on the other: blocks of lanes x lanes transposed in registers, in
  /// part at the ends of t and s. Of a few of t, all that lies along s is read before the next ones.
  Body transposed(const Copy& copy, const Digit& t, const Digit& s, int lanes) {
    // Another name for each copy: those of several operands may stand in one scope.
    const auto rows =
        add_registers(kernel_, kernel_.array(copy.to.array).name + "_rows", type(copy.to), lanes, lanes, origin_);
    const auto block = [&](const Affine& from_t, std::int64_t ts, const Affine& from_s, std::int64_t ss) -> Body {
      if (!fill_registers(ts, ss, lanes)) {
        const auto p = kernel_.add_var(name(t.var) + "r", ts), o = kernel_.add_var(name(s.var) + "r", ss);
        Copy left = copy;
        for (auto* access : {&left.to, &left.from})
          *access = with(with(*access, t.var, from_t + Affine::of(p)), s.var, from_s + Affine::of(o));
        return singly(left, {{p, ts}, {o, ss}}, {});
      }
      const auto vectors = [&](Access access, Var along, const Affine& from, std::int64_t count, Var across,
                               const Affine& at) {
        access = with(with(std::move(access), along, from), across, at);
        access.lanes = lanes;
        access.count = static_cast<int>(count % lanes);
        return access;
      };
      const auto u = kernel_.add_var("u", ts), w = kernel_.add_var("w", ss);
      const auto row = [&](const Affine& index) { return Access{rows, {index}, lanes}; };
      Body turn{{Declare{rows}}};
      auto from = vectors(copy.from, s.var, from_s, ss, t.var, from_t + Affine::of(u));
      Body read;
      if (ahead_ > 0 && ss == lanes) {
        auto later = with(with(copy.from, s.var, from_s + Affine(ahead_)), t.var, from_t + Affine::of(u));
        read.push_back({Prefetch{std::move(later), {}, false}});
      }
      read.push_back({Store{row(Affine::of(u)), converted(kernel_, std::move(from), type(copy.to), {})}});
      turn.push_back(loop_over(u, Bind::unroll, std::move(read)));
      if (ts < lanes) {
        const auto z = kernel_.add_var("z", lanes - ts);
        turn.push_back(loop_over(z, Bind::unroll, {{Store{row(Affine::of(z) + Affine(ts)), zero_of(type(copy.to))}}}));
      }
      turn.push_back({Transpose{rows}});
      auto to = vectors(copy.to, t.var, from_t, ts, s.var, from_s + Affine::of(w));
      turn.push_back(loop_over(w, Bind::unroll, {{Store{std::move(to), load_of(type(copy.to), row(Affine::of(w)))}}}));
      return turn;
    };
    const auto along_s = [&](const Affine& from_t, std::int64_t ts) {
      Body body;
      if (const auto whole = s.extent / lanes; whole > 0) {
        const auto sb = kernel_.add_var(name(s.var) + "b", whole);
        body.push_back(loop_over(sb, Bind::serial, block(from_t, ts, Affine::of(sb, lanes), lanes)));
      }
      if (const auto rest = s.extent % lanes; rest > 0) {
        for (auto& statement : block(from_t, ts, Affine(s.extent - rest), rest)) body.push_back(std::move(statement));
      }
      return body;
    };
    Body body;
    if (const auto whole = t.extent / lanes; whole > 0) {
      const auto tb = kernel_.add_var(name(t.var) + "b", whole);
      body.push_back(loop_over(tb, Bind::serial, along_s(Affine::of(tb, lanes), lanes)));
    }
    if (const auto rest = t.extent % lanes; rest > 0) {
      for (auto& statement : along_s(Affine(t.extent - rest), rest)) body.push_back(std::move(statement));
    }
    return body;
  }

  Kernel& kernel_;
  int origin_;               // of the copy
  std::int64_t ahead_ = 0;   // how many elements further in memory lines are asked for
  std::int64_t period_ = 0;  // of tiles along t, where a part of them is copied as a stripe
};

}  // namespace

Body copy_loops(Kernel& kernel, const std::vector<Digit>& digits, const std::vector<Digit>& inner_digits,
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
    const bool spelt = k + 1 == digits.size() && kernel.extent(digits[k].var) <= kVectors && stores_alone(inner);
    inner = {loop_over(digits[k].var, spelt ? Bind::unroll : Bind::serial, std::move(inner), std::move(limits))};
  }
  return inner;
}

Body expand_copy_cpu(Kernel& kernel, const Copy& copy, int origin) {
  if (const auto* rule = find_rule(kernel, copy)) return rule->expand(kernel, copy, {});
  if (auto grouped = expand_grouped_copy_cpu(kernel, copy, origin)) return std::move(*grouped);
  return CopyExpander(kernel, origin).all(copy);
}

}  // namespace ricci::kernel
