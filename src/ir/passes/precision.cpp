#include "ir/passes/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ir/builder.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

/// What a precision says of sums.
struct Kind {
  DType part = DType::f32;            ///< the type of sums, or of their real and imaginary parts
  std::optional<DType> rounded = {};  ///< of factors
  const char* what = "";
  bool integers() const { return is_integer(part); }
};

std::optional<Kind> kind_of(Precision precision) {
  switch (precision) {
    case Precision::f32:
      return Kind{DType::f32, {}, "sums of floats"};
    case Precision::f64:
      return Kind{DType::f64, {}, "sums of floats"};
    case Precision::bf16:
      return Kind{DType::f32, DType::bf16, "sums of real floats"};
    case Precision::f16:
      return Kind{DType::f32, DType::f16, "sums of real floats"};
    case Precision::i32:
      return Kind{DType::i32, {}, "sums of i8, i16, i32, u8 and u16"};
    default:
      return std::nullopt;
  }
}

/// How a value is made.
enum Form : std::uint8_t {
  kAsIs,    ///< of its own type
  kWithin,  ///< in the precision's type
  kFactor,  ///< the same, rounded where it is read
};
constexpr std::array kForms = {kFactor, kAsIs, kWithin};

class Rewriter {
 public:
  Rewriter(const Program& program, const Kind& kind)
      : from_(program), kind_(kind), facts_(program.nodes.size()), ways_(program.nodes.size()) {
    for (std::size_t id = 0; id < facts_.size(); ++id) facts_[id] = facts_of(node(static_cast<NodeId>(id)));
  }

  static bool is_sum(const Node& n) { return n.kind == NodeKind::reduce && n.op == OpCode::add; }
  /// Whether the precision is for a sum.
  bool suits(std::size_t sum) const { return facts_[sum].suits; }

  Program run() {
    to_.program.indices = from_.indices;
    to_.program.buffers = from_.buffers;
    to_.program.params = from_.params;
    to_.program.exact = from_.exact;
    to_.program.precision = from_.precision;
    for (const auto& statement : from_.statements) want(statement.value, kAsIs);
    // Users first, then operands: no call goes as deep as programs do.
    for (std::size_t id = ways_.size(); id-- > 0;) {
      for (int more = 0; more < 2; ++more) {  // a form may be made of another one of the same node
        for (const auto form : kForms) {
          if (auto& way = ways_[id][form]; way.wanted && !way.found) find(static_cast<NodeId>(id), way, form);
        }
      }
    }
    for (std::size_t id = 0; id < ways_.size(); ++id) {
      for (const auto form : kForms) {
        if (ways_[id][form].wanted) make(static_cast<NodeId>(id), form);
      }
    }
    for (const auto& statement : from_.statements)
      to_.store(statement.buffer, statement.offset, made(statement.value, kAsIs), statement.step);
    return to_.finish();
  }

 private:
  struct Facts {
    bool reads = false;        ///< from memory
    bool around = false;       ///< a sum that the precision is for, or arithmetic on one
    bool suits = false;        ///< its values may be of the precision's type
    std::uint8_t factors = 0;  ///< of a product that are read, up to two
  };
  /// A form of a node: the node of another type, its operands in a form; or a value in a form, converted.
  struct Way {
    bool wanted = false, found = false;
    NodeId from = -1;  ///< -1: the node itself
    Form form = kAsIs;
    std::optional<DType> through = {};  ///< on the way to the type
    DType type = DType::f64;
    NodeId made = -1;
  };

  const Node& node(NodeId id) const { return from_.nodes[static_cast<std::size_t>(id)]; }
  const Facts& facts(NodeId id) const { return facts_[static_cast<std::size_t>(id)]; }
  static bool is(const Node& n, OpCode op) { return n.kind == NodeKind::op && n.op == op; }
  bool is_of_kind(DType type) const { return kind_.integers() ? is_integer(type) : is_real(type) || is_complex(type); }

  /// Conversions of what is computed, not read.
  bool passes(const Node& n) const {
    return is(n, OpCode::cast) && node(n.operand[0]).kind != NodeKind::load && is_of_kind(node(n.operand[0]).type);
  }
  /// Sums, products and what changes no more than a sign.
  bool is_inner(const Node& n) const {
    if (n.kind == NodeKind::guard || is_sum(n)) return is_of_kind(n.type);
    const bool arithmetic = is(n, OpCode::add) || is(n, OpCode::sub) || is(n, OpCode::mul) || is(n, OpCode::neg) ||
                            is(n, OpCode::conj) || is(n, OpCode::scale);
    return arithmetic && is_of_kind(n.type);
  }
  /// Of the operands that are values: the first one of a guard is a condition.
  static int first_value(const Node& n) { return n.kind == NodeKind::guard ? 1 : 0; }

  Facts facts_of(const Node& n) const {
    Facts made;
    const bool inner = is_inner(n) || passes(n);
    const auto operands = operand_count(n);
    made.reads = n.kind == NodeKind::load;
    bool all_suit = true;
    for (int k = 0; k < operands; ++k) {
      const auto& operand = facts(n.operand[k]);
      made.reads = made.reads || operand.reads;
      if (k < first_value(n)) continue;
      made.around = made.around || (inner && operand.around);
      all_suit = all_suit && operand.suits;
    }
    if (!kind_.integers()) {
      made.suits = is_of_kind(n.type) && !(kind_.rounded && is_complex(n.type));
    } else if (is_inner(n) || is(n, OpCode::cast)) {
      made.suits = is_integer(n.type) && all_suit;
    } else if (n.kind == NodeKind::constant && is_integer(n.type)) {
      made.suits = wrapped(n.integer, DType::i32) == n.integer;
    } else {
      made.suits = is_integer(n.type) && size_of(n.type) <= 4 && n.type != DType::u32;
    }
    made.around = made.around || (is_sum(n) && made.suits);
    made.factors = made.reads ? 1 : 0;
    if (is(n, OpCode::mul)) {
      made.factors = static_cast<std::uint8_t>(std::min(facts(n.operand[0]).factors + facts(n.operand[1]).factors, 2));
    } else if (is(n, OpCode::neg) || passes(n)) {
      made.factors = facts(n.operand[0]).factors;
    }
    return made;
  }

  DType type_within(const Node& n) const {
    if (!is_complex(n.type)) return kind_.part;
    return kind_.part == DType::f64 ? DType::c128 : DType::c64;
  }
  /// Whether a value is computed in the precision's type and then converted: a sum, and arithmetic on one where that
  /// has more digits.
  bool converts(NodeId id) const {
    const auto& n = node(id);
    if (n.kind == NodeKind::guard || !is_inner(n) || !facts(id).suits) return false;
    return is_sum(n) || (facts(id).around && widens(n));
  }
  bool widens(const Node& n) const { return size_of(type_within(n)) > size_of(n.type); }

  Way as_is(NodeId id) const {
    const auto& n = node(id);
    Way way;
    way.type = n.type;
    if (converts(id)) {
      way.from = id;
      way.form = kWithin;
    } else if (is(n, OpCode::cast) && converts(n.operand[0]) && widens(node(n.operand[0]))) {
      way.from = n.operand[0];  // rounded once
      way.form = kWithin;
    }
    return way;
  }
  Way within(NodeId id) const {
    const auto& n = node(id);
    Way way;
    way.type = type_within(n);
    if (n.kind == NodeKind::constant && is_of_kind(n.type)) return way;
    way.form = kWithin;
    if (is_inner(n)) {
      if (kind_.rounded && is(n, OpCode::mul) && facts(id).factors > 1) way.form = kFactor;
      return way;
    }
    if (!passes(n)) way.form = kAsIs;
    way.from = is(n, OpCode::cast) ? n.operand[0] : id;
    return way;
  }
  Way factor(NodeId id) const {
    const auto& n = node(id);
    auto way = within(id);
    if (is(n, OpCode::mul) || is(n, OpCode::neg) || (passes(n) && facts(id).factors > 1)) {
      way.form = kFactor;
      return way;
    }
    const bool rounded = is(n, OpCode::cast) && node(n.operand[0]).type == *kind_.rounded;
    if (!facts(id).reads || rounded) return way;
    way.through = kind_.rounded;
    // What is read is rounded as it is, without a type between.
    const bool converted = is(n, OpCode::cast) && node(n.operand[0]).kind == NodeKind::load;
    if (converted && !is_integer(node(n.operand[0]).type)) return way;
    way.from = id;
    way.form = n.kind == NodeKind::load ? kAsIs : kWithin;
    return way;
  }

  void want(NodeId id, Form form) { ways_[static_cast<std::size_t>(id)][form].wanted = true; }

  void find(NodeId id, Way& way, Form form) {
    way = form == kAsIs ? as_is(id) : form == kWithin ? within(id) : factor(id);
    way.wanted = way.found = true;
    if (way.from >= 0) return want(way.from, way.form);
    const auto& n = node(id);
    for (int k = 0; k < operand_count(n); ++k) want(n.operand[k], k < first_value(n) ? kAsIs : way.form);
  }

  NodeId made(NodeId id, Form form) const { return ways_[static_cast<std::size_t>(id)][form].made; }

  void make(NodeId id, Form form) {
    auto& way = ways_[static_cast<std::size_t>(id)][form];
    if (way.made >= 0) return;
    if (way.from < 0) {
      way.made = copy(node(id), way);
      return;
    }
    if (way.from == id) make(id, way.form);
    auto value = made(way.from, way.form);
    if (way.through) value = to_.cast(value, *way.through);
    way.made = to_.cast(value, way.type);
  }

  NodeId copy(const Node& n, const Way& way) {
    const auto operand = [&](int k) {
      return n.operand[k] < 0 ? -1 : made(n.operand[k], k < first_value(n) ? kAsIs : way.form);
    };
    if (n.kind == NodeKind::constant && n.type != way.type)
      return is_integer(way.type) ? to_.integer(n.integer, way.type) : to_.constant(n.value, way.type);
    if (n.kind == NodeKind::op) return to_.op(n.op, way.type, operand(0), operand(1), operand(2));
    return to_.like(n, {operand(0), operand(1), operand(2)});
  }

  const Program& from_;
  const Kind& kind_;
  std::vector<Facts> facts_;              // per node
  std::vector<std::array<Way, 3>> ways_;  // of it, by form
  Builder to_;
};

}  // namespace

Sequence in_precision(Sequence sequence, Precision precision) {
  const auto kind = kind_of(precision);
  if (!kind) return sequence;
  std::optional<DType> refused;
  bool any = false;
  for (auto& step : sequence.steps) {
    Rewriter rewriter(step.program, *kind);
    bool here = false;
    for (std::size_t id = 0; id < step.program.nodes.size(); ++id) {
      const auto& n = step.program.nodes[id];
      if (!Rewriter::is_sum(n)) continue;
      here = here || rewriter.suits(id);
      if (!rewriter.suits(id) && !refused) refused = n.type;
    }
    if (here) step.program = rewriter.run();
    any = any || here;
  }
  if (!any && refused) {
    throw PlanError(
        fmt::format("precision {} is for {}, and this sums {}; leave the precision out, or name one that is for these",
                    name(precision), kind->what, name(*refused)));
  }
  verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
