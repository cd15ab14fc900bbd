// Reading the configuration from an environment that is handed in, so that it can be tested.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "cache/store.hpp"

namespace ricci::cache {

/// Looks up a variable: its text, or null.
using Environment = std::function<const char*(const char* name)>;

/// What Config::from_environment does. `secure`: the program runs with raised privileges; nothing is read.
Config config_from(const Environment& environment, bool secure);

/// "256M" as bytes: digits and one of K, M, G, T in either case, powers of 1024. Null for anything else, and for what
/// does not fit.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

}  // namespace ricci::cache
