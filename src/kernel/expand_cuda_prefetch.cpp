// What a block's results are added to, on its way to the second cache while the block multiplies: runs of neighbours,
// each by one instruction of one thread.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <utility>
#include <vector>

#include "kernel/expand_cuda.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel::cuda {

Body prefetched(Threads& threads, const Prefetch& tile) {
  const auto& array = threads.kernel.array(tile.from.array);
  const auto step = [&](const Digit& digit) { return std::abs(tile.from.index.front().coefficient(digit.var)); };
  auto digits = tile.digits;
  std::erase_if(digits, [](const Digit& digit) { return digit.extent == 1; });
  std::stable_sort(digits.begin(), digits.end(), [&](const Digit& x, const Digit& y) { return step(x) < step(y); });
  const auto decides = [&](const Digit& digit) {
    return std::any_of(tile.when.begin(), tile.when.end(),
                       [&](const Condition& condition) { return condition.value.coefficient(digit.var) != 0; });
  };
  Prefetch run{tile.from, {}, tile.written};
  std::size_t inside = 0;
  for (; inside < digits.size(); ++inside) {
    const auto& digit = digits[inside];
    if (tile.from.index.front().coefficient(digit.var) != run.count || decides(digit)) break;
    run.count *= digit.extent;
    run.from = with(std::move(run.from), digit.var, Affine(0));
  }
  constexpr std::int64_t kUnit = 16;  // bytes, of which lengths and addresses are multiples
  const auto size = size_of(array.type);
  const auto& start = run.from.index.front();
  bool whole = array.alignment % kUnit == 0 && start.constant * size % kUnit == 0;
  for (const auto& term : start.terms) whole = whole && term.coefficient * size % kUnit == 0;
  if (!whole || run.count * size % kUnit != 0)
    throw PlanError(fmt::format(
        "schedule: prefetch: runs of {} of {} elements in a tile, which do not begin and end at multiples of "
        "{} bytes",
        array.name, run.count, kUnit));
  std::int64_t runs = 1;
  for (std::size_t k = inside; k < digits.size(); ++k) runs *= digits[k].extent;
  const auto rounds = (runs + threads.count - 1) / threads.count;
  const auto round = rounds > 1 ? threads.loop_var("run", rounds) : -1;
  const auto number = Affine::of(threads.thread) + (rounds > 1 ? Affine::of(round, threads.count) : Affine(0));
  Body body;
  auto when = tile.when;
  if (rounds * threads.count > runs) when.insert(when.begin(), {number, runs});
  std::int64_t below = 1;
  for (std::size_t k = inside; k < digits.size(); ++k) {
    const auto& [var, extent] = std::pair(digits[k].var, digits[k].extent);
    const auto name = threads.kernel.vars[static_cast<std::size_t>(var)].name + "_run";
    const auto value = threads.let(body, name, number, below, extent);
    run.from = with(std::move(run.from), var, value);
    when = with(std::move(when), var, value);
    below *= extent;
  }
  body.push_back(when.empty() ? Statement{std::move(run)} : Statement{If{std::move(when), {{std::move(run)}}, {}}});
  return rounds > 1 ? threads.unrolled(round, std::move(body)) : only({Section{{}, std::move(body)}});
}

}  // namespace ricci::kernel::cuda
