#include "cache/config.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>

#include "ricci/log.hpp"

namespace ricci::cache {
namespace {

// Of $XDG_CACHE_HOME/ricci/v1: the layout of the directory, not the format of its files.
constexpr char kLayout[] = "ricci/v1";

std::string text_of(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value ? value : "";
}

// Relative paths mean the directory at the time of reading: a later chdir() must not move the cache.
std::filesystem::path absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path result = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return {};
  return result.has_filename() ? result : result.parent_path();
}

std::filesystem::path default_root(const Environment& environment) {
  // The XDG specification says that relative paths in its variables are to be ignored.
  const std::filesystem::path cache_home = text_of(environment, "XDG_CACHE_HOME");
  if (cache_home.is_absolute()) return cache_home / kLayout;
  const std::filesystem::path home = text_of(environment, "HOME");
  if (home.is_absolute()) return home / ".cache" / kLayout;
  return {};
}

void read_mode(const std::string& mode, Config* config) {
  if (mode == "off") {
    config->root.clear();
    config->read_only_roots.clear();
  } else if (mode == "ro") {
    config->read_only = true;
  } else if (!mode.empty() && mode != "on") {
    log_line(LogTopic::warning,
             fmt::format("RICCI_CACHE={} is not understood and is ignored: use on, ro or off", mode));
  }
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (suffix.empty()) return value;
  if (suffix.size() != 1) return std::nullopt;
  constexpr std::string_view kSuffixes = "KMGTkmgt";
  const std::size_t at = kSuffixes.find(suffix[0]);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t shift = 10 * (at % 4 + 1);
  if (value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

Config config_from(const Environment& environment, bool secure) {
  Config config;
  if (secure) return config;
  const std::string chosen = text_of(environment, "RICCI_CACHE_DIR");
  config.root = chosen.empty() ? default_root(environment) : absolute(chosen);
  const std::string shared = text_of(environment, "RICCI_CACHE_SHARED");
  config.shared = shared == "1";
  if (!shared.empty() && shared != "0" && shared != "1") {
    log_line(
        LogTopic::warning,
        fmt::format("RICCI_CACHE_SHARED={} is neither 0 nor 1 and is ignored: files of other users are not trusted",
                    shared));
  }
  const std::filesystem::path runtime_dir = text_of(environment, "XDG_RUNTIME_DIR");
  if (runtime_dir.is_absolute()) config.runtime_dir = runtime_dir;

  const std::string roots = text_of(environment, "RICCI_CACHE_RO");
  for (std::size_t begin = 0; begin < roots.size();) {
    const std::size_t end = std::min(roots.find(':', begin), roots.size());
    if (end > begin) config.read_only_roots.push_back(absolute(roots.substr(begin, end - begin)));
    begin = end + 1;
  }

  const std::string bound = text_of(environment, "RICCI_CACHE_MAX");
  if (const auto bytes = parse_bytes(bound)) {
    config.max_bytes = *bytes;
  } else if (!bound.empty()) {
    log_line(
        LogTopic::warning,
        fmt::format("RICCI_CACHE_MAX={} is not understood, the bound stays at {} bytes: use a number of bytes with an "
                    "optional K, M, G or T, such as 512M",
                    bound, config.max_bytes));
  }
  // RuntimeOptions::cache_dir has the same word.
  read_mode(chosen == "off" ? chosen : text_of(environment, "RICCI_CACHE"), &config);
  return config;
}

Config Config::from_environment() noexcept {
  try {
    return config_from([](const char* name) { return std::getenv(name); }, ::getauxval(AT_SECURE) != 0);
  } catch (...) {
    return {};  // no memory for a path: memory only
  }
}

}  // namespace ricci::cache
