// Paths of which small steps are computed inside the nest of loops that uses them, to save the start of a kernel.
#include <algorithm>
#include <optional>
#include <utility>

#include "lower/einsum.hpp"
#include "lower/path_steps.hpp"

namespace ricci::ir {
namespace {

constexpr std::size_t kMostOperands = 8;  // of a nest: longer products are compiled slowly

class Fusion {
 public:
  Fusion(EinsumProblem squeezed, Path path, const PathRates& rates)
      : problem_(std::move(squeezed)), network_(problem_), path_(std::move(path)), rates_(rates) {}

  Path run() {
    while (const auto step = most_saving()) {
      const auto user = user_of(*step);
      const auto us = fused_us(*step, user);
      inline_step(path_, *step);
      path_.steps[user - 1].us = us;  // the steps behind the one that went have moved
    }
    count(path_, problem_, network_);
    return std::move(path_);
  }

 private:
  std::size_t user_of(std::size_t step) const {
    const int result = path_.operands + static_cast<int>(step);
    const auto user = std::find_if(path_.steps.begin(), path_.steps.end(), [&](const PathStep& s) {
      return std::find(s.operands.begin(), s.operands.end(), result) != s.operands.end();
    });
    return static_cast<std::size_t>(user - path_.steps.begin());
  }

  /// Of the nest over the operands of both.
  double fused_us(std::size_t step, std::size_t user) const {
    const auto &made = path_.steps[step], &used = path_.steps[user];
    auto tensors = tensors_of(path_, made, problem_, network_);
    const auto others = tensors_of(path_, used, problem_, network_);
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (used.operands[k] != path_.operands + static_cast<int>(step)) tensors.push_back(others[k]);
    }
    AxisSet all;
    for (const auto& tensor : tensors) all |= tensor.axes;
    const auto kept = network_.axes_of(used.spec.output);
    const auto bytes = used.bytes + made.bytes - 2 * made.elements * static_cast<double>(size_of(made.type));
    return std::max(network_.flops(tensors, kept) / rates_.nest_flops_per_us, bytes / rates_.bytes_per_us) +
           network_.points(all & ~kept) * rates_.term_us + rates_.start_us;
  }

  /// The step that is best made a part of another; none where every step is best alone.
  std::optional<std::size_t> most_saving() const {
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t k = 0; k + 1 < path_.steps.size(); ++k) {
      const auto user = user_of(k);
      if (path_.steps[k].operands.size() + path_.steps[user].operands.size() - 1 > kMostOperands) continue;
      const auto saved = path_.steps[k].us + path_.steps[user].us - fused_us(k, user);
      if (saved > most) best = k, most = saved;
    }
    return best;
  }

  EinsumProblem problem_;
  Network network_;
  Path path_;
  PathRates rates_;
};

}  // namespace

Path fused(const EinsumProblem& problem, Path path, const PathRates& rates) {
  constexpr std::size_t kMostSteps = 64;  // the search grows by the square of their number
  const auto steps = path.steps.size();
  if (steps < 2 || steps > kMostSteps) return path;
  path = Fusion(squeeze(problem), std::move(path), rates).run();
  if (path.steps.size() < steps) {
    path.peak_bytes = static_cast<double>(lower_einsum(problem, path).workspace_bytes());
    path.method += " with small steps fused";
  }
  return path;
}

}  // namespace ricci::ir
