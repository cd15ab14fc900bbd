// Conditions of a kernel as text, in the form in which people write them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "codegen/kernel_text.hpp"

namespace ricci::codegen {

using kernel::Affine;

namespace {

/// The terms of one sign, with positive coefficients.
Affine side(const Affine& value, bool positive) {
  Affine part;
  for (const auto& term : value.terms) {
    if ((term.coefficient > 0) == positive) part.terms.push_back({term.var, std::abs(term.coefficient)});
  }
  return part;
}

}  // namespace

std::string KernelText::condition(const std::vector<kernel::Condition>& when) const {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < when.size(); ++k) {
    const auto& [value, below] = when[k];
    if (k + 1 < when.size() && when[k + 1].value == -1 * value && when[k + 1].below == 2 - below) {
      parts.push_back(fmt::format("{} == {}", affine(value), below - 1));
      ++k;
      continue;
    }
    const auto more = side(value, true), less = side(value, false);
    const auto apart = value.constant - below;
    if (less.terms.empty()) {
      const bool first = value.terms.size() == 1 && value.terms.front().coefficient == 1 && apart == -1;
      parts.push_back(first ? fmt::format("{} == 0", affine(more)) : fmt::format("{} < {}", affine(value), below));
    } else if (more.terms.empty()) {
      parts.push_back(fmt::format("{} > {}", affine(less), apart));
    } else if (apart > 0) {
      parts.push_back(fmt::format("{} <= {}", affine(more + Affine(apart + 1)), affine(less)));
    } else {
      parts.push_back(fmt::format("{} < {}", affine(more), affine(less + Affine(-apart))));
    }
  }
  return fmt::format("{}", fmt::join(parts, " && "));
}

std::string KernelText::condition(const kernel::If& branch) {
  auto text = condition(branch.when);
  const bool alone = branch.when.empty() && branch.values.size() == 1;
  for (const auto& value : branch.values)
    text += (text.empty() ? "" : " && ") + (alone ? truth(value).text : in_brackets(truth(value), 1));
  return text;
}

}  // namespace ricci::codegen
