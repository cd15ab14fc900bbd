#include "plan/enumerate/contraction_blocks.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>

namespace ricci::plan::gett {

namespace {
constexpr std::size_t kCovered = 3;  ///< axes that a tile covers with more than one value, at most
}  // namespace

void cover(Axes& axes, std::int64_t most) {
  if (axes.size() > kCovered) {  // the longest ones alone
    std::vector<std::size_t> order(axes.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return axes[x].extent > axes[y].extent; });
    Axes few{axes[order[0]], axes[order[1]], axes[order[2]]};
    cover(few, most);
    for (auto& axis : axes) axis.tile = 1;
    for (std::size_t k = 0; k < few.size(); ++k) axes[order[k]].tile = few[k].tile;
    return;
  }
  double best = 0;
  std::array<std::int64_t, kCovered> chosen = {1, 1, 1}, now = {1, 1, 1};
  const auto search = [&](const auto& self, std::size_t k, std::int64_t room, double used) -> void {
    if (k == axes.size()) {
      double points = 1;
      for (const auto t : now) points *= static_cast<double>(t);
      const double score = used * points / (points + 2);
      if (score > best * 1.001) {
        best = score;
        chosen = now;
      }
      return;
    }
    for (std::int64_t t = 1; t <= std::min(room, axes[k].extent); ++t) {
      now[k] = t;
      const auto e = axes[k].extent;
      self(self, k + 1, room / t, used * static_cast<double>(e) / static_cast<double>(up(e, t)));
    }
    now[k] = 1;
  };
  search(search, 0, most, 1);
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k].tile = chosen[k];
}

bool tile_lanes_of_both(Blocking& b, std::int64_t columns, std::int64_t most_rows) {
  auto lane = b.columns.back();
  lane.tile = b.lanes;
  b.columns.pop_back();
  cover(b.columns, columns);
  cover(b.rows, most_rows);
  const auto fits = [](const Axes& axes) {
    return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  };
  const bool whole = lane.extent % lane.tile == 0;
  const bool reads_columns = b.pack_columns || (lane.in_columns == 1 && whole && fits(b.columns));
  const bool reads_rows = b.rows.empty() && b.pack_rows ? false
                          : b.pack_rows                 ? true
                                                        : lane.in_rows == 1 && whole && fits(b.rows);
  b.columns.push_back(lane);
  return reads_columns && reads_rows;
}

bool tile_across(Blocking& b, std::int64_t vectors, std::int64_t most_rows, const std::function<void()>& cover_rows) {
  // Of neighbours in the result whole vectors, where that many divide them; read in place what divides them, in any
  // case.
  const auto even = [&](std::int64_t extent, std::int64_t most, bool packed) {
    for (auto whole = most / b.lanes * b.lanes; whole > 0; whole -= b.lanes) {
      if (extent % whole == 0) return whole;
    }
    auto tile = parts(extent, parts(extent, std::min(extent, most)));
    while (!packed && extent % tile != 0) --tile;
    return tile;
  };
  const auto fastest_of = [](Axes& axes) {
    return std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.in_result == 1; });
  };
  if (b.rows.empty()) return false;
  auto& lane = b.columns.back();
  if (const auto fastest = fastest_of(b.columns); fastest != b.columns.end()) {
    fastest->tile = even(fastest->extent, vectors, b.pack_columns);
    vectors /= fastest->tile;
    cover_rows();
  } else if (const auto row = fastest_of(b.rows); row != b.rows.end()) {
    const auto tile = even(row->extent, most_rows, b.pack_rows);
    Axes others;
    std::copy_if(b.rows.begin(), b.rows.end(), std::back_inserter(others),
                 [](const Axis& a) { return a.in_result != 1; });
    cover(others, most_rows / tile);
    for (auto& axis : b.rows) {
      const auto same =
          std::find_if(others.begin(), others.end(), [&](const Axis& a) { return a.index == axis.index; });
      axis.tile = same == others.end() ? tile : same->tile;
    }
  } else {
    return false;
  }
  lane.tile = std::min(vectors * b.lanes, up(lane.extent, b.lanes));
  const auto fits = [](const Axes& axes) {
    return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent % axis.tile == 0; });
  };
  return (b.pack_columns || fits(b.columns)) && (b.pack_rows || fits(b.rows));
}

void divide(Axes& axes, std::int64_t most) {
  for (auto& axis : axes) axis.tile = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const auto room = most / product(axes, tile_of);
    for (auto t = std::min(room, axes[k].task); t > 1; --t) {
      if (axes[k].task % t != 0 || axes[k].extent % t != 0) continue;
      axes[k].tile = t;
      break;
    }
  }
}

void grow(Axes& axes, std::int64_t room, std::int64_t line, std::int64_t Axis::* stride) {
  // By rising strides, of equal ones in their order.
  const auto before = [&](const Axis& x, const Axis& y) { return std::pair(x.*stride, &x) < std::pair(y.*stride, &y); };
  const auto next_of = [&](const Axis* last) {
    Axis* next = nullptr;
    for (auto& axis : axes) {
      if ((last == nullptr || before(*last, axis)) && (next == nullptr || before(axis, *next))) next = &axis;
    }
    return next;
  };
  for (auto& axis : axes) axis.block = axis.tile;
  Axis* const first = next_of(nullptr);
  for (auto* axis = first; axis != nullptr; axis = next_of(axis)) {
    const auto now = product(axes, block_of);
    auto times = std::clamp<std::int64_t>(room / now, 1, parts(axis->extent, axis->tile));
    const auto tiles = parts(axis->extent, axis->tile);
    auto even = parts(tiles, parts(tiles, times));  // blocks of equal size
    // Of what is read along this axis whole lines, as far as there is room.
    const auto unit = std::max<std::int64_t>(line / axis->tile, 1);
    if (axis == first && axis->extent % line == 0 && 2 * times > unit)
      even = std::max(up(even, unit) <= times ? up(even, unit) : times / unit * unit, unit);
    axis->block = axis->tile * std::min(even, tiles);
  }
}

void grow_along_result(Axes& axes, std::int64_t room, std::int64_t line) {
  for (auto& axis : axes) {
    const auto lines = axis.in_columns == 1 ? parts(line, axis.tile) : 1;
    axis.block = axis.tile * std::min(lines, parts(axis.extent, axis.tile));
  }
  for (std::size_t k = axes.size(); k-- > 0;) {
    auto& axis = axes[k];
    const auto others = product(axes, block_of) / axis.block, tiles = parts(axis.extent, axis.tile);
    const auto times = std::clamp<std::int64_t>(room / others / axis.tile, axis.block / axis.tile, tiles);
    axis.block = std::max(axis.block, axis.tile * parts(tiles, parts(tiles, times)));
  }
}

void sort_depth(Axes& depth, std::int64_t rows_elements, std::int64_t columns_elements) {
  constexpr std::int64_t kFarLarger = 8;  // what the smaller operand's short runs cost is then small beside the other's
  for (auto& axis : depth) {
    axis.step = rows_elements >= kFarLarger * columns_elements   ? axis.in_rows
                : columns_elements >= kFarLarger * rows_elements ? axis.in_columns
                                                                 : std::min(axis.in_rows, axis.in_columns);
  }
  std::stable_sort(depth.begin(), depth.end(), [](const Axis& x, const Axis& y) { return x.step > y.step; });
}

void cut_depth(Axes& depth, std::int64_t most, std::int64_t size, bool exact) {
  for (auto& axis : depth) axis.tile = axis.extent;
  if (product(depth, extent_of) <= 2 * most) return;
  const auto divisor = [&](std::int64_t extent, std::int64_t near) {
    if (exact && extent <= near * 2 && extent % near != 0) return extent;
    for (auto step = near; step > (exact ? 1 : near / 2); --step) {
      if (extent % step == 0) return step;
    }
    return exact ? std::int64_t{1} : near;
  };
  for (auto& axis : depth) {
    const bool contiguous = axis.step == 1;
    const auto line = 64 / size;
    axis.tile = !contiguous               ? 1
                : axis.extent % line == 0 ? line * (axis.extent % (2 * line) == 0 ? 2 : 1)
                                          : divisor(axis.extent, std::min<std::int64_t>(axis.extent, 2 * line));
  }
  for (std::size_t k = depth.size(); k-- > 0;) {
    auto& axis = depth[k];
    const auto others = product(depth, tile_of) / axis.tile;
    // A few terms more than `most` where they end an axis; more of them where it has no divisor.
    const auto room = std::clamp<std::int64_t>((most + most / 8) / others, axis.tile, axis.extent);
    if (room <= axis.tile) continue;
    const auto near = parts(axis.extent, parts(axis.extent, std::max(most / others, axis.tile)));
    const auto part = room == axis.extent ? room : divisor(axis.extent, near);
    axis.tile = part == 1 && axis.extent <= 4 * near ? axis.extent : std::max(part, axis.tile);
  }
}

std::int64_t even_share(std::int64_t parts, std::int64_t most, std::int64_t others, std::int64_t threads) {
  constexpr std::int64_t kMany = 32;  // tasks for each thread, of which one more or less is little
  if (most >= parts || others % threads == 0) return most;
  std::int64_t best = most, least = std::numeric_limits<std::int64_t>::max();
  for (auto share = most; 2 * share > most; --share) {
    const auto whole = (parts - 1) / share, rest = parts - whole * share;
    if (whole * others > kMany * threads) break;
    // Whole shares one after the other, and the last ones where threads have fewer of these.
    const auto rounds = gett::parts(whole * others, threads), room = rounds * threads - whole * others;
    const auto busy = rounds * share + gett::parts(std::max<std::int64_t>(others - room, 0), threads) * rest;
    if (busy >= least) continue;
    least = busy;
    best = share;
  }
  return best;
}

void cut(Axes& axes, std::int64_t count, std::int64_t others, std::int64_t threads) {
  for (auto& axis : axes) {
    const auto blocks = parts(axis.extent, axis.block);
    const auto n = std::clamp<std::int64_t>(count, 1, blocks);
    axis.task = axis.block * even_share(blocks, parts(blocks, n), others, threads);
    const auto tasks = parts(axis.extent, axis.task);
    count = parts(count, tasks);
    others *= tasks;
  }
}

}  // namespace ricci::plan::gett
