// Packing on a CPU as dot products take operands: groups of neighbours along the depth, by vectors.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "kernel/expand_cpu.hpp"

namespace ricci::kernel {
namespace {

/// A copy that writes groups side by side: of a word each, which vectors move as if it were one element.
class GroupedCopy {
 public:
  GroupedCopy(Kernel& kernel, const Copy& copy, int origin) : kernel_(kernel), copy_(copy), origin_(origin) {
    for (const auto& d : copy.digits) {
      if (d.extent > 1) continue;
      copy_.to = with(copy_.to, d.var, 0);
      copy_.from = with(copy_.from, d.var, 0);
      copy_.when = with(copy_.when, d.var, 0);
    }
    std::erase_if(copy_.digits, [](const Digit& d) { return d.extent == 1; });
    group_ = static_cast<int>(kWord / size_of(type(copy.to)));
    lanes_ = static_cast<int>(kernel.vector_bytes / kWord);
  }

  std::optional<Body> all() {
    const auto term = digit([&](const Digit& d) { return write_step(d) == 1; });
    if (!term || term->extent != group_) return std::nullopt;
    term_ = *term;
    const auto of_term = read_step(term_);
    const auto depth = digit([&](const Digit& d) { return d.var != term_.var && read_step(d) == group_ * of_term; });
    along_depth_ = of_term == 1;
    const auto along =
        along_depth_ ? depth : digit([&](const Digit& d) { return d.var != term_.var && read_step(d) == 1; });
    const auto across = digit([&](const Digit& d) { return write_step(d) == group_; });
    if (!along || !across) return std::nullopt;
    const auto apart = [&](const Condition& condition) {  // neighbours would be of other groups that are not whole
      return condition.value.coefficient(term_.var) != 0 && condition.value.coefficient(along->var) != group_;
    };
    if (along_depth_ && std::any_of(copy_.when.begin(), copy_.when.end(), apart)) return std::nullopt;
    along_ = *along;
    across_ = *across;
    std::vector<Digit> inner{term_, along_}, outer;
    if (turns()) inner.push_back(across_);
    for (const auto& d : copy_.digits) {
      if (std::none_of(inner.begin(), inner.end(), [&](const Digit& i) { return i.var == d.var; })) outer.push_back(d);
    }
    std::stable_sort(outer.begin(), outer.end(),
                     [&](const Digit& x, const Digit& y) { return read_step(x) > read_step(y); });
    std::vector<Condition> when;
    for (const auto& condition : copy_.when) {
      const auto known = evenly(condition, outer);
      if (!known) return std::nullopt;
      if (*known) when.push_back(condition);
    }
    auto body = existing(when, {along_depth_ ? along_.extent * group_ : along_.extent, across_.extent, group_});
    body = copy_loops(kernel_, outer, inner, copy_.when, std::move(body));
    if (none_ >= 0) body.insert(body.begin(), {Declare{none_, true}});
    return body;
  }

 private:
  static constexpr std::int64_t kWord = 4;
  /// What exists of the innermost digits: neighbours, which are terms where these lie along the depth, vectors of them
  /// that are turned together, and terms of a group.
  struct Extents {
    std::int64_t along, across, terms;
  };

  DType type(const Access& access) const { return kernel_.array(access.array).type; }
  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  std::int64_t write_step(const Digit& d) const { return copy_.to.index.front().coefficient(d.var); }
  std::int64_t read_step(const Digit& d) const { return copy_.from.index.front().coefficient(d.var); }
  template <class Is>
  std::optional<Digit> digit(Is is) const {
    const auto found = std::find_if(copy_.digits.begin(), copy_.digits.end(), is);
    return found == copy_.digits.end() ? std::nullopt : std::optional(*found);
  }
  /// Whether neighbours in the operand are apart in the copy.
  bool turns() const { return along_.var != across_.var; }

  /// The digit in whose last block a condition fails, and how many elements that has.
  const Digit& ended(const Condition& condition) const {
    if (condition.value.coefficient(term_.var) != 0) return term_;
    return turns() && condition.value.coefficient(across_.var) != 0 ? across_ : along_;
  }
  std::int64_t block(const Digit& digit) const {
    return digit.var == term_.var && along_depth_ ? along_.extent * group_ : digit.extent;
  }
  bool is_inner(const Condition& condition) const { return condition.value.coefficient(ended(condition).var) != 0; }
  Affine first(const Condition& condition) const {
    auto value = condition.value.with(ended(condition).var, Affine(0));
    return ended(condition).var == term_.var && along_depth_ ? value.with(along_.var, Affine(0)) : value;
  }
  /// Whether a condition fails within the last block of its digit, if anywhere; nothing where that is no literal.
  std::optional<bool> evenly(const Condition& condition, const std::vector<Digit>& outer) const {
    if (!is_inner(condition)) {
      return std::any_of(outer.begin(), outer.end(),
                         [&](const Digit& d) { return condition.value.coefficient(d.var) != 0; });
    }
    const auto first = this->first(condition);
    const auto extent = block(ended(condition));
    const bool whole = condition.value.coefficient(ended(condition).var) == 1 && first.constant == 0 &&
                       std::all_of(first.terms.begin(), first.terms.end(), [&](const auto& term) {
                         return term.coefficient % extent == 0 && term.var != along_.var && term.var != across_.var;
                       });
    return whole ? std::optional(true) : std::nullopt;
  }

  /// All that exists, and zeros for terms that do not.
  Body existing(std::vector<Condition> when, const Extents& extents) {
    if (when.empty()) return moved(extents);
    const auto condition = when.back();
    when.pop_back();
    if (!is_inner(condition)) {
      const bool padded = std::any_of(copy_.digits.begin(), copy_.digits.end(), [&](const Digit& d) {
        return d.padded && condition.value.coefficient(d.var) != 0;
      });
      return where({condition}, existing(when, extents), padded ? zeros(0, 0) : Body());
    }
    const auto& digit = ended(condition);
    const auto first = this->first(condition);
    const auto extent = block(digit), rest = condition.below % extent;
    const bool in_terms = digit.var == term_.var;
    auto few = extents;
    Body beyond;
    if (in_terms && !along_depth_) {
      few.terms = rest;
    } else if (in_terms) {
      few.along = rest;
      beyond = zeros((rest + group_ - 1) / group_, 0);
    } else if (digit.var == along_.var) {
      few.along = along_depth_ ? rest * group_ : rest;
      if (digit.padded) beyond = zeros(rest, 0);
    } else {
      few.across = rest;
      if (digit.padded) beyond = zeros(0, rest);
    }
    auto then = existing(when, extents);
    auto otherwise = rest > 0 ? existing(when, few) : Body();
    append(otherwise, std::move(beyond));
    if (digit.padded) otherwise = where({{first, condition.below}}, std::move(otherwise), zeros(0, 0));
    return where({{first + Affine(extent - 1), condition.below}}, std::move(then), std::move(otherwise));
  }

  static void append(Body& body, Body more) {
    for (auto& statement : more) body.push_back(std::move(statement));
  }

  /// Groups from numbers of both digits on.
  Body zeros(std::int64_t along, std::int64_t across) {
    if (along >= along_.extent || across >= across_.extent) return {};
    auto to = with(copy_.to, term_.var, 0);
    to.lanes = group_;
    std::vector<Digit> digits;
    const auto left = [&](const Digit& digit, std::int64_t from) {
      digits.push_back({kernel_.add_var(name(digit.var), digit.extent - from), digit.extent - from});
      to = with(to, digit.var, Affine::of(digits.back().var) + Affine(from));
    };
    left(along_, along);
    if (turns()) left(across_, across);
    return loops(digits, Bind::serial, {{Store{std::move(to), zero_of(type(copy_.to))}}});
  }

  /// f(first, count) for blocks of a vector's groups.
  ///   apart  the last block has a text of its own
  template <class F>
  Body blocks(Var var, std::int64_t count, bool apart, F f) {
    Body body;
    const auto whole = (apart ? count - 1 : count) / lanes_, rest = count - whole * lanes_;
    if (whole == 1) append(body, f(Affine(0), lanes_));
    if (whole > 1) {
      const auto block = kernel_.add_var(name(var) + "b", whole);
      body.push_back(loop_over(block, Bind::serial, f(Affine::of(block, lanes_), lanes_)));
    }
    if (rest > 0) append(body, f(Affine(whole * lanes_), rest));
    return body;
  }

  Body moved(const Extents& extents) {
    const auto unit = along_depth_ ? group_ : 1;
    const auto groups = (extents.along + unit - 1) / unit;
    const auto along = [&](const auto& make) {
      const auto less = groups * unit - extents.along;
      return blocks(along_.var, groups, less > 0, [&](const Affine& at, std::int64_t count) {
        const bool last = at.is_constant() && at.constant + count == groups;
        return make(at, count, last ? less : 0);
      });
    };
    if (!turns()) {
      return along([&](const Affine& at, std::int64_t count, std::int64_t missing) {
        auto to = with(with(copy_.to, term_.var, 0), along_.var, at);
        to.lanes = lanes_ * group_;
        to.count = static_cast<int>(count % lanes_) * group_;
        return Body{{Store{std::move(to), value(copy_.from, at, count, missing, extents.terms)}}};
      });
    }
    return blocks(across_.var, extents.across, false, [&](const Affine& from, std::int64_t rows) {
      return along([&](const Affine& at, std::int64_t count, std::int64_t missing) {
        return turned(at, count, missing, from, rows, extents.terms);
      });
    });
  }

  /// Vectors of one row each become vectors of all rows: of a few rows pieces of them.
  Body turned(const Affine& at, std::int64_t count, std::int64_t missing, const Affine& from, std::int64_t rows,
              std::int64_t terms) {
    const auto vectors = std::max<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)), 2);
    const auto turn = add_registers(kernel_, kernel_.array(copy_.to.array).name + "_rows", type(copy_.to), vectors,
                                    lanes_ * group_, origin_);
    const auto u = kernel_.add_var("u", rows);
    const auto row = [&](const Affine& index) { return Access{turn, {index}, lanes_ * group_}; };
    Body body{{Declare{turn}}};
    auto read = value(with(copy_.from, across_.var, from + Affine::of(u)), at, count, missing, terms);
    body.push_back(loop_over(u, Bind::unroll, {{Store{row(Affine::of(u)), std::move(read)}}}));
    body.push_back({Transpose{turn, rows < vectors ? static_cast<int>(rows) : 0, group_}});
    auto to = with(with(copy_.to, term_.var, 0), across_.var, from);
    to.lanes = static_cast<int>(vectors) * group_;
    to.count = rows < vectors ? static_cast<int>(rows) * group_ : 0;
    for (std::int64_t w = 0; w < count; ++w) {
      const auto spot = transposed(kernel_.array(turn), static_cast<int>(w), group_);
      auto value = load_of(type(to), row(Affine(spot.vector)));
      if (vectors < lanes_) {
        Value piece;
        piece.kind = Value::Kind::part;
        piece.type = type(to);
        piece.access.lanes = to.lanes;
        piece.affine = Affine(std::int64_t{spot.lane} * group_);
        piece.operands.push_back(std::move(value));
        value = std::move(piece);
      }
      body.push_back({Store{with(to, along_.var, at + Affine(w)), std::move(value)}});
    }
    return {{Section{"", std::move(body)}}};
  }

  /// A vector of groups from a neighbour on.
  ///   missing, terms  of the last group where terms are neighbours, and of all groups where they are not
  Value value(const Access& from, const Affine& at, std::int64_t count, std::int64_t missing, std::int64_t terms) {
    const auto read = [&](std::int64_t term, std::int64_t elements, int lanes) {
      auto access = with(with(from, along_.var, at), term_.var, Affine(term));
      access.lanes = lanes;
      access.count = elements < lanes ? static_cast<int>(elements) : 0;
      auto value = converted(kernel_, std::move(access), type(copy_.to), copy_.rounded);
      return copy_.flipped ? sign_flipped(std::move(value)) : value;
    };
    if (along_depth_) return read(0, count * group_ - missing, lanes_ * group_);
    std::vector<Value> parts;
    for (std::int64_t term = 0; term < terms; ++term) parts.push_back(read(term, count, lanes_));
    if (terms < group_) {
      if (none_ < 0)
        none_ =
            add_registers(kernel_, kernel_.array(copy_.to.array).name + "_none", type(copy_.to), 1, lanes_, origin_);
      parts.resize(static_cast<std::size_t>(group_), load_of(type(copy_.to), {none_, {Affine(0)}, lanes_}));
    }
    while (parts.size() > 1) {
      std::vector<Value> halves;
      const auto half = parts.size() / 2;
      for (std::size_t k = 0; k < half; ++k) {
        Value both;
        both.kind = Value::Kind::interleave;
        both.type = type(copy_.to);
        both.operands = {parts[k], parts[k + half]};
        halves.push_back(std::move(both));
      }
      parts = std::move(halves);
    }
    return parts.front();
  }

  Kernel& kernel_;
  Copy copy_;
  int origin_;
  int group_, lanes_;
  int none_ = -1;  // a vector of zeros
  bool along_depth_ = false;
  Digit term_, along_, across_;
};

}  // namespace

std::optional<Body> expand_grouped_copy_cpu(Kernel& kernel, const Copy& copy, int origin) {
  if (size_of(kernel.array(copy.to.array).type) >= 4 || !copy.quotients.empty()) return std::nullopt;
  return GroupedCopy(kernel, copy, origin).all();
}

}  // namespace ricci::kernel
