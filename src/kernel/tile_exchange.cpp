#include "kernel/tile_exchange.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <span>
#include <utility>

namespace ricci::kernel {
namespace {

/// What moves an element's number by how much.
using Strides = std::map<Var, std::int64_t>;

/// Who holds which number of an element.
Layout numbered(const PassedTile& tile, const Strides& strides) {
  const auto order = [&](const std::vector<Digit>& digits) {
    Layout made;
    for (const auto& digit : digits | std::views::reverse) {
      const auto found = strides.find(digit.var);
      made.add(LayoutAxis::memory, digit.extent, 0, found == strides.end() ? 0 : found->second);
    }
    return made;
  };
  auto held = composed(composed(tile.tile.c(), 0, order(tile.rows)), 1, order(tile.columns));
  held.shape = {1, 1, 1};
  for (auto& mode : std::span(held.modes).first(held.count)) {
    mode.along = 0;  // the number is the sum of what both sides say
    held.shape[0] += std::int64_t{mode.extent - 1} * mode.step;
  }
  return held;
}

std::vector<Digit> digits_of(const PassedTile& tile) {
  std::vector<Digit> digits;
  for (const auto* side : {&tile.rows, &tile.columns}) {
    for (const auto& digit : *side) {
      if (digit.extent > 1) digits.push_back(digit);
    }
  }
  return digits;
}

/// Whether a digit moves on any of these axes.
bool moves_on(const PassedTile& tile, Var digit, std::initializer_list<LayoutAxis> axes) {
  const auto layout = numbered(tile, {{digit, 1}});
  return std::ranges::any_of(layout.all(), [&](const Mode& mode) {
    return mode.step != 0 && std::ranges::find(axes, mode.axis) != axes.end();
  });
}

}  // namespace

std::optional<std::vector<std::int64_t>> renamed_registers(const PassedTile& from, const PassedTile& to) {
  Strides strides;
  std::int64_t count = 1;
  for (const auto& digit : digits_of(from)) {
    strides[digit.var] = count;
    count *= digit.extent;
  }
  const Layout before = numbered(from, strides), now = numbered(to, strides);
  const auto changed = exchange({&now, 1}, {&before, 1});
  if (changed.by != Exchange::By::registers) return std::nullopt;
  std::vector<std::int64_t> source;
  for (std::int64_t reg = 0; reg < changed.registers; ++reg) {
    const auto found = changed.registers_for(reg);
    if (found.size() != 1) return std::nullopt;
    source.push_back(found.front());
  }
  return source;
}

std::optional<std::vector<RegisterDigit>> common_digits(const std::vector<std::int64_t>& to,
                                                        const std::vector<std::int64_t>& from,
                                                        const std::vector<std::int64_t>& source) {
  const auto index_of = [](const std::vector<std::int64_t>& shape, std::int64_t number) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t k = shape.size(); k-- > 0; number /= shape[k]) index[k] = number % shape[k];
    return index;
  };
  const auto first = index_of(from, source.front());
  std::vector<RegisterDigit> digits;
  std::vector<std::int64_t> below;  // registers of `to` that a digit moves by
  std::int64_t unit = 1;
  for (std::size_t k = to.size(); k-- > 0;) {
    for (std::int64_t left = to[k], step = 1; left > 1;) {
      std::int64_t prime = 2;
      while (left % prime != 0) ++prime;
      RegisterDigit digit{prime, std::vector<std::int64_t>(to.size()),
                          index_of(from, source[static_cast<std::size_t>(unit * step)])};
      digit.to[k] = step;
      for (std::size_t d = 0; d < first.size(); ++d) digit.from[d] -= first[d];
      // The digit before goes on where both move on alike.
      const auto goes_on = [&](const RegisterDigit& last) {
        for (std::size_t d = 0; d < to.size(); ++d) {
          if (digit.to[d] != last.extent * last.to[d]) return false;
        }
        for (std::size_t d = 0; d < first.size(); ++d) {
          if (digit.from[d] != last.extent * last.from[d]) return false;
        }
        return true;
      };
      if (step > 1 && goes_on(digits.back())) {
        digits.back().extent *= prime;
      } else {
        digits.push_back(std::move(digit));
        below.push_back(unit * step);
      }
      left /= prime;
      step *= prime;
    }
    unit *= to[k];
  }
  for (std::size_t r = 0; r < source.size(); ++r) {
    auto index = first;
    for (std::size_t d = 0; d < digits.size(); ++d) {
      const auto value = static_cast<std::int64_t>(r) / below[d] % digits[d].extent;
      for (std::size_t k = 0; k < index.size(); ++k) index[k] += value * digits[d].from[k];
    }
    if (index != index_of(from, source[r])) return std::nullopt;
  }
  return digits;
}

ExchangePlan exchange_plan(const PassedTile& from, const PassedTile& to, DType type) {
  constexpr std::int64_t kMostBytes = 16384;  // beside a pipeline's places
  const std::int64_t size = size_of(type);
  auto digits = digits_of(from);
  const auto on_lanes = [&](const Digit& digit) {
    return moves_on(from, digit.var, {LayoutAxis::lane}) || moves_on(to, digit.var, {LayoutAxis::lane});
  };
  const auto kept = [&](const Digit& digit) {
    return !moves_on(from, digit.var, {LayoutAxis::lane, LayoutAxis::warp}) &&
           !moves_on(to, digit.var, {LayoutAxis::lane, LayoutAxis::warp});
  };
  // Lanes' digits lie close together, what stays in a lane apart or, of tiles too large, in parts of its own.
  const auto lanes = std::stable_partition(digits.begin(), digits.end(), on_lanes);
  std::stable_partition(lanes, digits.end(), [&](const Digit& digit) { return !kept(digit); });
  std::int64_t elements = 1;
  for (const auto& digit : digits) elements *= digit.extent;
  ExchangePlan best;
  Strides part;
  for (auto left = elements;
       left * size > kMostBytes && !digits.empty() && kept(digits.back()) && digits.end() != lanes; digits.pop_back()) {
    part[digits.back().var] = best.parts;
    best.parts *= digits.back().extent;
    left /= digits.back().extent;
  }
  best.from_part = numbered(from, part);
  best.to_part = numbered(to, part);
  best.registers = best.from_part.size(LayoutAxis::reg);
  const auto before = [](const Digit& x, const Digit& y) { return x.var < y.var; };
  std::sort(digits.begin(), lanes, before);
  std::int64_t fewest = -1;
  do {
    for (std::int64_t padding = 0; padding < kBanks / 2; ++padding) {
      Strides strides;
      std::int64_t room = 1;
      for (std::size_t k = 0; k < digits.size(); ++k) {
        strides[digits[k].var] = room;
        room = room * digits[k].extent + (k == 1 ? padding : 0);
      }
      const auto write = numbered(from, strides), read = numbered(to, strides);
      std::int64_t count = 0;
      Layout memory;
      memory.add(LayoutAxis::memory, room, 0, 1);
      for (const auto* held : {&write, &read}) count += wavefronts(held->lanes(), memory, size, size);
      if (fewest >= 0 && count >= fewest) continue;
      fewest = count;
      best.from = write;
      best.to = read;
      best.elements = room;
    }
  } while (std::next_permutation(digits.begin(), lanes, before));
  return best;
}

}  // namespace ricci::kernel
