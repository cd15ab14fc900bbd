#include "plan/models/banks.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "kernel/kernel.hpp"
#include "plan/models/short_lists.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {
namespace {

using kernel::kWarp;

/// Whether all addresses of a mapping are distinct: each digit's stride exceeds the reach of the digits below it.
bool are_distinct(const kernel::ThreadMapping& mapping, const std::vector<std::int64_t>& strides) {
  std::array<std::pair<std::int64_t, std::int64_t>, kMostDigits> steps;  // stride, count
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const auto wide = k == 0 ? mapping.vector : 1;
    steps[k] = {strides[k] / wide, mapping.digits[k].count};
  }
  const std::span some(steps.data(), strides.size());
  std::sort(some.begin(), some.end());
  std::int64_t reached = 1;
  for (const auto& [stride, count] : some) {
    if (stride < reached) return false;
    reached = stride * count;
  }
  return true;
}

/// The largest number of requests to one bank.
std::size_t most_asked(const std::uint32_t* words, std::size_t count, std::uint32_t banks) {
  std::array<std::uint8_t, kWarp> asked{};
  std::uint8_t most = 0;
  for (std::size_t k = 0; k < count; ++k) most = std::max(most, ++asked[words[k] & (banks - 1)]);
  return most;
}

}  // namespace

BankCounter::BankCounter(const kernel::Moves& moves, const kernel::ThreadMapping& mapping,
                         const kernel::SharedLayout& layout, std::int64_t element_bytes, int sample_warps)
    : mapping_(mapping),
      element_bytes_(element_bytes),
      sample_warps_(sample_warps),
      vectors_(mapping.vector > 1 && kernel::strides_keep_vectors(moves.tile, layout, mapping)) {
  strides_.reserve(mapping.digits.size());
  for (std::size_t k = 0; k < mapping.digits.size(); ++k) {
    strides_.push_back(layout.stride[static_cast<std::size_t>(mapping.digits[k].index)] * mapping.step(k));
  }
  distinct_ = are_distinct(mapping, strides_);
}

BankCounter::Groups& BankCounter::groups(const kernel::SharedLayout& layout) {
  // Contiguous vectors are one access; others are accessed element by element.
  const bool vector = vectors_ && kernel::swizzle_keeps_vectors(layout, mapping_);
  auto& groups = vector ? whole_ : apart_;
  if (groups.count == 0) count_groups(groups, vector);
  return groups;
}

void BankCounter::count_groups(Groups& groups, bool vector) const {
  // Vectors of more than 16 bytes are split into several accesses.
  constexpr std::int64_t kWidest = 16;
  groups.part =
      vector ? std::min<std::int64_t>(mapping_.vector, std::max<std::int64_t>(kWidest / element_bytes_, 1)) : 1;
  const auto access_bytes = element_bytes_ * groups.part;
  groups.lanes = static_cast<std::size_t>(std::clamp<std::int64_t>(128 / access_bytes, 1, 32));
  // Accesses of 8 and 16 bytes are aligned to themselves, so that banks can be counted in units of an access.
  const auto unit_bytes = std::max<std::int64_t>(access_bytes, 4);
  groups.whole_words = access_bytes >= 4;
  groups.word_shift = std::countr_zero(static_cast<std::uint64_t>(unit_bytes / element_bytes_));
  groups.banks = static_cast<std::uint32_t>(128 / unit_bytes);
  const Warps all(mapping_);
  const auto warps = all.count();
  groups.step = std::max<std::int64_t>(warps / std::max(sample_warps_, 1), 1);
  groups.followed = (warps + groups.step - 1) / groups.step;
  groups.scale = static_cast<double>(warps) / static_cast<double>(std::max<std::int64_t>(groups.followed, 1));
  const auto repeats = static_cast<std::size_t>(mapping_.vector / groups.part * mapping_.rows);
  for (std::int64_t warp = 0; warp < warps; warp += groups.step) {
    groups.count += repeats * ((static_cast<std::size_t>(all.lanes(warp)) + groups.lanes - 1) / groups.lanes);
  }
}

void BankCounter::follow(Groups& groups) const {
  const Warps all(mapping_);
  const auto warps = all.count(), step = groups.step, part = groups.part;
  const auto parts = mapping_.vector / part, repeats = parts * mapping_.rows;
  groups.addresses.resize(static_cast<std::size_t>(groups.followed * repeats) * kWarp);
  groups.active.reserve(static_cast<std::size_t>(groups.followed * repeats));

  const auto digits = strides_.size();
  std::array<std::int64_t, kMostDigits> counts, value;
  for (std::size_t k = 0; k < digits; ++k) counts[k] = mapping_.count(k);
  const auto apart = digits == 0 ? 0 : strides_[0] / mapping_.vector * part;
  const auto row = mapping_.rows == 1 ? 0 : strides_[1];
  auto* addresses = groups.addresses.data();
  for (std::int64_t warp = 0; warp < warps; warp += step) {
    std::int64_t linear = 0;
    auto p = all.first(warp);
    for (std::size_t k = 0; k < digits; ++k) {
      const auto quotient = p < counts[k] ? 0 : p / counts[k];
      value[k] = p - quotient * counts[k];
      p = quotient;
      linear += value[k] * strides_[k];
    }
    const auto active = all.lanes(warp);
    groups.active.insert(groups.active.end(), static_cast<std::size_t>(repeats), static_cast<std::uint8_t>(active));
    const auto* const first = addresses;
    std::fill_n(addresses, kWarp, static_cast<std::uint32_t>(linear));  // inactive lanes keep the first address
    for (std::int64_t lane = 0; lane < active && digits > 0;) {
      // To the end of the fastest digit, then carry into the higher digits.
      const auto run = std::min(active - lane, counts[0] - value[0]);
      for (std::int64_t k = 0; k < run; ++k) {
        addresses[lane + k] = static_cast<std::uint32_t>(linear + k * strides_[0]);
      }
      lane += run;
      linear += run * strides_[0];
      value[0] += run;
      for (std::size_t k = 0; k + 1 < digits && value[k] == counts[k]; ++k) {
        linear += strides_[k + 1] - counts[k] * strides_[k];
        value[k] = 0;
        ++value[k + 1];
      }
    }
    addresses += kWarp;
    for (std::int64_t repeat = 1; repeat < repeats; ++repeat, addresses += kWarp) {
      const auto further = static_cast<std::uint32_t>(repeat % parts * apart + repeat / parts * row);
      for (std::size_t k = 0; k < kWarp; ++k) addresses[k] = first[k] + further;
    }
  }
}

Wavefronts BankCounter::count(const kernel::SharedLayout& layout, double limit) {
  auto& all = groups(layout);
  if (all.active.empty()) follow(all);
  const auto ideal = static_cast<double>(all.count) * all.scale;
  const auto shift = static_cast<unsigned>(layout.shift), unit = static_cast<unsigned>(layout.unit);
  const auto mask = static_cast<std::uint32_t>(layout.mask);
  const auto word_shift = static_cast<unsigned>(all.word_shift);
  // A swizzle of whole words keeps distinct words distinct.
  const bool distinct = distinct_ && all.whole_words && (mask == 0 || layout.unit >= all.word_shift);
  std::size_t counted = 0, left = all.count;
  for (std::size_t warp = 0; warp < all.active.size(); ++warp) {
    const auto* const addresses = &all.addresses[warp * kWarp];
    std::array<std::uint32_t, kWarp> words;
    const auto first = addresses[0] ^ (addresses[0] >> shift & mask) << unit;
    std::uint32_t parts = 0;  // bits in which the elements' positions within their words differ
    for (std::size_t k = 0; k < kWarp; ++k) {
      const auto address = addresses[k] ^ (addresses[k] >> shift & mask) << unit;
      parts |= address ^ first;
      words[k] = address >> word_shift;
    }
    // Distinct elements at equal positions within words lie in distinct words.
    const bool apart = distinct || (distinct_ && (parts & ((1U << word_shift) - 1)) == 0);
    for (std::size_t begin = 0; begin < all.active[warp]; begin += all.lanes, --left) {
      const auto lanes = std::min<std::size_t>(all.lanes, all.active[warp] - begin);
      const auto asked = apart ? lanes : unique_values<kWarp>(&words[begin], lanes);
      counted += most_asked(&words[begin], asked, all.banks);
    }
    // Each remaining group takes at least one wavefront.
    if (const double sure = static_cast<double>(counted + left) * all.scale; sure >= limit) return {sure, ideal};
  }
  return {static_cast<double>(counted) * all.scale, ideal};
}

double BankCounter::ideal(const kernel::SharedLayout& layout) {
  const auto& all = groups(layout);
  return static_cast<double>(all.count) * all.scale;
}

Wavefronts wavefronts(const kernel::Moves& moves, const kernel::ThreadMapping& mapping,
                      const kernel::SharedLayout& layout, std::int64_t element_bytes, int sample_warps) {
  return BankCounter(moves, mapping, layout, element_bytes, sample_warps).count(layout);
}

}  // namespace ricci::plan
