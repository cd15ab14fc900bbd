#include "plan/enumerate/round_copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace ricci::plan {
namespace {

constexpr std::int64_t kPastFirstCache = 16;  // bytes of an asynchronous copy that passes by that cache

/// Where a round ends within rows of memory, what the rest of them is fetched with, and when that is copied.
void set_fetched(Copies& copies, const GpuContraction& c, bool of_rows, const tiles::Tile& chunk) {
  constexpr std::int64_t kFetched = 2 * kSectorBytes;  // by the second cache at once
  const auto run = static_cast<std::int64_t>(copies.run_bytes);
  if (run >= kCacheLineBytes || chunk.joined > 0) return;
  double rounds = 1;  // of the loops inside of an axis: those of one round are outside
  for (auto place = chunk.order.size(); place-- > 0;) {
    const auto k = chunk.order[place];
    const auto& axis = c.depth_axes[k];
    const auto n = tiles::parts(axis.extent, chunk.sizes[k]);
    if (std::abs(of_rows ? axis.in_operand : axis.in_other) == 1) {
      if (n == 1) return;
      const auto whole = tiles::up(run, kFetched) + (run % kFetched == 0 ? 0 : kFetched / 2);
      copies.fetched_bytes =
          copies.elements * static_cast<double>(c.element_bytes(of_rows) * (whole - run)) / static_cast<double>(run);
      copies.rounds_apart = rounds;
      return;
    }
    rounds *= static_cast<double>(n);
  }
}

}  // namespace

RoundCopies::RoundCopies(const GpuContraction& c, bool of_rows)
    : contraction_(c),
      of_rows_(of_rows),
      padding_(std::max<std::int64_t>(16 / c.size, 1)),
      line_(std::max<std::int64_t>(kCacheLineBytes / c.element_bytes(of_rows), 1)),
      order_(axes(), false, c.depth_axes, !of_rows,
             c.products > 1 ? std::optional(tiles::MemoryOrder::Beside{std::abs(c.in_operand(of_rows)), c.products,
                                                                       c.batch_axes[c.products_axis].extent})
                            : std::nullopt),
      most_at_once_(c.by_lanes() ? c.products_at_once(of_rows) : 1) {
  along_depth_ = std::any_of(c.depth_axes.begin(), c.depth_axes.end(),
                             [&](const tiles::Axis& axis) { return std::abs(in_depth(axis)) == 1; });
  const bool deep = c.deep(of_rows);
  const auto& fastest = deep ? c.depth_axes : axes();
  for (std::size_t k = 0; k < fastest.size() && !c.by_lanes(); ++k) {
    if ((deep ? in_depth(fastest[k]) : fastest[k].in_operand) != 1) continue;
    fastest_ = k;
    most_at_once_ = c.copied_at_once(of_rows, fastest[k]);
  }
}

const tiles::Axes& RoundCopies::axes() const { return of_rows_ ? contraction_.row_axes : contraction_.column_axes; }

std::int64_t RoundCopies::in_depth(const tiles::Axis& axis) const { return of_rows_ ? axis.in_operand : axis.in_other; }

tiles::LieOfTwo RoundCopies::lie_of(const tiles::Tile& side, const tiles::Tile& chunk) const {
  const auto& c = contraction_;
  const bool deep = c.deep(of_rows_);
  // Rows of shared memory are a side's or the depth's, with some padding, of products side by side where lanes are.
  const auto apart = c.by_lanes() ? c.products : 1;
  const auto row = (deep ? chunk.size : side.size) * apart + padding_;
  return order_.of(side, deep ? row : apart, chunk, deep ? apart : row,
                   apart > 1 ? 1 : row * (deep ? side.size : chunk.size));
}

std::int64_t RoundCopies::at_once(const tiles::Tile& side, const tiles::Tile& chunk) const {
  const auto& c = contraction_;
  if (c.by_lanes()) return most_at_once_;
  const bool deep = c.deep(of_rows_);
  const auto& tile = deep ? chunk : side;
  if (tile.order.empty() || tile.order.back() != fastest_) return 1;
  const auto begins = tile.step_of(deep ? c.depth_axes : axes(), fastest_);
  return std::min(most_at_once_, begins & -begins);
}

CopiedPlace RoundCopies::place(const tiles::Tile& side, const tiles::Tile& chunk) const {
  const auto turned = chunk.crossed ? std::optional(chunk.lying(of_rows_)) : std::nullopt;
  const auto& lying = turned ? *turned : chunk;
  const auto [lie, of] = lie_of(side, lying);
  const bool deep = contraction_.deep(of_rows_);
  return {lie, at_once(side, lying), deep && !of[0], !deep && !of[1]};
}

std::int64_t RoundCopies::alignment_of(const tiles::Tile& side, const tiles::Tile& chunk, std::int64_t run) const {
  const auto& c = contraction_;
  std::int64_t steps = 0;  // all of them, in elements, whose lowest bit is that of each
  const auto add = [&](std::int64_t stride, std::int64_t extent, auto step) {
    if (extent == 1) return;
    if (std::abs(stride) >= run)
      steps |= stride;
    else if (const auto size = step(); size < extent)
      steps |= size * stride;
  };
  const auto is_odd = [&] { return (steps & 1) != 0; };  // no more tells anything else
  for (std::size_t k = 0; k < axes().size() && !is_odd(); ++k)
    add(axes()[k].in_operand, axes()[k].extent, [&] { return side.step_of(axes(), k); });
  for (std::size_t k = 0; k < c.depth_axes.size() && !is_odd(); ++k)
    add(in_depth(c.depth_axes[k]), c.depth_axes[k].extent, [&] { return chunk.step_of(c.depth_axes, k); });
  for (std::size_t k = 0; k < c.batch_axes.size() && !is_odd(); ++k) {
    add(in_depth(c.batch_axes[k]), c.batch_axes[k].extent,
        [&] { return k == c.products_axis ? c.products : std::int64_t{1}; });
  }
  steps = kCacheLineBytes | steps * c.element_bytes(of_rows_);
  return steps & -steps;
}

void RoundCopies::find(const tiles::Tile& side, const tiles::Tile& chunk, const CopiedPlace& place,
                       Copies& copies) const {
  const auto& contraction = contraction_;
  const bool of_rows = of_rows_;
  const auto size = contraction.element_bytes(of_rows);  // in memory
  const auto& lie = place.lie;
  const auto n = place.at_once;
  copies.elements = static_cast<double>(side.size * chunk.size * contraction.products);
  copies.at_once = static_cast<double>(n);
  // Lanes that write across rows of shared memory meet in banks.
  const bool scattered = n == 1 && lie.fastest > 1 && lie.step != 1;
  (scattered ? copies.scattered : copies.wavefronts) = copies.elements;
  copies.wavefronts *= static_cast<double>(contraction.size) / kCacheLineBytes;
  copies.lines = copies.elements / static_cast<double>(std::min({lie.run, line_, 32 * n}));
  copies.bytes = copies.elements * static_cast<double>(size) * moved_for_runs(lie.run * size);
  const auto piece = lie.together * size;
  if (!scattered && n * size >= kPastFirstCache && piece > kSectorBytes && piece % kSectorBytes != 0)
    copies.split = copies.elements / static_cast<double>(lie.together);
  copies.run_bytes = static_cast<double>(lie.run * size);
  if (n * size < kPastFirstCache || contraction.converts(of_rows)) {
    // Runs begin at multiples of elements, so that odd ones need not be asked where.
    const auto bytes = lie.run * size, whole = bytes & -bytes;
    const auto aligned = whole == size ? whole : alignment_of(side, chunk, lie.run);
    copies.held_lines = copies.elements / static_cast<double>(lie.run) *
                        static_cast<double>(bytes + kCacheLineBytes - std::min(aligned, whole)) / kCacheLineBytes;
  }
  if (along_depth_) set_fetched(copies, contraction, of_rows, chunk);
  copies.converted = contraction.converts(of_rows) ? copies.elements : 0;
  if (side.joined + chunk.joined > 0) {
    // As counted in SASS: 12 to 17 for each copy, and 4 to 6 where places are sums.
    constexpr double kOfQuotients = 12;
    copies.instructions = kOfQuotients;
  }
  if (side.joined > 0) {
    // A warp reads lines, along the depth by few positions of it.
    const auto lines = static_cast<double>(std::max<std::int64_t>(kCacheLineBytes / (size * n), 1));
    copies.per_place =
        contraction.deep(of_rows) ? std::max(static_cast<double>(chunk.size) / static_cast<double>(n) / lines, 1.0) : 2;
  }
}

Copies in_share(const Copies& of, double tiles) {
  auto part = of;
  for (auto* count : {&part.elements, &part.wavefronts, &part.scattered, &part.lines, &part.split, &part.bytes,
                      &part.fetched_bytes, &part.held_lines, &part.converted})
    *count /= tiles;
  return part;
}

Copies by_whole_vectors(const GpuContraction& contraction, bool of_rows, const Copies& of) {
  const auto size = contraction.element_bytes(of_rows);
  Copies copies;
  copies.elements = of.elements;
  copies.converted = of.converted;
  copies.at_once = std::max(16.0 / static_cast<double>(std::max(size, contraction.size)), 1.0);
  copies.bytes = of.elements * static_cast<double>(size);
  copies.lines = copies.bytes / kCacheLineBytes;
  copies.wavefronts = of.elements * static_cast<double>(contraction.size) / kCacheLineBytes;
  return copies;
}

double moved_for_runs(std::int64_t run_bytes) {
  const auto whole = static_cast<double>(tiles::up(run_bytes, kSectorBytes));
  return (run_bytes % kSectorBytes == 0 ? whole : whole + 0.5 * kSectorBytes) / static_cast<double>(run_bytes);
}

}  // namespace ricci::plan
