#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ricci::tools {

std::string bytes_text(double bytes) {
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = next;
  }
  return *unit == 'B' ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, unit);
}

std::string ms_text(double ms) {
  if (!(ms > 0)) return "0 ms";
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(ms))), 0, 6);
  return fmt::format("{:.{}f} ms", ms, digits);
}

std::string duration_text(double ms) {
  const double seconds = std::max(ms, 0.0) / 1000;
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

std::string shape_text(const std::vector<std::int64_t>& extents) {
  return fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
}

std::string scalar_text(Scalar value) {
  if (value.imag() == 0) return fmt::format("{}", value.real());
  if (value.real() == 0) return fmt::format("{}i", value.imag());
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace ricci::tools
