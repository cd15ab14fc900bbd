#include "lower/path_steps.hpp"

#include <algorithm>

namespace ricci::ir {

void inline_step(Path& path, std::size_t number) {
  const auto made = path.steps[number];
  const int result = path.operands + static_cast<int>(number);
  path.steps.erase(path.steps.begin() + static_cast<std::ptrdiff_t>(number));
  for (auto& step : path.steps) {
    if (const auto use = std::find(step.operands.begin(), step.operands.end(), result); use != step.operands.end()) {
      auto terms = step.spec.operands;
      const auto place = use - step.operands.begin();
      terms.erase(terms.begin() + place);
      terms.insert(terms.begin() + place, made.spec.operands.begin(), made.spec.operands.end());
      step.operands.insert(step.operands.erase(use), made.operands.begin(), made.operands.end());
      step.spec = spec_of(std::move(terms), step.spec.output);
      step.bytes += made.bytes - 2 * made.elements * static_cast<double>(size_of(made.type));
    }
    for (auto& operand : step.operands) operand -= operand > result ? 1 : 0;
  }
}

namespace {

bool is_constant(const Path& path, std::size_t operand, const EinsumProblem& problem) {
  const auto inputs = problem.inputs.size();
  if (operand < inputs) return operand < problem.constant.size() && problem.constant[operand];
  const auto& from = path.steps[operand - inputs].operands;
  return std::all_of(from.begin(), from.end(),
                     [&](int k) { return is_constant(path, static_cast<std::size_t>(k), problem); });
}

}  // namespace

std::vector<NetworkTensor> tensors_of(const Path& path, const PathStep& step, const EinsumProblem& problem,
                                      const Network& network) {
  std::vector<NetworkTensor> tensors;
  for (std::size_t k = 0; k < step.operands.size(); ++k) {
    const auto operand = static_cast<std::size_t>(step.operands[k]), inputs = problem.inputs.size();
    const auto type = operand < inputs ? problem.inputs[operand].type : path.steps[operand - inputs].type;
    tensors.push_back({network.axes_of(step.spec.operands[k]), is_complex(type), is_constant(path, operand, problem)});
  }
  return tensors;
}

void count(Path& path, const EinsumProblem& problem, const Network& network) {
  path.us = path.flops = path.bytes = path.largest_intermediate = 0;
  for (auto& step : path.steps) {
    step.flops = network.flops(tensors_of(path, step, problem, network), network.axes_of(step.spec.output));
    path.us += step.us;
    path.flops += step.flops;
    path.bytes += step.bytes;
    if (&step != &path.steps.back()) path.largest_intermediate = std::max(path.largest_intermediate, step.elements);
  }
}

bool has_one_path(const EinsumProblem& given) {
  if (given.inputs.size() != 2) return given.inputs.size() < 2;
  const bool rounds = given.precision != Precision::operands && given.precision != Precision::f64;
  if (rounds) return true;
  const auto problem = expand(given);
  const auto& spec = problem.spec;
  const auto has = [](const Spec::Term& term, const std::string& name) {
    return std::any_of(term.begin(), term.end(), [&](const auto& axis) { return axis.name == name; });
  };
  for (const std::size_t t : {0, 1}) {
    for (std::size_t k = 0; k < spec.operands[t].size(); ++k) {
      const auto& name = spec.operands[t][k].name;
      if (problem.inputs[t].extents[k] > 1 && !has(spec.operands[1 - t], name) && !has(spec.output, name)) return false;
    }
  }
  return true;
}

}  // namespace ricci::ir
