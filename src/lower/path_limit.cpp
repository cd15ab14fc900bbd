// Paths of which some intermediates are computed again inside the nest of loops that uses them, to save workspace.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lower/einsum.hpp"
#include "lower/path_steps.hpp"

namespace ricci::ir {
namespace {

std::size_t largest_intermediate(const Path& path) {
  const auto bytes = [](const PathStep& step) { return step.elements * static_cast<double>(size_of(step.type)); };
  const auto last = path.steps.end() - 1;
  const auto largest = std::max_element(path.steps.begin(), last,
                                        [&](const PathStep& x, const PathStep& y) { return bytes(x) < bytes(y); });
  return static_cast<std::size_t>(largest - path.steps.begin());
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
