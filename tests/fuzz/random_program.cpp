#include "fuzz/random_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fuzz/random_memory.hpp"
#include "ir/builder.hpp"

namespace ricci::fuzz {
namespace {

using ir::Affine;
using ir::NodeId;
using ir::OpCode;

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }
bool is_real(DType type) { return type == DType::f32 || type == DType::f64; }

/// What is known of a node beside the node.
struct Value {
  NodeId id = -1;
  DType type = DType::f64;
  std::uint64_t needs = 0;        // indices that are run over around it
  double bound = 2;               // magnitude; integers have none
  bool sure = true;               // free of rounding that a compiler may choose
  std::optional<OpCode> guarded;  // holds a guard that waits for a reduction of this kind
};

/// Where an expression stands.
struct Context {
  std::uint64_t open = 0;       // indices that are run over around it
  OpCode around = OpCode::add;  // the innermost reduction's
  int scan = -1;                // the output whose scan it is
};

/// An access that a statement writes.
struct Output {
  int buffer = -1;
  Affine offset;
  DType type = DType::f64;
  enum class Way { store, scan, compact } way = Way::store;
  int over = -1;
  std::int64_t step = 0;
  bool exclusive = false, read = false;
};

/// A buffer while it grows around what is reached in it.
struct Area {
  std::int64_t first = 0, last = 0;
  bool reached = false, closed = false;
  Fill fill = Fill::any;
};

class Maker {
 public:
  Maker(std::uint64_t seed, Kind kind, const ProgramLimits& limits, bool fold)
      : random_(seed), kind_(kind), limits_(limits) {
    exact_ = chance(kind == Kind::motif ? 0.8 : 0.4);
    bits_ = exact_ && chance(0.75);
    builder_.program.exact = exact_ || !fold;
    made_.seed = seed;
  }

  RandomProgram run() {
    make_indices();
    choose_types();
    make_outputs();
    for (std::size_t s = 0; s < outputs_.size(); ++s) make_statement(static_cast<int>(s));
    finish();
    return std::move(made_);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return fuzz::pick(random_, low, high); }
  bool chance(double probability) { return fuzz::chance(random_, probability); }
  template <class T, std::size_t n>
  T one_of(const T (&list)[n]) {
    return list[pick(0, n - 1)];
  }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }

  std::int64_t extent(int q) const { return builder_.program.indices[static_cast<std::size_t>(q)].extent; }
  static std::uint64_t bit(int q) { return std::uint64_t{1} << q; }

  int add_index(std::int64_t extent) {
    const int q = static_cast<int>(builder_.program.indices.size());
    builder_.program.indices.push_back({fmt::format("i{}", q), extent});
    return q;
  }

  void make_indices() {
    static constexpr std::int64_t kLiked[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 13,
                                              16, 17, 20, 24, 31, 32, 33, 40, 64, 65};
    std::int64_t points = pick(1, limits_.points);
    if (kind_ == Kind::grid) {
      free_.push_back(add_index(pick(1, points)));
      if (chance(0.3)) free_.push_back(add_index(pick(1, 4)));
    } else {
      const auto count = pick(0, 4);
      for (int k = 0; k < count; ++k) {
        const auto n = std::min(chance(0.1) ? points : one_of(kLiked), points);
        free_.push_back(add_index(n));
        points /= n;
      }
    }
    std::int64_t work = limits_.work;
    for (const int q : free_) work /= std::max<std::int64_t>(extent(q), 1);
    const auto count = pick(kind_ == Kind::einsum && chance(0.9) ? 1 : 0, kind_ == Kind::grid ? 2 : 3);
    for (int k = 0; k < count; ++k) {
      const auto n = std::min(chance(0.15)          ? std::int64_t{300}
                              : kind_ == Kind::grid ? pick(1, 5)
                                                    : one_of(kLiked),
                              std::max<std::int64_t>(work, 1));
      over_.push_back(add_index(n));
      work /= n;
    }
    const int all = static_cast<int>(builder_.program.indices.size());
    if (all > 0 && chance(0.03)) builder_.program.indices[static_cast<std::size_t>(pick(0, all - 1))].extent = 0;
  }

  void choose_types() {
    static constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                                          DType::u8, DType::u16, DType::u32, DType::u64};
    integer_ = one_of(kIntegers);
    const auto drawn = pick(0, 99);
    switch (kind_) {
      case Kind::einsum:
        main_ = drawn < 30   ? DType::f64
                : drawn < 55 ? DType::f32
                : drawn < 67 ? DType::c128
                : drawn < 80 ? DType::c64
                             : integer_;
        break;
      case Kind::grid:
        main_ = drawn < 55 ? DType::f64 : drawn < 88 ? DType::f32 : drawn < 94 ? DType::c128 : DType::c64;
        break;
      case Kind::motif:
        main_ = drawn < 85 ? integer_ : drawn < 93 ? DType::f64 : DType::f32;
        break;
    }
    size_ = kind_ == Kind::grid ? pick(3, chance(0.2) ? 120 : 30) : pick(1, 10);
    reuse_ = kind_ == Kind::grid ? 0.35 : 0.12;
    guards_ = kind_ == Kind::motif ? 0.2 : 0.03;
  }

  /// What a value of `type` may be kept as.
  DType storage(DType type, bool output) {
    if (chance(0.7)) return type;
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

  int add_buffer(DType type, bool written, Fill fill) {
    const int k = static_cast<int>(builder_.program.buffers.size());
    builder_.program.buffers.push_back({fmt::format("{}{}", written ? 'Y' : 'X', k), type, written, 0, -1, 0});
    areas_.push_back({});
    areas_.back().fill = fill;
    return k;
  }

  /// Places of `chosen`, apart from each other, then `inner` elements each; the span that they take in `*span`.
  Affine places(std::vector<int> chosen, std::int64_t inner, std::int64_t* span, bool broadcast) {
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

  void reach(int buffer, const Affine& affine) {
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

  void make_outputs() {
    const auto count = kind_ == Kind::grid ? pick(1, chance(0.2) ? 12 : 5) : chance(0.75) ? 1 : pick(2, 3);
    std::int64_t span = 0;
    for (int k = 0; k < count; ++k) {
      Output output;
      if (kind_ != Kind::grid && !over_.empty() && chance(kind_ == Kind::motif ? 0.35 : 0.03)) {
        output.way = chance(0.5) ? Output::Way::scan : Output::Way::compact;
        output.over = one_of(over_);
      }
      const auto type = chance(0.85) ? main_ : chance(0.5) ? DType::f32 : integer_;
      output.type = output.way == Output::Way::scan ? type : storage(type, true);
      if (k > 0 && chance(0.3) && output.way == Output::Way::store && outputs_.back().way == output.way) {
        // Another component of the same tensor.
        output = outputs_.back();
        output.offset.constant += span;
        reach(output.buffer, output.offset);
        outputs_.push_back(std::move(output));
        continue;
      }
      output.buffer = add_buffer(output.type, true, Fill::any);
      std::int64_t inner = 1;
      if (output.way != Output::Way::store) {
        output.step = (chance(0.2) ? pick(2, 3) : 1) * (chance(0.15) ? -1 : 1);
        output.exclusive = output.way == Output::Way::scan && chance(0.5);
        inner = (extent(output.over) + kRoom + 1) * std::abs(output.step);
      }
      output.offset = places(free_, inner, &span, false);
      if (output.step < 0) output.offset.constant += inner - 1;
      output.read = output.way != Output::Way::compact && chance(0.35);
      reach(output.buffer, output.offset);
      auto end = output.offset;
      end.constant += output.step < 0 ? 1 - inner : inner - 1;
      if (output.way != Output::Way::store) reach(output.buffer, end);
      auto& area = areas_.back();
      if (output.way == Output::Way::compact && chance(0.3)) {  // what passes may not fit
        area.last -= pick(0, area.last - area.first);
        area.closed = true;
      }
      outputs_.push_back(std::move(output));
    }
  }

  Value keep(Value value) {
    values_.push_back(value);
    return value;
  }

  Value made_of(NodeId id, DType type, std::initializer_list<Value> parts, double bound) {
    Value value{id, type, 0, bound, true, {}};
    for (const auto& part : parts) {
      value.needs |= part.needs;
      value.sure = value.sure && part.sure;
      if (part.guarded) value.guarded = part.guarded;
    }
    if (!is_integer(type)) value.sure = value.sure && bits_;
    return keep(value);
  }

  Value constant(Scalar number, DType type) {
    return keep({builder_.constant(number, type), type, 0, std::abs(number), true, {}});
  }

  Value some_constant(DType type) {
    if (is_integer(type)) return constant(static_cast<double>(pick(type < DType::u8 ? -9 : 0, 12)), type);
    static constexpr double kNumbers[] = {-2, -1, -0.5, 0, 1, 1, 2, 0.25, 0.1, -1.7};
    if (is_complex(type) && chance(0.7)) return constant({one_of(kNumbers), 0.5}, type);
    return constant(one_of(kNumbers), type);
  }

  Value some_param(DType type) {
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
      made_.params.push_back(is_integer(type)   ? Scalar(whole)
                             : is_complex(type) ? Scalar(size, -0.25)
                                                : Scalar(chance(0.3) ? -size : size));
    }
    return keep({builder_.param(number), type, 0, std::abs(made_.params[static_cast<std::size_t>(number)]), true, {}});
  }

  /// A new access; the buffer is an old one half of the time.
  Value load(DType type, const Context& context) {
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
    for (const int q : free_) choose(q, kind_ == Kind::grid ? 0.97 : 0.65);
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

  std::optional<Value> reused(DType type, const Context& context, bool sure) {
    std::vector<std::size_t> fitting;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const auto& value = values_[k];
      if (value.type != type || (value.needs & ~context.open) != 0 || (sure && !value.sure)) continue;
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

  Value leaf(DType type, const Context& context) {
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

  Value cast(const Value& x, DType type) {
    if (x.type == type) return x;
    return made_of(builder_.cast(x.id, type), type, {x}, is_integer(x.type) ? 256 : x.bound);
  }

  Value op(OpCode code, DType type, const Value& x, double bound) {
    return made_of(builder_.op(code, type, x.id), type, {x}, bound);
  }
  Value op(OpCode code, DType type, const Value& x, const Value& y, double bound) {
    return made_of(builder_.op(code, type, x.id, y.id), type, {x, y}, bound);
  }

  /// x * c with a magnitude of `most` at the most.
  Value scaled(const Value& x, double most) {
    if (x.bound <= most) return x;
    return op(OpCode::mul, x.type, constant(most / x.bound * 0.99, x.type), x, most);
  }

  Value expression(DType type, const Context& context, std::int64_t size) {
    if (chance(reuse_)) {
      if (const auto value = reused(type, context, false)) return *value;
    }
    if (size <= 1) return leaf(type, context);
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

  Value float_operation(DType type, const Context& context, std::int64_t size) {
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
    if (drawn < 60 && is_real(type)) {
      return op(chance(0.5) ? OpCode::minimum : OpCode::maximum, type, x, y, std::max(x.bound, y.bound));
    }
    if (x.bound + y.bound > 1e12) return x;
    return op(drawn % 2 == 0 ? OpCode::add : OpCode::sub, type, x, y, x.bound + y.bound);
  }

  /// A factor that is not near zero.
  Value some_param_apart(DType type) { return chance(0.5) ? some_param(type) : constant({-1.5, 0.5}, type); }

  Value real_function(DType type, const Context& context, std::int64_t size) {
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

  Value integer_operation(DType type, const Context& context, std::int64_t size) {
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

  Value comparison(const Context& context, std::int64_t size) {
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

  Value predicate(const Context& context, std::int64_t size) {
    if (chance(0.2)) return expression(integer_, context, size);
    const auto x = comparison(context, size);
    if (chance(0.6)) return x;
    const auto y = comparison(context, size);
    return op(chance(0.6) ? OpCode::bit_and : OpCode::bit_or, DType::u8, x, y, 1);
  }

  Value select(DType type, const Context& context, std::int64_t size) {
    const auto choice = comparison(context, 2);
    const auto left = pick(1, std::max<std::int64_t>(size - 1, 1));
    const auto x = expression(type, context, left);
    const auto y = expression(type, context, size - left);
    return made_of(builder_.op(OpCode::select, type, choice.id, x.id, y.id), type, {choice, x, y},
                   std::max(x.bound, y.bound));
  }

  double guard_bound(const Context& context, DType type) const {
    const auto identity = std::abs(ir::identity(context.around, type));
    return std::isfinite(identity) ? identity : 0;
  }

  Value guard(DType type, const Context& context, std::int64_t size) {
    // Infinity, the identity of minima, goes nowhere but into them.
    const auto finite = is_integer(type) || std::isfinite(ir::identity(context.around, type));
    if (!finite) return expression(type, context, size - 1);
    const auto condition = predicate(context, 2);
    const auto x = expression(type, context, size - 1);
    auto value = made_of(builder_.guard(condition.id, x.id), type, {condition, x},
                         std::max(x.bound, guard_bound(context, type)));
    value.guarded = context.around;
    values_.back() = value;
    return value;
  }

  OpCode combination(DType type, double bound, std::int64_t count) {
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

  std::optional<Value> reduction(DType type, const Context& context, std::int64_t size) {
    std::vector<int> over;
    for (const int q : over_) {
      // Running over an index again, inside of itself, is allowed; a scan in place is one walk over its elements.
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

  Value value_of_type(DType kept, const Context& context, std::int64_t size) {
    if (is_half(kept)) {
      const auto wide = chance(0.8) ? DType::f32 : DType::f64;
      return cast(scaled(expression(wide, context, size), 1000), kept);
    }
    if (kept == DType::f32 && main_ == DType::f64) return cast(expression(main_, context, size), kept);
    if (kept == DType::c64 && main_ == DType::c128) return cast(expression(main_, context, size), kept);
    return expression(kept, context, size);
  }

  void make_statement(int number) {
    const auto& output = outputs_[static_cast<std::size_t>(number)];
    Context context;
    if (output.way == Output::Way::scan) {
      context.open = bit(output.over);
      context.scan = output.read ? number : -1;
      auto body = Value{};
      auto how = combination(output.type, 2, extent(output.over));
      if (!is_integer(output.type) && how == OpCode::mul) how = OpCode::add;
      context.around = how;
      const auto before = values_.size();
      body = expression(output.type, context, size_);
      // What reads the scan's own elements has a value inside of it alone.
      values_.resize(before);
      builder_.store(output.buffer, output.offset, builder_.scan(how, body.id, output.over, output.exclusive),
                     output.step);
      return;
    }
    if (output.way == Output::Way::compact) {
      context.open = bit(output.over);
      const auto condition = predicate(context, size_);
      const auto payload = chance(0.4) && output.type == DType::i64
                               ? keep({builder_.index(output.over), DType::i64, context.open, 1e4, true, {}})
                               : value_of_type(output.type, context, size_);
      builder_.store(output.buffer, output.offset,
                     builder_.compact(condition.id, payload.id, base(output), output.over), output.step);
      return;
    }
    const bool guarded = chance(guards_);
    std::optional<Value> condition;
    if (guarded) condition = predicate(context, 3);
    const bool moves = chance(0.03);
    auto value = moves ? load(output.type, context) : value_of_type(output.type, context, size_);
    if (output.read && !is_half(output.type) && chance(0.6)) {
      const auto before = keep({builder_.load(output.buffer, output.offset), output.type, 0, 2, true, {}});
      value = op(chance(0.7) ? OpCode::add : OpCode::sub, output.type, before, value, value.bound + 2);
    }
    auto id = value.id;
    if (condition) id = builder_.guard(condition->id, id);
    if (condition && chance(0.3)) id = builder_.guard(predicate(context, 2).id, id);
    builder_.store(output.buffer, output.offset, id);
  }

  /// Where a compaction begins in its row: rows are kRoom elements longer than what can pass.
  NodeId base(const Output& output) {
    const auto room = static_cast<double>(kRoom);
    if (chance(0.3))
      return builder_.constant(static_cast<double>(pick(0, kRoom)) * (output.step < 0 ? -1 : 1), DType::i64);
    std::int64_t span = 0;
    auto offset = places(free_, 1, &span, false);
    const int buffer = add_buffer(DType::i64, false, Fill::room);
    reach(buffer, offset);
    auto id = builder_.load(buffer, std::move(offset));
    id = builder_.op(OpCode::minimum, DType::i64, id, builder_.constant(room, DType::i64));
    return builder_.op(OpCode::mul, DType::i64, id, builder_.constant(static_cast<double>(output.step), DType::i64));
  }

  void finish() {
    auto& program = builder_.program;
    // An index that nothing runs over any more is no loop of the statements either.
    std::vector<bool> used(program.nodes.size());
    std::uint64_t runs = 0;
    for (const auto& statement : program.statements) used[static_cast<std::size_t>(statement.value)] = true;
    for (std::size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      for (int k = 0; k < ir::operand_count(program.nodes[id]); ++k) {
        used[static_cast<std::size_t>(program.nodes[id].operand[k])] = true;
      }
      for (const int q : program.nodes[id].over) runs |= bit(q);
    }
    for (const int q : over_) {
      if ((runs & bit(q)) == 0) program.indices[static_cast<std::size_t>(q)].extent = 1;
    }
    for (std::size_t k = 0; k < areas_.size(); ++k) {
      auto& area = areas_[k];
      auto& buffer = program.buffers[k];
      if (chance(0.02)) {  // far from its base: offsets of 64 bits
        const std::int64_t far = (chance(0.5) ? 1 : -1) * ((std::int64_t{1} << 33) + 5);
        for (auto& node : program.nodes) {
          if (node.kind == ir::NodeKind::load && node.source == static_cast<int>(k)) node.offset.constant += far;
        }
        for (auto& statement : program.statements) {
          if (statement.buffer == static_cast<int>(k)) statement.offset.constant += far;
        }
        area.first += far;
        area.last += far;
      }
      buffer.first = area.first;
      buffer.last = area.last;
      buffer.alignment = size_of(buffer.type);
      made_.memory.push_back(random_memory(random_, buffer, area.fill));
    }
    made_.bits = bits_;
    made_.program = builder_.finish();
  }

  static constexpr std::int64_t kRoom = 6;

  Generator random_;
  Kind kind_;
  ProgramLimits limits_;
  ir::Builder builder_;
  RandomProgram made_;
  bool exact_ = true, bits_ = true;
  DType main_ = DType::f64, integer_ = DType::i32;
  std::int64_t size_ = 5;
  double reuse_ = 0.1, guards_ = 0;
  std::vector<int> free_, over_;
  std::vector<Output> outputs_;
  std::vector<Area> areas_;
  std::vector<Value> values_;
};

}  // namespace

std::string RandomProgram::text() const {
  std::vector<std::string> values;
  for (const auto& param : params) values.push_back(fmt::format("({}, {})", param.real(), param.imag()));
  return fmt::format("seed {}{}, params {}\n{}", seed, bits ? ", to the last bit" : "", fmt::join(values, " "),
                     ir::print(program));
}

namespace {

std::vector<void*> pointers(std::vector<Memory>& memory) {
  std::vector<void*> list;
  for (auto& one : memory) list.push_back(one.element_0());
  return list;
}

}  // namespace

Expectation expect(const RandomProgram& random) {
  Expectation made{random.memory, {}};
  auto reference = random.reference;
  reference.exact = random.bits;
  made.slots = expected(sequence_of(reference), pointers(made.memory), random.params);
  ir::interpret(reference, pointers(made.memory), random.params);
  return made;
}

std::string difference(const RandomProgram& random, const Expectation& expectation, std::vector<Memory>& memory) {
  const auto sequence = sequence_of(random.reference);
  if (auto text = compare(sequence, expectation.slots, pointers(memory)); !text.empty()) return text;
  for (std::size_t k = 0; k < memory.size(); ++k) {
    const auto& buffer = random.reference.buffers[k];
    const auto size = size_of(buffer.type);
    const auto from = memory[k].origin + buffer.first * size, to = memory[k].origin + (buffer.last + 1) * size;
    for (std::size_t byte = 0; byte < memory[k].bytes(); ++byte) {
      const auto at = static_cast<std::int64_t>(byte);
      const bool inside = buffer.written && at >= from && at < to;
      if (!inside && memory[k].begin()[byte] != expectation.memory[k].begin()[byte]) {
        return fmt::format("byte {} of {}'s memory was written; the buffer ends at {}", at, buffer.name, to);
      }
    }
  }
  return {};
}

RandomProgram random_program(std::uint64_t seed, Kind kind, const ProgramLimits& limits) {
  auto made = Maker(seed, kind, limits, true).run();
  made.reference = Maker(seed, kind, limits, false).run().program;
  return made;
}

}  // namespace ricci::fuzz
