// Catch2 of either generation: 2.13 (Debian 12) or 3 (Ubuntu 24.04). Tests include this, and use what both have.
//
// Write matchers in the spelling of version 3 (Catch::Matchers::ContainsSubstring, StartsWith, EndsWith, Message), and
// Approx without a namespace.
#pragma once

#include <cstdio>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

using Catch::Approx;  // where version 2 has it
#else
#include <catch2/catch.hpp>
#include <string>

namespace Catch::Matchers {
/// Version 2 calls it Contains, a name that version 3 gives to ranges.
inline StdString::ContainsMatcher ContainsSubstring(const std::string& text,
                                                    CaseSensitive::Choice cs = CaseSensitive::Yes) {
  return Contains(text, cs);
}
}  // namespace Catch::Matchers
#endif

namespace ricci::tests {
/// The sanitizers' build, in which the library takes many times as long: what is done again and again with other
/// numbers is done less often there.
#if defined(RICCI_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
}  // namespace ricci::tests

/// Leaves a test case that this machine cannot run, saying why. Version 2 has no SKIP, so the case counts as passed in
/// Catch2; where the label is `gpu`, CTest reads the line and lists the test as skipped.
#define RICCI_SKIP(reason)              \
  do {                                  \
    std::printf("[SKIP] %s\n", reason); \
    return;                             \
  } while (false)
