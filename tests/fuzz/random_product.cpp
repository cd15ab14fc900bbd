#include "fuzz/random_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/types.hpp"

namespace ricci::fuzz {
namespace {

class ProductMaker {
 public:
  explicit ProductMaker(std::uint64_t seed) : random_(seed) { made_.seed = seed; }

  RandomEinsum run() {
    choose_axes();
    choose_types();
    lay_out();
    choose_factors();
    for (const auto& input : made_.problem.inputs) made_.tensors.emplace_back(random_, input);
    if (made_.problem.addend) made_.tensors.emplace_back(random_, *made_.problem.addend);
    made_.tensors.emplace_back(random_, made_.problem.output);
    for (auto& tensor : made_.tensors) tensor.fill(random_);
    // What nothing reads may hold anything.
    if (made_.problem.beta == ir::Factor::zero || made_.problem.addend) made_.tensors.back().fill_nan();
    return std::move(made_);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return fuzz::pick(random_, low, high); }
  bool chance(double probability) { return fuzz::chance(random_, probability); }

  /// Extents of all axes together stay below kMostPoints.
  void axes(std::int64_t count, std::initializer_list<int> of, std::int64_t largest) {
    constexpr std::int64_t kMostPoints = 300000;
    for (std::int64_t k = 0; k < count; ++k, ++next_) {
      const auto most = std::max<std::int64_t>(1, std::min(largest, kMostPoints / points_));
      extents_[next_] = chance(0.2) ? pick(1, std::min<std::int64_t>(4, most)) : pick(1, most);
      points_ *= extents_[next_];
      for (const int term : of) terms_[term] += next_;
    }
  }

  void choose_axes() {
    if (chance(0.1)) return choose_products_side_by_side();
    const auto rows = pick(0, 3), columns = pick(0, 3);
    const auto largest = rows + columns > 4 ? 12 : rows + columns > 2 ? 40 : 150;
    axes(rows, {0, 2}, largest);
    axes(columns, {1, 2}, largest);
    axes(chance(0.1) ? 0 : pick(1, 2), {0, 1}, chance(0.2) ? 700 : 60);
    axes(chance(0.25) ? pick(1, 2) : 0, {0, 1, 2}, 20);
    axes(chance(0.05) ? 1 : 0, {0}, 6);
    axes(chance(0.05) ? 1 : 0, {1}, 6);
    for (auto& term : terms_) std::shuffle(term.begin(), term.end(), random_);
    made_.problem.spec = Spec::parse(terms_[0] + "," + terms_[1] + "->" + terms_[2]);
  }

  /// As many products as vectors have lanes or more, neighbours in the output.
  void choose_products_side_by_side() {
    const auto add = [&](std::int64_t extent, std::initializer_list<int> of) {
      extents_[next_] = extent;
      for (const int term : of) terms_[term] += next_;
      ++next_;
    };
    add(pick(16, 22), {0, 2});
    add(pick(16, 22), {1, 2});
    add(pick(1, 9), {0, 1});
    for (const int term : {0, 1}) std::shuffle(terms_[term].begin(), terms_[term].end(), random_);
    add(pick(8, 70), {0, 1, 2});
    if (chance(0.3)) std::shuffle(terms_[0].begin(), terms_[0].end(), random_);
    made_.problem.spec = Spec::parse(terms_[0] + "," + terms_[1] + "->" + terms_[2]);
  }

  void choose_types() {
    constexpr DType kTypes[][3] = {{DType::f64, DType::f64, DType::f64},    {DType::f32, DType::f32, DType::f32},
                                   {DType::f64, DType::f64, DType::f64},    {DType::f32, DType::f32, DType::f32},
                                   {DType::c128, DType::c128, DType::c128}, {DType::c64, DType::c64, DType::c64},
                                   {DType::f32, DType::f64, DType::f64},    {DType::c128, DType::f64, DType::c128},
                                   {DType::f16, DType::f16, DType::f16},    {DType::f16, DType::f16, DType::f32},
                                   {DType::bf16, DType::bf16, DType::bf16}, {DType::bf16, DType::bf16, DType::f32},
                                   {DType::i8, DType::i8, DType::i32},      {DType::u8, DType::i8, DType::i32},
                                   {DType::i32, DType::i32, DType::i32},    {DType::i64, DType::i64, DType::i64}};
    const auto& drawn = kTypes[pick(0, static_cast<std::int64_t>(std::size(kTypes)) - 1)];
    const bool swap = chance(0.5);
    types_[0] = drawn[swap ? 1 : 0];
    types_[1] = drawn[swap ? 0 : 1];
    types_[2] = drawn[2];
    choose_mixed(swap);
    choose_precision();
  }

  /// Other types in the place of one that is drawn, by the seed alone.
  void choose_mixed(bool swap) {
    constexpr DType kShort[] = {DType::i8, DType::u8, DType::i16, DType::u16};
    if (types_[0] != types_[1] && types_[2] == DType::c128 && made_.seed % 3 != 0) {
      types_[swap ? 1 : 0] = DType::c64;
      types_[swap ? 0 : 1] = made_.seed % 3 == 1 ? DType::f32 : DType::c128;
      if (made_.seed % 3 == 1) types_[2] = DType::c64;
    }
    if (types_[0] == DType::i64 && made_.seed % 5 != 0) types_[0] = types_[1] = types_[2] = kShort[made_.seed % 5 - 1];
  }

  /// By the seed alone.
  void choose_precision() {
    constexpr Precision kReal[] = {Precision::operands, Precision::bf16, Precision::operands,
                                   Precision::f16,      Precision::f64,  Precision::f32};
    constexpr Precision kComplex[] = {Precision::operands, Precision::f32, Precision::f64};
    auto& precision = made_.problem.precision;
    const auto seed = made_.seed;
    if (is_complex(types_[2])) {
      precision = kComplex[seed % 3];
    } else if (!is_integer(types_[2])) {
      precision = kReal[seed % 6];
    } else if (types_[2] == DType::i32 && seed % 2 == 0) {
      precision = Precision::i32;
      if (seed % 4 == 0 && types_[0] != DType::i32) types_[2] = DType::i16;
    }
  }

  Layout layout(int term) {
    std::vector<std::int64_t> extents;
    for (const char axis : terms_[term]) extents.push_back(extents_.at(axis));
    auto made = Layout::strided(types_[term], extents, random_strides(random_, extents, chance(0.3), chance(0.3)));
    made.alignment = chance(0.7) ? 64 : 0;
    return made;
  }

  void lay_out() {
    auto& problem = made_.problem;
    for (const int term : {0, 1}) {
      problem.inputs.push_back(layout(term));
      for (auto& stride : problem.inputs.back().strides) {
        if (chance(0.03)) stride = chance(0.5) ? 0 : -stride;
      }
      problem.conjugate.push_back(chance(0.3));
    }
    problem.output = layout(2);
    for (auto& stride : problem.output.strides) {
      if (chance(0.02)) stride = -stride;
    }
  }

  Scalar whole_factor() {
    const auto drawn = static_cast<double>(pick(-9, 9));
    return is_signed(types_[2]) ? drawn : std::abs(drawn);
  }

  void choose_factors() {
    auto& problem = made_.problem;
    const auto factor = [&] {
      const double re = static_cast<double>(pick(-16, 16)) / 4;
      return is_complex(types_[2])   ? Scalar(re, static_cast<double>(pick(-16, 16)) / 4)
             : is_integer(types_[2]) ? whole_factor()
                                     : Scalar(re);
    };
    if (chance(0.3)) problem.alpha = ir::Factor::any, made_.alpha = factor();
    if (chance(0.3)) problem.beta = ir::Factor::any, made_.beta = factor();
    if (problem.beta == ir::Factor::zero) return;
    problem.conjugate_addend = chance(0.2);
    if (chance(0.4)) problem.addend = layout(2);
  }

  Generator random_;
  RandomEinsum made_;
  char next_ = 'a';
  std::int64_t points_ = 1;
  std::map<char, std::int64_t> extents_;
  std::string terms_[3];
  DType types_[3] = {};
};

/// The number of elements from element (0, 0, ...) to the one at these places.
std::int64_t place_of(const Spec::Term& term, const Layout& layout, const std::map<std::string, std::int64_t>& at) {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < term.size(); ++k) place += layout.strides[k] * at.at(term[k].name);
  return place;
}

/// Places of some axes, the last one fastest.
class Odometer {
 public:
  Odometer(std::vector<std::pair<std::string, std::int64_t>> axes, std::map<std::string, std::int64_t>& at)
      : axes_(std::move(axes)), at_(at) {
    for (const auto& [name, extent] : axes_) at_[name] = 0;
  }
  bool next() {
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      if (++at_[axis->first] < axis->second) return true;
      at_[axis->first] = 0;
    }
    return false;
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> axes_;
  std::map<std::string, std::int64_t>& at_;
};

}  // namespace

RandomEinsum random_product(std::uint64_t seed) { return ProductMaker(seed).run(); }

namespace {

/// To nearest, halves to even, of a type's significant bits and smallest distance; out of its range infinite.
long double rounded(long double x, int bits, int least_exponent, long double most) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x) - (bits - 1), least_exponent);
  const auto made = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::abs(made) > most ? std::copysign(INFINITY, x) : made;
}

/// A factor in a precision.
long double factor_in(Precision precision, long double x) {
  switch (precision) {
    case Precision::f32:
      return static_cast<float>(x);
    case Precision::bf16:
      return rounded(x, 8, -133, 0x1.fep127L);
    case Precision::f16:
      return rounded(x, 11, -24, 65504);
    default:
      return x;
  }
}

/// The type that a result is summed in.
DType type_of_sums(DType type, Precision precision) {
  if (precision == Precision::f64) return is_complex(type) ? DType::c128 : DType::f64;
  const bool single = precision == Precision::f32 || precision == Precision::bf16 || precision == Precision::f16;
  return single && !is_complex(type) ? DType::f32 : single ? DType::c64 : arithmetic(type);
}

}  // namespace

std::string wrong_element(RandomEinsum& e, const Tensor& before) {
  using Wide = std::complex<long double>;
  const auto& problem = e.problem;
  const auto& spec = problem.spec;
  auto old = before;
  std::map<std::string, std::int64_t> extents, at;
  for (const std::size_t k : {0, 1}) {
    for (std::size_t q = 0; q < spec.operands[k].size(); ++q)
      extents[spec.operands[k][q].name] = problem.inputs[k].extents[q];
  }
  std::vector<std::pair<std::string, std::int64_t>> outer, inner;
  for (const auto& axis : spec.output) outer.emplace_back(axis.name, extents.at(axis.name));
  for (const auto& axis : extents) {
    if (std::find(outer.begin(), outer.end(), std::pair(axis.first, axis.second)) == outer.end()) inner.push_back(axis);
  }
  double terms = 1;
  for (const auto& [name, extent] : inner) terms *= static_cast<double>(extent);

  const auto type = problem.output.type;
  const auto element = [&](Tensor& tensor, std::int64_t place) {
    return static_cast<const unsigned char*>(tensor.element_0()) + place * size_of(tensor.layout().type);
  };
  const auto number = [&](Tensor& tensor, std::int64_t place, bool conjugated) {
    const auto value = float_at(element(tensor, place), tensor.layout().type);
    return Wide(value.real(), conjugated ? -value.imag() : value.imag());
  };
  const auto whole = [&](Tensor& tensor, std::int64_t place) {
    return integer_at(element(tensor, place), tensor.layout().type);
  };
  auto& addend = problem.addend ? e.tensors[2] : old;
  const bool adds = problem.beta != ir::Factor::zero;
  const Wide alpha(e.alpha.real(), e.alpha.imag()), beta(e.beta.real(), e.beta.imag());
  const auto summed_in = type_of_sums(type, problem.precision);
  const double of_sums = unit_roundoff(summed_in) * (terms + 8) * (is_complex(type) ? 3 : 1);
  const bool rounded_once = size_of(type) < size_of(summed_in);
  // Without a sum nothing is rounded to another type; a factor of one is, wherever it stands.
  const bool sums = std::any_of(inner.begin(), inner.end(), [](const auto& axis) { return axis.second > 1; });
  const auto factor = [&](std::size_t k, std::int64_t place) {
    const auto value = number(e.tensors[k], place, problem.conjugate[k]);
    if (!sums) return value;
    return Wide(factor_in(problem.precision, value.real()), factor_in(problem.precision, value.imag()));
  };
  Odometer outside(outer, at);
  do {
    Odometer inside(inner, at);
    Wide sum = 0;
    long double moduli = 0;
    std::uint64_t count = 0;
    do {
      const auto a = place_of(spec.operands[0], problem.inputs[0], at),
                 b = place_of(spec.operands[1], problem.inputs[1], at);
      if (is_integer(type)) {
        count += whole(e.tensors[0], a) * whole(e.tensors[1], b);
      } else {
        const auto product = factor(0, a) * factor(1, b);
        sum += product;
        moduli += std::abs(product);
      }
    } while (inside.next());
    const auto to = place_of(spec.output, problem.output, at);
    const auto from = problem.addend ? place_of(spec.output, *problem.addend, at) : to;
    if (is_integer(type)) {
      count *= static_cast<std::uint64_t>(static_cast<std::int64_t>(e.alpha.real()));
      if (adds) count += static_cast<std::uint64_t>(static_cast<std::int64_t>(e.beta.real())) * whole(addend, from);
      const auto got = whole(e.tensors.back(), to);
      const auto bits = 64 - 8 * size_of(type);
      if (got << bits == count << bits) continue;
      return fmt::format("element {} of the output is {}, not {}", to, got, count);
    }
    sum *= alpha;
    moduli *= std::abs(alpha);
    if (adds) {
      const auto more = beta * number(addend, from, problem.conjugate_addend);
      sum += more;
      moduli += std::abs(more);
    }
    const auto got = number(e.tensors.back(), to, false);
    const auto bound = static_cast<double>(moduli) * (of_sums + (rounded_once ? unit_roundoff(type) : 0)) +
                       1e-7 * (is_half(type) ? 1 : 0);
    if (std::abs(got - sum) <= bound) continue;
    return fmt::format("element {} of the output is {} + {}i, not {} + {}i; {} is allowed", to,
                       static_cast<double>(got.real()), static_cast<double>(got.imag()),
                       static_cast<double>(sum.real()), static_cast<double>(sum.imag()), bound);
  } while (outside.next());
  return e.tensors.back().same_around(before) ? std::string() : "memory beside the output's elements was written";
}

}  // namespace ricci::fuzz
