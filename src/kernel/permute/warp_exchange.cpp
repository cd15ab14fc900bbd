#include "kernel/permute/warp_exchange.hpp"

#include <string>

#include "kernel/expand.hpp"

namespace ricci::kernel {

WarpExchange::WarpExchange(const Tile& tile, int kept)
    : tile_(tile), reads_(tile.moves.stage->mapping), kept_(kept), exchange_(exchange_of(tile.moves)) {}

WarpExchange::Sources WarpExchange::sources(std::int64_t round, int element) const {
  Sources sources;
  for (const auto reg : exchange_.registers_for(round * tile_.moves.mapping.vector + element))
    sources.emplace_back(reg / reads_.vector, reg % reads_.vector);
  return sources;
}

WarpExchange::Sources WarpExchange::regular(const Affine& u, const Affine& v) const {
  const auto& writes = tile_.moves.mapping;
  const auto rounds = writes.rounds();
  const auto first = sources(0, 0);
  auto made = first;
  if (!shuffles() && first.size() == 1) {
    const auto at_round = rounds > 1 ? sources(1, 0) : first, at_next = writes.vector > 1 ? sources(0, 1) : first;
    const auto by = [&](Affine Source::* part) {
      const auto step = [&](const Sources& to) { return (to.front().*part - first.front().*part).constant; };
      return first.front().*part + step(at_round) * u + step(at_next) * v;
    };
    made.front() = {by(&Source::first), by(&Source::second)};
  }
  const auto at = [&](Affine value, std::int64_t round, int element) {
    if (!u.is_constant()) value = value.with(u.terms.front().var, round);
    return v.is_constant() ? value : value.with(v.terms.front().var, element);
  };
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (int element = 0; element < writes.vector; ++element) {
      auto there = made;
      for (auto& [reading, part] : there) reading = at(reading, round, element), part = at(part, round, element);
      if (sources(round, element) != there) return {};
    }
  }
  return made;
}

Affine WarpExchange::position(Body& names, const MappedTile& writes, const Affine& v) {
  Affine sum;
  std::int64_t below = 1;
  for (const auto& digit : reads_.digits) {
    const bool along = digit.index == writes.mapping().digits.front().index;
    const auto value = along ? writes.inner(digit.index) + v : writes.inner(digit.index);
    const bool whole = digit.step * digit.count >= tile_.extent(digit.index);
    if (digit.count > 1)
      sum = sum + below * quotient(tile_.kernel, names, "digit", value, digit.step, whole ? 0 : digit.count);
    below *= digit.count;
  }
  return sum;
}

Value WarpExchange::kept(const Source& source, const std::optional<Affine>& lane) const {
  const auto& array = tile_.kernel.array(kept_);
  Access access{kept_, {}, array.lanes};
  if (!array.shape.empty()) access.index.emplace_back(source.first);
  if (array.lanes > 1) access.lane = source.second;
  auto value = load_of(array.type, std::move(access));
  if (!lane) return value;
  Value shuffle;
  shuffle.kind = Value::Kind::shuffle;
  shuffle.type = array.type;
  shuffle.affine = *lane;
  shuffle.operands.push_back(std::move(value));
  return shuffle;
}

Body WarpExchange::exchanged(const MappedTile& writes, const Affine& v, const Sources& sources, const Access& to) {
  if (!shuffles() && sources.size() == 1) return {{Store{to, kept(sources.front(), {})}}};
  Body body;
  auto& kernel = tile_.kernel;
  const auto p = named(kernel, body, kernel.add_var(tile_.fresh("p"), 1), position(body, writes, v));
  std::optional<Affine> lane;
  if (shuffles()) lane = quotient(kernel, body, "lane", p, reads_.vector, kWarp);
  body.push_back({Store{to, kept(sources.front(), lane)}});
  if (sources.size() == 1) return body;
  const auto is = [](const Affine& value, const Affine& number, std::vector<Condition>& when) {
    when.push_back({value, number.constant + 1});
    when.push_back({-1 * value, 1 - number.constant});
  };
  Affine round, element;
  const auto all = std::int64_t{reads_.workers} * reads_.vector;
  if (reads_.rounds() > 1) round = quotient(kernel, body, "round", p, all, 0);
  if (reads_.vector > 1) element = quotient(kernel, body, "element", p, 1, reads_.vector);
  for (std::size_t s = 1; s < sources.size(); ++s) {
    const auto& array = kernel.array(kept_);
    Array other;
    other.name = tile_.fresh("other" + std::to_string(s));
    other.type = array.type;
    other.space = Space::registers;
    const auto number = kernel.add_array(std::move(other));
    body.push_back({Define{number, kept(sources[s], lane)}});
    If branch;
    if (reads_.rounds() > 1) is(round, sources[s].first, branch.when);
    if (reads_.vector > 1) is(element, sources[s].second, branch.when);
    branch.then.push_back({Store{to, load_of(kernel.array(number).type, {number, {}})}});
    body.push_back({std::move(branch)});
  }
  return body;
}

}  // namespace ricci::kernel
