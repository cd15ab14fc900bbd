// What a task prefetches of the operand that the next task copies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kernel/builder.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

void Builder::prefetch(const std::string& operand) {
  constexpr std::int64_t kMostRows = 4096;  // of a table in the kernel
  if (ahead_) fail("one operand is prefetched");
  if (group_ != nullptr) fail("operands of a group are not prefetched");
  const auto count = tasks().size();
  if (count == 0) fail("there is one task");
  const Copy* copy = nullptr;
  for (const auto& statement : order_[count - 1].first) {
    const auto* one = std::get_if<Copy>(&statement.node);
    if (one != nullptr && kernel_.array(one->from.array).name == operand) copy = one;
  }
  if (copy == nullptr) fail("no operand of that name is staged at the innermost loop over tasks");
  if (!copy->quotients.empty()) fail("neighbours of joined indices are not known beforehand");

  FetchRows rows;
  rows.from = copy->from;
  auto& from = rows.from.index.front();
  struct Side {
    std::int64_t step, extent;
  };
  std::vector<Side> sides;
  for (const auto& digit : copy->digits) {
    const auto step = from.coefficient(digit.var);
    from = from.with(digit.var, step < 0 ? Affine(digit.extent - 1) : Affine(0));
    if (step != 0 && digit.extent > 1) sides.push_back({std::abs(step), digit.extent});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) { return x.step < y.step; });
  rows.rows = {0};
  bool apart = false;
  for (const auto& side : sides) {
    apart = apart || side.step > rows.length;
    if (!apart) {
      rows.length += (side.extent - 1) * side.step;
      continue;
    }
    const auto inner = rows.rows.size();
    if (static_cast<std::int64_t>(inner) * side.extent > kMostRows)
      fail(fmt::format("{} is copied in more than {} rows", operand, kMostRows));
    for (std::int64_t n = 1; n < side.extent; ++n) {
      for (std::size_t k = 0; k < inner; ++k) rows.rows.push_back(rows.rows[k] + n * side.step);
    }
  }
  ahead_ = std::move(rows);
  ahead_origin_ = origin();
}

Statement Builder::lines_ahead() {
  constexpr std::int64_t kSpeltOut = 4;
  const auto& array = kernel_.array(ahead_->from.array);
  // A row may begin anywhere in a line.
  const auto bytes = ahead_->length * size_of(array.type) + kLineBytes - size_of(array.type);
  const auto lines = static_cast<std::int64_t>(ahead_->rows.size()) * ((bytes + kLineBytes - 1) / kLineBytes);
  std::int64_t tiles = 1;
  for (std::size_t k = tasks().size(); k < order_.size(); ++k) {
    if (!order_[k].sum) tiles *= kernel_.extent(order_[k].var);
  }
  const auto share = (lines + tiles - 1) / tiles, at_once = std::min(share, kSpeltOut);
  Statement fetch{FetchLines{at_once}, ahead_origin_};
  if (share == at_once) return fetch;
  return {Loop{kernel_.add_var("n", (share + at_once - 1) / at_once), Bind::rolled, {}, {std::move(fetch)}},
          ahead_origin_};
}

}  // namespace ricci::kernel
