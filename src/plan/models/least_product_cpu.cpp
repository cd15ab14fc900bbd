#include "plan/models/least_product_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricci::plan {
namespace {

/// With vectors along the columns: of the cycles that cost_contraction_cpu.cpp counts those that any schedule has,
/// without what short runs, pages and full caches add.
double least_cycles(double rows, double columns, double depth, DType type, bool dots, const CpuModel& device) {
  constexpr double kFewest = 4;                           // of a round
  constexpr double kBegin = 20, kAlone = 4;               // of a register tile; of one that sums nothing
  constexpr double kNearCache = 0.03;                     // for each byte
  constexpr double kColumn = 0.1;                         // for each element of columns that is read in place
  constexpr double kRowUse = 0.1, kColumnUse = 0.025;     // for each tile that uses it
  constexpr double kRowRound = 0.1, kVectorRound = 0.25;  // what rounds take longer then
  constexpr double kMostVectors = 8;                      // of a register tile
  const double kMostRows = dots ? 28 : 16;
  const double kPacked = dots ? 0.2 : 0.35;  // for each element
  const auto size = static_cast<double>(size_of(type)), numbers = is_complex(type) ? 2.0 : 1.0;
  const double widest = std::max(std::floor(device.vector_bytes / size), 2.0);
  const double halves = std::ceil(widest * size / device.vector_bytes), load = std::min(size, 8.0) / 8;
  const double registers = device.vector_bytes >= 64 ? 31 : 15, begin = depth > 1 ? kBegin : kAlone;
  const auto packed = [&](double elements) {
    const bool far = elements * size > 2 * static_cast<double>(device.l2_bytes);
    return elements * (kPacked + (far ? 0 : kNearCache * size));
  };
  const double row_elements = rows * depth, column_elements = columns * depth;
  double least = std::numeric_limits<double>::infinity();
  for (double lanes = widest; lanes >= std::max(widest / 4, 2.0); lanes /= 2) {
    const double turns = std::max(1.0, size * lanes / device.datapath_bytes);
    for (double v = 1; v <= kMostVectors && (v - 1) * lanes < columns; ++v) {
      const double column_tiles = std::ceil(columns / (v * lanes));
      for (double r = 1; r <= std::min(kMostRows, rows) && (r * numbers + 1) * v * halves <= registers; ++r) {
        const double sums = r * numbers, row_tiles = std::ceil(rows / r), tiles = row_tiles * column_tiles;
        const double round = std::max({turns * sums * v / 2, (sums + turns * v) / 2, kFewest});
        const double rows_in_place = tiles * depth * kRowRound * r + row_elements * kRowUse * column_tiles;
        const double columns_in_place =
            tiles * depth * kVectorRound * v + column_elements * load * (kColumn + kColumnUse * row_tiles);
        const double operands = std::min(packed(row_elements), rows_in_place) +
                                std::min(packed(column_elements), columns_in_place) +
                                column_elements * kNearCache * size;
        least = std::min(least, tiles * (depth * round + begin + r * v) + operands);
      }
    }
  }
  return least;
}

}  // namespace

double least_product_us(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType type, const CpuModel& device,
                        std::int64_t terms) {
  constexpr double kRounding = 1 - 1e-9;
  const std::int64_t groups = (depth + terms - 1) / terms;
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns), k = static_cast<double>(groups);
  const bool dots = terms > 1;
  const double cycles = std::min(least_cycles(m, n, k, type, dots, device), least_cycles(n, m, k, type, dots, device));
  return kRounding * cycles / device.threads / device.cycles_per_us();
}

}  // namespace ricci::plan
