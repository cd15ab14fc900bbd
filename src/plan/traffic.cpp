#include "plan/traffic.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace ricci::plan {

namespace {

/// Sectors that a run of neighbours touches, on average over the places of a grid of bytes at which it may begin.
double sectors_of_run(std::int64_t bytes, std::int64_t grid) {
  std::int64_t sum = 0;
  for (std::int64_t begin = 0; begin < kSectorBytes; begin += grid) sum += (begin + bytes - 1) / kSectorBytes + 1;
  return static_cast<double>(sum * grid) / kSectorBytes;
}

}  // namespace

SideTraffic side_traffic(const ir::Program& program, const ir::Schedule& schedule, int buffer,
                         const ir::Affine& affine) {
  const auto& target = program.buffers[static_cast<std::size_t>(buffer)];
  const auto size = size_of(target.type);
  std::vector<std::size_t> order;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (affine.coefficient[q] != 0 && program.indices[q].extent > 1) order.push_back(q);
  }
  std::sort(order.begin(), order.end(),
            [&](auto p, auto q) { return std::abs(affine.coefficient[p]) < std::abs(affine.coefficient[q]); });
  // A run grows through an index while the tile has neighbours of it, and past it when the tile has all of it. Its last
  // part is shorter where the tile does not divide the extent.
  std::int64_t run = 1, last = 0, whole = 1, others = 1;
  bool grows = true;
  // Sixteen bytes is what a layout promises unless told otherwise. Memory that keeps that is an allocation's, and those
  // begin with a sector.
  std::int64_t grid =
      target.alignment >= 16 ? std::max(target.alignment, kSectorBytes) : std::max(target.alignment, size);
  std::int64_t lowest = affine.constant;  // where the run of the first tile begins
  for (const auto q : order) {
    const auto stride = std::abs(affine.coefficient[q]);
    const auto extent = program.indices[q].extent, tile = schedule.tile[q];
    if (grows && stride == run) {
      grows = tile == extent;
      if (affine.coefficient[q] < 0) lowest -= stride * (tile - 1);
      last = run * (extent % tile);
      whole = extent / tile;
      run *= tile;
      if (!grows) grid = std::gcd(grid, run * size);
    } else {
      grows = false;
      others *= extent;
      grid = std::gcd(grid, stride * size);
    }
  }
  grid = std::gcd(std::gcd(grid, lowest * size), kSectorBytes);
  SideTraffic side;
  side.bytes = (whole * run + last) * others * size;
  side.run_bytes = run * size;
  side.whole_sectors = grid == kSectorBytes && side.run_bytes % kSectorBytes == 0;
  side.sectors = static_cast<double>(whole * others) * sectors_of_run(side.run_bytes, grid);
  if (last > 0) side.sectors += static_cast<double>(others) * sectors_of_run(last * size, grid);
  return side;
}

Wavefronts wavefronts(const ir::Schedule& schedule, const ir::Walk& walk, const ir::SharedLayout& layout,
                      std::int64_t element_bytes, int sample_warps) {
  // Elements that lie side by side along the walk's vector go in one access, others one by one.
  bool vector = walk.vector > 1;
  const int first = walk.digits.empty() ? -1 : walk.digits[0].index;
  for (std::size_t q = 0; q < layout.stride.size(); ++q) {
    if (static_cast<int>(q) == first ? layout.stride[q] != 1
                                     : schedule.tile[q] > 1 && layout.stride[q] % walk.vector != 0) {
      vector = false;
    }
  }
  if (layout.mask != 0 && (1 << layout.unit) < walk.vector) vector = false;
  const auto access_bytes = element_bytes * (vector ? walk.vector : 1);
  const int repeats = vector ? 1 : walk.vector;
  const int lanes = static_cast<int>(std::min<std::int64_t>(32, std::max<std::int64_t>(128 / access_bytes, 1)));
  const auto positions = walk.positions();
  const auto warps = (positions + 31) / 32;
  const auto step = std::max<std::int64_t>(warps / std::max(sample_warps, 1), 1);
  double counted = 0, ideal = 0;
  std::int64_t sampled = 0;
  for (std::int64_t warp = 0; warp < warps; warp += step) {
    ++sampled;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (int group = 0; group < 32; group += lanes) {
        std::array<std::array<std::int64_t, 32>, 32> words;  // distinct words per bank
        std::array<int, 32> count{};
        bool any = false;
        for (int lane = group; lane < group + lanes; ++lane) {
          auto p = warp * 32 + lane;
          if (p >= positions) break;
          any = true;
          std::int64_t address = 0;
          for (std::size_t k = 0; k < walk.digits.size(); ++k) {
            const auto& digit = walk.digits[k];
            const auto values = k == 0 ? digit.count / walk.vector : digit.count;
            auto value = p % values * digit.step;
            if (k == 0) value = value * walk.vector + repeat;
            p /= values;
            address += value * layout.stride[static_cast<std::size_t>(digit.index)];
          }
          address ^= (address >> layout.shift & layout.mask) << layout.unit;
          const auto word = address * element_bytes / 4;
          const auto wide = std::max<std::int64_t>(access_bytes / 4, 1);
          for (std::int64_t w = word; w < word + wide; ++w) {
            auto& bank = words[static_cast<std::size_t>(w % 32)];
            auto& n = count[static_cast<std::size_t>(w % 32)];
            if (std::find(bank.begin(), bank.begin() + n, w) == bank.begin() + n)
              bank[static_cast<std::size_t>(n++)] = w;
          }
        }
        if (!any) continue;
        counted += *std::max_element(count.begin(), count.end());
        ideal += 1;
      }
    }
  }
  const double scale = static_cast<double>(warps) / static_cast<double>(std::max<std::int64_t>(sampled, 1));
  return {counted * scale, ideal * scale};
}

}  // namespace ricci::plan
