#include "frontend/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "ir/types.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

using Axis = Spec::Axis;

const Axis* find(const Spec::Term& term, const std::string& name) {
  const auto place = std::find_if(term.begin(), term.end(), [&](const Axis& axis) { return axis.name == name; });
  return place == term.end() ? nullptr : &*place;
}

/// "axis i", or "axis 0 of '...'" for one that an ellipsis stands for.
std::string text_of(const Axis& axis) {
  return axis.broadcasts ? fmt::format("axis {} of '...'", axis.name.substr(1)) : "axis " + axis.name;
}

void check_unique(const Spec& spec, const Spec::Term& term, const char* side, const char* rule) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    for (std::size_t j = i + 1; j < term.size(); ++j) {
      if (term[i].name == term[j].name) {
        throw SpecError(fmt::format("{} appears twice in the {}; {}\n{}", text_of(term[i]), side, rule,
                                    spec.caret({&term[i], &term[j]})),
                        Spec::position(term[i]));
      }
    }
  }
}

/// Checks that a spec is a permutation.
void check_permutation_spec(const Spec& spec) {
  if (spec.implicit_output) {
    throw SpecError(fmt::format("a spec says its output after '->', as in \"abc->cab\"\n  {}\n  {:>{}}", spec.text, "^",
                                spec.text.size() + 1));
  }
  if (spec.operands.size() != 1) {
    throw SpecError(
        fmt::format("a permutation has one operand, this spec has {}\n  {}", spec.operands.size(), spec.text));
  }
  const auto& input = spec.operands.front();
  check_unique(spec, input, "input", "a permutation uses each axis once");
  check_unique(spec, spec.output, "output", "a permutation uses each axis once");
  for (const auto& axis : spec.output) {
    if (!find(input, axis.name)) {
      throw SpecError(fmt::format("output {} is not an axis of the input\n{}", text_of(axis), spec.caret({&axis})),
                      Spec::position(axis));
    }
  }
  for (const auto& axis : input) {
    if (!find(spec.output, axis.name)) {
      throw SpecError(fmt::format("input {} is missing in the output; a permutation keeps every axis\n{}",
                                  text_of(axis), spec.caret({&axis})),
                      Spec::position(axis));
    }
  }
  if (input.size() > static_cast<std::size_t>(kMaxRank)) {
    throw SpecError(fmt::format("{} axes; a permutation takes up to {}", input.size(), kMaxRank));
  }
}

void check_spec(const Spec& spec) {
  check_unique(spec, spec.output, "output", "an output has one place for each axis");
  for (const auto& axis : spec.output) {
    const bool known = std::any_of(spec.operands.begin(), spec.operands.end(),
                                   [&](const Spec::Term& term) { return find(term, axis.name) != nullptr; });
    if (known) continue;
    throw SpecError(fmt::format("output {} is not an axis of {}\n{}", text_of(axis),
                                spec.operands.size() == 1 ? "the input" : "any operand", spec.caret({&axis})),
                    Spec::position(axis));
  }
}

/// A tensor as messages call it.
struct Side {
  std::string subject;  ///< "the input", "operand B"
  std::string layout;   ///< "the input layout", "the layout of operand B"
};

Side side_of(std::size_t operand, std::size_t operands) {
  if (operands == 1) return {"the input", "the input layout"};
  const auto text = operand_text(operand, operands);
  return {text, "the layout of " + text};
}

const Side kOutput{"the output", "the output layout"}, kAddend{"the addend", "the addend's layout"};

void check_layout(const Spec& spec, const Spec::Term& term, const Layout& layout, const Side& side) {
  if (layout.extents.size() != layout.strides.size()) {
    throw ShapeError(
        fmt::format("{} has {} extents but {} strides", side.layout, layout.extents.size(), layout.strides.size()));
  }
  if (layout.extents.size() != term.size()) {
    throw ShapeError(fmt::format("the spec gives {} {} axes, its layout has {}: extents ({})\n  {}", side.subject,
                                 term.size(), layout.extents.size(), fmt::join(layout.extents, ", "), spec.text));
  }
  if (term.size() > static_cast<std::size_t>(kMaxRank)) {
    throw SpecError(fmt::format("{} has {} axes; a tensor has up to {}", side.subject, term.size(), kMaxRank));
  }
  if (layout.alignment < 0 || (layout.alignment & (layout.alignment - 1)) != 0) {
    throw ShapeError(fmt::format("{} promises an alignment of {} bytes; it must be 0 or a power of two", side.layout,
                                 layout.alignment));
  }
  std::int64_t elements = 1, low = 0, high = 0;
  for (std::size_t k = 0; k < term.size(); ++k) {
    const auto extent = layout.extents[k];
    if (extent < 0) {
      throw ShapeError(fmt::format("{} of {} has extent {}; extents start at 0\n{}", text_of(term[k]), side.subject,
                                   extent, spec.caret({&term[k]})),
                       Spec::position(term[k]));
    }
    std::int64_t reach = 0;
    const bool overflow =
        (extent > 1 && (__builtin_mul_overflow(layout.strides[k], extent - 1, &reach) ||
                        __builtin_add_overflow(reach < 0 ? low : high, reach, &(reach < 0 ? low : high)))) ||
        (extent > 0 && __builtin_mul_overflow(elements, extent, &elements));
    constexpr auto kLimit = std::int64_t{1} << 58;  // so that byte offsets of 16-byte elements fit 63 bits
    if (overflow || low < -kLimit || high > kLimit) {
      throw ShapeError(fmt::format("{} reaches past 2^58 elements at {} (extent {}, stride {})\n{}", side.subject,
                                   text_of(term[k]), extent, layout.strides[k], spec.caret({&term[k]})),
                       Spec::position(term[k]));
    }
  }
}

/// Whether two index points of the output share an element. The sorted-reach test proves most layouts free of overlap;
/// the rest are small enough to list, or refused.
bool may_overlap(const Layout& layout) {
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    if (layout.extents[k] == 0) return false;
    if (layout.extents[k] > 1) axes.push_back(k);
  }
  const auto stride = [&](std::size_t k) { return std::abs(layout.strides[k]); };
  std::sort(axes.begin(), axes.end(), [&](auto a, auto b) { return stride(a) < stride(b); });
  std::int64_t reach = 0;
  bool proven = true;
  for (const auto k : axes) {
    if (stride(k) == 0) return true;
    if (stride(k) <= reach) proven = false;
    reach += stride(k) * (layout.extents[k] - 1);
  }
  if (proven) return false;
  constexpr std::int64_t kListed = 1 << 20;
  if (layout.elements() > kListed) return true;
  std::vector<std::int64_t> offsets{0};
  for (const auto k : axes) {
    std::vector<std::int64_t> next;
    for (std::int64_t i = 0; i < layout.extents[k]; ++i) {
      for (const auto offset : offsets) next.push_back(offset + i * stride(k));
    }
    offsets = std::move(next);
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

/// The occurrences of an axis, with its extent in each.
struct AxisUse {
  const Axis* axis;
  std::int64_t extent;
  std::size_t tensor;  ///< operand, or the number of operands for the output
};

/// Every extent of one name agrees; an axis of an ellipsis may also have extent 1 in an operand.
void check_extents(const EinsumProblem& problem) {
  const auto& spec = problem.spec;
  const auto operands = spec.operands.size();
  std::map<std::string, std::vector<AxisUse>> places;
  for (std::size_t t = 0; t <= operands; ++t) {
    const auto& term = t < operands ? spec.operands[t] : spec.output;
    const auto& layout = t < operands ? problem.inputs[t] : problem.output;
    for (std::size_t k = 0; k < term.size(); ++k) places[term[k].name].push_back({&term[k], layout.extents[k], t});
  }
  const auto subject = [&](std::size_t t) { return t < operands ? side_of(t, operands).subject : kOutput.subject; };
  const auto shape = [&](std::size_t t) {
    return fmt::format("({})", fmt::join(t < operands ? problem.inputs[t].extents : problem.output.extents, ", "));
  };
  const auto compare = [&](const AxisUse& one, const AxisUse& other) {
    if (one.extent == other.extent) return;
    const auto carets = spec.caret({one.axis, other.axis});
    if (one.tensor == other.tensor) {
      throw ShapeError(
          fmt::format("{} has extents {} and {} in {}\n{}\nshape {}; an axis that is repeated has one extent",
                      text_of(*one.axis), one.extent, other.extent, subject(one.tensor), carets, shape(one.tensor)),
          Spec::position(*one.axis));
    }
    throw ShapeError(fmt::format("{} has extent {} in {} but {} in {}\n{}\nshapes {} and {}; {}", text_of(*one.axis),
                                 one.extent, subject(one.tensor), other.extent, subject(other.tensor), carets,
                                 shape(one.tensor), shape(other.tensor),
                                 one.axis->broadcasts ? "axes of '...' must agree, but for operands with extent 1"
                                                      : "axes with one name must agree"),
                     Spec::position(*one.axis));
  };
  // In the order of the spec, so that the first disagreement is the one that is told.
  for (std::size_t t = 0; t <= operands; ++t) {
    for (const auto& axis : t < operands ? spec.operands[t] : spec.output) {
      const auto& list = places[axis.name];
      const auto wide = std::find_if(list.begin(), list.end(), [](const AxisUse& p) { return p.extent != 1; });
      const auto& reference = axis.broadcasts && wide != list.end() && wide->tensor < operands ? *wide : list.front();
      for (const auto& place : list) {
        if (axis.broadcasts && place.extent == 1 && place.tensor < operands) continue;
        compare(reference, place);
      }
    }
  }
}

void check_addend(const EinsumProblem& problem) {
  const auto& spec = problem.spec;
  const auto& addend = *problem.addend;
  check_layout(spec, spec.output, addend, kAddend);
  if (problem.beta == Factor::zero) {
    throw PlanError("an addend with beta = 0 is never read; give beta, or leave the addend out");
  }
  for (std::size_t k = 0; k < spec.output.size(); ++k) {
    if (addend.extents[k] == problem.output.extents[k]) continue;
    throw ShapeError(fmt::format("{} has extent {} in {} but {} in {}\n{}\nan addend has the output's shape",
                                 text_of(spec.output[k]), addend.extents[k], kAddend.subject, problem.output.extents[k],
                                 kOutput.subject, spec.caret({&spec.output[k]})),
                     Spec::position(spec.output[k]));
  }
}

/// All that is independent of types.
void check_shapes(const EinsumProblem& problem) {
  const auto& spec = problem.spec;
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    check_layout(spec, spec.operands[k], problem.inputs[k], side_of(k, problem.inputs.size()));
  }
  const auto& output = problem.output;
  check_layout(spec, spec.output, output, kOutput);
  check_extents(problem);
  for (std::size_t k = 0; k < spec.output.size(); ++k) {
    if (output.strides[k] == 0 && output.extents[k] > 1 && output.elements() > 0) {
      throw ShapeError(
          fmt::format("{} of the output has stride 0 and extent {}: its elements would be written {} times\n{}",
                      text_of(spec.output[k]), output.extents[k], output.extents[k], spec.caret({&spec.output[k]})),
          Spec::position(spec.output[k]));
    }
  }
  if (problem.addend) check_addend(problem);
  if (may_overlap(output)) {
    throw ShapeError(
        fmt::format("elements of the output overlap: extents ({}), strides ({}); give each index point an element of "
                    "its own\n  {}",
                    fmt::join(output.extents, ", "), fmt::join(output.strides, ", "), spec.text));
  }
  const auto constants = std::count(problem.constant.begin(), problem.constant.end(), true);
  if (!problem.constant.empty() && problem.constant.size() != problem.inputs.size()) {
    throw ShapeError(fmt::format("constant has {} entries, the spec {} operands\n  {}", problem.constant.size(),
                                 problem.inputs.size(), spec.text));
  }
  if (constants > 0 && constants == static_cast<std::ptrdiff_t>(problem.inputs.size())) {
    throw PlanError(
        fmt::format("all operands are constant, so there is nothing to compute from call to call\n  {}", spec.text));
  }
  if (problem.conjugate.size() > problem.inputs.size()) {
    throw ShapeError(fmt::format("conjugate has {} entries, the spec {} operands\n  {}", problem.conjugate.size(),
                                 problem.inputs.size(), spec.text));
  }
}

/// Whether every value of one integer type is one of the other.
bool holds(DType type, DType other) {
  if (is_signed(type) == is_signed(other)) return size_of(type) >= size_of(other);
  return is_signed(type) && size_of(type) > size_of(other);
}

/// Whether values of one type may be put into another that a user asks for: integers into all floats, into integers
/// that hold their values and into those of 64 bits, where they wrap; floats of any width into each other, real into
/// complex.
bool converts(DType from, DType to) {
  if (is_integer(to)) return is_integer(from) && (holds(to, from) || size_of(to) == 8);
  return is_integer(from) || is_complex(to) || !is_complex(from);
}

/// The narrowest float that NumPy lets an integer meet a half type in: 8 bits fit in f16, 16 in f32.
DType float_of(DType integer, DType beside) {
  if (size_of(integer) == 1) return beside;
  return size_of(integer) == 2 ? DType::f32 : DType::f64;
}

}  // namespace

Factor factor_of(Scalar value) noexcept {
  if (value == Scalar(0)) return Factor::zero;
  return value == Scalar(1) ? Factor::one : Factor::any;
}

DType promoted(DType x, DType y) noexcept {
  if (x == y) return x;
  if (is_integer(x) && is_integer(y)) {
    if (holds(x, y) || holds(y, x)) return holds(x, y) ? x : y;
    // One is signed and as wide as the other, or narrower: the next wider signed type holds both.
    switch (std::max(size_of(x), size_of(y))) {
      case 1:
        return DType::i16;
      case 2:
        return DType::i32;
      case 4:
        return DType::i64;
      default:
        return DType::f64;
    }
  }
  if (is_integer(x)) return promoted(y, float_of(x, y));
  if (is_integer(y)) return promoted(x, float_of(y, x));
  const auto is_wide = [](DType type) { return type == DType::f64 || type == DType::c128; };
  const bool wide = is_wide(x) || is_wide(y);
  if (is_complex(x) || is_complex(y)) return wide ? DType::c128 : DType::c64;
  return wide ? DType::f64 : DType::f32;
}

DType result_type(const std::vector<DType>& types) {
  std::optional<DType> result;
  for (const bool integers : {false, true}) {
    for (const auto type : types) {
      if (is_integer(type) == integers) result = result ? promoted(*result, type) : type;
    }
  }
  return result.value();
}

DType compute_type(DType input, DType output) {
  return is_integer(output) ? output : arithmetic(promoted(input, output));
}

DType compute_type(const EinsumProblem& problem) {
  auto type = compute_type(problem.output.type, problem.output.type);
  for (const auto& input : problem.inputs) type = compute_type(input.type, type);
  if (problem.addend) type = compute_type(problem.addend->type, type);
  if (problem.precision == Precision::f64 && !is_integer(type)) return is_complex(type) ? DType::c128 : DType::f64;
  return problem.precision == Precision::i32 && is_integer(type) && size_of(type) < 4 ? DType::i32 : type;
}

void check_range(const std::string& what, Scalar value, DType type) {
  const auto refuse = [&](double part, const auto& first, const auto& last) {
    throw ShapeError(fmt::format("{} = {} is out of the range of {}: {} to {}", what, part, name(type), first, last));
  };
  if (is_integer(type)) {
    const int bits = static_cast<int>(8 * size_of(type)) - (is_signed(type) ? 1 : 0);
    const double end = std::ldexp(1.0, bits), first = is_signed(type) ? -end : 0;
    if (value.real() >= first && value.real() < end) return;
    const auto largest = ~std::uint64_t{0} >> (64 - bits);
    refuse(value.real(), is_signed(type) ? -static_cast<std::int64_t>(largest) - 1 : 0, largest);
  }
  if (type == DType::f64 || type == DType::c128) return;
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (const double part : {value.real(), value.imag()}) {
    if (std::isfinite(part) && std::fabs(part) > kLargest) refuse(part, -kLargest, kLargest);
  }
}

void check_factor(const char* which, Scalar value, DType type) {
  if (!is_complex(type) && value.imag() != 0) {
    throw ShapeError(fmt::format("{} = ({}, {}) has an imaginary part, but the output is {}", which, value.real(),
                                 value.imag(), name(type)));
  }
  constexpr double kLimit = 9223372036854775808.0;
  if (is_integer(type) && (value.real() != std::floor(value.real()) || !(std::fabs(value.real()) < kLimit))) {
    throw ShapeError(
        fmt::format("{} = {} is not a whole number below 2^63, but the output is {}", which, value.real(), name(type)));
  }
  check_range(which, value, type);
}

std::string operand_name(std::size_t operand) {
  const auto letter = static_cast<char>('A' + operand % 26);
  return operand < 26 ? std::string(1, letter) : fmt::format("{}{}", letter, operand / 26);
}

std::string operand_text(std::size_t operand, std::size_t operands) {
  return operands == 1 ? "the input" : "operand " + operand_name(operand);
}

Reach reach_of(const Layout& layout) noexcept {
  Reach reach{0, 0};
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    if (layout.extents[k] == 0) return {};
    const auto last = layout.strides[k] * (layout.extents[k] - 1);
    (last < 0 ? reach.first : reach.last) += last;
  }
  return reach;
}

EinsumProblem expand(EinsumProblem problem) {
  std::vector<int> ranks;
  for (const auto& input : problem.inputs) ranks.push_back(static_cast<int>(input.extents.size()));
  problem.spec = problem.spec.expand(ranks);
  return problem;
}

EinsumProblem squeeze(EinsumProblem problem) {
  const auto squeezed = [](Spec::Term& term, Layout& layout) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < term.size(); ++k) {
      if (layout.extents[k] == 1) continue;
      std::swap(term[kept], term[k]);
      term[kept].broadcasts = false;
      layout.extents[kept] = layout.extents[k];
      layout.strides[kept++] = layout.strides[k];
    }
    term.resize(kept);
    layout.extents.resize(kept);
    layout.strides.resize(kept);
  };
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) squeezed(problem.spec.operands[k], problem.inputs[k]);
  if (auto term = problem.spec.output; problem.addend) squeezed(term, *problem.addend);
  squeezed(problem.spec.output, problem.output);
  return problem;
}

void check(const EinsumProblem& given) {
  const auto problem = expand(given);
  check_spec(problem.spec);
  check_shapes(problem);
  const auto to = problem.output.type;
  const auto check_type = [&](DType from, const std::string& subject) {
    if (converts(from, to)) return;
    throw ShapeError(fmt::format(
        "no conversion from {} ({}) to {} (the output); integers go into floats, into integers that hold all "
        "their values and into those of 64 bits, real and complex floats into complex ones, real floats "
        "into real ones",
        name(from), subject, name(to)));
  };
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    check_type(problem.inputs[k].type, operand_text(k, problem.inputs.size()));
  }
  if (problem.addend) check_type(problem.addend->type, kAddend.subject);
}

void check_permutation(const EinsumProblem& given) {
  if (given.spec.operands.size() != 1) check_permutation_spec(given.spec);
  const auto problem = expand(given);
  check_permutation_spec(problem.spec);
  check_shapes(problem);
  const auto to = problem.output.type;
  const auto check_type = [&](DType from) {
    if (from == to || (!is_integer(from) && converts(from, to))) return;
    throw ShapeError(
        fmt::format("no conversion from {} to {}; types must be equal, or both real floating, both complex, or "
                    "a real floating input with a complex output",
                    name(from), name(to)));
  };
  check_type(problem.inputs.front().type);
  if (problem.addend) check_type(problem.addend->type);
}

Layout result_row_major(const Spec& given, const std::vector<Layout>& inputs) {
  const auto problem = expand({given, inputs, {}});
  const auto& spec = problem.spec;
  check_spec(spec);
  std::vector<DType> types;
  std::map<std::string, std::int64_t> extents;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check_layout(spec, spec.operands[k], inputs[k], side_of(k, inputs.size()));
    types.push_back(inputs[k].type);
    for (std::size_t j = 0; j < spec.operands[k].size(); ++j) {
      const auto& axis = spec.operands[k][j];
      const auto [place, fresh] = extents.try_emplace(axis.name, inputs[k].extents[j]);
      // Disagreements are reported when the problem is checked.
      if (!fresh && axis.broadcasts && place->second == 1) place->second = inputs[k].extents[j];
    }
  }
  std::vector<std::int64_t> shape;
  for (const auto& axis : spec.output) shape.push_back(extents.at(axis.name));
  return Layout::row_major(result_type(types), std::move(shape));
}

Layout permuted_row_major(const Spec& spec, const Layout& input) {
  check_permutation_spec(spec.operands.size() == 1 ? spec.expand({input.rank()}) : spec);
  return result_row_major(spec, {input});
}

}  // namespace ricci::ir
