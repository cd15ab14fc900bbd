// Operands that are staged by tensor maps: which indices are dimensions, and how a tile is made of boxes.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/builder.hpp"
#include "kernel/warp_group.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::int64_t kMostBoxes = 16;  ///< of a stage: each is an instruction of its own

/// value / divisor, where all of its coefficients are multiples.
Affine quotient(const Affine& value, std::int64_t divisor) {
  Affine result(value.constant / divisor);
  for (const auto& term : value.terms) result = result + Affine::of(term.var, term.coefficient / divisor);
  return result;
}

/// A dimension of a map, the index that it is of, and the digit that a box has of it; -1: none.
struct MapSide {
  TensorMap::Dimension dimension;
  Affine at;
  int index = -1;
  Var digit = -1;
};

}  // namespace

void Builder::by_map(Copy& copy, const ir::Affine& offset) {
  const auto& to = kernel_.array(copy.to.array);
  const auto& from = kernel_.array(copy.from.array);
  if (kernel_.target != Target::cuda) fail("tensor maps are for a GPU");
  if (to.type != from.type || copy.rounded || copy.tf32) fail("a tensor map copies elements as they are");
  const auto size = size_of(to.type);
  if (from.alignment % kMapUnit != 0)
    fail(fmt::format("{} begins at a multiple of {} bytes, and tensor maps need {}", from.name, from.alignment,
                     kMapUnit));
  const auto step_of = [&](Var var) {
    for (const auto& level : axis(index_of(var)).levels) {
      if (level.var == var) return level.step;
    }
    return std::int64_t{0};
  };
  const auto side_of = [&](int q) {
    return MapSide{{extent(q), offset.coefficient[static_cast<std::size_t>(q)], 1}, axis(q).value, q};
  };

  // In the order in which the tile lies in shared memory, as far as boxes do.
  auto digits = copy.digits;
  std::erase_if(digits, [](const Digit& digit) { return digit.extent == 1; });
  const auto place = [&](const Digit& digit) { return copy.to.index.front().coefficient(digit.var); };
  std::sort(digits.begin(), digits.end(), [&](const auto& x, const auto& y) { return place(x) < place(y); });
  std::vector<MapSide> sides;
  Boxes boxes;
  std::int64_t reached = 1, count = 1, padding = 0;
  for (const auto& digit : digits) {
    const auto q = index_of(digit.var);
    if (is_joined(q)) fail(fmt::format("{} is made of several indices, which no tensor map knows", axis(q).name));
    const bool known = std::any_of(sides.begin(), sides.end(), [&](const MapSide& side) { return side.index == q; });
    // What parts rows is read into a row's end.
    if (sides.size() == 1 && boxes.apart.empty() && place(digit) > reached) {
      padding = place(digit) - reached;
      sides.front().dimension.box += padding;
      reached = place(digit);
    }
    if (known || step_of(digit.var) != 1 || place(digit) != reached) {
      boxes.apart.push_back(digit.var);
      count *= digit.extent;
      continue;
    }
    auto side = side_of(q);
    side.dimension.box = digit.extent;
    side.digit = digit.var;
    sides.push_back(std::move(side));
    reached *= digit.extent;
  }
  if (count > kMostBoxes) fail(fmt::format("a tile of {} boxes, and at most {} are copied", count, kMostBoxes));
  for (const auto var : boxes.apart) {
    const auto bytes = copy.to.index.front().coefficient(var) * size;
    if (bytes % kBoxUnit != 0)
      fail(fmt::format("boxes along {} are {} bytes apart, no multiple of {}", var_name(var), bytes, kBoxUnit));
  }
  if (sides.empty() || sides.front().dimension.stride != 1)
    fail(fmt::format("neighbours of {} in memory are none in the tile", from.name));
  // A row's own elements are a dimension, outside of which what parts rows is 0 and not read.
  std::vector<MapSide> others;
  auto& row = sides.front();
  const auto within = row.dimension.box - padding;
  if (padding > 0 && row.dimension.extent > within && row.dimension.extent % within == 0) {
    const auto start = row.at - Affine::of(row.digit);
    others.push_back({{row.dimension.extent / within, within, 1}, quotient(start, within)});
    row.dimension.extent = within;
    row.at = Affine::of(row.digit);
  }
  for (std::size_t q = 0; q < axes_.size(); ++q) {
    const auto number = static_cast<int>(q);
    const bool known =
        std::any_of(sides.begin(), sides.end(), [&](const MapSide& side) { return side.index == number; });
    if (known || is_joined(number) || axes_[q].extent == 1 || !moves(number, offset)) continue;
    if (axes_[q].levels.empty()) fail(fmt::format("{} is a part of what is joined", axes_[q].name));
    others.push_back(side_of(number));
  }
  std::sort(others.begin(), others.end(),
            [](const MapSide& x, const MapSide& y) { return x.dimension.stride < y.dimension.stride; });
  sides.insert(sides.end(), others.begin(), others.end());

  TensorMap map;
  map.name = fmt::format("{}_map", to.name);
  map.array = copy.from.array;
  map.type = to.type;
  map.origin = to.origin;
  map.first = offset.constant;
  if (to.swizzle.mask != 0) map.row_bytes = row_of(to) * size;
  for (auto& side : sides) {
    map.dimensions.push_back(side.dimension);
    boxes.at.push_back(std::move(side.at));
  }
  if (auto rule = fault(map); !rule.empty()) fail(rule);
  boxes.map = static_cast<int>(kernel_.maps.size());
  kernel_.maps.push_back(std::move(map));
  copy.boxes = std::move(boxes);
}

}  // namespace ricci::kernel
