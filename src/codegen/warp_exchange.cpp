#include "codegen/warp_exchange.hpp"

#include <algorithm>

namespace ricci::codegen {

WarpExchange::WarpExchange(const ir::Schedule& schedule) : schedule_(schedule) {
  std::int64_t volume = 1;
  for (const auto extent : schedule.tile) {
    weight_.push_back(volume);
    volume *= extent;
  }
  read_position_.resize(static_cast<std::size_t>(volume));
  for (std::int64_t p = 0; p < volume; ++p) read_position_[number(schedule.stage->mapping, p)] = p;
}

std::size_t WarpExchange::number(const ir::ThreadMapping& order, std::int64_t p) const {
  std::int64_t sum = 0;
  for (const auto& digit : order.digits) {
    sum += weight_[static_cast<std::size_t>(digit.index)] * digit.step * (p % digit.count);
    p /= digit.count;
  }
  return static_cast<std::size_t>(sum);
}

std::vector<std::pair<std::int64_t, std::int64_t>> WarpExchange::sources(std::int64_t u, int v) const {
  constexpr std::int64_t kLanes = 32;
  const auto& mapping = schedule_.mapping;
  const int read_vector = schedule_.stage->mapping.vector;
  std::vector<std::pair<std::int64_t, std::int64_t>> sources;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    const auto position = lane + kLanes * u;
    if (position >= mapping.positions()) continue;
    const auto p = read_position_[number(mapping, position * mapping.vector + v)];
    const std::pair source{p / read_vector / kLanes, p % read_vector};
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace ricci::codegen
