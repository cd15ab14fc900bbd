#include "plan/enumerate/tile_enumeration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/models/cost_cuda.hpp"

namespace ricci::plan {
namespace {

/// Thread counts that divide a mapping at whole digits, ascending; some may lie outside of the range.
std::vector<int> whole_digit_counts(std::span<const kernel::ThreadMapping> mappings, ThreadRange range) {
  std::vector<int> counts;
  const auto of_use = [&](int above, int up_to) { return range.least <= up_to && range.most > above; };
  const bool halves[] = {of_use(0, 256), of_use(256, 512)};
  if (!halves[0] && !halves[1]) return counts;
  counts.reserve(64);
  for (const auto& mapping : mappings) {
    std::int64_t below = 1;
    for (std::size_t k = 0; k < mapping.digits.size() && below <= 512; ++k) {
      const auto count = mapping.count(k);
      const auto see = [&](std::int64_t part) {
        const auto threads = static_cast<int>(below * part);
        if (!fill_warps(threads) || (threads & (threads - 1)) == 0 || !halves[threads > 256]) return;
        if (count % part == 0) counts.push_back(threads);
      };
      // Search divisors from the smaller side.
      const auto least = kFewestThreads / below + 1, most = std::min(count, 512 / below);
      if (most - least < count / least - count / most) {
        for (auto part = least; part <= most; ++part) see(part);
      } else {
        for (auto times = (count + most - 1) / most; times <= count / least; ++times) {
          if (count % times == 0) see(count / times);
        }
      }
      below *= count;
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace

std::vector<std::vector<std::int64_t>> enumerate_tiles(const Sides& sides, std::span<const std::int64_t> runs,
                                                       std::int64_t most_bytes) {
  using Tile = std::vector<std::int64_t>;
  const auto reaching = [&](bool read) {
    const auto bytes = read ? sides.read_bytes() : sides.write_bytes();
    std::vector<Tile> tiles;  // of each length
    for (const auto run : runs) {
      auto tile =
          sides.run_extents(read, std::max<std::int64_t>(run / bytes, 1), std::max<std::int64_t>(16 / bytes, 1));
      if (tiles.empty() || tile != tiles.back()) tiles.push_back(std::move(tile));
    }
    return tiles;
  };
  const auto read = reaching(true), write = reaching(false);
  std::vector<Tile> tiles;
  std::vector<std::int64_t> sizes;  // of tiles: few have the same
  Tile tile;
  for (const auto& one : read) {
    for (const auto& other : write) {
      tile = one;
      auto bytes = sides.read_bytes();
      for (std::size_t q = 0; q < tile.size(); ++q) {
        tile[q] = std::max(tile[q], other[q]);
        bytes *= tile[q];
      }
      if (bytes > most_bytes) continue;
      bool seen = false;
      for (std::size_t k = 0; k < tiles.size() && !seen; ++k) seen = sizes[k] == bytes && tiles[k] == tile;
      if (seen) continue;
      tiles.push_back(tile);
      sizes.push_back(bytes);
    }
  }
  return tiles;
}

std::vector<int> whole_digit_threads(std::span<const kernel::ThreadMapping> mappings, ThreadRange range) {
  const auto counts = whole_digit_counts(mappings, range);
  if (counts.empty()) return counts;
  std::array<DigitCost, 2> room;
  for (std::size_t k = 0; k < mappings.size(); ++k) room[k] = DigitCost(mappings[k]);
  const std::span<const DigitCost> costs(room.data(), mappings.size());
  const auto instructions = [&](int threads) {
    double sum = 0;
    for (const auto& cost : costs) {
      const auto rounds = (cost.positions() + threads - 1) / threads;
      sum += static_cast<double>(rounds) * (4 + cost.instructions(threads));
    }
    const int warps = (threads + 31) / 32;
    return sum * warps;
  };
  // The other side must not become slower: warps that begin inside its runs cost more than is counted here.
  std::array<double, 2> usual;  // instructions
  std::transform(costs.begin(), costs.end(), usual.begin(),
                 [](const DigitCost& cost) { return cost.instructions(256); });
  const auto loses = [&](int threads) {
    return !std::equal(costs.begin(), costs.end(), usual.begin(),
                       [&](const DigitCost& cost, double most) { return cost.instructions(threads) <= most; });
  };
  std::array<std::pair<double, int>, 2> best;  // up to 256 and up to 512
  best.fill({0.9 * std::min({instructions(128), instructions(256), instructions(512)}), 0});
  for (const int threads : counts) {
    auto& least = best[threads > 256];
    if (const double n = instructions(threads); n < least.first && !loses(threads)) least = {n, threads};
  }
  std::vector<int> chosen;
  for (const auto& [n, threads] : best) {
    if (threads >= range.least && threads <= range.most && threads > 0) chosen.push_back(threads);
  }
  return chosen;
}

}  // namespace ricci::plan
