#include "kernel/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

std::string said(const Layout& layout, const Spot& spot) {
  return layout.size(LayoutAxis::lane) > 1 ? fmt::format("lane {}", spot.lane)
                                           : fmt::format("place {}", spot.memory + spot.reg);
}

}  // namespace

std::optional<Spot> Layout::holder(const Point& point) const noexcept {
  auto rest = point;
  Spot spot{.memory = start};
  std::uint32_t left = (1U << count) - 1;
  while (left != 0) {
    // The largest step first.
    std::size_t k = kMostModes;
    for (std::size_t j = 0; j < count; ++j) {
      if ((left >> j & 1) != 0 && (k == kMostModes || modes[j].step > modes[k].step)) k = j;
    }
    left &= ~(1U << k);
    const auto& mode = modes[k];
    if (mode.step == 0) break;
    const auto digit = std::min<std::int64_t>(rest[mode.along] / mode.step, mode.extent - 1);
    rest[mode.along] -= digit * mode.step;
    spot[mode.axis] += digit * mode.stride;
  }
  if (rest != Point{}) return std::nullopt;
  spot.memory = swizzle(spot.memory);
  return spot;
}

std::array<Point, kWarp> Layout::lanes() const noexcept {
  std::array<Point, kWarp> points{};
  for (std::size_t k = count; k-- > 0;) {
    const auto& mode = modes[k];
    if (mode.axis != LayoutAxis::lane) continue;
    const auto stride = static_cast<std::size_t>(mode.stride), end = stride * static_cast<std::size_t>(mode.extent);
    for (auto lane = stride; lane < end && lane < points.size(); ++lane) {
      points[lane] = points[lane - stride];
      points[lane][mode.along] += mode.step;
    }
  }
  return points;
}

std::string Layout::fault() const {
  const auto elements = shape[0] * shape[1] * shape[2];
  std::int64_t spots = 1;
  for (const auto& mode : all()) spots *= mode.extent;
  if (spots != elements * replicas())
    return fmt::format("{} spots are not {} for each of {} elements", spots, replicas(), elements);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(elements));
  for (std::int64_t n = 0; n < spots; ++n) {
    Spot spot{.memory = start};
    Point point{};
    auto rest = n;
    for (const auto& mode : all()) {
      spot[mode.axis] += rest % mode.extent * mode.stride;
      point[mode.along] += rest % mode.extent * mode.step;
      rest /= mode.extent;
    }
    spot.memory = swizzle(spot.memory);
    const auto element = fmt::format("row {}, column {}", point[0], point[1]);
    if (point[0] >= shape[0] || point[1] >= shape[1] || point[2] >= shape[2])
      return fmt::format("{} holds {}", said(*this, spot), element);
    if (at(spot) != point) return fmt::format("{} holds {} and another element", said(*this, spot), element);
    auto& times = seen[static_cast<std::size_t>((point[2] * shape[0] + point[0]) * shape[1] + point[1])];
    if (++times > replicas()) return fmt::format("{} is held twice", element);
  }
  return {};
}

Layout product(Layout inner, const Layout& outer) {
  const auto all = inner;
  for (const auto& mode : outer.all())
    inner.add(mode.axis, mode.extent, mode.along, mode.step * all.shape[mode.along], mode.stride * all.size(mode.axis));
  for (std::size_t k = 0; k < inner.shape.size(); ++k) inner.shape[k] *= outer.shape[k];
  return inner;
}

Layout composed(const Layout& inner, int along, const Layout& order) {
  Layout result = inner;
  result.count = 0;
  for (const auto& mode : inner.all()) {
    if (mode.along != along || mode.step == 0) {
      result.add(mode.axis, mode.extent, mode.along, mode.step, mode.stride);
      continue;
    }
    // From the finest digit of the order on.
    std::int64_t left = mode.extent, step = mode.step, stride = mode.stride;
    for (std::size_t k = order.count; k-- > 0 && left > 1;) {
      const auto& digit = order.modes[k];
      const auto reach = std::int64_t{digit.stride} * digit.extent;
      if (step >= reach) continue;
      const auto part = std::min(left, reach / step);
      if (step % digit.stride != 0 || reach % step != 0 || left % part != 0) break;
      result.add(mode.axis, part, mode.along, step / digit.stride * digit.step, stride);
      left /= part;
      stride *= part;
      step *= part;
    }
    if (left > 1) throw InternalError("kernel: a layout whose digits are in part those of another one");
  }
  result.shape[static_cast<std::size_t>(along)] = order.shape[0];
  return result;
}

Exchange exchange(std::span<const Layout> to, std::span<const Layout> from) {
  const auto& target = to.front();
  Exchange made;
  made.lanes = target.size(LayoutAxis::lane);
  made.registers = target.size(LayoutAxis::reg);
  const auto warps = target.size(LayoutAxis::warp);
  for (std::int64_t warp = 0; warp < warps; ++warp) {
    for (std::int64_t reg = 0; reg < made.registers; ++reg) {
      for (std::int64_t lane = 0; lane < made.lanes; ++lane) {
        auto& source = made.source.emplace_back();
        auto point = target.at({.reg = reg, .lane = lane, .warp = warp});
        if (point[0] >= target.shape[0] || point[1] >= target.shape[1]) continue;
        for (const auto& next : to.subspan(1)) point = next.at({.memory = point[0]});
        for (std::size_t k = from.size(); k-- > 0;) {
          source = from[k].holder(point);
          if (!source) break;
          point = {source->memory};
        }
        if (!source) continue;
        made.by = std::max(made.by, source->warp != warp   ? Exchange::By::memory
                                    : source->lane != lane ? Exchange::By::shuffles
                                                           : Exchange::By::registers);
      }
    }
  }
  return made;
}

std::vector<std::int64_t> Exchange::registers_for(std::int64_t reg) const {
  std::vector<std::int64_t> all;
  const auto of_warp = registers * lanes;
  for (auto first = reg * lanes; first < static_cast<std::int64_t>(source.size()); first += of_warp) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto& from = source[static_cast<std::size_t>(first + lane)];
      if (from) all.push_back(from->reg);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::int64_t lanes_of_part(std::int64_t bytes, bool alike) noexcept {
  return std::clamp<std::int64_t>(kBanks * kWord / bytes * (alike ? 2 : 1), 1, kWarp);
}

std::int64_t least_wavefronts(std::int64_t bytes, bool alike) noexcept {
  return (kWarp + lanes_of_part(bytes, alike) - 1) / lanes_of_part(bytes, alike);
}

std::int64_t wavefronts(const std::array<Point, kWarp>& held, const Layout& memory, std::int64_t size,
                        std::int64_t bytes, std::int64_t enough) {
  bytes = std::max(bytes, kWord);
  const auto shift = std::countr_zero(static_cast<std::uint64_t>(bytes));
  std::array<std::int64_t, kWarp> address;  // in as many bytes
  // Where steps are 1, each coordinate has a stride.
  Point stride{};
  bool strided = true;
  for (const auto& mode : memory.all()) {
    strided = strided && mode.step == 1;
    stride[mode.along] = mode.stride;
  }
  const auto swizzle = memory.swizzle;
  const auto start = memory.start;
  if (!strided) {
    for (std::size_t lane = 0; lane < address.size(); ++lane)
      address[lane] = size * memory.holder(held[lane]).value_or(Spot{}).memory >> shift;
  } else if (stride[2] == 0) {
    for (std::size_t lane = 0; lane < address.size(); ++lane)
      address[lane] = size * swizzle(start + stride[0] * held[lane][0] + stride[1] * held[lane][1]) >> shift;
  } else {
    for (std::size_t lane = 0; lane < address.size(); ++lane)
      address[lane] =
          size * swizzle(start + stride[0] * held[lane][0] + stride[1] * held[lane][1] + stride[2] * held[lane][2]) >>
          shift;
  }
  // Lanes have different words of all of their banks, or of none.
  const auto lanes = static_cast<std::size_t>(lanes_of_part(bytes, alike_in_pairs(held)));
  const auto banks = static_cast<std::size_t>(kBanks * kWord >> shift);  // as many as a part has different places
  std::int64_t all = 0;
  for (std::size_t first = 0; first < kWarp && all < enough; first += lanes) {
    std::array<std::array<std::int64_t, kWarp>, kBanks> places;  // different ones of each bank, of which
    std::array<std::uint8_t, kBanks> counts{};                   // there are so many
    std::uint8_t most = 0;
    for (auto lane = first; lane < first + lanes; ++lane) {
      const auto at = address[lane];
      const auto bank = static_cast<std::size_t>(at) & (banks - 1);
      auto& here = places[bank];
      const auto count = counts[bank];
      std::uint8_t k = 0;
      while (k < count && here[k] != at) ++k;
      if (k < count) continue;
      here[count] = at;
      counts[bank] = static_cast<std::uint8_t>(count + 1);
      most = std::max(most, counts[bank]);
    }
    all += most;
  }
  return all;
}

}  // namespace ricci::kernel
