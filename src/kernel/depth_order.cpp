#include "kernel/depth_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

std::int64_t reach(const Mode& mode) { return std::int64_t{mode.stride} * mode.extent; }
std::int64_t block_of(const Side& depth) { return std::int64_t{depth.block()} * depth.lanes; }

}  // namespace

Layout depth_order(const Kernel& kernel, const Access& access, const std::vector<Digit>& digits) {
  Layout order;
  std::int64_t below = 1;
  for (std::size_t k = digits.size(); k-- > 0; below *= digits[k].extent) {
    if (digits[k].extent == 1) continue;
    const auto step = access.index.front().coefficient(digits[k].var);
    if (step <= 0)
      throw PlanError(fmt::format("schedule: {} does not move {}",
                                  kernel.vars[static_cast<std::size_t>(digits[k].var)].name,
                                  kernel.array(access.array).name));
    auto& last = order.modes.front();  // of the largest stride
    if (order.count > 0 && std::int64_t{last.step} * last.extent == step) {
      last.extent *= static_cast<std::int32_t>(digits[k].extent);
    } else {
      order.add(LayoutAxis::memory, digits[k].extent, 0, step, below);
    }
  }
  order.shape = {below, 1, 1};
  return order;
}

bool ends_with_lanes(const Layout& order, const Side& depth) {
  const auto nests = [](std::int64_t x, std::int64_t y) { return x % y == 0 || y % x == 0; };
  const auto modes = order.all();
  return std::all_of(modes.begin(), modes.end(), [&](const Mode& mode) {
    for (const auto end : {std::int64_t{depth.run}, std::int64_t{depth.run} * depth.lanes, block_of(depth)}) {
      if (!nests(mode.stride, end) || !nests(reach(mode), end)) return false;
    }
    return true;
  });
}

Affine block_place(const Layout& order, const Side& depth,
                   const std::function<Affine(std::int64_t divisor, std::int64_t modulus)>& digit) {
  const auto block = block_of(depth);
  Affine place;
  for (const auto& mode : order.all()) {
    if (reach(mode) <= block) continue;  // within each block
    const auto blocks = std::max(mode.stride / block, std::int64_t{1}), values = blocks * block / mode.stride;
    place = place + values * mode.step * digit(blocks, reach(mode) / (blocks * block));
  }
  return place;
}

}  // namespace ricci::kernel
