// What several subcommands print about a plan.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "json/json.hpp"
#include "ricci/plan.hpp"

namespace ricci::tools {

/// Prints to stdout, or stderr. What cannot be written is not an exception here: main looks at stdout at the end.
template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stdout);
}
template <typename... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Milliseconds of a clock that never goes back.
double now_ms();

/// PlanInfo, key and file, for --json.
Json plan_json(const Plan& plan);

/// The same for people: (word, text) lines.
std::vector<std::pair<std::string, std::string>> plan_lines(const Plan& plan);

/// "compiled in 31.2 ms (plan 0.1, source 0.2, compiler 29.9, load 1.0)" or "from disk in 0.08 ms".
std::string origin_text(const PlanInfo& info);

/// Prints (word, text) lines in two columns to stdout.
void print_lines(const std::vector<std::pair<std::string, std::string>>& lines);

void print_json(const Json& json);

}  // namespace ricci::tools
