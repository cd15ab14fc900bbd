#include "bench/baselines.hpp"

#include <algorithm>

#include "plan/models/axes.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::tools {
namespace {

using plan::Sides;
using Tile = std::vector<std::int64_t>;

/// The leading axes of one side, whole, until they hold a cache line's worth of elements; the last one in part where it
/// would hold more than four and the other side does not lead with it too. `set` is true for those in it.
struct Minor {
  std::vector<bool> set;
  Tile segment;
};

Minor minor(const Sides& sides, bool read, std::int64_t line_elements) {
  const auto count = sides.program.indices.size();
  Minor found{std::vector<bool>(count), Tile(count, 1)};
  const auto& other = read ? sides.write_order : sides.read_order;
  std::int64_t volume = 1;
  for (const auto q : read ? sides.read_order : sides.write_order) {
    const auto k = static_cast<std::size_t>(q);
    if (volume >= line_elements) break;
    auto segment = sides.extent(q);
    const bool leads_too = !other.empty() && other.front() == q;
    if (!leads_too && volume * segment > 4 * line_elements)
      segment = std::max<std::int64_t>(4 * line_elements / volume, 1);
    found.set[k] = true;
    found.segment[k] = segment;
    volume *= segment;
  }
  return found;
}

kernel::Moves scalar(const Sides& sides, Tile tile) {
  kernel::Moves moves;
  moves.threads = 1;
  moves.mapping = {sides.digits(true, tile), 1, 1};
  moves.tile = std::move(tile);
  return moves;
}

kernel::Moves scattering(const Sides& sides) {
  // A tile is worth a call when it is some thousand elements long.
  constexpr std::int64_t kTilePoints = 4096;
  Tile tile(sides.program.indices.size(), 1);
  std::int64_t points = 1;
  for (const auto q : sides.read_order) {
    auto& n = tile[static_cast<std::size_t>(q)];
    n = std::min(sides.extent(q), std::max<std::int64_t>(kTilePoints / points, 1));
    points *= n;
    if (n < sides.extent(q)) break;
  }
  auto moves = scalar(sides, tile);
  moves.order = sides.read_order;
  return moves;
}

kernel::Moves algorithm_1(const Sides& sides) {
  const auto line_elements = kernel::kLineBytes / sides.read_bytes();
  const auto in = minor(sides, true, line_elements), out = minor(sides, false, line_elements);
  Tile tile(sides.program.indices.size(), 1);
  for (std::size_t q = 0; q < tile.size(); ++q) {
    tile[q] = std::max(in.segment[q], out.segment[q]);
    // An axis that is internal to one of them is not cut.
    if (in.set[q] && out.set[q]) tile[q] = sides.program.indices[q].extent;
  }
  auto moves = scalar(sides, tile);
  // Innermost the minor axes of the input, then what the output's add to them, each side's in its own order.
  std::vector<kernel::MixedRadixDigit> digits;
  for (const auto& digit : sides.digits(true, tile)) {
    if (in.set[static_cast<std::size_t>(digit.index)]) digits.push_back(digit);
  }
  for (const auto& digit : sides.digits(false, tile)) {
    if (!in.set[static_cast<std::size_t>(digit.index)]) digits.push_back(digit);
  }
  moves.mapping.digits = std::move(digits);
  // Outermost the segments, within them the external axes.
  for (const bool segments : {false, true}) {
    for (const auto q : sides.write_order) {
      const auto k = static_cast<std::size_t>(q);
      if ((in.set[k] || out.set[k]) == segments) moves.order.push_back(q);
    }
  }
  return moves;
}

}  // namespace

std::optional<std::string> baseline_schedule(std::string_view name, const Plan& plan) {
  const auto& impl = plan.impl();
  if (plan.device() != Device::cpu || impl.steps.size() != 1) return std::nullopt;
  const auto& program = impl.steps.front().program;
  const Sides sides(program);
  if (sides.load < 0 || program.indices.empty()) return std::nullopt;
  if (name == "scattering") return kernel::print(kernel::directives_of(scattering(sides), program));
  if (name == "algorithm 1") return kernel::print(kernel::directives_of(algorithm_1(sides), program));
  return std::nullopt;
}

}  // namespace ricci::tools
