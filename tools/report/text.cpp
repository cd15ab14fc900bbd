#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

// Reads one real number and moves `text` behind it; false when there is none. A sign alone before an imaginary unit
// stands for one.
bool take_real(std::string_view& text, double& value) {
  std::string_view rest = text;
  const bool plus = !rest.empty() && rest.front() == '+';
  if (plus) rest.remove_prefix(1);
  if (plus && !rest.empty() && (rest.front() == '-' || rest.front() == '+')) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return false;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return true;
}

bool is_unit(std::string_view text) { return text == "i" || text == "j"; }

}  // namespace

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

Scalar parse_scalar(std::string_view text, std::string_view option) {
  std::string_view rest = text;
  double first = 0, second = 0;
  if (take_real(rest, first)) {
    if (rest.empty()) return {first, 0};
    if (is_unit(rest)) return {0, first};
    if ((rest.front() == '+' || rest.front() == '-') && take_real(rest, second) && is_unit(rest))
      return {first, second};
  }
  throw ShapeError(fmt::format("{}: '{}' is no number; write 2, -0.5, 1e-3, 2i or 1-0.5i", option, text));
}

std::string scalar_text(Scalar value) {
  if (value.imag() == 0) return fmt::format("{}", value.real());
  if (value.real() == 0) return fmt::format("{}i", value.imag());
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

std::int64_t parse_integer(std::string_view text, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw ShapeError(fmt::format("{}: '{}' does not fit in 64 bits", what, text));
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ShapeError(fmt::format("{}: '{}' is no whole number", what, text));
  }
  return value;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace ricci::tools
