// What many figures come to.
#pragma once

#include <optional>
#include <vector>

#include "report/report.hpp"

namespace ricci::tools {

/// Of one or more: the middle one, or the mean of the two in the middle.
double median(std::vector<double> values);

/// {"min", "p10", "median", "geomean", "max"} of one or more.
Json summary(std::vector<double> values);

/// One line for people: what, then min, p10, median, geomean, max.
void print_summary(const char* what, const Json& summary);

/// Spearman's rank correlation of two lists of one length: 1 where they order things alike, -1 where one is the other
/// way round; equal values share the mean of their ranks. None where all values of a list are equal.
std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace ricci::tools
