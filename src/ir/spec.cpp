#include "ricci/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ricci/error.hpp"

namespace ricci {
inline namespace v1 {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The text with one caret line under it.
std::string underline(std::string_view text, std::vector<int> columns) {
  std::string carets;
  std::sort(columns.begin(), columns.end());
  for (const int column : columns) {
    if (static_cast<int>(carets.size()) <= column) {
      carets.resize(static_cast<std::size_t>(column), ' ');
      carets.push_back('^');
    }
  }
  return fmt::format("  {}\n  {}", text, carets);
}

[[noreturn]] void fail(std::string_view text, std::size_t column, const std::string& what) {
  throw SpecError(fmt::format("{}\n{}", what, underline(text, {static_cast<int>(column)})));
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

Spec::Term parse_term(std::string_view text, std::size_t begin, std::size_t end, bool named) {
  Spec::Term term;
  for (std::size_t i = begin; i < end;) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    if (!is_letter(text[i])) {
      if (text[i] == '.') fail(text, i, "an ellipsis is not part of this notation; name every axis");
      if (is_word(text[i])) fail(text, i, fmt::format("an axis name starts with a letter, not with '{}'", text[i]));
      fail(text, i, fmt::format("'{}' is not part of index notation: axis names, ',' and one '->'", text[i]));
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

}  // namespace

Spec Spec::parse(std::string_view text) {
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos) {
    fail(text, text.size(), "a spec says its output after '->', as in \"abc->cab\"");
  }
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
    const auto comma = text.substr(0, arrow).find(',', begin);
    const auto end = comma == std::string_view::npos ? arrow : comma;
    spec.operands.push_back(parse_term(text, begin, end, named));
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  spec.output = parse_term(text, arrow + 2, text.size(), named);
  return spec;
}

std::string Spec::caret(const std::vector<const Axis*>& axes) const {
  std::vector<int> columns;
  for (const auto* axis : axes) columns.push_back(axis->column);
  return underline(text, std::move(columns));
}

}  // namespace v1
}  // namespace ricci
