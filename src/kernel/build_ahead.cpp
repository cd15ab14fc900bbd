// What a task prefetches of the operand that the next task copies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kernel/builder.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

void Builder::prefetch(const std::string& operand) {
  constexpr std::int64_t kMostRows = 4096;  // of a table in the kernel
  if (kernel_.target == Target::cuda) fail("operands are prefetched on a CPU alone");
  if (group_ != nullptr) fail("operands of a group are not prefetched");
  const auto count = tasks().size();
  if (count == 0) fail("there is one task");

  const auto is_named = [&](const Access& access) { return kernel_.array(access.array).name == operand; };
  FetchRows rows;
  std::vector<Digit> digits, rounds;  // of what is read together, and of parts of sums one after the other
  // In the innermost loop over tasks, or over parts of sums in it.
  for (auto k = count - 1; k < order_.size() && rows.from.array < 0; ++k) {
    if (k >= count && !is_summed(index_of(order_[k].var))) break;
    if (k >= count) rounds.push_back({order_[k].var, kernel_.extent(order_[k].var)});
    for (const auto& statement : order_[k].first) {
      const auto* copy = std::get_if<Copy>(&statement.node);
      if (copy == nullptr || !is_named(copy->from)) continue;
      if (!copy->quotients.empty()) fail("neighbours of joined indices are not known beforehand");
      rows.from = copy->from;
      digits = copy->digits;
    }
  }
  if (rows.from.array < 0) {
    rounds.clear();
    const auto& product = products_.front();
    for (const auto* factor : {&product.of.first, &product.of.second}) {
      const auto& staged = factor == &product.of.first ? product.first : product.second;
      if (staged.array >= 0 || !is_named(global(factor->load))) continue;
      if (!quotients(node(factor->load).offset).empty()) fail("neighbours of joined indices are not known beforehand");
      rows.from = global(factor->load);
    }
    if (rows.from.array < 0)
      fail("no operand of that name is staged at the innermost loop over tasks, or read where it lies");
    const auto& mma = product.mma;
    if (rows.from.array == mma.a.array && rows.from.array != mma.b.array && is_real(product.of.type))
      return prefetch_rows();
    auto inside = count;
    for (; inside < order_.size() && is_summed(index_of(order_[inside].var)); ++inside)
      rounds.push_back({order_[inside].var, kernel_.extent(order_[inside].var)});
    for (const auto& axis : axes_) {
      for (const auto& level : axis.levels) {
        if (const auto at = place(level.var); !at || *at >= inside) digits.push_back({level.var, level.count});
      }
    }
  }
  if (ahead_) fail("one operand is prefetched for the next task");

  auto& from = rows.from.index.front();
  struct Side {
    std::int64_t step, extent;
  };
  std::vector<Side> sides;
  for (const auto& digit : digits) {
    const auto step = from.coefficient(digit.var);
    from = from.with(digit.var, step < 0 ? Affine(digit.extent - 1) : Affine(0));
    if (step != 0 && digit.extent > 1) sides.push_back({std::abs(step), digit.extent});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) { return x.step < y.step; });
  rows.rows = {0};
  const auto repeat = [&](std::vector<std::int64_t>& places, const Side& side) {
    const auto inner = places.size();
    if (static_cast<std::int64_t>(inner) * side.extent > kMostRows)
      fail(fmt::format("{} is read in more than {} rows, or rounds", operand, kMostRows));
    for (std::int64_t n = 1; n < side.extent; ++n) {
      for (std::size_t k = 0; k < inner; ++k) places.push_back(places[k] + n * side.step);
    }
  };
  bool apart = false;
  for (const auto& side : sides) {
    apart = apart || side.step > rows.length;
    if (apart) {
      repeat(rows.rows, side);
    } else {
      rows.length += (side.extent - 1) * side.step;
    }
  }
  std::for_each(rounds.rbegin(), rounds.rend(), [&](const Digit& round) {
    repeat(rows.rounds, {from.coefficient(round.var), round.extent});
    from = from.with(round.var, Affine(0));
  });
  ahead_ = std::move(rows);
  ahead_origin_ = origin();
}

void Builder::prefetch_rows() {
  if (rows_ahead_) fail("one operand is prefetched for the next register tile");
  const auto& mma = products_.front().mma;
  const auto& index = mma.a.index.front();
  const auto next = std::find_if(order_.rbegin(), order_.rend() - static_cast<std::ptrdiff_t>(tasks().size()),
                                 [&](const Ordered& loop) { return !loop.sum && index.coefficient(loop.var) != 0; });
  if (next == order_.rend() - static_cast<std::ptrdiff_t>(tasks().size()))
    fail(fmt::format("no loop of a task goes on with {}", kernel_.array(mma.a.array).name));
  Prefetch rows{mma.a, mma.rows};
  rows.from.index.front() = index + Affine(index.coefficient(next->var));
  rows.digits.insert(rows.digits.end(), mma.depth.begin(), mma.depth.end());
  rows_ahead_ = {std::move(rows), origin()};
}

Statement Builder::lines_ahead() {
  const auto& array = kernel_.array(ahead_->from.array);
  // A row may begin anywhere in a line.
  const auto bytes = ahead_->length * size_of(array.type) + kLineBytes - size_of(array.type);
  const auto rows = static_cast<std::int64_t>(ahead_->rows.size() * ahead_->rounds.size());
  const auto lines = rows * ((bytes + kLineBytes - 1) / kLineBytes);
  std::int64_t tiles = 1;
  for (std::size_t k = tasks().size(); k < order_.size(); ++k) {
    if (!order_[k].sum) tiles *= kernel_.extent(order_[k].var);
  }
  return {FetchLines{(lines + tiles - 1) / tiles}, ahead_origin_};
}

}  // namespace ricci::kernel
