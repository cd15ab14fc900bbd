#include "plan/enumerate/warp_shares.hpp"

#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {

int group_warps(const GpuContraction& contraction, std::int64_t rows) {
  return static_cast<int>(tiles::up(rows, contraction.row_unit) / contraction.atom().m);
}

const std::vector<WarpShare>& WarpShares::of(std::int64_t rows, std::int64_t columns) {
  const auto [place, fresh] = known_.try_emplace(rows << 32 | columns);
  if (fresh) place->second = found(rows, columns);
  return place->second;
}

std::vector<WarpShare> WarpShares::found(std::int64_t rows, std::int64_t columns) const {
  const auto& c = contraction_;
  std::vector<WarpShare> list;
  const bool prefetches = c.prefetches();
  const int most_warps = c.groups ? kMostWarps : 12;
  const auto add = [&](int warp_rows, int warp_columns) {
    const auto spread = c.spread(rows, columns, warp_rows, warp_columns);
    const auto warps = spread.warps();
    if (warps > most_warps) return;
    const auto held_rows = c.held_rows(spread, rows), held_columns = c.held_columns(spread, columns);
    if (held_rows * held_columns * c.products / (std::int64_t{32} * warps) < 8 && warps > 1) return;
    // Room to spare in whole warps: the same with fewer of them.
    if (held_rows - rows >= c.row_unit * warp_rows || held_columns - columns >= 2 * c.column_unit * warp_columns)
      return;
    if (!c.groups && warp_rows > 1 && (warp_rows - 1) * held_rows / warp_rows >= rows) return;
    const auto registers = [&](bool ahead) {
      return c.registers(held_rows / warp_rows, held_columns / warp_columns, spread, ahead);
    };
    WarpShare share{spread, warps, held_rows, held_columns, {}, {}, registers(false), {}, {}};
    if (share.registers.with(0) > kMostRegisters) return;
    share.rates = counts_.rates(spread, held_rows, held_columns);
    if (c.has_singles()) share.singly = counts_.rates(share.spread_of(true), held_rows, held_columns);
    const auto atoms = held_rows / c.atom().m * held_columns / c.atom().n;
    share.least = counts_.least_rates(spread, share.rates, held_rows, held_columns);
    share.least.resident = static_cast<double>(room_.of_warps(warps, share.registers.with(0)));
    const auto apart = atoms * (c.by_three() ? c.real_products : 1);
    share.least.prefetches = prefetches && apart >= std::int64_t{kernel::kLeastPrefetched} * warp_rows * warp_columns;
    if (share.least.prefetches) share.ahead = registers(true);
    list.push_back(share);
  };
  if (c.groups) {
    add(group_warps(c, rows), 1);
    return list;
  }
  list.reserve(kMostWarpShares);
  // Sides of five and seven units, and of twice as many, leave nothing of as many warps unused.
  const auto suits = [](int warps, std::int64_t units) { return (warps != 5 && warps != 7) || units % warps == 0; };
  const auto row_units = tiles::parts(rows, c.row_unit), column_units = tiles::parts(columns, c.column_unit);
  constexpr std::int64_t kWide = 512;  // rows that eight warps have a part each of
  for (const int warp_rows : {1, 2, 3, 4, 5, 7, 8}) {
    if (warp_rows == 8 && rows < kWide) continue;
    for (const int warp_columns : {1, 2, 3, 4, 5, 7, 8}) {
      if (warp_rows * warp_columns <= most_warps && suits(warp_rows, row_units) && suits(warp_columns, column_units))
        add(warp_rows, warp_columns);
    }
  }
  list.shrink_to_fit();  // threads keep them
  return list;
}

}  // namespace ricci::plan
