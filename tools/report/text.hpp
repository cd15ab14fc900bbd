// Words and figures as the command line reads and prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/tensor.hpp"
#include "runtime/options.hpp"

namespace ricci::tools {

/// "987 B", "61.4 kB", "1.97 GB": powers of 1000, as bandwidths are given.
std::string bytes_text(double bytes);

/// "0.0042 ms", "3.21 ms", "1250 ms": three digits that count.
std::string ms_text(double ms);

/// "0 s", "45 s", "3 min", "2 h": for people who wait.
std::string duration_text(double ms);

/// "(2, 3, 5)", "(7,)", "()".
std::string shape_text(const std::vector<std::int64_t>& extents);

using runtime::parse_integer;
using runtime::parse_scalar;

/// What parse_scalar reads back to the same factor: "2", "1-0.5i".
std::string scalar_text(Scalar value);

/// In single quotes when a shell would read it otherwise.
std::string shell_quoted(std::string_view word);

}  // namespace ricci::tools
