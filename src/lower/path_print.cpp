#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lower/path.hpp"

namespace ricci::ir {

std::string print(const Path& path) {
  const auto count = [](double value) {
    return value < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  };
  const auto name = [&](int k) {
    return k < path.operands ? operand_name(static_cast<std::size_t>(k)) : fmt::format("W{}", k - path.operands + 1);
  };
  std::size_t width = 4;
  for (const auto& step : path.steps) width = std::max(width, step.spec.text.size());
  std::string text =
      fmt::format("{:<12}{:<{}}  {:>10} {:>10} {:>10}\n", "step", "spec", width, "flop", "bytes", "elements");
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    const auto& step = path.steps[k];
    std::vector<std::string> names;
    for (const int operand : step.operands) names.push_back(name(operand));
    const auto output = static_cast<std::size_t>(path.operands + (path.addend ? 1 : 0));
    const auto result = k + 1 == path.steps.size() ? operand_name(output) : fmt::format("W{}", k + 1);
    text += fmt::format("{:<12}{:<{}}  {:>10} {:>10} {:>10}\n", fmt::format("{} = {}", result, fmt::join(names, " ")),
                        step.spec.text, width, count(step.flops), count(step.bytes), count(step.elements));
  }
  text += fmt::format("path {}: {} flop", path.method, count(path.flops));
  if (path.us > 0) text += fmt::format(", {:.3g} us predicted", path.us);
  if (path.steps.size() > 1) {
    text += fmt::format(
        " (one nest of loops: {}), {} bytes moved, largest intermediate {} elements, {} bytes of "
        "intermediates at one time",
        count(path.single_kernel_flops), count(path.bytes), count(path.largest_intermediate), count(path.peak_bytes));
  } else {
    text += fmt::format(", {} bytes moved", count(path.bytes));
  }
  return text + "\n";
}

}  // namespace ricci::ir
