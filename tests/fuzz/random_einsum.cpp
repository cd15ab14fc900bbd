#include "fuzz/random_einsum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace ricci::fuzz {
namespace {

constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128};
constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                               DType::u8, DType::u16, DType::u32, DType::u64};

/// A letter of the spec, or one axis behind the ellipses.
struct Axis {
  char letter = 0;
  std::int64_t extent = 1;
};

class EinsumMaker {
 public:
  EinsumMaker(std::uint64_t seed, const EinsumLimits& limits) : random_(seed), limits_(limits) { made_.seed = seed; }

  RandomEinsum run() {
    choose_axes();
    choose_terms();
    made_.problem.spec = Spec::parse(text_);
    choose_types();
    lay_out();
    choose_factors();
    choose_addend();
    fill();
    return std::move(made_);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return fuzz::pick(random_, low, high); }
  bool chance(double probability) { return fuzz::chance(random_, probability); }
  template <std::size_t N>
  DType pick(const DType (&types)[N]) {
    return types[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(N) - 1))];
  }

  void choose_axes() {
    static constexpr std::int64_t kLiked[] = {2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100};
    operands_ = std::min<std::size_t>(static_cast<std::size_t>(limits_.max_operands),
                                      chance(0.25)   ? 1
                                      : chance(0.65) ? 2
                                                     : static_cast<std::size_t>(pick(3, 4)));
    std::int64_t budget = pick(1, limits_.max_points);
    const auto extent = [&] {
      if (chance(0.12)) return std::int64_t{1};
      auto wanted = chance(0.4) ? kLiked[pick(0, std::size(kLiked) - 1)] : pick(2, 9);
      wanted = std::max<std::int64_t>(std::min(wanted, budget), 1);
      budget /= wanted;
      return wanted;
    };
    const auto letters = pick(0, 7);
    std::string names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::shuffle(names.begin(), names.end(), random_);
    for (std::int64_t k = 0; k < letters; ++k) axes_.push_back({names[static_cast<std::size_t>(k)], extent()});
    if (chance(0.2)) hidden_.resize(static_cast<std::size_t>(pick(0, 2)));
    for (auto& axis : hidden_) axis = extent();
    if (!axes_.empty() && chance(0.03)) axes_[static_cast<std::size_t>(pick(0, letters - 1))].extent = 0;
    if (!hidden_.empty() && chance(0.02)) hidden_.front() = 0;
    has_ellipsis_ = !hidden_.empty() || chance(0.03);
  }

  void choose_terms() {
    std::vector<std::string> terms(operands_);
    std::string output;
    for (const auto& axis : axes_) {
      // In one operand, in two, in any; now and then twice in one.
      std::vector<std::size_t> places(operands_);
      std::iota(places.begin(), places.end(), std::size_t{0});
      std::shuffle(places.begin(), places.end(), random_);
      const auto count = chance(0.35) ? 1 : chance(0.75) ? 2 : pick(1, static_cast<std::int64_t>(operands_));
      places.resize(std::min<std::size_t>(operands_, static_cast<std::size_t>(count)));
      for (const auto place : places) terms[place] += axis.letter;
      if (chance(0.08)) terms[places.front()] += axis.letter;
      if (chance(0.55)) output += axis.letter;
    }
    for (std::size_t k = 0; k < operands_; ++k) {
      std::shuffle(terms[k].begin(), terms[k].end(), random_);
      behind_.emplace_back();
      if (has_ellipsis_ && (k == 0 || chance(0.7))) {
        behind_.back() = hidden_;
        if (k > 0 && chance(0.3))
          behind_.back().erase(behind_.back().begin(),
                               behind_.back().begin() + pick(0, static_cast<std::int64_t>(hidden_.size())));
        for (auto& extent : behind_.back()) {
          if (k > 0 && chance(0.2)) extent = 1;
        }
        terms[k].insert(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(terms[k].size()))), "...");
      }
    }
    std::shuffle(output.begin(), output.end(), random_);
    if (has_ellipsis_)
      output.insert(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(output.size()))), "...");
    text_ = fmt::format("{}", fmt::join(terms, ","));
    if (!chance(0.08)) text_ += "->" + output;
  }

  void choose_types() {
    const bool integer = chance(0.3);
    types_.resize(operands_);
    if (integer) {
      output_type_ = pick(kIntegers);
      for (auto& type : types_) {
        type = output_type_;
        if (!chance(0.3)) continue;
        if (output_type_ == DType::i32) type = chance(0.5) ? DType::i8 : DType::u8;
        if (output_type_ == DType::u32) type = DType::u16;
        if (size_of(output_type_) == 8) type = pick(kIntegers);
      }
      return;
    }
    const auto common = pick(kFloats);
    const bool mixed = chance(0.4);
    bool complex = false;
    for (auto& type : types_) {
      type = mixed ? (chance(0.2) ? pick(kIntegers) : pick(kFloats)) : common;
      complex = complex || is_complex(type);
    }
    output_type_ = mixed ? pick(kFloats) : common;
    if (complex && !is_complex(output_type_)) output_type_ = chance(0.5) ? DType::c64 : DType::c128;
    if (output_type_ == DType::f64 || output_type_ == DType::c128) return;
    for (auto& type : types_) {
      // Products of wider ones would be infinite in f32.
      if (is_integer(type) && size_of(type) > 2) type = DType::i16;
    }
  }

  Layout layout(DType type, const std::vector<std::int64_t>& extents) {
    auto made = Layout::strided(type, extents, random_strides(random_, extents, chance(0.3), chance(0.3)));
    made.alignment = chance(0.7) ? 16 : chance(0.5) ? 0 : 8;
    return made;
  }

  void lay_out() {
    auto& problem = made_.problem;
    const auto extent_of = [&](const Spec::Axis& axis) {
      const auto place =
          std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return axis.name[0] == a.letter; });
      return place->extent;
    };
    for (std::size_t k = 0; k < operands_; ++k) {
      std::vector<std::int64_t> extents;
      for (const auto& axis : problem.spec.operands[k]) {
        if (axis.name == "...") {
          extents.insert(extents.end(), behind_[k].begin(), behind_[k].end());
        } else {
          extents.push_back(extent_of(axis));
        }
      }
      problem.inputs.push_back(layout(types_[k], extents));
      for (auto& stride : problem.inputs.back().strides) {
        if (chance(0.06)) {
          stride = 0;
        } else if (chance(0.06)) {
          stride = -stride;
        }
      }
      problem.conjugate.push_back(chance(0.25));
    }
    auto typed = problem.inputs;
    for (auto& input : typed) input.type = output_type_;  // the extents alone are asked for
    problem.output = layout(output_type_, ir::result_row_major(problem.spec, typed).extents);
    for (auto& stride : problem.output.strides) {
      if (chance(0.04)) stride = -stride;
    }
  }

  Scalar factor() {
    if (is_integer(output_type_)) return static_cast<double>(pick(output_type_ <= DType::i64 ? -100 : 0, 100));
    const double re = static_cast<double>(pick(-32, 32)) / 8 + 0.1;
    return is_complex(output_type_) ? Scalar(re, static_cast<double>(pick(-32, 32)) / 8) : Scalar(re);
  }

  void choose_factors() {
    auto& problem = made_.problem;
    if (chance(0.35)) {
      problem.alpha = ir::Factor::any;
      made_.alpha = chance(0.1) ? Scalar(0) : chance(0.1) ? Scalar(1) : factor();
    } else if (chance(0.03)) {
      problem.alpha = ir::Factor::zero;
      made_.alpha = 0;
    }
    if (chance(0.35)) {
      problem.beta = ir::Factor::any;
      made_.beta = chance(0.1) ? Scalar(0) : factor();
    } else if (chance(0.2)) {
      problem.beta = ir::Factor::one;
      made_.beta = 1;
    }
  }

  void choose_addend() {
    auto& problem = made_.problem;
    if (problem.beta == ir::Factor::zero) return;
    problem.conjugate_addend = chance(0.2);
    if (!chance(0.4)) return;
    auto type = output_type_;
    if (!is_integer(type) && chance(0.3)) type = is_complex(type) && chance(0.5) ? DType::c64 : DType::f32;
    problem.addend = layout(type, problem.output.extents);
    for (auto& stride : problem.addend->strides) {
      if (chance(0.06)) stride = 0;
    }
  }

  void fill() {
    for (const auto& input : made_.problem.inputs) made_.tensors.emplace_back(random_, input);
    if (made_.problem.addend) made_.tensors.emplace_back(random_, *made_.problem.addend);
    made_.tensors.emplace_back(random_, made_.problem.output);
    for (auto& tensor : made_.tensors) tensor.fill(random_);
    // What a factor 0 hides may hold anything.
    if (made_.beta == Scalar(0) && chance(0.5)) made_.tensors.back().fill_nan();
    if (made_.beta == Scalar(0) && made_.problem.addend) made_.tensors[made_.problem.inputs.size()].fill_nan();
    if (made_.alpha == Scalar(0) && chance(0.5)) made_.tensors.front().fill_nan();
  }

  Generator random_;
  EinsumLimits limits_;
  RandomEinsum made_;
  std::size_t operands_ = 1;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> hidden_;               // extents behind the widest ellipsis
  std::vector<std::vector<std::int64_t>> behind_;  // and behind that of each operand
  bool has_ellipsis_ = false;
  std::string text_;
  std::vector<DType> types_;
  DType output_type_ = DType::f64;
};

}  // namespace

std::string RandomEinsum::text() const {
  std::string text = fmt::format("seed {}: \"{}\"", seed, problem.spec.text);
  const auto add = [&](const Layout& layout) {
    text += fmt::format(" {} ({}) strides ({}) align {}", name(layout.type), fmt::join(layout.extents, ","),
                        fmt::join(layout.strides, ","), layout.alignment);
  };
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    text += problem.conjugate[k] ? "; conj" : ";";
    add(problem.inputs[k]);
  }
  text += " ->";
  add(problem.output);
  if (problem.addend) {
    text += "; addend";
    add(*problem.addend);
  }
  if (problem.conjugate_addend) text += " conj";
  const auto kind = [](ir::Factor factor) { return factor == ir::Factor::any ? "any" : "fixed"; };
  return text + fmt::format("; alpha ({}, {}) {}, beta ({}, {}) {}", alpha.real(), alpha.imag(), kind(problem.alpha),
                            beta.real(), beta.imag(), kind(problem.beta));
}

std::vector<void*> RandomEinsum::pointers() {
  std::vector<void*> pointers;
  for (auto& tensor : tensors) pointers.push_back(tensor.element_0());
  return pointers;
}

std::vector<Scalar> RandomEinsum::params(const std::vector<ir::Param>& declared) const {
  std::vector<Scalar> values;
  for (const auto& param : declared) values.push_back(param.name == "alpha" ? alpha : beta);
  return values;
}

EinsumOptions RandomEinsum::options(Device device) const {
  EinsumOptions options;
  options.device = device;
  options.alpha = problem.alpha == ir::Factor::any ? Scalar(2) : alpha;
  options.beta = problem.beta == ir::Factor::any ? Scalar(3) : beta;
  options.conjugate = problem.conjugate;
  options.addend = problem.addend;
  options.conjugate_addend = problem.conjugate_addend;
  options.precision = problem.precision;
  if (seed % 3 == 0) options.workspace_limit = static_cast<std::int64_t>(seed / 3 % 4) * 1024;
  options.path = static_cast<EinsumOptions::Path>(seed % 3);
  return options;
}

Call RandomEinsum::call() const {
  Call call;
  if (problem.alpha == ir::Factor::any) call.alpha = alpha;
  if (problem.beta == ir::Factor::any) call.beta = beta;
  return call;
}

std::string RandomEinsum::difference(const Expected& want, const Tensor& before) {
  const auto text = compare(sequence_of(ir::lower(problem)), want, pointers());
  if (!text.empty()) return text;
  return tensors.back().same_around(before) ? std::string() : "memory beside the output's elements was written";
}

Expected RandomEinsum::expected() {
  // A run-time factor may be 0 too, and a plan's always is one: its products are fused into sums like any other.
  auto planned = problem;
  if (planned.alpha == ir::Factor::zero) planned.alpha = ir::Factor::any;
  const auto program = ir::lower(planned);
  return fuzz::expected(sequence_of(program), pointers(), params(program.params));
}

RandomEinsum random_einsum(std::uint64_t seed, const EinsumLimits& limits) { return EinsumMaker(seed, limits).run(); }

}  // namespace ricci::fuzz
