#include "plan/models/traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "plan/models/short_lists.hpp"

namespace ricci::plan {

namespace {

struct Touched {
  double pieces = 0, partial = 0;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Greatest common divisor of a power of two and any number.
std::int64_t common_part(std::int64_t power, std::int64_t n) { return n == 0 ? power : std::min(power, n & -n); }

/// Aligned pieces of memory (of `Piece` bytes, a power of two) that a contiguous run touches, on average over all
/// starting addresses that are multiples of `grid`.
///   grid  a power of two
template <std::int64_t Piece>
Touched pieces_of_run(std::int64_t bytes, std::int64_t grid) {
  grid = std::min(grid, Piece);
  const auto shift = std::countr_zero(static_cast<std::uint64_t>(grid));
  const auto ceil_div_grid = [&](std::int64_t n) { return (n + grid - 1) >> shift; };
  const auto places = Piece >> shift, whole = bytes / Piece, rest = bytes % Piece;
  // At `begin` the run touches whole + 1 pieces, one more from begin = Piece + 1 - rest on; it fills `whole` from begin
  // = 0, from elsewhere one less, and that one again from begin = Piece - rest on.
  const auto sum = places * (whole + 1) + places - ceil_div_grid(Piece + 1 - rest);
  const auto full = whole == 0 ? 0 : places * (whole - 1) + 1 + places - ceil_div_grid(Piece - rest);
  const double share = static_cast<double>(grid) / Piece;
  return {static_cast<double>(sum) * share, static_cast<double>(sum - full) * share};
}

}  // namespace

SideCounter::SideCounter(const ir::Program& program, int buffer, const ir::Affine& affine) : lowest_(affine.constant) {
  const auto& target = program.buffers[static_cast<std::size_t>(buffer)];
  element_bytes_ = size_of(target.type);
  // 16 bytes is the default promise of a layout; such memory usually starts an allocation, which is aligned to a block.
  const auto aligned = target.alignment >= 16 ? kBlockBytes : std::max(target.alignment, element_bytes_);
  grid_ = std::gcd(kBlockBytes, aligned);
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    const auto stride = affine.coefficient[q], extent = program.indices[q].extent;
    if (stride != 0 && extent > 1) axes_.push_back({q, extent, std::abs(stride), stride < 0});
  }
  std::sort(axes_.begin(), axes_.end(), [](const Axis& x, const Axis& y) { return x.stride < y.stride; });
}

SideTraffic SideCounter::in_boxes(const std::vector<std::int64_t>& box) const {
  // The contiguous run of a tile extends over an index where that is contiguous, and beyond it where the tile holds all
  // of it. The last run is shorter where the tile does not divide the extent.
  std::int64_t run = 1, last = 0, whole = 1, others = 1;
  bool grows = true;
  auto grid = grid_;
  auto lowest = lowest_;  // where the run of the first tile begins
  for (const auto& axis : axes_) {
    const auto tile = box[axis.index];
    if (grows && axis.stride == run) {
      grows = tile == axis.extent;
      if (axis.backwards) lowest -= axis.stride * (tile - 1);
      whole = axis.extent / tile;
      last = run * (axis.extent - whole * tile);
      run *= tile;
      if (!grows) grid = common_part(grid, run * element_bytes_);
    } else {
      grows = false;
      others *= axis.extent;
      grid = common_part(grid, axis.stride * element_bytes_);
    }
  }
  grid = common_part(grid, lowest * element_bytes_);
  SideTraffic side;
  side.bytes = (whole * run + last) * others * element_bytes_;
  side.run_bytes = run * element_bytes_;
  side.whole_sectors = grid >= kSectorBytes && side.run_bytes % kSectorBytes == 0;
  const auto add = [&](std::int64_t runs, std::int64_t bytes) {
    const auto count = static_cast<double>(runs);
    const auto sectors = pieces_of_run<kSectorBytes>(bytes, grid);
    side.sectors += count * sectors.pieces;
    side.partial_sectors += count * sectors.partial;
    side.partial_blocks += count * pieces_of_run<kBlockBytes>(bytes, grid).partial;
  };
  add(whole * others, side.run_bytes);
  if (last > 0) add(others, last * element_bytes_);
  return side;
}

double partial_sectors(std::int64_t bytes, std::int64_t grid) {
  return pieces_of_run<kSectorBytes>(bytes, grid).partial;
}

SideTraffic side_traffic(const ir::Program& program, const kernel::Moves& moves, int buffer, const ir::Affine& affine) {
  return SideCounter(program, buffer, affine).in_boxes(moves.tile);
}

void launch_box(const ir::Program& program, const std::vector<std::int64_t>& tile, const std::vector<int>& order,
                std::int64_t tiles, std::vector<std::int64_t>& box) {
  box = tile;
  for (const auto index : order) {
    if (tiles <= 1) break;
    const auto q = static_cast<std::size_t>(index);
    const auto extent = program.indices[q].extent;
    const auto along = box[q] == 1 ? extent : box[q] == extent ? 1 : ceil_div(extent, box[q]);
    box[q] = std::min(extent, box[q] * std::min(along, tiles));
    tiles /= along;
  }
}

double lines_of_mapping(const kernel::ThreadMapping& mapping, const ir::Affine& affine, std::int64_t element_bytes,
                        int sample_warps) {
  if (mapping.digits.empty()) return 1;
  struct Step {
    std::int64_t count, stride;
  };
  std::array<Step, kMostDigits> steps;
  const auto digits = std::min(mapping.digits.size(), steps.size());
  for (std::size_t k = 0; k < digits; ++k) {
    const auto q = static_cast<std::size_t>(mapping.digits[k].index);
    steps[k] = {mapping.count(k), affine.coefficient[q] * mapping.step(k) * element_bytes};
  }
  // Neighbours in memory are one access, others as many as the vector has elements.
  const auto apart = steps[0].stride / mapping.vector;
  const bool contiguous = std::abs(apart) <= element_bytes;
  const auto access = contiguous ? element_bytes * mapping.vector : element_bytes;
  const int parts = contiguous ? 1 : mapping.vector;
  const auto row = mapping.rows == 1 ? 0 : steps[1].stride;
  // An access that is aligned to its size, a power of two, does not cross a line.
  bool inside = kCacheLineBytes % access == 0 && apart % access == 0;
  for (std::size_t k = 0; k < digits; ++k) inside = inside && steps[k].stride % access == 0;
  constexpr std::size_t kMostLines = 64;  // two of each lane
  const Warps all(mapping);
  const auto warps = all.count();
  const auto samples = std::clamp<std::int64_t>(sample_warps, 1, warps);
  std::int64_t counted = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const auto warp = s * warps / samples;
    std::array<std::int64_t, kMostDigits> value;
    auto p = all.first(warp);
    std::int64_t address = 0;
    for (std::size_t k = 0; k < digits; ++k) {
      const auto quotient = p < steps[k].count ? 0 : p / steps[k].count;
      value[k] = p - quotient * steps[k].count;
      p = quotient;
      address += value[k] * steps[k].stride;
    }
    // To the end of the fastest digit, then carry into the higher digits.
    std::array<std::pair<std::int64_t, std::int64_t>, 32> runs;  // where each begins, and how many lanes it has
    std::size_t count = 0;
    const auto lanes = all.lanes(warp);
    for (std::int64_t lane = 0; lane < lanes;) {
      const auto run = std::min(lanes - lane, steps[0].count - value[0]);
      runs[count++] = {address, run};
      lane += run;
      address += run * steps[0].stride;
      value[0] += run;
      for (std::size_t k = 0; k + 1 < digits && value[k] == steps[k].count; ++k) {
        address += steps[k + 1].stride - steps[k].count * steps[k].stride;
        value[k] = 0;
        ++value[k + 1];
      }
    }
    for (int repeat = 0; repeat < parts * mapping.rows; ++repeat) {
      std::array<std::int64_t, kMostLines> lines;
      std::size_t n = 0;
      bool ascending = true;
      const auto see = [&](std::int64_t line) {
        if (n > 0 && lines[n - 1] == line) return;
        ascending = ascending && (n == 0 || line > lines[n - 1]);
        lines[n++] = line;
      };
      const auto further = repeat % parts * apart + repeat / parts * row, stride = steps[0].stride;
      for (std::size_t r = 0; r < count; ++r) {
        const auto begin = runs[r].first + further, run = runs[r].second;
        if (stride >= 0 && stride <= kCacheLineBytes) {  // consecutive lines are all touched
          const auto last = (begin + (run - 1) * stride + access - 1) >> 7;
          for (auto line = begin >> 7; line <= last; ++line) see(line);
        } else {
          for (std::int64_t k = 0; k < run; ++k) {
            see((begin + k * stride) >> 7);
            if (!inside) see((begin + k * stride + access - 1) >> 7);
          }
        }
      }
      if (!ascending) n = unique_values<kMostLines>(lines.data(), n);
      counted += static_cast<std::int64_t>(n);
    }
  }
  static_assert(kCacheLineBytes == 1 << 7);
  return static_cast<double>(counted) * static_cast<double>(warps) / static_cast<double>(samples);
}

double least_lines_of_mapping(const kernel::ThreadMapping& mapping, const ir::Affine& affine,
                              std::int64_t element_bytes, int sample_warps) {
  // Distinct addresses give a lower bound of the lines.
  const bool distinct =
      std::all_of(mapping.digits.begin(), mapping.digits.end(), [&](const kernel::MixedRadixDigit& digit) {
        return affine.coefficient[static_cast<std::size_t>(digit.index)] != 0;
      });
  const Warps all(mapping);
  const auto warps = all.count();
  const auto samples = std::clamp<std::int64_t>(sample_warps, 1, warps);
  std::int64_t least = 0;
  // All sampled warps are full: only the last warp may not be, and it is not sampled.
  if (distinct && mapping.workers % 32 == 0 && warps > samples) {
    return static_cast<double>(warps * mapping.rows * ceil_div(32 * element_bytes * mapping.vector, kCacheLineBytes));
  }
  for (std::int64_t s = 0; s < samples; ++s) {
    least += distinct ? ceil_div(all.lanes(s * warps / samples) * mapping.vector * element_bytes, kCacheLineBytes) : 1;
  }
  return static_cast<double>(least * mapping.rows) * static_cast<double>(warps) / static_cast<double>(samples);
}

}  // namespace ricci::plan
