#include "plan/traffic.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace ricci::plan {

namespace {

constexpr std::size_t kMostDigits = 64;  // a tensor has fewer axes

struct Touched {
  double sectors = 0, partial = 0;
};

/// Sectors that a run of neighbours touches, on average over the places of a grid of bytes at which it may begin.
Touched sectors_of_run(std::int64_t bytes, std::int64_t grid) {
  std::int64_t sum = 0, full = 0;
  for (std::int64_t begin = 0; begin < kSectorBytes; begin += grid) {
    sum += (begin + bytes - 1) / kSectorBytes + 1;
    full += std::max<std::int64_t>((begin + bytes) / kSectorBytes - (begin + kSectorBytes - 1) / kSectorBytes, 0);
  }
  const double share = static_cast<double>(grid) / kSectorBytes;
  return {static_cast<double>(sum) * share, static_cast<double>(sum - full) * share};
}

}  // namespace

SideTraffic side_traffic(const ir::Program& program, const ir::Schedule& schedule, int buffer,
                         const ir::Affine& affine) {
  return side_traffic(program, schedule.tile, buffer, affine);
}

SideTraffic side_traffic(const ir::Program& program, const std::vector<std::int64_t>& box, int buffer,
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
    const auto extent = program.indices[q].extent, tile = box[q];
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
  const auto add = [&](std::int64_t count, std::int64_t bytes) {
    const auto touched = sectors_of_run(bytes, grid);
    side.sectors += static_cast<double>(count) * touched.sectors;
    side.partial_sectors += static_cast<double>(count) * touched.partial;
  };
  add(whole * others, side.run_bytes);
  if (last > 0) add(others, last * size);
  return side;
}

std::vector<std::int64_t> launch_box(const ir::Program& program, const ir::Schedule& schedule, std::int64_t tiles) {
  auto box = schedule.tile;
  for (const auto index : schedule.order) {
    if (tiles <= 1) break;
    const auto q = static_cast<std::size_t>(index);
    const auto extent = program.indices[q].extent;
    const auto along = (extent + box[q] - 1) / box[q];
    box[q] = std::min(extent, box[q] * std::min(along, tiles));
    tiles /= along;
  }
  return box;
}

double lines_of_walk(const ir::Walk& walk, const ir::Affine& affine, std::int64_t element_bytes, int sample_warps) {
  constexpr std::int64_t kLine = 128;
  if (walk.digits.empty()) return 1;
  struct Step {
    std::int64_t count, stride;
  };
  std::array<Step, kMostDigits> steps;
  const auto digits = std::min(walk.digits.size(), steps.size());
  for (std::size_t k = 0; k < digits; ++k) {
    const auto& digit = walk.digits[k];
    const auto wide = k == 0 ? walk.vector : 1;
    steps[k] = {digit.count / wide,
                affine.coefficient[static_cast<std::size_t>(digit.index)] * digit.step * element_bytes * wide};
  }
  // Neighbours in memory are one access, others as many as the vector has elements.
  const auto apart = steps[0].stride / walk.vector;
  const bool together = std::abs(apart) <= element_bytes;
  const auto access = together ? element_bytes * walk.vector : element_bytes;
  const int repeats = together ? 1 : walk.vector;
  const auto positions = walk.positions();
  const auto warps = (positions + 31) / 32;
  const auto samples = std::clamp<std::int64_t>(sample_warps, 1, warps);
  std::int64_t counted = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const auto warp = s * warps / samples;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      std::array<std::int64_t, kMostDigits> value;
      auto p = warp * 32;
      std::int64_t address = repeat * apart;
      for (std::size_t k = 0; k < digits; ++k) {
        value[k] = p % steps[k].count;
        p /= steps[k].count;
        address += value[k] * steps[k].stride;
      }
      std::array<std::int64_t, 64> lines;
      std::size_t n = 0;
      bool ascending = true;
      const auto see = [&](std::int64_t line) {
        if (n > 0 && lines[n - 1] == line) return;
        ascending = ascending && (n == 0 || line > lines[n - 1]);
        lines[n++] = line;
      };
      const auto lanes = std::min<std::int64_t>(32, positions - warp * 32);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        see(address >> 7);
        see((address + access - 1) >> 7);
        for (std::size_t k = 0; k < digits; ++k) {
          address += steps[k].stride;
          if (++value[k] < steps[k].count) break;
          address -= value[k] * steps[k].stride;
          value[k] = 0;
        }
      }
      if (!ascending) {
        std::sort(lines.begin(), lines.begin() + n);
        n = static_cast<std::size_t>(std::unique(lines.begin(), lines.begin() + n) - lines.begin());
      }
      counted += static_cast<std::int64_t>(n);
    }
  }
  static_assert(kLine == 1 << 7);
  return static_cast<double>(counted) * static_cast<double>(warps) / static_cast<double>(samples);
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
  struct Step {
    std::int64_t count, stride;  // stride in elements, for one step of the value
  };
  std::array<Step, kMostDigits> steps;
  const auto digits = std::min(walk.digits.size(), steps.size());
  for (std::size_t k = 0; k < digits; ++k) {
    const auto& digit = walk.digits[k];
    const auto wide = k == 0 ? walk.vector : 1;
    steps[k] = {digit.count / wide, layout.stride[static_cast<std::size_t>(digit.index)] * digit.step * wide};
  }
  const auto apart = digits == 0 ? 0 : steps[0].stride / walk.vector;
  // Accesses of 8 and 16 bytes are aligned to themselves, so that banks can be counted in units of an access.
  const auto unit_bytes = std::max<std::int64_t>(access_bytes, 4);
  const auto banks = 128 / unit_bytes;
  double counted = 0, ideal = 0;
  std::int64_t sampled = 0;
  for (std::int64_t warp = 0; warp < warps; warp += step) {
    ++sampled;
    std::array<std::int64_t, kMostDigits> start;
    std::int64_t start_address = 0;
    auto p = warp * 32;
    for (std::size_t k = 0; k < digits; ++k) {
      start[k] = p % steps[k].count;
      p /= steps[k].count;
      start_address += start[k] * steps[k].stride;
    }
    const auto active = static_cast<int>(std::min<std::int64_t>(32, positions - warp * 32));
    for (int repeat = 0; repeat < repeats; ++repeat) {
      auto value = start;
      auto linear = start_address + repeat * apart;
      for (int group = 0; group < active; group += lanes) {
        std::array<std::array<std::int64_t, 32>, 32> words;  // distinct words per bank
        std::array<int, 32> count{};
        int most = 0;
        for (int lane = group; lane < std::min(group + lanes, active); ++lane) {
          const auto address = linear ^ (linear >> layout.shift & layout.mask) << layout.unit;
          const auto word = address * element_bytes / unit_bytes;
          auto& bank = words[static_cast<std::size_t>(word % banks)];
          auto& n = count[static_cast<std::size_t>(word % banks)];
          if (std::find(bank.begin(), bank.begin() + n, word) == bank.begin() + n) {
            bank[static_cast<std::size_t>(n++)] = word;
            most = std::max(most, n);
          }
          for (std::size_t k = 0; k < digits; ++k) {
            linear += steps[k].stride;
            if (++value[k] < steps[k].count) break;
            linear -= value[k] * steps[k].stride;
            value[k] = 0;
          }
        }
        counted += most;
        ideal += 1;
      }
    }
  }
  const double scale = static_cast<double>(warps) / static_cast<double>(std::max<std::int64_t>(sampled, 1));
  return {counted * scale, ideal * scale};
}

}  // namespace ricci::plan
