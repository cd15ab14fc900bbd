#include "plan/staged_tiles.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "plan/cost_cuda.hpp"

namespace ricci::plan {

std::vector<std::vector<std::int64_t>> staged_tiles(const Sides& sides, std::int64_t most_bytes) {
  using Tile = std::vector<std::int64_t>;
  static constexpr std::int64_t kRuns[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};  // bytes
  const auto reaching = [&](bool read) {
    const auto bytes = read ? sides.read_bytes() : sides.write_bytes();
    std::vector<Tile> tiles;  // of each length
    for (const auto run : kRuns) {
      tiles.push_back(
          sides.prefix(read, std::max<std::int64_t>(run / bytes, 1), std::max<std::int64_t>(16 / bytes, 1)));
    }
    return tiles;
  };
  const auto read = reaching(true), write = reaching(false);
  std::vector<Tile> tiles;
  std::set<Tile> seen;
  for (const auto& one : read) {
    for (const auto& other : write) {
      auto tile = one;
      auto bytes = sides.read_bytes();
      for (std::size_t q = 0; q < tile.size(); ++q) {
        tile[q] = std::max(tile[q], other[q]);
        bytes *= tile[q];
      }
      if (bytes <= most_bytes && seen.insert(tile).second) tiles.push_back(std::move(tile));
    }
  }
  return tiles;
}

std::vector<int> whole_digit_threads(std::vector<ir::Walk> walks) {
  const auto instructions = [&](int threads) {
    double sum = 0;
    for (auto& walk : walks) {
      walk.workers = threads;
      sum += static_cast<double>(walk.rounds()) * (4 + digit_instructions(walk));
    }
    const int warps = (threads + 31) / 32;
    return sum * warps;
  };
  const auto powers = {instructions(128), instructions(256), instructions(512)};
  // What one walk gains the other one must not lose: warps that begin within its runs cost more than is counted here.
  const auto loses = [&](int threads) {
    return std::any_of(walks.begin(), walks.end(), [&](ir::Walk walk) {
      walk.workers = 256;
      const auto usual = digit_instructions(walk);
      walk.workers = threads;
      return digit_instructions(walk) > usual;
    });
  };
  std::vector<int> counts;
  for (const auto& walk : walks) {
    std::int64_t below = 1;
    for (std::size_t k = 0; k < walk.digits.size() && below <= 512; ++k) {
      const auto count = walk.digits[k].count / (k == 0 ? walk.vector : 1);
      for (std::int64_t part = 1; part <= count && below * part <= 512; ++part) {
        const auto threads = below * part, lanes = (threads + 31) / 32 * 32;
        // Seven eighths of the warps' lanes work.
        if (count % part != 0 || threads <= 80 || threads * 8 < lanes * 7) continue;
        counts.push_back(static_cast<int>(threads));
      }
      below *= count;
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::array<std::pair<double, int>, 2> best;
  best.fill({0.9 * std::min(powers), 0});
  for (const int threads : counts) {
    if ((threads & (threads - 1)) == 0) continue;
    auto& least = best[threads > 256];
    if (const double n = instructions(threads); n < least.first && !loses(threads)) least = {n, threads};
  }
  std::vector<int> chosen;
  for (const auto& [n, threads] : best) {
    if (threads > 0) chosen.push_back(threads);
  }
  return chosen;
}

}  // namespace ricci::plan
