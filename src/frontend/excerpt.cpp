#include "frontend/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The first character at or before a byte.
std::size_t character_begin(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  for (int k = 0; k < 3 && at > 0 && at < text.size() && continues(text[at]); ++k) --at;
  return at;
}

}  // namespace

std::size_t character_bytes(std::string_view text, std::size_t at) noexcept {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 1;
  if (at + bytes > text.size()) return 1;
  for (std::size_t k = 1; k < bytes; ++k) {
    if (!continues(text[at + k])) return 1;
  }
  return bytes;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto head = character_begin(text, most * 3 / 4), tail = character_begin(text, text.size() - most / 4);
  return fmt::format("{} [... {} bytes ...] {}", text.substr(0, head), tail - head, text.substr(tail));
}

std::string underlined(std::string_view line, std::vector<std::size_t> columns) {
  constexpr std::size_t kBefore = 80, kAfter = 80;  // bytes around the first column
  std::sort(columns.begin(), columns.end());
  const std::size_t first = columns.empty() ? 0 : std::min(columns.front(), line.size());
  const bool cut_before = first > kBefore + 20, cut_after = line.size() > first + kAfter + 20;
  const auto begin = cut_before ? character_begin(line, first - kBefore) : 0;
  const auto end = cut_after ? character_begin(line, first + kAfter) : line.size();
  std::string text = cut_before ? "..." : "", carets = cut_before ? "   " : "";
  auto next = columns.begin();
  for (std::size_t at = begin; at < end;) {
    const auto bytes = character_bytes(line, at);
    const bool plain = bytes > 1 || (line[at] >= ' ' && static_cast<unsigned char>(line[at]) < 0x7f);
    bool here = false;
    for (; next != columns.end() && *next < at + bytes; ++next) here = here || *next >= at;
    text += plain ? std::string(line.substr(at, bytes)) : std::string(line[at] == '\t' ? " " : "?");
    carets += here ? '^' : ' ';
    at += bytes;
  }
  if (next != columns.end() && *next <= end) carets += '^';
  if (cut_after) text += "...";
  carets.resize(carets.find_last_not_of(' ') + 1);
  return fmt::format("  {}\n  {}", text, carets);
}

}  // namespace ricci
