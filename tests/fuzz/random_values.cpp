#include "fuzz/random_values.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ricci::fuzz {
/// What a value of `type` may be kept as.
DType Values::storage(DType type, bool output) {
  if (kind_ == Kind::fields || chance(0.7)) return type;
  switch (type) {
    case DType::f32:
      return chance(0.5) ? DType::f16 : DType::bf16;
    case DType::f64:
      return output ? (chance(0.5) ? DType::f32 : DType::bf16) : chance(0.5) ? DType::f32 : DType::f16;
    case DType::c128:
      return output ? DType::c64 : chance(0.5) ? DType::f64 : DType::c64;
    case DType::c64:
      return output ? DType::c128 : DType::f32;
    default:
      return output ? type : integer_;
  }
}

int Values::add_buffer(DType type, bool written, Fill fill) {
  const int k = static_cast<int>(builder_.program.buffers.size());
  builder_.program.buffers.push_back({fmt::format("{}{}", written ? 'Y' : 'X', k), type, written, 0, -1, 0});
  areas_.push_back({});
  areas_.back().fill = fill;
  return k;
}

/// Places of `chosen`, apart from each other, then `inner` elements each; the span that they take in `*span`.
Affine Values::places(std::vector<int> chosen, std::int64_t inner, std::int64_t* span, bool broadcast) {
  Affine affine;
  affine.coefficient.assign(builder_.program.indices.size(), 0);
  if (chance(0.4)) {
    std::shuffle(chosen.begin(), chosen.end(), random_);
  } else {
    std::reverse(chosen.begin(), chosen.end());
  }
  std::int64_t stride = inner * (chance(0.1) ? pick(2, 3) : 1);
  for (const int q : chosen) {
    if (broadcast && chance(0.05)) continue;
    auto& coefficient = affine.coefficient[static_cast<std::size_t>(q)];
    coefficient = stride;
    stride *= std::max<std::int64_t>(extent(q), 1);
    if (chance(0.1)) stride += pick(1, 5);
    if (!chance(0.08)) continue;
    affine.constant += coefficient * std::max<std::int64_t>(extent(q) - 1, 0);
    coefficient = -coefficient;
  }
  *span = stride;
  return affine;
}

void Values::reach(int buffer, const Affine& affine) {
  auto& area = areas_[static_cast<std::size_t>(buffer)];
  auto low = affine.constant, high = affine.constant;
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    const auto by = affine.coefficient[q] * std::max<std::int64_t>(builder_.program.indices[q].extent - 1, 0);
    (by < 0 ? low : high) += by;
  }
  if (area.closed) return;
  area.first = area.reached ? std::min(area.first, low) : low;
  area.last = area.reached ? std::max(area.last, high) : high;
  area.reached = true;
}

Value Values::keep(Value value) {
  values_.push_back(value);
  return value;
}

Value Values::made_of(NodeId id, DType type, std::initializer_list<Value> parts, double bound) {
  Value value{id, type, 0, bound, true, {}};
  for (const auto& part : parts) {
    value.needs |= part.needs;
    value.sure = value.sure && part.sure;
    if (part.guarded) value.guarded = part.guarded;
  }
  if (!is_integer(type)) value.sure = value.sure && bits_;
  return keep(value);
}

Value Values::constant(Scalar number, DType type) {
  return keep({builder_.constant(number, type), type, 0, std::abs(number), true, {}});
}

Value Values::some_constant(DType type) {
  if (is_integer(type)) return constant(static_cast<double>(pick(type < DType::u8 ? -9 : 0, 12)), type);
  static constexpr double kNumbers[] = {-2, -1, -0.5, 0, 1, 1, 2, 0.25, 0.1, -1.7};
  if (is_complex(type) && chance(0.7)) return constant({one_of(kNumbers), 0.5}, type);
  return constant(one_of(kNumbers), type);
}

Value Values::some_param(DType type) {
  auto& params = builder_.program.params;
  std::vector<int> known;
  for (std::size_t k = 0; k < params.size(); ++k) {
    if (params[k].type == type) known.push_back(static_cast<int>(k));
  }
  int number = known.empty() || chance(0.3) ? static_cast<int>(params.size()) : one_of(known);
  if (params.size() >= 6 && known.empty()) return some_constant(type);
  if (params.size() >= 6) number = known.front();
  if (number == static_cast<int>(params.size())) {
    params.push_back({fmt::format("p{}", number), type});
    const auto size = 0.5 + 0.25 * static_cast<double>(pick(0, 6));
    const auto whole = static_cast<double>(pick(type < DType::u8 ? -5 : 0, 9));
    params_.push_back(is_integer(type)   ? Scalar(whole)
                      : is_complex(type) ? Scalar(size, -0.25)
                                         : Scalar(chance(0.3) ? -size : size));
  }
  return keep({builder_.param(number), type, 0, std::abs(params_[static_cast<std::size_t>(number)]), true, {}});
}

/// A new access; the buffer is an old one half of the time.
Value Values::load(DType type, const Context& context) {
  std::vector<int> candidates;
  for (std::size_t s = 0; s < outputs_.size(); ++s) {
    const auto& output = outputs_[s];
    const bool mine = output.way == Output::Way::store || context.scan == static_cast<int>(s);
    if (output.read && output.type == type && mine) candidates.push_back(static_cast<int>(s));
  }
  if (!candidates.empty() && chance(0.4)) {
    const auto& output = outputs_[static_cast<std::size_t>(one_of(candidates))];
    auto offset = output.offset;
    std::uint64_t needs = 0;
    if (output.way == Output::Way::scan) {
      offset.coefficient[static_cast<std::size_t>(output.over)] = output.step;
      needs = bit(output.over);
      if ((context.open & needs) == 0) return some_constant(type);
    }
    return keep({builder_.load(output.buffer, std::move(offset)), type, needs, 2, true, {}});
  }
  std::vector<int> chosen;
  std::int64_t elements = 1;
  std::uint64_t needs = 0;
  const auto choose = [&](int q, double probability) {
    if (!chance(probability) || elements * extent(q) > 40000) return;
    chosen.push_back(q);
    elements *= std::max<std::int64_t>(extent(q), 1);
  };
  for (const int q : free_) choose(q, on_grid() ? 0.97 : 0.65);
  for (const int q : over_) {
    if ((context.open & bit(q)) == 0) continue;
    choose(q, 0.85);
    if (!chosen.empty() && chosen.back() == q) needs |= bit(q);
  }
  std::int64_t span = 0;
  auto offset = places(chosen, 1, &span, true);
  std::vector<int> known;
  for (std::size_t k = 0; k < areas_.size(); ++k) {
    const auto& buffer = builder_.program.buffers[k];
    if (buffer.type == type && !buffer.written && areas_[k].fill == Fill::any) known.push_back(static_cast<int>(k));
  }
  int buffer = -1;
  if (!known.empty() && (chance(0.5) || areas_.size() > 24)) {
    buffer = one_of(known);
    offset.constant += chance(0.5) ? pick(-3, 3) : span * pick(0, 2);
  } else {
    buffer = add_buffer(type, false, Fill::any);
    if (chance(0.1)) offset.constant += pick(-20, 20);
  }
  reach(buffer, offset);
  return keep({builder_.load(buffer, std::move(offset)), type, needs, 2, true, {}});
}

std::optional<Value> Values::reused(DType type, const Context& context, bool sure) {
  std::vector<std::size_t> fitting;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const auto& value = values_[k];
    if (value.type != type || (value.needs & ~context.open) != 0 || (sure && !value.sure)) continue;
    // Where minima are taken, what a guard leaves out is infinite.
    if (value.guarded && !std::isfinite(ir::identity(context.around, DType::f64))) continue;
    fitting.push_back(k);
  }
  if (fitting.empty()) return std::nullopt;
  auto value = values_[one_of(fitting)];
  // A guard's value depends on where it stands: one that stands elsewhere too is a sum's, a product's, ...
  if (value.guarded) {
    value.guarded = context.around;
    value.bound = std::max(value.bound, guard_bound(context, type));
  }
  return value;
}

Value Values::leaf(DType type, const Context& context) {
  const auto drawn = pick(0, 99);
  if (type == DType::i64 && drawn < 20) {
    std::vector<int> known = free_;
    for (const int q : over_) {
      if ((context.open & bit(q)) != 0) known.push_back(q);
    }
    if (!known.empty()) {
      const int q = one_of(known);
      return keep({builder_.index(q), type, context.open & bit(q), 1e4, true, {}});
    }
  }
  if (drawn < 30) return drawn < 20 ? some_constant(type) : some_param(type);
  const auto kept = storage(type, false);
  return cast(load(kept, context), type);
}

Value Values::cast(const Value& x, DType type) {
  if (x.type == type) return x;
  return made_of(builder_.cast(x.id, type), type, {x}, is_integer(x.type) ? 256 : x.bound);
}

Value Values::op(OpCode code, DType type, const Value& x, double bound) {
  return made_of(builder_.op(code, type, x.id), type, {x}, bound);
}

Value Values::op(OpCode code, DType type, const Value& x, const Value& y, double bound) {
  return made_of(builder_.op(code, type, x.id, y.id), type, {x, y}, bound);
}

/// x * c with a magnitude of `most` at the most.
Value Values::scaled(const Value& x, double most) {
  if (x.bound <= most) return x;
  return op(OpCode::mul, x.type, constant(most / x.bound * 0.99, x.type), x, most);
}

Value Values::expression(DType type, const Context& context, std::int64_t size) {
  if (chance(reuse_)) {
    if (const auto value = reused(type, context, false)) return *value;
  }
  if (size <= 1) return leaf(type, context);
  if (kind_ == Kind::fields) {
    if (!chance(0.1)) return float_operation(type, context, size);
    const auto x = expression(type, context, size - 1);
    const auto positive = op(OpCode::absolute, type, x, x.bound);
    return chance(0.5) ? positive : op(OpCode::sqrt, type, positive, x.bound + 1);
  }
  if (chance(kind_ == Kind::einsum ? 0.35 : 0.2)) {
    if (const auto value = reduction(type, context, size)) return *value;
  }
  if (chance(guards_)) return guard(type, context, size);
  if (chance(0.06)) return select(type, context, size);
  if (is_integer(type)) return integer_operation(type, context, size);
  if (chance(0.05) && is_real(type)) {  // from integers, as far as they are small
    static constexpr DType kSmall[] = {DType::i8, DType::u8, DType::i16, DType::u16};
    const auto narrow = one_of(kSmall);
    const auto x = expression(narrow, context, size - 1);
    const auto y = constant(100, narrow);
    return cast(op(OpCode::remainder, narrow, x, y, 100), type);
  }
  if (chance(0.08)) {
    if (type == DType::f64) return cast(expression(DType::f32, context, size), type);
    if (type == DType::c128) return cast(expression(chance(0.5) ? DType::c64 : DType::f64, context, size), type);
    if (type == DType::f32 && chance(0.3)) {
      const auto narrow = chance(0.5) ? DType::f16 : DType::bf16;
      return cast(cast(scaled(expression(type, context, size), 1000), narrow), type);
    }
  }
  return is_real(type) && chance(0.3) ? real_function(type, context, size) : float_operation(type, context, size);
}

Value Values::float_operation(DType type, const Context& context, std::int64_t size) {
  if (chance(0.12)) {
    const auto x = expression(type, context, size - 1);
    return op(is_complex(type) && chance(0.6) ? OpCode::conj : OpCode::neg, type, x, x.bound);
  }
  const auto left = pick(1, std::max<std::int64_t>(size - 1, 1));
  const auto x = expression(type, context, left);
  if (chance(0.08)) {
    if (is_complex(type)) return op(OpCode::div, type, x, some_param_apart(type), 2 * x.bound);
    const auto y = expression(type, context, size - left);
    const auto safe = op(OpCode::add, type, op(OpCode::absolute, type, y, y.bound), constant(1, type), y.bound + 1);
    return op(OpCode::div, type, x, safe, x.bound);
  }
  const auto y = expression(type, context, size - left);
  const auto drawn = pick(0, 99);
  if (drawn < 50 && x.bound * y.bound < 1e5) return op(OpCode::mul, type, x, y, x.bound * y.bound);
  if (drawn < 53 && x.bound * y.bound < 1e5) {
    const auto factor = chance(0.5) ? some_param(type) : x;
    if (bits_ || factor.sure) return op(OpCode::scale, type, factor, y, factor.bound * y.bound);
  }
  if (drawn < 60 && is_real(type) && kind_ != Kind::fields) {
    return op(chance(0.5) ? OpCode::minimum : OpCode::maximum, type, x, y, std::max(x.bound, y.bound));
  }
  if (x.bound + y.bound > 1e12) return x;
  return op(drawn % 2 == 0 ? OpCode::add : OpCode::sub, type, x, y, x.bound + y.bound);
}

/// A factor that is not near zero.
Value Values::some_param_apart(DType type) { return chance(0.5) ? some_param(type) : constant({-1.5, 0.5}, type); }

Value Values::real_function(DType type, const Context& context, std::int64_t size) {
  const auto x = expression(type, context, size - 1);
  const auto positive = [&](double add) {
    return op(OpCode::add, type, op(OpCode::absolute, type, x, x.bound), constant(add, type), x.bound + add);
  };
  const auto drawn = pick(0, 99);
  if (drawn < 15) return op(OpCode::absolute, type, x, x.bound);
  if (drawn < 20 && (bits_ || x.sure)) return op(OpCode::sign, type, x, 1);
  if (drawn < 40 || bits_) return op(OpCode::sqrt, type, positive(0.25), x.bound + 1);
  static constexpr OpCode kAnywhere[] = {OpCode::exp,  OpCode::sin,  OpCode::cos,  OpCode::tan,
                                         OpCode::atan, OpCode::sinh, OpCode::cosh, OpCode::tanh};
  static constexpr OpCode kPositive[] = {OpCode::cbrt, OpCode::rsqrt, OpCode::log};
  static constexpr OpCode kInside[] = {OpCode::asin, OpCode::acos};
  if (drawn < 75) return op(one_of(kAnywhere), type, scaled(x, 1.2), 4);
  if (drawn < 88) return op(one_of(kPositive), type, positive(0.5), x.bound + 3);
  if (drawn < 94) return op(one_of(kInside), type, scaled(x, 0.9), 4);
  const auto y = scaled(expression(type, context, 1), 2);
  const auto base = scaled(positive(0.5), 20);
  return op(OpCode::pow, type, op(OpCode::add, type, base, constant(0.1, type), 21), y, 500);
}

Value Values::integer_operation(DType type, const Context& context, std::int64_t size) {
  const auto drawn = pick(0, 99);
  if (drawn < 8) return cast(comparison(context, size), type);
  if (drawn < 16) {
    static constexpr OpCode kOne[] = {OpCode::neg, OpCode::bit_not, OpCode::popcount, OpCode::absolute, OpCode::sign};
    return op(one_of(kOne), type, expression(type, context, size - 1), 0);
  }
  if (drawn < 22) return cast(expression(integer_ == type ? DType::i64 : integer_, context, size - 1), type);
  static constexpr OpCode kTwo[] = {OpCode::add,     OpCode::sub,        OpCode::mul,        OpCode::mul,
                                    OpCode::add,     OpCode::div,        OpCode::remainder,  OpCode::minimum,
                                    OpCode::maximum, OpCode::bit_and,    OpCode::bit_or,     OpCode::bit_xor,
                                    OpCode::scale,   OpCode::shift_left, OpCode::shift_right};
  const auto left = pick(1, std::max<std::int64_t>(size - 1, 1));
  const auto x = expression(type, context, left);
  const auto y = expression(type, context, size - left);
  return op(one_of(kTwo), type, x, y, 0);
}

Value Values::comparison(const Context& context, std::int64_t size) {
  static constexpr OpCode kHow[] = {OpCode::equal, OpCode::not_equal, OpCode::less, OpCode::less_equal};
  if (!chance(0.15)) {
    const auto type = chance(0.5) ? integer_ : chance(0.5) ? DType::i64 : DType::u8;
    const auto x = expression(type, context, size / 2);
    const auto y = expression(type, context, size / 2);
    return op(one_of(kHow), DType::u8, x, y, 1);
  }
  const auto type = chance(0.5) ? DType::f32 : DType::f64;
  const auto side = [&] { return bits_ ? expression(type, context, size / 2) : leaf(type, context); };
  const auto x = side();
  const auto y = side();
  return op(one_of(kHow), DType::u8, x, y, 1);
}

std::optional<Value> Values::index_comparison(const Context& context) {
  auto known = free_;
  for (const int q : over_) {
    if ((context.open & bit(q)) != 0) known.push_back(q);
  }
  if (known.empty()) return std::nullopt;
  const auto sum = [&] {
    const auto index = [&] {
      const int q = one_of(known);
      return keep({builder_.index(q), DType::i64, context.open & bit(q), 1e4, true, {}});
    };
    auto x = index();
    if (chance(0.2)) x = op(OpCode::mul, DType::i64, x, constant(static_cast<double>(pick(-2, 3)), DType::i64), 3e4);
    if (chance(0.4)) {
      const auto y = chance(0.4) ? index() : constant(static_cast<double>(pick(-3, 9)), DType::i64);
      x = op(chance(0.5) ? OpCode::add : OpCode::sub, DType::i64, x, y, 4e4);
    }
    return x;
  };
  const auto x = sum(), y = chance(0.5) ? some_param(DType::i64) : sum();
  const auto how = chance(0.5) ? OpCode::less : OpCode::less_equal;
  return chance(0.5) ? op(how, DType::u8, x, y, 1) : op(how, DType::u8, y, x, 1);
}

Value Values::predicate(const Context& context, std::int64_t size) {
  if (chance(0.3)) {
    if (const auto x = index_comparison(context)) return *x;
  }
  if (chance(0.2)) return expression(integer_, context, size);
  const auto x = comparison(context, size);
  if (chance(0.6)) return x;
  const auto indices = chance(0.3) ? index_comparison(context) : std::nullopt;
  const auto y = indices ? *indices : comparison(context, size);
  return op(chance(0.6) ? OpCode::bit_and : OpCode::bit_or, DType::u8, x, y, 1);
}

Value Values::select(DType type, const Context& context, std::int64_t size) {
  const auto choice = comparison(context, 2);
  const auto left = pick(1, std::max<std::int64_t>(size - 1, 1));
  const auto x = expression(type, context, left);
  const auto y = expression(type, context, size - left);
  return made_of(builder_.op(OpCode::select, type, choice.id, x.id, y.id), type, {choice, x, y},
                 std::max(x.bound, y.bound));
}

double Values::guard_bound(const Context& context, DType type) const {
  const auto identity = std::abs(ir::identity(context.around, type));
  return std::isfinite(identity) ? identity : 0;
}

Value Values::guard(DType type, const Context& context, std::int64_t size) {
  // Infinity, the identity of minima, goes nowhere but into them.
  const auto finite = is_integer(type) || std::isfinite(ir::identity(context.around, type));
  if (!finite) return expression(type, context, size - 1);
  const auto condition = predicate(context, 2);
  const auto x = expression(type, context, size - 1);
  auto value =
      made_of(builder_.guard(condition.id, x.id), type, {condition, x}, std::max(x.bound, guard_bound(context, type)));
  value.guarded = context.around;
  values_.back() = value;
  return value;
}

OpCode Values::combination(DType type, double bound, std::int64_t count) {
  if (is_integer(type)) {
    static constexpr OpCode kHow[] = {OpCode::add,     OpCode::add,     OpCode::mul,    OpCode::minimum,
                                      OpCode::maximum, OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor};
    return one_of(kHow);
  }
  const auto drawn = pick(0, 99);
  if (drawn < 75 || is_complex(type)) return OpCode::add;
  if (drawn < 85 && std::pow(std::max(bound, 1.0), static_cast<double>(count)) < 1e4) return OpCode::mul;
  return chance(0.5) ? OpCode::minimum : OpCode::maximum;
}

std::optional<Value> Values::reduction(DType type, const Context& context, std::int64_t size) {
  std::vector<int> over;
  for (const int q : over_) {
    // Running over an index again, inside of itself, is allowed; a scan in place is one mapping over its elements.
    if (context.scan >= 0 && outputs_[static_cast<std::size_t>(context.scan)].over == q) continue;
    const double probability = (context.open & bit(q)) != 0 ? 0.03 : 0.7;
    if (chance(probability)) over.push_back(q);
  }
  if (over.empty()) return std::nullopt;
  auto inner = context;
  std::int64_t count = 1;
  std::uint64_t mine = 0;
  for (const int q : over) {
    mine |= bit(q);
    count *= extent(q);
  }
  inner.open |= mine;
  inner.around = combination(type, 2, count);
  auto body = expression(type, inner, size - 1);
  if (inner.around == OpCode::mul && !is_integer(type)) body = scaled(body, 2);
  if (chance(guards_)) {  // the usual place
    const auto condition = predicate(inner, 2);
    body = made_of(builder_.guard(condition.id, body.id), type, {condition, body}, body.bound);
    body.guarded = inner.around;
    values_.back() = body;
  }
  const bool extreme = inner.around == OpCode::minimum || inner.around == OpCode::maximum;
  double bound = body.bound * (extreme ? 1 : std::max<double>(1, static_cast<double>(count)));
  if (inner.around == OpCode::mul) bound = std::pow(std::max(body.bound, 1.0), static_cast<double>(count));
  auto value = made_of(builder_.reduce(inner.around, body.id, over), type, {body}, bound);
  value.needs = body.needs & ~mine;
  value.guarded.reset();
  // Guards may leave nothing, and empty extents do: infinity stays where it is.
  if (extreme && !is_integer(type)) {
    const auto edge = constant(inner.around == OpCode::minimum ? 50 : -50, type);
    values_.back() = value;
    const auto finite = op(inner.around, type, edge, value, std::max(body.bound, 50.0));
    return finite;
  }
  values_.back() = value;
  return value;
}

}  // namespace ricci::fuzz
