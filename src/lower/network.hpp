// The tensors of an einsum as sets of axes, and what a step over some of them costs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "frontend/problem.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {

inline constexpr std::size_t kMaxAxes = 1024;

using AxisSet = std::bitset<kMaxAxes>;

template <class F>
void for_each(const AxisSet& axes, F f) {
  for (auto q = axes._Find_first(); q < kMaxAxes; q = axes._Find_next(q)) f(q);
}

/// A tensor of the network: an operand or an intermediate.
struct NetworkTensor {
  AxisSet axes;
  bool complex = false;
  bool constant = false;  ///< made of constant operands alone: what that takes is done once and counts nothing
};

/// The operands as sets of axes, and the costs of a step.
class Network {
 public:
  explicit Network(const EinsumProblem& squeezed) : problem_(squeezed) {
    const auto& spec = squeezed.spec;
    for (std::size_t t = 0; t < spec.operands.size(); ++t) {
      NetworkTensor tensor;
      tensor.complex = is_complex(squeezed.inputs[t].type);
      tensor.constant = t < squeezed.constant.size() && squeezed.constant[t];
      for (std::size_t k = 0; k < spec.operands[t].size(); ++k) {
        const auto [place, fresh] = number_.try_emplace(spec.operands[t][k].name, names_.size());
        if (fresh) {
          if (names_.size() == kMaxAxes) throw SpecError(fmt::format("a spec has up to {} different axes", kMaxAxes));
          names_.push_back(place->first);
          extents_.push_back(static_cast<double>(squeezed.inputs[t].extents[k]));
        }
        tensor.axes.set(place->second);
      }
      operands_.push_back(tensor);
    }
    for (const auto& axis : spec.output) output_.set(number_.at(axis.name));
    widest_ = compute_type(squeezed);
  }

  const std::vector<NetworkTensor>& operands() const { return operands_; }
  const AxisSet& output() const { return output_; }

  double points(const AxisSet& axes) const {
    double product = 1;
    for_each(axes, [&](std::size_t q) { product *= extents_[q]; });
    return product;
  }

  DType type_of(const NetworkTensor& tensor) const { return tensor.complex ? widest_ : part_type(widest_); }
  double bytes(const NetworkTensor& tensor) const {
    return points(tensor.axes) * static_cast<double>(size_of(type_of(tensor)));
  }
  double operand_bytes(std::size_t k) const {
    return points(operands_[k].axes) * static_cast<double>(size_of(problem_.inputs[k].type));
  }
  double output_bytes() const { return points(output_) * static_cast<double>(size_of(problem_.output.type)); }

  /// Multiplications and additions of reals in a nest of loops over the axes of all `operands` that leaves `kept`.
  double flops(const std::vector<NetworkTensor>& operands, const AxisSet& kept) const {
    AxisSet all;
    double reals = 0, complexes = 0;
    bool constant = true;
    for (const auto& operand : operands) {
      constant = constant && operand.constant;
      all |= operand.axes;
      (operand.complex ? complexes : reals) += 1;
    }
    if (constant) return 0;
    double per_point = std::max(reals - 1, 0.0) + 6 * std::max(complexes - 1, 0.0);
    if (reals > 0 && complexes > 0) per_point += 2;
    if (all != kept) per_point += complexes > 0 ? 2 : 1;
    return points(all) * per_point;
  }

  AxisSet axes_of(const Spec::Term& term) const {
    AxisSet axes;
    for (const auto& axis : term) axes.set(number_.at(axis.name));
    return axes;
  }
  Spec::Term term(const std::vector<std::size_t>& axes) const {
    Spec::Term result;
    for (const auto q : axes) result.push_back({names_[q]});
    return result;
  }
  const Spec::Term& operand_term(std::size_t k) const { return problem_.spec.operands[k]; }
  const Spec::Term& output_term() const { return problem_.spec.output; }

  /// The output's axes as they lie in memory, slowest first.
  std::vector<std::size_t> output_order() const {
    const auto& strides = problem_.output.strides;
    std::vector<std::size_t> places(strides.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](auto a, auto b) { return std::abs(strides[a]) > std::abs(strides[b]); });
    for (auto& place : places) place = number_.at(problem_.spec.output[place].name);
    return places;
  }

 private:
  const EinsumProblem& problem_;
  std::map<std::string, std::size_t> number_;
  std::vector<std::string> names_;
  std::vector<double> extents_;
  std::vector<NetworkTensor> operands_;
  AxisSet output_;
  DType widest_ = DType::f64;
};

/// "ij,jk->ik", or "_0 i , i j -> _0 j" where a name is longer than a letter.
Spec spec_of(std::vector<Spec::Term> operands, Spec::Term output);

}  // namespace ricci::ir
