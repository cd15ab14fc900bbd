#include "lower/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lower/einsum.hpp"
#include "lower/network.hpp"

namespace ricci::ir {
namespace {

std::optional<std::size_t> position_in(const Spec::Term& term, const std::string& axis) {
  const auto place = std::find_if(term.begin(), term.end(), [&](const Spec::Axis& a) { return a.name == axis; });
  if (place == term.end()) return std::nullopt;
  return static_cast<std::size_t>(place - term.begin());
}

/// A tensor of the einsum and where it lies: in one part, or kept by the first for the second.
struct Tensor {
  Layout layout;
  bool constant = false, conjugate = false;
  int storage = -1;  ///< of its part
};

class Splitter {
 public:
  Splitter(const EinsumProblem& expanded, bool convert) : problem_(squeeze(expanded)), convert_(convert) {
    for (std::size_t k = 0; k < problem_.inputs.size(); ++k) {
      Tensor tensor{problem_.inputs[k], problem_.constant[k], false};
      tensor.conjugate = k < problem_.conjugate.size() && problem_.conjugate[k] && is_complex(tensor.layout.type);
      tensor.storage = add(part(tensor.constant), operand_name(k), Role::input, tensor.layout);
      tensors_.push_back(std::move(tensor));
    }
    if (problem_.addend) addend_ = add(made_.rest, operand_name(tensors_.size()), Role::input, *problem_.addend);
    const auto output = operand_name(tensors_.size() + (problem_.addend ? 1 : 0));
    output_ = add(made_.rest, output, Role::output, problem_.output);
  }

  ConstantEinsum run(const Path& path) {
    if (path.steps.size() == 1) {
      std::vector<int> all(tensors_.size());
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
      step(all, spec_of(problem_.spec.operands, problem_.spec.output), problem_.output.type, true);
    } else {
      for (const auto& s : path.steps) step(s.operands, s.spec, s.type, &s == &path.steps.back());
    }
    std::sort(kept_.begin(), kept_.end());  // as the outputs of packing are
    for (const auto& [packed, kept] : kept_) made_.kept.push_back(kept);
    return std::move(made_);
  }

 private:
  Sequence& part(bool constant) { return constant ? made_.packing : made_.rest; }

  static int add(Sequence& to, std::string name, Role role, const Layout& layout) {
    to.storages.push_back(storage_of(std::move(name), role, layout));
    return static_cast<int>(to.storages.size()) - 1;
  }

  static void add_step(Sequence& to, const EinsumProblem& problem, std::vector<int> storages) {
    auto program = lower(problem);
    std::vector<int> params;
    for (const auto& param : program.params) {
      params.push_back(static_cast<int>(to.params.size()));
      to.params.push_back(param);
    }
    to.steps.push_back({std::move(program), std::move(storages), std::move(params)});
  }

  void step(const std::vector<int>& operands, const Spec& spec, DType type, bool last) {
    EinsumProblem problem;
    problem.spec = spec;
    problem.precision = problem_.precision;
    std::vector<int> used;
    bool constant = true;
    for (const int k : operands) constant = constant && tensors_[static_cast<std::size_t>(k)].constant;
    std::map<std::string, std::int64_t> extents;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      auto& tensor = tensors_[static_cast<std::size_t>(operands[k])];
      for (std::size_t j = 0; j < spec.operands[k].size(); ++j) {
        extents[spec.operands[k][j].name] = tensor.layout.extents[j];
      }
      if (tensor.constant && !constant) {
        if (operands[k] < static_cast<int>(problem_.inputs.size())) pack(tensor, problem.spec, k, operands);
        used.push_back(keep(tensor));
      } else {
        used.push_back(tensor.storage);
      }
      problem.inputs.push_back(tensor.layout);
      problem.conjugate.push_back(tensor.conjugate);
    }
    // Axes that packing has summed over are gone from the terms.
    if (!constant) problem.spec = spec_of(problem.spec.operands, problem.spec.output);
    Tensor result;
    result.constant = constant;
    if (last) {
      problem.output = problem_.output;
      problem.alpha = problem_.alpha;
      problem.beta = problem_.beta;
      problem.addend = problem_.addend;
      problem.conjugate_addend = problem_.conjugate_addend;
      if (problem.addend) used.push_back(addend_);
      result.storage = output_;
    } else {
      problem.output = dense(problem.spec.output, extents, type);
      result.storage = add(part(constant), fmt::format("W{}", ++made_steps_), Role::workspace, problem.output);
    }
    result.layout = problem.output;
    used.push_back(result.storage);
    add_step(part(constant), problem, std::move(used));
    tensors_.push_back(std::move(result));
  }

  static Layout dense(const Spec::Term& term, const std::map<std::string, std::int64_t>& extents, DType type) {
    std::vector<std::int64_t> shape;
    for (const auto& axis : term) shape.push_back(extents.at(axis.name));
    auto layout = Layout::row_major(type, std::move(shape));
    layout.alignment = 256;
    return layout;
  }

  /// Makes what packing has computed one of its outputs, and an input of the rest: the storage there.
  int keep(const Tensor& tensor) {
    auto& storage = made_.packing.storages[static_cast<std::size_t>(tensor.storage)];
    storage.role = Role::output;
    const int kept = add(made_.rest, storage.name, Role::input, tensor.layout);
    kept_.emplace_back(tensor.storage, kept);
    return kept;
  }

  /// Copies a constant operand for the one step that uses it, in whose spec it is number `which`.
  void pack(Tensor& tensor, Spec& spec, std::size_t which, const std::vector<int>& operands) {
    const auto term = spec.operands[which];
    std::map<std::string, std::int64_t> extents;
    std::vector<std::pair<Place, Spec::Axis>> places;
    bool sums = false;
    for (std::size_t j = 0; j < term.size(); ++j) {
      if (!extents.emplace(term[j].name, tensor.layout.extents[j]).second) continue;  // a diagonal
      const auto place = place_of(term[j].name, spec, which, operands);
      if (place) places.emplace_back(*place, term[j]);
      sums = sums || !place;
    }
    std::stable_sort(places.begin(), places.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    Spec::Term packed;
    for (const auto& [place, axis] : places) packed.push_back(axis);

    EinsumProblem copy;
    copy.spec = spec_of({term}, packed);
    copy.inputs = {tensor.layout};
    copy.conjugate = {tensor.conjugate};
    const auto products = compute_type(problem_), own = tensor.layout.type;
    const auto converted = is_complex(own) ? products : part_type(products);
    copy.output = dense(packed, extents, convert_ || sums ? converted : own);
    const auto name = made_.packing.storages[static_cast<std::size_t>(tensor.storage)].name + "_packed";
    const int to = add(made_.packing, name, Role::output, copy.output);
    add_step(made_.packing, copy, {tensor.storage, to});
    spec.operands[which] = packed;
    tensor = {copy.output, true, false, to};
  }

  /// Where an axis goes in a packed operand: its group, then the negative stride that it has where its order comes
  /// from.
  using Place = std::pair<int, std::int64_t>;

  /// Nothing for an axis that no other tensor of the step has.
  std::optional<Place> place_of(const std::string& axis, const Spec& spec, std::size_t which,
                                const std::vector<int>& operands) const {
    const auto result = position_in(spec.output, axis);
    for (std::size_t other = 0; other < operands.size(); ++other) {
      if (other == which) continue;
      const auto place = position_in(spec.operands[other], axis);
      if (!place) continue;
      const auto& layout = tensors_[static_cast<std::size_t>(operands[other])].layout;
      return Place(result ? 0 : 1, -std::abs(layout.strides[*place]));
    }
    if (!result) return std::nullopt;
    const bool last = spec.output.size() == problem_.spec.output.size() &&
                      std::equal(spec.output.begin(), spec.output.end(), problem_.spec.output.begin(),
                                 [](const Spec::Axis& x, const Spec::Axis& y) { return x.name == y.name; });
    // Intermediates are dense in the order of their terms.
    return Place(2, last ? -std::abs(problem_.output.strides[*result]) : static_cast<std::int64_t>(*result));
  }

  EinsumProblem problem_;  // without axes of extent 1
  bool convert_;
  ConstantEinsum made_;
  std::vector<Tensor> tensors_;            // operands, then the results of steps
  std::vector<std::pair<int, int>> kept_;  // storages of packing and of the rest
  int addend_ = -1, output_ = -1, made_steps_ = 0;
};

}  // namespace

ConstantEinsum lower_constant_einsum(const EinsumProblem& given, bool convert, const PathOptions& options) {
  return Splitter(expand(given), convert).run(find_path(given, options));
}

}  // namespace ricci::ir
