#include "kernel/permute/warp_exchange.hpp"

#include <array>
#include <string>

#include "kernel/expand.hpp"

namespace ricci::kernel {
namespace {

/// Points of a tile in the order of a mapping, and how that is dealt out: vectors round-robin to a warp's lanes.
std::array<Layout, 2> layouts(const std::vector<std::int64_t>& tile, const ThreadMapping& mapping) {
  Layout dealt{.shape = {mapping.positions() * mapping.vector, 1, 1}}, order;
  dealt.add(LayoutAxis::reg, mapping.vector, 0, 1)
      .add(LayoutAxis::lane, kWarp, 0, mapping.vector)
      .add(LayoutAxis::reg, mapping.rounds(), 0, std::int64_t{kWarp} * mapping.vector);
  for (const auto& digit : mapping.digits) {
    std::int64_t weight = digit.step;  // of the digit in a point's number
    for (int q = 0; q < digit.index; ++q) weight *= tile[static_cast<std::size_t>(q)];
    order.add(LayoutAxis::memory, digit.count, 0, weight);
  }
  return {dealt, order};
}

}  // namespace

WarpExchange::WarpExchange(const Tile& tile, int kept) : tile_(tile), reads_(tile.moves.stage->mapping), kept_(kept) {}

Exchange WarpExchange::exchange_of() const {
  return exchange(layouts(tile_.moves.tile, tile_.moves.mapping), layouts(tile_.moves.tile, reads_));
}

WarpExchange::Sources WarpExchange::sources(std::int64_t round, int element) const {
  Sources sources;
  for (const auto reg : exchange_.registers_for(round * tile_.moves.mapping.vector + element))
    sources.emplace_back(reg / reads_.vector, reg % reads_.vector);
  return sources;
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

Value WarpExchange::kept(const std::pair<std::int64_t, std::int64_t>& source, const Affine& lane) const {
  const auto& array = tile_.kernel.array(kept_);
  Access access{kept_, {}, array.lanes};
  if (!array.shape.empty()) access.index.emplace_back(source.first);
  if (array.lanes > 1) access.lane = Affine(source.second);
  Value shuffle;
  shuffle.kind = Value::Kind::shuffle;
  shuffle.type = array.type;
  shuffle.affine = lane;
  shuffle.operands.push_back(load_of(array.type, std::move(access)));
  return shuffle;
}

Body WarpExchange::exchanged(const MappedTile& writes, const Affine& v, const Sources& sources, const Access& to) {
  Body body;
  auto& kernel = tile_.kernel;
  const auto p = named(kernel, body, kernel.add_var(tile_.fresh("p"), 1), position(body, writes, v));
  const auto lane = quotient(kernel, body, "lane", p, reads_.vector, kWarp);
  body.push_back({Store{to, kept(sources.front(), lane)}});
  if (sources.size() == 1) return body;
  const auto is = [](const Affine& value, std::int64_t number, std::vector<Condition>& when) {
    when.push_back({value, number + 1});
    when.push_back({-1 * value, 1 - number});
  };
  Affine round, element;
  if (reads_.rounds() > 1) round = quotient(kernel, body, "round", p, std::int64_t{kWarp} * reads_.vector, 0);
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
