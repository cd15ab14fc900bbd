#include "ricci/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "frontend/excerpt.hpp"
#include "frontend/problem.hpp"
#include "ricci/error.hpp"

namespace ricci {
inline namespace v1 {
namespace {

constexpr std::string_view kEllipsis = "...";

bool is_ellipsis(const Spec::Axis& axis) { return axis.name == kEllipsis; }

/// The ellipsis of a term, or null.
const Spec::Axis* ellipsis_of(const Spec::Term& term) {
  const auto place = std::find_if(term.begin(), term.end(), is_ellipsis);
  return place == term.end() ? nullptr : &*place;
}

const char* axes(int count) { return count == 1 ? "axis" : "axes"; }

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

[[noreturn]] void fail(std::string_view text, std::size_t column, const std::string& what) {
  throw SpecError(fmt::format("{}\n{}", what, underlined(text, {column})),
                  {1, static_cast<int>(column) + 1, static_cast<std::int64_t>(column)});
}

/// Two words side by side anywhere make every word of the spec one axis name.
bool has_named_axes(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (!is_space(text[i])) continue;
    std::size_t next = i;
    while (next < text.size() && is_space(text[next])) ++next;
    if (is_word(text[i - 1]) && next < text.size() && is_word(text[next])) return true;
  }
  return false;
}

/// A character in quotes; a byte that is none by its number.
std::string character_text(std::string_view text, std::size_t at) {
  const auto bytes = character_bytes(text, at);
  const auto first = static_cast<unsigned char>(text[at]);
  if (bytes == 1 && (first < ' ' || first >= 0x7f)) return fmt::format("the byte {}", first);
  return fmt::format("'{}'", text.substr(at, bytes));
}

Spec::Term parse_term(std::string_view text, std::size_t begin, std::size_t end, bool named) {
  Spec::Term term;
  for (std::size_t i = begin; i < end;) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    if (text.substr(i, kEllipsis.size()) == kEllipsis) {
      if (ellipsis_of(term)) fail(text, i, "a term has one ellipsis");
      term.push_back({std::string(kEllipsis), static_cast<int>(i)});
      i += kEllipsis.size();
      continue;
    }
    if (!is_letter(text[i])) {
      if (text[i] == '.') fail(text, i, "'.' is part of an ellipsis alone, which is '...'");
      if (is_word(text[i])) fail(text, i, fmt::format("an axis name starts with a letter, not with '{}'", text[i]));
      fail(text, i,
           fmt::format("{} is not part of index notation: axis names, ',' and one '->'", character_text(text, i)));
    }
    std::size_t stop = i + 1;
    if (named) {
      while (stop < end && is_word(text[stop])) ++stop;
    }
    term.push_back({std::string(text.substr(i, stop - i)), static_cast<int>(i)});
    i = stop;
  }
  return term;
}

/// The output of a spec without an arrow, as in NumPy: the ellipsis, then the axes that appear once, in order of their
/// names.
Spec::Term implied_output(const std::vector<Spec::Term>& operands) {
  std::map<std::string, std::vector<const Spec::Axis*>> places;
  const Spec::Axis* ellipsis = nullptr;
  for (const auto& term : operands) {
    for (const auto& axis : term) {
      if (!is_ellipsis(axis)) {
        places[axis.name].push_back(&axis);
      } else if (!ellipsis) {
        ellipsis = &axis;
      }
    }
  }
  Spec::Term output;
  if (ellipsis) output.push_back(*ellipsis);
  for (const auto& [name, axes] : places) {
    if (axes.size() == 1) output.push_back(*axes.front());
  }
  return output;
}

}  // namespace

Spec Spec::parse(std::string_view text) {
  const auto arrow = std::min(text.find("->"), text.size());
  if (const auto second = text.find("->", arrow + 2); second != std::string_view::npos) {
    fail(text, second, "a spec has one '->'");
  }
  if (const auto comma = text.find(',', arrow); comma != std::string_view::npos) {
    fail(text, comma, "a spec has one output; ',' separates operands before '->'");
  }
  const bool named = has_named_axes(text);
  Spec spec;
  spec.text = std::string(text);
  std::size_t begin = 0;
  while (true) {
    const auto end = std::min(text.find(',', begin), arrow);
    spec.operands.push_back(parse_term(text, begin, end, named));
    if (end == arrow) break;
    begin = end + 1;
  }
  spec.implicit_output = arrow == text.size();
  spec.output = spec.implicit_output ? implied_output(spec.operands) : parse_term(text, arrow + 2, text.size(), named);
  return spec;
}

bool Spec::has_ellipsis() const noexcept {
  return ellipsis_of(output) != nullptr || std::any_of(operands.begin(), operands.end(), ellipsis_of);
}

Spec Spec::expand(const std::vector<int>& ranks) const {
  if (ranks.size() != operands.size()) {
    throw ShapeError(fmt::format("the spec has {} {}, but {} {} given\n  {}", operands.size(),
                                 operands.size() == 1 ? "operand" : "operands", ranks.size(),
                                 ranks.size() == 1 ? "tensor was" : "tensors were", text));
  }
  if (!has_ellipsis()) return *this;
  std::vector<int> hidden(operands.size());  // axes behind each operand's ellipsis
  std::vector<const Axis*> ellipses;         // of operands that have such axes
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto* ellipsis = ellipsis_of(operands[k]);
    if (!ellipsis) continue;
    const int named = static_cast<int>(operands[k].size()) - 1;
    hidden[k] = ranks[k] - named;
    if (hidden[k] < 0) {
      throw ShapeError(fmt::format("the spec names {} {} of {} beside '...', but it has {} in all\n{}", named,
                                   axes(named), ir::operand_text(k, operands.size()), ranks[k], caret({ellipsis})));
    }
    if (hidden[k] > 0) ellipses.push_back(ellipsis);
  }
  const int widest = hidden.empty() ? 0 : *std::max_element(hidden.begin(), hidden.end());
  if (widest > 0 && !ellipsis_of(output)) {
    throw SpecError(fmt::format(
        "'...' stands for {} {}, but the output has no '...' to hold {}; write it there, or name what is to be summed "
        "over\n{}",
        widest, axes(widest), widest == 1 ? "it" : "them", caret(ellipses)));
  }
  const auto expanded = [&](const Term& term, int count) {
    Term result;
    for (const auto& axis : term) {
      if (!is_ellipsis(axis)) {
        result.push_back(axis);
        continue;
      }
      for (int k = widest - count; k < widest; ++k) result.push_back({fmt::format("_{}", k), axis.column, true});
    }
    return result;
  };
  Spec spec = *this;
  for (std::size_t k = 0; k < operands.size(); ++k) spec.operands[k] = expanded(operands[k], hidden[k]);
  spec.output = expanded(output, widest);
  return spec;
}

std::string Spec::caret(const std::vector<const Axis*>& axes) const {
  std::vector<std::size_t> columns;
  for (const auto* axis : axes) columns.push_back(static_cast<std::size_t>(axis->column));
  return underlined(text, std::move(columns));
}

}  // namespace v1
}  // namespace ricci
