// Paths of which some intermediates are computed again inside the nest of loops that uses them, to save workspace.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lower/einsum.hpp"
#include "lower/network.hpp"

namespace ricci::ir {
namespace {

std::size_t largest_intermediate(const Path& path) {
  const auto bytes = [](const PathStep& step) { return step.elements * static_cast<double>(size_of(step.type)); };
  const auto last = path.steps.end() - 1;
  const auto largest = std::max_element(path.steps.begin(), last,
                                        [&](const PathStep& x, const PathStep& y) { return bytes(x) < bytes(y); });
  return static_cast<std::size_t>(largest - path.steps.begin());
}

/// Makes a step a part of the one that uses its result: operands and terms in the place of the result's.
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

void count(Path& path, const EinsumProblem& problem, const Network& network) {
  path.flops = path.bytes = path.largest_intermediate = 0;
  for (auto& step : path.steps) {
    std::vector<NetworkTensor> tensors;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      const auto operand = static_cast<std::size_t>(step.operands[k]), inputs = problem.inputs.size();
      const auto type = operand < inputs ? problem.inputs[operand].type : path.steps[operand - inputs].type;
      tensors.push_back({network.axes_of(step.spec.operands[k]), is_complex(type)});
    }
    step.flops = network.flops(tensors, network.axes_of(step.spec.output));
    path.flops += step.flops;
    path.bytes += step.bytes;
    if (&step != &path.steps.back()) path.largest_intermediate = std::max(path.largest_intermediate, step.elements);
  }
}

}  // namespace

Path within_limit(const EinsumProblem& given, Path path, std::int64_t workspace_limit) {
  const auto problem = expand(given);
  const auto workspace = [&] { return lower_einsum(problem, path).workspace_bytes(); };
  auto bytes = workspace();
  if (bytes <= workspace_limit) return path;
  while (bytes > workspace_limit) {
    inline_step(path, largest_intermediate(path));
    bytes = workspace();
  }
  const auto squeezed = squeeze(problem);
  count(path, problem, Network(squeezed));
  path.peak_bytes = static_cast<double>(bytes);
  path.method += fmt::format(" within {} bytes", workspace_limit);
  return path;
}

}  // namespace ricci::ir
