#include "traffic.hpp"

#include <algorithm>
#include <array>

namespace ricci::simt {
namespace {

constexpr unsigned kBanks = 32, kBankBytes = 4;

/// Whether the lanes that take part and differ in one bit of their numbers ask for the same.
bool alike(const WarpAccess& access, unsigned bit) {
  std::array<std::uint64_t, 32> place;
  std::uint32_t active = 0;
  for (unsigned i = 0; i < access.lanes; ++i) {
    place[access.lane[i]] = access.address[i];
    active |= 1U << access.lane[i];
  }
  for (unsigned i = 0; i < access.lanes; ++i) {
    const unsigned other = access.lane[i] ^ bit;
    if ((active >> other & 1) != 0 && place[other] != access.address[i]) return false;
  }
  return true;
}

}  // namespace

Cost shared_cost(const WarpAccess& access) {
  const bool in_pairs = access.bytes > kBankBytes && (alike(access, 1) || alike(access, 2));
  const unsigned lanes_per_phase = (access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8) * (in_pairs ? 2 : 1);
  const unsigned words_per_lane = std::max(access.bytes / kBankBytes, 1u);
  Cost cost;
  for (unsigned i = 0; i < access.lanes;) {
    const unsigned phase = access.lane[i] / lanes_per_phase;
    std::array<std::uint64_t, 64> words;  // at most 32 lanes of 1 or 2 words, or 16 of 4
    unsigned count = 0;
    bool ascending = true;
    for (; i < access.lanes && access.lane[i] / lanes_per_phase == phase; ++i)
      for (unsigned w = 0; w < words_per_lane; ++w) {
        const std::uint64_t word = access.address[i] / kBankBytes + w;
        ascending = ascending && (count == 0 || words[count - 1] <= word);
        words[count++] = word;
      }
    if (!ascending) std::sort(words.begin(), words.begin() + count);
    count = static_cast<unsigned>(std::unique(words.begin(), words.begin() + count) - words.begin());
    std::array<std::uint8_t, kBanks> load{};
    unsigned most = 0;
    for (unsigned w = 0; w < count; ++w) most = std::max<unsigned>(most, ++load[words[w] % kBanks]);
    cost.units += most;
    cost.ideal += (count + kBanks - 1) / kBanks;
  }
  return cost;
}

Cost global_cost(const WarpAccess& access, std::uint64_t begin, SectorMap& seen) {
  std::array<std::uint64_t, 32> address;
  std::copy_n(access.address, access.lanes, address.begin());
  const auto end = address.begin() + access.lanes;
  if (!std::is_sorted(address.begin(), end)) std::sort(address.begin(), end);
  Cost cost;
  std::uint64_t next = 0, distinct_bytes = 0, covered = 0;  // sectors before next, bytes before covered are counted
  for (auto a = address.begin(); a != end; ++a) {
    distinct_bytes += *a + access.bytes - std::max(covered, *a);
    covered = *a + access.bytes;
    // Where the buffer starts at a sector, as on a device, an aligned access lies within one; here it may straddle two.
    const std::uint64_t last = (*a - begin + access.bytes - 1) / kSectorBytes;
    for (std::uint64_t sector = std::max((*a - begin) / kSectorBytes, next); sector <= last; ++sector) {
      ++cost.units;
      seen.touch(sector);
    }
    next = last + 1;
  }
  cost.ideal = static_cast<unsigned>((distinct_bytes + kSectorBytes - 1) / kSectorBytes);
  return cost;
}

}  // namespace ricci::simt
