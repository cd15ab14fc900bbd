#include "report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace ricci::tools {
namespace {

/// From 0, less their mean.
std::vector<double> centred_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (auto k = first; k < last; ++k) ranks[order[k]] = static_cast<double>(first + last - 1) / 2 - middle;
  }
  return ranks;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Json summary(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double logs = 0;
  for (const auto value : values) logs += std::log(value);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {{"min", at(0)},
          {"p10", at(0.1)},
          {"median", at(0.5)},
          {"geomean", std::exp(logs / static_cast<double>(values.size()))},
          {"max", at(1)}};
}

void print_summary(const char* what, const Json& s) {
  print("{:<28} min {:.3f}  p10 {:.3f}  median {:.3f}  geomean {:.3f}  max {:.3f}\n", what, s["min"].number(),
        s["p10"].number(), s["median"].number(), s["geomean"].number(), s["max"].number());
}

std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto a = centred_ranks(x), b = centred_ranks(y);
  const auto product = [](const std::vector<double>& u, const std::vector<double>& v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  };
  const double size = std::sqrt(product(a, a) * product(b, b));
  if (size == 0) return std::nullopt;
  return product(a, b) / size;
}

}  // namespace ricci::tools
