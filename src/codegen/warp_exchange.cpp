#include "codegen/warp_exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"

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

void WarpExchange::emit(Writer& w, const ir::Program& program, std::int64_t u, int v, bool vectors) const {
  const auto& order = schedule_.stage->mapping;
  // position in the read order of the element that this lane writes
  std::vector<std::string> terms;
  std::int64_t below = 1;
  for (const auto& digit : order.digits) {
    const auto q = static_cast<std::size_t>(digit.index);
    const auto& name = program.indices[q].name;
    auto value = name;
    if (v > 0 && digit.index == schedule_.mapping.digits[0].index) value = fmt::format("({} + {})", name, v);
    if (digit.step > 1) value += fmt::format(" / {}", digit.step);
    if (digit.step * digit.count < schedule_.tile[q]) value += fmt::format(" % {}", digit.count);
    if (digit.count > 1) terms.push_back(below == 1 ? value : fmt::format("{} * ({})", below, value));
    below *= digit.count;
  }
  w.open("{{");
  w.line("const int p = {};", terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + ")));
  const auto sources = this->sources(u, v);
  const auto lane_text = order.vector == 1 ? "p % 32" : fmt::format("p / {} % 32", order.vector);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto [round, element] = sources[s];
    const auto held = vectors ? fmt::format("kept[{}].at[{}]", round, element) : fmt::format("kept[{}]", round);
    if (s == 0) {
      w.line("in[{}] = shuffle({}, {});", v, held, lane_text);
      continue;
    }
    std::vector<std::string> conditions;
    if (order.rounds() > 1) conditions.push_back(fmt::format("p / {} == {}", 32 * order.vector, round));
    if (order.vector > 1) conditions.push_back(fmt::format("p % {} == {}", order.vector, element));
    const auto type = c_type(program.nodes[static_cast<std::size_t>(schedule_.stage->load)].type);
    w.line("const {} other{} = shuffle({}, {});", type, s, held, lane_text);
    w.line("if ({}) in[{}] = other{};", fmt::join(conditions, " && "), v, s);
  }
  w.close();
}

}  // namespace ricci::codegen
