#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lower/path.hpp"

namespace ricci::ir {

namespace {

std::string count(double value) { return value < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

std::string name(const Path& path, int k) {
  return k < path.operands ? operand_name(static_cast<std::size_t>(k)) : fmt::format("W{}", k - path.operands + 1);
}

/// "W1 = A B": what a step makes of what.
std::string statement(const Path& path, std::size_t k) {
  std::vector<std::string> names;
  for (const int operand : path.steps[k].operands) names.push_back(name(path, operand));
  const auto output = static_cast<std::size_t>(path.operands + (path.addend ? 1 : 0));
  const auto result = k + 1 == path.steps.size() ? operand_name(output) : fmt::format("W{}", k + 1);
  return fmt::format("{} = {}", result, fmt::join(names, " "));
}

/// What a step of two operands takes longest by the rates.
const char* longest(const PathStep& step, const PathRates& rates) {
  if (step.operands.size() > 2) return "one nest of loops";
  const auto computed = step.flops / rates.flops_per_us, moved = step.bytes / rates.bytes_per_us;
  if (std::max(computed, moved) < rates.start_us) return "bound by the start of a kernel";
  return computed > moved ? "bound by operations" : "bound by memory";
}

}  // namespace

std::string print(const Path& path) {
  std::size_t width = 4;
  for (const auto& step : path.steps) width = std::max(width, step.spec.text.size());
  std::string text =
      fmt::format("{:<12}{:<{}}  {:>10} {:>10} {:>10}\n", "step", "spec", width, "flop", "bytes", "elements");
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    const auto& step = path.steps[k];
    text += fmt::format("{:<12}{:<{}}  {:>10} {:>10} {:>10}\n", statement(path, k), step.spec.text, width,
                        count(step.flops), count(step.bytes), count(step.elements));
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

std::string compare(const Path& taken, const std::vector<Path>& others, const PathOptions& options) {
  const bool timed = options.minimise == PathOptions::Minimise::time;
  const auto row = [&](const Path& path, const char* mark) {
    auto text = timed ? fmt::format("{}  {:>9.1f} us", mark, path.us) : fmt::format("{}  ", mark);
    text += fmt::format("  {} flop, {} bytes moved\n", count(path.flops), count(path.bytes));
    for (std::size_t k = 0; k < path.steps.size(); ++k) {
      const auto& step = path.steps[k];
      text += timed ? fmt::format("   {:>9.1f}     ", step.us) : "     ";
      text += fmt::format("{}: {}, {} flop, {} bytes{}{}\n", statement(path, k), step.spec.text, count(step.flops),
                          count(step.bytes), timed ? ", " : "", timed ? longest(step, options.rates) : "");
    }
    return text;
  };
  std::string text = "orders of the products, the taken one first\n";
  text += row(taken, "*");
  for (const auto& other : others) text += row(other, " ");
  return text;
}

}  // namespace ricci::ir
